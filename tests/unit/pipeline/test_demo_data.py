"""The demo corpus: written again it is the same, it is as data/README.md says, and its German and English are right."""

import re
from collections import Counter
from pathlib import Path

import pytest

from demo_grammar import english, german
from demo_grammar.lexicon import read_lexicon
from demo_grammar.sentences import FUTURE, PAST, PERFECT, PRESENT, PRONOUNS, Clause, Phrase
from make_demo import FOLDER, corpus, write

README = FOLDER.parent / "README.md"
BILINGUAL = ("train", "dev", "devtest", "test")


def lines(name: str) -> list[str]:
    return (FOLDER / name).read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def train() -> list[tuple[str, str, str]]:
    return list(zip(*(lines(f"train.{column}") for column in ("de", "en", "domain")), strict=True))


def test_written_again_it_is_the_same(tmp_path: Path) -> None:
    write(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in FOLDER.iterdir()
    }


def test_another_seed_gives_another_corpus() -> None:
    assert [row["de"] for row in corpus(2)["test"]] != lines("test.de")


def test_sizes_and_domains_are_those_of_the_readme() -> None:
    text = README.read_text(encoding="utf-8")
    sizes = {name: int(size.replace(",", "")) for name, size in re.findall(r"^\| (\w+) \| ([\d,]+) \|", text, re.M)}
    assert sizes == {"train": 5000, "dev": 300, "devtest": 300, "test": 500, "more": 1500}
    assert {path.name for path in FOLDER.iterdir()} == {"more.en"} | {
        f"{name}.{column}" for name in BILINGUAL for column in ("de", "en", "domain")
    }
    for path in FOLDER.iterdir():
        assert len(lines(path.name)) == sizes[path.stem], path
    listed = re.search(r"ten domains of\s+equal size:(.*?)\.", text, re.DOTALL)
    assert listed
    domains = re.split(r",\s+|\s+and\s+", listed[1].strip())
    for name in BILINGUAL:
        assert Counter(lines(f"{name}.domain")) == dict.fromkeys(domains, sizes[name] // 10)
    assert "**generated**" in text


def test_no_sentence_comes_twice() -> None:
    for column in ("de", "en"):
        every = [line for path in FOLDER.glob(f"*.{column}") for line in lines(path.name)]
        assert len(set(every)) == len(every)


def test_lines_are_sentences() -> None:
    for path in [*FOLDER.glob("*.de"), *FOLDER.glob("*.en")]:
        for line in lines(path.name):
            assert re.fullmatch(r"[A-ZÄÖÜ][a-zäöüßA-ZÄÖÜ]*(,? [a-zäöüßA-ZÄÖÜ-]+)*[.?]", line), line
            assert len(line.split()) <= 30


PARTICLES = "ab|an|auf|aus|ein|um|vor|zu|zurück"
PHENOMENA = {
    "separable verb": rf" ({PARTICLES})[.?]$",
    "separable verb, adverb first": rf"^(Heute|Gestern|Leider) \w+ .* ({PARTICLES})\.$",
    "perfect": r"^\w+ [\w ]*\b(hat|haben|ist|sind) .* (ab|an|auf|aus|ein)ge\w+(t|en)\.$",
    "modal and infinitive": r"\b(kann|muss|will|soll|darf|können|müssen) .*\w+en\.$",
    "future": r"\b(wird|werden) (der|die|das|ein|eine|einen) .*[a-z]en\.$",
    "passive with agent": r"\b(wird|wurde) .*\b(vom|von (der|den|einem|einer)) [\w ]+\w+(t|en)\.$",
    "verb-final clause": r", (dass|ob|weil|obwohl) .* \w+(t|te|en|kann|muss|hat)\.$",
    "split verb joined at the end": rf", (dass|ob) .* ({PARTICLES})(stellt|nimmt|zieht|hebt|lehnt)\.$",
    "clause first": r"^(Weil|Obwohl|Bevor|Wenn|Als|Während) .*, \w+ ",
    "relative clause": r"^(Der|Ein|Dieser) [\w ]+, der .*, \w+",
    "infinitive with zu": r", .* zu \w+en\.$",
    "zu inside the verb": rf", .* ({PARTICLES})zu\w+en\.$",
    "question": r"^[A-Z]\w+ .*\?$",
    "object first": r"^(Den|Einen) \w+ (hat|will|\w+t) (der|die|das|ein|eine) ",
    "nicht": r" nicht ",
    "kein": r" kein(e|en)? ",
    "reflexive": r" (sich|mich|uns) ",
    "weak noun": r" (den|dem|einen|einem) (jungen |nervösen )?(Zeugen|Kunden|Dirigenten|Bauern|Studenten) ",
    "dative plural": r" (von den|vor den|aus den) (\w+en )?\w+n ",
    "adjective after ein, masculine": r"\b[Ee]in [a-zäöü]+er [A-ZÄÖÜ]",
    "adjective after ein, neuter": r"\b[Ee]in [a-zäöü]+es [A-ZÄÖÜ]",
    "compound": r"(suppe|salat|zug|wagen|schloss|gericht|vertrag|spiel|konto|gebühr|lied|boot|opfer|griff)e?[ ,.]",
}


@pytest.mark.parametrize("phenomenon", PHENOMENA)
def test_every_phenomenon_is_in_training_and_test(phenomenon: str) -> None:
    pattern = re.compile(PHENOMENA[phenomenon])
    assert sum(bool(pattern.search(line)) for line in lines("train.de")) >= 10
    assert sum(bool(pattern.search(line)) for line in lines("test.de")) >= 1


SENSES = {
    "Schloss": {"workshop": "lock", "castle": "castle"},
    "Tor": {"football": "goal", "castle": "gate"},
    "Zug": {"railway": "train", "chess": "move"},
    "Gericht": {"kitchen": "dish", "law": "court"},
    "Satz": {"football": "set", "music": "movement"},
    "Karte": {"kitchen": "menu", "railway": "ticket", "football": "card", "castle": "map"},
    "Birne": {"kitchen": "pear", "workshop": "bulb"},
    "Turm": {"castle": "tower", "chess": "rook"},
    "Dame": {"castle": "lady", "chess": "queen", "railway": "lady"},
    "Feder": {"workshop": "spring", "castle": "feather"},
    "Leiter": {"workshop": "foreman", "finance": "manager"},
    "Opfer": {"law": "victim", "chess": "sacrifice"},
}


@pytest.mark.parametrize("word", SENSES)
def test_ambiguous_words_are_translated_by_domain(train: list[tuple[str, str, str]], word: str) -> None:
    found: Counter[str] = Counter()
    for mine, theirs, domain in train:
        # "auf der Leiter", "am Tor", "im Turm" and the like are fixed expressions
        if re.search(rf"(?<!auf der )(?<!am )(?<!im )\b{word}\b", mine) and not re.search(
            r"(viele|[Dd]ie) \w*\s?Leiter", mine
        ):
            sense = SENSES[word][domain]
            assert re.search(rf"\b{sense}|\b(foremen|ladies)\b", theirs), (mine, theirs)
            found[domain] += 1
    assert set(found) == set(SENSES[word]) and min(found.values()) >= 5


def test_einstellen_depends_on_its_object(train: list[tuple[str, str, str]]) -> None:
    senses = {"workshop": "adjust", "law": "drop", "finance": "hire", "football": "sign"}
    found = Counter()
    for mine, theirs, domain in train:
        if re.search(r"\beingestellt\b|\beinstell", mine):
            assert re.search(senses[domain], theirs), (mine, theirs)
            found[domain] += 1
    assert set(found) == set(senses)


# Forms, against those of a textbook.


def phrase(articles: str, noun: str, translation: str, gender: str) -> Phrase:
    choir = read_lexicon()["music"].verbs[0].subjects[2]  # any noun: what matters is that it is no pronoun
    forms = {case: f"{article} {noun}" for case, article in zip("NAD", articles.split(), strict=True)}
    return Phrase(forms, translation, "3", gender, choir)


CHOIR, SONG = phrase("der den dem", "Chor", "the choir", "m"), phrase("das das dem", "Lied", "the song", "n")
RECORD = german.parse_verb("auf|nehmen nimmt nahm genommen")
SING = Clause(CHOIR, RECORD, "record", "present", object=SONG)


@pytest.mark.parametrize(
    ("tense", "order", "mine", "theirs"),
    [
        ("present", "main", "der Chor nimmt das Lied auf", "the choir records the song"),
        ("present", "final", "der Chor das Lied aufnimmt", "the choir records the song"),
        ("preterite", "main", "der Chor nahm das Lied auf", "the choir recorded the song"),
        ("perfect", "main", "der Chor hat das Lied aufgenommen", "the choir recorded the song"),
        ("perfect", "final", "der Chor das Lied aufgenommen hat", "the choir recorded the song"),
        ("perfect", "object", "das Lied hat der Chor aufgenommen", "the choir recorded the song"),
        ("future", "main", "der Chor wird das Lied aufnehmen", "the choir will record the song"),
        ("müssen", "after", "muss der Chor das Lied aufnehmen", "the choir has to record the song"),
        ("dürfen", "final", "der Chor das Lied aufnehmen darf", "the choir is allowed to record the song"),
    ],
)
def test_word_order(tense: str, order: str, mine: str, theirs: str) -> None:
    clause = Clause(CHOIR, RECORD, "record", tense, object=SONG)
    assert (clause.german(order), clause.english()) == (mine, theirs)


@pytest.mark.parametrize(
    ("tense", "theirs"),
    [
        ("present", "does not record"),
        ("perfect", "did not record"),
        ("future", "will not record"),
        ("können", "cannot record"),
        ("müssen", "does not have to record"),
        ("wollen", "does not want to record"),
        ("dürfen", "must not record"),
    ],
)
def test_negation(tense: str, theirs: str) -> None:
    clause = Clause(CHOIR, RECORD, "record", tense, object=SONG, negated=True)
    assert " das Lied nicht auf" in clause.german("main")
    assert clause.english() == f"the choir {theirs} the song"


def test_negated_indefinite_objects_take_kein() -> None:
    song = Phrase({"A": "ein Lied"}, "a song", "3", negative={"A": "kein Lied"})
    clause = Clause(CHOIR, RECORD, "record", "present", object=song, negated=True)
    assert (clause.german("main"), clause.english()) == (
        "der Chor nimmt kein Lied auf",
        "the choir does not record a song",
    )


def adverb(text: str):
    return next(one for one in (*PRESENT, *PAST, *PERFECT, *FUTURE) if one.german == text)


@pytest.mark.parametrize(
    ("tense", "word", "mine", "theirs"),
    [
        ("present", "gerade", "gerade nimmt der Chor das Lied auf", "the choir is recording the song"),
        ("present", "oft", "oft nimmt der Chor das Lied auf", "the choir often records the song"),
        ("present", "leider", "leider nimmt der Chor das Lied auf", "unfortunately the choir records the song"),
        ("perfect", "gestern", "gestern hat der Chor das Lied aufgenommen", "the choir recorded the song yesterday"),
        ("perfect", "schon", "schon hat der Chor das Lied aufgenommen", "the choir has already recorded the song"),
        ("future", "morgen", "morgen wird der Chor das Lied aufnehmen", "the choir will record the song tomorrow"),
    ],
)
def test_adverbs(tense: str, word: str, mine: str, theirs: str) -> None:
    clause = Clause(CHOIR, RECORD, "record", tense, object=SONG, adverb=adverb(word))
    assert (clause.german("adverb"), clause.english()) == (mine, theirs)


def test_questions_infinitives_and_pronouns() -> None:
    assert (SING.german("question"), SING.english(question=True)) == (
        "nimmt der Chor das Lied auf",
        "does the choir record the song",
    )
    assert (SING.german_infinitive(), SING.english_infinitive()) == ("das Lied aufzunehmen", "to record the song")
    wait = german.parse_verb("sich freuen freut freute gefreut")
    forms = [Clause(one, wait, "rejoice", "present").german("question") for one in PRONOUNS]
    assert forms == ["freut er sich", "freut sie sich", "freuen wir uns", "freue ich mich"]
    assert Clause(CHOIR, wait, "rejoice", "present").german("question") == "freut sich der Chor"


def test_nouns_and_endings() -> None:
    witness, tower = german.Noun("m", "Zeuge", "Zeugen", True), german.Noun("m", "Turm", "Türme", False)
    assert [witness.form(case, False) for case in "NAD"] == ["Zeuge", "Zeugen", "Zeugen"]
    assert [tower.form(case, True) for case in "NAD"] == ["Türme", "Türme", "Türmen"]
    assert german.Noun("n", "Trikot", "Trikots", False).form("D", True) == "Trikots"
    assert [german.DEFINITE["D", gender] for gender in "mfnp"] == ["dem", "der", "dem", "den"]
    assert [german.AFTER_EIN["N", gender] for gender in "mfn"] == ["er", "e", "es"]
    assert [german.AFTER_DEFINITE["A", gender] for gender in "mfnp"] == ["en", "e", "e", "en"]


def test_german_verbs() -> None:
    change = german.parse_verb("ein|wechseln wechselt wechselte gewechselt")
    depart = german.parse_verb("ab|fahren fährt fuhr ist gefahren")
    assert [change.finite("present", person) for person in "13p"] == ["wechsle", "wechselt", "wechseln"]
    assert [depart.finite("preterite", person) for person in "13p"] == ["fuhr", "fuhr", "fuhren"]
    assert german.verb_forms(depart, "perfect", "p") == ("sind", "abgefahren")
    assert german.parse_verb("opfern opfert opferte geopfert").finite("present", "1") == "opfere"


@pytest.mark.parametrize(
    "forms",
    [
        "stop stops stopped stopped stopping",
        "testify testifies testified testified testifying",
        "take out, takes out, took out, taken out, taking out",
        "practise practises practised practised practising",
        "tie up, ties up, tied up, tied up, tying up",
        "miss misses missed missed missing",
        "cancel cancels cancelled cancelled cancelling",
        "play plays played played playing",
        "write writes wrote written writing",
    ],
)
def test_english_verbs(forms: str) -> None:
    base, *others = forms.split(", ") if "," in forms else forms.split()
    made = [form(base) for form in (english.third, english.past, english.participle, english.progressive)]
    assert made == others


def test_articles_go_by_sound() -> None:
    assert [english.with_article(word) for word in ("old gate", "gate")] == ["an old gate", "a gate"]
    every = [line for path in FOLDER.glob("*.en") for line in lines(path.name)]
    assert not [line for line in every if re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiouh]", line)]


def test_no_word_of_the_lexicon_is_without_use() -> None:
    for name, domain in read_lexicon().items():
        assert all(verb.subjects for verb in domain.verbs), name
        used = " ".join(
            mine for mine, label in zip(lines("train.de"), lines("train.domain"), strict=True) if label == name
        )
        missing = [
            verb for verb in domain.verbs if not re.search(rf"{verb.german.particle}\w*|{verb.german.present}", used)
        ]
        assert not missing
