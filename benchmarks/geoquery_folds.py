"""ACL 2014's methods on folds of the 600 training questions: what the experiment's settings were chosen by.

    python benchmarks/geoquery_folds.py --methods rebol rampion --etas 0.01 0.003 --epochs 1 5 10
    python benchmarks/geoquery_folds.py --methods rebol --etas 0.01 --epochs 10 --set train.epoch.k=1000

Each third of the questions is translated by what was learned from the other two. Prints `name: value` lines: F1 of the
answers, F1 without empty gold answers, BLEU, and of the last epoch how many predictions succeeded and how many lists
were skipped, both in percent. Runs are kept in the experiment's work folder; `--set` changes any key of the experiment.
The 280 test questions are not looked at.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.files import read_lines  # noqa: E402
from itersel.evaluation.significance import p_text, system_score  # noqa: E402
from itersel.metrics.corpus import CorpusMetric  # noqa: E402
from itersel.pipeline.geoquery_experiment import PARSERS, Acl2014, load_experiment  # noqa: E402
from itersel.pipeline.geoquery_tables import Tested  # noqa: E402
from itersel.response.geoquery.scores import compare_answers, f1_scores, with_gold_answer  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--config", type=Path, default=ROOT / "conf" / "experiments" / "acl2014.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--methods", nargs="+", help="rows of the tables; default: all")
    parser.add_argument("--etas", nargs="+", type=float, help="default: those of the experiment")
    parser.add_argument("--epochs", nargs="+", type=int, default=[10], help="score the models after these")
    parser.add_argument("--seeds", nargs="+", type=int, help="default: the experiment's first one")
    parser.add_argument("--parser", default=PARSERS[0], choices=PARSERS)
    parser.add_argument("--output", type=Path, help="JSON lines: every translation with its answer")
    args = parser.parse_args()
    experiment = Acl2014(load_experiment(args.config, args.set))
    experiment.prepare()
    Folds(experiment, args).run()


class Folds:
    """Scores of methods on the folds, printed as they come."""

    def __init__(self, experiment: Acl2014, args: argparse.Namespace):
        self.experiment, self.args = experiment, args
        references, self.golds = (list(read_lines(experiment.work / f"train.{end}")) for end in ("en", "gold"))
        self.metric = CorpusMetric("bleu", [[line] for line in references])
        self.references = references

    def run(self) -> None:
        args, config = self.args, self.experiment.config
        best: dict[str, tuple[float, str, np.ndarray]] = {}
        for method in args.methods or ["baseline", *self.experiment.methods]:
            if method == "baseline":
                judge = self.experiment.response(args.parser, "train")
                tested = self.experiment.tested(judge, config.start, "train")
                self.show("baseline", [tested])
                best[method] = (0.0, "baseline", tested.rows[None])
                continue
            for eta in args.etas or config.etas:
                began, runs = time.process_time(), []
                for seed in args.seeds or config.seeds[:1]:
                    runs.append(self.experiment.held_out(method, args.parser, eta, seed, args.epochs))
                for number in args.epochs:
                    name = f"{method} eta={eta:g} epochs={number}"
                    tested_runs = [run[number] for run in runs]
                    score = self.show(name, tested_runs)
                    if number == max(args.epochs) and score > best.get(method, (-1.0,))[0]:
                        best[method] = (score, name, np.stack([one.rows for one in tested_runs]))
                print(f"{method} eta={eta:g} cpu_seconds: {time.process_time() - began:.0f}", flush=True)
        names = list(best)
        for at, second in enumerate(names):
            for first in names[:at]:
                test = compare_answers(best[second][2], best[first][2])
                print(f"{best[second][1]} - {best[first][1]}: {test.difference:+.2f}, p {p_text(test.p)}")

    def show(self, name: str, runs: list[Tested]) -> float:
        rows = np.stack([run.rows for run in runs])
        texts = np.stack([self.metric.statistics(run.texts) for run in runs])
        f1 = system_score(rows, f1_scores)
        print(f"{name} f1: {f1:.2f}")
        if len(runs) > 1:
            print(f"{name} f1_of_runs: {' '.join(f'{system_score(one[None], f1_scores):.2f}' for one in rows)}")
        print(f"{name} f1_without_empty: {system_score(with_gold_answer(rows, self.golds), f1_scores):.2f}")
        print(f"{name} bleu: {system_score(texts, self.metric.scores):.2f}", flush=True)
        if self.args.output:
            with self.args.output.open("a") as stream:
                for run in runs:
                    for at, (text, answer) in enumerate(zip(run.texts, run.answers, strict=True)):
                        line = {"system": name, "question": at, "text": text, "reference": self.references[at]}
                        line |= {"answer": answer, "gold": self.golds[at], "success": bool(run.rows[at][0])}
                        stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        return f1


if __name__ == "__main__":
    main()
