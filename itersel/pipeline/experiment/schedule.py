"""In which order cells run, and with how many processes: as many side by side as there are, the largest first.

A cell has one process of this machine as long as others wait. When none waits any more, the processes of those that
have ended go to the ones that still run, from their next job on (itersel.base.spare_processes). A training that is no
success, such as a tuner's that ended below its start, does not keep the other cells from running.
"""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.progress import Progress
from itersel.base.spare_processes import give, share
from itersel.base.workers import ordered_map, process_count
from itersel.pipeline.experiment.cells import CellPlan, CellResult, finished, run_cell

LOG = "log.txt"


@dataclass(frozen=True)
class FailedCell:
    """A cell without a result, and why."""

    name: str
    error: InputError


def run_cells(plans: Sequence[CellPlan], jobs: int = 1) -> Iterator[CellResult | FailedCell]:
    """Finish the cells; their results come in the order of the plans, but those that start from others come later.

    Each cell is driven by one process, whatever engine trains it. A single cell gets all `jobs`.
    """
    failed: set[Path] = set()
    for depth in sorted({plan.depth for plan in plans}):
        wave = [plan for plan in plans if plan.depth == depth]
        vain = {plan.record for plan in wave if plan.start is not None and plan.start.record in failed}
        results = _run_wave([plan for plan in wave if plan.record not in vain], jobs)
        for plan in wave:
            result = _without_start(plan) if plan.record in vain else next(results)
            if isinstance(result, FailedCell):
                failed.add(plan.record)
            yield result


def _without_start(plan: CellPlan) -> FailedCell:
    assert plan.start is not None
    return FailedCell(plan.cell.name, InputError(f"it starts from {plan.start.cell.name}, which failed"))


def _run(plan: CellPlan, jobs: int = 1, *, side_by_side: int = 1) -> CellResult | FailedCell:
    try:
        return run_cell(plan, jobs, side_by_side=side_by_side)
    except InputError as error:
        return FailedCell(plan.cell.name, error)


def _run_wave(plans: Sequence[CellPlan], jobs: int) -> Iterator[CellResult | FailedCell]:
    """Finish cells none of which starts from another one."""
    groups = largest_first([plan for plan in plans if finished(plan) is None])
    if len(groups) < 2 or jobs == 1:
        for plan in plans:
            yield finished(plan) or _run(plan, jobs)
        return
    together = process_count(jobs, len(groups))
    waiting = multiprocessing.get_context("fork").Value("i", len(groups) - together)

    def work(group: Sequence[CellPlan]) -> list[CellResult | FailedCell]:
        group[0].folder.mkdir(parents=True, exist_ok=True)
        # Messages of several cells at once would be unreadable, so each cell has a log.
        with open(group[0].folder / LOG, "a", buffering=1) as log, contextlib.redirect_stderr(log):
            results = [_run(plan, side_by_side=together) for plan in group]
        with waiting.get_lock():
            goes_on = waiting.value > 0
            waiting.value -= goes_on
        if not goes_on:
            give()
        return results

    done: dict[Path, CellResult | FailedCell] = {}
    done |= {plan.record: result for plan in plans if (result := finished(plan)) is not None}
    remaining = iter(groups)
    with share(jobs - together):
        results = ordered_map(work, groups, together, describe=lambda group: group[0].cell.name, nested=True)
        with contextlib.closing(results), Progress("cells", len(plans), unit="cells") as progress:
            for plan in plans:
                while plan.record not in done:
                    done |= zip((one.record for one in next(remaining)), next(results), strict=True)
                yield done[plan.record]
                progress.advance(note=plan.cell.name)


def largest_first(plans: Sequence[CellPlan]) -> list[list[CellPlan]]:
    """Cells that share a training belong together; groups by the number of sentences, equal ones in their order."""
    groups: dict[Path, list[CellPlan]] = {}
    for plan in plans:
        groups.setdefault(plan.folder, []).append(plan)
    return sorted(groups.values(), key=lambda group: -sum(plan.sentences for plan in group))
