"""The data of the page, as plain values for JSON: what the browser draws from.

Numbers are cut to six significant digits, more than anybody sees. Texts go in as they are; page.py makes them safe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from itersel.base.paper_table import PaperTable
from itersel.evaluation.scoring import Evaluation
from itersel.report.evaluation import evaluation_values
from itersel.report.experiment import experiment_values
from itersel.report.feature_table import Feature, FeatureTable, Sentence, feature_table
from itersel.report.gather import Epoch, Figures, Run
from itersel.report.patterns import Side
from itersel.report.translations import DevtestSet, Outputs, devtest_sets, example_sentences

STRIP = 60
"""Shards up to which each is a dot of its own; of more, only those beyond the whiskers are."""
WHISKER = 1.5
"""Length of a whisker, in heights of the box (Tukey)."""
SPREADS: dict[str, Callable[[Figures], float]] = {
    "metric": lambda figures: figures.metric,
    "pair_error": lambda figures: figures.pair_error,
    "updates": lambda figures: figures.updates_per_sentence,
    "seconds": lambda figures: figures.total_seconds,
}


def payload(
    runs: Sequence[Run],
    *,
    title: str,
    features: int,
    sentences: int,
    evaluation: Evaluation | None = None,
    experiment: PaperTable | None = None,
) -> dict[str, Any]:
    """Everything the page shows; at most `features` by weight and by norm, and `sentences` of each devtest set."""
    sets = devtest_sets(runs, sentences)
    return {
        "title": title,
        "runs": [_run(number, run, sets, features, sentences) for number, run in enumerate(runs)],
        "sets": [_set(one) for one in sets],
        "configuration": configuration_rows(runs),
        "evaluation": None if evaluation is None else evaluation_values(evaluation),
        "experiment": None if experiment is None else experiment_values(experiment),
    }


def _run(number: int, run: Run, sets: Sequence[DevtestSet], features: int, sentences: int) -> dict[str, Any]:
    best = run.best
    examples = example_sentences(run, sets, number, sentences)
    table = feature_table(run, features, examples)
    return {
        "name": run.name,
        "algorithm": run.algorithm,
        "metric": run.configuration.get("epoch.metric"),
        "planned": run.planned,
        "finished": run.finished,
        "best": None if best is None else best.number,
        "chosen": run.chosen is not None,
        "shards": run.shard_count,
        "start": short(run.start),
        "translated": list(run.translated),
        "epochs": [_epoch(epoch) for epoch in run.epochs],
        "features": None if table is None else _features(table, examples),
    }


def _epoch(epoch: Epoch) -> dict[str, Any]:
    return {
        "bleu": short(epoch.bleu),
        "length": short(epoch.length_ratio),
        "features": epoch.features,
        "pair_error": short(epoch.whole.pair_error),
        "metric": short(epoch.whole.metric),
        "updates": epoch.whole.updates,
        "sentences": epoch.whole.lists,
        "seconds": {stage: short(seconds) for stage, seconds in epoch.whole.seconds.items()},
        "warnings": list(epoch.warnings),
        "spread": {key: spread([value(shard) for shard in epoch.shards]) for key, value in SPREADS.items()},
    }


def spread(values: Sequence[float]) -> dict[str, Any] | None:
    """A box plot of the shards: quartiles, whiskers, and dots `[shard, value]`; none for fewer than two shards."""
    if len(values) < 2:
        return None
    low, median, high = (float(q) for q in np.percentile(values, (25, 50, 75)))
    reach = WHISKER * (high - low)
    inside = [value for value in values if low - reach <= value <= high + reach]
    bottom, top = min(inside), max(inside)
    every = len(values) <= STRIP
    dots = [[k, short(value)] for k, value in enumerate(values) if every or not bottom <= value <= top]
    return {"box": [short(one) for one in (bottom, low, median, high, top)], "dots": dots}


def _features(table: FeatureTable, sentences: Sequence[Sentence]) -> dict[str, Any]:
    used = sorted({example.sentence for feature in table.features for example in feature.examples})
    place = {number: k for k, number in enumerate(used)}
    return {
        "epoch": table.epoch,
        "total": table.total,
        "kinds": table.kinds,
        "norm": table.norm,
        "rows": [_feature(feature, place) for feature in table.features],
        "sentences": [[one.origin, one.id, one.source, one.target] for one in (sentences[number] for number in used)],
    }


def _feature(feature: Feature, place: dict[int, int]) -> dict[str, Any]:
    pattern = feature.pattern
    return {
        "name": feature.name,
        "kind": pattern.kind,
        "source": _symbols(pattern.source),
        "target": _symbols(pattern.target),
        "weight": short(feature.weight),
        "norm": short(feature.norm),
        "history": [short(value) for value in feature.history],
        "examples": [[place[one.sentence], one.source, one.target] for one in feature.examples],
    }


def _symbols(side: Side | None) -> list[str | int] | None:
    return None if side is None else list(side.symbols)


def _set(one: DevtestSet) -> dict[str, Any]:
    return {
        "total": one.total,
        "note": one.note,
        "sources": [[s.id, s.task, s.text, list(s.references)] for s in one.sources],
        "outputs": {str(number): [_output(output) for output in outputs] for number, outputs in one.outputs.items()},
    }


def _output(output: Outputs) -> list[Any]:
    return [list(output.texts), [short(score) for score in output.scores], list(output.epochs)]


def configuration_rows(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Every key with the value of each run: configuration, then data by checksum, then versions."""
    tables: list[tuple[str, list[dict[str, Any]]]] = [
        ("configuration", [run.configuration for run in runs]),
        ("data", [_data(run) for run in runs]),
        ("versions", [dict(run.versions) for run in runs]),
    ]
    rows = []
    for group, values in tables:
        for key in dict.fromkeys(key for one in values for key in one):
            texts = [_text(one[key]) if key in one else "" for one in values]
            rows.append({"group": group, "key": key, "values": texts, "same": len(set(texts)) == 1})
    return rows


def _data(run: Run) -> dict[str, Any]:
    """What the run's data was, by checksum; of many files, the checksum of their checksums."""
    made: dict[str, Any] = {}
    for key in ("shards", "devtest"):
        sums = run.checksums(key)
        made[f"{key}: files"] = len(sums)
        made[f"{key}: checksum"] = sums[0] if len(sums) == 1 else _digest(sums) if sums else None
    models = run.checksums("fold_models")
    if models:
        made["fold_models: files"], made["fold_models: checksum"] = len(models), _digest(models)
    for key in ("language_model", "start"):
        value = run.identity.get(key)
        made[f"{key}: checksum"] = None if value is None else str(value)[:16]
    return made


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def short(value: float | None) -> float | int | None:
    """Six significant digits; whole numbers without a point."""
    if value is None:
        return None
    cut = float(f"{value:.6g}")
    return int(cut) if cut.is_integer() and abs(cut) < 2**53 else cut
