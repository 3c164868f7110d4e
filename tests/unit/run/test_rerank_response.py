"""A reranker that learns from a program's feedback, against the twin with dictionaries."""

import random

import pytest
from response_cases import toy_response

from itersel.algorithms.response import ExecConfig, RebolConfig
from itersel.engines import RunConfig
from itersel.learn.learner import LearnConfig
from itersel.lists.compiler import ObjectiveConfig
from itersel.model.features import Weights
from itersel.run.layout import LayoutConfig
from itersel.run.rerank import train_reranker
from itersel.run.rerank_config import RerankConfig
from oracles.hope_fear import learn

WORDS = ("the", "house", "home", "dog", "hound", "sees")


@pytest.mark.parametrize(("name", "own"), [("rebol", RebolConfig(scale=1)), ("exec", ExecConfig())])
def test_it_equals_the_twin(tmp_path, name, own):
    draw, lists = random.Random(3), []
    with open(tmp_path / "lists", "w") as stream:
        for number in range(12):
            texts = sorted({" ".join(draw.choices(WORDS, k=4)) for _ in range(9)})
            features = [{f"f{k}": draw.randint(-8, 8) / 4 for k in range(5)} for _ in texts]
            lists.append((str(number), texts, features, [" ".join(draw.choices(WORDS, k=4))]))
            for text, vector in zip(texts, features, strict=True):
                shown = " ".join(f"{feature}={value}" for feature, value in vector.items())
                stream.write(f"{number} ||| {text} ||| {shown} ||| 0\n")
    (tmp_path / "references").write_text("".join(f"{one[3][0]}\n" for one in lists))
    config = RerankConfig(
        lists=(str(tmp_path / "lists"),),
        references=(str(tmp_path / "references"),),
        layout=LayoutConfig("sequential", shards=1),
        objective=ObjectiveConfig(metric="stupid_bleu"),
        algorithm=name,
        own=own,
        epochs=2,
        learn=LearnConfig(eta=0.125),
        response=toy_response(),
        run=RunConfig("inline"),
        own_score=False,
        held_out=0,
    )
    found = dict(Weights.read(train_reranker(config, tmp_path / "run", warn=lambda text: None)))
    rule = own.rule()
    expected, _, _ = learn(
        lists,
        {},
        0.125,
        cost=rule.cost,
        feedback=True,
        scale=rule.scale,
        judge=lambda _, text: not {"house", "dog"} & set(text.split()),
        epochs=2,
    )
    assert found == {key: value for key, value in expected.items() if value}
