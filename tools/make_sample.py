"""Write the sample corpus, data/sample/: German–English pairs from a small hand-written bilingual grammar.

Both sides of a pair come from one choice of template and words. German brings its articles, adjective endings and verb
positions, so that there is something to align, to reorder and to learn. Each domain has its own words and is a task
label. The same script writes the same files.

    python tools/make_sample.py
"""

import random
from pathlib import Path
from typing import NamedTuple

SEED = 1
SIZES = {"train": 600, "dev": 60, "test": 60}
FOLDER = Path(__file__).resolve().parents[1] / "data" / "sample"


class Noun(NamedTuple):
    german: str
    gender: int  # 0 der, 1 die, 2 das
    english: str


class Verb(NamedTuple):
    german: tuple[str, str, str]  # sieht, gesehen, sehen
    english: tuple[str, str, str]  # sees, seen, see


class Domain(NamedTuple):
    people: list[Noun]
    things: list[Noun]
    places: list[Noun]
    verbs: list[Verb]


DOMAINS = {
    "garden": Domain(
        [Noun("Gärtner", 0, "gardener"), Noun("Nachbarin", 1, "neighbour"), Noun("Kind", 2, "child")],
        [Noun("Baum", 0, "tree"), Noun("Blume", 1, "flower"), Noun("Blatt", 2, "leaf"), Noun("Apfel", 0, "apple")],
        [Noun("Garten", 0, "garden"), Noun("Wiese", 1, "meadow"), Noun("Beet", 2, "flower bed")],
        [
            Verb(("gießt", "gegossen", "gießen"), ("waters", "watered", "water")),
            Verb(("schneidet", "geschnitten", "schneiden"), ("cuts", "cut", "cut")),
            Verb(("findet", "gefunden", "finden"), ("finds", "found", "find")),
        ],
    ),
    "kitchen": Domain(
        [Noun("Koch", 0, "cook"), Noun("Bäckerin", 1, "baker"), Noun("Mädchen", 2, "girl")],
        [Noun("Kuchen", 0, "cake"), Noun("Suppe", 1, "soup"), Noun("Brot", 2, "bread"), Noun("Fisch", 0, "fish")],
        [Noun("Ofen", 0, "oven"), Noun("Küche", 1, "kitchen"), Noun("Restaurant", 2, "restaurant")],
        [
            Verb(("probiert", "probiert", "probieren"), ("tastes", "tasted", "taste")),
            Verb(("verbrennt", "verbrannt", "verbrennen"), ("burns", "burnt", "burn")),
            Verb(("bestellt", "bestellt", "bestellen"), ("orders", "ordered", "order")),
        ],
    ),
    "office": Domain(
        [Noun("Chef", 0, "boss"), Noun("Kollegin", 1, "colleague"), Noun("Mitglied", 2, "member")],
        [Noun("Brief", 0, "letter"), Noun("Rechnung", 1, "bill"), Noun("Buch", 2, "book"), Noun("Plan", 0, "plan")],
        [Noun("Keller", 0, "cellar"), Noun("Abteilung", 1, "department"), Noun("Büro", 2, "office")],
        [
            Verb(("liest", "gelesen", "lesen"), ("reads", "read", "read")),
            Verb(("schreibt", "geschrieben", "schreiben"), ("writes", "written", "write")),
            Verb(("verliert", "verloren", "verlieren"), ("loses", "lost", "lose")),
        ],
    ),
    "street": Domain(
        [Noun("Fahrer", 0, "driver"), Noun("Polizistin", 1, "police officer"), Noun("Opfer", 2, "victim")],
        [Noun("Wagen", 0, "car"), Noun("Ampel", 1, "traffic light"), Noun("Fahrrad", 2, "bike"), Noun("Bus", 0, "bus")],
        [Noun("Tunnel", 0, "tunnel"), Noun("Straße", 1, "street"), Noun("Dorf", 2, "village")],
        [
            Verb(("sieht", "gesehen", "sehen"), ("sees", "seen", "see")),
            Verb(("hört", "gehört", "hören"), ("hears", "heard", "hear")),
            Verb(("repariert", "repariert", "reparieren"), ("repairs", "repaired", "repair")),
        ],
    ),
}
ADJECTIVES = [("alt", "old"), ("neu", "new"), ("klein", "small"), ("schön", "beautiful"), ("rot", "red")]
TIMES = [("heute", "today"), ("manchmal", "sometimes"), ("am Abend", "in the evening"), ("jetzt", "now")]
NOMINATIVE, ACCUSATIVE, DATIVE = range(3)
DEFINITE = (("der", "die", "das"), ("den", "die", "das"), ("dem", "der", "dem"))
INDEFINITE = (("ein", "eine", "ein"), ("einen", "eine", "ein"), ("einem", "einer", "einem"))
AFTER_DEFINITE = (("e", "e", "e"), ("en", "e", "e"), ("en", "en", "en"))
AFTER_INDEFINITE = (("er", "e", "es"), ("en", "e", "es"), ("en", "en", "en"))

