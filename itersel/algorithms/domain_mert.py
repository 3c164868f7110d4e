"""MERT for several domains (PBML 2011): each domain has its own lists and weights, and the run's model is their mean.

    avg_mert        each domain runs MERT until its own stop
    multitask_mert  after each round, every weight of a domain moves towards the last round's mean by `lambda_`, at most
                    up to it

The printed pseudocode of multi-task MERT moves the weights that MERT started from, and so loses MERT's result; here
MERT's result is moved. Weights have an absolute sum of 1 per domain before they are moved or averaged. The domains are
the labels of the shards (`layout.kind: domains`); a shard without a label is a domain of its own. Each round's folder
has the domains' weights as domain.NAME.txt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar
from urllib.parse import quote

from itersel.algorithms.base import Algorithm, ItemsContext, Model, Round, RunContext
from itersel.algorithms.mert import Mert, MertConfig
from itersel.algorithms.tuner import Tuned, Tuner, Tuning, check_length, check_outcome, named, remarks_on
from itersel.base.config import Range
from itersel.base.errors import ConfigError
from itersel.base.figures import Figure
from itersel.mapreduce.shard_item import domain_of
from itersel.mapreduce.work_item import WorkItem
from itersel.model.domain_weights import average, normalised, weights_file
from itersel.model.feature_names import NameTable
from itersel.model.features import Weights
from itersel.model.vectors import Vector

Named = Mapping[str, float]


@dataclass(frozen=True)
class MultitaskMertConfig(MertConfig):
    """MERT's keys, and how the domains are tied together."""

    lambda_: Annotated[float, Range(0)] = 1e-4
    """How far a weight moves towards the mean in a round."""
    threshold: Annotated[float, Range(0)] = 1e-3
    """Stop when no weight of the mean changes by more."""


class DomainTuner(Mert):
    """MERT for one domain, whose result moves towards a mean."""

    sections = None  # those of several domains would need a file each

    def __init__(self, settings: Any, domain: str, centre: Named | None, rate: float):
        super().__init__(settings)
        self.memory_file = f"domain.{quote(domain, safe=' ')}.json"
        self.centre, self.rate = centre, rate

    def tune(self, tuning: Tuning) -> Tuned:
        tuned = super().tune(tuning)
        if self.centre is None:
            return tuned
        return replace(tuned, weights=moved_towards(normalised(tuned.weights), self.centre, self.rate))


