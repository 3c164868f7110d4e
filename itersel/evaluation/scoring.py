"""Evaluation: scores of systems against references, with intervals and tests of all differences.

In: texts. Out: an `Evaluation`, a record of plain values. Statistics, resampling and shuffles are spread over
processes; the result depends only on the texts, the options and the seed. Several outputs of one system are
optimizer runs, whose scores are averaged (Clark et al. 2011). The tests: `itersel.evaluation.significance`.

    evaluation = score_systems([System("dev", [lines_a]), System("train", [lines_b])], references)
    print(evaluation.score("train", "bleu").mean, evaluation.comparison("dev", "train", "bleu").randomization.p)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from itersel.base.errors import ConfigError, InputError
from itersel.base.progress import track
from itersel.base.workers import ordered_map
from itersel.evaluation.significance import (
    SEED,
    TRIALS,
    Bootstrap,
    Randomization,
    bootstrap_scores,
    compare_samples,
    interval,
    randomization_test,
)
from itersel.metrics.corpus import (
    METRICS,
    CorpusMetric,
    MetricOptions,
    Statistics,
    bleu_brevity_penalty,
    bleu_length_ratio,
    direction,
)

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class System:
    """A system's outputs: one output per run, one line per sentence."""

    name: str
    runs: Sequence[Sequence[str]]


@dataclass(frozen=True)
class EvaluationOptions:
    """`trials` are shuffles and bootstrap samples; with a `baseline`, only differences to it are tested, and with
    `pairs` of names only these, the new system first."""

    metrics: tuple[str, ...] = METRICS
    metric: MetricOptions = field(default_factory=MetricOptions)
    trials: int = TRIALS
    seed: int = SEED
    exact: bool = False  # all arrangements instead of random shuffles
    baseline: str | None = None
    pairs: tuple[tuple[str, str], ...] | None = None
    tests: bool = True  # False: scores and intervals only
    jobs: int = 1  # does not change the result

    def __post_init__(self) -> None:
        unknown = [name for name in self.metrics if name not in METRICS]
        if unknown or not self.metrics or len(set(self.metrics)) < len(self.metrics):
            raise ConfigError(f"metrics is {','.join(self.metrics)}", hint=f"Give some of {', '.join(METRICS)}, once.")
        if not 1 <= self.trials <= 1_000_000_000:
            raise ConfigError(f"trials is {self.trials}", hint="Give the number of samples, such as 10000.")
        if not 0 <= self.seed < 2**63:
            raise ConfigError(f"seed is {self.seed}", hint="Give a number that is not negative.")


@dataclass(frozen=True)
class SystemScore:
    """The mean of the runs' corpus scores, their standard deviation (n − 1), and a 95 % interval by bootstrap."""

    system: str
    metric: str
    mean: float
    runs: tuple[float, ...]
    deviation: float | None  # None for a single run
    interval: tuple[float, float]


@dataclass(frozen=True)
class Comparison:
    """Two systems by one metric: `difference` is the first's score minus the second's.

    The first is the one named later, or the one that is not the baseline: the new system comes first.
    """

    metric: str
    first: str
    second: str
    difference: float
    randomization: Randomization
    bootstrap: Bootstrap

    def better(self, level: float = 0.05) -> str | None:
        """The better system's name if the randomisation test's p is below the level."""
        if self.randomization.p >= level or self.difference == 0:
            return None
        return self.first if self.difference * direction(self.metric) > 0 else self.second


@dataclass(frozen=True, repr=False)
class Evaluation:
    """All results. Scores and comparisons are ordered by system, as given, then by metric."""

    sentences: int
    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    labels: dict[str, str]  # of the metrics, for people
    signatures: dict[str, str]
    trials: int
    seed: int
    scores: tuple[SystemScore, ...]
    length_ratios: dict[str, float]  # of output to closest references, mean over runs
    comparisons: tuple[Comparison, ...] = ()
    warnings: tuple[str, ...] = ()
    brevity_penalties: dict[str, float] = field(default_factory=dict)  # BLEU's, mean over runs

    def score(self, system: str, metric: str = "bleu") -> SystemScore:
        """A system's score by a metric; KeyError if there is none."""
        return {(one.system, one.metric): one for one in self.scores}[system, metric]

    def comparison(self, first: str, second: str, metric: str = "bleu") -> Comparison:
        """The comparison of two systems in either order; its `first` and `second` say which way the difference goes."""
        known = {(frozenset((one.first, one.second)), one.metric): one for one in self.comparisons}
        return known[frozenset((first, second)), metric]

    def __repr__(self) -> str:
        found = [
            f"{name} {', '.join(f'{self.labels[one]} {self.score(name, one).mean:.2f}' for one in self.metrics)}"
            for name in self.systems
        ]
        return f"<Evaluation of {self.sentences:,} sentences: {'; '.join(found)}>"


