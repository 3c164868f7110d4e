"""The demo: from the corpus in data/demo to a report, with the configurations conf/demo*.

build (text → shards)  →  two trainings  →  the test set translated with untuned, hand-set and trained weights  →
evaluation  →  report. Every step resumes where an interrupted demo stopped, and gives the same figures each time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from itersel.base import events
from itersel.base.config import Settings
from itersel.base.errors import ConfigError
from itersel.base.files import atomic_write
from itersel.base.folders import DEMO
from itersel.base.json_files import write_json
from itersel.base.resources import resource_root
from itersel.base.tables import text_table
from itersel.decode.decoder import DecoderConfig
from itersel.evaluation.scoring import Evaluation, EvaluationOptions, System, score_systems
from itersel.evaluation.significance import p_text
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from itersel.pipeline.build import build
from itersel.pipeline.build_config import TRAIN, BuildConfig, load_config
from itersel.pipeline.build_paths import language_model_path, shards_path
from itersel.pipeline.stages import table
from itersel.report import write_report
from itersel.run.config import TrainConfig, expand, load_train_config
from itersel.run.devtest import translate_shards
from itersel.run.driver import train
from itersel.shards.shard import Shard

DEV, DEVTEST, TEST = "dev", "devtest", "test"
SUFFIX = ".itsh"
METRICS = ("bleu", "chrf")
TITLE = "itersel demo: German to English"


@dataclass(frozen=True)
class Model:
    """One line of the demo's table: its name there and in files, its weights or configuration, what it learns from."""

    name: str
    folder: str
    configuration: str
    data: str


UNTUNED = Model("untuned weights", "untuned", "demo-untuned.txt", "")
HAND_SET = Model("hand-set weights", "hand-set", "experiments/hand-set.weights", "")
TRAINED = (
    Model("SGD", "sgd", "demo-sgd.yaml", DEV),
    Model("IterSelSGD", "select", "demo-select.yaml", TRAIN),
)
MODELS = (UNTUNED, HAND_SET, *TRAINED)


@dataclass(frozen=True)
class DemoResult:
    """What the demo has found, in the order of its table: weights by system, their evaluation, and the page."""

    weights: dict[str, int]
    """Number of features that have a weight."""
    sentences: dict[str, int]
    """Number of sentences it learned from."""
    evaluation: Evaluation
    report: Path


def demo_sources(given: str | None = None) -> Path:
    """The folder that has the demo's configurations and corpus: the one given, the current one, or the package's."""
    candidates = [Path.cwd(), resource_root()] if given is None else [Path(given)]
    for folder in candidates:
        if (folder / "conf" / "demo.yaml").is_file() and (folder / "data" / "demo").is_dir():
            return folder
    raise ConfigError(
        "this folder has no conf/demo.yaml or no data/demo",
        where=candidates[-1],
        hint="Leave out --sources, or name a checkout of itersel.",
    )


def run_demo(sources: Path, output: Path, jobs: int) -> DemoResult:
    """Do all steps that are not done yet; everything goes to the output folder."""
    config = load_config(sources / "conf" / "demo.yaml", [f"work={output}", f"jobs={jobs}"])
    events.note(table(list(build(config, DEMO))))
    model, tests = LanguageModel(language_model_path(config)), _shards(config, TEST)
    systems, weights, sentences = [], {}, {}
    for one in MODELS:
        file = sources / "conf" / one.configuration
        if one.data:
            events.note(f"{one.name} on {one.data}")
            file = train(training_config(file, config, one.data, jobs), output / "runs" / one.folder)
        learned = Weights.read(file)
        lines = translate_shards(tests, learned, model, DecoderConfig(), jobs)
        with atomic_write(output / TEST / f"{one.folder}.txt") as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())
        systems.append(System(one.name, [lines]))
        weights[one.name] = len(learned)
        sentences[one.name] = sum(map(len, _shards(config, one.data))) if one.data else 0
    references = [shard.references(number) for shard in tests for number in range(len(shard))]
    options = EvaluationOptions(metrics=METRICS, jobs=jobs)
    evaluation = score_systems(systems, references, options, show_progress=True)
    write_json(output / "evaluation.json", asdict(evaluation))
    runs = [output / "runs" / one.folder for one in TRAINED]
    names = [one.name for one in TRAINED]
    report = write_report(runs, output / "report.html", title=TITLE, names=names, evaluation=evaluation)
    return DemoResult(weights, sentences, evaluation, report)


def training_config(file: Path, config: BuildConfig, data: str, jobs: int) -> TrainConfig:
    """The configuration in the file, on the shards that were built, from the untuned weights."""
    settings = Settings.read(file)
    for key, value in (
        ("shards", _patterns(config, data)),
        ("devtest", _patterns(config, DEVTEST)),
        ("language_model", str(language_model_path(config))),
        ("start", str(file.parent / UNTUNED.configuration)),
        ("run.jobs", jobs),
    ):
        settings = settings.put(key, value)
    return load_train_config(settings)


def outcome_table(outcome: DemoResult) -> str:
    """One row per system, each compared with the one above it."""
    evaluation = outcome.evaluation
    rows = [["", "learned from", "features", *(evaluation.labels[name] for name in METRICS), "length", "gain", "p"]]
    before = None
    for one in MODELS:
        name, learned_from, gain, p = one.name, "–", "–", "–"
        if one.data:
            learned_from = f"{one.data}, {outcome.sentences[name]:,} sentences"
        if before is not None:
            compared = evaluation.comparison(before, name)
            gain, p = f"{compared.difference:+.2f}", p_text(compared.randomization.p)
        scores = [f"{evaluation.score(name, metric).mean:.2f}" for metric in METRICS]
        length = f"{evaluation.length_ratios[name]:.3f}"
        rows.append([name, learned_from, f"{outcome.weights[name]:,}", *scores, length, gain, p])
        before = name
    return text_table(rows, left=(0, 1))


def _patterns(config: BuildConfig, name: str) -> list[str]:
    return [str(shards_path(config, name) / f"*{SUFFIX}")]


def _shards(config: BuildConfig, name: str) -> list[Shard]:
    return [Shard(path) for path in expand(_patterns(config, name), name)]
