"""Write the demo corpus, data/demo/: German–English pairs from the hand-written bilingual grammar in demo_grammar/.

Line i of NAME.de, NAME.en and NAME.domain belong together; more.en is further English text for the language model. The
same script writes the same bytes.

    python tools/make_demo.py [FOLDER]
"""

import sys
from pathlib import Path

from demo_grammar.lexicon import read_lexicon
from demo_grammar.sentences import Generator

SEED = 1
SIZES = {"train": 5000, "dev": 300, "devtest": 300, "test": 500, "more": 1500}
MONOLINGUAL = ("more",)
FOLDER = Path(__file__).resolve().parents[1] / "data" / "demo"


def corpus(seed: int = SEED) -> dict[str, list[dict[str, str]]]:
    """All sets, with German, English and domain of each sentence. No sentence comes twice; the domains take turns."""
    domains = read_lexicon()
    generator, labels = Generator(domains, seed), sorted(domains)
    seen: set[str] = set()
    sets: dict[str, list[dict[str, str]]] = {}
    for name, size in SIZES.items():
        rows = sets[name] = []
        while len(rows) < size:
            label = labels[len(rows) % len(labels)]
            german, english = generator.sentence(label)
            if seen.isdisjoint((german, english)):
                seen |= {german, english}
                rows.append({"de": german, "en": english, "domain": label})
    return sets


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in corpus().items():
        for column in ("en",) if name in MONOLINGUAL else ("de", "en", "domain"):
            text = "".join(f"{row[column]}\n" for row in rows)
            (folder / f"{name}.{column}").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
