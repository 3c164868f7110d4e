"""Training gives the recorded weights, byte for byte: on the sample, on the demo and on n-best lists.

Every case runs the command line and reads files, so it does not depend on modules. same_bytes.json holds the SHA-256
checksums of the weights of the chosen epoch and of every epoch; a `.gz` file counts by its decompressed content.
eflomal may align differently on another type of processor, so the cases start from the links in tests/data. Only the
cases with `eflomal` in their name run it; they are skipped where its links differ from the recorded ones.

    python tests/system/test_same_bytes.py                        # compare all cases, including the full demo
    python tests/system/test_same_bytes.py sgd-random rerank-sgd --jobs 2
    python tests/system/test_same_bytes.py --record               # write all checksums again
    python tests/system/test_same_bytes.py --align                # write the links again, with eflomal
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("same_bytes.json")
SAMPLE_LINKS = ROOT / "tests" / "data" / "sample.align.gz"
DEMO_LINKS = ROOT / "tests" / "data" / "small_demo.align.gz"
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from itersel.cli import main  # noqa: E402
from small_demo import write_small_demo  # noqa: E402

ALGORITHMS = ("sgd", "mix_sgd", "iter_mix_sgd", "iter_sel_sgd")
LAYOUTS = ("files", "random", "reshard", "sequential", "tasks")
FOLDS = 3
DEALT = ("layout.shards=3",)
"""The sample has four files: with four shards, `sequential` would equal `files`. sgd always has one shard."""
QUICK = ("epoch.decoder.pop_limit=15", "epoch.decoder.span_limit=8", "epoch.k=20")

FIXED = (
    "selection.top=2000",
    "epoch.metric=stupid_bleu",
    "epoch.shuffle=false",
    "epoch.learn.eta=0.0001",
    "epoch.learn.schedule=constant",
    "epoch.learn.batch=false",
    "allow_seen_references=true",
)
"""What the checksums were recorded with: they do not depend on defaults."""

LEARNERS: dict[str, tuple[str, ...]] = {
    "average": ("algorithm=iter_sel_sgd", "epoch.learn.average=true"),
    "average-own": ("algorithm=mix_sgd", "epoch.learn.average=true"),
    "adagrad": ("epoch.learn.schedule=adagrad", "epoch.learn.batch=true", "epoch.learn.eta=0.05"),
    "shuffle": ("epoch.shuffle=true", "epoch.seed=7"),
    "pro": ("epoch.learn.pairs.kind=pro", "epoch.learn.pairs.seed=3"),
    "l1": ("epoch.learn.l1=0.0001",),
}
"""Settings for runs on the training shards."""

VARIANTS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "perceptron": ("epoch.learn.rule=perceptron",),
    "perceptron-batch": ("epoch.learn.rule=perceptron", "epoch.learn.batch=true"),
    "margin": ("epoch.learn.margin=0.1",),
    "batch": ("epoch.learn.batch=true",),
    "batch-average-l1": ("epoch.learn.batch=true", "epoch.learn.average=true", "epoch.learn.l1=0.0001"),
    "inverse": ("epoch.learn.schedule=inverse", "epoch.learn.eta=0.01"),
    "inverse-sqrt-own": ("epoch.learn.schedule=inverse_sqrt", "epoch.learn.eta=0.001", "algorithm=mix_sgd"),
    "pairs-all": ("epoch.learn.pairs.kind=all",),
    "pairs-dtrain": ("epoch.learn.pairs.dtrain=true", "epoch.learn.pairs.share=0.2"),
    "bleu": ("epoch.metric=bleu",),
    "fixed-stupid-bleu": ("epoch.metric=fixed_stupid_bleu",),
    "smooth-bleu": ("epoch.metric=smooth_bleu", "epoch.order=3"),
    "chrf": ("epoch.metric=chrf",),
    "not-unique": ("epoch.unique=false",),
    "left-out": ("epoch.leave_out=[WordPenalty, 'R:*']",),
    "norm-l1": ("selection.norm=l1", "selection.top=200"),
    "norm-linf": ("selection.norm=linf", "selection.top=200"),
    "norm-l0": ("selection.norm=l0", "selection.top=200"),
    "norm-threshold": ("selection.threshold=0.001", "selection.top=null"),
    "norm-shards": ("selection.shards=2", "selection.top=null"),
}
"""Settings for short runs on the development set, in two shards and without devtest."""

RERANKERS: dict[str, tuple[str, ...]] = {
    "rerank-sgd": ("--algorithm", "sgd"),
    "rerank-mix_sgd": ("--algorithm", "mix_sgd", "--layout", "sequential"),
    "rerank-iter_mix_sgd": ("--algorithm", "iter_mix_sgd", "--layout", "reshard"),
    "rerank-iter_sel_sgd": ("--algorithm", "iter_sel_sgd", "--top", "300"),
    "rerank-pro-chrf": ("--set", "learn.pairs.kind=pro", "--metric", "chrf", "--set", "shuffle=true"),
}
WEIGHTS = "LanguageModel 0.5\nEgivenFCoherent -0.3\nMaxLexEgivenF -0.3\nPassThrough -1\n"


class OtherLinksError(Exception):
    """eflomal made other links than those recorded."""


def itersel(*arguments: object) -> None:
    assert main([str(one) for one in arguments]) == 0


def settings(values: Iterable[str]) -> list[str]:
    return [word for value in values for word in ("--set", value)]


def content(path: Path) -> bytes:
    """Decompressed, because compressed bytes depend on the version of zlib."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def checksums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    return {name: hashlib.sha256(content(folder / name)).hexdigest() for name in names}


