"""The grammar's text form: what is read, what is written, what is refused and where; names of sparse features."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.decode.decoder import Decoder, DecoderConfig
from itersel.grammar.grammar import Grammar
from itersel.model.features import GROUPS, Weights, parse_groups
from oracles import derivations as oracle

# What is read, and what is written for it.
FORMS = [
    ("[X] ||| a ||| b", "[X] ||| a ||| b |||"),
    ("[X] ||| a ||| b |||", "[X] ||| a ||| b |||"),
    ("[X] ||| a ||| b ||| ||| 0-0", "[X] ||| a ||| b ||| ||| 0-0"),
    ("[X] ||| a ||| ||| f=1", "[X] ||| a ||| ||| f=1"),
    ("[X] ||| a |||  |||", "[X] ||| a ||| |||"),
    ("[X] ||| [X,1] a ||| b [1] ||| f=1", "[X] ||| [X,1] a ||| b [X,1] ||| f=1"),
    ("[X] ||| [X,1] a [Y,2] ||| [2] b [1]", "[X] ||| [X,1] a [Y,2] ||| [Y,2] b [X,1] |||"),
    ("[X] ||| [X,2] a [Y,1] ||| [2] b [1]", "[X] ||| [X,1] a [Y,2] ||| [X,1] b [Y,2] |||"),  # numbered from the left
    ("[X] ||| [X,7] a ||| [X,7] b", "[X] ||| [X,1] a ||| [X,1] b |||"),
    ("[X] ||| [A,B,1] ||| [1]", "[X] ||| [A,B,1] ||| [A,B,1] |||"),
    # Without an index, as in cdec's own grammars: the position is the index.
    ("[Z] ||| [Z] a [Y] ||| [2] b [1] ||| f=1", "[Z] ||| [Z,1] a [Y,2] ||| [Y,2] b [Z,1] ||| f=1"),
    ("[X] ||| [X,1] [Y] ||| [X,1] [Y,2]", "[X] ||| [X,1] [Y,2] ||| [X,1] [Y,2] |||"),
    ("[X] ||| [sic] [X,1] ||| [1] [sic]", "[X] ||| [sic] [X,1] ||| [X,1] [sic] |||"),  # a word
    ("[X] ||| [sic] a ||| b", "[X] ||| [sic] a ||| b |||"),
    ("[X] ||| a ||| b ||| 0.5 -2 1e-3", "[X] ||| a ||| b ||| PhraseModel_0=0.5 PhraseModel_1=-2 PhraseModel_2=0.001"),
    ("[X] ||| a ||| b ||| 1 f=2 3", "[X] ||| a ||| b ||| PhraseModel_0=1 f=2 PhraseModel_2=3"),
    ("[X] ||| a ||| b ||| f=g=2 h=+1 i=.5 j=5.", "[X] ||| a ||| b ||| f=g=2 h=1 i=0.5 j=5"),
    ("[X] ||| a ||| b ||| f=0.1234567891", "[X] ||| a ||| b ||| f=0.12345679"),  # single precision
    ("[X] ||| a ||| b ||| f=123456789012345678901", "[X] ||| a ||| b ||| f=1.2345679e+20"),
    ("[X] ||| a b ||| c d ||| f=1 ||| 0-1 1-0", "[X] ||| a b ||| c d ||| f=1 ||| 0-1 1-0"),
    ("[X]\t|||\ta \t b\t|||\tc\t|||\tf=1", "[X] ||| a b ||| c ||| f=1"),
    ("  [X] ||| a ||| b ||| f=1 \r", "[X] ||| a ||| b ||| f=1"),
    ("[NP-SBJ] ||| a ||| b", "[NP-SBJ] ||| a ||| b |||"),
    # Words that only look like something else.
    ("[X] ||| [1] [,1] [X,] [X,-1] ||| [,1] [a] [] [", "[X] ||| [1] [,1] [X,] [X,-1] ||| [,1] [a] [] [ |||"),
    ("[X] ||| a|||b |||| ||| | ||", "[X] ||| a|||b |||| ||| | || |||"),
    ("[X] ||| a\u00a0b \u2028 ||| 一 ü", "[X] ||| a\u00a0b \u2028 ||| 一 ü |||"),
]

# What is refused, and what the message says.
REFUSED = [
    ("nonsense", "found 1 of the fields"),
    ("[X] ||| a", "found 2 of the fields"),
    ("[X] ||| a ||| b ||| ||| ||| more", "more than 5 fields"),
    ("X ||| a ||| b", "left-hand side such as [X], found 'X'"),
    ("[] ||| a ||| b", "left-hand side such as [X], found '[]'"),
    ("[X Y] ||| a ||| b", "left-hand side"),
    ("[X\tY] ||| a ||| b", "left-hand side"),
    (" ||| a ||| b", "left-hand side such as [X], found ''"),
    ("[X] ||| ||| b", "the source side is empty"),
    ("[X] ||| [X,1] [X,2] [X,3] ||| [1] [2] [3]", "more than two non-terminals"),
    ("[X] ||| [X,1] a [X,1] ||| [1]", "index 1 occurs twice"),
    ("[X] ||| [X,1] a ||| b", "must each occur once on the target side 'b'"),
    ("[X] ||| [X,1] a ||| [1] [1]", "uses '[1]' twice"),
    ("[X] ||| [X] a ||| b [X]", "source side's '[X]' has no partner"),
    ("[NP] ||| [NP] a ||| b", "source side's '[NP]' has no partner"),
    ("[X] ||| [X] a [Y] ||| [1]", "must each occur once on the target side"),
    ("[X] ||| [X] a [Y] [Z] ||| [1] [2] [3]", "more than two non-terminals"),
    ("[X] ||| [X,1] a ||| [2]", "'[2]' has no partner"),
    ("[X] ||| a ||| [X,1]", "'[X,1]' has no partner"),
    ("[X] ||| a ||| b ||| f=x", "name=0.5 or a number, found 'f=x'"),
    ("[X] ||| a ||| b ||| f=", "found 'f='"),
    ("[X] ||| a ||| b ||| f=1e99", "found 'f=1e99'"),  # beyond single precision
    ("[X] ||| a ||| b ||| f=inf", "found 'f=inf'"),
    ("[X] ||| a ||| b ||| f=nan", "found 'f=nan'"),
    ("[X] ||| a ||| b ||| f=+-1", "found 'f=+-1'"),
    ("[X] ||| a ||| b ||| f=0x10", "found 'f=0x10'"),
    ("[X] ||| a ||| b ||| f=1,5", "found 'f=1,5'"),
    ("[X] ||| a ||| b ||| =1", "a feature without a name: '=1'"),
    ("[X] ||| a ||| b ||| ||| 0:0", "alignment links such as 0-1, found '0:0'"),
    ("[X] ||| a ||| b ||| ||| 0-", "alignment links"),
    ("[X] ||| a ||| b ||| ||| -1-0", "alignment links"),
    ("[X] ||| a ||| b ||| ||| 1-0", "'1-0' points outside the rule"),
    ("[X] ||| a ||| b ||| ||| 0-1", "'0-1' points outside the rule"),
    ("[X] ||| " + "a " * 32_001 + "||| b", "more than 32,000 symbols"),
    ("[X] ||| a ||| " + "b " * 32_001, "more than 32,000 symbols"),
    ("[X] ||| a ||| b ||| " + "x" + "ü" * 40, "found 'x" + "ü" * 29 + "…'"),  # 59 bytes: the next letter would be cut
]


@pytest.mark.parametrize(("line", "written"), FORMS)
def test_forms(line: str, written: str) -> None:
    grammar = Grammar(line.encode())
    assert len(grammar) == 1
    assert grammar.text().decode() == written + "\n"
    assert Grammar(grammar.text()).text() == grammar.text()


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_refused_lines(line: str, message: str) -> None:
    text = f"[X] ||| a ||| b ||| f=1\n\n{line}\n[X] ||| c ||| d\n"
    with pytest.raises(InputError) as caught:
        Grammar(text.encode(), path="rules.txt")
    assert caught.value.where == "rules.txt:3"
    assert message in caught.value.message


def test_invalid_utf8_is_refused() -> None:
    with pytest.raises(InputError, match=r"rules.txt:2: invalid UTF-8 at byte 9"):
        Grammar(b"[X] ||| a ||| b\n[X] ||| \xff ||| b", path="rules.txt")


def test_too_many_labels() -> None:
    """On either side, not only as left-hand sides."""
    sources = "\n".join(f"[X] ||| a [L{at},1] ||| [1]" for at in range(65_535))
    with pytest.raises(InputError, match=r"g:65535: more than 65,536 different labels"):
        Grammar(sources.encode(), path="g")
    assert len(Grammar(sources.rpartition("\n")[0].encode())) == 65_534


def test_line_ends_and_blank_lines() -> None:
    lines = ["[X] ||| a ||| b ||| f=1", "[X] ||| c ||| d ||| f=2"]
    expected = Grammar("\n".join(lines).encode()).text()
    for text in ("\r\n".join(lines), "\n \n".join([*lines, ""]), "\n\n" + "\n".join(lines)):
        assert Grammar(text.encode()).text() == expected


@pytest.mark.parametrize("name", ["grammar.txt", "grammar.gz"])
def test_files(tmp_path: Path, name: str) -> None:
    grammar = Grammar(b"[X] ||| a [X,1] ||| [1] b ||| f=0.5 ||| 0-1\n[Y] ||| c ||| d ||| g=1\n")
    grammar.write(tmp_path / name)
    assert Grammar.read(tmp_path / name).text() == grammar.text()
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(gzip.compress(b"[X] ||| a ||| b\n" * 1000)[:-20])
    wrong = tmp_path / "wrong.gz"
    wrong.write_bytes(gzip.compress(b"[X] ||| a ||| b\n[X] ||| a\n"))
    for path, message in ((damaged, "damaged gzip"), (wrong, "wrong.gz:2"), (tmp_path / "none", "cannot read")):
        with pytest.raises(InputError, match=message) as caught:
            Grammar.read(path)
        assert str(path) in str(caught.value)


def test_the_order_of_rules_stays() -> None:
    """The index groups rules by source side; the text does not show it."""
    lines = [
        f"[{label}] ||| {source} ||| {at} |||" for at, (label, source) in enumerate(["Xb", "Xa", "Yb", "Xb", "Xa"])
    ]
    assert Grammar("\n".join(lines).encode()).text().decode().splitlines() == lines


def single(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_values_come_back(values: list[float]) -> None:
    """Written in the shortest form that reads back exactly, whichever form they came in."""
    for form in (repr, "{:.9g}".format, "{:.12f}".format):
        field = " ".join(f"f{at}={form(value)}" for at, value in enumerate(values))
        written = Grammar(f"[X] ||| a ||| b ||| {field}".encode()).text()
        found = [float(token.partition("=")[2]) for token in written.decode().split("|||")[3].split()]
        assert [single(value) for value in found] == [single(float(form(value))) for value in values]
        assert Grammar(written).text() == written


DIGITS = st.text("0123456789", max_size=24)


@given(
    st.lists(st.tuples(st.sampled_from(["", "-", "+"]), DIGITS, DIGITS, st.sampled_from(["", "e-3", "E5"])), max_size=8)
)
@example([("", "0", "12345678", ""), ("-", "9007199254740993", "", ""), ("", "", "5", ""), ("", "7", "", "")])
@example([("-", "4", "0" * 33, "E5")])
@example([("", "1", "99999999", ""), ("", "0", "0000000000000000000001", ""), ("", "16777217", "", "")])
def test_numbers_are_read_as_python_reads_them(parts: list[tuple[str, str, str, str]]) -> None:
    """To the last bit of single precision, by way of a double; in lines after the first, names are known already."""
    numbers = [f"{sign}{whole}.{fraction}{power}" for sign, whole, fraction, power in parts if whole + fraction]
    for form in (numbers, [number.replace(".", "") for number in numbers]):
        field = " ".join(f"name{at}={number}" for at, number in enumerate(form))
        rules = f"[X] ||| a ||| b ||| {field}\n[X] ||| a ||| c ||| {field}\n".encode()
        expected = [single(float(number)) for number in form]
        if math.inf in map(abs, expected):
            with pytest.raises(InputError, match="expected a feature"):
                Grammar(rules)
            continue
        written = Grammar(rules).text().decode()
        for line in written.splitlines():
            found = [float(token.partition("=")[2]) for token in line.split("|||")[3].split()]
            assert [single(value) for value in found] == expected


@pytest.mark.parametrize(
    "number", ["", "-", ".", "1.2.3", "1-", "--1", "0x10", "1:2345678", "12/45678", "1e", "nan", "1.5;"]
)
def test_numbers_that_are_none(number: str) -> None:
    for first in ("f=1 g=2", "f=1"):
        with pytest.raises(InputError) as caught:
            Grammar(f"[X] ||| a ||| b ||| {first}\n[X] ||| a ||| c ||| f={number}\n".encode(), path="rules.txt")
        assert caught.value.where == "rules.txt:2"


words = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n"), min_size=1, max_size=4).filter(
    lambda word: word != "|||" and not word.startswith("[")
)


@settings(deadline=None)
@given(data=st.data())
def test_rules_come_back(data: st.DataObject) -> None:
    """Any rule: the text that is written parses to the same symbols and values."""
    lines = []
    for _ in range(data.draw(st.integers(1, 4))):
        gaps = [
            f"[{data.draw(st.sampled_from(('X', 'NP', 'A,B')))},{index}]"
            for index in range(data.draw(st.integers(0, 2)))
        ]
        first, second = (data.draw(st.lists(words, min_size=1, max_size=3)) for _ in range(2))
        source, target = data.draw(st.permutations([*gaps, *first])), data.draw(st.permutations([*gaps, *second]))
        value = data.draw(st.integers(-99, 99)) / 8
        lines.append(f"[X] ||| {' '.join(source)} ||| {' '.join(target)} ||| f={value} {value / 2} ||| 0-0")
    grammar = Grammar("\n".join(lines).encode())
    assert Grammar(grammar.text()).text() == grammar.text()
    for before, after in zip(lines, grammar.text().decode().rstrip("\n").split("\n"), strict=True):
        assert flat(before) == flat(after)


def flat(line: str) -> tuple[object, ...]:
    """A line's content with non-terminals numbered from the left; splits at ASCII blanks only, as the reader does."""
    parts = [[token for token in part.split(" ") if token] for part in line.split(" |||")]
    numbers: dict[str, int] = {}

    def renumber(token: str) -> str:
        head, comma, index = token.rstrip("]").rpartition(",")
        return f"{head},{numbers.setdefault(index, len(numbers))}" if token.startswith("[") and comma else token

    values = [float(token.rpartition("=")[2]) for token in parts[3]]
    return parts[0], [renumber(t) for t in parts[1]], [renumber(t) for t in parts[2]], values, parts[4]


