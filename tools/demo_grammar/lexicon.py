"""Reads lexicon.yaml, whose head explains the notation, into domains of words with both languages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from demo_grammar import english, german

AGENTS = ("person", "body")
"""Groups of nouns that act of their own will."""


@dataclass(frozen=True)
class Noun:
    german: german.Noun
    english: str
    english_plural: str
    adjectives: tuple[tuple[str, str], ...]
    agent: bool
    """It acts of its own will."""
    pronoun: str
    """Relative, in English: who or which."""


@dataclass(frozen=True)
class Verb:
    """A verb with what it can be said of. `preposition` is that of its object: German, case, English."""

    german: german.Verb
    english: str
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...] = ()
    preposition: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Domain:
    places: tuple[tuple[str, str], ...]
    verbs: tuple[Verb, ...]


def read_lexicon() -> dict[str, Domain]:
    text = (Path(__file__).parent / "lexicon.yaml").read_text(encoding="utf-8")
    return {name: _domain(entries) for name, entries in yaml.safe_load(text).items()}


def _domain(entries: dict) -> Domain:
    groups: dict[str, tuple[Noun, ...]] = {}
    for name, entry in entries.items():
        if name in ("places", "verbs"):
            continue
        adjectives = tuple(_halves(one) for one in entry["adjectives"])
        groups[name] = tuple(_noun(line, adjectives, name) for line in entry["nouns"])
    single = {noun.german.singular: (noun,) for nouns in groups.values() for noun in nouns}

    def nouns(text: str) -> tuple[Noun, ...]:
        return tuple(noun for name in text.split() for noun in (groups | single)[name])

    verbs = []
    for subjects, forms, meaning, *rest in entries["verbs"]:
        preposition = None
        if len(rest) == 2:
            mine, theirs = _halves(rest[0])
            preposition = (*mine.split(), theirs)
        objects = nouns(rest[-1]) if rest else ()
        verbs.append(Verb(german.parse_verb(forms), meaning, nouns(subjects), objects, preposition))
    return Domain(tuple(_halves(one) for one in entries["places"]), tuple(verbs))


def _halves(text: str) -> tuple[str, str]:
    mine, theirs = text.split("=")
    return mine.strip(), theirs.strip()


def _noun(line: str, adjectives: tuple[tuple[str, str], ...], group: str) -> Noun:
    mine, theirs = _halves(line)
    singular, _, plural = mine.partition(", ")
    article, word = singular.split()
    gender = {"der": "m", "die": "f", "das": "n"}[article]
    noun = german.Noun(gender, word.rstrip("~*"), plural or None, word.endswith("~"))
    pronoun = "who" if group == "person" and not word.endswith("*") else "which"
    word, _, many = theirs.partition(", ")
    return Noun(noun, word, many or english.plural(word), adjectives, group in AGENTS, pronoun)
