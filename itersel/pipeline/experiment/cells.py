"""The cells of an experiment: each is a training and translations of the test sets; resumable.

In: an `ExperimentConfig` and its build. Out: one folder per cell below the build's work folder (a training run,
translations of the test sets, `cell.json`), and a `CellResult`. A cell's folder is named by a hash of everything its
training depends on, data by content: what is done is not done again, and a changed configuration gets its own folder.
Cells train on the engine that the configuration names; the test sets are translated by processes of this machine.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import quote

from itersel.algorithms.registry import algorithm_class
from itersel.base import events
from itersel.base.errors import ConfigError, InputError
from itersel.base.figures import Declaration
from itersel.base.files import atomic_write, file_checksum
from itersel.base.json_files import read_json, write_json
from itersel.base.usage import Stopwatch, Usage, total
from itersel.decode.decoder import DecoderConfig
from itersel.engines.config import LOCAL
from itersel.learn.epoch import EpochConfig
from itersel.lists.source import open_source
from itersel.lm.model import LanguageModel
from itersel.model.domain_weights import FOLDER as DOMAINS
from itersel.model.domain_weights import DomainWeights
from itersel.model.features import GROUPS, PREFIXES, Weights, parse_groups
from itersel.pipeline.build import build
from itersel.pipeline.build_config import TRAIN
from itersel.pipeline.build_paths import fold_model_paths, language_model_path, shards_path
from itersel.pipeline.experiment.chosen_shards import ChosenShards, chosen_shards, file_name
from itersel.pipeline.experiment.config import BY_DOMAIN, GIVEN, Cell, ExperimentConfig, run_suffix
from itersel.pipeline.stages import StageResult
from itersel.run.config import TrainConfig, expand, identity
from itersel.run.defaults import with_defaults
from itersel.run.devtest import FIGURES as DEVTEST_FIGURES
from itersel.run.devtest import score, translate_shards
from itersel.run.driver import train
from itersel.run.history import EpochRecord, read_history
from itersel.shards.shard import Shard

FORMAT = 3
GIVEN_WEIGHTS = Declaration(GIVEN, "given weights", 0, figures=DEVTEST_FIGURES)
"""What is measured of weights that nothing was trained for."""


@dataclass(frozen=True)
class CellPlan:
    """A cell with its data and its folder."""

    cell: Cell
    training: TrainConfig
    """With shards, devtest and language model; for given weights, what they are translated with."""
    tests: dict[str, tuple[str, ...]]
    model: str
    """The language model to translate the test sets with: that of the whole training text, for all cells."""
    decoder: DecoderConfig
    """Limits of the search in the test sets."""
    folder: Path
    domains: tuple[str, ...] = ()
    """The domains with a training each; none: there is one training."""
    sentences: int = 0
    """Sentences to decode in all epochs and in the test sets: about how much work it is."""
    start: CellPlan | None = None
    """The cell whose weights the training starts from."""

    @property
    def depth(self) -> int:
        """How many cells must be finished before this one, one after the other."""
        return 0 if self.start is None else 1 + self.start.depth

    @property
    def run(self) -> Path:
        """The training's directory, which is called as the cell; of several, how their names begin."""
        return self.folder / self.cell.training_name

    @property
    def trainings(self) -> dict[Path, TrainConfig]:
        """What is trained, by directory; nothing for given weights."""
        if self.cell.algorithm == GIVEN:
            return {}
        if not self.domains:
            return {self.run: self.training}
        return {
            self.run.with_name(f"{self.run.name}.{quote(domain, safe=' ')}"): replace(self.training, domain=domain)
            for domain in self.domains
        }

    def weights(self) -> Weights | DomainWeights:
        """What the test sets are translated with, after the training."""
        if self.cell.algorithm == GIVEN:
            return Weights.read(self.cell.weights or "")
        runs = list(self.trainings)
        if self.cell.by_domain and not self.domains:
            return DomainWeights.read(runs[0] / DOMAINS)
        learned = [Weights.read(run / "weights.txt.gz") for run in runs]
        return DomainWeights(dict(zip(self.domains, learned, strict=True))) if self.domains else learned[0]

    @property
    def system(self) -> str:
        """The name that all repeats share."""
        return self.cell.system

    @property
    def record(self) -> Path:
        return self.folder / f"cell{self._part}.json"

    def translations(self, test: str) -> Path:
        return self.folder / f"{file_name(test)}{self._part}.txt.gz"

    @property
    def _part(self) -> str:
        """Tells its files from those of a cell that shares the training."""
        return f".{BY_DOMAIN}" if self.cell.by_domain else ""


