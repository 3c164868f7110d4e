"""Every example in a verb's --help works as printed.

SETUP says which files a verb's examples need; FILES says how each is made from the sample corpus. The examples of a
verb run one after the other in one folder, by bash. A new verb needs a line in SETUP, and new names one in FILES.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from itersel.cli import VERBS
from small_demo import write_small_demo

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"train": 100, "other": 12}
"""Lines of the sample's files that are used, to be quick."""
HELD_OUT = 10
"""Of them, pairs of the devtest set; the sample itself holds out 40."""
PAIRS = 80
"""Training pairs of examples that start from text."""
DEMO = {"train": 80, "dev": 15, "devtest": 15, "test": 15, "more": 80}
"""Lines of the demo's files."""

SETUP: dict[str, tuple[str, ...]] = {
    "prepare": ("train.de.gz", "train.en.gz", "train.de-en", "test.de"),
    "split": ("train.de.gz", "test.de"),
    "align": ("train.de", "train.en", "train.de.gz", "train.en.gz", "fwd", "rev"),
    "lm": ("train.en.gz", "mono.en.gz"),
    "extract": ("train.de", "train.en", "train.align", "test.de", "new.de", "work/mine"),
    "shard": ("train.de", "train.en", "train.topic", "model/index", "dev.sgm", "dev.grammars", "dev.en.0", "dev.en.1"),
    "build": ("conf", "data"),
    "train": ("conf", "work/sample", "work/mine", "shards", "dev.itsh", "lm.bin"),
    "translate": (
        "work/sample",
        "work/mine",
        "work/run",
        "test.sgm",
        "test.de",
        "grammars",
        "grammar.gz",
        "weights.txt",
        "lm.arpa.gz",
        "lm.bin",
    ),
    "rerank": ("dev.kbest.gz", "dev.en", "test.kbest.gz", "rated.jsonl"),
    "geoquery": (),
    "completion": (),
    "evaluate": (
        *("a.txt", "b.txt", "a1.txt", "a2.txt", "b1.txt", "b2.txt"),
        *("test.en", "test.en.0", "test.en.1", "test.kbest.gz", "work/mine", "work/sgd", "work/run"),
    ),
    "inspect": ("run", "shards/train", "shards/dev", "lm.arpa.gz"),
    "convert": ("rule-table.gz", "moses.ini", "srilm.arpa"),
    "report": ("run", "runs/sgd", "runs/select", "test.json"),
    "experiment": ("conf", "data", "work"),
    "wheelhouse": (),
    "demo": ("conf", "data/demo"),
}
NOT_HERE: dict[str, str] = {
    "itersel wheelhouse": "tests/unit/engines/test_wheelhouse.py does, once",
    "scp": "needs another machine",
    "itersel geoquery ask": "tests/unit/response/test_geoquery_parser.py does, where the data is",
    "itersel geoquery experiment": "takes hours; tests/unit/pipeline/test_geoquery_experiment.py runs a small one",
}
"""Beginnings of examples that do not run here, with the reason."""


