"""The Python interface: build, train, translate, rerank and evaluate in a script (docs/python-api.md).

Each function does what the verb of the same name does, with the same configuration and the same bytes. Files can be
given by name or as objects (`Shard`, `LanguageModel`, `Weights`, `Build`, `Run`); what a user did wrong is raised as a
`UserError`, what looks wrong is a Python warning.
"""

from __future__ import annotations

import inspect
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from itersel.base.config import Settings
from itersel.base.errors import ConfigError
from itersel.base.figures import Choice
from itersel.base.files import read_lines
from itersel.base.folders import RUN, check_folder_kind
from itersel.base.json_files import read_json
from itersel.decode.decoder import Decoder, DecoderConfig, Hypothesis
from itersel.decode.trained import TrainedModel
from itersel.evaluation.scoring import Evaluation, EvaluationOptions, System, score_systems
from itersel.grammar.grammar import Grammar
from itersel.lists.reader import FieldsConfig, read_lists
from itersel.lists.rescoring import rescore, score_of
from itersel.lm.model import LanguageModel
from itersel.model.domain_weights import ERROR, FOLDER, DomainWeights
from itersel.model.features import Weights
from itersel.pipeline import build as pipeline
from itersel.pipeline import build_paths
from itersel.pipeline.build_config import TRAIN, BuildConfig, load_config
from itersel.pipeline.stages import StageResult
from itersel.report import write_report
from itersel.run.config import TrainConfig, expand, load_train_config, load_with_algorithm
from itersel.run.devtest import translate_shards
from itersel.run.driver import train as run_training
from itersel.run.history import read_declaration
from itersel.run.rerank import train_reranker as run_reranker_training
from itersel.run.rerank_config import RerankConfig
from itersel.shards.shard import Shard

File: TypeAlias = str | os.PathLike[str]
Shards: TypeAlias = File | Shard | Iterable[File | Shard]
"""A shard file, a pattern such as `shards/*.itsh`, an opened shard, or several of them."""
Lines: TypeAlias = File | Sequence[str]
"""The name of a file with one sentence per line, or the sentences themselves."""
Config = TypeVar("Config")

SHARD_SUFFIX = ".itsh"
START_FILE = ".start.weights"
SYSTEM = "output"
"""Name of the only system of an evaluation."""


class Build:
    """What `build` made: shards of each set, and the language models."""

    def __init__(self, config: BuildConfig, stages: Sequence[StageResult] = ()):
        self.config, self.stages = config, tuple(stages)

    @property
    def directory(self) -> Path:
        return self.config.work

    @property
    def sets(self) -> list[str]:
        """Names of the sets that have shards."""
        return self.config.set_names

    def shards(self, name: str = TRAIN) -> list[Shard]:
        """The shards of a set, in order."""
        if name not in self.sets:
            raise ConfigError(f"there is no set {name!r}", hint=f"The sets are {', '.join(self.sets)}.")
        pattern = os.fspath(build_paths.shards_path(self.config, name) / f"*{SHARD_SUFFIX}")
        return [Shard(path) for path in expand([pattern], name)]

    @property
    def language_model(self) -> Path:
        return build_paths.language_model_path(self.config)

    @property
    def fold_models(self) -> list[Path]:
        """Models that each lack a fold of the training text (`lm.folds`), in the order of the folds."""
        return build_paths.fold_model_paths(self.config)

    def __repr__(self) -> str:
        return f"<Build {self.directory}: shards of {', '.join(self.sets)}>"