@dataclass(frozen=True)
class CellResult:
    """What became of a cell."""

    name: str
    algorithm: str
    declaration: Declaration
    """Label and number of the algorithm, its figures, and what its epochs are chosen by."""
    tuning: str
    features: str
    varied: dict[str, Any]
    weights: int
    """Number of non-zero weights of the chosen epoch; of several models, of all together."""
    chosen: int | None
    """The epoch, from 1; None for given weights and several trainings."""
    facts: dict[str, float]
    """Declared numbers of the chosen epoch, or of the given weights."""
    epochs: list[dict[str, float]]
    """Declared numbers of every epoch, with its number as `epoch`; of several trainings one after the other."""
    cpu_seconds: float
    """Processor time of the training's decoding and learning, over all epochs. On other machines, only that of each
    epoch's main job is known."""
    wall_seconds: float | None
    """Wall time of its epochs and of translating the test sets; None if an epoch did not record it."""
    peak_megabytes: int | None
    """The largest that any of these recorded (itersel.base.usage)."""
    jobs: int | None
    """Processes that worked on it."""
    side_by_side: int
    """How many cells ran side by side when this one finished."""
    commit: str
    """The code that trained it and translated the test sets; several commits if it took several runs."""
    tests: dict[str, list[str]]
    """What the translations depend on besides the weights: limits of the search, and checksums of the language model
    and the shards."""
    run: int = 1
    """Which of the repeats."""
    label: str = ""
    """The name of its block in the grid, if it has one."""
    models: int = 1
    """Into how many models the weights are divided: one for each domain, or one for all."""
    sentences: int = 0
    """Sentences of the tuning set; 0 for given weights, and for cells of earlier versions."""
    test_seconds: float | None = None
    """Processor time of translating the test sets; None if not recorded."""

    @property
    def sent_bytes(self) -> float | None:
        """What the shards sent in all epochs; None if the algorithm does not count it."""
        known = [epoch["sent"] for epoch in self.epochs if "sent" in epoch]
        return sum(known) if known else None

    @property
    def system(self) -> str:
        """The name that all repeats share."""
        return self.name.removesuffix(run_suffix(self.run))


def build_data(config: ExperimentConfig, jobs: int = 1) -> list[StageResult]:
    """Make whatever of the build is not there yet."""
    return list(build(replace(config.build, jobs=jobs)))


def is_begun(config: ExperimentConfig) -> bool:
    """Whether there are shards, without which no cell can be finished."""
    named = [part.name for text in (config.devtest, *config.tests) for part in ChosenShards.parse(text)]
    return all(shards_path(config.build, name).is_dir() for name in named)


def matching_cells(config: ExperimentConfig, pattern: str) -> list[Cell]:
    return [cell for cell in config.cells if fnmatchcase(cell.name, pattern)]


def chosen_cells(config: ExperimentConfig, pattern: str) -> list[Cell]:
    """Those that match, at least one."""
    chosen = matching_cells(config, pattern)
    if not chosen:
        names = ", ".join(cell.name for cell in config.cells)
        raise ConfigError(f"no cell of the grid matches {pattern!r}", hint=f"There are {names}.")
    return chosen


def plan_cells(config: ExperimentConfig, *, only: str = "*") -> list[CellPlan]:
    """The cells whose name matches the pattern, with their data, which must have been built."""
    chosen = chosen_cells(config, only)
    devtest = _shards(config, config.devtest, "devtest")
    tests = {name: _shards(config, name, "tests") for name in config.tests}
    return [_plan(config, cell, devtest, tests) for cell in chosen]


def _plan(config: ExperimentConfig, cell: Cell, devtest: Sequence[str], tests: dict[str, tuple[str, ...]]) -> CellPlan:
    # Whoever learns from the training sentences should not have a language model that knows their references.
    trains = TRAIN in cell.tuning_sets
    unseen = config.build.lm.unseen and trains
    folds = tuple(map(os.fspath, fold_model_paths(config.build) if trains else ()))
    model = os.fspath(language_model_path(config.build))
    learned_with = os.fspath(language_model_path(config.build, unseen=unseen))
    training = replace(
        cell.training, devtest=tuple(devtest), language_model=learned_with, fold_models=folds, run=config.run
    )
    if cell.algorithm == GIVEN:
        # Nothing is trained, but the devtest score depends on all that a training's would.
        key = identity(training, [], [open_source(path) for path in devtest]) | {
            "weights": file_checksum(cell.weights or "")
        }
    else:
        shards = _shards(config, cell.tuning, "tuning")
        training = replace(training, shards=shards, epoch=_with_groups(cell, shards), own=_with_dev(config, cell))
        training = with_defaults(training, [open_source(path) for path in training.shards])
        key = identity(
            training, [open_source(path) for path in training.shards], [open_source(path) for path in devtest]
        )
    start = _start_plan(config, cell, devtest, tests)
    if start is not None:  # by what it is made of, as the weights may not be there yet
        key["start"] = start.folder.name
        training = replace(training, start=os.fspath(start.run / "weights.txt.gz"))
    digest = hashlib.sha256(json.dumps(key | {"cell": cell.training_name}, sort_keys=True).encode()).hexdigest()
    folder = config.build.work / "experiments" / config.name / digest[:12]
    domains = _domains(cell, training, tests) if cell.by_domain else ()
    decoder = config.decoder or training.epoch.decoder
    return CellPlan(cell, training, tests, model, decoder, folder, domains, _sentences(cell, training, tests), start)


