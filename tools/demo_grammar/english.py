"""English forms: verbs by person and tense with do-support, modals and the passive; articles."""

from __future__ import annotations

IRREGULAR = {  # past and participle
    "be": ("was", "been"),
    "beat": ("beat", "beaten"),
    "begin": ("began", "begun"),
    "break": ("broke", "broken"),
    "bring": ("brought", "brought"),
    "cut": ("cut", "cut"),
    "forget": ("forgot", "forgotten"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "hang": ("hung", "hung"),
    "have": ("had", "had"),
    "hear": ("heard", "heard"),
    "hold": ("held", "held"),
    "lose": ("lost", "lost"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "read": ("read", "read"),
    "run": ("ran", "run"),
    "show": ("showed", "shown"),
    "strike": ("struck", "struck"),
    "take": ("took", "taken"),
    "tear": ("tore", "torn"),
    "win": ("won", "won"),
    "withdraw": ("withdrew", "withdrawn"),
    "write": ("wrote", "written"),
}
DOUBLING = {"cancel", "stir", "stop", "drop", "transfer", "put", "cut", "get", "run", "win", "fit", "begin", "forget"}
AUXILIARIES = {  # by person: 1, 3, p
    "be": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "have": ("have", "has", "have"),
    "do": ("do", "does", "do"),
}
ALLOWED_TO = "dürfen"


def _split(verb: str) -> tuple[str, str]:
    head, _, rest = verb.partition(" ")
    return head, f" {rest}" if rest else ""


def third(verb: str) -> str:
    head, rest = _split(verb)
    if head in ("be", "have"):
        return AUXILIARIES[head][1] + rest
    if head.endswith("y") and head[-2] not in "aeiou":
        return head[:-1] + "ies" + rest
    return head + ("es" if head.endswith(("s", "sh", "ch", "x", "z", "o")) else "s") + rest


def _regular(head: str, ending: str) -> str:
    if head in DOUBLING:
        return head + head[-1] + ending
    if ending == "ed" and head.endswith("y") and head[-2] not in "aeiou":
        return head[:-1] + "ied"
    if head.endswith("ie") and ending == "ing":
        return head[:-2] + "ying"
    return (head.removesuffix("e") if not head.endswith(("ee", "ye")) else head) + ending


def past(verb: str) -> str:
    head, rest = _split(verb)
    return (IRREGULAR[head][0] if head in IRREGULAR else _regular(head, "ed")) + rest


def participle(verb: str) -> str:
    head, rest = _split(verb)
    return (IRREGULAR[head][1] if head in IRREGULAR else _regular(head, "ed")) + rest


def progressive(verb: str) -> str:
    head, rest = _split(verb)
    return _regular(head, "ing") + rest


def auxiliary(name: str, person: str) -> str:
    return AUXILIARIES[name]["13p".index(person)]


def verb_forms(verb: str, tense: str, person: str, *, negated: bool, question: bool, ongoing: bool) -> tuple[str, str]:
    """The auxiliary, with the negation, and the rest of the verb; no auxiliary where English needs none.

    Tenses are named after the German ones: the modal verbs by their infinitives.
    """
    to_be, rest = verb.startswith("be "), verb.removeprefix("be ")
    if tense in ("passive", "passive past"):
        return _negate(auxiliary("be" if tense == "passive" else "was", person), negated), participle(verb)
    if tense == "perfect":
        return _negate(auxiliary("have", person), negated), participle(verb)
    if tense in ("future", "können", "sollen") or (tense == ALLOWED_TO and negated):
        word = {"future": "will", "können": "can", "sollen": "should", ALLOWED_TO: "must"}[tense]
        return _negate(word, negated), verb
    if tense == ALLOWED_TO:
        return auxiliary("be", person), f"allowed to {verb}"
    if tense in ("müssen", "wollen"):
        verb, to_be, tense = f"{'have' if tense == 'müssen' else 'want'} to {verb}", False, "present"
    if to_be:
        return _negate(auxiliary("be" if tense == "present" else "was", person), negated), rest
    if ongoing:
        return _negate(auxiliary("be", person), negated), progressive(verb)
    if negated or question:
        return _negate(auxiliary("do", person) if tense == "present" else "did", negated), verb
    if tense == "preterite":
        return "", past(verb)
    return "", third(verb) if person == "3" else verb


def _negate(word: str, negated: bool) -> str:
    return word if not negated else "cannot" if word == "can" else f"{word} not"


def with_article(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def plural(noun: str) -> str:
    """The regular plural; lexicon.yaml names the others."""
    return f"{noun}s"