# Names of sparse features. Glue and pass-through rules have them too.
NAMES = [
    ("[X] ||| ein mann ||| a man", ["R:X:ein_mann:a_man"], ["RBS:<r>_ein", "RBS:ein_mann", "RBS:mann_</r>", "RBT:<r>_a",
     "RBT:a_man", "RBT:man_</r>"], "Shape_S10000_T10000"),
    ("[X] ||| ein [X,1] ||| [X,1] a", ["R:X:ein_NX:N1_a"], ["RBS:<r>_ein", "RBS:ein_X", "RBS:X_</r>", "RBT:<r>_X1",
     "RBT:X1_a", "RBT:a_</r>"], "Shape_S11000_T01100"),
    ("[X] ||| [X,1] und [X,2] ||| [X,2] and [X,1]", ["R:X:NX_und_NX:N2_and_N1"], ["RBS:<r>_X", "RBS:X_und", "RBS:und_X",
     "RBS:X_</r>", "RBT:<r>_X2", "RBT:X2_and", "RBT:and_X1", "RBT:X1_</r>"], "Shape_S01110_T01110"),
    ("[X] ||| [X,1] [X,2] s ||| [X,1] t [X,2]", ["R:X:NX_NX_s:N1_t_N2"], ["RBS:<r>_X", "RBS:X_X", "RBS:X_s",
     "RBS:s_</r>", "RBT:<r>_X1", "RBT:X1_t", "RBT:t_X2", "RBT:X2_</r>"], "Shape_S01011_T01110"),
    ("[X] ||| a [X,1] b [X,2] c ||| d [X,2] [X,1] e", ["R:X:a_NX_b_NX_c:d_N2_N1_e"], ["RBS:<r>_a", "RBS:a_X", "RBS:X_b",
     "RBS:b_X", "RBS:X_c", "RBS:c_</r>", "RBT:<r>_d", "RBT:d_X2", "RBT:X2_X1", "RBT:X1_e", "RBT:e_</r>"],
     "Shape_S11111_T11011"),
    ("[X] ||| weg |||", ["R:X:weg:"], ["RBS:<r>_weg", "RBS:weg_</r>", "RBT:<r>_</r>"], "Shape_S10000_T00000"),
    ("[X] ||| a=b ; ||| = c;d", ["R:X:a_b__:__c_d"], ["RBS:<r>_a_b", "RBS:a_b__", "RBS:__</r>", "RBT:<r>__",
     "RBT:__c_d", "RBT:c_d_</r>"], "Shape_S10000_T10000"),
    ("[NP] ||| der [NN,1] [PP,2] ||| [PP,2] 's [NN,1]", ["R:NP:der_NNN_NPP:N2_'s_N1"], ["RBS:<r>_der", "RBS:der_NN",
     "RBS:NN_PP", "RBS:PP_</r>", "RBT:<r>_PP2", "RBT:PP2_'s", "RBT:'s_NN1", "RBT:NN1_</r>"], "Shape_S11010_T01110"),
    ("[A=B] ||| x [C;D,1] ||| [C;D,1]", ["R:A_B:x_NC_D:N1"], ["RBS:<r>_x", "RBS:x_C_D", "RBS:C_D_</r>",
     "RBT:<r>_C_D1", "RBT:C_D1_</r>"], "Shape_S11000_T01000"),
    ("[X] ||| a a ||| b b b", ["R:X:a_a:b_b_b"], ["RBS:<r>_a", "RBS:a_a", "RBS:a_</r>", "RBT:<r>_b",
     "RBT:b_b", "RBT:b_b", "RBT:b_</r>"], "Shape_S10000_T10000"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "identity", "bigrams", "shape"), NAMES)