def weights(run: Path) -> dict[str, str]:
    """Checksums of the chosen epoch's weights and of each epoch's."""
    epochs = sorted(path.parent for path in run.glob("epoch-*/weights.vec"))
    assert epochs
    files = [folder / name for folder in [run, *epochs] for name in ("weights.txt.gz", "weights.vec")]
    return checksums(run, [str(file.relative_to(run)) for file in files])


class World:
    """A folder with the sample, built once from the recorded links, and the runs of the cases."""

    def __init__(self, folder: Path, jobs: int = 1):
        self.folder, self.jobs = folder, jobs

    @cached_property
    def sample(self) -> Path:
        """What `itersel build conf/sample.yaml` makes, with language models by fold."""
        work = self.folder / "sample"
        values = [f"work={work}", f"jobs={self.jobs}", f"align.given={SAMPLE_LINKS}", f"lm.folds={FOLDS}"]
        itersel("build", ROOT / "conf" / "sample.yaml", *settings(values))
        return work

    @cached_property
    def lists(self) -> Path:
        """k-best lists of the sample's dev and test sets, and the weights that made them."""
        work, lists = self.sample, self.folder / "lists"
        lists.mkdir(exist_ok=True)
        (lists / "weights.txt").write_text(WEIGHTS)
        model = ["--weights", lists / "weights.txt", "--lm", work / "model" / "lm.arpa.gz", "--features", "all"]
        limits = ["--kbest", 20, "--pop-limit", 30, "--jobs", self.jobs]
        for name in ("dev", "test"):
            source, grammars = work / "text" / f"{name}.source", lists / f"{name}.grammars"
            itersel("extract", "--index", work / "model" / "index", "--sentences", source, "--output", grammars)
            output = ["--output", lists / f"{name}.kbest.gz"]
            itersel("translate", source, "--grammars", grammars, *model, *limits, *output)
        return lists

    def train(self, name: str, *options: object, learn_from: str = "train", devtest: bool = True) -> dict[str, Any]:
        """The checksums of a run with the options, or the message if it is refused."""
        work, output = self.sample, self.folder / "runs" / name
        data: list[object] = ["--shards", work / "shards" / learn_from / "*.itsh"]
        data += ["--lm", work / "model" / "lm.arpa.gz"]
        data += ["--devtest", work / "shards" / "devtest" / "*.itsh"] if devtest else []
        command = ["train", *settings(FIXED), *data, *options, "--output", output]
        with contextlib.redirect_stderr(io.StringIO()) as stream:
            code = main([str(one) for one in [*command, "--jobs", self.jobs, "--reducers", self.jobs]])
        if code == 2:
            return {"refused": stream.getvalue().partition("error: ")[2].splitlines()[0]}
        assert code == 0, stream.getvalue()
        return weights(output)

    def rerank(self, name: str, *options: object) -> dict[str, Any]:
        lists, work, output = self.lists, self.sample, self.folder / "runs" / name
        command: list[object] = ["rerank", "train", "--lists", lists / "dev.kbest.gz", "--epochs", 3]
        command += settings(["own_score=false"])
        command += ["--devtest", lists / "test.kbest.gz"]
        command += ["--devtest-references", work / "text" / "test.reference.0"]
        itersel(*command, *options, "--output", output, "--jobs", self.jobs)
        return weights(output)

    def demo(self, name: str, sources: Path, align: bool) -> dict[str, Any]:
        """The checksums of the demo's two runs, and with `align` that of the links."""
        output = self.folder / name
        itersel("demo", "--sources", sources, "--output", output, "--jobs", self.jobs)
        made = checksums(output, ["model/alignment"]) if align else {}
        for run in ("sgd", "select"):
            made |= {f"runs/{run}/{file}": value for file, value in weights(output / "runs" / run).items()}
        return made

    def small_demo(self, name: str, align: bool) -> dict[str, Any]:
        """The demo on a part of its corpus, with two epochs per run."""
        sources = self.folder / f"{name}-sources"
        shutil.copytree(ROOT / "conf", sources / "conf")
        write_small_demo(sources / "data" / "demo")
        changes: dict[str, dict[str, Any]] = {"demo-sgd.yaml": {"epochs": 2}, "demo-select.yaml": {"epochs": 2}}
        if not align:
            changes["demo.yaml"] = {"align": {"given": str(DEMO_LINKS)}}
        for file, values in changes.items():
            path = sources / "conf" / file
            path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | values))
        return self.demo(name, sources, align)

    def data(self) -> dict[str, Any]:
        """Text, links, language models and lists that the other cases use: if these differ, expect all to differ."""
        folds = [f"model/lm.without-fold.{number:03d}.arpa.gz" for number in range(FOLDS)]
        texts = ["text/train.source", "text/train.reference.0", "model/alignment", "model/lm.arpa.gz", *folds]
        return checksums(self.sample, texts) | checksums(self.lists, ["dev.kbest.gz", "test.kbest.gz"])


