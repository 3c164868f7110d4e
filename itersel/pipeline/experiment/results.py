"""Everything behind an experiment's table as one JSON document, and what all of it took, for people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from itersel.base.progress import duration
from itersel.base.version import __version__, commit
from itersel.evaluation.scoring import Evaluation
from itersel.pipeline.experiment.grid_result import GridResult


@dataclass(frozen=True)
class Effort:
    """Sums over what was made, whenever that was; work that did not last, such as a killed epoch, does not count."""

    build_seconds: float | None
    """Wall time of the build's stages; None unless every stage has a record of this configuration."""
    wall_seconds: float
    """Wall time of the cells; cells that ran side by side count separately."""
    unknown: int
    """Cells that did not record their wall time, and are not in the sum."""
    cpu_seconds: float
    """Processor time of all that recorded it: stages, trainings, translations of the test sets."""
    side_by_side: int
    """The largest number of cells that ran side by side."""
    peak_megabytes: int | None
    """The largest of all stages and cells that recorded it."""
    disk_bytes: int | None = None
    """What the build and the cells take on disk; None unless every stage has a record of this configuration."""


def effort(grid: GridResult) -> Effort:
    cells, stages = grid.results, grid.stages
    walls = [cell.wall_seconds for cell in cells if cell.wall_seconds is not None]
    spent = [stage.cpu_seconds for stage in stages]
    spent += [seconds for cell in cells for seconds in (cell.cpu_seconds, cell.test_seconds)]
    peaks = [one.peak_megabytes for one in stages] + [one.peak_megabytes for one in cells]
    return Effort(
        build_seconds=round(sum(stage.made_seconds for stage in stages), 3) if stages else None,
        wall_seconds=round(sum(walls), 3),
        unknown=len(cells) - len(walls),
        cpu_seconds=round(sum(one for one in spent if one is not None), 3),
        side_by_side=max((cell.side_by_side for cell in cells), default=1),
        peak_megabytes=max((peak for peak in peaks if peak is not None), default=None),
        disk_bytes=sum(stage.bytes for stage in stages) + grid.cell_bytes if stages else None,
    )


def sentence(spent: Effort, cells: int) -> str:
    """As in: Build 21.3 min, cells 95.0 min of wall time in total (2 side by side), 3.1 h of processor time, peak
    2.1 GB per process, 9 GB of disk."""
    parts = [] if spent.build_seconds is None else [f"build {duration(spent.build_seconds)}"]
    if spent.unknown < cells:
        remarks = [f"{spent.side_by_side} side by side"] if spent.side_by_side > 1 else []
        remarks += [f"{spent.unknown} of {cells} unknown"] if spent.unknown else []
        note = f" ({'; '.join(remarks)})" if remarks else ""
        parts.append(f"cells {duration(spent.wall_seconds)} of wall time in total{note}")
    else:
        parts.append("cells' wall time unknown")
    parts.append(f"{duration(spent.cpu_seconds)} of processor time")
    if spent.peak_megabytes is not None:
        parts.append(f"peak {_memory(spent.peak_megabytes)} per process")
    if spent.disk_bytes is not None:
        parts.append(f"{_memory(round(spent.disk_bytes / 2**20))} of disk")
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _memory(megabytes: int) -> str:
    return f"{megabytes} MB" if megabytes < 1000 else f"{megabytes / 1024:.1f} GB"


def document(grid: GridResult) -> dict[str, Any]:
    """All results: configuration, seeds, versions, effort, cells, scores, p of every pair."""
    config, numbers = grid.config, grid.numbers
    done = {result.name for result in grid.results}
    return {
        "experiment": config.name,
        "itersel": __version__,
        "commit": commit(),
        "configuration": config.document,
        "seeds": {"build": config.build.seed, "significance": config.significance.seed},
        "effort": asdict(effort(grid)),
        "stages": [
            {
                "name": one.name,
                "seconds": one.made_seconds,
                "cpu_seconds": one.cpu_seconds,
                "peak_megabytes": one.peak_megabytes,
            }
            for one in grid.stages
        ],
        "cells": [asdict(cell) | {"number": numbers[cell.algorithm]} for cell in grid.results],
        "unfinished": [cell.name for cell in config.cells if cell.name not in done],
        "tests": {name: _evaluation(one) for name, one in grid.evaluations.items()},
    }


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "sentences": evaluation.sentences,
        "signatures": evaluation.signatures,
        "scores": {
            name: {
                "bleu": evaluation.score(name).mean,
                "bleu_interval": list(evaluation.score(name).interval),
                "chrf": evaluation.score(name, "chrf").mean,
                "length_ratio": evaluation.length_ratios[name],
                "bleu_runs": list(evaluation.score(name).runs),
            }
            for name in evaluation.systems
        },
        "differences": [
            {
                "first": one.first,
                "second": one.second,
                one.metric: one.difference,
                "p": one.randomization.p,
                "p_bootstrap": one.bootstrap.p,
            }
            for one in evaluation.comparisons
        ],
    }