# Slots: S subject, O object, P place, T time; V, G and F finite verb, participle and infinitive.
TEMPLATES = [
    ("S V O", "S V O"),
    ("S V O P", "S V O P"),
    ("T V S O", "T S V O"),
    ("S hat O G", "S has G O"),
    ("S hat O P G", "S has G O P"),
    ("T hat S O G", "T S has G O"),
    ("S will O F", "S wants to F O"),
    ("S kann T O P F", "S can F O P T"),
    ("ich weiß, dass S O V", "I know that S V O"),
    ("ich glaube, dass S O P G hat", "I believe that S has G O P"),
]


class Generator:
    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def choose(self, items):
        return items[int(self.random.random() * len(items))]

    def phrase(self, noun: Noun, case: int) -> tuple[str, str]:
        """A noun phrase in that case: article, perhaps an adjective, noun."""
        definite = self.random.random() < 0.6
        german = [(DEFINITE if definite else INDEFINITE)[case][noun.gender]]
        english = []
        if self.random.random() < 0.4:
            stem, adjective = self.choose(ADJECTIVES)
            german.append(stem + (AFTER_DEFINITE if definite else AFTER_INDEFINITE)[case][noun.gender])
            english.append(adjective)
        english.append(noun.english)
        article = "the" if definite else "an" if english[0][0] in "aeiou" else "a"
        return " ".join([*german, noun.german]), " ".join([article, *english])

    def pair(self, domain: Domain) -> tuple[str, str]:
        verb = self.choose(domain.verbs)
        place = self.phrase(self.choose(domain.places), DATIVE)
        slots = {
            "S": self.phrase(self.choose(domain.people), NOMINATIVE),
            "O": self.phrase(self.choose(domain.things), ACCUSATIVE),
            "P": (f"in {place[0]}", f"in {place[1]}"),
            "T": self.choose(TIMES),
            **{slot: (verb.german[form], verb.english[form]) for form, slot in enumerate("VGF")},
        }
        german, english = (
            " ".join(slots[word][side] if word in slots else word for word in template.split())
            for side, template in enumerate(self.choose(TEMPLATES))
        )
        return f"{german[0].upper()}{german[1:]}.", f"{english[0].upper()}{english[1:]}."


def main() -> None:
    generator = Generator(SEED)
    seen: set[str] = set()
    for name, size in SIZES.items():
        rows = []
        while len(rows) < size:
            label = generator.choose(sorted(DOMAINS))
            german, english = generator.pair(DOMAINS[label])
            if german not in seen:
                seen.add(german)
                rows.append((german, english, label))
        FOLDER.mkdir(exist_ok=True)
        for column, suffix in enumerate(("de", "en", "domain")):
            (FOLDER / f"{name}.{suffix}").write_text("".join(row[column] + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
