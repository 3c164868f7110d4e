"""What every engine must do, whatever it is: the contract of `Engine.run`, as functions that its tests call.

Each check gets a factory that opens the engine in a folder, and an empty folder to work in:

    @pytest.mark.parametrize("check", CHECKS)
    def test_contract(check, tmp_path):
        check(lambda folder: MyEngine(RunConfig("mine"), folder), tmp_path)
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import pytest

from engine_cases import write_model, write_shard
from itersel.algorithms.epoch_job import FOLD, MODEL, START, EpochJob, collect
from itersel.base.errors import InputError, ResourceError, UserError
from itersel.engines.base import Engine
from itersel.engines.config import RunConfig
from itersel.engines.local import LocalEngine
from itersel.learn.epoch import EpochConfig
from itersel.learn.learner import LearnConfig
from itersel.learn.mixing import SelectionConfig
from itersel.lists.source import open_source
from itersel.mapreduce import source_code
from itersel.mapreduce.job import DRIVER, REDUCED, Job, Record
from itersel.mapreduce.shard_item import Part, shard_item
from itersel.mapreduce.side import SideFile
from itersel.mapreduce.work_item import ItemFile, WorkItem
from itersel.model.vectors import Vector
from toy_job import PREFIX, SUFFIX, Marks, ToyJob

Factory = Callable[[Path], Engine]
TEXTS = ("das haus", "", "ist das ein kleines haus", "ein hund ist ein hund")


def run_job(
    factory: Factory, folder: Path, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]
) -> list[Record]:
    """The records of a job on an engine of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(factory(folder)) as engine:
        return run_on(engine, job, items, side)


