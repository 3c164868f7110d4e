"""Reranking on halves: tuners learn weights on one half of n-best lists, the other half is sorted by them and scored.

    python benchmarks/rerank.py --lists dense.100best.gz --references reference.en --start weights.txt [--output FOLDER]

Even lists are one half, odd ones the other; each half is once learned from and once scored, so that every list is
scored with weights that do not know it. Prints BLEU of all lists as they came (`first_bleu`), sorted by the start
weights (`start_bleu`), by each tuner's (`mert_bleu`, `mira_bleu`), of the best hypotheses by BLEU+1 (`oracle_bleu`),
and p against the lists as they came (approximate randomisation).
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from itertools import groupby
from pathlib import Path

import itersel
from itersel.base.files import read_lines
from itersel.metrics.sentence import sentence_values

TUNERS = ("mert", "mira")
METRIC = "stupid_bleu"


def halves(lists: str, references: str, folder: Path) -> list[tuple[Path, Path, list[int]]]:
    """For each half: its lists, numbered from 0, its references, and which lists they are."""
    blocks = [list(lines) for _, lines in groupby(read_lines(lists), key=lambda line: line.partition(" ||| ")[0])]
    targets = list(read_lines(references))
    if len(blocks) != len(targets):
        raise SystemExit(f"{len(blocks)} lists, but {len(targets)} references")
    made = []
    for half in range(2):
        numbers = list(range(half, len(blocks), 2))
        place, target = folder / f"lists.{half}.gz", folder / f"references.{half}"
        with gzip.open(place, "wt") as stream:
            for at, number in enumerate(numbers):
                stream.writelines(f"{at} ||| {line.partition(' ||| ')[2]}\n" for line in blocks[number])
        target.write_text("".join(f"{targets[number]}\n" for number in numbers))
        made.append((place, target, numbers))
    return made


def joined(parts: list[tuple[list[int], list[str]]]) -> list[str]:
    """The lines of both halves in the order of the lists."""
    found = {number: line for numbers, lines in parts for number, line in zip(numbers, lines, strict=True)}
    return [found[number] for number in sorted(found)]


def oracles(lists: str, references: str) -> list[str]:
    """Of each list the hypothesis with the highest sentence score; of equals, the first."""
    made = []
    blocks = groupby(read_lines(lists), key=lambda line: line.partition(" ||| ")[0])
    for (_, lines), reference in zip(blocks, read_lines(references), strict=True):
        texts = [line.split(" ||| ")[1] for line in lines]
        scores = sentence_values(METRIC, [text.split(" ") for text in texts], [reference.split(" ")])
        made.append(texts[int(scores.argmax())])
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", required=True)
    parser.add_argument("--references", required=True)
    parser.add_argument("--start", required=True, help="weights that tuning starts from")
    parser.add_argument("--output", help="folder for runs and halves (default: a temporary one)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(args.output or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        parts = halves(args.lists, args.references, folder)
        came = groupby(read_lines(args.lists), key=lambda line: line.partition(" ||| ")[0])
        outputs = {
            "first": [next(lines).split(" ||| ")[1] for _, lines in came],
            "start": joined([(numbers, itersel.rerank(place, args.start)) for place, _, numbers in parts]),
        }
        for algorithm in TUNERS:
            found = []
            for half, (place, target, _) in enumerate(parts):
                run = itersel.train_reranker(
                    place, target, folder / f"{algorithm}.{half}", algorithm=algorithm, epochs=1, start=args.start
                )
                other = parts[1 - half]
                found.append((other[2], itersel.rerank(other[0], run)))
            outputs[algorithm] = joined(found)
        outputs["oracle"] = oracles(args.lists, args.references)
    evaluation = itersel.evaluate(outputs, args.references, metrics=("bleu",), baseline="first", trials=2000)
    for name in outputs:
        print(f"{name}_bleu: {evaluation.score(name).mean:.2f}")
        if name != "first":
            print(f"{name}_p: {evaluation.comparison(name, 'first').randomization.p:.4f}")


if __name__ == "__main__":
    main()
