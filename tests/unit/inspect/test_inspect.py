"""`itersel inspect`: what a file is, its content says; figures against counts made here; bad input named."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Choice, Declaration, Figure
from itersel.cli import main
from itersel.decode.shard_decoder import ShardDecoder
from itersel.inspect import recognize, view
from itersel.inspect.options import ViewOptions
from itersel.learn.figures import FIGURES, STATISTICS
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run import devtest
from itersel.shards.shard import Shard
from oracles.random_arpa import write_random_arpa
from oracles.small_shards import TARGET, small_shard

DECLARATION = Declaration("sgd", "SGD", 1, STATISTICS, FIGURES + devtest.FIGURES)
GRAMMAR = """\
[X] ||| haus ||| house ||| f=1 g=-0.5
[X] ||| haus ||| home ||| f=3
[X] ||| das [X,1] ||| the [X,1] ||| f=2 ||| 0-0
[Y] ||| [X,1] und [Y,2] ||| [X,1] and [Y,2] |||
"""
WEIGHTS = {"f": 0.5, "LanguageModel": 1.0, "R:X:haus:house": -2.0, "RBT:<r>_house": 0.25, "Shape_S10000_T10000": 0.125}


def show(path, **options) -> str:
    return "\n".join(view(path, ViewOptions(**options)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "grammar").write_text(GRAMMAR)
    (tmp_path / "grammar.gz").write_bytes(gzip.compress(GRAMMAR.encode()))
    Weights(WEIGHTS).write(tmp_path / "weights.txt.gz")
    (tmp_path / "weights").write_text("# tuned\n\nf 0.5\n")
    Vector.of_names(WEIGHTS).write(tmp_path / "weights.vec")
    Vector.of_names(WEIGHTS).write(tmp_path / "alone.vec")
    write_random_arpa(tmp_path / "lm", 3, TARGET, seed=1)
    (tmp_path / "lm.gz").write_bytes(gzip.compress((tmp_path / "lm").read_bytes()))
    small_shard(tmp_path / "a.itsh")
    run = tmp_path / "run"
    run.mkdir()
    described = {"format": 1, "configuration": {"epochs": 2, "epoch": {"k": 100}}}
    (run / "run.json").write_text(json.dumps(described | {"declaration": DECLARATION.to_json()}))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("grammar", "grammar"),
        ("grammar.gz", "grammar"),
        ("weights", "weights"),
        ("weights.txt.gz", "weights"),
        ("weights.vec", "vector"),
        ("lm", "arpa"),
        ("lm.gz", "arpa"),
        ("a.itsh", "shard"),
        ("run", "run"),
    ],
)
def test_recognised_by_content(folder, name, kind):
    assert recognize(folder / name) == kind
    other = (folder / name).rename(folder / "misleading.arpa.gz")
    assert recognize(other) == kind
    assert next(iter(view(other)))


def test_grammar(folder):
    text = show(folder / "grammar.gz")
    assert "4 rules, 3 source sides" in text
    assert "non-terminals: 0: 2, 1: 1, 2: 1" in text
    assert "labels: [X] 3, [Y] 1" in text
    assert re.search(r"^f +3 +1 +2 +3$", text, re.MULTILINE)
    assert re.search(r"^g +1 +-0\.5 +-0\.5 +-0\.5$", text, re.MULTILINE)
    assert re.search(r"^haus +2$", text, re.MULTILINE)
    text = show(folder / "grammar", grep="haus", top=1)
    assert "house" in text and "home" not in text and "and 1 more" in text
    assert "no rule matches" in show(folder / "grammar", grep="baum")


def test_only_line_feeds_end_a_rule_and_only_blanks_a_name(folder):
    (folder / "odd").write_text("[X] ||| a\u2028b ||| c\u00a0d ||| f\u00a0g=2\n")
    text = show(folder / "odd", grep="c\u00a0d")
    assert "1 rules, 1 source sides" in text and "[X] ||| a\u2028b ||| c\u00a0d ||| f\u00a0g=2" in text
    (folder / "odd-weights").write_text("f\u00a0g 2\n")
    assert "+2  f\u00a0g" in show(folder / "odd-weights")


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    head=st.sampled_from(
        [b"", b"ITSHARD\n", b"itersvec", b"\\data\\\n", b"[X] ||| a ||| b", b"f 1\n", b"\x1f\x8b", b"mmap lm"]
    ),
    rest=st.binary(max_size=60),
)
def test_any_bytes_are_shown_or_refused(tmp_path, head, rest):
    (tmp_path / "file").write_bytes(head + rest)
    try:
        text = show(tmp_path / "file")
    except InputError as error:
        assert str(tmp_path / "file") in str(error)
    else:
        assert text


def test_weights(folder):
    for name in ("weights.txt.gz", "weights.vec"):
        text = show(folder / name, top=2)
        assert "5 weights that are not 0; ℓ1 norm 3.875" in text
        assert re.search(r"^dense +2 +2 +0\.75 +1$", text, re.MULTILINE)
        assert re.search(r"^rule identity \(id\) +1 +0 +2 +2$", text, re.MULTILINE)
        listed = re.findall(r"^ *([+-]\S+)  (\S+)$", text, re.MULTILINE)
        assert listed == [("-2", "R:X:haus:house"), ("+1", "LanguageModel")]
        assert "… and 3 more" in text
        assert re.findall(r"^ *([+-]\S+)  (\S+)$", show(folder / name, grep="^RB"), re.MULTILINE) == [
            ("+0.25", "RBT:<r>_house")
        ]
    ids = {f"{number:#018x}" for number in Vector.of_names(WEIGHTS).ids.tolist()}
    assert set(re.findall(r"0x[0-9a-f]{16}", show(folder / "alone.vec"))) == ids


def test_language_model(folder):
    counts = re.findall(r"ngram (\d)=(\d+)", (folder / "lm").read_text())
    for name in ("lm", "lm.gz"):
        text = show(folder / name)
        assert "order 3, ARPA" in text
        for order, count in counts:
            assert re.search(rf"^{order} +{count}$", text, re.MULTILINE)
    line = next(one for one in (folder / "lm").read_text().split("\n") if "\tsize and" in one).split("\t")
    assert f"{line[0]}  {line[2] if len(line) > 2 else '–'}" in re.sub(
        " {2,}", "  ", show(folder / "lm", grep="^size and")
    )


def test_shard(folder):
    text = show(folder / "a.itsh")
    assert "3 sentences, 5 words" in text
    assert "rules of a sentence: 0 to 2, mean 1.0" in text
    assert "sport 1" in text
    assert "größe und größe" in text
    text = show(folder / "a.itsh", grep="und")
    assert "größe und größe" in text and "ein größe" not in text
    text = show(folder / "a.itsh", sentence=0)
    assert "domain sport" in text and "reference  one size" in text and "[X] ||| ein ||| a ||| f=1 ||| 0-0" in text


def test_translations_and_derivation(folder):
    shard = Shard(folder / "a.itsh")
    weights = Weights({"f": 1.0, "LanguageModel": 0.5, "PassThrough": -1.0})
    weights.write(folder / "w")
    decoder = ShardDecoder(shard, weights, LanguageModel(folder / "lm"))
    best = decoder.kbest(0, 10)
    given = {"sentence": 0, "weights": str(folder / "w"), "language_model": str(folder / "lm")}
    rows = re.findall(r"^ *(\d+) +(\S+) +(\S+)  (.+)$", show(folder / "a.itsh", **given), re.MULTILINE)
    assert [(float(score), text) for _, score, _, text in rows] == [(round(one.score, 4), one.text) for one in best]
    text = show(folder / "a.itsh", **given, derivation=True, top=100)
    assert f"score {best[0].score:.6f}" in text
    # What is printed adds up, too: the nodes' own scores, and the listed contributions.
    nodes = [float(found) for found in re.findall(r"‖ .*?  ([+-]\d+\.\d{4})  \[", text)]
    parts = [float(found) for found in re.findall(r"([+-]\d+\.\d{4}) = ", text)]
    assert len(nodes) > 3
    assert sum(nodes) == pytest.approx(best[0].score, abs=1e-4 * len(nodes))
    assert sum(parts) == pytest.approx(best[0].score, abs=1e-4 * len(parts))


def test_run(folder):
    text = show(folder / "run")
    assert re.search(r"^epoch\.k +100$", text, re.MULTILINE)
    assert "no epoch is finished" in text
    facts = {"shard": None, "weights": 1234, "updates": 9, "rank_errors": 1, "pairs": 4, "best_metric": 1.5, "lists": 3}
    facts |= {"devtest_brevity_penalty": 0.75}
    lines = [facts | {"epoch": 1, "devtest_bleu": 20.5}, facts | {"epoch": 2, "devtest_bleu": 21.25}]
    (folder / "run/statistics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "run/manifest.json").write_text(json.dumps({"format": 1, "chosen": 2, "epochs": [{}, {}]}))
    Weights(WEIGHTS).write(folder / "run/weights.txt.gz")
    text = show(folder / "run", grep="epoch|house")
    assert re.search(
        r"^epoch +features +updates +1-best metric +pair errors +devtest BLEU +brevity penalty$", text, re.MULTILINE
    )
    assert re.search(r"2 \* +1,234 +9 +0\.5000 +25\.0% +21\.25 +0\.75", text)
    assert "R:X:haus:house" in text


def test_run_of_any_algorithm(folder):
    """The table has the figures that are declared, and a dash where an epoch lacks one."""
    figures = (Figure("gap", "gap", "gap", "lists", form="percent"), Figure("c", "hidden", "gap", shown=("curve",)))
    declaration = Declaration("toy", "Toy", figures=figures, choice=Choice("gap", "gap", largest=False))
    (folder / "run/run.json").write_text(json.dumps({"format": 1, "declaration": declaration.to_json()}))
    lines = [{"epoch": 1, "shard": None, "gap": 1, "lists": 4}, {"epoch": 2, "shard": None}]
    (folder / "run/statistics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "run/manifest.json").write_text(json.dumps({"format": 1, "chosen": 1, "epochs": [{}, {}]}))
    assert re.search(r"^epoch +gap\n *1 \* +25\.0%\n *2 +–$", show(folder / "run"), re.MULTILINE)


def test_run_of_an_older_version(folder):
    (folder / "run/run.json").write_text(json.dumps({"format": 1}))
    (folder / "run/statistics.jsonl").write_text("")
    (folder / "run/manifest.json").write_text(json.dumps({"format": 1, "epochs": []}))
    with pytest.raises(InputError, match="older version of itersel"):
        show(folder / "run")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bytes"], "bytes: not a file that itersel writes, and not text"),
        (["latin-1"], "latin-1:2: "),
        (["bad-json"], "bad-json: damaged: "),
        (["bad-lines"], "bad-lines:2: damaged: "),
        (["bad-lists"], "bad-lists:2: "),
        (["bad-seen"], "bad-seen: damaged: not a list of seen sentences"),
        (["bad-index"], "bad-index: "),
        (["bad-table"], "bad-table: damaged"),
        (["bad-records"], "bad-records: "),
        (["bad-mark"], "bad-mark/.itersel-folder: the mark names no kind of folder"),
        (["absent"], "absent: cannot read"),
        (["bad-grammar"], "bad-grammar:2: "),
        (["bad-weights"], "bad-weights:2: "),
        (["cut.itsh"], "cut.itsh: "),
        (["cut.vec"], "cut.vec: damaged vector"),
        (["grammar", "--sentence", "1"], "grammar: not a shard file"),
        (["grammar", "--grep", "("], "grep '('"),
        (["a.itsh", "--sentence", "3"], "a.itsh: sentence is 3"),
        (["a.itsh", "--sentence", "-1"], "a.itsh: sentence is -1"),
        (["a.itsh", "--weights", "weights"], "--weights needs a sentence"),
        (["a.itsh", "--sentence", "0", "--derivation"], "translating needs weights"),
        (
            ["a.itsh", "--sentence", "0", "--weights", "weights", "--derivation", "--rank", "99"],
            "a.itsh: the sentence has",
        ),
        (["a.itsh", "--sentence", "0", "--rank", "2"], "rank is 2"),
        (["weights", "--top", "-1"], "top is -1"),
    ],
)
def test_bad_input_is_named(folder, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(folder)
    Path("bytes").write_bytes(bytes(range(256)))
    Path("latin-1").write_bytes("eins\nzwölf\n".encode("latin-1"))
    Path("bad-json").write_text('{\n "format": 1,\n')
    Path("bad-lines").write_text('{"epoch": 1, "shard": 0}\n{"epoch": 1\n')
    Path("bad-lists").write_text("0 ||| a ||| f=1 ||| 1\n\n")
    Path("bad-seen").write_text('{"itersel": "seen sentences", "format": 99}\n')
    Path("bad-index").write_bytes(b"iterselX" + bytes(40))
    Path("bad-table").write_bytes(b"iterslst" + bytes(4))
    Path("bad-records").write_bytes(b"itersrec" + bytes(40))
    Path("bad-mark").mkdir()
    Path("bad-mark/.itersel-folder").write_text("spoon\n")
    Path("bad-grammar").write_text("[X] ||| a ||| b\n[X] ||| a\n")
    Path("bad-weights").write_text("f 1\ng\n")
    Path("cut.itsh").write_bytes(Path("a.itsh").read_bytes()[:100])
    Path("cut.vec").write_bytes(Path("weights.vec").read_bytes()[:-1])
    assert main(["inspect", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_damaged_statistics_are_named(folder):
    (folder / "run/manifest.json").write_text(json.dumps({"format": 1, "epochs": [{}]}))
    (folder / "run/statistics.jsonl").write_text("{\n")
    with pytest.raises(InputError) as error:
        show(folder / "run")
    assert str(error.value).startswith(f"{folder / 'run/statistics.jsonl'}:1: damaged")
    with pytest.raises(ConfigError):
        ViewOptions(rank=0, derivation=True, weights="w", sentence=0)
