"""Guard rails as a user meets them: from the command line, each with words of its own, and no failure is a success."""

from dataclasses import replace

import pytest

from engine_cases import small_data
from itersel.algorithms.registry import algorithm_class
from itersel.base.errors import InputError
from itersel.cli import main
from itersel.model.features import Weights

RIGHT, OTHER = "a b c d e f g h", "a b c d e f x y"
LONG = RIGHT + " i j k l"


def reranked(folder, capsys, algorithm, lists, *options, references=RIGHT, start=None):
    """The exit status, what was said, and the folder of a run on lists of `text ||| features`."""
    with open(folder / "lists", "w") as stream:
        for number, one in enumerate(lists):
            stream.writelines(f"{number} ||| {hypothesis} ||| 0\n" for hypothesis in one)
    several = [references] * len(lists) if isinstance(references, str) else references
    (folder / "references").write_text("".join(f"{line}\n" for line in several))
    command = ["rerank", "train", "--algorithm", algorithm, "--lists", str(folder / "lists")]
    command += ["--references", str(folder / "references"), "--output", str(folder / "run"), "--epochs", "2"]
    if start is not None:
        Weights(start).write(folder / "start")
        command += ["--start", str(folder / "start")]
    return main([*command, *options]), capsys.readouterr().err, folder / "run"


@pytest.mark.parametrize(
    ("algorithm", "options", "hypotheses", "references", "words"),
    [
        ("mert", [], ["a b ||| f=1", "a ||| f=2"], RIGHT, "all weights became 0"),  # BLEU is 0 everywhere
        ("mira", ["mira.c=1e16"], [f"{RIGHT} ||| f=1e-9", f"{OTHER} ||| f=-1e-9"], RIGHT, "the weight of f exploded"),
        (
            "mert",
            [],
            [f"{RIGHT} ||| f=1", f"{OTHER} ||| f=1"],
            RIGHT,
            "no dense feature differs between the hypotheses",
        ),
        ("pro", [], [f"{RIGHT} ||| f=1", f"{RIGHT} ||| f=2"], RIGHT, "no pair of hypotheses differs enough"),
        (
            "mira",
            [],
            [f"{RIGHT} ||| f=1", f"{RIGHT} ||| f=2"],
            RIGHT,
            "no list has a hypothesis that is better by BLEU",
        ),
        ("mert", [], ["a b c d x ||| f=1", "a b c d e ||| f=2"], LONG, "output has 0.42 times the references' length"),
        ("mira", [], ["a b c d x ||| f=1", "a b c d e ||| f=2"], LONG, "output has 0.42 times the references' length"),
        (
            "pro",
            [],
            [f"{LONG} {LONG} ||| f=1", f"{LONG} {RIGHT} ||| f=2"],
            RIGHT,
            "output has 2.50 times the references'",
        ),
    ],
)
def test_no_success(tmp_path, capsys, algorithm, options, hypotheses, references, words):
    """Eight equal lists."""
    options = [word for option in options for word in ("--set", option)]
    status, said, run = reranked(tmp_path, capsys, algorithm, [hypotheses] * 8, *options, references=references)
    assert status == 2 and words in said and "Traceback" not in said
    assert not (run / "weights.txt.gz").exists(), "nothing that looks like a result"


def test_a_score_that_fell(tmp_path, capsys):
    """Seven short sentences outvote a long one, which is nearly all of the corpus: BLEU falls, by PRO's choice."""
    long = " ".join(f"w{k}" for k in range(200))
    lists = [[f"{long} ||| f=1", f"{long.replace('w1', 'x1')} ||| f=-1"]]
    lists += [[f"{OTHER} ||| f=1", f"{RIGHT} ||| f=-1"]] * 7
    options = ["--set", "pro.interpolation=1"]
    references = [long, *[RIGHT] * 7]
    status, said, run = reranked(tmp_path, capsys, "pro", lists, *options, references=references, start={"f": 1.0})
    assert status == 2 and "the tuning score fell from" in said
    assert "no round reached the tuning score of the start weights" in said and "Keep the start weights" in said
    assert not (run / "weights.txt.gz").exists()


@pytest.mark.parametrize("merge", [False, True])
def test_lists_that_are_missing(tmp_path, capsys, merge):
    """A part of the sentences may be meant, so it is a warning; a decoder that stopped early is noticed, too."""
    lists = [[f"{RIGHT} ||| f=1", f"{OTHER} ||| f=2"] if number in (0, 1, 3) else [] for number in range(8)]
    references = [*[RIGHT] * 6, "", RIGHT]
    status, said, _ = reranked(tmp_path, capsys, "mert", lists, *["--merge"] * merge, references=references)
    assert status == 0 and f"4 of the references have no list (the first: {tmp_path}/references:3)" in said
    (tmp_path / "other").mkdir()
    _, said, _ = reranked(tmp_path / "other", capsys, "mert", lists[:2], *["--merge"] * merge)
    assert "have no list" not in said


@pytest.mark.parametrize("algorithm", ["mert", "avg_mert", "multitask_mert"])
def test_every_kind_of_mert_is_checked_at_its_end(tmp_path, algorithm):
    """Of several domains, entries have the means, and each domain's length; those of earlier runs do not."""
    kind = algorithm_class(algorithm)
    tuner = kind(replace(small_data(tmp_path), algorithm=algorithm, own=kind.config_class()))
    entry = {"epoch": 2, "tune_score": 20.0, "start_score": 19.0, "length_ratio": 1.0}
    tuner.conclude([entry], entry)
    assert not tuner.remarks([entry], entry)
    lower = entry | {"epoch": 1, "tune_score": 18.5}
    tuner.conclude([lower, entry], lower)
    assert tuner.remarks([lower, entry], lower) == [
        "devtest chose epoch 1, whose tuning score, 18.50, is below the start's, 19.00"
    ]
    for change, words in (({"start_score": 21.0}, "no round reached"), ({"length_ratio": 2.1}, "has 2.10 times")):
        with pytest.raises(InputError, match=words):
            tuner.conclude([entry], entry | change)
    if algorithm != "mert":
        tuner.conclude([entry], entry | {"length_ratios": {"news": 0.5, "talk": 2.0}})
        for ratio in (0.49, 2.01):
            with pytest.raises(InputError, match=f"the output of talk has {ratio} times the references' length"):
                tuner.conclude([entry], entry | {"length_ratios": {"news": 1.0, "talk": ratio}})
