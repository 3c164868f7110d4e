"""The data of the page, as plain values for JSON: what the browser draws from.

Numbers are cut to six significant digits, more than anybody sees. Texts go in as they are; page.py makes them safe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from itersel.base.figures import Declaration, Figure
from itersel.base.paper_table import PaperTable
from itersel.evaluation.scoring import Evaluation
from itersel.report.box_plot import box_of
from itersel.report.evaluation import evaluation_values
from itersel.report.experiment import experiment_values
from itersel.report.feature_table import Feature, FeatureTable, Sentence, feature_table
from itersel.report.gather import Run
from itersel.report.listing import listings
from itersel.report.patterns import Side
from itersel.report.sharing import sharing, sharing_tables
from itersel.report.translations import DevtestSet, Outputs, devtest_sets, example_sentences
from itersel.report.weight_history import cross_sections, weight_history
from itersel.run.history import EpochRecord

STRIP = 60
"""Shards up to which each is a dot of its own; of more, only those beyond the whiskers are."""
SENTENCES = "lists"
"""The statistic that counts sentences, where an algorithm declares it."""


def payload(
    runs: Sequence[Run],
    *,
    title: str,
    features: int,
    sentences: int,
    evaluation: Evaluation | None = None,
    experiment: Sequence[PaperTable] = (),
) -> dict[str, Any]:
    """Everything the page shows; at most `features` by weight and by norm, and `sentences` of each devtest set."""
    sets = devtest_sets(runs, sentences)
    named = figure_names([run.history.declaration for run in runs])
    return {
        "title": title,
        "figures": [_figure(name, figure) for figure, name in named.items()],
        "apart": apart(runs),
        "runs": [_run(number, run, named, sets, features, sentences) for number, run in enumerate(runs)],
        "sets": [_set(one) for one in sets],
        "configuration": configuration_rows(runs),
        "evaluation": None if evaluation is None else evaluation_values(evaluation),
        "experiment": [experiment_values(table) for table in experiment],
        "sharing": [
            experiment_values(table)
            for number, run in enumerate(runs)
            if (found := sharing(run)) is not None
            for table in sharing_tables(found, run.name, features, example_sentences(run, sets, number, sentences))
        ],
    }


def figure_names(declarations: Sequence[Declaration]) -> dict[Figure, str]:
    """All declared figures with a name each, those that decide first.

    The name is the figure's key. Figures that share a key and nothing else get a number, too.
    """
    deciding = [one.choice_figure for one in declarations]
    figures = dict.fromkeys([*deciding, *(figure for one in declarations for figure in one.figures)])
    named: dict[Figure, str] = {}
    used: set[str] = set()
    for figure in figures:
        name, number = figure.key, 1
        while name in used:
            number += 1
            name = f"{figure.key}-{number}"
        named[figure] = name
        used.add(name)
    return named


def apart(runs: Sequence[Run]) -> str | None:
    """Why the deciding values of the runs cannot be compared; None if they can."""
    scored = [run for run in runs if any(run.history.decisive(epoch) is not None for epoch in run.epochs)]
    choices = dict.fromkeys(run.history.choice for run in scored)
    if len(choices) > 1:
        labels = ", ".join(dict.fromkeys(choice.label for choice in choices))
        return f"The runs choose their epochs by different criteria: {labels}."
    if len({(run.checksums("devtest"), run.domain) for run in scored}) > 1:
        return "The runs were scored on different devtest data."
    return None


def _figure(name: str, figure: Figure) -> dict[str, Any]:
    return {
        "name": name,
        "label": figure.label,
        "about": figure.about,
        "form": figure.form,
        "shown": list(figure.shown),
        "beside": figure.beside,
    }


def _run(
    number: int, run: Run, named: Mapping[Figure, str], sets: Sequence[DevtestSet], features: int, sentences: int
) -> dict[str, Any]:
    history, best = run.history, run.best
    examples = example_sentences(run, sets, number, sentences)
    table = feature_table(run, features, examples)
    declared = history.declaration
    own = {figure: named[figure] for figure in (declared.choice_figure, *declared.figures)}
    return {
        "name": run.name,
        "algorithm": declared.label,
        "planned": run.planned,
        "finished": run.finished,
        "best": None if best is None else best.number,
        "chosen": history.chosen is not None,
        "shards": run.shard_count,
        "choice": {
            "figure": named[declared.choice_figure],
            "label": declared.choice.label,
            "largest": declared.choice.largest,
        },
        "start": {} if history.start is None else _values(history.start, own),
        "translated": list(run.translated),
        "epochs": [_epoch(epoch, own) for epoch in run.epochs],
        "features": None if table is None else _features(table, examples),
        "weights": _weights(run),
        "sections": _sections(run),
        "listing": _listing(run),
    }


def _weights(run: Run) -> dict[str, Any] | None:
    found = weight_history(run)
    if found is None:
        return None
    starts = found.starts or [None] * len(found.names)
    return {
        "names": list(found.names),
        "start": [short(value) for value in starts],
        "epochs": [[short(value) for value in values] for values in found.epochs],
    }


def _sections(run: Run) -> dict[str, Any] | None:
    found = cross_sections(run)
    if found is None:
        return None
    declared, sections = found
    return {
        "label": declared.label,
        "about": declared.about,
        "form": declared.form,
        "features": [
            {
                "name": one.name,
                "at": short(one.at),
                "weights": [short(value) for value in one.weights],
                "values": [short(value) for value in one.values],
            }
            for one in sections
        ],
    }


def _listing(run: Run) -> dict[str, Any] | None:
    found = listings(run)
    if found is None:
        return None
    declared, epochs = found
    return {
        "label": declared.label,
        "about": declared.about,
        "columns": [list(column) for column in declared.columns],
        "epochs": {
            str(number): [[cell if isinstance(cell, str) else short(cell) for cell in row] for row in rows]
            for number, rows in epochs.items()
        },
    }


def _values(epoch: EpochRecord, own: Mapping[Figure, str]) -> dict[str, Any]:
    """The figures of an epoch by name; those without a value are left out."""
    found = {name: epoch.whole.value(figure) for figure, name in own.items()}
    return {name: short(value) for name, value in found.items() if value is not None}


def _epoch(epoch: EpochRecord, own: Mapping[Figure, str]) -> dict[str, Any]:
    spreads = {}
    for figure, name in own.items():
        if "spread" in figure.shown:
            spreads[name] = spread([(k, shard.value(figure)) for k, shard in enumerate(epoch.shards)])
    timed = [(k, shard.total_seconds if shard.seconds else None) for k, shard in enumerate(epoch.shards)]
    return {
        "values": _values(epoch, own),
        "sentences": short(epoch.whole.sums.get(SENTENCES)),
        "seconds": {stage: short(seconds) for stage, seconds in epoch.whole.seconds.items()},
        "warnings": list(epoch.warnings),
        "spread": {name: made for name, made in spreads.items() if made is not None},
        "cpu": spread(timed),
    }


def spread(shards: Iterable[tuple[int, float | None]]) -> dict[str, Any] | None:
    """A box plot of the shards: quartiles, whiskers, and dots `[shard, value]`; none for fewer than two values."""
    known = [(shard, value) for shard, value in shards if value is not None]
    values = [value for _, value in known]
    if len(values) < 2:
        return None
    bottom, low, median, high, top = box_of(values)
    every = len(values) <= STRIP
    dots = [[shard, short(value)] for shard, value in known if every or not bottom <= value <= top]
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
        "sources": [[s.id, s.domain, s.text, list(s.references)] for s in one.sources],
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
