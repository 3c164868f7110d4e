"""dtrain's toy example: the same weights and statistics after each epoch as it printed, exactly.

What dtrain does there: batch updates, all pairs, BLEU without smoothing, lists of 4 unique strings, all words may be
copied (cdec's add_pass_through_rules), and no WordPenalty: the example's cdec.ini asks for no feature function. All
translations here have five words, so WordPenalty cancels out of every pair anyway; `leave_out` makes that certain.
At weights 0 all derivations tie, and the first list is cut among equals. dtrain's lists are not known, but every figure
it printed comes out, so our order of ties agrees with cdec's as far as they show.
"""

import gzip
import re

import pytest

from itersel.decode.decoder import DecoderConfig
from itersel.learn.epoch import EpochConfig, run_epoch
from itersel.learn.learner import LearnConfig
from itersel.learn.pairs import PairConfig
from itersel.shards.shard import Shard, ShardWriter

DTRAIN = EpochConfig(
    decoder=DecoderConfig(pop_limit=0),
    k=4,
    metric="bleu",
    learn=LearnConfig("perceptron", eta=1.0, batch=True, pairs=PairConfig(kind="all", dtrain=True)),
    leave_out=("WordPenalty",),
)
STATISTICS = {
    "1best avg score": "best_metric",
    "1best avg model score": "best_score",
    "avg # pairs": "pairs",
    "avg # rank err": "rank_errors",
    "avg # margin viol": "margin_violations",
    "avg list sz": "hypotheses",
}


@pytest.fixture
def texts(shared_data):
    folder = shared_data / "cdec-toy"
    return {path.stem: gzip.decompress(path.read_bytes()) for path in folder.glob("*.gz")}


@pytest.fixture
def shard(texts, tmp_path):
    writer = ShardWriter(pass_through="all")
    for source, target in zip(texts["src"].decode().splitlines(), texts["tgt"].decode().splitlines(), strict=True):
        writer.add(source, [target], texts["grammar"])
    writer.write(tmp_path / "shard")
    return Shard(tmp_path / "shard")


def test_weights_and_statistics_are_those_of_dtrain(texts, shard):
    expected = texts["expected.txt"].decode()
    blocks = re.split(r"Iteration #\d of 2\.\n", expected)[1:]
    final = {name: float(x) for name, x in re.findall(r"^(\w+)\t(\S+)$", expected, re.MULTILINE)}
    assert final["Glue"] == -4
    weights = None
    for number, block in enumerate(blocks):
        result = run_epoch(shard, weights, None, DTRAIN, number=number)
        weights = result.weights
        found = dict(zip(result.names, weights.values.tolist(), strict=True))
        assert found == final
        printed = {name: float(x) for name, x in re.findall(r"^ +(\w+) = (\S+)$", block, re.MULTILINE)}
        assert printed == {name: found.get(name, 0.0) for name in printed}
        for label, key in STATISTICS.items():
            average = float(re.search(rf"{re.escape(label)}: (\S+)", block)[1])
            assert result.statistics[key] / 2 == average, label
        assert result.statistics["nonzero"] == int(re.search(r"non0 feature count: (\d+)", block)[1])