def test_names_of_sparse_features(line: str, identity: list[str], bigrams: list[str], shape: str) -> None:
    """The rule's own features, seen by the difference that one use of it makes in a derivation."""
    rule = oracle.parse_rule(line)
    gaps = [tail.label for tail in rule.tails]
    below = [f"[{label}] ||| gap{at} ||| filler ||| below{at}=1" for at, label in enumerate(gaps)]
    sentence = " ".join(s if isinstance(s, str) else f"gap{gaps.index(s.label, s.index - 1)}" for s in rule.source)
    grammar = "\n".join([line + " ||| used=1", *below, f"[S] ||| [{rule.lhs},1] ||| [1] ||| top=1"])
    expected = {"id": identity, "ng": bigrams, "shape": [shape]}
    for group, names in expected.items():
        decoder = Decoder(
            Weights({"used": 10, "top": 1, "Glue": -5, "PassThrough": -5}), None, DecoderConfig(pop_limit=0)
        )
        found = decoder.kbest(sentence, Grammar(grammar.encode(), groups=[group]), 1)[0].features
        assert found["used"] == 1
        others = [oracle.parse_rule(one) for one in grammar.splitlines()[1:]]
        for other in others:
            for name, count in oracle.template_features(other, frozenset({group})).items():
                found[name] -= count
        dense = {"used", "top", "WordPenalty", "below0", "below1"}
        left = {name: count for name, count in found.items() if name not in dense and count}
        assert left == {name: names.count(name) for name in names}


def test_the_decoders_own_rules_have_sparse_features() -> None:
    [found] = Decoder(Weights()).kbest("u v", Grammar(b"", groups=GROUPS), 1)
    assert {name: value for name, value in found.features.items() if name.startswith("R:")} == {
        "R:S:NX:N1": 1, "R:S:NS_NX:N1_N2": 1, "R:X:u:u": 1, "R:X:v:v": 1
    }  # fmt: skip
    assert found.features["RBT:S1_X2"] == 1
    assert found.features["Shape_S10000_T10000"] == 2


def test_groups() -> None:
    assert parse_groups("dense") == parse_groups("") == frozenset()
    assert parse_groups("all") == frozenset(GROUPS)
    assert parse_groups("id,shape") == parse_groups("id+shape") == {"id", "shape"}
    for wrong in ("ids", "id,all", "dense,id"):
        with pytest.raises(ConfigError, match="unknown feature group"):
            parse_groups(wrong)
    for groups in (["ids"], "id"):  # a string is not a set of names
        with pytest.raises(ConfigError, match="unknown feature group"):
            Grammar(b"", groups=groups)
