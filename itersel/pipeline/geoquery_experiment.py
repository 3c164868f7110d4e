"""The experiment of ACL 2014: baseline, EXEC, RAMPION and REBOL × two parsers, on GeoQuery's German questions.

A configuration (conf/experiments/acl2014.yaml) comes in. A base system is built from general text, the 600 training
questions are learned from, η is chosen by cross-validation on them, and the 280 test questions are translated, parsed
and answered at the end. Tables go out as Markdown and as an HTML page; translations and outcomes as JSON lines. Run the
same experiment again to resume it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from itersel.base.config import PathStr, Range, Settings, load, validate
from itersel.base.config import build as make_config
from itersel.base.errors import ConfigError, InputError
from itersel.base.files import atomic_write, file_checksum, read_lines
from itersel.base.json_files import read_json, write_json
from itersel.base.paper_table import PaperTable
from itersel.evaluation.scoring import EvaluationOptions, System, score_systems
from itersel.evaluation.significance import system_score
from itersel.lists.source import ListOptions, open_source
from itersel.lm.model import LanguageModel
from itersel.metrics.corpus import CorpusMetric, Statistics
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.pipeline.build import build
from itersel.pipeline.build_config import BuildConfig
from itersel.pipeline.build_paths import index_path, language_model_path
from itersel.pipeline.geoquery_parser import ParserFiles, build_parser
from itersel.pipeline.geoquery_tables import (
    Tested,
    difference_table,
    eta_table,
    example_table,
    markdown,
    parser_table,
    run_table,
    score_table,
    variants,
    wins,
)
from itersel.pipeline.geoquery_text import (
    SelectionOfText,
    model_lines,
    name_pairs,
    read_pairs,
    select_pairs,
    spelled,
)
from itersel.report import write_report
from itersel.response.config import checksum_of
from itersel.response.geoquery.data import (
    EMPTY_ANSWER,
    Fold,
    Question,
    read_corrected_german,
    read_questions,
    read_splits,
)
from itersel.response.geoquery.database import FACTS_FILE, read_database
from itersel.response.geoquery.response import GeoQueryResponse
from itersel.response.geoquery.scores import f1_scores
from itersel.run.config import TrainConfig, load_train_config
from itersel.run.directory import RunDirectory
from itersel.run.driver import train
from itersel.shards.assignment import Layout
from itersel.shards.compiler import Corpus, IndexGrammars, ShardCompiler
from itersel.shards.folder import write_shards

METHODS = ("exec", "rampion", "rebol")
PARSERS = ("extended", "original")
ASKING = ("exec", "rebol")
"""The methods that learn from a parser's answers, so that each parser has runs of its own."""
TITLE = "ACL 2014 on GeoQuery, German to English"
TEXT_RECORD = "text.json"
"""What the text in the work folder was made of; written last."""


