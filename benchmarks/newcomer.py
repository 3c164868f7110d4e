"""What a newcomer gets: the README's commands, to the letter, on a bitext that no default was chosen on.

    python benchmarks/newcomer.py                        # sentences of Debian's package descriptions, by apt-get
    python benchmarks/newcomer.py --bitext corpus        # corpus.de and corpus.en, raw text
    python benchmarks/newcomer.py --folder DIR           # resume there

The configuration and the commands are read out of the README. SGD on dev is run as the README says, too. Prints one
line `name: value` per figure: BLEU on the test set of hand-set weights, SGD on dev and IterSelSGD on train, all with
default settings, and p by approximate randomisation. The folder keeps all scores and tests as evaluation.json.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
SIZES = {"dev": 500, "test": 2000}
SEED = 1
Pair = tuple[str, str]


def debian_pairs(folder: Path) -> list[list[Pair]]:
    """Sentences of the descriptions of Debian's packages in German and English, by package, each pair once."""
    lists = folder / "lists"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    options = [f"Dir::State::Lists={lists}", f"Dir::Cache={folder / 'cache'}", "Acquire::Languages=de,en"]
    (folder / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    if not list(lists.glob("*Translation-de*")):
        command = ["apt-get", "update", *(word for option in options for word in ("-o", option))]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    texts: list[dict[str, str]] = [{}, {}]
    for text, language in zip(texts, ("de", "en"), strict=True):
        for path in sorted(lists.glob(f"*_main_i18n_Translation-{language}*")):
            text |= _descriptions(path)
    seen = set[Pair]()
    packages = []
    for key in sorted(texts[0].keys() & texts[1].keys()):
        new = [pair for pair in description_pairs(texts[0][key], texts[1][key]) if pair not in seen]
        seen.update(new)
        packages.append(new)
    return [package for package in packages if package]


def _descriptions(path: Path) -> dict[str, str]:
    """The descriptions, by the checksum of the original."""
    command = ["/usr/lib/apt/apt-helper", "cat-file", str(path)]
    content = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    found = {}
    for block in content.split("\n\n"):
        key = re.search(r"^Description-md5: (\w+)$", block, re.MULTILINE)
        text = re.search(r"^Description-(?:de|en): (.+(?:\n .*)*)", block, re.MULTILINE)
        if key and text:
            found[key[1]] = text[1]
    return found


def description_pairs(source: str, target: str) -> list[Pair]:
    """The first line, and the sentences of all paragraphs that have equally many in both languages.

    Paragraphs are divided by lines of a full stop. Those with indented lines, which are lists and examples, are left
    out, as are pairs whose sides are equal.
    """
    (first, *sources), (other, *targets) = _paragraphs(source), _paragraphs(target)
    pairs = [(first, other)]
    if len(sources) == len(targets):
        for paragraphs in zip(sources, targets, strict=True):
            if not any("\n" in paragraph for paragraph in paragraphs):
                sides = [re.split(r"(?<=[.!?]) (?=[A-ZÄÖÜ])", paragraph) for paragraph in paragraphs]
                if len(sides[0]) == len(sides[1]):
                    pairs += zip(*sides, strict=True)
    return list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))


def _paragraphs(text: str) -> list[str]:
    """The first line and the paragraphs; an indented line keeps its line break."""
    first, *lines = text.split("\n")
    paragraphs = [""]
    for line in lines:
        if line.strip() == ".":
            paragraphs.append("")
        else:
            paragraphs[-1] += ("\n" if line.startswith("  ") else " ") + line.strip()
    return [first.strip(), *(paragraph.removeprefix(" ") for paragraph in paragraphs if paragraph)]


def read_pairs(prefix: str) -> list[Pair]:
    sides = [Path(f"{prefix}.{language}").read_text(encoding="utf-8").splitlines() for language in ("de", "en")]
    return list(zip(*sides, strict=True))


