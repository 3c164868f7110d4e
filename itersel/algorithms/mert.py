"""Minimum error rate training (Och 2003): exact line searches from many points, on collected lists or on forests.

A round searches from the last weights, from the results of earlier rounds and from random points at once. In each step
every point moves along the best of its directions (coordinates and random ones), until no point gains. Weights are
brought to an absolute sum of 1, since only their proportions matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from itersel.algorithms.epoch_job import START
from itersel.algorithms.kbest_job import KBestJob, is_left_out
from itersel.algorithms.line_search_job import LINES, ForestSearchJob, LineSearchJob, steps_of
from itersel.algorithms.section_job import OTHERS, ForestSectionJob
from itersel.algorithms.tuner import Tuned, Tuner, TunerConfig, Tuning, generator
from itersel.base.config import OneOf, Range
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Figure
from itersel.mapreduce.job import Record
from itersel.model.features import GROUPS, PREFIXES, template_of
from itersel.model.vectors import Vector
from itersel.tune.ascent import AscentOptions, Point, ascend, normalised_point, random_point, random_scales, within
from itersel.tune.space import Dimension, Lines, SearchSpace
from itersel.tune.surface import Step

MOST = 500
"""Dimensions that a line search can handle."""


@dataclass(frozen=True)
class MertConfig(TunerConfig):
    """How MERT searches."""

    space: Annotated[str, OneOf("list", "forest")] = "list"
    """list: over the lists collected so far; forest: over all derivations of the last decoding, without lists."""
    starts: Annotated[int, Range(1)] = 20
    """Points to search from: the last weights, results of earlier rounds, and random ones. Forests: 1 is usual."""
    random_directions: Annotated[int, Range(0)] = 2
    """Per point and step, besides the coordinates."""
    steps: Annotated[int, Range(1)] = 30
    """Most steps in a round."""
    least_gain: Annotated[float, Range(0)] = 1e-5
    """A point rests when no direction gains more (BLEU from 0 to 1)."""
    least_width: Annotated[float, Range(0)] = 1e-6
    """Intervals between changes that are narrower are passed over."""
    reach: Annotated[float, Range(0)] = 0.1
    """How far a step goes into an interval without an end."""
    fixed: tuple[str, ...] = ()
    """Features that no search moves: their weights keep their proportions to each other."""
    ranges: tuple[str, ...] = ()
    """Features with limits, such as `WordPenalty=-0.3:0` or `LanguageModel=0:`, for weights at an absolute sum of 1."""
    sparse: Annotated[str, OneOf("fixed", "grouped")] = "fixed"
    """Template features: fixed, or grouped, one dimension per template that scales all its weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.limits()

    def limits(self) -> dict[str, tuple[float, float]]:
        """The ranges by feature."""
        found = {}
        for text in self.ranges:
            name, equals, limits = text.rpartition("=")
            low, colon, high = limits.partition(":")
            try:
                pair = (float(low) if low else -math.inf, float(high) if high else math.inf)
            except ValueError:
                pair = (1.0, 0.0)
            if not (name and equals and colon and pair[0] <= pair[1]):
                raise ConfigError(f"ranges has {text!r}", hint="Write name=low:high, such as WordPenalty=-1:0.")
            found[name] = pair
        return found