def score_systems(
    systems: Sequence[System],
    references: Sequence[Sequence[str]],
    options: EvaluationOptions | None = None,
    *,
    show_progress: bool = False,
) -> Evaluation:
    """Score all systems against `references` (a list of texts for each sentence) and test their differences."""
    options = options or EvaluationOptions()
    _check(systems, references, options)
    names = tuple(system.name for system in systems)
    needed = dict.fromkeys(("bleu", *options.metrics))  # BLEU's statistics have the lengths
    metrics = {name: CorpusMetric(name, references, options.metric) for name in needed}

    def spread(function: Callable[[Item], Result], items: Iterable[Item], stage: str) -> list[Result]:
        given = list(items)
        results = ordered_map(function, given, options.jobs)
        return list(track(results, stage, len(given), unit="pieces") if show_progress else results)

    texts = [(metric, run) for system in systems for metric in needed for run in system.runs]
    rows = iter(spread(lambda item: metrics[item[0]].statistics(item[1]), texts, "statistics"))
    statistics = {
        (system.name, metric): np.stack([next(rows) for _ in system.runs]) for system in systems for metric in needed
    }

    def resample(key: tuple[str, str]) -> Any:
        score = metrics[key[1]].scores
        return bootstrap_scores(statistics[key], score, trials=options.trials, seed=options.seed)

    keys = [(name, metric) for name in names for metric in options.metrics]
    samples = dict(zip(keys, spread(resample, keys, "bootstrap"), strict=True))
    scores = tuple(_system_score(key, metrics[key[1]], statistics[key], samples[key]) for key in keys)

    def shuffle(item: tuple[str, str, str]) -> Comparison:
        metric, first, second = item
        found = randomization_test(
            statistics[first, metric],
            statistics[second, metric],
            metrics[metric].scores,
            trials=options.trials,
            seed=options.seed,
            exact=options.exact,
        )
        drawn = compare_samples(found.difference, samples[first, metric], samples[second, metric])
        return Comparison(metric, first, second, found.difference, found, drawn)

    pairs = [(metric, *pair) for pair in _pairs(names, options) for metric in options.metrics]
    return Evaluation(
        sentences=len(references),
        systems=names,
        metrics=options.metrics,
        labels={name: metrics[name].label for name in options.metrics},
        signatures={name: metrics[name].signature for name in options.metrics},
        trials=options.trials,
        seed=options.seed,
        scores=scores,
        length_ratios={
            name: float(np.mean([bleu_length_ratio(run) for run in statistics[name, "bleu"]])) for name in names
        },
        comparisons=tuple(spread(shuffle, pairs, "shuffles") if pairs else ()),
        warnings=tuple(_repeated_runs(systems)),
        brevity_penalties={
            name: float(np.mean([bleu_brevity_penalty(run) for run in statistics[name, "bleu"]])) for name in names
        },
    )


def _check(systems: Sequence[System], references: Sequence[Sequence[str]], options: EvaluationOptions) -> None:
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(
                f"two systems are called {name}", hint="Give each its own name, or make them runs of one system."
            )
    wanted = [one for pair in options.pairs or () for one in pair]
    for name in wanted if options.baseline is None else [options.baseline, *wanted]:
        if name not in names:
            raise ConfigError(f"there is no system {name}", hint=f"The systems are {', '.join(names)}.")
    for system in systems:
        if not system.runs:
            raise InputError(f"the system {system.name} has no output")
        for run in system.runs:
            if len(run) != len(references):
                raise InputError(f"{len(run)} lines of {system.name}, but {len(references)} sentences with references")


def _pairs(names: Sequence[str], options: EvaluationOptions) -> list[tuple[str, str]]:
    if not options.tests:
        return []
    if options.pairs is not None:
        return list(options.pairs)
    if options.baseline is None:
        return [(later, earlier) for earlier, later in combinations(names, 2)]
    return [(name, options.baseline) for name in names if name != options.baseline]


def _system_score(key: tuple[str, str], metric: CorpusMetric, runs: Statistics, samples: Statistics) -> SystemScore:
    scores = tuple(metric.score(run) for run in runs)
    deviation = float(np.std(scores, ddof=1)) if len(scores) > 1 else None
    return SystemScore(*key, float(np.mean(scores)), scores, deviation, interval(samples))


def _repeated_runs(systems: Sequence[System]) -> Iterable[str]:
    """Equal runs would count as independent evidence in the shuffles."""
    for system in systems:
        runs = [tuple(run) for run in system.runs]
        if len(set(runs)) < len(runs):
            yield (
                f"some runs of {system.name} have the same output: counted as separate runs, they make differences"
                " look more certain than they are"
            )
