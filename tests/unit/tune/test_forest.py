"""Envelopes of forests equal those of lists where a list holds every derivation."""

import random

import numpy as np
import pytest

from engine_cases import write_model, write_shard
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lm.model import LanguageModel
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard, ShardWriter
from itersel.tune.forest import forest_envelopes, forest_surfaces
from itersel.tune.objective import Objective
from itersel.tune.surface import StepRange, list_surfaces, merge
from oracles.small_shards import WEIGHTS, random_grammar, random_sentence

ALL = DecoderConfig(pop_limit=0)
MOST = 20_000


@pytest.fixture(scope="module", params=[False, True], ids=["no model", "bigram model"])
def decoder(request, tmp_path_factory):
    """Of random sentences and grammars that are small enough to list every derivation of."""
    folder, generator = tmp_path_factory.mktemp("forest"), random.Random(7)
    writer = ShardWriter(groups=())
    for _ in range(40):
        writer.add(random_sentence(generator), ["a size and a size"], random_grammar(generator))
    writer.write(folder / "random.itsh")
    model = LanguageModel(write_model(folder / "lm.arpa", 1)) if request.param else None
    return ShardDecoder(Shard(folder / "random.itsh"), WEIGHTS, model, ALL)


def listed(decoder, sentence):
    names = decoder.shard.feature_names()
    found = decoder.kbest(sentence, MOST, unique=False)
    assert len(found) < MOST
    return [one.text for one in found], np.array([[one.features.get(name, 0.0) for name in names] for one in found])


def test_forest_envelopes_equal_list_envelopes(decoder):
    draw = np.random.default_rng(3)
    width = len(decoder.shard.feature_names())
    several = 0
    for sentence in range(len(decoder.shard)):
        texts, features = listed(decoder, sentence)
        origins, directions = draw.normal(size=(4, width)), draw.normal(size=(4, width))
        known, lines = forest_envelopes(decoder, sentence, origins, directions)
        for (begins, numbers), origin, direction in zip(lines, origins, directions, strict=True):
            several += len(begins) > 2
            assert begins[0] == -np.inf and (np.diff(begins) > 0).all()
            inner = begins[1:]
            places = [0.0] if not len(inner) else [inner[0] - 1, *((inner[1:] + inner[:-1]) / 2), inner[-1] + 1]
            for step in places:
                if len(inner) and abs(inner - step).min() < 1e-6:
                    continue
                scores = features @ (origin + step * direction)
                best = {texts[k] for k in np.flatnonzero(scores >= scores.max() - 1e-9)}
                assert known[numbers[np.searchsorted(begins, step, side="right") - 1]] in best
    assert several > 10


def test_forest_surfaces_have_the_best_step_of_list_surfaces(decoder):
    objective = Objective()
    draw = np.random.default_rng(5)
    width = len(decoder.shard.feature_names())
    origin, direction = draw.normal(size=(1, width)), draw.normal(size=(1, width))
    forests, blocks, rows = [], [], []
    for sentence in range(len(decoder.shard)):
        references = decoder.shard.references(sentence)
        texts, features = listed(decoder, sentence)
        forests += forest_surfaces(decoder, sentence, references, origin, direction, objective)
        blocks.append(features)
        rows.append(objective.statistics(texts, references))
    offsets = np.cumsum([0, *map(len, blocks)])
    features = np.ascontiguousarray(np.concatenate(blocks).T)
    (lists,) = list_surfaces(features, offsets, np.concatenate(rows), origin, direction)
    one, other = (surface.best_step(objective, StepRange()) for surface in (lists, merge(forests)))
    assert one.score == pytest.approx(other.score)
    assert one.step == pytest.approx(other.step)


def test_at_step_zero_the_best_is_the_decoders(tmp_path):
    shard = Shard(write_shard(tmp_path / "one.itsh", 8, 1))
    weights = Vector.of_names({"p": -0.5, "q": 0.3, "WordPenalty": -0.2, "LanguageModel": 0.4})
    decoder = ShardDecoder(shard, weights, LanguageModel(write_model(tmp_path / "lm.arpa", 2)))
    origin = weights.values_of(shard.feature_hashes())[None]
    direction = np.random.default_rng(1).normal(size=origin.shape)
    for sentence in range(len(shard)):
        texts, [(begins, numbers)] = forest_envelopes(decoder, sentence, origin, direction)
        assert texts[numbers[np.searchsorted(begins, 0.0, side="right") - 1]] == decoder.translate(sentence)