class Run:
    """A training run. `Run(directory)` opens one that is there; `train` returns the one it made."""

    def __init__(self, directory: File, *, _keep: object = None):
        self.directory = Path(directory)
        self._keep = _keep  # a temporary directory lives as long as its run
        self.manifest = read_json(self.directory / "manifest.json")
        self.configuration: dict[str, Any] = read_json(self.directory / "run.json")["configuration"]
        """As it was read, with all defaults."""

    @property
    def epochs(self) -> list[dict[str, Any]]:
        """What is known of each finished epoch: its number, from 1, number of weights, scores, warnings."""
        return [{key: value for key, value in one.items() if key != "files"} for one in self.manifest["epochs"]]

    @property
    def chosen(self) -> int:
        """The number, from 1, of the epoch whose weights are the run's: the best on devtest, or the last."""
        if self.manifest["chosen"] is None:
            raise ConfigError("the run is not finished", where=self.directory, hint="Train again to resume it.")
        return int(self.manifest["chosen"])

    @property
    def curve(self) -> list[float]:
        """What the epochs are chosen by, devtest BLEU as a rule: of the start weights, if that was measured, and after
        each epoch; empty if nothing was measured."""
        entries = [self.manifest.get("start", {}), *self.manifest["epochs"]]
        return [entry[self.choice.key] for entry in entries if self.choice.key in entry]

    @cached_property
    def choice(self) -> Choice:
        """The fact that decides which epoch's weights are the run's."""
        return read_declaration(self.directory).choice

    @cached_property
    def weights(self) -> Weights:
        """Weights of the chosen epoch."""
        return Weights.read(self.directory / "weights.txt.gz")

    @cached_property
    def domains(self) -> DomainWeights:
        """Weights of the chosen epoch for each domain, of algorithms that have such: avg_mert, multitask_mert."""
        if not (self.directory / FOLDER).is_dir():
            hint = "Runs of avg_mert and multitask_mert do, when they are finished."
            raise ConfigError("the run has no weights for domains", where=self.directory, hint=hint)
        return DomainWeights.read(self.directory / FOLDER)

    @property
    def translations(self) -> list[str]:
        """Devtest translations of the chosen epoch; empty if there is no devtest set."""
        path = self.directory / f"epoch-{self.chosen:03d}" / "devtest.txt.gz"
        return list(read_lines(path)) if path.exists() else []

    def report(self, path: File) -> Path:
        """Write an HTML page about the run; returns its path."""
        return write_report([self.directory], Path(path))

    def __repr__(self) -> str:
        facts = [str(self.configuration["algorithm"])]
        done = len(self.manifest["epochs"])
        facts.append(f"{done} epoch{'s' * (done != 1)}")
        if self.manifest["chosen"] is None:
            facts.append("not finished")
        else:
            entry = self.manifest["epochs"][self.chosen - 1]
            facts.append(f"{entry['weights']:,} weights of epoch {self.chosen}")
            facts += [f"{self.choice.label} {entry[self.choice.key]:.2f}"] if self.curve else []
        return f"<Run {self.directory}: {', '.join(facts)}>"


def build(config: File | BuildConfig, **settings: Any) -> Build:
    """Make shards and language models from parallel text, as `itersel build`; what is up to date is kept.

    `config` is a YAML file such as conf/sample.yaml. `settings` replace values of the file: `work="folder", jobs=2,
    lm={"order": 4}`; paths among them are relative to the current folder.
    """
    if isinstance(config, BuildConfig):
        if settings:
            raise ConfigError("settings are for a configuration file", hint="Use dataclasses.replace on a BuildConfig.")
    else:
        config = load_config(config, _assignments(settings))
    return Build(config, list(pipeline.build(config)))


def train(
    shards: Shards | Build | None = None,
    directory: File | None = None,
    *,
    config: File | TrainConfig | None = None,
    devtest: Shards | None = None,
    language_model: File | LanguageModel | None = None,
    fold_models: Iterable[File] | None = None,
    start: File | Mapping[str, float] | None = None,
    **settings: Any,
) -> Run:
    """Train weights on a build or on shards, as `itersel train`. The same call resumes an interrupted run.

    A `Build` has shards, devtest and language models; `learn_from="dev"` names the set to learn from.
    Without a directory, the files of the run are temporary and go when the `Run` does. `config` is a YAML file such as
    conf/train.yaml; `settings` are keys of that file: `algorithm="sgd", epochs=5, epoch={"learn": {"eta": 1e-4}},
    run={"jobs": 2}`.
    """
    place, keep = _directory(directory)
    is_build = isinstance(shards, Build)
    given: dict[str, Any] = {
        "build": os.fspath(shards.directory) if isinstance(shards, Build) else None,
        "shards": None if shards is None or is_build else _names(shards),
        "devtest": None if devtest is None else _names(devtest),
        "language_model": None if language_model is None else _model_name(language_model),
        "fold_models": None if fold_models is None else [os.fspath(path) for path in fold_models],
        "start": None if start is None else _start_name(start, place),
    }
    settings |= {key: value for key, value in given.items() if value is not None}
    run_training(_configuration(TrainConfig, config, settings), place, warn=_warn)
    return Run(place, _keep=keep)


