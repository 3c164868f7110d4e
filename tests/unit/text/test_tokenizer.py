"""The tokeniser: a table of lines, properties on random text, and agreement with tokenised corpora."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError
from itersel.base.files import read_lines
from itersel.text.detokenizer import Detokenizer
from itersel.text.tokenizer import Tokenizer, ascii_punctuation, escape, unescape

TABLE = [
    ("en", "Two young, White males.", "Two young , White males ."),
    ("en", 'It\'s 3.5 % of "the U.S." market.', 'It \'s 3.5 % of " the U.S. " market .'),
    ("en", "The commission’s report", "The commission ’s report"),
    ("en", "they're, we'll, I'd", "they 're , we 'll , I 'd"),
    ("en", "the dogs' tails", "the dogs ' tails"),
    ("en", "the 1980's", "the 1980 's"),
    ("en", "1,000,000 men, 2,5", "1,000,000 men , 2,5"),
    ("en", "Dr. Smith met J. Doe.", "Dr. Smith met J. Doe ."),
    ("en", "No. 5 and no.", "No. 5 and no ."),
    ("en", "a well-known off-camera source", "a well-known off-camera source"),
    ("en", "wait... what?!", "wait ... what ? !"),
    ("en", "snake_case (see p. 3)", "snake _ case ( see p. 3 )"),
    ("en", "", ""),
    ("de", "Am 3. Mai kamen ca. 20 Leute, z. B. Kinder.", "Am 3. Mai kamen ca. 20 Leute , z. B. Kinder ."),
    ("de", "Walt Disney's Film", "Walt Disney ' s Film"),
    ("de", "Nummer 28.", "Nummer 28 ."),
    ("de", "ein „Open“-Schild", "ein „ Open “ -Schild"),
    ("fr", "l'eau d'ici", "l' eau d' ici"),
    ("hi", "नमस्ते दुनिया!", "नमस्ते दुनिया !"),
    ("nl", "a.b, c.", "a.b , c ."),
    ("en", "See https://a.org/b_c?d=1&e=%20f.", "See https://a.org/b_c?d=1&e=%20f ."),
    ("en", "(see http://a.org/x_(y), www.b.org!)", "( see http://a.org/x_(y) , www.b.org ! )"),
    ("de", "Fragen an hans.meier@uni-x.de, bitte.", "Fragen an hans.meier@uni-x.de , bitte ."),
    ("zh", "我爱北京。GPT-4 很好", "我 爱 北 京 。 GPT-4 很 好"),
    ("ja", "東京タワーへ行く。", "東 京 タ ワー へ 行 く 。"),
]


@pytest.mark.parametrize(("language", "line", "expected"), TABLE)
def test_table(language, line, expected):
    assert Tokenizer(language)(line) == expected


@settings(deadline=None)
@given(st.text(), st.sampled_from(["en", "de", "fr", "zh", "ja"]))
def test_nothing_but_blanks_changes(line, language):
    tokens = Tokenizer(language)(line)
    assert "".join(tokens.split()) == "".join(line.split())
    assert tokens == " ".join(tokens.split())


@settings(deadline=None)
@given(st.text())
def test_escape_is_undone(line):
    assert unescape(escape(line)) == line
    assert not set(escape(line)) & set("|<>'\"[]")


def test_ascii_punctuation():
    assert ascii_punctuation("„a“ – it’s… b") == '"a"  -  it\'s... b'


@pytest.mark.parametrize("corpus", ["multi30k/val", "multi30k/test_2016_flickr", "europarl/dev"])
@pytest.mark.parametrize("language", ["de", "en"])
def test_agrees_with_tokenised_corpora(shared_data, corpus, language):
    tokenizer = Tokenizer(language)
    raw = read_lines(shared_data / f"{corpus}.{language}.gz")
    tokenised = read_lines(shared_data / f"{corpus}.tok.lc.{language}.gz")
    same = [
        tokenizer(ascii_punctuation(line)).lower() == unescape(expected)
        for line, expected in zip(raw, tokenised, strict=True)
    ]
    assert sum(same) / len(same) > 0.995


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "See https://a.org/b_c?d=1&e=%20f."),
        ("en", "(see http://a.org/x_(y), www.b.org!)"),
        ("en", "He said: \"It's ftp://host/file[1].txt,\" didn't he?"),
        ("de", "Fragen an hans.meier@uni-x.de, bitte (mailto:x@y.de)."),
        ("fr", "l'eau: https://fr.wikipedia.org/wiki/L'Eau_vive!"),
        ("zh", "我爱北京。请看 http://a.cn/b 谢谢！"),
        ("ja", "東京タワーへ行く。"),
    ],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_text_with_addresses_comes_back(language, line, escaped):
    tokens = Tokenizer(language)(line)
    assert Detokenizer(language)(escape(tokens) if escaped else tokens) == line


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("xx", "'xx' is not the code of a language\n  Give a code of ISO 639-1"),
        ("german", "'german' is not the code of a language"),
        ("en-US", "'en-US' is not the code of a language\n  Did you mean en?"),
        ("", "'' is not the code of a language"),
        ("th", r"Thai \(th\) has no blanks between words.*\n  Segment the text with another program first"),
    ],
)
def test_languages_without_rules_are_refused(language, message):
    for kind in (Tokenizer, Detokenizer):
        with pytest.raises(ConfigError, match=message):
            kind(language)