Case = Callable[[World], dict[str, Any]]


def training(name: str, *options: object, **where: Any) -> Case:
    return lambda world: world.train(name, *options, **where)


def reranking(name: str, *options: object, references: bool = True) -> Case:
    def run(world: World) -> dict[str, Any]:
        given = ["--references", world.sample / "text" / "dev.reference.0"] if references else []
        return world.rerank(name, *given, *options)

    return run


def all_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {"data": World.data}
    cases["sample"] = training("sample", "--epochs", 2)
    for algorithm in ALGORITHMS:
        for layout in LAYOUTS:
            name = f"{algorithm}-{layout}"
            dealt = DEALT if algorithm != "sgd" and layout not in ("files", "tasks") else ()
            epochs = 3 if algorithm in ("sgd", "mix_sgd") else 2  # their means over epochs need a third
            options = ["--algorithm", algorithm, "--layout", layout, "--epochs", epochs, *settings([*QUICK, *dealt])]
            cases[name] = training(name, *options)
    for name, values in LEARNERS.items():
        cases[name] = training(name, "--epochs", 2, *settings([*QUICK, *values]))
    for layout, dealt in (("files", ()), ("random", DEALT)):
        name = f"folds-{layout}"
        cases[name] = lambda world, name=name, layout=layout, dealt=dealt: world.train(
            *(name, "--epochs", 2, "--layout", layout, *settings([*QUICK, *dealt])),
            *("--fold-lm", world.sample / "model" / "lm.without-fold.*"),
        )
    apart = ["--epochs", 2, "--layout", "sequential"]
    for name, values in VARIANTS.items():
        options = [*apart, *settings([*QUICK, "layout.shards=2", *values])]
        cases[f"dev-{name}"] = training(f"dev-{name}", *options, learn_from="dev", devtest=False)
    cases["dev-start"] = lambda world: world.train(
        *("dev-start", *apart, *settings([*QUICK, "layout.shards=2"]), "--start", world.lists / "weights.txt"),
        learn_from="dev",
    )
    for name, words in RERANKERS.items():
        cases[name] = reranking(name, *words, *(() if name == "rerank-sgd" else ("--shards", 3)))
    cases["rerank-objective"] = reranking("rerank-objective", "--objective", 4, "--shards", 2, references=False)
    cases["demo-small"] = lambda world: world.small_demo("demo-small", align=False)
    cases["demo-small-eflomal"] = lambda world: world.small_demo("demo-small-eflomal", align=True)
    cases["demo-eflomal"] = lambda world: world.demo("demo-eflomal", ROOT, align=True)
    return cases


