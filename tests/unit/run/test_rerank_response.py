"""A reranker that learns from a program's feedback, against the twin with dictionaries."""

import random

import pytest
from response_cases import toy_response

from itersel.algorithms.response import ExecConfig, RampionConfig, RebolConfig
from itersel.engines import RunConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import SelectionConfig
from itersel.lists.compiler import ObjectiveConfig
from itersel.model.features import Weights
from itersel.run.layout import LayoutConfig
from itersel.run.rerank import train_reranker
from itersel.run.rerank_config import RerankConfig
from oracles.hope_fear import learn
from oracles.mix import mix

WORDS = ("the", "house", "home", "dog", "hound", "sees")
EPOCHS, ETA = 6, 0.125
INLINE = RunConfig("inline")


def judge(_, text):
    return not {"house", "dog"} & set(text.split())


def make_lists(folder):
    """Lists for four shards, as they are written to the folder's files."""
    draw, lists = random.Random(3), []
    with open(folder / "lists", "w") as stream:
        for number in range(24):
            texts = sorted({" ".join(draw.choices(WORDS, k=4)) for _ in range(9)})
            features = [{f"f{k}": draw.randint(-8, 8) / 4 for k in range(5)} for _ in texts]
            lists.append((str(number), texts, features, [" ".join(draw.choices(WORDS, k=4))]))
            for text, vector in zip(texts, features, strict=True):
                shown = " ".join(f"{feature}={value}" for feature, value in vector.items())
                stream.write(f"{number} ||| {text} ||| {shown} ||| 0\n")
    (folder / "references").write_text("".join(f"{one[3][0]}\n" for one in lists))
    return lists


def trained(folder, name, own, run=INLINE, **options):
    config = RerankConfig(
        lists=(str(folder / "lists"),),
        references=(str(folder / "references"),),
        objective=ObjectiveConfig(metric="stupid_bleu"),
        algorithm=name,
        own=own,
        epochs=EPOCHS,
        learn=LearnConfig(eta=ETA),
        response=toy_response() if own.rule().feedback else None,
        run=run,
        own_score=False,
        held_out=0,
        **options,
    )
    return dict(Weights.read(train_reranker(config, folder / run.runner, warn=lambda text: None)))


@pytest.mark.parametrize(
    ("name", "own"), [("rebol", RebolConfig(scale=1)), ("exec", ExecConfig()), ("rampion", RampionConfig(scale=1))]
)
def test_it_equals_the_twin(tmp_path, name, own):
    lists, rule = make_lists(tmp_path), own.rule()
    found = trained(tmp_path, name, own, layout=LayoutConfig("sequential", shards=1))
    options = {"cost": rule.cost, "feedback": rule.feedback, "scale": rule.scale, "keep": rule.references}
    expected, _, _ = learn(lists, {}, ETA, **options, judge=judge, epochs=EPOCHS)
    assert found == {key: value for key, value in expected.items() if value}


def mixed(lists, top, remember):
    """The twin on four shards (so means are exact), mixed after each epoch; `remember`: won references last."""
    weights, won = {}, [{}, {}, {}, {}]
    options = {"cost": True, "feedback": True, "scale": 1, "judge": judge}
    for _ in range(EPOCHS):
        before = won if remember else [{}, {}, {}, {}]
        shards = [learn(lists[6 * k : 6 * k + 6], weights, ETA, references=before[k], **options)[0] for k in range(4)]
        weights = mix(shards, top=top)
    return {key: value for key, value in weights.items() if value}


@pytest.mark.parametrize("top", [None, 3])
def test_several_shards_equal_the_twin(tmp_path, top):
    """Shards start from the mean of their weights, or of its best columns; each keeps the references that it won."""
    lists, own = make_lists(tmp_path), RebolConfig(scale=1, select=top is not None)
    layout = LayoutConfig("sequential", shards=4)
    found = trained(tmp_path, "rebol", own, layout=layout, selection=SelectionConfig(top=top))
    assert found == pytest.approx(mixed(lists, top, remember=True), rel=1e-12)
    assert found != pytest.approx(mixed(lists, top, remember=False), rel=1e-3)
    assert len(found) == (top or 5)


@pytest.mark.parametrize(
    "engine", [RunConfig("local", jobs=2, reducers=2), RunConfig("mrjob-local", reducers=3)], ids=str
)
def test_the_program_travels_to_the_workers_of_an_engine(tmp_path, engine):
    make_lists(tmp_path)
    for run in (INLINE, engine):
        trained(tmp_path, "rebol", RebolConfig(scale=1), run, layout=LayoutConfig("sequential", shards=4))
    weights = [(tmp_path / run.runner / "weights.vec").read_bytes() for run in (INLINE, engine)]
    assert weights[0] == weights[1]
