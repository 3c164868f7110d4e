"""Small shards to try things on: a fixed one, and random grammars with sentences they fit."""

from __future__ import annotations

import random
from pathlib import Path

from itersel.model.features import GROUPS, Weights
from itersel.shards.shard import ShardWriter

SOURCE, TARGET = ("ein", "größe", "und", "b=c"), ("a", "size", "and", "ein")
WEIGHTS = Weights({"f": 0.7, "g": -0.4, "Glue": 0.1, "WordPenalty": 0.3, "LanguageModel": 0.5, "PassThrough": -1})


def random_grammar(generator: random.Random) -> bytes:
    """Some rules over SOURCE and TARGET with up to two non-terminals, no two of them equal."""
    lines = set()
    for _ in range(generator.randrange(1, 12)):
        arity = generator.choice((0, 0, 1, 2))
        source = [generator.choice(SOURCE) for _ in range(generator.randrange(0 if arity else 1, 3))]
        target = [generator.choice(TARGET) for _ in range(generator.randrange(3))]
        for index in range(1, arity + 1):
            gap = f"[{generator.choice('XXY')},{index}]"
            source.insert(generator.randrange(len(source) + 1), gap)
            target.insert(generator.randrange(len(target) + 1), gap)
        values = f"f={generator.randrange(9) / 8} g={generator.randrange(9) / 4}" if generator.random() < 0.7 else ""
        lines.add(f"[{generator.choice('XXXY')}] ||| {' '.join(source)} ||| {' '.join(target)} ||| {values}")
    return "\n".join(sorted(lines)).encode()


def random_sentence(generator: random.Random) -> str:
    return " ".join(generator.choice(SOURCE) for _ in range(generator.randrange(6)))


def small_shard(path: Path) -> bytes:
    writer = ShardWriter(groups=GROUPS)
    writer.add("ein größe", ["a size", "one size"], b"[X] ||| ein ||| a ||| f=1 ||| 0-0", id="7", domain="sport")
    writer.add("", [], b"", domain="news")
    writer.add(
        "größe und größe", ["x"], b"[X] ||| [X,1] und [Y,2] ||| [Y,2] [X,1] ||| g=2\n[Y] ||| gr\xc3\xb6\xc3\x9fe |||"
    )
    writer.write(path)
    return path.read_bytes()
