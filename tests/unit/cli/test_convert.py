"""Rules and weights of Moses and Joshua. The expected scores are computed by hand from each system's own definition."""

import math

import pytest

from itersel.base.errors import InputError
from itersel.cli import main
from itersel.decode.decoder import Decoder
from itersel.grammar.grammar import Grammar
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights

MOSES_RULES = """\
das [X] ||| the [X] ||| 0.5 0.25 ||| 0-0 ||| 4 8 2
[X][X] haus [X] ||| house of [X][X] [X] ||| 1 0 ||| 0-2 1-0 ||| 1 1 1 ||| ||| {{Tree x}}
[X][NP] und [X][X] [X] ||| [X][X] and [X][NP] [S] ||| 0.125 1 ||| 0-2 1-1 2-0
"""
OUR_RULES = """\
[X] ||| das ||| the ||| T_0=-0.693147181 T_1=-1.38629436 PhrasePenalty=1 ||| 0-0
[X] ||| [X,1] haus ||| house of [X,1] ||| T_0=0 T_1=-100 PhrasePenalty=1 ||| 1-0
[S] ||| [NP,1] und [X,2] ||| [X,2] and [NP,1] ||| T_0=-2.07944154 T_1=0 PhrasePenalty=1 ||| 1-1
"""
MOSES_INI = """\
# a comment
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=2 path=rule-table.gz input-factor=0 output-factor=0
PhraseDictionaryMemory name=TranslationModel1 num-features=1 path=glue-grammar
KENLM name=LM0 factor=0 path=lm.bin order=3
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.25
TranslationModel0= 0.5 0.125
TranslationModel1= 0.75
LM0= 0.5
"""


@pytest.fixture
def convert(tmp_path, capsys):
    def run(content, *options):
        (tmp_path / "in").write_text(content)
        code = main(["convert", str(tmp_path / "in"), *options])
        out, err = capsys.readouterr()
        return out if code == 0 else (code, err)

    return run


def weights_of(text):
    return {name: float(value) for name, value in (line.split() for line in text.splitlines())}


def test_rules_of_moses(convert, tmp_path):
    assert convert(MOSES_RULES, "--from", "moses", "--name", "T") == OUR_RULES
    assert len(Grammar(OUR_RULES)) == 3
    assert convert("das haus ||| the house ||| 0.5 ||| 0-0 1-1\n", "--from", "moses", "--name", "T") == (
        "[X] ||| das haus ||| the house ||| T=-0.693147181 PhrasePenalty=1 ||| 0-0 1-1\n"
    )
    (tmp_path / "rules").write_text(OUR_RULES)
    assert (
        main(["convert", str(tmp_path / "rules"), "--to", "moses", "--name", "T", "--output", f"{tmp_path}/t.gz"]) == 0
    )
    assert main(["convert", f"{tmp_path}/t.gz", "--from", "moses", "--name", "T", "--output", f"{tmp_path}/back"]) == 0
    back = Grammar.read(tmp_path / "back").text().decode()
    assert back == Grammar(OUR_RULES).text().decode()


def test_weights_of_moses_rank_as_moses_does(convert):
    found = weights_of(convert(MOSES_INI, "--from", "moses"))
    assert found == pytest.approx(
        {
            "LanguageModel": 0.5 * math.log(10),  # ours is log10
            "WordPenalty": -1 * math.log(10),  # ours is −0.434 per word
            "PassThrough": -100,
            "PhrasePenalty": 0.25,
            "Glue": 1.0,  # the glue rule is a rule, too
            "TranslationModel0_0": 0.5,
            "TranslationModel0_1": 0.125,
        }
    )
    # Moses: 0.5·ln p + 0.125·ln p' + the penalty of a rule, for each rule; −1 per word for the word penalty −1.
    grammar = Grammar(convert("a [X] ||| b c [X] ||| 0.5 0.25 ||| 0-0 0-1\n", "--from", "moses"))
    best = Decoder(Weights(found)).kbest("a", grammar, k=1)[0]
    assert best.score == pytest.approx(0.5 * math.log(0.5) + 0.125 * math.log(0.25) + 0.25 + 2, abs=1e-6)


def test_weights_of_moses_come_back(convert):
    ours = convert(MOSES_INI, "--from", "moses")
    theirs = convert(ours, "--to", "moses")
    assert sorted(theirs.split("\n")[1:-1]) == sorted(MOSES_INI.partition("[weight]\n")[2].splitlines())
    assert weights_of(convert(theirs, "--from", "moses")) == pytest.approx(weights_of(ours))


def test_weights_for_the_lists_of_moses_keep_names_and_values(convert):
    ini = "[weight]\nLexicalReordering0= 0.1 0.2\nDistortion0= 0.3\nLM0= 0.5\n"
    assert weights_of(convert(ini, "--from", "moses", "--names", "lists")) == {
        "LexicalReordering0_0": 0.1,
        "LexicalReordering0_1": 0.2,
        "Distortion0": 0.3,
        "LM0": 0.5,
    }