def run_on(engine: Engine, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> list[Record]:
    """The records of a job, as plain bytes; what the engine tells must be possible."""
    total = sum(item.size for item in items)

    def tell(done: float, counts: Mapping[str, float]) -> None:
        assert 0 <= done <= total
        assert set(counts) <= set(job.counts)

    with source_code.with_code(job, side) as files:
        records = list(engine.run(job, items, files, tell))
    assert all(isinstance(record, Record) for record in records)
    return [record._replace(value=bytes(record.value)) for record in records]


def run_inline(folder: Path, job: Job, items: Sequence[WorkItem], side: Mapping[str, SideFile]) -> list[Record]:
    return run_job(lambda place: LocalEngine(RunConfig("inline"), place), folder, job, items, side)


def toy_data(folder: Path) -> tuple[list[WorkItem], dict[str, SideFile]]:
    """Items with files and, some of them, with state; a side file of the run and one of the job."""
    items = []
    for number, text in enumerate(TEXTS):
        path, state = folder / f"{number}.txt", folder / f"{number}.state"
        path.write_text(text)
        state.write_bytes(bytes([number, 0, 255, 10, 9]))
        file = ItemFile(str(path), hashlib.sha256(text.encode()).hexdigest()[:16])
        size = max(len(text.split()), 1)
        items.append(
            WorkItem(number, f"item {number} ({path})", size, (file,), state=str(state) if number % 2 else None)
        )
    (folder / PREFIX).write_text("p.")
    (folder / SUFFIX).write_text("\t.s\n")
    side = {
        PREFIX: SideFile(str(folder / PREFIX), lasting=True),
        SUFFIX: SideFile(str(folder / SUFFIX)),
    }
    return items, side


def check_map_and_reduce(factory: Factory, folder: Path) -> None:
    """Several ranges, side files, state, any bytes; the same records in the same order as inline."""
    items, side = toy_data(folder)
    job = ToyJob(partitions=3, marks=Marks(left="«"), repeat=2)
    expected = run_inline(folder / "inline", job, items, side)
    assert [record.item for record in expected] == [*(k // 3 for k in range(12)), *[REDUCED] * 6]
    assert [record.key for record in expected] == [*[DRIVER] * 12, 0, 0, 1, 1, 2, 2]
    assert run_job(factory, folder / "engine", job, items, side) == expected


def check_map_only(factory: Factory, folder: Path) -> None:
    """No ranges: there is nothing to reduce. One engine runs two jobs, with another side file of the same name."""
    items, side = toy_data(folder)
    (folder / "other").mkdir()
    (folder / "other" / SUFFIX).write_text("other")
    (folder / "engine").mkdir()
    with contextlib.closing(factory(folder / "engine")) as engine:
        for suffix in (side[SUFFIX], SideFile(str(folder / "other" / SUFFIX))):
            files = side | {SUFFIX: suffix}
            job = ToyJob(partitions=0)
            expected = run_inline(folder / "inline", job, items[:2], files)
            assert len(expected) == 6 and expected[2].value == Path(suffix.path).read_bytes()
            assert run_on(engine, job, items[:2], files) == expected


def check_failure(factory: Factory, folder: Path) -> None:
    """A UserError of one item: its kind, its words and its item's name reach the driver, and no traceback."""
    items, side = toy_data(folder)
    items[2] = replace(items[2], values={"fail": "the words are wrong"})
    with pytest.raises(InputError) as caught:
        run_job(factory, folder / "engine", ToyJob(partitions=2), items, side)
    text = str(caught.value)
    assert text.startswith(f"{items[2].name}: ")
    assert "the words are wrong" in text.splitlines()[0]
    assert "Give a better one." in text
    assert "Traceback" not in text


def check_doubled_item(factory: Factory, folder: Path) -> None:
    """An item that comes twice, so that another one is missing, is noticed."""
    items, side = toy_data(folder)
    with pytest.raises(ResourceError, match=r"records for .* are not complete"):
        run_job(factory, folder / "engine", ToyJob(partitions=1), [items[0], items[0]], side)


def check_epoch(factory: Factory, folder: Path) -> None:
    """The second epoch of shards that carry state, with language models by fold: the columns and states of inline."""
    sizes = (7, 18, 5)
    items = []
    for number, size in enumerate(sizes):
        source = open_source(write_shard(folder / f"{number}.itsh", size, number))
        file = ItemFile(source.path, source.checksum)
        parts = [Part(file, tuple(k for k in range(size) if k % 2 == fold), fold) for fold in (0, 1)]
        items.append(shard_item(number, parts, size))
    Vector.of_names({"p": -0.01, "elsewhere": 0.5}).write(folder / "start.vec")
    models = {MODEL: write_model(folder / "lm.arpa", 100)}
    models |= {f"{FOLD}.{fold}": write_model(folder / f"lm.{fold}.arpa", fold) for fold in (0, 1)}
    side = {name: SideFile(path, lasting=True) for name, path in models.items()}
    job = EpochJob(
        partitions=2,
        epoch=EpochConfig(k=20, learn=LearnConfig(eta=0.01)),
        carry=True,
        selection=SelectionConfig(top=15),
    )
    start = {START: SideFile(str(folder / "start.vec"))}
    first = collect(run_inline(folder / "first", job, items, side | start), job.selection)
    for number, state in enumerate(first.states):
        (folder / f"{number}.state").write_bytes(state)
    carried = [replace(item, state=str(folder / f"{item.number}.state")) for item in items]
    second = replace(job, number=1)
    expected = run_inline(folder / "inline", second, carried, side)
    found = run_job(factory, folder / "engine", second, carried, side)
    assert untimed(found) == untimed(expected)
    assert len(expected) == len(sizes) + 2 * 2


def untimed(records: Sequence[Record]) -> list[Any]:
    """Records of an epoch without the time that it took."""
    made: list[Any] = []
    for record in records:
        if record.key == DRIVER:
            fields = msgpack.unpackb(record.value)
            assert set(fields["statistics"].pop("seconds"))
            made.append((record.item, fields))
        else:
            made.append(record)
    return made


def check_missing_file(factory: Factory, folder: Path) -> None:
    """A side file that is not there is an error that names it, and not a success or a hanging job."""
    items, side = toy_data(folder)
    side[SUFFIX] = SideFile(str(folder / "absent"))
    with pytest.raises((UserError, OSError), match="absent"):
        run_job(factory, folder / "engine", ToyJob(partitions=1), items, side)


CHECKS = (check_map_and_reduce, check_map_only, check_failure, check_doubled_item, check_epoch, check_missing_file)
"""All of them, for `pytest.mark.parametrize`; an engine that takes long to start a job may choose."""