def _start_plan(
    config: ExperimentConfig, cell: Cell, devtest: Sequence[str], tests: dict[str, tuple[str, ...]]
) -> CellPlan | None:
    """The plan of the cell that this one starts from: the run of the same number, if there is one, or the first."""
    if not cell.start_from:
        return None
    runs = {one.run: one for one in config.cells if one.system == cell.start_from}
    return _plan(config, runs.get(cell.run, runs[1]), devtest, tests)


def _with_dev(config: ExperimentConfig, cell: Cell) -> Any:
    """The algorithm's own configuration, with the shards of the cell's development set."""
    own = cell.training.own
    if not cell.dev:
        return own
    kind = algorithm_class(cell.algorithm).config_class
    if kind is None or "dev" not in {one.name for one in fields(kind)}:
        raise ConfigError(f"{cell.name}: {cell.algorithm} has no key dev", hint="Leave out dev.")
    return replace(own or kind(), dev=_shards(config, cell.dev, "dev"))


def _sentences(cell: Cell, training: TrainConfig, tests: dict[str, tuple[str, ...]]) -> int:
    """Sentences that the cell decodes, in all epochs: those of a tuning set as often as a round does."""

    def count(paths: Sequence[str]) -> int:
        return sum(len(Shard(path)) for path in paths)

    tested = sum(map(count, tests.values()))
    if cell.algorithm == GIVEN:
        return count(training.devtest) + tested
    each = algorithm_class(cell.algorithm)(training).decodings() * count(training.shards) + count(training.devtest)
    return training.epochs * each + tested


