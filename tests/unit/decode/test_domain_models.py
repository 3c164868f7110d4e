"""Each sentence with its domain's weights: files, the mean, the command line, the Python interface, one-domain runs."""

import gzip
import os
from dataclasses import replace

import pytest

import itersel
from engine_cases import small_data, write_shard
from itersel.algorithms.mert import MertConfig
from itersel.base.errors import InputError
from itersel.base.spare_processes import share
from itersel.cli import main
from itersel.decode.shard_decoder import ShardDecoder
from itersel.decode.shard_translator import ShardTranslator
from itersel.decode.trained import TrainedModel
from itersel.engines import RunConfig
from itersel.lm.model import LanguageModel
from itersel.model.domain_weights import DomainWeights
from itersel.model.features import Weights
from itersel.report import write_report
from itersel.run.config import identity
from itersel.run.driver import train
from itersel.run.layout import LayoutConfig
from itersel.run.testing import BuiltSet
from itersel.shards.shard import Shard

BY_DOMAIN = {"task0": {"p": -1.0}, "task1": {"p": 1.0}, "task2": {"q": -2.0, "p": 1.0, "LanguageModel": 1.0}}
DOMAINS = sorted(BY_DOMAIN)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return replace(small_data(tmp_path_factory.mktemp("data")), fold_models=(), run=RunConfig("inline"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("domains")
    DomainWeights(BY_DOMAIN).write(place)
    return place


def one_by_one(shard: Shard, model: str | None, weights: dict[str, dict[str, float]] = BY_DOMAIN) -> list[str]:
    """The obvious way: a decoder for each domain, each sentence by hand."""
    language_model = None if model is None else LanguageModel(model)
    decoders = {name: ShardDecoder(shard, Weights(one), language_model) for name, one in weights.items()}
    return [decoders[shard.domain(k)].translate(k) for k in range(len(shard))]


def test_every_sentence_has_the_weights_of_its_domain(data, folder):
    shards = [Shard(path) for path in data.shards]
    expected = [line for shard in shards for line in one_by_one(shard, data.language_model)]
    model = LanguageModel(data.language_model)
    for weights in (DomainWeights(BY_DOMAIN), DomainWeights.read(folder)):
        for jobs in (1, 2):
            assert list(ShardTranslator(shards, weights, model).best(jobs)) == expected
    plain = list(ShardTranslator(shards, Weights(BY_DOMAIN["task0"]), model).best())
    assert plain != expected, "the domains' weights differ in what they translate"


def test_idle_processes_translate_too(data):
    translator = ShardTranslator(list(map(Shard, data.shards)), Weights({}), LanguageModel(data.language_model))
    for spare, processes in ((0, 1), (1, 2)):
        with share(spare):
            assert len(set(translator.map(lambda *_: os.getpid()))) == processes


def test_a_system_of_an_evaluation_may_have_weights_by_domain(data, folder, tmp_path):
    """What `itersel evaluate --build --on` does with a folder of domains, beside one with the same weights for all."""
    Weights(BY_DOMAIN["task1"]).write(tmp_path / "task1")
    model = LanguageModel(data.language_model)
    built = BuiltSet("dev", [Shard(data.shards[2])], model)
    systems, _ = built.translate({"all": [str(tmp_path / "task1")], "own": [str(folder)]}, itersel.DecoderConfig())
    outputs = {system.name: system.runs for system in systems}
    expected = one_by_one(built.shards[0], data.language_model)
    same = one_by_one(built.shards[0], data.language_model, dict.fromkeys(BY_DOMAIN, BY_DOMAIN["task1"]))
    assert outputs == {"all": [same], "own": [expected]} and same != expected
    (system,), _ = built.translate({"own": [str(folder)]}, itersel.DecoderConfig(), domain="task1")
    assert system.runs == [same]


def test_files_are_named_by_quoted_domains(tmp_path):
    given = {"a/b": {"f": 1.0}, "ä. b": {"f": 0.5}}
    DomainWeights(given).write(tmp_path)
    assert {name: dict(one) for name, one in DomainWeights.read(tmp_path).by_domain.items()} == given
    (tmp_path / "domain.a%2Fb.txt.gz").write_bytes(gzip.compress(b"f 2\n"))
    with pytest.raises(InputError, match="a/b has two files of weights"):
        DomainWeights.read(tmp_path)


def test_the_mean_is_of_weights_at_a_sum_of_1():
    weights = DomainWeights({"a": {"f": 2.0, "g": -2.0}, "b": {"f": 1.0}})
    assert dict(weights.mean) == {"f": 0.75, "g": -0.25}
    assert dict(weights.prepared(unknown="mean").of("c")) == {"f": 0.75, "g": -0.25}
    assert dict(weights.prepared("b")) == {"f": 1.0}


def test_unknown_domains(data, folder, tmp_path, capsys):
    """An error before anything is translated, unless the mean is asked for; text and other shards name their domain."""
    other = write_shard(tmp_path / "other.itsh", 4, 50, "else")
    command = ["translate", other, "--weights", str(folder), "--lm", data.language_model]
    assert main(command) == 2
    message = capsys.readouterr().err
    assert f"{folder}: the domain 'else0' has no weights: there are weights for task0, task1, task2" in message
    assert main([*command, "--unknown-domains", "mean"]) == 0
    mean = dict(DomainWeights(BY_DOMAIN).mean)
    lines = [
        ShardDecoder(Shard(other), Weights(mean), LanguageModel(data.language_model)).translate(k) for k in range(4)
    ]
    assert capsys.readouterr().out.splitlines() == lines
    assert main([*command, "--domain", "task1"]) == 0
    own = Weights(BY_DOMAIN["task1"])
    lines = [ShardDecoder(Shard(other), own, LanguageModel(data.language_model)).translate(k) for k in range(4)]
    assert capsys.readouterr().out.splitlines() == lines
    assert main([*command, "--domain", "sport"]) == 2
    assert "the domain 'sport' has no weights" in capsys.readouterr().err
    (tmp_path / "text").write_text("das haus\n")
    (tmp_path / "grammar").write_text("[X] ||| das haus ||| the house ||| p=1\n")
    text = ["translate", str(tmp_path / "text"), "--grammar", str(tmp_path / "grammar"), "--weights", str(folder)]
    assert main(text) == 2
    assert "a sentence has no domain: there are weights for task0" in capsys.readouterr().err
    assert main([*text, "--domain", "task1"]) == 0
    assert capsys.readouterr().out == "the house\n"
    assert main(["translate", other, "--weights", str(tmp_path)]) == 2
    assert "a folder without a run" in capsys.readouterr().err


def test_a_run_leaves_the_models_of_its_domains(data, tmp_path):
    """The folder `domains` of a run has the chosen round's; translations, Python interface and report use it."""
    config = replace(data, layout=LayoutConfig("domains"), algorithm="avg_mert", own=MertConfig(k=5, starts=2))
    train(replace(config, epochs=2), tmp_path / "run", warn=[].append)
    run = itersel.Run(tmp_path / "run")
    for name in DOMAINS:
        chosen = tmp_path / "run" / f"epoch-{run.chosen:03d}" / f"domain.{name}.txt"
        assert (tmp_path / "run" / "domains" / chosen.name).read_bytes() == chosen.read_bytes()
    by_domain = {name: dict(one) for name, one in run.domains.by_domain.items()}
    shard = Shard(data.shards[1])
    expected = one_by_one(shard, data.language_model, by_domain)
    assert itersel.translate(shard, run.domains, language_model=data.language_model) == expected
    trained = TrainedModel.read(tmp_path / "run" / "domains")
    assert trained.language_model == data.language_model
    assert dict(trained.weights) == pytest.approx(dict(run.weights))
    outputs = itersel.translate(shard, tmp_path / "run" / "domains", language_model=data.language_model, domain="task1")
    own = itersel.DomainWeights({"x": by_domain["task1"]})
    assert outputs == itersel.translate(
        shard, own, language_model=data.language_model, unknown_domains="mean", options=itersel.DecoderConfig()
    )


def test_a_run_without_domains_says_so(data, tmp_path):
    run = itersel.train(data.shards[:1], tmp_path / "run", algorithm="sgd", epochs=1)
    with pytest.raises(itersel.ConfigError, match="the run has no weights for domains"):
        run.domains  # noqa: B018


def labelled_part(path, shard: Shard, domain: str) -> str:
    """A shard of only the domain's sentences."""
    writer = itersel.ShardWriter(groups=shard.groups)
    for k in range(len(shard)):
        if shard.domain(k) == domain:
            writer.add(shard.source(k), shard.references(k), shard.grammar(k), id=shard.id(k), domain=domain)
    writer.write(path)
    return str(path)


@pytest.mark.parametrize("algorithm", ["iter_mix_sgd", "mert"])
def test_learning_from_one_domain_equals_shards_of_it(data, tmp_path, algorithm):
    """`domain` picks the sentences of shards and devtest: the same weights and scores as from shards of these alone."""
    own = MertConfig(k=100, starts=2) if algorithm == "mert" else None
    devtest = write_shard(tmp_path / "devtest.itsh", 12, 60, "task")
    common = replace(data, algorithm=algorithm, own=own, epochs=2, devtest=(devtest,), start=None)
    train(replace(common, domain="task1"), tmp_path / "run", warn=[].append)
    parts = [labelled_part(tmp_path / f"{k}.itsh", Shard(path), "task1") for k, path in enumerate(data.shards)]
    alone = labelled_part(tmp_path / "alone.itsh", Shard(devtest), "task1")
    train(replace(common, shards=tuple(parts), devtest=(alone,)), tmp_path / "twin", warn=[].append)
    for file in ("weights.txt.gz", "epoch-001/devtest.txt.gz", "epoch-002/weights.vec"):
        assert (tmp_path / "run" / file).read_bytes() == (tmp_path / "twin" / file).read_bytes(), file
    assert write_report([tmp_path / "run"], tmp_path / "report.html").exists()


def test_a_domain_that_is_not_there(data, tmp_path):
    with pytest.raises(InputError, match="no sentence has the domain 'sport'"):
        train(replace(data, domain="sport"), tmp_path / "run", warn=[].append)
    devtest = (write_shard(tmp_path / "devtest.itsh", 12, 60, "other"),)
    with pytest.raises(InputError, match="no sentence of devtest has the domain 'task1'"):
        train(replace(data, domain="task1", devtest=devtest), tmp_path / "run", warn=[].append)
    assert not (tmp_path / "run").exists()


def test_the_identity_of_runs_without_a_domain_stays():
    config = itersel.api.TrainConfig()
    assert "domain" not in identity(config, [], [])
    assert identity(replace(config, domain="a"), [], [])["domain"] == "a"
