"""Progress lines and the estimate of the time left, with a clock that the test moves."""

from __future__ import annotations

import io

import pytest

from itersel.base.progress import LOG_INTERVAL, Progress, duration, track


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_line_has_count_speed_and_time_left(clock):
    stream = io.StringIO()
    with Progress("shard.train", 2000, stream=stream, clock=clock) as progress:
        clock.now += LOG_INTERVAL / 2
        progress.advance(100)
        assert stream.getvalue() == "", "too early for a log"
        clock.now += LOG_INTERVAL / 2 + 20
        progress.advance(400, note="3 shards")
        clock.now += 100
        progress.update(1500)
        clock.now += 50
        progress.update(2000)
    assert stream.getvalue().splitlines() == [
        "shard.train: 500 of 2,000 sentences, 10.0/s, 2 min left, 3 shards",  # 1,500 more at 10 a second
        "shard.train: 1,500 of 2,000 sentences, 10.0/s, 50 s left, 3 shards",
        "shard.train: 2,000 of 2,000 sentences, 10.0/s, 0 s left, 3 shards",
        "shard.train: 2,000 of 2,000 sentences, 10.0/s, 3 shards",
    ]


def test_what_was_there_before_says_nothing_about_the_speed(clock):
    progress = Progress("shard", 1000, stream=io.StringIO(), clock=clock)
    progress.skip(800)
    assert progress.seconds_left() is None, "nothing was finished in this run"
    clock.now += 10
    progress.advance(50)
    assert progress.seconds_left() == 150 * 10 / 50
    progress.skip(100)
    assert progress.seconds_left() == 50 * 10 / 50


@pytest.mark.parametrize(("total", "done"), [(None, 5), (10, 0)])
def test_no_estimate_without_a_total_or_a_finished_item(clock, total, done):
    stream = io.StringIO()
    progress = Progress("lm", total, stream=stream, clock=clock)
    clock.now += LOG_INTERVAL
    progress.update(done)
    assert progress.seconds_left() is None
    assert "left" not in stream.getvalue() != ""


def test_more_items_than_were_announced(clock):
    progress = Progress("lm", 10, stream=io.StringIO(), clock=clock)
    clock.now += 3
    progress.update(12)
    assert progress.seconds_left() == 0


def test_track_passes_the_items_on():
    assert list(track(iter("abc"), "letters", 3)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("seconds", "short", "exact"),
    [
        (0.2, "0 s", "0.2 s"),
        (89, "89 s", "89.0 s"),
        (90, "2 min", "1.5 min"),
        (7300, "122 min", "121.7 min"),
        (5 * 3600, "5 h", "5.0 h"),
    ],
)
def test_durations(seconds, short, exact):
    assert (duration(seconds, digits=0), duration(seconds)) == (short, exact)