@dataclass(frozen=True)
class Acl2014Config:
    """The whole experiment."""

    work: Path
    data: PathStr
    """GeoQuery's folder."""
    corpora: tuple[PathStr, ...]
    """General German-English text: files NAME.de.gz and NAME.en.gz."""
    start: PathStr
    """Weights of the baseline, and of all before they learn."""
    text: SelectionOfText = field(default_factory=SelectionOfText)
    build: Settings = field(default_factory=lambda: Settings.of({}))
    """Keys of `itersel build` for the base system."""
    train: Settings = field(default_factory=lambda: Settings.of({}))
    """Keys of `itersel train` for all methods."""
    etas: tuple[float, ...] = (0.01, 0.001, 0.0001)
    given_etas: dict[str, Annotated[float, Range(above=0)]] = field(default_factory=dict)
    """Rates of methods or variants that are known: these are not cross-validated."""
    folds: Annotated[int, Range(2)] = 3
    fold_epochs: Annotated[int, Range(1)] = 3
    seeds: tuple[int, ...] = (1,)
    """A training run for each, with another order of the questions."""
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Further rows of the tables by name: `algorithm`, and keys that differ from `train`'s under its name."""

    def __post_init__(self) -> None:
        validate(self)
        for key in ("corpora", "etas", "seeds"):
            values = getattr(self, key)
            if not values:
                raise ConfigError(f"{key} needs at least one value")
            if len(set(values)) < len(values):
                raise ConfigError(f"{key} has a value twice")
        if min(self.etas) <= 0:
            raise ConfigError("etas must be above 0")
        if min(self.seeds) < 0:
            raise ConfigError("seeds must be at least 0")
        unknown = sorted({*self.given_etas} - {*METHODS, *self.variants})
        if unknown:
            raise ConfigError(
                f"given_etas names {unknown[0]!r}, which is no method",
                hint=f"Choose among {', '.join([*METHODS, *self.variants])}.",
            )
        for name, keys in self.variants.items():
            if keys.get("algorithm") not in METHODS or name in METHODS:
                raise ConfigError(
                    f"variants.{name}: a variant needs a name of its own and an algorithm",
                    hint=f"Give algorithm: one of {', '.join(METHODS)}.",
                )