class Mert(Tuner):
    """MERT on lists or on forests."""

    name, label = "mert", "MERT"
    config_class = MertConfig
    figures = (*Tuner.figures, Figure("line_searches", "line searches", "line_searches", form="count"))

    @property
    def keeps_lists(self) -> bool:  # type: ignore[override]
        return bool(self.config.space == "list")

    def decodings(self) -> int:
        """On forests: in every step of the search, for the cross-sections, and with the new weights."""
        return 1 if self.keeps_lists else self.config.steps + 2

    def left_out(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Also template features, as long as they have no weights and get none."""
        patterns = super().left_out(weights)
        templates = [f"{prefix}*" for group in GROUPS for prefix in PREFIXES[group]]
        if self.kbest_job is not KBestJob:  # whoever makes other lists of them needs them
            return patterns
        if self.config.sparse != "fixed" or any(is_left_out(name, templates) for name in weights):
            return patterns
        return tuple(dict.fromkeys([*patterns, *templates]))

    def only_drawn(self, weights: Mapping[str, float]) -> tuple[str, ...]:
        """Named template features, where the search needs none."""
        left, never = self.left_out(weights), self.settings.epoch.leave_out
        return tuple(one for one in self.config.sections if is_left_out(one, left) and not is_left_out(one, never))

    def tune(self, tuning: Tuning) -> Tuned:
        space, point = self.space(tuning)
        scales, counts = random_scales(space, tuning.memory.spread), list[int]()

        def search(step: int, lines: Lines) -> list[Step]:
            counts.append(len(lines))
            return self.search(tuning, step, lines)

        best, score = ascend(
            space,
            self.starting_points(space, point, scales, tuning),
            search,
            AscentOptions(self.config.steps, self.config.least_gain, self.config.random_directions),
            scales,
            lambda step: generator(self.config.seed, tuning.number, step + 1),
        )
        features = [k for k, one in enumerate(space.dimensions) if one.is_feature]
        best = best / (float(np.abs(best[features]).sum()) or 1.0)
        weights = {name: value for name, value in space.weights(best).items() if value}
        remembered = {space.dimensions[k].name: float(best[k]) for k in features}
        return Tuned(weights, score, {"line_searches": sum(counts)}, remembered)

    def space(self, tuning: Tuning) -> tuple[SearchSpace, Point]:
        """The dimensions, and the last weights as a point, normalised.

        Dense features that differ within lists are dimensions; the weights of all others only keep their proportion.
        """
        spread, limits = tuning.memory.spread, self.config.limits()
        moved = [name for name in sorted(spread) if spread[name] > 0 and template_of(name) is None]
        if not moved:
            raise InputError("no dense feature differs between the hypotheses of any list", hint="Is k large enough?")
        if len(moved) > MOST:
            raise InputError(
                f"MERT cannot search {len(moved)} dimensions", hint="Use pro or mira for so many features."
            )
        constant = [name for name in sorted(spread) if spread[name] == 0 and template_of(name) is None]
        if constant and tuning.number == 0:
            tuning.warnings.append(f"features that never vary within a list keep their weights: {_few(constant)}")
        unknown = sorted(
            name for name in {*self.config.fixed, *limits} - {*spread, *tuning.weights} if template_of(name) is None
        )
        if unknown and tuning.number == 0:
            tuning.warnings.append(f"features of fixed or ranges are in no list: {_few(unknown)}")
        scale = math.fsum(abs(tuning.weights.get(name, 0.0)) for name in moved) or 1.0
        dimensions = []
        for name in moved:
            low, high = limits.get(name, (-math.inf, math.inf))
            dimensions.append(Dimension.of_feature(name, held=name in self.config.fixed, low=low, high=high))
        tied: dict[str, dict[str, float]] = {}
        for name, value in tuning.weights.items():
            if name not in moved:
                tied.setdefault(template_of(name) or OTHERS, {})[name] = value / scale
        for template, members in sorted(tied.items()):
            held = self.config.sparse == "fixed" or template == OTHERS
            dimensions.append(Dimension(f"{template}*", members, held))
        space = SearchSpace(tuple(dimensions))
        if not space.free:
            raise InputError("no feature is left to tune", hint="Name fewer of them in mert.fixed.")
        point = [tuning.weights.get(name, 0.0) / scale for name in moved]
        return space, within(space, np.array(point + [1.0] * len(tied)))

    def starting_points(self, space: SearchSpace, point: Point, scales: Point, tuning: Tuning) -> list[Point]:
        """The last weights, earlier results (the latest first), and random points."""
        points, known = [point], {tuple(point)}
        for weights in reversed(tuning.memory.bests):
            earlier = np.array([weights.get(one.name, at) for one, at in zip(space.dimensions, point, strict=True)])
            if tuple(earlier) not in known and len(points) < max(self.config.starts // 2, 1):
                known.add(tuple(earlier))
                points.append(within(space, earlier))
        draw = generator(self.config.seed, tuning.number)
        while len(points) < self.config.starts:
            points.append(normalised_point(space, within(space, random_point(draw, space, scales, point))))
        return points

    def search(self, tuning: Tuning, step: int, lines: Lines) -> list[Step]:
        """The best step on each line, by a job over all shards."""
        config = self.config
        job = LineSearchJob(
            tuning.ranges,
            tuning.number,
            step,
            config.objective(),
            config.least_width,
            config.reach,
            one_shard=len(tuning.items) == 1,
        )
        side = {LINES: lines.to_bytes()}
        if self.keeps_lists:
            return steps_of(tuning.start(job, side))
        side[START] = Vector.of_names(tuning.weights).to_bytes()
        forests = ForestSearchJob(**vars(job), decoder=self.settings.epoch.decoder)
        return steps_of(tuning.start(forests, side, models=True))

    def section_job(self, tuning: Tuning, lines: Lines) -> list[Record]:
        if self.keeps_lists:
            return super().section_job(tuning, lines)
        job = ForestSectionJob(
            tuning.ranges,
            tuning.number,
            objective=self.config.objective(),
            one_shard=len(tuning.items) == 1,
            decoder=self.settings.epoch.decoder,
        )
        side = {LINES: lines.to_bytes(), START: Vector.of_names(tuning.weights).to_bytes()}
        return tuning.start(job, side, models=True)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