CASES = all_cases()
ON_REQUEST = ("demo-eflomal",)
"""Takes two minutes of CPU, so pytest leaves it to the script."""
SLOW = ("demo-small", "demo-small-eflomal")


def compare(name: str, world: World) -> None:
    """Run the case. Raises AssertionError if its weights differ, OtherLinksError if eflomal's links do."""
    recorded, made = json.loads(RECORD.read_text())[name], CASES[name](world)
    if made.get("model/alignment") != recorded.get("model/alignment") and name.endswith("eflomal"):
        raise OtherLinksError("eflomal makes other links on this machine than the recorded ones")
    if "refused" in recorded:
        assert recorded["refused"] in made.get("refused", "accepted")
    else:
        differing = [file for file in recorded | made if made.get(file) != recorded.get(file)]
        assert not differing, f"{len(differing)} of {len(recorded)} files: {' '.join(differing)}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("same_bytes"))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES if name not in ON_REQUEST],
)
def test_same_bytes(name: str, world: World) -> None:
    try:
        compare(name, world)
    except OtherLinksError as reason:
        pytest.skip(str(reason))


def test_every_case_is_recorded() -> None:
    assert list(json.loads(RECORD.read_text())) == list(CASES)


def align(folder: Path) -> None:
    """Write the links that the cases start from: one line per training line, empty for held-out lines."""
    write_small_demo(folder / "demo" / "data" / "demo")
    shutil.copytree(ROOT / "conf", folder / "demo" / "conf")
    corpora = {SAMPLE_LINKS: ROOT / "conf" / "sample.yaml", DEMO_LINKS: folder / "demo" / "conf" / "demo.yaml"}
    for target, configuration in corpora.items():
        work = folder / target.name
        itersel("build", configuration, *settings([f"work={work}"]))
        numbers = map(int, (work / "text" / "train.lines").read_text().split())
        links = dict(zip(numbers, (work / "model" / "alignment").read_text().splitlines(), strict=True))
        source = configuration.parent / yaml.safe_load(configuration.read_text())["train"]["source"]
        count = len(source.read_text().splitlines())
        text = "".join(f"{links.get(number, '')}\n" for number in range(1, count + 1))
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(gzip.compress(text.encode(), mtime=0))


def program() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--record", action="store_true", help=f"write the checksums to {RECORD.name}")
    parser.add_argument("--align", action="store_true", help="write the links in tests/data")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes and reducers")
    args = parser.parse_args()
    names = args.cases or list(CASES)
    if unknown := set(names) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        if args.align:
            align(Path(folder))
            return 0
        world = World(Path(folder), args.jobs)
        recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
        for name in names:
            if args.record:
                recorded[name] = CASES[name](world)
                continue
            try:
                compare(name, world)
                print(f"{name}: same", flush=True)
            except OtherLinksError as reason:
                print(f"{name}: {reason}", flush=True)
            except AssertionError as difference:
                failed += 1
                print(f"{name}: different: {difference}", flush=True)
        if args.record:
            made = {name: recorded[name] for name in CASES if name in recorded}
            RECORD.write_text(json.dumps(made, indent=1) + "\n")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(program())