def test_rules_of_joshua_change_their_sign(convert):
    theirs = "[X] ||| das [X,1] ||| the [X,1] ||| 0.5 -2 0 Lex=1.5 ||| 0-0\n[NP] ||| haus ||| house ||| 1\n"
    ours = convert(theirs, "--from", "joshua")
    assert ours == (
        "[X] ||| das [X,1] ||| the [X,1] ||| tm_pt_0=-0.5 tm_pt_1=2 tm_pt_2=0 Lex=1.5 ||| 0-0\n"
        "[NP] ||| haus ||| house ||| tm_pt_0=-1\n"
    )
    assert convert(ours, "--to", "joshua") == theirs
    assert "tm_custom_0=-0.5" in convert(theirs, "--from", "joshua", "--name", "custom")


@pytest.mark.parametrize(
    "config",
    [
        "tm = thrax pt 12 grammar.gz\nlm = kenlm 5 false false 100 lm.gz\ntop-n = 300\n# weights\n"
        "lm_0 1.25\ntm_pt_0 0.5\ntm_pt_1 -0.25\ntm_glue_0 1\nWordPenalty -3.5\nOOVPenalty 1\n",
        "top_n=300\nlm 1.25\nphrasemodel pt 0 0.5\nphrasemodel pt 1 -0.25\nphrasemodel glue 0 1\n"
        "wordpenalty -3.5\noovpenalty -100.0\n",
    ],
)
def test_weights_of_joshua(convert, config):
    ours = convert(config, "--from", "joshua")
    assert weights_of(ours) == {
        "LanguageModel": 1.25,
        "tm_pt_0": 0.5,
        "tm_pt_1": -0.25,
        "Glue": 1,
        "WordPenalty": -3.5,
        "PassThrough": -100,
    }
    theirs = convert(ours, "--to", "joshua")
    assert "OOVPenalty 1\n" in theirs and convert(theirs, "--from", "joshua") == ours


def test_an_arpa_file_without_sentence_ends(convert, tmp_path):
    text = (
        "\\data\\\nngram 1=3\nngram 2=1\n\n\\1-grams:\n-1\t<unk>\n-0.5\ta\t-0.2\n-0.75\tb\t0\n\n"
        "\\2-grams:\n-0.25\ta b\n\n\\end\\\n"
    )
    (tmp_path / "no.arpa").write_text(text)
    with pytest.raises(InputError, match="no <s> and no </s>") as error:
        LanguageModel(tmp_path / "no.arpa")
    assert "itersel convert" in str(error.value) + str(error.value.hint)
    (tmp_path / "lm.arpa").write_text(convert(text))
    # <s> is no context of a bigram; p(a), p(b | a), then the weight of backing off from b and </s> like <unk>
    assert LanguageModel(tmp_path / "lm.arpa").score("a b") == pytest.approx(-0.5 - 0.25 + 0 - 1)
    assert convert(convert(text)) == convert(text)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("<s> [X] ||| <s> [S] ||| 1 ||| ||| 0\n", ["--from", "moses"], "in:1: a glue rule with <s>"),
        ("a [X] ||| b [X] ||| 0.5 ||| 0-7\n", ["--from", "moses"], "in:1: expected alignment links"),
        ("[X][X] a [X] ||| b [X][X] [X] ||| 1 ||| 1-0\n", ["--from", "moses"], "in:1: the alignment does not pair"),
        ("[VP][X] a [X] ||| [VP][X] [X] ||| 1 ||| 0-0\n", ["--from", "moses"], "in:1: the source label VP"),
        ("a [X] ||| b [X] ||| -0.5\n", ["--from", "moses"], "in:1: expected a probability, found '-0.5'"),
        ("a ||| b\n", ["--from", "moses"], "in:1: expected `source"),
        ("[weight]\nLM0= 0.5\nLM1= 0.5\n", ["--from", "moses"], "in:3: a second language model"),
        ("[weight]\nLM0 0.5\n", ["--from", "moses"], "in:2: expected `Name= value"),
        ("[weight]\nDistortion0= 0.3\n", ["--from", "moses"], "in:2: Distortion0 has no counterpart"),
        ("[weight-l]\n0.5\n", ["--from", "moses"], "in:1: the section [weight-l] of old versions"),
        ("[feature]\nWordPenalty\n", ["--from", "moses"], "no [weight] section"),
        ("[weight]\nLM0= nan\n", ["--from", "moses"], "in:2: expected a finite number, found 'nan'"),
        ("[GOAL] ||| <s> ||| <s> ||| 0\n", ["--from", "joshua"], "in:1: a glue rule"),
        ("[X] ||| a ||| b ||| x=y\n", ["--from", "joshua"], "in:1: expected a number or name=number"),
        ("[X] ||| a ||| b ||| 1 tm_pt_0=2\n", ["--from", "joshua"], "in:1: a feature is given twice"),
        ("weights-file = w.txt\n", ["--from", "joshua"], "The weights are in w.txt"),
        ("lm_0 1\nlm_1 1\n", ["--from", "joshua"], "in:2: a second language model"),
        ("lm_0 1\nlm_0 1\n", ["--from", "joshua"], "in:2: the weight of LanguageModel is given twice"),
        ("[X] ||| a ||| b ||| f=1\n", ["--to", "moses"], "in:1: the features are f"),
        ("f 1\n", ["--to", "moses"], "f has no counterpart"),
        ("f 1\n", [], "Give --from or --to"),
        ("\\data\\\n\n", [], "no unigrams"),
        ("\\data\\\n", ["--from", "moses"], "Leave --from and --to out"),
        ("", ["--from", "moses"], "the file is empty"),
    ],
)
def test_what_cannot_be_converted_is_named(convert, content, options, message):
    code, err = convert(content, *options)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