def write_corpus(documents: Sequence[Sequence[Pair]], folder: Path, sizes: dict[str, int]) -> None:
    """Files named as in the README's configuration: the sets are drawn by a fixed seed, the rest is for training.

    A set consists of whole documents, except that its last one is cut off at the set's size.
    """
    order = list(documents)
    random.Random(SEED).shuffle(order)
    parts = dict[str, list[Pair]]()
    for name, size in sizes.items():
        parts[name] = []
        while order and len(parts[name]) < size:
            parts[name] += order.pop(0)
        del parts[name][size:]
    if not order:
        sys.exit(f"{sum(map(len, documents)):,} pairs are too few: the sets alone take {sum(sizes.values()):,}.")
    for name, part in {"train": [pair for document in order for pair in document], **parts}.items():
        for side, language in enumerate(("de", "en")):
            text = "".join(f"{pair[side]}\n" for pair in part)
            (folder / f"{name}.{language}").write_text(text, encoding="utf-8")


def readme_steps() -> tuple[str, list[list[str]], list[str]]:
    """The configuration, the three commands, and the command that tunes on dev, as the README has them."""
    text = README.read_text(encoding="utf-8")
    configuration = re.search(r"```yaml\n(# mine\.yaml\n.*?)```", text, re.DOTALL)
    commands = re.search(r"```\n(itersel build mine\.yaml\n.*?)```", text, re.DOTALL)
    tuning = re.search(r"`(itersel train --build\s+work/mine --algorithm sgd [^`]*)`", text)
    assert configuration and commands and tuning, "the README no longer has these steps"
    return configuration[1], [shlex.split(line) for line in commands[1].splitlines()], shlex.split(tuning[1])


def follow(folder: Path, *, options: dict[str, Sequence[str]] | None = None, configuration: str | None = None) -> dict:
    """Run the README's steps in the folder; the evaluation of hand-set weights and both runs.

    `options` are added to the commands of a verb and `configuration` replaces the README's, for small corpora only.
    """
    written, commands, tuning = readme_steps()
    (folder / "mine.yaml").write_text(configuration or written)
    build, train, evaluate = commands
    for command in (build, train, tuning):
        run([*command, *(options or {}).get(command[1], ())], folder)
    sgd = f"sgd={tuning[tuning.index('--output') + 1]}"
    at = next(number for number, word in enumerate(evaluate) if "=" in word)  # systems stand together
    evaluate = [*evaluate[:at], sgd, *evaluate[at:], "--json", *(options or {}).get("evaluate", ())]
    found = run(evaluate, folder, capture=True)
    (folder / "evaluation.json").write_text(found, encoding="utf-8")
    return json.loads(found)


def run(command: Sequence[str], folder: Path, *, capture: bool = False) -> str:
    print("$", shlex.join(command), file=sys.stderr, flush=True)
    program = [sys.executable, "-m", *command]
    done = subprocess.run(program, cwd=folder, check=True, text=True, stdout=subprocess.PIPE if capture else sys.stderr)
    return done.stdout or ""


def figures(evaluation: dict) -> dict[str, float]:
    """BLEU of the systems, and p of the differences to IterSelSGD."""
    found = {f"{one['system']}_bleu": one["mean"] for one in evaluation["scores"] if one["metric"] == "bleu"}
    for one in evaluation["comparisons"]:
        if one["metric"] == "bleu" and "select" in (one["first"], one["second"]):
            other = ({one["first"], one["second"]} - {"select"}).pop()
            sign = 1 if one["first"] == "select" else -1
            found[f"select_minus_{other}"] = sign * one["difference"]
            found[f"p_select_{other}"] = one["randomization"]["p"]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bitext", metavar="PREFIX", help="PREFIX.de and PREFIX.en (default: Debian's descriptions)")
    parser.add_argument("--folder", metavar="DIR", help="where to work (default: a temporary folder)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        documents = (
            debian_pairs(folder / "debian") if args.bitext is None else [[pair] for pair in read_pairs(args.bitext)]
        )
        write_corpus(documents, folder, SIZES)
        print(f"pairs: {sum(map(len, documents))}")
        for name, value in figures(follow(folder)).items():
            print(f"{name.replace('-', '_')}: {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