class AvgMert(Algorithm):
    """The mean of MERT's results for each domain."""

    name, label = "avg_mert", "AvgMERT"
    config_class: ClassVar[type] = MertConfig
    small_set = by_domain = True
    options = Tuner.options
    statistics = Tuner.statistics
    figures = (
        *Mert.figures,
        Figure("active", "domains still tuned", "active", form="count"),
    )
    choice_without_devtest = Tuner.choice_without_devtest

    def check(self, items: Sequence[WorkItem]) -> None:
        if len(domains_of(items)) < 2:
            raise ConfigError(f"{self.name} needs at least two domains", hint="Set layout.kind: domains, or use mert.")
        if self.settings_of_domain().own.sections:
            raise ConfigError(
                f"{self.name}.sections names features, but {self.name} draws no cross-sections",
                hint="Leave it out, or run mert on one domain (--set domain=NAME).",
            )

    def settings_of_domain(self) -> Any:
        own = self.settings.own
        return replace(self.settings, own=self.config_class() if own is None else own)  # type: ignore[type-var]

    def centre(self, number: int, model: Model) -> Named | None:
        """What the domains' weights move towards; None: nothing."""
        del number, model
        return None

    @property
    def rate(self) -> float:
        return 0.0

    def round(self, number: int, model: Model, run: RunContext) -> Round:
        items = list(run.items(number))
        centre = self.centre(number, model)
        states, statistics = [b""] * len(items), list[Mapping[str, Any]]([{}] * len(items))
        weights, records = dict[str, Named](), dict[str, dict[str, Any]]()
        files, warnings = dict[str, bytes](), list[str]()
        active = 0
        known = {} if number == 0 else json.loads(_beside(model, DOMAINS).read_text())
        for domain, places in domains_of(items).items():
            tuner = DomainTuner(self.settings_of_domain(), domain, centre, self.rate)
            if domain in known and self.rests(tuner, known[domain]["facts"]):
                made = resting(model, domain, places, known[domain], tuner.memory_file)
                weights[domain] = named(made.weights, made.names.names)
            else:
                start = self.start(number, model, domain, places)
                made = tuner.round(number, start, ItemsContext(run, [items[k] for k in places]))
                weights[domain] = normalised(named(made.weights, made.names.names))
            active += not tuner.finished([made.facts])
            for k, state, counts in zip(places, made.states or [b""] * len(places), made.statistics, strict=True):
                states[k], statistics[k] = state, counts
            records[domain] = {"facts": made.facts, "statistics": [_counts(one) for one in made.statistics]}
            files |= made.files
            files[weights_file(domain)] = Weights(dict(weights[domain])).native.text()
            warnings += [f"{domain}: {text}" for text in made.warnings]
        files[DOMAINS] = (json.dumps(records, indent=1, sort_keys=True) + "\n").encode()
        facts = [record["facts"] for record in records.values()]
        mean = average(list(weights.values()))
        last = {} if model.file is None else named(model.weights, model.names)
        vector = Vector.of_names(mean)
        return Round(
            vector,
            NameTable({*model.names, *(name for one in weights.values() for name in one)}),
            statistics,
            facts={key: sum(one[key] for one in facts) / len(facts) for key in MEANS}
            | {key: sum(one[key] for one in facts) for key in SUMS}
            | {"weights": len(vector), "weight_change": change(last, mean), "active": active}
            | {LENGTHS: {domain: record["facts"]["length_ratio"] for domain, record in records.items()}},
            states=states,
            files=files,
            domains={domain: Vector.of_names(one) for domain, one in weights.items()},
            warnings=tuple(warnings),
        )

    def start(self, number: int, model: Model, domain: str, places: Sequence[int]) -> Model:
        """Where a domain's round starts from: its own weights, lists and memory of the last round."""
        if number == 0:
            return model
        weights = dict(Weights.read(_beside(model, weights_file(domain))))
        states = tuple(model.states[k] for k in places) if model.states else ()
        return replace(model, weights=Vector.of_names(weights), names=frozenset(weights) | model.names, states=states)

    def rests(self, tuner: DomainTuner, facts: Mapping[str, Any]) -> bool:
        """Whether the domain is done, by MERT's own stop in the last round."""
        return tuner.finished([facts])

    def finished(self, history: Sequence[Mapping[str, Any]]) -> bool:
        return bool(history[-1]["active"] == 0)

    def remarks(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> Sequence[str]:
        del history
        return remarks_on(chosen)

    def conclude(self, history: Sequence[Mapping[str, Any]], chosen: Mapping[str, Any]) -> None:
        for domain, ratio in chosen.get(LENGTHS, {}).items():  # earlier runs know the mean only
            check_length(ratio, f"the output of {domain}")
        check_outcome(history, chosen)


class MultitaskMert(AvgMert):
    """MERT whose domains' weights stay near their mean."""

    name, label = "multitask_mert", "MMERT"
    config_class = MultitaskMertConfig

    @property
    def config(self) -> Any:
        return self.settings_of_domain().own

    @property
    def rate(self) -> float:
        return float(self.config.lambda_)

    def rests(self, tuner: DomainTuner, facts: Mapping[str, Any]) -> bool:
        """Never: the mean still moves."""
        del tuner, facts
        return False

    def centre(self, number: int, model: Model) -> Named | None:
        return {} if number == 0 else named(model.weights, model.names)

    def finished(self, history: Sequence[Mapping[str, Any]]) -> bool:
        return bool(history[-1]["weight_change"] <= self.config.threshold)


MEANS = ("tune_score", "start_score", "list_score", "length_ratio")
SUMS = ("new_hypotheses", "line_searches")
LENGTHS = "length_ratios"
"""The fact with each domain's length ratio."""
DOMAINS = "domains.json"
"""The file in a round's folder with each domain's facts."""


def resting(model: Model, domain: str, places: Sequence[int], known: Mapping[str, Any], memory: str) -> Round:
    """The last round of a domain once more, with nothing new."""
    weights = dict(Weights.read(_beside(model, weights_file(domain))))
    return Round(
        Vector.of_names(weights),
        NameTable(weights),
        [{**one, "new_hypotheses": 0, "seconds": {}} for one in known["statistics"]],
        facts={**known["facts"], "new_hypotheses": 0, "weight_change": 0.0, "line_searches": 0},
        states=[model.states[k].read_bytes() for k in places] if model.states else (),
        files={memory: _beside(model, memory).read_bytes()},
    )


def domains_of(items: Sequence[WorkItem]) -> dict[str, list[int]]:
    """The places of each domain's shards, in code point order of the domains."""
    found: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        found.setdefault(domain_of(item) or f"shard {item.number}", []).append(place)
    return dict(sorted(found.items()))


def moved_towards(weights: Named, centre: Named, rate: float) -> dict[str, float]:
    """Every weight moved towards the centre's by `rate`, and not beyond it; what becomes 0 is left out."""
    made = {}
    for name in sorted({*weights, *centre}):
        at, aim = weights.get(name, 0.0), centre.get(name, 0.0)
        made[name] = max(aim, at - rate) if at > aim else min(aim, at + rate)
    return {name: value for name, value in made.items() if value}


def change(before: Named, after: Named) -> float:
    """The largest difference of a weight as it stands; from nothing, all of it."""
    return max((abs(before.get(name, 0.0) - after.get(name, 0.0)) for name in {*before, *after}), default=0.0)


def _beside(model: Model, name: str) -> Path:
    """A file of the last round's folder."""
    assert model.file is not None, "a round after the first starts from a file"
    return model.file.with_name(name)


def _counts(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """Without times, which differ from run to run."""
    return {key: value for key, value in statistics.items() if key != "seconds"}
