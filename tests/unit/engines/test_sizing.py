"""The cost model: its schedule against a simulation in small steps, its sums against plain arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itersel.base.errors import ConfigError
from itersel.engines.sizing import COLUMN_SECONDS, REDUCE_SECONDS, Measured, Slots, epoch_cost, makespan
from itersel.learn.epoch import EpochConfig
from itersel.run.estimate import measure
from itersel.shards.shard import Shard, ShardWriter


def simulate(seconds: list[int], slots: int) -> int:
    """Time step by time step: every free slot takes the largest task that is left."""
    waiting, running, clock = sorted(seconds), list[int](), 0
    while waiting or running:
        while waiting and len(running) < slots:
            running.append(waiting.pop())
        step = min(running)
        clock += step
        running = [left - step for left in running if left > step]
    return clock


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(1, 8))
def test_makespan(seconds, slots):
    found = makespan(seconds, slots)
    assert found == simulate(seconds, slots)
    least = max(max(seconds), sum(seconds) / slots)
    assert least <= found <= least * 4 / 3 + max(seconds)


def test_an_epoch_is_the_sum_of_its_parts():
    measured = Measured(sentence_seconds=0.5, entries=10, load_seconds=2)
    slots = Slots(2, task_seconds=1, job_seconds=30, speed=0.5)
    cost = epoch_cost([4, 6, 2], measured, slots, reducers=2, start_weights=100, kept=5)
    # Tasks of 3 + 2, 3 + 3 and 3 + 1 seconds at half speed: 12 on one slot, 10 + 8 on the other.
    assert cost.map == 18
    entries = 3 * 100 + 12 * 10
    assert cost.reduce == pytest.approx((1 + entries / 2 * REDUCE_SECONDS) / 0.5)
    assert cost.driver == pytest.approx(2 * 5 * COLUMN_SECONDS)
    assert cost.total == pytest.approx(cost.map + cost.reduce + 30 + cost.driver)
    everything = epoch_cost([4, 6, 2], measured, slots, reducers=2, start_weights=100)
    assert everything.driver == pytest.approx(entries * COLUMN_SECONDS)


def test_slots_are_checked():
    with pytest.raises(ConfigError, match="0 slots"):
        Slots(0)


def test_measure_looks_at_some_sentences(tmp_path, monkeypatch):
    writer = ShardWriter(groups=("id",))
    for number in range(30):
        rule = f"[X] ||| s{number} ||| t{number} ||| p=1\n[X] ||| s{number} ||| u{number} ||| p=2\n"
        writer.add(f"s{number}", [f"u{number}"], rule.encode())
    writer.write(tmp_path / "shard")
    found = measure(Shard(tmp_path / "shard"), None, EpochConfig(k=5), sentences=10)
    assert found.sentence_seconds > 0
    assert 0 < found.entries <= 3  # two rules and p, which is one for all
    clock = iter([1.0, 3.0, 8.0])
    monkeypatch.setattr("itersel.run.estimate.time.process_time", lambda: next(clock))
    folds = measure(Shard(tmp_path / "shard"), None, EpochConfig(k=5), sentences=10, models=7)
    assert (folds.load_seconds, folds.sentence_seconds) == (7 * 2, 0.5)
