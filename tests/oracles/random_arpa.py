"""Small language models whose probabilities and back-offs are random: nothing cancels by chance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path


def write_random_arpa(path: Path, order: int, words: Sequence[str], seed: int, sentences: int = 12) -> None:
    """The n-grams of random sentences over `words`, with random figures; every third top n-gram is dropped."""
    source = random.Random(seed)
    grams: list[set[tuple[str, ...]]] = [set() for _ in range(order)]
    grams[0] |= {(word,) for word in ("<unk>", "<s>", "</s>", *words)}
    for _ in range(sentences):
        line = ["<s>", *source.choices(words, k=source.randint(order, order + 4)), "</s>"]
        for length in range(1, order + 1):
            grams[length - 1] |= {tuple(line[at : at + length]) for at in range(len(line) - length + 1)}
    kept = sorted(grams[-1])
    grams[-1] = {gram for gram in kept if source.random() > 0.3} or set(kept)
    lines = ["\\data\\", *(f"ngram {length}={len(those)}" for length, those in enumerate(grams, 1)), ""]
    for length, those in enumerate(grams, 1):
        lines.append(f"\\{length}-grams:")
        for gram in sorted(those):
            log10 = -99.0 if gram == ("<s>",) else -source.uniform(0.1, 3)
            backoff = f"\t{source.uniform(-1, 0.2):.4f}" if length < order and gram[-1] != "</s>" else ""
            lines.append(f"{log10:.4f}\t{' '.join(gram)}{backoff}")
        lines.append("")
    path.write_text("\n".join([*lines, "\\end\\", ""]))