class World:
    """The sample corpus, prepared, aligned, indexed, compiled and translated in a folder of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in ("conf", "data/sample"):
            shutil.copytree(ROOT / name, folder / name)
        for path in (folder / "data/sample").iterdir():
            count = SIZES["train" if path.name.startswith("train") else "other"]
            path.write_text("".join(self.lines(os.fspath(path), count)))
        settings = (folder / "conf/sample.yaml").read_text()
        assert "    devtest: 40 " in settings
        self.write("conf/sample.yaml", settings.replace("    devtest: 40 ", f"    devtest: {HELD_OUT} "))
        self.run("build", "conf/sample.yaml")
        for side, name in (("de", "train.source"), ("en", "train.reference.0")):
            self.write(f"train.{side}", self.text(name, PAIRS))
        self.write("train.align", "".join(self.lines("work/sample/model/alignment", PAIRS)))
        self.run("extract", "--source train.de --target train.en --alignment train.align --index index")
        for name in ("dev", "test"):
            self.write(f"{name}.de", self.text(f"{name}.source", 12))
            self.write(f"{name}.en", self.text(f"{name}.reference.0", 12))
            self.run("extract", f"--index work/sample/model/index --sentences {name}.de --output {name}.grammars")
        self.write("weights.txt", "LanguageModel 0.5\nEgivenFCoherent -0.3\nMaxLexEgivenF -0.3\nPassThrough -1\n")
        for name in ("dev", "test"):
            self.run(
                "translate",
                f"{name}.de --grammars {name}.grammars --weights weights.txt --lm work/sample/model/lm.arpa.gz"
                f" --kbest 20 --output {name}.kbest.gz",
            )
        self.run(
            "shard", "--sentences train.de --references train.en --index index --leave-one-out --shards 2 --output s"
        )

    def run(self, verb: str, arguments: str) -> None:
        done = itersel(f"itersel {verb} {arguments}", self.folder)
        assert done.returncode == 0, done.stderr

    def write(self, name: str, content: str) -> None:
        (self.folder / name).write_text(content)

    def lines(self, name: str, count: int) -> list[str]:
        return (self.folder / name).read_text().splitlines(keepends=True)[:count]

    def text(self, name: str, count: int) -> str:
        return "".join(self.lines(f"work/sample/text/{name}", count))

    def train(self, *options: str) -> Path:
        """A short training run, made once."""
        place = self.folder / "runs" / ("-".join(options) or "plain")
        if not place.exists():
            data = (
                "--shards 's/*.itsh' --devtest work/sample/shards/dev/shard.0000.itsh --lm work/sample/model/lm.arpa.gz"
            )
            data += " --allow-seen-references"  # the shards are a part of the text that the model is made of
            self.run("train", f"{data} --epochs 2 --output '{place}' {' '.join(options)}")
        return place

    def segments(self, name: str, grammars: str) -> str:
        """<seg> lines as seen from the folder that holds that of the grammars."""
        text = (self.folder / f"{name}.grammars" / "input.sgm").read_text()
        return text.replace('grammar="', f'grammar="{grammars}/')

    def rated(self) -> str:
        """Hypotheses with a rating, which here prefers short ones."""
        made = []
        for line in gzip.decompress((self.folder / "dev.kbest.gz").read_bytes()).decode().splitlines():
            name, text, features, score = (field.strip() for field in line.split(" ||| "))
            values = {one.rpartition("=")[0]: float(one.rpartition("=")[2]) for one in features.split()}
            fields = {"id": name, "text": text, "features": values, "logprob": float(score), "rating": -len(text)}
            made.append(json.dumps(fields) + "\n")
        return "".join(made)

    def evaluation(self) -> str:
        """What `itersel evaluate` says of two outputs."""
        return itersel("itersel evaluate a=dev.en b=test.en --reference dev.en --json", self.folder).stdout


FILES: dict[str, Callable[[World], Path | str | bytes]] = {
    "train.de": lambda w: w.folder / "train.de",
    "train.en": lambda w: w.folder / "train.en",
    "train.de.gz": lambda w: gzip.compress((w.folder / "train.de").read_bytes()),
    "train.en.gz": lambda w: gzip.compress((w.folder / "train.en").read_bytes()),
    "mono.en.gz": lambda w: gzip.compress((w.folder / "work/sample/text/train.reference.0").read_bytes()),
    "train.de-en": lambda w: "".join(
        f"{de.strip()} ||| {en}" for de, en in zip(w.lines("train.de", PAIRS), w.lines("train.en", PAIRS), strict=True)
    ),
    "train.topic": lambda w: w.text("train.tasks", PAIRS),
    "train.align": lambda w: w.folder / "train.align",
    "fwd": lambda w: w.folder / "train.align",
    "rev": lambda w: w.folder / "train.align",
    "model/index": lambda w: w.folder / "index",
    "test.de": lambda w: w.folder / "test.de",
    "new.de": lambda w: w.folder / "test.de",
    "test.en": lambda w: w.folder / "test.en",
    "test.en.0": lambda w: w.folder / "test.en",
    "test.en.1": lambda w: w.folder / "test.en",
    "dev.en": lambda w: w.folder / "dev.en",
    "dev.en.0": lambda w: w.folder / "dev.en",
    "dev.en.1": lambda w: w.folder / "dev.en",
    "dev.sgm": lambda w: w.segments("dev", "dev.grammars"),
    "test.sgm": lambda w: w.segments("test", "grammars"),
    "dev.grammars": lambda w: w.folder / "dev.grammars",
    "grammars": lambda w: w.folder / "test.grammars",
    "grammar.gz": lambda w: w.folder / "test.grammars" / "grammar.0.gz",
    "weights.txt": lambda w: w.folder / "weights.txt",
    "lm.arpa.gz": lambda w: w.folder / "work/sample/model/lm.arpa.gz",
    "lm.bin": lambda w: w.folder / "work/sample/model/lm.arpa.gz",  # a model is recognised by its content
    "rule-table.gz": lambda _: gzip.compress(b"[X][X] haus [X] ||| house [X][X] [X] ||| 0.5 1 ||| 0-1 1-0 ||| 1 2 1\n"),
    "moses.ini": lambda _: "[weight]\nWordPenalty0= -1\nTranslationModel0= 0.2 0.1\nLM0= 0.5\n",
    "srilm.arpa": lambda _: "\\data\\\nngram 1=1\n\n\\1-grams:\n-0.5\ta\n\n\\end\\\n",
    "conf": lambda w: w.folder / "conf",
    "data": lambda w: w.folder / "data",
    "data/demo": lambda w: write_small_demo(w.folder / "small-demo", **DEMO),
    "work": lambda w: w.folder / "work",
    "work/sample": lambda w: w.folder / "work/sample",
    "work/mine": lambda w: w.folder / "work/sample",
    "work/run": lambda w: w.train(),
    "work/sgd": lambda w: w.train("--algorithm", "sgd", "--layout", "random"),
    "shards": lambda w: w.folder / "s",
    "shards/train": lambda w: w.folder / "work/sample/shards/train",
    "shards/dev": lambda w: w.folder / "work/sample/shards/dev",
    "dev.itsh": lambda w: w.folder / "work/sample/shards/dev/shard.0000.itsh",
    "dev.kbest.gz": lambda w: w.folder / "dev.kbest.gz",
    "test.kbest.gz": lambda w: w.folder / "test.kbest.gz",
    "rated.jsonl": lambda w: w.rated(),
    "a.txt": lambda w: w.folder / "test.en",
    "a1.txt": lambda w: w.folder / "test.en",
    "a2.txt": lambda w: w.folder / "test.en",
    "b.txt": lambda w: w.folder / "dev.en",
    "b1.txt": lambda w: w.folder / "dev.en",
    "b2.txt": lambda w: w.folder / "dev.en",
    "run": lambda w: w.train(),
    "runs/sgd": lambda w: w.train("--algorithm", "sgd", "--layout", "random"),
    "runs/select": lambda w: w.train(),
    "test.json": lambda w: w.evaluation(),
}


def itersel(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line by bash, with this environment's programs first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=1800,
    )


def examples(verb: str) -> list[str]:
    text = importlib.import_module(f"itersel.cli.{verb}").EXAMPLE.replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_examples_run_as_printed(verb: str, world: World, tmp_path: Path) -> None:
    assert verb in SETUP, f"tests/system/test_examples.py: say in SETUP which files the examples of {verb} need"
    for name in SETUP[verb]:
        made, place = FILES[name](world), tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(made, Path):
            (shutil.copytree if made.is_dir() else shutil.copy)(made, place)
        else:
            place.write_bytes(made.encode() if isinstance(made, str) else made)
    commands = examples(verb)
    assert any(f"itersel {verb}" in command for command in commands)
    for command in commands:
        if not command.startswith(tuple(NOT_HERE)):
            done = itersel(command, tmp_path)
            assert done.returncode == 0, f"{command}\n{done.stderr}"