def train_reranker(
    lists: File | Iterable[File] | None = None,
    references: File | Iterable[File] | None = None,
    directory: File | None = None,
    *,
    config: File | RerankConfig | None = None,
    devtest: File | Iterable[File] | None = None,
    devtest_references: File | Iterable[File] | None = None,
    start: File | Mapping[str, float] | None = None,
    **settings: Any,
) -> Run:
    """Train weights on n-best lists of any system, as `itersel rerank train`.

    `lists` and `references` are files. Without references, `fields={"objective": NAME}` names the score that each
    hypothesis carries. All else is as for `train`; conf/rerank.yaml has the keys of `settings`.
    """
    place, keep = _directory(directory)
    files = {"lists": lists, "references": references, "devtest": devtest, "devtest_references": devtest_references}
    settings |= {key: _names(value) for key, value in files.items() if value is not None}
    settings |= {} if start is None else {"start": _start_name(start, place)}
    run_reranker_training(_configuration(RerankConfig, config, settings), place, warn=_warn)
    return Run(place, _keep=keep)


def translate(
    given: str | Sequence[str] | Shards,
    weights: Run | File | Mapping[str, float] | DomainWeights,
    *,
    grammar: Grammar | None = None,
    language_model: File | LanguageModel | None = None,
    options: DecoderConfig | None = None,
    domain: str | None = None,
    unknown_domains: str = ERROR,
    jobs: int = 1,
) -> list[str]:
    """The best translation of each sentence: of sentences with one grammar, or of the sentences of shards.

    With a `grammar`, `given` is one tokenised sentence or several; without, it is shards, which have grammars. The
    weights of a `Run` come with its language model. `jobs` processes translate shards, with the same result.
    With the `DomainWeights` of a run (`run.domains`), of several runs or of a folder, each sentence of a shard gets the
    weights of its domain, or those of `domain`; `unknown_domains="mean"` has the mean for domains without weights.
    """
    if isinstance(weights, Run) and language_model is None:
        language_model = weights.configuration.get("language_model")
    model = language_model
    if model is not None and not isinstance(model, LanguageModel):
        model = LanguageModel(model)
    learned: Weights | DomainWeights
    if isinstance(weights, DomainWeights):
        learned = weights.prepared(domain, unknown_domains)
    elif isinstance(weights, str | os.PathLike):
        learned = TrainedModel.read(weights).prepared(domain, unknown_domains)
    else:
        learned = _weights(weights)
    if grammar is None:
        opened = [Shard(path) for path in expand(_names(given), "shards")]  # also where a Shard is given: cheap
        return translate_shards(opened, learned, model, options or DecoderConfig(), jobs)
    decoder = Decoder(learned.of("") if isinstance(learned, DomainWeights) else learned, model, options)
    sentences = [given] if isinstance(given, str) else given
    assert isinstance(sentences, Iterable)
    return [decoder.translate(str(sentence), grammar) for sentence in sentences]


def rerank(
    lists: File | Sequence[File] | Sequence[Sequence[Hypothesis]],
    weights: Run | File | Mapping[str, float],
    *,
    fields: FieldsConfig | None = None,
    jobs: int = 1,
) -> list[str]:
    """The best text of each n-best list by these weights; of equals, the first.

    `lists` are files, as `itersel rerank apply` reads them, or lists of hypotheses, as `Decoder.kbest` returns them.
    """
    learned = _weights(weights)
    if isinstance(lists, str | os.PathLike):
        lists = [lists]
    in_memory = [one for one in lists if not isinstance(one, str | os.PathLike)]
    if in_memory:
        sorted_lists = [sorted(one, key=lambda found: -score_of(found.features, learned)) for one in in_memory]
        return [one[0].text if one else "" for one in sorted_lists]
    paths = [os.fspath(one) for one in lists if isinstance(one, str | os.PathLike)]
    lines = rescore(read_lists(paths, fields or FieldsConfig()), dict(learned), best_only=True, jobs=jobs)
    return [line.removesuffix("\n") for line in lines]


