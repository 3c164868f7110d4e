"""Derivations: the nodes add up to the decoder's score, yield its translation and cover its sentence."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from itersel.base.errors import InputError
from itersel.decode.derivation import BORDERS, Derivation, Node, format_tree
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lm.model import LanguageModel
from itersel.model.features import GROUPS, Weights
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard, ShardWriter
from oracles import derivations as oracle
from oracles.random_arpa import write_random_arpa
from oracles.small_shards import SOURCE, TARGET, WEIGHTS, random_grammar, random_sentence

OWN = {"WordPenalty", "LanguageModel", "LanguageModel_OOV"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    path = tmp_path_factory.mktemp("lm") / "lm.arpa"
    write_random_arpa(path, 3, TARGET, seed=5)
    return LanguageModel(path)


def random_shard(path: Path, seed: int, sentences: int = 100) -> Shard:
    generator = random.Random(seed)
    writer = ShardWriter(groups=GROUPS)
    for _ in range(sentences):
        writer.add(random_sentence(generator), ["a"], random_grammar(generator))
    writer.write(path)
    return Shard(path)


def source_of(derivation: Derivation, at: int = 0) -> list[str]:
    """The source words under a node, by filling in its source side from left to right."""
    node = derivation.nodes[at]
    below = list(node.children)
    return [
        word
        for symbol in node.source
        for word in (source_of(derivation, below.pop(0)) if symbol.startswith("[") and below else [symbol])
    ]


def check_features(node: Node, shard: Shard, sentence: int, weights: Weights) -> None:
    """A node of the grammar has the features of one of its rules, by the oracle's reading of the text form."""
    found = {name: value for name, value in node.features.items() if name not in OWN}
    own_rules = ["[S] ||| [X,1] ||| [1]", "[S] ||| [S,1] [X,2] ||| [1] [2] ||| Glue=1"]
    copies = [f"[X] ||| {word} ||| {word} ||| PassThrough=1" for word in SOURCE]
    lines = [*shard.grammar(sentence).decode().splitlines(), *own_rules, *copies]
    expected = []
    for rule in map(oracle.parse_rule, lines):
        sides = [
            [s if isinstance(s, str) else f"[{s.label},{s.index}]" for s in side] for side in (rule.source, rule.target)
        ]
        if (rule.lhs, *map(tuple, sides)) == (node.label, node.source, node.target):
            both = Counter(rule.features) + oracle.template_features(rule, frozenset(GROUPS))
            expected.append({name: pytest.approx(value) for name, value in both.items() if value})
    assert any(found == one for one in expected), node
    words = [word for word in node.target if not (word.startswith("[") and node.children)]
    assert node.features.get("WordPenalty", 0.0) == pytest.approx(oracle.WORD_PENALTY * len(words))


@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("unique", [False, True])
def test_nodes_add_up_to_the_translation(tmp_path, model, with_model, unique):
    shard = random_shard(tmp_path / "shard", seed=1 + unique)
    generator = random.Random(9)
    weights = Weights(dict(WEIGHTS) | {name: generator.uniform(-0.2, 0.2) for name in shard.feature_names()[::3]})
    decoder = ShardDecoder(shard, weights, model if with_model else None)
    seen = 0
    for sentence in range(len(shard)):
        for rank, best in enumerate(decoder.kbest(sentence, 6, unique=unique)):
            found = decoder.derivation(sentence, rank, unique=unique)
            assert (found.text, found.score) == (best.text, best.score)
            if not shard.source(sentence):
                assert found.nodes == ()
                continue
            seen += 1
            assert sum(node.score(weights) for node in found.nodes) == pytest.approx(best.score, abs=1e-5)
            summed: Counter[str] = Counter()
            for node in found.nodes:
                summed.update(node.features)
                assert sum(node.contributions(weights).values()) == pytest.approx(node.score(weights))
            assert {k: v for k, v in summed.items() if v} == pytest.approx(best.features, abs=1e-5)
            root = found.nodes[0]
            assert root.label == BORDERS and root.span == (0, len(shard.source(sentence).split()))
            assert " ".join(root.words) == best.text
            assert " ".join(source_of(found)) == shard.source(sentence)
            for at, node in enumerate(found.nodes):
                assert shard.source(sentence).split()[slice(*node.span)] == source_of(found, at)
            for node in found.nodes[1:]:
                check_features(node, shard, sentence, weights)
            if with_model:
                # The model may know the words of one node only with those of another: the sum is the sentence's score.
                assert summed["LanguageModel"] == pytest.approx(model.score(best.text), abs=1e-4)
    assert seen > 120