def _domains(cell: Cell, training: TrainConfig, tests: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The domains to train for one by one, if the algorithm does not; ConfigError if devtest or a test set has others,
    or if devtest lacks one."""
    known, devtest = _labels(training.shards), _labels(training.devtest)
    hint = "Give the sets labels (`domains`), and the tuning set all domains of devtest and the test sets."
    tested = {name: _labels(shards) for name, shards in tests.items()}
    tested |= {} if "" in devtest else {"devtest": devtest}
    for name, labels in ((cell.tuning, known), *tested.items()):
        if "" in labels:
            raise ConfigError(f"{cell.name}: {name} has sentences without a domain", hint=hint)
        if labels - known:
            first = min(labels - known)
            raise ConfigError(f"{cell.name}: {name} has the domain {first!r}, but {cell.tuning} has not", hint=hint)
    if algorithm_class(cell.algorithm).by_domain:
        return ()
    if devtest != {""} and known - devtest:
        first = min(known - devtest)
        raise ConfigError(
            f"{cell.name}: {cell.tuning} has the domain {first!r}, but devtest has not",
            hint="Give devtest sentences of all domains, or no labels.",
        )
    return tuple(sorted(known))


def _labels(shards: Sequence[str]) -> set[str]:
    return {shard.domain(number) for shard in map(Shard, shards) for number in range(len(shard))}


def _with_groups(cell: Cell, shards: Sequence[str]) -> EpochConfig:
    """The cell's epochs without the shards' features of other groups: equal to shards compiled without them."""
    wanted, epoch = parse_groups(cell.features), cell.training.epoch
    for path in shards:
        missing = wanted - Shard(path).groups
        if missing:
            raise ConfigError(
                f"{cell.name} needs the features {', '.join(sorted(missing))}, which the shard does not have",
                where=path,
                hint="Build with shards.features: all.",
            )
    others = [f"{prefix}*" for group in GROUPS if group not in wanted for prefix in PREFIXES[group]]
    return replace(epoch, leave_out=(*epoch.leave_out, *others))


def _shards(config: ExperimentConfig, text: str, key: str) -> tuple[str, ...]:
    """The shards that the option `key` names."""
    return chosen_shards(text, key, lambda name: expand([os.fspath(shards_path(config.build, name) / "*.itsh")], name))


def run_cell(plan: CellPlan, jobs: int = 1, *, side_by_side: int = 1) -> CellResult:
    """Train, or resume the training; then translate the test sets with the chosen epoch's weights."""
    if plan.start is not None and finished(plan.start) is None:
        raise ConfigError(
            f"{plan.cell.name} starts from {plan.start.cell.name}, which is not finished",
            hint="Run that one first: leave out --only.",
        )
    for directory, training in plan.trainings.items():
        if training.run.runner == LOCAL:
            training = replace(training, run=replace(training.run, jobs=jobs))
        train(training, directory, warn=events.warn)
    histories = [read_history(directory) for directory in plan.trainings]
    watch = Stopwatch()  # from here on: the epochs have recorded what they took
    weights, model = plan.weights(), LanguageModel(plan.model)
    trained = [epoch for history in histories for epoch in history.epochs]
    epochs = [{"epoch": one.number, **one.whole.sums} for one in trained]
    facts = _mean_facts([history.best.whole.sums for history in histories if history.best is not None])
    if not histories or (plan.cell.by_domain and "" not in _labels(plan.training.devtest)):
        facts |= _devtest_facts(plan.training, weights, model, jobs)
    for name, paths in plan.tests.items():
        lines = translate_shards([Shard(path) for path in paths], weights, model, plan.decoder, jobs)
        with atomic_write(plan.translations(name)) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())
    tested = watch.lap(jobs)
    used = total([*(Usage.of(one.made or {}) for one in trained), tested])
    result = CellResult(
        name=plan.cell.name,
        algorithm=plan.cell.algorithm,
        declaration=histories[0].declaration if histories else GIVEN_WEIGHTS,
        tuning=plan.cell.tuning,
        features=plan.cell.features,
        varied=plan.cell.varied,
        weights=sum(map(len, weights.by_domain.values())) if isinstance(weights, DomainWeights) else len(weights),
        chosen=histories[0].chosen if len(histories) == 1 else None,
        facts=facts,
        epochs=epochs,
        cpu_seconds=sum(map(cpu_seconds_of, trained)),
        wall_seconds=used.wall_seconds,
        peak_megabytes=used.peak_megabytes,
        jobs=used.jobs,
        side_by_side=side_by_side,
        commit=used.commit,
        tests=_test_conditions(plan),
        run=plan.cell.run,
        label=plan.cell.label,
        models=len(weights.by_domain) if isinstance(weights, DomainWeights) else 1,
        sentences=sum(len(Shard(path)) for path in plan.training.shards) if plan.trainings else 0,
        test_seconds=tested.cpu_seconds,
    )
    write_json(plan.record, {"format": FORMAT, "epochs_wanted": plan.training.epochs} | asdict(result))
    return result


def cpu_seconds_of(epoch: EpochRecord) -> float:
    """Of all jobs of an epoch, or at least of those that report what each shard took."""
    spent = Usage.of(epoch.made or {}).cpu_seconds
    return max(epoch.whole.total_seconds, spent or 0.0)


def _mean_facts(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The facts that all trainings have."""
    shared = [key for key in several[0] if all(key in one for one in several)] if several else []
    return {key: fmean(one[key] for one in several) for key in shared} if len(several) != 1 else dict(several[0])


def _devtest_facts(
    training: TrainConfig, weights: Weights | DomainWeights, model: LanguageModel, jobs: int
) -> dict[str, float]:
    """Devtest scores of given weights, as after an epoch."""
    shards = [Shard(path) for path in training.devtest]
    return score(shards, translate_shards(shards, weights, model, training.epoch.decoder, jobs)).facts


def finished(plan: CellPlan) -> CellResult | None:
    """The cell's result if it is complete: as many epochs, and all test sets as they are now."""
    place = plan.record
    if not place.exists():
        return None
    record = read_json(place)
    if record.pop("format", None) != FORMAT or record.pop("epochs_wanted", None) != plan.training.epochs:
        return None
    known = record.get("tests", {})
    for name, sums in _test_conditions(plan).items():
        if known.get(name) != sums or not plan.translations(name).exists():
            return None
    try:
        declaration = Declaration.from_json(record.get("declaration"))
    except InputError as error:
        raise InputError(error.message, where=place) from None
    return CellResult(**record | {"declaration": declaration})


def _test_conditions(plan: CellPlan) -> dict[str, list[str]]:
    limits = [f"{key} {value}" for key, value in asdict(plan.decoder).items()]
    common = [*limits, file_checksum(plan.model)]
    return {name: [*common, *(f"{Shard(path).checksum:016x}" for path in paths)] for name, paths in plan.tests.items()}
