"""Pairwise ranking updates over k-best lists given as Python data (ACL 2012 §4, WMT 2013 §3).

Inside a training epoch the kernel does this without Python; this class serves rerankers of other systems'
n-best lists, and tests. Feature vectors go in as {name: value}; named weights and statistics come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.base.config import OneOf, Range, validate
from itersel.base.errors import ConfigError
from itersel.learn.pairs import PairConfig

RULES = ("perceptron", "margin_perceptron", "ramp", "passive_aggressive", "soft_ramp")
SCHEDULES = ("constant", "inverse", "inverse_sqrt", "adagrad", "conditioned")
BATCH_ONLY = {"rule": ("soft_ramp",), "schedule": ("adagrad", "conditioned")}
"""What works with a list's gradient, which is known only after all of the list."""
EPOCH, RUN = "epoch", "run"
ACCOUNTS = (EPOCH, RUN)


@dataclass(frozen=True)
class LearnConfig:
    """How a list changes the weights."""

    rule: Annotated[str, OneOf(*RULES)] = "margin_perceptron"
    """margin_perceptron: update if ⟨w, x̄⟩ < margin; perceptron, the ACL 2012 paper's: if ⟨w, x̄⟩ ≤ 0. Online, the latter
    collapses on real data (docs/results-settings.md); ramp: update by every pair, as rampion, exec and rebol do;
    passive_aggressive, MIRA's: rank a pair by as much as its metric values differ, with a step of at most eta;
    soft_ramp (NAACL 2013): a step down the gradient of the list's soft ramp loss, without pairs."""
    margin: Annotated[float, Range(0)] = 1.0
    eta: Annotated[float, Range(above=0)] = 0.0001
    """Learning rate."""
    schedule: Annotated[str, OneOf(*SCHEDULES)] = "constant"
    """Rate of the t-th list: constant η, inverse η/t, inverse_sqrt η/√t; adagrad, with `batch` only: each feature has
    its own, η over the root of the sum of squares of its updates so far (see `account`); conditioned, likewise:
    η over the number of times that a rule was extracted for its identity, and over the number of lists for the rest."""
    l1: Annotated[float, Range(0)] = 0.0
    """After each list, every weight that an update touched moves towards 0 by this much and stops at 0."""
    l2: Annotated[float, Range(0)] = 0.0
    """With `batch` only: l2 times a weight is subtracted from its gradient, for every weight that a list touches."""
    cost_scale: Annotated[float, Range(above=0)] = 20.0
    """soft_ramp: a hypothesis costs this times (1 − metric)."""
    batch: bool = False
    """Rank all pairs of a list with the weights it was decoded with, as dtrain does, instead of online."""
    average: bool = False
    """Hand over the mean of the weights over an epoch's lists (the averaged perceptron) instead of the last ones."""
    account: Annotated[str, OneOf(*ACCOUNTS)] = EPOCH
    """AdaGrad: whether the sums of squares begin at 0 in each epoch and shard, or go where the weights go: a shard that
    continues from its own weights keeps them; otherwise their mean over the shards is where all shards start from. Sums
    of features that are not kept are forgotten."""
    pairs: PairConfig = field(default_factory=PairConfig)

    def __post_init__(self) -> None:
        validate(self)
        if self.rule == "passive_aggressive" and self.batch:
            raise ConfigError(
                "rule is 'passive_aggressive', which needs batch: false",
                hint="Its steps depend on the weights that the step before left.",
            )
        for key, values in BATCH_ONLY.items():
            value = getattr(self, key)
            if value in values and not self.batch:
                raise ConfigError(
                    f"{key} is {value!r}, which needs batch: true",
                    hint="It knows a list's gradient only after all of the list.",
                )
        if self.l2 and not self.batch:
            raise ConfigError(
                f"l2 is {self.l2:g}, which needs batch: true", hint="The penalty is a part of a list's gradient."
            )
        if self.l1 and self.l2:
            raise ConfigError(f"l1 is {self.l1:g} and l2 is {self.l2:g}; one of them must be 0")

    @property
    def uses_pairs(self) -> bool:
        """Whether hypotheses are compared two by two; otherwise an update is for the whole list."""
        return self.rule != "soft_ramp"

    def options(self) -> _kernel.LearnOptions:
        """The same for the kernel, which checks the values."""
        pairs = self.pairs if self.uses_pairs else replace(self.pairs, kind="none")
        values = asdict(self) | {"pairs": pairs.options()}
        del values["account"]  # it comes and goes with the weights
        return _kernel.LearnOptions(**values)


class Learner:
    """Weights by feature name, updated list by list. Features are numbered in the order they are met."""

    def __init__(self, config: LearnConfig | None = None, weights: Mapping[str, float] | None = None):
        weights = weights or {}
        self._numbers = {name: number for number, name in enumerate(weights)}
        self._learner = _kernel.Learner(list(weights.values()), (config or LearnConfig()).options(), 0)

    def learn(
        self,
        features: Sequence[Mapping[str, float]],
        metric: Sequence[float] | npt.NDArray[np.float64],
        *,
        scores: Sequence[float] | None = None,
        sentence: int = 0,
    ) -> None:
        """One list, best model score first, with its metric values; its `scores` serve statistics only."""
        offsets, numbers, values = [0], [], []
        for vector in features:
            row = sorted((self._numbers.setdefault(name, len(self._numbers)), value) for name, value in vector.items())
            numbers += [number for number, _ in row]
            values += [value for _, value in row]
            offsets.append(len(numbers))
        self._learner.learn(
            np.array(offsets, dtype=np.int64),
            np.array(numbers, dtype=np.uint32),
            np.array(values, dtype=np.float64),
            np.array(scores if scores is not None else np.zeros(len(features)), dtype=np.float64),
            [float(value) for value in metric],
            sentence,
        )

    @property
    def weights(self) -> dict[str, float]:
        """All weights that are not 0."""
        dense = self._learner.weights
        return {name: float(dense[k]) for name, k in self._numbers.items() if k < len(dense) and dense[k] != 0}

    @property
    def statistics(self) -> dict[str, float]:
        """Sums over the lists: lists, hypotheses, features, pairs, rank_errors, margin_violations, updates,
        best_metric, best_score; and nonzero, the current number of non-zero weights."""
        return self._learner.statistics