def test_weights_by_id_give_the_same(tmp_path, model):
    shard = random_shard(tmp_path / "shard", seed=4, sentences=5)
    named, by_id = (ShardDecoder(shard, one, model) for one in (WEIGHTS, Vector.of_names(dict(WEIGHTS))))
    for sentence in range(5):
        assert named.derivation(sentence) == by_id.derivation(sentence)


def test_a_copied_word_may_look_like_a_non_terminal(tmp_path):
    writer = ShardWriter()
    writer.add("[X,1] b", ["a"], b"[X] ||| b ||| c ||| f=1")
    writer.write(tmp_path / "shard")
    found = ShardDecoder(Shard(tmp_path / "shard"), WEIGHTS).derivation(0)
    assert found.nodes[0].words == ("[X,1]", "c") == tuple(found.text.split())
    assert found.nodes[0].span == (0, 2)


def test_rank_beyond_the_list(tmp_path):
    writer = ShardWriter()
    writer.add("b", ["a"], b"[X] ||| b ||| c ||| f=1")
    writer.write(tmp_path / "shard")
    decoder = ShardDecoder(Shard(tmp_path / "shard"), WEIGHTS)
    with pytest.raises(InputError, match="1 translations") as error:
        decoder.derivation(0, 1)
    assert error.value.where == str(tmp_path / "shard")


def test_tree_for_a_terminal():
    raw = [
        ("", [("LanguageModel", -1.0)], [1]),
        ("[S] ||| [X,1] ||| [X,1] |||", [], [2]),
        ("[X] ||| a [X,1] [X,2] ||| [X,2] A [X,1] ||| f=2", [("f", 2.0), ("f", 1.0), ("g", 1.0)], [3, 4]),
        ("[X] ||| b ||| B |||", [("g", 1.0)], []),
        ("[X] ||| c ||| C D |||", [("h", 5.0)], []),
    ]
    weights = {"f": 0.5, "g": -0.25, "LanguageModel": 2.0}
    found = Derivation.of("C D A B", -1.0, raw)
    assert [node.span for node in found.nodes] == [(0, 3), (0, 3), (0, 3), (1, 2), (2, 3)]
    assert np.isclose(sum(node.score(weights) for node in found.nodes), -2 + 1.5 - 0.25 - 0.25)
    assert format_tree(found, weights, 1).splitlines() == [
        "0–3 sentence → [S,1] ‖ [S,1]  -2.0000  [-1.0000]  C D A B",
        "│   -2.0000 = -1 · 2 LanguageModel",
        "└ 0–3 S → [X,1] ‖ [X,1]  +0.0000  [1.0000]  C D A B",
        "  └ 0–3 X → a [X,1] [X,2] ‖ [X,2] A [X,1]  +1.2500  [1.0000]  C D A B",
        "    │   +1.5000 = 3 · 0.5 f",
        "    │   -0.2500 in 1 more features",
        "    ├ 1–2 X → b ‖ B  -0.2500  [-0.2500]  B",
        "    │     -0.2500 = 1 · -0.25 g",
        "    └ 2–3 X → c ‖ C D  +0.0000  [0.0000]  C D",
    ]
    assert format_tree(Derivation.of("", 0.0, []), weights) == "(an empty sentence)"
