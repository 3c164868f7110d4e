"""What a worker does with a job: map one item, reduce one range; and what the driver makes of all records.

Every mapper ends its records for the driver, and those for each range, with a mark, so a lost or doubled work item is
noticed by whoever reads them; so is a lost or doubled range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from itersel.base.errors import InputError, ResourceError, UserError
from itersel.mapreduce.job import DRIVER, END, REDUCED, Job, Record, Tell
from itersel.mapreduce.side import Side
from itersel.mapreduce.work_item import WorkItem

HINT = "Look for failed tasks in the engine's log, and run the same command again."


def silent(done: float, counts: object) -> None:
    """Tells nobody."""
    del done, counts


def map_item(job: Job, item: WorkItem, side: Side, tell: Tell = silent) -> Iterator[Record]:
    """The item's records, ended by a mark for the driver and for each range. Errors name the item."""
    try:
        for sequence, (key, value) in enumerate(job.map(item, side, tell)):
            assert key == DRIVER or 0 <= key < job.partitions, f"key {key} of {job.partitions} partitions"
            yield Record(key, item.number, sequence, value)
    except UserError as error:
        raise of_item(error, item.name) from None
    for key in (DRIVER, *range(job.partitions)):
        yield Record(key, item.number, END, b"")


def of_item(error: UserError, name: str) -> UserError:
    """The same error, which says at which item it happened."""
    known = error.where is None or error.where in name
    text = error.message if known else f"{error.where}: {error.message}"
    return type(error)(text, where=name, hint=error.hint)


def reduce_range(job: Job, key: int, records: Iterable[Record], items: int, side: Side) -> Iterator[Record]:
    """What becomes of all records of one range, given in any order."""
    ordered = _in_order(records, items, f"range {key}")
    for sequence, value in enumerate(job.reduce(key, [record.value for record in ordered], side)):
        yield Record(key, REDUCED, sequence, value)
    yield Record(key, REDUCED, END, b"")


def assemble(job: Job, records: Iterable[Record], items: int) -> list[Record]:
    """All records for the driver, in order: those of the items, by number, then those of the ranges, by key."""
    from_items: list[Record] = []
    from_ranges: dict[int, list[Record]] = {key: [] for key in range(job.partitions)}
    for record in records:
        if record.item != REDUCED:
            from_items.append(record)
        elif record.key in from_ranges:
            from_ranges[record.key].append(record)
        else:
            raise InputError(f"records of range {record.key}, but there are {job.partitions} ranges")
    made = _in_order(from_items, items, "the driver")
    for key, several in from_ranges.items():
        ends = sum(record.sequence == END for record in several)
        if ends != 1:
            raise ResourceError(f"the records of range {key} came {ends} times, not once", hint=HINT)
        made += sorted(record for record in several if record.sequence != END)
    return made


def _in_order(records: Iterable[Record], items: int, place: str) -> list[Record]:
    """By item and sequence, without the marks; an item that is missing or came twice is an error."""
    ends, kept = dict.fromkeys(range(items), 0), list[Record]()
    for record in records:
        if record.item not in ends:
            raise InputError(f"a record of work item {record.item}, but items are numbered 0 to {items - 1}")
        if record.sequence == END:
            ends[record.item] += 1
        else:
            kept.append(record)
    missing = [number for number, times in ends.items() if times == 0]
    doubled = [number for number, times in ends.items() if times > 1]
    if missing or doubled:
        several = f"{len(missing)} of {items} work items are missing, first {missing[0]}" if missing else ""
        twice = f"work item {doubled[0]} came {ends[doubled[0]]} times" if doubled else ""
        what = "; ".join(filter(None, (several, twice)))
        raise ResourceError(f"the records for {place} are not complete: {what}", hint=HINT)
    return sorted(kept, key=lambda record: (record.item, record.sequence))