def load_experiment(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Acl2014Config:
    """Read the file, then apply overrides `key=value`."""
    config = load(Acl2014Config, Settings.read(path).override(overrides))
    Acl2014(config).check()
    return config


class Acl2014:
    """One experiment in its work folder."""

    def __init__(self, config: Acl2014Config):
        self.config, self.work = config, config.work
        self.folders: dict[tuple[str, str], list[Path]] = {}
        """The final training runs by method and parser, one per seed."""
        self.parsed: dict[str, Statistics] = {}
        """Outcomes of the English test questions by parser."""

    @cached_property
    def methods(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The rows of the tables below the baseline: algorithm and own settings by name."""
        own: dict[str, Any] = self.config.train.plain()
        rows = {name: (name, dict(own.get(name, {}))) for name in METHODS}
        for name, keys in self.config.variants.items():
            algorithm, changed = keys["algorithm"], {key: keys[key] for key in keys if key != "algorithm"}
            rows[name] = (algorithm, rows[algorithm][1] | changed)
        return rows

    @cached_property
    def splits(self) -> Fold:
        return read_splits(self.config.data).standard

    @cached_property
    def english(self) -> list[Question]:
        return read_questions(self.config.data)

    def check(self) -> None:
        """Raise what is wrong with the keys of builds and trainings, before hours are spent on the first of them."""
        for method in self.methods:
            self.configured(method, self.config.etas[0], self.config.seeds[0], {"shards": ["shard"]}, {})
        make_config(BuildConfig, self.build_settings())

    def run(self) -> Path:
        """Everything; returns the table's path."""
        self.prepare()
        etas = {name: self.rates(name) for name in self.methods}
        found: dict[str, dict[str, list[Tested]]] = {}
        for parser in PARSERS:
            judge = self.response(parser, "test")
            english = enumerate(read_lines(self.work / "test.en"))
            self.parsed[parser] = np.array([_row(judge, str(at), text) for at, text in english], dtype=np.float64)
            systems: dict[str, list[Tested]] = {"baseline": [self.tested(judge, self.config.start)]}
            for name in self.methods:
                chosen = etas[name]["chosen"]
                runs = [self.learned(name, parser, chosen, seed) for seed in self.config.seeds]
                self.folders[name, parser] = runs
                systems[name] = [self.tested(judge, self.weights_after(folder)) for folder in runs]
            found[parser] = systems
        return self.write(found, etas)

    # Data

    def prepare(self) -> None:
        """The text, the base system and both parsers; nothing is done again that is up to date."""
        Weights.read(self.config.start)  # which is needed last
        self.work.mkdir(parents=True, exist_ok=True)
        self.prepare_text()
        self.base = self.build_base()
        self.parsers = {
            "extended": build_parser(self.config.data, self.work / "parser.extended"),
            "original": build_parser(self.config.data, self.work / "parser.original", self.splits.train),
        }

    def prepare_text(self) -> None:
        """The corpora's chosen pairs, and both sides of the questions."""
        made_of, record = self._made_of(), self.work / TEXT_RECORD
        if record.exists():
            if read_json(record) != made_of:
                raise InputError(
                    "the text here was made from other corpora or questions, or with other keys of `text`",
                    where=self.work,
                    hint="Name another folder (work), or remove this one.",
                )
            return
        german = read_questions(self.config.data, "de")
        corrected = read_corrected_german(self.config.data)
        pairs = read_pairs(self.config.corpora)
        train = self.splits.train
        questions = spelled(
            [german[number].text for number in train],
            [self.english[number].text for number in train],
            [pair[0] for pair in pairs],
        )
        names = name_pairs(read_database(self._facts()), self.config.text)
        self._write("base", [*select_pairs(pairs, questions, self.config.text), *names])
        if self.config.text.model_of_all:
            self._write_lines("model.en", model_lines(pairs, self.config.text))
        for name, ids, sources in (
            ("train", self.splits.train, questions),
            ("test", self.splits.test, [corrected[number] for number in self.splits.test]),
        ):
            self._write_lines(f"{name}.gold", (self.english[number].gold for number in ids))
            self._write(name, zip(sources, (self.english[number].text for number in ids), strict=True))
        write_json(record, made_of)

    def _made_of(self) -> dict[str, Any]:
        """What the text depends on: checksums of files, and keys."""
        files = [f"{name}.{side}.gz" for name in self.config.corpora for side in ("de", "en")]
        questions = sorted(str(path) for path in Path(self.config.data).glob("*.gz"))
        return {"text": asdict(self.config.text), "files": [file_checksum(path) for path in [*files, *questions]]}

    def _write(self, name: str, pairs: Any) -> None:
        sides = list(zip(*pairs, strict=True))
        self._write_lines(f"{name}.de", sides[0])
        self._write_lines(f"{name}.en", sides[1])

    def _write_lines(self, name: str, lines: Any) -> None:
        with atomic_write(self.work / name) as stream:
            stream.writelines(f"{line}\n".encode() for line in lines)

    # Systems

    def build_base(self) -> BuildConfig:
        """Alignment, language model and index of the general text; shards of the questions, the training ones cut."""
        config = make_config(BuildConfig, self.build_settings())
        for _ in build(config):
            pass
        # The questions are in alphabetical order: a fold of neighbours would hold out a kind of question.
        for name, layout in (
            ("train", Layout("random", shards=self.config.folds)),
            ("test", Layout("sequential", shards=1)),
        ):
            corpus = Corpus.read(self.work / f"{name}.de", [self.work / f"{name}.en"], None)
            compiler = ShardCompiler(corpus, IndexGrammars(index_path(config), config.extract), config.shards.options())
            for _ in write_shards(compiler, layout, self.work / "shards" / name):
                pass
        return config

    def build_settings(self) -> dict[str, Any]:
        """The keys of the base system's build."""
        own: dict[str, Any] = {
            "work": str(self.work / "base"),
            "train": {"source": str(self.work / "base.de"), "target": str(self.work / "base.en"), "shards": False},
        }
        settings: dict[str, Any] = self.config.build.plain()
        if self.config.text.model_of_all:
            own["lm"] = settings.get("lm", {}) | {"text": [str(self.work / "model.en")]}
        return settings | own

    def shards(self, name: str) -> list[str]:
        return sorted(str(path) for path in (self.work / "shards" / name).glob("*.itsh"))

    def response(self, parser: str, part: str) -> GeoQueryResponse:
        files = self.parsers[parser]
        return GeoQueryResponse(files.index, files.language_model, self._facts(), self.work / f"{part}.gold")

    def _facts(self) -> Path:
        return Path(self.config.data) / FACTS_FILE

    def learned(
        self, method: str, parser: str, eta: float, seed: int, shards: Sequence[str] = (), epochs: int | None = None
    ) -> Path:
        """The folder of a finished run. RAMPION asks no parser, so both parsers share its runs."""
        algorithm = self.methods[method][0]
        of = f"-{parser}" if algorithm in ASKING else ""
        part = f"-without{self.shards('train').index(_left_out(self.shards('train'), shards))}" if shards else ""
        folder = self.work / "runs" / f"{algorithm}{of}-{eta:g}-seed{seed}{part}-{self._settings_hash(method)}"
        config = self.train_config(method, parser, eta, seed, shards, epochs)
        finished = len(read_json(folder / "manifest.json")["epochs"]) if (folder / "manifest.json").exists() else 0
        train(replace(config, epochs=max(config.epochs, finished)), folder, warn=lambda _: None)
        return folder

    def weights_after(self, folder: Path, epochs: int | None = None) -> str:
        """The weights of a run after so many epochs (none: as many as the experiment has)."""
        number = epochs or self.train_config("rampion", "extended", 1.0, 1, (), None).epochs
        return str(RunDirectory(folder).epoch(number - 1) / "weights.txt.gz")

    def _settings_hash(self, method: str) -> str:
        """Stands for the settings of a method's runs besides the number of epochs, so others have other folders."""
        left_out = ("epochs", "run", *METHODS)
        settings = {key: value for key, value in self.config.train.plain().items() if key not in left_out}
        algorithm, own = self.methods[method]
        if algorithm not in ASKING:
            settings.pop("response", None)
        weights = sorted(dict(Weights.read(self.config.start)).items())
        return checksum_of({"settings": settings, "own": own, "start": weights})[:8]

    def train_config(
        self, method: str, parser: str, eta: float, seed: int, shards: Sequence[str], epochs: int | None
    ) -> TrainConfig:
        files: ParserFiles = self.parsers[parser]
        data: dict[str, Any] = {
            "shards": list(shards) or self.shards("train"),
            "language_model": str(language_model_path(self.base)),
            "start": self.config.start,
        }
        if epochs is not None:
            data["epochs"] = epochs
        asked = {"index": str(files.index), "language_model": str(files.language_model)}
        return self.configured(method, eta, seed, data, asked)

    def configured(
        self, method: str, eta: float, seed: int, data: dict[str, Any], parser: dict[str, str]
    ) -> TrainConfig:
        """The configuration of a training, given its data and the parser's files."""
        algorithm, own = self.methods[method]
        settings: Any = {key: value for key, value in self.config.train.plain().items() if key not in METHODS}
        settings |= data | {"layout": {"kind": "sequential", "shards": 1}, "algorithm": algorithm, algorithm: own}
        if algorithm in ASKING:
            settings["response"] = {
                "object": "geoquery",
                "files": parser | {"facts": str(self._facts()), "gold": str(self.work / "train.gold")},
                "cache": str(self.work / "answers.sqlite"),
            } | dict(settings.get("response", {}))
        else:
            settings.pop("response", None)
        epoch = dict(settings.get("epoch", {}))
        learn = dict(epoch.get("learn", {})) | {"eta": eta}
        settings["epoch"] = epoch | {"learn": learn, "shuffle": True, "seed": seed}
        return load_train_config(settings)

    def rates(self, method: str) -> dict[str, Any]:
        """The rate that is given or else chosen, and F1 of those that were tried."""
        given = self.config.given_etas.get(method)
        return self.cross_validate(method) if given is None else {"chosen": given, "scores": {}}

    def cross_validate(self, method: str) -> dict[str, Any]:
        """The rate with the best F1, and F1 of all of them: with the extended parser, after the last fold epoch."""
        epochs, seed = self.config.fold_epochs, self.config.seeds[0]
        scores = {}
        for eta in self.config.etas:
            held_out = self.held_out(method, "extended", eta, seed, [epochs])[epochs]
            scores[eta] = system_score(held_out.rows[None], f1_scores)
        chosen = max(self.config.etas, key=lambda eta: (scores[eta], -eta))
        return {"chosen": chosen, "scores": scores}

    def held_out(self, method: str, parser: str, eta: float, seed: int, epochs: Sequence[int]) -> dict[int, Tested]:
        """Each part of the training questions, translated by what was learned from the other parts in so many epochs.

        The questions are in the order of their numbers.
        """
        shards, judge = self.shards("train"), self.response(parser, "train")
        pairs: dict[int, list[tuple[str, str]]] = {number: [] for number in epochs}
        for part in shards:
            rest = [path for path in shards if path != part]
            folder = self.learned(method, parser, eta, seed, rest, max(epochs))
            for number in epochs:
                pairs[number] += self.translated([part], self.weights_after(folder, number))
        return {number: _tested(judge, found) for number, found in pairs.items()}

    def translated(self, shards: Sequence[str], weights: str) -> list[tuple[str, str]]:
        """Ids and translations."""
        vector = Vector.of_names(dict(Weights.read(weights)))
        model = LanguageModel(language_model_path(self.base))
        decoder = self.train_config("rampion", "extended", 1.0, 1, (), None).epoch.decoder
        made = []
        for path in shards:
            source = open_source(path)
            numbers = range(len(source))
            texts = source.translate(vector, numbers, ListOptions(decoder=decoder, model=model))
            made += [(source.id(number), text) for number, text in zip(numbers, texts, strict=True)]
        return made

    def tested(self, judge: GeoQueryResponse, weights: str, part: str = "test") -> Tested:
        """Translations of the test questions or of the training ones, with their outcomes."""
        return _tested(judge, self.translated(self.shards(part), weights))

    def _asks(self, method: str) -> bool:
        return method in self.methods and self.methods[method][0] in ASKING

    # Tables

    def write(self, found: dict[str, dict[str, list[Tested]]], etas: dict[str, Any]) -> Path:
        """The tables as Markdown and as a page, and what they were made of beside them."""
        sources, references, golds = (list(read_lines(self.work / f"test.{end}")) for end in ("de", "en", "gold"))
        tables = self.tables(found, etas, sources, references, golds)
        with atomic_write(self.work / "table.md") as stream:
            stream.write(f"# {TITLE}\n\n{self.settings_text()}\n\n{markdown(tables)}".encode())
        with atomic_write(self.work / "translations.jsonl") as stream:
            for parser, systems in found.items():
                for name, runs in systems.items():
                    for seed, run in zip(self.config.seeds, runs, strict=False):
                        for at, (text, answer) in enumerate(zip(run.texts, run.answers, strict=True)):
                            line = {"parser": parser, "system": name, "seed": seed, "question": at, "text": text}
                            line |= {"reference": references[at], "answer": answer, "gold": golds[at]}
                            line |= {"success": bool(run.rows[at][0])}
                            stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        self.write_page(found, tables, references)
        return self.work / "table.md"

    def tables(
        self,
        found: dict[str, dict[str, list[Tested]]],
        etas: dict[str, Any],
        sources: Sequence[str],
        references: Sequence[str],
        golds: Sequence[str],
    ) -> list[PaperTable]:
        """The parsers' scores, tables 1 to 5, the differences in F1, and the rates."""
        metric = CorpusMetric("bleu", [[line] for line in references])
        every, answered = np.ones(len(golds), dtype=bool), np.array([gold != EMPTY_ANSWER for gold in golds])
        without = f"without empty gold answers, {int(answered.sum())} questions"
        made = [parser_table(self.parsed, answered, f"Parsers on the {len(golds)} test questions in English")]
        for number, parser in enumerate(PARSERS, 1):
            title = f"Table {number}: {parser} parser"
            made += [
                score_table(found[parser], metric, every, f"{title}, {len(golds)} test questions"),
                score_table(found[parser], metric, answered, f"{title}, {without}"),
                difference_table(found[parser], every, f"{title}, differences in F1"),
            ]
            if len(self.config.seeds) > 1:
                made.append(run_table(found[parser], metric, self.config.seeds, f"{title}, every run"))
        ours, theirs = (found[PARSERS[0]][name][0] for name in ("rebol", "rampion"))
        columns = {"German": sources, "reference": references, "REBOL": ours.texts}
        accepted = "Table 3: translations of REBOL that are accepted and differ from the reference"
        made.append(example_table(columns, variants(ours, references), accepted))
        columns = {"German": sources, "reference": references, "RAMPION": theirs.texts, "REBOL": ours.texts}
        for title, better, worse in (
            ("Table 4: REBOL is accepted, RAMPION is not", ours, theirs),
            ("Table 5: RAMPION is accepted, REBOL is not", theirs, ours),
        ):
            made.append(example_table(columns, wins(better, worse), title))
        questions = sum(1 for _ in read_lines(self.work / "train.gold"))
        tried = {name: one for name, one in etas.items() if one["scores"]}
        if tried:
            made.append(
                eta_table(tried, f"η by cross-validation on the {questions} training questions (F1, extended parser)")
            )
        return made

    def settings_text(self) -> str:
        """The configuration without its paths, as a list in Markdown."""
        config = self.config
        pairs = sum(1 for _ in read_lines(self.work / "base.de"))
        plain = {
            "text": asdict(config.text) | {"pairs": pairs},
            "build": config.build.plain(),
            "train": config.train.plain(),
            "etas": config.etas,
            "given_etas": config.given_etas,
            "folds": config.folds,
            "fold_epochs": config.fold_epochs,
            "seeds": config.seeds,
            "variants": config.variants,
        }
        return "\n".join(f"- {key}: `{json.dumps(value)}`" for key, value in plain.items())

    def write_page(
        self, found: dict[str, dict[str, list[Tested]]], tables: Sequence[PaperTable], references: Sequence[str]
    ) -> None:
        """report.html: the tables, BLEU with its tests, and the training runs."""
        runs: dict[str, Path] = {}
        systems: dict[str, System] = {}
        for parser in PARSERS:
            for name, tested in found[parser].items():
                title = name.upper() + (f", {parser} parser" if self._asks(name) else "")
                systems[title] = System(title, [run.texts for run in tested])
                for seed, folder in zip(self.config.seeds, self.folders.get((name, parser), ()), strict=False):
                    runs[title if len(self.config.seeds) == 1 else f"{title}, seed {seed}"] = folder
        options = EvaluationOptions(metrics=("bleu",))
        evaluation = score_systems(list(systems.values()), [[line] for line in references], options)
        write_report(
            list(runs.values()),
            self.work / "report.html",
            title=TITLE,
            names=list(runs),
            evaluation=evaluation,
            experiment=tables,
        )


def _left_out(shards: Sequence[str], used: Sequence[str]) -> str:
    return next(path for path in shards if path not in used)


def _tested(judge: GeoQueryResponse, pairs: Sequence[tuple[str, str]]) -> Tested:
    pairs = sorted(pairs, key=lambda pair: int(pair[0]))  # in the order of the questions
    rows = np.array([_row(judge, id, text) for id, text in pairs], dtype=np.float64)
    answers = [judge.outcomes(id, [text])[0].detail for id, text in pairs]
    return Tested([text for _, text in pairs], rows, answers)


def _row(judge: GeoQueryResponse, id: str, text: str) -> tuple[bool, bool, int]:
    outcome = judge.outcomes(id, [text])[0]
    return outcome.success, outcome.attempted, 1
