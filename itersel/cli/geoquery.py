"""Questions about U.S. geography: ask one, or run the experiment of ACL 2014.

`ask` parses an English question, executes the form and prints the answer. Without a parser it builds one first, from
the GeoQuery data set, which takes up to two minutes; it is kept for the next question.

`experiment` trains a German-English system with the answers as feedback (EXEC, REBOL) and without (RAMPION), and prints
the paper's tables; table.md and report.html in the work folder have them, too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from itersel.base.errors import InputError
from itersel.pipeline.geoquery_experiment import Acl2014, load_experiment
from itersel.pipeline.geoquery_parser import DATA, build_parser
from itersel.response.geoquery.data import normalized
from itersel.response.geoquery.database import FACTS_FILE, read_database
from itersel.response.geoquery.execution import answer_text, execute

SUMMARY = "answer questions about U.S. geography; learn from answers (ACL 2014)"
EXAMPLE = """\
  itersel geoquery ask "which states border texas"
  itersel geoquery experiment conf/experiments/acl2014.yaml"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    ask = actions.add_parser("ask", help="answer a question")
    ask.add_argument("question", help="in English, such as 'which states border texas'")
    ask.add_argument("--data", default=str(DATA), metavar="DIR", help="the data set (default: %(default)s)")
    ask.add_argument(
        "--model",
        default="work/geoquery",
        metavar="DIR",
        help="folder of the parser (default: %(default)s)",
    )
    experiment = actions.add_parser("experiment", help="train and test; print the tables")
    experiment.add_argument("config", help="such as conf/experiments/acl2014.yaml")
    experiment.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another value of a key; can be repeated"
    )


def run(args: argparse.Namespace) -> None:
    if args.action == "ask":
        _ask(args)
        return
    place = Acl2014(load_experiment(args.config, args.set)).run()
    print(place.read_text(encoding="utf-8"), end="")


def _ask(args: argparse.Namespace) -> None:
    question = normalized(args.question.replace("?", " ").replace(".", " "))
    if not question:
        raise InputError("the question is empty", hint="Ask something like 'which states border texas'.")
    files = build_parser(args.data, args.model)
    database = read_database(Path(args.data) / FACTS_FILE)
    parse = files.open(database).parse(question)
    if parse is None:
        raise InputError(
            f"no parse for {question!r}",
            hint="Ask about states, cities, rivers or mountains in other words.",
        )
    print(f"parse   {parse.tree}")
    answer = answer_text(execute(parse.tree, database))
    print(f"answer  {answer}")
