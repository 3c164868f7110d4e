"""Which settings of SGD and IterSelSGD work on several corpora: the trials behind the defaults of `itersel train`.

    python benchmarks/defaults.py --folder DIR                   # all trials on all corpora; resumes there
    python benchmarks/defaults.py --folder DIR --corpora multi30k --trials sgd select

Each corpus is a portion of a larger one, as small as a newcomer's: pairs of at most 12 words, drawn at random. 500 of
them are dev, 500 devtest, 1,500 the sentences to report on, and 4,000 (1,633 of the demo, which has no more) remain for
training, in shards of 500. Devtest chooses the epoch. Prints one line `name: value` per figure: BLEU and length ratio
on the sentences to report on, best BLEU on devtest and its epoch. No test set is read.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import itersel  # noqa: E402
from itersel.base.files import read_lines  # noqa: E402
from itersel.decode.decoder import DecoderConfig  # noqa: E402
from itersel.metrics.corpus import CorpusMetric  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
TOPICS = ("economy_budget_finance", "environment_energy", "justice_home_affairs", "transport_tourism")
CORPORA = {
    "multi30k": [DATA / "multi30k" / "train.tok.lc"],
    "europarl": [DATA / "europarl" / "train.tok.lc"],
    "topics": [DATA / "europarl-topics" / topic / "train.tok.lc" for topic in TOPICS],
    "demo": [ROOT / "data" / "demo" / "train"],
}
"""Beginnings of the names of files of pairs. The demo's corpus, which is artificial, is raw text."""
LANGUAGES = ("de", "en")
HELD_OUT = {"devtest": 500, "dev": 500, "report": 1500}
TRAINING, SHARD, LONGEST, SEED = 4000, 500, 12, 1
EPOCHS, POP_LIMIT = 4, 30
SIZE = "shards.size"  # of a trial's build; all other keys are those of training


def adagrad(eta: float) -> dict[str, Any]:
    return {"epoch.learn.schedule": "adagrad", "epoch.learn.batch": True, "epoch.learn.eta": eta}


COMMON = {"epoch.metric": "fixed_stupid_bleu", "epoch.shuffle": True, "epoch.learn.pairs.kind": "multipartite"}
SGD, SELECT = {"algorithm": "sgd"} | COMMON | adagrad(0.01), COMMON | adagrad(0.05)
ALL_PAIRS = {"epoch.learn.pairs.kind": "all"}
OTHER_ORDER = {"epoch.seed": 1}
TRIALS: dict[str, dict[str, Any]] = {
    "hand_set": {},
    "sgd": SGD,
    "select": SELECT,
    "select_0.2": SELECT | adagrad(0.2),
    "select_average_0.2": SELECT | adagrad(0.2) | {"epoch.learn.average": True},
    "sgd_all_pairs": SGD | ALL_PAIRS,
    "select_all_pairs": SELECT | ALL_PAIRS,
    "select_seed": SELECT | OTHER_ORDER,
    "select_all_pairs_seed": SELECT | ALL_PAIRS | OTHER_ORDER,
    "sgd_dense": SGD | {"epoch.leave_out": ["R:*", "RBS:*", "RBT:*", "Shape_*"]} | adagrad(0.03),
    "select_epochs": SELECT | {"epochs": 10},
    "select_size_2000": SELECT | {SIZE: 2000},
    "select_smooth": SELECT | {"epoch.metric": "smooth_bleu"},
    "select_average": SELECT | {"epoch.learn.average": True},
    "select_from_sgd": SELECT | {"start": "sgd"},
}
"""Settings of the trials, all of them named: what they give does not depend on the defaults."""


def write_corpus(name: str, folder: Path) -> Path:
    """A portion of the corpus and the configuration of its build; nothing is done for one that is there."""
    config = folder / "build.yaml"
    if not config.exists():
        pairs = [pair for prefix in CORPORA[name] for pair in read_pairs(prefix)]
        short = dict.fromkeys(pair for pair in pairs if max(len(side.split()) for side in pair) <= LONGEST)
        chosen = random.Random(SEED).sample(list(short), min(len(short), TRAINING + sum(HELD_OUT.values())))
        folder.mkdir(parents=True, exist_ok=True)
        for side, language in enumerate(LANGUAGES):
            (folder / f"train.{language}").write_text("".join(f"{pair[side]}\n" for pair in chosen), encoding="utf-8")
        settings: dict[str, Any] = {
            "work": "work",
            "train": {"source": "train.de", "target": "train.en", "held_out": HELD_OUT},
            "extract": {"leave_one_out": True},
            "shards": {"size": SHARD},
        }
        if name == "demo":
            settings["text"] = {"tokenize_source": "de", "tokenize_target": "en", "lowercase": True}
        config.write_text(json.dumps(settings))  # JSON is YAML
    return config


def read_pairs(prefix: Path) -> list[tuple[str, ...]]:
    paths = [Path(f"{prefix}.{language}") for language in LANGUAGES]
    sides = [read_lines(path if path.exists() else f"{path}.gz") for path in paths]
    return list(zip(*sides, strict=True))


def run_trial(build: itersel.Build, folder: Path, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The run's figures; a finished run is only read."""
    path = folder / f"{name}.json"
    if not path.exists():
        if name == "hand_set":
            weights: Any = ROOT / "conf" / "experiments" / "hand-set.weights"
            curve, chosen = [], 0
        else:
            values = {"epochs": EPOCHS, "epoch.decoder.pop_limit": POP_LIMIT, **settings}
            if "start" in values:  # another trial
                values["start"] = folder / values["start"] / "weights.txt.gz"
            run = itersel.train(build, folder / name, **values)
            weights, curve, chosen = run, run.curve, run.chosen
        model = {"language_model": build.language_model, "options": DecoderConfig(pop_limit=POP_LIMIT)}
        outputs = itersel.translate(build.shards("report"), weights, **model)
        references = [shard.references(i) for shard in build.shards("report") for i in range(len(shard))]
        bleu = CorpusMetric("bleu", references)
        words, expected = (sum(len(text.split()) for text in texts) for texts in (outputs, (r[0] for r in references)))
        found = {"bleu": bleu.score(bleu.statistics(outputs)), "length": words / expected}
        found |= {"chosen": chosen, "curve": curve, "outputs": outputs}
        path.write_text(json.dumps(found))
    return json.loads(path.read_text())


def figures(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{name}_bleu: {found['bleu']:.2f}"
    yield f"{name}_length: {found['length']:.3f}"
    if found["curve"]:
        yield f"{name}_devtest: {max(found['curve']):.2f}"
        yield f"{name}_epoch: {found['chosen']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="builds and runs go here")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--trials", nargs="+", choices=TRIALS, default=list(TRIALS))
    args = parser.parse_args()
    if not DATA.is_dir():
        sys.exit("The data is not here: ../shared/data is absent.")
    for trial in args.trials:
        for corpus in args.corpora:
            folder = args.folder / corpus
            settings = dict(TRIALS[trial])
            size = settings.pop(SIZE, SHARD)
            work = folder / ("work" if size == SHARD else f"work-{size}")
            build = itersel.build(write_corpus(corpus, folder), work=work, shards={"size": size})
            for line in figures(f"{corpus}_{trial}", run_trial(build, folder, trial, settings)):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
