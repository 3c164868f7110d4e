"""German forms: articles, adjective endings and noun cases by gender; verbs by person and tense, particles apart."""

from __future__ import annotations

from dataclasses import dataclass

GENDERS = "mfnp"
"""Masculine, feminine, neuter; p is the plural of all."""
CASES = "NAD"
"""Nominative, accusative, dative."""


def _table(rows: str) -> dict[tuple[str, str], str]:
    """A paradigm written as one row of four forms for each case; `-` is the empty form."""
    forms = rows.replace("-", " - ").split()
    keys = [(case, gender) for case in CASES for gender in GENDERS]
    return {key: form.replace("-", "") for key, form in zip(keys, forms, strict=True)}


DEFINITE = _table("der die das die  den die das die  dem der dem den")
# Endings: of "ein", "kein", "mein"; of "dieser", "jeder"; of "viele"; and of adjectives after them.
EIN = _table("- e - e  en e - e  em er em en")
DIES = _table("er e es e  en e es e  em er em en")
AFTER_DEFINITE = _table("e e e en  en e e en  en en en en")
AFTER_EIN = _table("er e es en  en e es en  en en en en")
WITHOUT_ARTICLE = _table("er e es e  en e es e  em er em en")


@dataclass(frozen=True)
class Noun:
    gender: str
    singular: str
    plural: str | None
    """None: the noun has no plural."""
    weak: bool

    def form(self, case: str, plural: bool) -> str:
        if plural:
            assert self.plural is not None
            return self.plural + ("n" if case == "D" and self.plural[-1] not in "ns" else "")
        return self.plural if self.weak and case != "N" and self.plural else self.singular


@dataclass(frozen=True)
class Verb:
    """Forms of the third person singular; others follow from them. `particle` is empty for verbs that do not split."""

    infinitive: str
    present: str
    preterite: str
    participle: str
    particle: str = ""
    auxiliary: str = "haben"
    reflexive: bool = False

    def finite(self, tense: str, person: str) -> str:
        """Present or preterite without the particle; the person is 1 (ich), 3 (er, sie, es) or p (wir, sie)."""
        if tense == "preterite":
            return self.preterite + ("" if person != "p" else "n" if self.preterite.endswith("e") else "en")
        if person == "1":
            stem = self.infinitive
            return stem[:-3] + "le" if stem.endswith("eln") else stem.removesuffix("n").removesuffix("e") + "e"
        return self.present if person == "3" else self.infinitive

    @property
    def whole_infinitive(self) -> str:
        return self.particle + self.infinitive

    @property
    def infinitive_with_zu(self) -> str:
        return f"{self.particle}zu{self.infinitive}" if self.particle else f"zu {self.infinitive}"

    @property
    def whole_participle(self) -> str:
        return self.particle + self.participle


def parse_verb(text: str) -> Verb:
    """Read `[sich] [particle|]infinitive present preterite [ist] participle`."""
    words = text.split()
    reflexive = words[0] == "sich"
    moves = words[-2] == "ist"
    infinitive, present, preterite = words[reflexive : reflexive + 3]
    particle, _, infinitive = infinitive.rpartition("|")
    return Verb(infinitive, present, preterite, words[-1], particle, "sein" if moves else "haben", reflexive)


# By person: 1, 3, p.
FORMS = {
    "haben": ("habe", "hat", "haben"),
    "sein": ("bin", "ist", "sind"),
    "werden": ("werde", "wird", "werden"),
    "wurden": ("wurde", "wurde", "wurden"),
    "können": ("kann", "kann", "können"),
    "müssen": ("muss", "muss", "müssen"),
    "wollen": ("will", "will", "wollen"),
    "sollen": ("soll", "soll", "sollen"),
    "dürfen": ("darf", "darf", "dürfen"),
}
REFLEXIVE = {"1": "mich", "3": "sich", "p": "uns"}


def auxiliary(name: str, person: str) -> str:
    return FORMS[name]["13p".index(person)]


def verb_forms(verb: Verb, tense: str, person: str) -> tuple[str, str]:
    """The finite form, and what ends the clause: the particle, the participle or the infinitive."""
    if tense in ("present", "preterite"):
        return verb.finite(tense, person), verb.particle
    if tense == "perfect":
        return auxiliary(verb.auxiliary, person), verb.whole_participle
    if tense in ("passive", "passive past"):
        return auxiliary("werden" if tense == "passive" else "wurden", person), verb.whole_participle
    return auxiliary("werden" if tense == "future" else tense, person), verb.whole_infinitive
