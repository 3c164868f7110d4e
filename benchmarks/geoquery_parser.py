"""GeoQuery's semantic parser on the ten folds of the 600 training questions: `python benchmarks/geoquery_parser.py`.

Prints F1, precision and recall of the answers. Each fold's parser is built from the other nine folds and asked the
fold's English questions. The settings in itersel.response.geoquery.parser were chosen by this; the 280 test questions
are not looked at. With `--work DIR`, parsers are kept, and settings that change parsing alone are compared in seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.pipeline.geoquery_parser import SAMPLERS, SEED, build_parser  # noqa: E402
from itersel.response.geoquery.data import read_questions, read_splits  # noqa: E402
from itersel.response.geoquery.database import FACTS_FILE, read_database  # noqa: E402
from itersel.response.geoquery.execution import answer_or_empty  # noqa: E402
from itersel.response.geoquery.parser import DECODER, EXTRACTION, LIST, QuestionParser  # noqa: E402
from itersel.response.geoquery.scores import answer_scores, answer_statistics, with_gold_answer  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "geoquery"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, help="folder for the parsers (default: a temporary one)")
    parser.add_argument("--seed", type=int, default=SEED, help="of the word alignment; needs a --work of its own")
    parser.add_argument("--samplers", type=int, default=SAMPLERS, help="of the word alignment; as --seed")
    parser.add_argument("--symbols", type=int, default=EXTRACTION.max_symbols, help="of a rule's source side")
    parser.add_argument("--pop-limit", type=int, default=DECODER.pop_limit)
    parser.add_argument("--list", type=int, default=LIST, help="hypotheses to look for a well-formed one")
    parser.add_argument("--whole", action="store_true", help="never leave a word out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for name, value in scores(args, args.work or Path(temporary)).items():
            print(f"{name}: {value}")


def scores(args: argparse.Namespace, work: Path) -> dict[str, str]:
    questions, database = read_questions(args.data), read_database(args.data / FACTS_FILE)
    answers, golds, seconds = [], [], 0.0
    for number, fold in enumerate(read_splits(args.data).folds):
        files = build_parser(args.data, work / f"fold.{number}", fold.train, seed=args.seed, samplers=args.samplers)
        parser = QuestionParser(
            files.index,
            files.language_model,
            database,
            leave_out=not args.whole,
            extraction=replace(EXTRACTION, max_symbols=args.symbols),
            decoder=replace(DECODER, pop_limit=args.pop_limit),
            k=args.list,
        )
        for question in (questions[id] for id in fold.test):
            began = time.process_time()
            parse = parser.parse(question.text)
            seconds += time.process_time() - began
            answers.append(None if parse is None else answer_or_empty(parse.tree, database))
            golds.append(question.gold)
    statistics = answer_statistics(answers, golds)
    found, answered = answer_scores(statistics), answer_scores(with_gold_answer(statistics, golds))
    return {
        "f1": f"{found.f1:.2f}",
        "f1_without_empty": f"{answered.f1:.2f}",
        "precision": f"{found.precision:.2f}",
        "recall": f"{found.recall:.2f}",
        "right": f"{found.correct} of {found.questions}",
        "parsed": str(found.parsed),
        "cpu_seconds_to_parse": f"{seconds:.1f}",
    }


if __name__ == "__main__":
    main()
