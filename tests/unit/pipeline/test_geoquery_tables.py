"""The tables of ACL 2014's experiment, by hand."""

import numpy as np

from geoquery_outcomes import outcomes
from itersel.metrics.corpus import CorpusMetric
from itersel.pipeline.geoquery_tables import (
    EXAMPLES,
    difference_table,
    eta_table,
    example_table,
    markdown,
    parser_table,
    run_table,
    score_table,
    variants,
    wins,
)

REFERENCES = ["which states border texas ?"] * 24
EVERY = np.ones(24, dtype=bool)
POOR = outcomes(["what states ?"] * 24, [1] * 6 + [0] * 18, [1] * 12 + [0] * 12)
GOOD = outcomes(REFERENCES, [1] * 24, [1] * 24)


def test_scores_and_superscripts():
    """24 questions: one system answers 6 of 12 parsed, the other all; the difference is significant in any order."""
    metric = CorpusMetric("bleu", [[line] for line in REFERENCES])
    table = score_table({"baseline": [POOR], "rebol": [GOOD]}, metric, EVERY)
    assert [one.text for one in table.rows[0].entries[:4]] == ["1 BASELINE", "50.00", "25.00", "33.33"]
    assert table.markdown().splitlines()[-1] == (
        "| 2 REBOL | 100.00<sup>1</sup> | 100.00<sup>1</sup> | 100.00<sup>1</sup> | 100.00<sup>1</sup> |"
    )
    turned = score_table({"rebol": [GOOD], "baseline": [POOR], "exec": [POOR]}, metric, EVERY)
    assert [[one.marks.raised for one in row.entries[1:]] for row in turned.rows] == [
        [(2, 3)] * 4,
        [()] * 4,
        [()] * 4,
    ]
    half = score_table({"baseline": [POOR]}, metric, np.arange(24) < 6)
    assert half.rows[0].entries[3].text == "100.00"


def test_precision_and_recall_have_tests_of_their_own():
    """Both answer the same 12 questions, but one also tries the others: it is less precise, with the same recall."""
    metric = CorpusMetric("bleu", [[line] for line in REFERENCES])
    careful = outcomes(REFERENCES, [1] * 12 + [0] * 12, [1] * 12 + [0] * 12)
    bold = outcomes(REFERENCES, [1] * 12 + [0] * 12, [1] * 24)
    table = score_table({"careful": [careful], "bold": [bold]}, metric, EVERY)
    assert [[one.text for one in row.entries[1:3]] for row in table.rows] == [["100.00", "50.00"], ["50.00", "50.00"]]
    assert [one.marks.raised for one in table.rows[0].entries[1:]] == [(2,), (), (2,), ()]


def test_scores_are_means_over_runs():
    metric = CorpusMetric("bleu", [[line] for line in REFERENCES])
    table = score_table({"rebol": [POOR, GOOD], "exec": [GOOD, GOOD]}, metric, EVERY)
    assert [one.text for one in table.rows[0].entries[1:4]] == ["75.00", "62.50", "66.67"]
    assert [one.marks.raised for one in table.rows[1].entries[1:]] == [(1,)] * 4


def test_differences():
    table = difference_table({"baseline": [POOR], "exec": [POOR], "rebol": [GOOD]}, EVERY)
    assert [[one.text for one in row.entries[:2]] for row in table.rows] == [
        ["EXEC − BASELINE", "+0.00"],
        ["REBOL − BASELINE", "+66.67"],
        ["REBOL − EXEC", "+66.67"],
    ]
    assert [row.entries[2].marks.best for row in table.rows] == [False, True, True]
    assert table.rows[0].entries[2].value == 1


def test_every_run():
    metric = CorpusMetric("bleu", [[line] for line in REFERENCES])
    table = run_table({"baseline": [POOR], "rebol": [POOR, GOOD]}, metric, [7, 8])
    assert [[one.text for one in row.entries[:3]] for row in table.rows] == [
        ["BASELINE", "–", "33.33"],
        ["REBOL", "7", "33.33"],
        ["REBOL", "8", "100.00"],
    ]
    assert table.rows[2].entries[3].text == "100.00"


def test_parsers():
    """Six of twelve parses are right, of 24 questions; the first half has a gold answer."""
    table = parser_table({"extended": GOOD.rows, "original": POOR.rows}, np.arange(24) < 12)
    assert [one.text for one in table.rows[1].entries] == ["original", "50.00", "25.00", "33.33", "50.00"]


def test_examples():
    references = ["a", "b", "c"]
    ours, theirs = outcomes(["a", "x", "y"], [1, 1, 0], [1, 1, 1]), outcomes(["a", "b", "c"], [0, 1, 1], [1, 1, 1])
    assert variants(ours, references) == [1]
    assert (wins(ours, theirs), wins(theirs, ours)) == ([0], [2])
    table = example_table({"reference": references, "REBOL": ours.texts}, [1], "Variants")
    assert markdown([table]) == (
        "## Variants\n\n| question | reference | REBOL |\n| ---: | --- | --- |\n| 2 | b | x |\n\n1 question in total.\n"
    )


def test_markdown_has_the_first_of_many_rows():
    table = example_table({"reference": REFERENCES}, range(24), "Many")
    assert len(table.rows) == 24
    assert markdown([table]).count("which states") == EXAMPLES
    assert "24 questions in total." in markdown([table])


def test_rates():
    table = eta_table({"rebol": {"scores": {0.01: 50.0, 0.001: 60.5}, "chosen": 0.001}})
    assert table.markdown().splitlines()[-1] == "| REBOL | 50.00 | **60.50** |"
