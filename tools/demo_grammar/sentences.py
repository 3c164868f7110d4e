"""The bilingual grammar: clauses of which each part has both languages, put in order by the rules of either language.

German follows its fields: what comes first, the finite verb, the middle, and the end with particle, participle or
infinitive; in subordinate clauses the finite verb goes to the very end. English keeps subject, verb, object, and the
place of an adverb depends on the adverb.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from demo_grammar import english, german
from demo_grammar.lexicon import Domain, Noun, Verb

Item = TypeVar("Item")


class Adverb(NamedTuple):
    german: str
    english: str
    position: str
    """In English: front, middle (before the verb), end, or ongoing: none, but the verb is in the progressive form."""


PRESENT, PAST, PERFECT, FUTURE = (
    (
        Adverb("heute", "today", "end"),
        Adverb("oft", "often", "middle"),
        Adverb("gerade", "", "ongoing"),
        Adverb("leider", "unfortunately", "front"),
        Adverb("jeden Morgen", "every morning", "end"),
        Adverb("immer", "always", "middle"),
        Adverb("am Abend", "in the evening", "end"),
        Adverb("trotzdem", "nevertheless", "front"),
        Adverb("selten", "rarely", "middle"),
        Adverb("normalerweise", "usually", "middle"),
    ),
    (
        Adverb("gestern", "yesterday", "end"),
        Adverb("letzte Woche", "last week", "end"),
        Adverb("plötzlich", "suddenly", "middle"),
        Adverb("am Montag", "on Monday", "end"),
        Adverb("vor einer Stunde", "an hour ago", "end"),
        Adverb("damals", "at that time", "front"),
    ),
    (
        Adverb("schon", "already", "middle"),
        Adverb("endlich", "finally", "middle"),
        Adverb("noch nie", "never", "middle"),
        Adverb("gerade", "just", "middle"),
    ),
    (
        Adverb("morgen", "tomorrow", "end"),
        Adverb("bald", "soon", "end"),
        Adverb("nächste Woche", "next week", "end"),
        Adverb("vielleicht", "perhaps", "front"),
    ),
)
TENSES = (
    *("present", "perfect", "perfect", "preterite", "passive", "future", "können", "müssen", "wollen"),
    *("passive past", "sollen", "dürfen"),
)
REPORTS = (
    ("Ich glaube, dass", "I believe that"),
    ("Wir wissen, dass", "We know that"),
    ("In der Zeitung steht, dass", "The newspaper says that"),
    ("Niemand weiß, ob", "Nobody knows whether"),
    ("Es stimmt nicht, dass", "It is not true that"),
    ("Ich frage mich, ob", "I wonder whether"),
)
NOW = ("present", "können", "müssen", "passive", "wollen", "dürfen")
THEN = ("perfect", "preterite", "passive past")
CONJUNCTIONS = {
    NOW: (("weil", "because"), ("wenn", "when"), ("obwohl", "although"), ("bevor", "before"), ("während", "while")),
    THEN: (("weil", "because"), ("als", "when"), ("obwohl", "although"), ("bevor", "before"), ("während", "while")),
}
ATTEMPTS = tuple(
    (german.parse_verb(forms), meaning)
    for forms, meaning in (
        ("versuchen versucht versuchte versucht", "try"),
        ("beschließen beschließt beschloss beschlossen", "decide"),
        ("vergessen vergisst vergaß vergessen", "forget"),
        ("beginnen beginnt begann begonnen", "begin"),
        ("sich weigern weigert weigerte geweigert", "refuse"),
    )
)
# German stem, its endings, the endings of an adjective behind it, English in the singular and before a vowel, plural?
DETERMINERS = (
    ("dies", german.DIES, german.AFTER_DEFINITE, "this", False),
    ("mein", german.EIN, german.AFTER_EIN, "my", False),
    ("unser", german.EIN, german.AFTER_EIN, "our", False),
    ("viel", german.WITHOUT_ARTICLE, german.WITHOUT_ARTICLE, "many", True),
    ("dies", german.DIES, german.AFTER_DEFINITE, "these", True),
    ("einig", german.WITHOUT_ARTICLE, german.WITHOUT_ARTICLE, "some", True),
    ("jed", german.DIES, german.AFTER_DEFINITE, "every", False),
)


@dataclass(frozen=True)
class Phrase:
    """A noun phrase or pronoun. The German forms are by case; `person` is 1, 3 or p, as in german.Verb."""

    german: dict[str, str]
    english: str
    person: str
    gender: str = "m"
    noun: Noun | None = None
    """None: a pronoun."""
    negative: dict[str, str] | None = None
    """German forms with "kein", where the phrase is indefinite."""


PRONOUNS = tuple(
    Phrase({"N": mine}, theirs, person)
    for mine, theirs, person in (("er", "he", "3"), ("sie", "she", "3"), ("wir", "we", "p"), ("ich", "I", "1"))
)


@dataclass(frozen=True)
class Clause:
    """What a clause says; `german` and `english` put it into words."""

    subject: Phrase
    verb: german.Verb
    meaning: str
    tense: str
    object: Phrase | None = None
    preposition: tuple[str, str, str] | None = None
    agent: Phrase | None = None
    """Of the passive."""
    place: tuple[str, str] | None = None
    adverb: Adverb | None = None
    negated: bool = False

    def german(self, order: str) -> str:
        """In the order `main`, `adverb` or `object` (that comes first), `question`, `final` or `after` a clause."""
        finite, last = german.verb_forms(self.verb, self.tense, self.subject.person)
        subject = self.subject.german["N"]
        itself = german.REFLEXIVE[self.subject.person] if self.verb.reflexive else ""
        adverb = self.adverb.german if self.adverb else ""
        middle = self._german_object() if order != "object" else ["nicht"] if self.negated else []
        if self.agent is not None:
            middle.append(re.sub(r"^von dem\b", "vom", f"von {self.agent.german['D']}"))
        middle.append(self.place[0] if self.place else "")
        if order == "final":
            simple = self.tense in ("present", "preterite")
            verbs = [last + finite] if simple else [last, finite]
            return _join(subject, itself, adverb, *middle, *verbs)
        if order == "main":
            return _join(subject, finite, itself, adverb, *middle, last)
        first = {"adverb": adverb, "object": self._object_first(order), "question": "", "after": ""}[order]
        between = [subject, itself] if self.subject.noun is None else [itself, subject]
        return _join(first, finite, *between, "" if order == "adverb" else adverb, *middle, last)

    def _object_first(self, order: str) -> str:
        return self.object.german["A"] if order == "object" and self.object else ""

    def _german_object(self) -> list[str]:
        """The object with the negation: "kein" goes with it, "nicht" stands behind it, but before a preposition."""
        no = "nicht" if self.negated else ""
        if self.object is None:
            return [no]
        if self.preposition is not None:
            return [no, self.preposition[0], self.object.german[self.preposition[1]]]
        if no and self.object.negative:
            return [self.object.negative["A"]]
        return [self.object.german["A"], no]

    def german_infinitive(self) -> str:
        """With "zu", without the subject."""
        itself = german.REFLEXIVE[self.subject.person] if self.verb.reflexive else ""
        place = self.place[0] if self.place else ""
        return _join(itself, *self._german_object(), place, self.verb.infinitive_with_zu)

    def english(self, *, question: bool = False) -> str:
        adverb, tense = self.adverb, self.tense
        if tense == "perfect" and (adverb is None or adverb in PAST):
            tense = "preterite"  # what German says in the perfect, English says in the past, unless it still matters
        ongoing = adverb is not None and adverb.position == "ongoing" and tense == "present"
        auxiliary, rest = english.verb_forms(
            self.meaning, tense, self.subject.person, negated=self.negated, question=question, ongoing=ongoing
        )
        words = {"front": "", "middle": "", "end": "", "ongoing": ""}
        if adverb is not None:
            words[adverb.position] = adverb.english
        subject = self.subject.english
        begin = [auxiliary, subject] if question else [subject, auxiliary]
        return _join(words["front"], *begin, words["middle"], rest, *self._english_object(), words["end"])

    def _english_object(self) -> list[str]:
        agent = f"by {self.agent.english}" if self.agent else ""
        place = self.place[1] if self.place else ""
        if self.object is None:
            return [agent, place]
        return [self.preposition[2] if self.preposition else "", self.object.english, agent, place]

    def english_infinitive(self) -> str:
        return _join("to", self.meaning, *self._english_object())


def _join(*words: str) -> str:
    return " ".join(word for word in words if word)


class Generator:
    """Draws sentences. All choices come from one seeded sequence."""

    def __init__(self, domains: dict[str, Domain], seed: int):
        self.domains, self.random = domains, random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def choose(self, items: Sequence[Item]) -> Item:
        """One of the items; the square makes the first ones more frequent."""
        return items[int(len(items) * self.random.random() ** 2)]

    def even(self, items: Sequence[Item]) -> Item:
        return items[int(len(items) * self.random.random())]

    def phrase(self, noun: Noun, *, simple: bool = False) -> Phrase:
        """A noun phrase: determiner, perhaps an adjective, noun."""
        word, plural = noun.german, False
        stem, endings, adjective_endings, determiner = "", german.DEFINITE, german.AFTER_DEFINITE, "the"
        if word.plural is not None:
            draw = self.random.random()
            if draw < 0.25:
                stem, endings, adjective_endings, determiner = "ein", german.EIN, german.AFTER_EIN, "a"
            elif draw < 0.33:
                plural = True
            elif draw < 0.48 and not simple:
                stem, endings, adjective_endings, determiner, plural = self.choose(DETERMINERS)
        adjective = self.choose(noun.adjectives) if not simple and self.chance(0.35) else None
        gender = "p" if plural else word.gender

        def forms(stem: str) -> dict[str, str]:
            made = {}
            for case in german.CASES:
                ending = "" if adjective is None else adjective[0] + adjective_endings[case, gender]
                made[case] = _join(stem + endings[case, gender], ending, word.form(case, plural))
            return made

        theirs = _join(adjective[1] if adjective else "", noun.english_plural if plural else noun.english)
        theirs = english.with_article(theirs) if determiner == "a" else f"{determiner} {theirs}"
        negative = forms("kein") if stem == "ein" else None
        return Phrase(forms(stem), theirs, "p" if plural else "3", gender, noun, negative)

    def clause(
        self, domain: Domain, *, short: bool = False, tenses: Sequence[str] = TENSES, subject: Phrase | None = None
    ) -> Clause | None:
        """A clause about anything in the domain, or about the subject; none if the domain has nothing to say of it.

        A short one has neither place nor adverb.
        """
        verbs = [verb for verb in domain.verbs if subject is None or subject.noun in verb.subjects]
        if not verbs:
            return None
        verb = self.even(verbs)
        tense = self.choose([tense for tense in tenses if self.fits(tense, verb, subject)])
        place = self.choose(domain.places) if not short and self.chance(0.3) else None
        adverb = self.adverb(tense, verb) if not short and self.chance(0.55) else None
        clause = Clause(subject or self.subject(verb), verb.german, verb.english, tense, place=place, adverb=adverb)
        if tense.startswith("passive"):
            agent = self.phrase(self.choose(verb.subjects), simple=True) if self.chance(0.4) else None
            clause = replace(clause, subject=self.phrase(self.choose(verb.objects)), agent=agent)
        elif verb.objects:
            others = [noun for noun in verb.objects if noun is not clause.subject.noun]
            clause = replace(clause, object=self.phrase(self.choose(others)), preposition=verb.preposition)
        return replace(clause, negated=self.chance(0.12) and self.can_be_negated(clause))

    @staticmethod
    def fits(tense: str, verb: Verb, subject: Phrase | None) -> bool:
        """A passive needs an object, a will somebody who has one."""
        if tense.startswith("passive"):
            return bool(verb.objects) and verb.preposition is None and subject is None
        return tense not in ("wollen", "dürfen") or all(noun.agent for noun in verb.subjects)

    def subject(self, verb: Verb) -> Phrase:
        pronouns = all(noun.agent for noun in verb.subjects) and self.chance(0.2)
        return self.choose(PRONOUNS) if pronouns else self.phrase(self.choose(verb.subjects))

    def adverb(self, tense: str, verb: Verb) -> Adverb | None:
        if tense in ("preterite", "passive past"):
            return self.choose(PAST)
        if tense == "perfect":
            return self.choose(PAST if self.chance(0.5) else PERFECT)
        if tense == "future":
            return self.choose(FUTURE)
        adverb = self.choose(PRESENT)
        return (
            None if adverb.position == "ongoing" and (tense != "present" or verb.english.startswith("be ")) else adverb
        )

    @staticmethod
    def can_be_negated(clause: Clause) -> bool:
        """Not beside adverbs that have their say about truth or number, nor with quantified objects."""
        quantified = clause.object is not None and clause.object.english.split()[0] in ("many", "some", "every")
        return not quantified and clause.adverb is None and not clause.subject.english.startswith(("every", "many"))

    def main_order(self, clause: Clause) -> str:
        if clause.adverb is not None and self.chance(0.55):
            return "adverb"
        thing = clause.object
        marked = thing is not None and clause.preposition is None and thing.german["A"] != thing.german["N"]
        plain = not clause.negated and not clause.verb.reflexive
        return "object" if marked and plain and self.chance(0.25) else "main"

    def relative(self, clause: Clause, domain: Domain) -> Clause:
        """The clause with a relative clause behind its subject, if that is a noun about which there is more to say."""
        head = clause.subject
        inner = None if head.noun is None else self.clause(domain, short=True, tenses=NOW + THEN, subject=head)
        if inner is None or head.noun is None or inner.verb == clause.verb:
            return clause
        inner = replace(inner, subject=replace(head, german={"N": german.DEFINITE["N", head.gender]}, english=""))
        mine = {case: f"{form}, {inner.german('final')}," for case, form in head.german.items()}
        theirs = f"{head.english} {head.noun.pronoun} {inner.english()}"
        return replace(clause, subject=replace(head, german=mine, english=theirs))

    def joined(self, clause: Clause, domain: Domain) -> tuple[str, str]:
        """The clause with another one, joined by a conjunction, behind or before it."""
        tenses = THEN if clause.tense in THEN else NOW
        other = self.clause(domain, short=True, tenses=tenses)
        assert other is not None
        mine, theirs = self.even(CONJUNCTIONS[tenses])
        other = replace(other, negated=other.negated and mine != "bevor")
        if self.chance(0.5):
            german_text = f"{clause.german('main')}, {mine} {other.german('final')}"
            return german_text, f"{clause.english()} {theirs} {other.english()}"
        return (
            f"{mine} {other.german('final')}, {clause.german('after')}",
            f"{theirs} {other.english()}, {clause.english()}",
        )

    def attempt(self, clause: Clause) -> tuple[str, str] | None:
        """Somebody tries, forgets … to do it: an infinitive with "zu" behind the clause."""
        agent = clause.subject.noun is None or clause.subject.noun.agent
        if not agent or clause.tense.startswith("passive") or clause.meaning.startswith("be "):
            return None
        verb, meaning = self.choose(ATTEMPTS)
        outer = Clause(clause.subject, verb, meaning, self.choose(("perfect", "present", "preterite")))
        inner = replace(clause, negated=False)
        mine = f"{outer.german('main')}, {inner.german_infinitive()}"
        return mine, f"{outer.english()} {inner.english_infinitive()}"

    def sentence(self, label: str) -> tuple[str, str]:
        """A German sentence of the domain and its translation."""
        domain, draw, mark = self.domains[label], self.random.random(), "."
        clause = self.clause(domain, short=draw < 0.3)
        assert clause is not None
        if draw < 0.10:
            pair = self.joined(clause, domain)
        elif draw < 0.20:
            clause = self.relative(clause, domain)
            pair = clause.german("main"), clause.english()
        elif draw < 0.28:
            pair = self.attempt(clause) or (clause.german("main"), clause.english())
        elif draw < 0.45:
            mine, theirs = self.even(REPORTS)
            pair = f"{mine} {clause.german('final')}", f"{theirs} {clause.english()}"
        elif draw < 0.52 and not clause.negated and (clause.adverb is None or clause.adverb.position != "front"):
            pair, mark = (clause.german("question"), clause.english(question=True)), "?"
        else:
            pair = clause.german(self.main_order(clause)), clause.english()
        mine, theirs = (re.sub(r",+$", "", re.sub(r",+", ",", text)) for text in pair)
        return f"{mine[0].upper()}{mine[1:]}{mark}", f"{theirs[0].upper()}{theirs[1:]}{mark}"