def evaluate(
    outputs: Lines | Mapping[str, Lines | Sequence[Lines]],
    references: Lines | Sequence[Lines] | Shard | Sequence[Shard],
    **options: Any,
) -> Evaluation:
    """Score outputs and test their differences, as `itersel evaluate`.

    `outputs` are the lines of one system, or a mapping from names to lines; several lists of lines under one name are
    runs of that system. `references` are lines, a list of several such, or the shards that were translated. `options`
    are those of `itersel.evaluation.scoring.EvaluationOptions`: `metrics=("bleu",), trials=1000, baseline="dense"`.
    """
    named = outputs if isinstance(outputs, Mapping) else {SYSTEM: outputs}
    systems = [System(name, _runs(lines)) for name, lines in named.items()]
    evaluation = score_systems(systems, _references(references), EvaluationOptions(**options))
    for text in evaluation.warnings:
        _warn(text)
    return evaluation


def _warn(text: str) -> None:
    """A Python warning about the line that called this package."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("itersel."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def _directory(given: File | None) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    if given is not None:
        return Path(given), None
    made = tempfile.TemporaryDirectory(prefix="itersel-run-")
    return Path(made.name), made


def _names(given: Any) -> list[str]:
    """File names of shards or lists, given by name or opened."""
    if isinstance(given, str | os.PathLike | Shard):
        given = [given]
    return [one.path if isinstance(one, Shard) else os.fspath(one) for one in given]


def _model_name(model: File | LanguageModel) -> str:
    return model.path if isinstance(model, LanguageModel) else os.fspath(model)


def _start_name(start: File | Mapping[str, float], directory: Path) -> str:
    if not isinstance(start, Mapping):
        return os.fspath(start)
    check_folder_kind(directory, RUN)
    directory.mkdir(parents=True, exist_ok=True)
    (start if isinstance(start, Weights) else Weights(start)).write(directory / START_FILE)
    return os.fspath(directory / START_FILE)


def _weights(given: Run | File | Mapping[str, float]) -> Weights:
    if isinstance(given, Run):
        return given.weights
    if isinstance(given, Weights):
        return given
    return Weights(given) if isinstance(given, Mapping) else Weights.read(given)


def _configuration(kind: type[Config], given: File | Config | None, settings: dict[str, Any]) -> Config:
    """The configuration of a file, or the defaults, with settings over it."""
    if isinstance(given, kind):
        if settings:
            raise ConfigError(
                f"{', '.join(settings)}: a {kind.__name__} is complete", hint="Use dataclasses.replace on it."
            )
        return given
    assert given is None or isinstance(given, str | os.PathLike)
    values = Settings() if given is None else Settings.read(given)
    for assignment in _assignments(settings):
        key, _, text = assignment.partition("=")
        values = values.put(key, json.loads(text))
    if kind is TrainConfig:
        return load_train_config(values)  # type: ignore[return-value]
    return load_with_algorithm(kind, values)


def _assignments(settings: Mapping[str, Any], prefix: str = "") -> list[str]:
    """The settings as `key=value`, the form of the command line's --set; keys of nested ones are joined by dots."""
    found: list[str] = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found += _assignments(value, f"{prefix}{key}.")
        else:
            found.append(f"{prefix}{key}={json.dumps(value, default=os.fspath, ensure_ascii=False)}")
    return found


def _lines(given: Lines) -> list[str]:
    return list(read_lines(given)) if isinstance(given, str | os.PathLike) else list(given)


def _runs(given: Lines | Sequence[Lines]) -> list[list[str]]:
    """One list of lines, or several."""
    if isinstance(given, str | os.PathLike) or all(isinstance(one, str) for one in given):
        return [_lines(given)]  # type: ignore[arg-type]
    return [_lines(one) for one in given]


def _references(given: Lines | Sequence[Lines] | Shard | Sequence[Shard]) -> list[list[str]]:
    """A list of references for each sentence."""
    if isinstance(given, Shard):
        given = [given]
    shards = [one for one in given if isinstance(one, Shard)] if not isinstance(given, str | os.PathLike) else []
    if shards:
        return [shard.references(number) for shard in shards for number in range(len(shard))]
    columns = _runs(given)  # type: ignore[arg-type]
    if len({len(lines) for lines in columns}) > 1:
        raise ConfigError(f"references of {', '.join(str(len(lines)) for lines in columns)} lines")
    return [[text for text in texts if text.strip()] for texts in zip(*columns, strict=True)]
