"""GeoQuery's semantic parser on the ten folds of the 600 training questions: `python benchmarks/geoquery_parser.py`.

    python benchmarks/geoquery_parser.py --work parsers --seeds 1 2 3
    python benchmarks/geoquery_parser.py --work parsers --seeds 1 2 3 --tune weights

Prints F1, precision and recall of the answers for each seed of the word alignment. Each fold's parser is built from the
other nine folds and asked the fold's English questions. The settings in itersel.response.geoquery.parser were chosen by
this; the 280 test questions are not looked at. With `--work DIR`, parsers are kept. The default weights were tuned on
all 600 questions: without `--tune` or `--weights`, scores are too good.

With `--tune DIR`, MERT (`itersel rerank train`) chooses the weights by how many questions the first plausible form of
a list answers. A fold's weights are tuned on the lists of the other folds, so its questions never tune the parser that
they score; lists are those of the first two seeds. `DIR/all.txt` has the weights tuned on the lists of all folds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.errors import InputError  # noqa: E402
from itersel.cli import main as itersel  # noqa: E402
from itersel.grammar.grammar import Grammar  # noqa: E402
from itersel.model.features import Weights  # noqa: E402
from itersel.pipeline.geoquery_parser import ALIGNMENTS, METHOD, SAMPLERS, SEED, build_parser  # noqa: E402
from itersel.response.geoquery.data import read_questions, read_splits  # noqa: E402
from itersel.response.geoquery.database import FACTS_FILE, read_database  # noqa: E402
from itersel.response.geoquery.execution import answer_or_empty  # noqa: E402
from itersel.response.geoquery.funql import ROOT as ROOT_SYMBOL  # noqa: E402
from itersel.response.geoquery.funql import Tree, from_tokens  # noqa: E402
from itersel.response.geoquery.parser import DECODER, EXTRACTION, LIST, WEIGHTS, QuestionParser  # noqa: E402
from itersel.response.geoquery.scores import answer_scores, answer_statistics, with_gold_answer  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "geoquery"
START = {
    "EgivenFCoherent": -1.0, "MaxLexEgivenF": -0.3, "MaxLexFgivenE": -0.3, "LanguageModel": 1.0, "CountEF": 0.1,
    "Glue": -0.3, "WordPenalty": -2.0,
}  # fmt: skip
"""Weights set by hand, from which tuning starts."""
TUNED = (*START, "FgivenECoherent", "PhrasePenalty")
LISTS = {"k": 100, "pop_limit": 100, "seeds": 2, "runs": 4}
"""Of tuning: what lists are made of, and how many runs of MERT are averaged, since one run depends on chance."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, help="folder for the parsers (default: a temporary one)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[SEED], help="of the word alignments")
    parser.add_argument("--samplers", type=int, default=SAMPLERS, help="of a word alignment")
    parser.add_argument("--alignments", type=int, default=ALIGNMENTS, help="that the rules are counted in")
    parser.add_argument("--method", default=METHOD, help="joins both directions of an alignment")
    parser.add_argument("--symbols", type=int, default=EXTRACTION.max_symbols, help="of a rule's source side")
    parser.add_argument("--pop-limit", type=int, default=DECODER.pop_limit)
    parser.add_argument("--list", type=int, default=LIST, help="hypotheses to look for a well-formed one")
    parser.add_argument("--whole", action="store_true", help="never leave a word out")
    parser.add_argument("--weights", type=Path, help="other weights")
    parser.add_argument("--tune", type=Path, metavar="DIR", help="tune the weights, in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folds = Folds(args, args.work or Path(temporary))
        weights = dict(WEIGHTS if args.weights is None else Weights.read(args.weights))
        chosen = [weights] * len(folds.folds) if args.tune is None else folds.tune(args.tune)
        f1 = []
        for seed in args.seeds:
            found = folds.scores(seed, chosen)
            f1.append(float(found["f1"]))
            print(f"seed {seed}: " + ", ".join(f"{name} {value}" for name, value in found.items()), flush=True)
        if len(f1) > 1:
            print(f"f1: {mean(f1):.2f}, standard deviation {stdev(f1):.2f}")


class Folds:
    """The parsers of all folds, by seed."""

    def __init__(self, args: argparse.Namespace, work: Path):
        self.args, self.work = args, work
        self.questions, self.database = read_questions(args.data), read_database(args.data / FACTS_FILE)
        self.folds = read_splits(args.data).folds

    def parser(
        self, seed: int, fold: int, weights: Mapping[str, float], pop_limit: int | None = None
    ) -> QuestionParser:
        args = self.args
        folder = self.work / f"{args.method}-{args.alignments}-{args.samplers}-seed{seed}" / f"fold.{fold}"
        files = build_parser(
            args.data,
            folder,
            self.folds[fold].train,
            seed=seed,
            samplers=args.samplers,
            alignments=args.alignments,
            method=args.method,
        )
        return QuestionParser(
            files.index,
            files.language_model,
            self.database,
            weights,
            leave_out=not args.whole,
            extraction=replace(EXTRACTION, max_symbols=args.symbols),
            decoder=replace(DECODER, pop_limit=pop_limit or args.pop_limit),
            k=args.list,
        )

    def scores(self, seed: int, weights: list[Mapping[str, float]]) -> dict[str, str]:
        answers, golds, seconds = [], [], 0.0
        for number, fold in enumerate(self.folds):
            parser = self.parser(seed, number, weights[number])
            for question in (self.questions[id] for id in fold.test):
                began = time.process_time()
                parse = parser.parse(question.text)
                seconds += time.process_time() - began
                answers.append(None if parse is None else answer_or_empty(parse.tree, self.database))
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

    def tune(self, folder: Path) -> list[Mapping[str, float]]:
        """The weights of each fold."""
        folder.mkdir(parents=True, exist_ok=True)
        seeds, numbers = self.args.seeds[: LISTS["seeds"]], range(len(self.folds))
        lists = {(seed, number): self.lists(seed, number) for seed in seeds for number in numbers}
        made = [
            tuned(folder, f"fold.{left}", [one for place, some in lists.items() if place[1] != left for one in some])
            for left in numbers
        ]
        tuned(folder, "all", [one for some in lists.values() for one in some])
        return made

    def lists(self, seed: int, fold: int) -> list[list[dict[str, Any]]]:
        """The plausible forms of each question of a fold, where some are right and some are wrong.

        A right form has the text `right`, a wrong one its rank: TER against the reference `right` is the share of
        wrong answers.
        """
        start = dict(WEIGHTS) | dict.fromkeys(TUNED, 0.0) | START
        parser, found = self.parser(seed, fold, start, LISTS["pop_limit"]), []
        for question in (self.questions[id] for id in self.folds[fold].test):
            grammar = Grammar(parser.extractor.extract(question.text, where=f"question {question.id}"))
            forms: list[dict[str, Any]] = []
            for rank, hypothesis in enumerate(parser.decoder.kbest(question.text, grammar, LISTS["k"])):
                tree = well_formed(hypothesis.text)
                if tree is None or not parser.plausible(tree):
                    continue
                right = answer_or_empty(tree, self.database) == question.gold
                features = {name: value for name, value in hypothesis.features.items() if name in TUNED}
                forms.append({"text": "right" if right else str(rank), "features": features})
            if len({form["text"] == "right" for form in forms}) == 2:
                found.append(forms)
        return found


def well_formed(text: str) -> Tree | None:
    try:
        return from_tokens(text.split(), root=ROOT_SYMBOL)
    except InputError:
        return None


def tuned(folder: Path, name: str, lists: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, float]:
    """The mean of some runs of MERT on the lists, at LanguageModel = 1, and WEIGHTS for what is not tuned."""
    place, runs = folder / name, []
    place.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": number} | form) for number, forms in enumerate(lists) for form in forms]
    (place / "lists").write_text("".join(f"{line}\n" for line in lines))
    (place / "right").write_text("right\n" * len(lists))
    Weights(START).write(place / "start")
    files = ["--lists", place / "lists", "--references", place / "right", "--start", place / "start"]
    mert = ["--algorithm", "mert", "--metric", "ter", "--runner", "inline"]
    for seed in range(1, LISTS["runs"] + 1):
        command = ["rerank", "train", *files, *mert, "--set", f"mert.seed={seed}", "--output", place / f"run.{seed}"]
        with contextlib.redirect_stdout(sys.stderr):
            if itersel([str(word) for word in command]):
                sys.exit("tuning failed")
        runs.append(Weights.read(place / f"run.{seed}" / "weights.txt.gz"))  # at an absolute sum of 1
    total = {key: sum(run.get(key, 0.0) for run in runs) for key in TUNED}
    weights = dict(WEIGHTS) | {key: round(value / total["LanguageModel"], 2) for key, value in total.items()}
    Weights(weights).write(folder / f"{name}.txt")
    return weights


if __name__ == "__main__":
    main()
