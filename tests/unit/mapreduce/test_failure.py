"""The words of a failing task are taken by their reader before the task ends."""

import os
import threading
import time

import pytest

from itersel.mapreduce.failure import wait_until_read


def test_waits_for_a_slow_reader():
    reading, writing = os.pipe()
    taken = []

    def read() -> None:
        time.sleep(0.3)
        taken.append(os.read(reading, 100))

    reader = threading.Thread(target=read)
    reader.start()
    os.write(writing, b"words")
    wait_until_read(writing)
    assert taken == [b"words"]
    reader.join()
    os.close(reading)
    os.close(writing)


def test_does_not_wait_for_ever():
    reading, writing = os.pipe()
    os.write(writing, b"words")
    wait_until_read(writing, 0.05)
    assert os.read(reading, 100) == b"words", "nobody had read them"
    os.close(reading)
    os.close(writing)


def test_nobody_is_waited_for_who_is_gone():
    reading, writing = os.pipe()
    os.write(writing, b"words")
    os.close(reading)
    begun = time.monotonic()
    wait_until_read(writing, 3600)
    assert time.monotonic() - begun < 1800
    os.close(writing)


def test_a_file_and_a_closed_descriptor_need_no_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("waited"))
    with open(tmp_path / "log", "wb", buffering=0) as stream:
        stream.write(b"words")
        wait_until_read(stream.fileno())
    wait_until_read(10**6)
