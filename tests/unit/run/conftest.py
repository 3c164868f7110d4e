"""A small build, for tests that train on it and translate with it."""

import pytest

import itersel

WORDS = ["der", "hund", "sieht", "das", "haus", "und", "die", "katze", "rot", "alt", "neu"]
CONFIG = """\
work: work
train: {source: t.de, target: t.en, held_out: {devtest: 10}}
sets:
  dev: {source: d.de, references: [d.en]}
align: {given: t.align}
lm: {order: 2}
extract: {leave_one_out: true}
shards: {size: 30, features: id}
"""


@pytest.fixture(scope="session")
def small_build(tmp_path_factory: pytest.TempPathFactory) -> itersel.Build:
    """A corpus of 70 pairs, no two of which are equal, and 10 development sentences of the same kind."""
    folder = tmp_path_factory.mktemp("natural")
    lines = [" ".join(WORDS[(i // 11**j) % 11] for j in range(3)) for i in range(0, 1280, 16)]
    for name, part in (("t", lines[:70]), ("d", lines[70:])):
        (folder / f"{name}.de").write_text("".join(f"{line}\n" for line in part))
        targets = [line.upper().replace("HAUS", ("HAUS", "HOUSE")[at % 2]) for at, line in enumerate(part)]
        (folder / f"{name}.en").write_text("".join(f"{line}\n" for line in targets))
    (folder / "t.align").write_text("0-0 1-1 2-2\n" * 70)
    (folder / "c.yaml").write_text(CONFIG)
    return itersel.build(folder / "c.yaml", work=folder / "work")
