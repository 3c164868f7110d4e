"""Scores against sacrebleu's, the whole evaluation, and the command with good and bad input."""

import gzip
import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER

from itersel.base.errors import ConfigError, InputError
from itersel.base.tables import markdown_table, text_table
from itersel.cli import main
from itersel.decode.decoder import Hypothesis
from itersel.evaluation.scoring import EvaluationOptions, System, score_systems
from itersel.evaluation.significance import bootstrap_test, randomization_test
from itersel.lists.writer import FORMATS, format_kbest
from itersel.metrics.corpus import METRICS, CorpusMetric, MetricOptions
from oracles import metrics as sentence_oracle

texts = st.lists(st.sampled_from(["a", "b", "C", "dd", "e."]), max_size=9).map(" ".join)


def theirs(name, case="mixed", tokenize="none"):
    lower = case == "lower"
    if name == "bleu":
        return BLEU(tokenize=tokenize, lowercase=lower, force=True)
    return CHRF(lowercase=lower) if name == "chrf" else TER(case_sensitive=not lower)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("case", ["mixed", "lower"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_scores_equal_sacrebleu(name, case, data):
    count = data.draw(st.integers(1, 5))
    several = data.draw(st.integers(1, 3))
    references = data.draw(
        st.lists(st.lists(texts, min_size=several, max_size=several), min_size=count, max_size=count)
    )
    output = data.draw(st.lists(texts, min_size=count, max_size=count))
    metric = CorpusMetric(name, references, MetricOptions(case=case))
    sacrebleu = theirs(name, case)
    expected = sacrebleu.corpus_score(output, [list(stream) for stream in zip(*references, strict=True)])
    rows = metric.statistics(output)
    assert metric.score(rows) == expected.score
    assert metric.scores(rows.sum(axis=0)[None])[0] == pytest.approx(expected.score, abs=1e-9)
    assert metric.signature == sacrebleu.get_signature().format()


def test_sentences_may_have_different_numbers_of_references():
    references = [["a b c d", "a b"], ["c d e f"]]
    expected = theirs("bleu").corpus_score(["a b c", "c d e f"], [["a b c d", "c d e f"], ["a b", None]])
    metric = CorpusMetric("bleu", references)
    assert metric.score(metric.statistics(["a b c", "c d e f"])) == expected.score


def test_tokenizers():
    for name in ("13a", "intl", "char"):
        metric = CorpusMetric("bleu", [["Hello, world!"]], MetricOptions(tokenize=name))
        expected = theirs("bleu", tokenize=name).corpus_score(["Hello there, world!"], [["Hello, world!"]]).score
        assert metric.score(metric.statistics(["Hello there, world!"])) == expected
    with pytest.raises(ConfigError, match="tokenize"):
        MetricOptions(tokenize="moses")


@pytest.fixture(scope="module")
def corpus():
    """References and three outputs of 40 sentences, two of them runs of one system."""
    generator = random.Random(1)
    references = [[" ".join(generator.choices("abcdefgh", k=generator.randint(4, 9)))] for _ in range(40)]

    def output(rate):
        noise = [
            [generator.choice("xyz") if generator.random() < rate else w for w in r[0].split()] for r in references
        ]
        return [" ".join(words) for words in noise]

    return references, output(0.2), output(0.3), output(0.35)


def test_evaluation(corpus):
    references, one, two, three = corpus
    systems = [System("one", [one]), System("two", [two, three])]
    found = score_systems(systems, references, EvaluationOptions(trials=300, seed=5))
    for name in METRICS:
        scores = [theirs(name).corpus_score(run, [[r[0] for r in references]]).score for run in (one, two, three)]
        assert found.score("one", name).runs == (scores[0],)
        assert found.score("one", name).deviation is None
        assert found.score("two", name).mean == pytest.approx(sum(scores[1:]) / 2)
        assert found.score("two", name).deviation == pytest.approx(abs(scores[1] - scores[2]) / 2**0.5)
        low, high = found.score("one", name).interval
        assert low < scores[0] < high
        metric = CorpusMetric(name, references)
        rows = [np.stack([metric.statistics(run) for run in system.runs]) for system in systems[::-1]]
        compared = found.comparison("two", "one", name)
        assert compared.randomization == randomization_test(*rows, metric.scores, trials=300, seed=5)
        assert compared.bootstrap == bootstrap_test(*rows, metric.scores, trials=300, seed=5)
        assert compared.better(level=1) == "one"
        assert compared.better(level=0) is None
    lengths = theirs("bleu").corpus_score(one, [[r[0] for r in references]])
    assert found.length_ratios["one"] == lengths.sys_len / lengths.ref_len
    assert found.brevity_penalties["one"] == pytest.approx(lengths.bp)
    assert found.warnings == ()


def test_result_does_not_depend_on_jobs_or_order(corpus):
    references, one, two, three = corpus
    systems = [System("one", [one]), System("two", [two]), System("three", [three])]
    found = score_systems(systems, references, EvaluationOptions(trials=200))
    assert score_systems(systems, references, EvaluationOptions(trials=200, jobs=3)) == found
    turned = score_systems(systems[::-1], references, EvaluationOptions(trials=200))
    assert len(found.comparisons) == 9
    for a, b in (("one", "two"), ("one", "three"), ("two", "three")):
        there, back = found.comparison(a, b, "chrf"), turned.comparison(a, b, "chrf")
        assert there.randomization.p == back.randomization.p
        assert there.bootstrap.p == back.bootstrap.p
    based = score_systems(systems, references, EvaluationOptions(trials=200, baseline="two", metrics=("ter",)))
    assert [(one.first, one.second) for one in based.comparisons] == [("one", "two"), ("three", "two")]


def test_equal_runs_are_warned_of(corpus):
    references, one, two, _ = corpus
    found = score_systems([System("one", [one, one]), System("two", [two])], references, EvaluationOptions(trials=10))
    assert "runs of one" in found.warnings[0]


def test_library_refuses_bad_input(corpus):
    references, one, two, _ = corpus
    with pytest.raises(InputError, match="39 lines of one, but 40"):
        score_systems([System("one", [one[1:]])], references)
    with pytest.raises(ConfigError, match="two systems are called one"):
        score_systems([System("one", [one]), System("one", [two])], references)
    with pytest.raises(ConfigError, match="no system base"):
        score_systems([System("one", [one])], references, EvaluationOptions(baseline="base"))
    with pytest.raises(ConfigError, match="metrics"):
        EvaluationOptions(metrics=("bleu", "meteor"))
    with pytest.raises(InputError, match="every sentence needs a reference"):
        CorpusMetric("bleu", [["a"], []])


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Run the verb in a fresh folder; returns exit code and what was printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, **files):
        for name, lines in files.items():
            (tmp_path / name).write_text("".join(line + "\n" for line in lines))
        return main(["evaluate", "--trials", "100", *arguments]), capsys.readouterr()

    return run


@pytest.fixture
def files(corpus):
    references, one, two, three = corpus
    return {"ref": [r[0] for r in references], "one": one, "two": two, "three": three}


def test_json_has_the_evaluation(call, corpus, files, tmp_path):
    code, printed = call("A=one", "B=two,three.gz", "-r", "ref", "--json", **files, **{"three.gz": []})
    assert code == 2  # an empty file
    (tmp_path / "three.gz").write_bytes(gzip.compress("".join(line + "\n" for line in files["three"]).encode()))
    for arguments in (["A=one", "B=two,three.gz"], ["A=one", "B=two", "B=three.gz"]):
        code, printed = call(*arguments, "-r", "ref", "--json")
        assert code == 0
        record = json.loads(printed.out)
        expected = score_systems(
            [System("A", [files["one"]]), System("B", [files["two"], files["three"]])],
            corpus[0],
            EvaluationOptions(trials=100),
        )
        assert record["scores"][3]["mean"] == expected.score("B", "bleu").mean
        assert record["comparisons"][0]["randomization"]["p"] == expected.comparisons[0].randomization.p
        assert record["signatures"] == expected.signatures


def test_tables(call, files):
    code, printed = call("A=one", "B=two,three", "-r", "ref", **files)
    assert code == 0
    header, a, b = printed.out.splitlines()[:3]
    assert header.split()[:4] == ["system", "runs", "BLEU", "±"]
    assert (a.split()[:2], b.split()[:2]) == (["A", "1"], ["B", "2"])
    assert "tok:none" in printed.out
    code, printed = call("one", "two", "-r", "ref", "--markdown", "--baseline", "two", "--metrics", "ter")
    lines = printed.out.splitlines()
    assert lines[0] == "| system | TER | 95 % | length |"
    assert lines[5].startswith("| systems | metric | difference |")
    assert lines[7].startswith("| one − two | TER |")


def test_table_forms():
    rows = [["name", "n"], ["a|b", "10"], ["c", "9"]]
    assert text_table(rows) == "name   n\na|b   10\nc      9"
    assert markdown_table(rows) == "| name | n |\n| --- | ---: |\n| a\\|b | 10 |\n| c | 9 |"


@pytest.mark.parametrize("form", FORMATS)
def test_oracles(call, corpus, files, form):
    references, *outputs = corpus
    lists = [
        format_kbest(str(i), [Hypothesis(text, -k, {"R:X:a=b": 1.0}) for k, text in enumerate(texts)], form)
        for i, texts in enumerate(zip(*outputs, strict=True))
    ]
    (random.Random(2)).shuffle(lists)
    code, printed = call("-r", "ref", "--kbest", "lists", "--json", lists="".join(lists).splitlines(), **files)
    assert code == 0
    record = json.loads(printed.out)["oracle"]
    assert record["hypotheses"] == 120
    values = [
        [sentence_oracle.value("stupid_bleu", t.split(), [r[0].split()], 4) for t in texts]
        for texts, r in zip(zip(*outputs, strict=True), references, strict=True)
    ]
    stream = [[r[0] for r in references]]
    expected = [theirs("bleu").corpus_score(outputs[0], stream).score]
    for choose in (max, min):
        chosen = [texts[row.index(choose(row))] for texts, row in zip(zip(*outputs, strict=True), values, strict=True)]
        expected.append(theirs("bleu").corpus_score(chosen, stream).score)
    found = {one["system"]: one["mean"] for one in record["evaluation"]["scores"] if one["metric"] == "bleu"}
    assert found == dict(zip(["1-best", "oracle", "anti-oracle"], expected, strict=True))
    assert found["oracle"] > found["1-best"] > found["anti-oracle"]


@pytest.mark.parametrize(
    ("arguments", "changes", "message"),
    [
        (["one", "-r", "ref"], {"one": ["a"] * 39}, "one:40: ends after 39 lines, but ref has 40"),
        (["one", "-r", "ref"], {"one": ["a"] * 41}, "one:41: continues, but ref ends after 40 lines"),
        (["one", "-r", "ref", "-r", "two"], {"two": ["a"] * 41}, "two:41: continues"),
        (["one", "-r", "ref"], {"ref": []}, "ref: the file is empty"),
        (["one", "-r", "ref"], {"one": []}, "one:1: ends after 0 lines"),
        (["one", "-r", "ref"], {"ref": ["a"] * 20 + [" "] + ["a"] * 19}, "ref:21: the sentence has no reference"),
        (["one", "-r", "absent"], {}, "absent: cannot read"),
        (["absent", "-r", "ref"], {}, "absent: cannot read"),
        (["one"], {}, "no references"),
        (["-r", "ref"], {}, "nothing to evaluate"),
        (["A=", "-r", "ref"], {}, "not a system: 'A='"),
        (["one", "one", "-r", "ref"], {}, "given twice"),
        (["one", "two", "-r", "ref", "--exact"], {}, "an exact test of"),
        (["one", "-r", "ref", "--metrics", "bleu,rouge"], {}, "metrics is bleu,rouge"),
        (["one", "-r", "ref", "--seed", "-1"], {}, "seed is -1"),
        (
            ["-r", "ref", "--kbest", "lists"],
            {"lists": ["0 ||| a ||| f=1 ||| 0", "0 | a"]},
            "lists:2: 1 fields where at least 3",
        ),
        (["-r", "ref", "--kbest", "lists"], {"lists": ["0 ||| a ||| f=1 ||| 0"]}, "lists: no list for sentence 1"),
        (["-r", "ref", "--kbest", "lists"], {"lists": ["40 ||| a ||| f=1 ||| 0"]}, "lists:1: a list too many"),
        (["-r", "ref", "--kbest", "lists"], {"lists": ["0 ||| a ||| f", "x ||| a ||| f"]}, "lists:2: the id x is not"),
        (
            ["-r", "ref", "--kbest", "lists"],
            {"lists": ["0 ||| a ||| f", "1 ||| a ||| f", "0 ||| b ||| f"]},
            "lists:3: list '0' appears twice",
        ),
        (["-r", "ref", "--kbest", "lists"], {"lists": []}, "lists: no list for sentence 0"),
    ],
)
def test_bad_input_is_named(call, files, arguments, changes, message):
    code, printed = call(*arguments, **(files | changes))
    assert code == 2
    assert printed.out == ""
    assert message in printed.err


def test_blank_line_is_no_reference_where_there_is_another(call, files):
    blank = ["", *files["two"][1:]]
    code, printed = call("one", "-r", "ref", "-r", "two", "--json", "--no-tests", **(files | {"two": blank}))
    assert code == 0
    streams = [files["ref"], [line or None for line in blank]]
    expected = theirs("bleu").corpus_score(files["one"], streams).score
    record = json.loads(printed.out)
    assert record["scores"][0]["mean"] == expected
    assert "nrefs:var" in record["signatures"]["bleu"]
