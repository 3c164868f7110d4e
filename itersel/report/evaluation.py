"""Scores and tests of itersel.evaluation.scoring for the page: given as they are, or read from `itersel evaluate
--json`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from itersel.base.errors import InputError
from itersel.base.json_files import read_json
from itersel.evaluation.scoring import Comparison, Evaluation, SystemScore
from itersel.evaluation.significance import Bootstrap, Randomization, p_text


def read_evaluation(path: str | os.PathLike[str]) -> Evaluation:
    """What `itersel evaluate --json` printed into a file."""
    values = read_json(Path(path))
    try:
        return _evaluation(values)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            "not an evaluation", where=path, hint="Give a file that `itersel evaluate --json` has printed."
        ) from None


def _evaluation(values: Mapping[str, Any]) -> Evaluation:
    return Evaluation(
        sentences=int(values["sentences"]),
        systems=tuple(map(str, values["systems"])),
        metrics=tuple(map(str, values["metrics"])),
        labels={str(key): str(text) for key, text in values["labels"].items()},
        signatures={str(key): str(text) for key, text in values["signatures"].items()},
        trials=int(values["trials"]),
        seed=int(values["seed"]),
        scores=tuple(
            SystemScore(
                system=str(one["system"]),
                metric=str(one["metric"]),
                mean=float(one["mean"]),
                runs=tuple(map(float, one["runs"])),
                deviation=None if one["deviation"] is None else float(one["deviation"]),
                interval=_pair(one["interval"]),
            )
            for one in values["scores"]
        ),
        length_ratios={str(key): float(ratio) for key, ratio in values["length_ratios"].items()},
        comparisons=tuple(map(_comparison, values["comparisons"])),
        warnings=tuple(map(str, values["warnings"])),
        brevity_penalties={str(key): float(factor) for key, factor in values.get("brevity_penalties", {}).items()},
    )


def _comparison(values: Mapping[str, Any]) -> Comparison:
    shuffled, drawn = values["randomization"], values["bootstrap"]
    return Comparison(
        metric=str(values["metric"]),
        first=str(values["first"]),
        second=str(values["second"]),
        difference=float(values["difference"]),
        randomization=Randomization(
            float(shuffled["difference"]),
            float(shuffled["p"]),
            int(shuffled["count"]),
            int(shuffled["trials"]),
            bool(shuffled["exact"]),
        ),
        bootstrap=Bootstrap(
            float(drawn["difference"]),
            float(drawn["p"]),
            _pair(drawn["interval"]),
            float(drawn["wins"]),
            int(drawn["trials"]),
        ),
    )


def _pair(values: Any) -> tuple[float, float]:
    low, high = values
    return float(low), float(high)


def _probability(p: float) -> list[Any]:
    """The value to sort by, and how it is written: as on the terminal."""
    return [p, p_text(p)]


def evaluation_values(evaluation: Evaluation) -> dict[str, Any]:
    """The same for the browser: one row of scores per system, one row per comparison."""
    return {
        "sentences": evaluation.sentences,
        "metrics": [
            {"name": name, "label": evaluation.labels[name], "signature": evaluation.signatures[name]}
            for name in evaluation.metrics
        ],
        "trials": evaluation.trials,
        "exact": any(one.randomization.exact for one in evaluation.comparisons),
        "systems": [
            {
                "name": name,
                "length": evaluation.length_ratios[name],
                "brevity": evaluation.brevity_penalties.get(name),
                "scores": [
                    [score.mean, score.deviation, *score.interval, len(score.runs)]
                    for score in (evaluation.score(name, metric) for metric in evaluation.metrics)
                ],
            }
            for name in evaluation.systems
        ],
        "comparisons": [
            {
                "first": one.first,
                "second": one.second,
                "metric": one.metric,
                "difference": one.difference,
                "interval": list(one.bootstrap.interval),
                "p": _probability(one.randomization.p),
                "p_bootstrap": _probability(one.bootstrap.p),
                "better": one.better(),
            }
            for one in evaluation.comparisons
        ],
        "warnings": list(evaluation.warnings),
    }
