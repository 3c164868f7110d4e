"""Rerankers against the oracles and against training with the decoder; the same bytes however the work is done."""

import contextlib
import gzip
import json
import random

import pytest
from sacrebleu.metrics.bleu import BLEU

import itersel.algorithms.epoch_job
from itersel.base.errors import ConfigError, InputError
from itersel.cli import main
from itersel.decode.shard_decoder import ShardDecoder
from itersel.engines import RunConfig
from itersel.learn.epoch import EpochConfig, run_epoch
from itersel.learn.learner import LearnConfig
from itersel.learn.list_epoch import run_list_epoch
from itersel.learn.mixing import SelectionConfig
from itersel.learn.pairs import PairConfig
from itersel.lists.compiler import ObjectiveConfig, compile_lists
from itersel.lists.reader import FieldsConfig, read_lists
from itersel.lists.rescoring import rescore
from itersel.lists.table import ListTable
from itersel.lists.writer import format_kbest
from itersel.lm.model import LanguageModel
from itersel.metrics.sentence import sentence_values
from itersel.model.feature_names import NameTable
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.run.layout import LayoutConfig
from itersel.run.rerank import train_reranker
from itersel.run.rerank_config import RerankConfig
from itersel.shards.assignment import Layout
from itersel.shards.shard import Shard, ShardWriter
from oracles import epoch as epoch_oracle
from oracles import metrics as metrics_oracle
from oracles import rerank as oracle

# Powers of two, as all values of the random corpus are: no order of summation matters, and ties are ties everywhere.
LEARNERS = {
    "default": LearnConfig(eta=0.5),
    "margin": LearnConfig(rule="margin_perceptron", margin=0.25, eta=0.125),
    "batch": LearnConfig(eta=0.125, batch=True, pairs=PairConfig(kind="all")),
    "l1": LearnConfig(eta=0.125, l1=0.015625),
    "average": LearnConfig(rule="margin_perceptron", margin=0.25, eta=0.125, l1=0.015625, average=True),
    "pro": LearnConfig(eta=0.125, pairs=PairConfig(kind="pro", samples=50, keep=7, seed=3)),
}
WORDS = ("the", "a", "small", "old", "house", "man", "sees", "is", "red", "and")
PLAIN = {"own_score": False, "held_out": 0}
"""Weights of 0 to start with, and no list held out."""


def random_corpus(seed=5, lists=23):
    """Lists with references."""
    draw = random.Random(seed)
    made, references = [], []
    for number in range(lists):
        reference = [draw.choice(WORDS) for _ in range(draw.randint(3, 7))]
        entries = []
        for _ in range(draw.randint(1, 12)):
            text = [draw.choice(WORDS) if draw.random() < 0.4 else word for word in reference]
            features = {f"f{k}": draw.randint(-8, 8) / 4 for k in draw.sample(range(40), 6)}
            entries.append((" ".join(text), features, draw.randint(-99, 0) / 4))
        made.append((str(number), entries))
        references.append(" ".join(reference))
    return made, references


def write_corpus(folder, corpus, references):
    with open(folder / "lists", "w") as stream:
        for name, entries in corpus:
            for text, features, score in entries:
                shown = " ".join(f"{feature}={value}" for feature, value in features.items())
                stream.write(f"{name} ||| {text} ||| {shown} ||| {score}\n")
    (folder / "references").write_text("".join(f"{line}\n" for line in references))
    return {"lists": (str(folder / "lists"),), "references": (str(folder / "references"),)}


def numbered(corpus, references, metric="fixed_stupid_bleu"):
    """As the oracle wants them: the first of equal texts, features as sortable names, metric values."""
    made = []
    for (name, entries), reference in zip(corpus, references, strict=True):
        first = {}
        for text, features, _ in entries:
            first.setdefault(text, features)
        # The oracle's last digits would be others, and decide between equal differences of sampled pairs.
        values = sentence_values(metric, [text.split() for text in first], [reference.split()]).tolist()
        assert values == pytest.approx(
            [metrics_oracle.value(metric, text.split(), [reference.split()], 4) for text in first]
        )
        made.append((name, [{f: x for f, x in one.items() if x != 0} for one in first.values()], values))
    return made


def models(directory):
    return [dict(Weights.read(path)) for path in sorted(directory.glob("epoch-*/weights.txt.gz"))]


def no_warning(text):
    if "selection.top" not in text:
        raise AssertionError(text)


@pytest.mark.parametrize("algorithm", ["sgd", "mix_sgd", "iter_mix_sgd", "iter_sel_sgd"])
@pytest.mark.parametrize("name", LEARNERS)
def test_equals_the_oracle(tmp_path, algorithm, name):
    corpus, references = random_corpus()
    layout = LayoutConfig("random", shards=1 if algorithm == "sgd" else 4, seed=4)
    config = RerankConfig(
        **PLAIN,
        **write_corpus(tmp_path, corpus, references),
        algorithm=algorithm,
        epochs=3,
        learn=LEARNERS[name],
        layout=layout,
        selection=SelectionConfig(top=9),
    )
    train_reranker(config, tmp_path / "run", warn=no_warning)
    lists = numbered(corpus, references)
    dealt = Layout("random", shards=layout.shards, seed=4).assign(len(lists))
    shards = [[lists[k] for k in one.sentences] for one in dealt]
    expected = oracle.train(algorithm, shards, LEARNERS[name], 3, top=9)
    found = models(tmp_path / "run")
    assert len(found) == 3
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    assert dict(Weights.read(tmp_path / "run" / "weights.txt.gz")) == found[-1]


def decoded_epoch(shard, start, model, config):
    """Each sentence's list at the weights that an epoch has reached by then, in the order of the shard."""
    lists = []
    for sentence in range(len(shard)):

        def weights_before(sentence=sentence):
            return start if sentence == 0 else lists_to_weights(shard, start, model, config, sentence)

        decoder = ShardDecoder(shard, Weights(weights_before()), model, config.decoder)
        lists.append((shard.id(sentence), decoder.kbest(sentence, config.k, unique=config.unique)))
    return lists


def lists_to_weights(shard, start, model, config, sentences):
    """The oracle's weights after the first sentences of a shard."""

    class First:
        def __len__(self):
            return sentences

        def __getattr__(self, name):
            return getattr(shard, name)

    return epoch_oracle.run(First(), start, model, config)[0]


@pytest.mark.parametrize("form", ["cdec", "moses", "json"])
def test_learns_from_the_decoders_lists_what_an_epoch_learns(tmp_path, shared_data, form):
    """Lists written by the decoder at the weights of the moment, read by the reranker: the weights of `run_epoch`."""
    data = shared_data / "cdec-m30k"
    sources = [line.split("> ", 1)[1].rsplit(" <", 1)[0] for line in (data / "input.sgm").read_text().splitlines()]
    targets = (data / "reference.en").read_text().splitlines()
    model = LanguageModel(data / "lm3.arpa.gz")
    writer = ShardWriter(groups=("id", "ng", "shape"), pass_through="all")
    for k in range(4):
        grammar = gzip.decompress((data / "grammars" / f"grammar.{k}.gz").read_bytes())
        writer.add(sources[k], [targets[k]], grammar, id=str(k))
    writer.write(tmp_path / "shard")
    shard = Shard(tmp_path / "shard")
    start = {"LanguageModel": 0.1, "WordPenalty": -0.1, "PassThrough": -0.2, "elsewhere": 3.0}
    config = EpochConfig(k=50, learn=LearnConfig(eta=0.001))
    with open(tmp_path / "lists", "w") as stream:
        for name, found in decoded_epoch(shard, start, model, config):
            if form == "json":
                for one in found:
                    stream.write(
                        json.dumps({"id": name, "text": one.text, "features": one.features, "score": one.score}) + "\n"
                    )
            else:
                stream.write(format_kbest(name, found, form))
    compile_lists(
        [str(tmp_path / "lists")],
        [str(data / "reference.en")],
        tmp_path / "table",
        fields=FieldsConfig(),
        objective=ObjectiveConfig(config.metric),
    )
    table = ListTable(tmp_path / "table")
    result = run_list_epoch(table, Vector.of_names(start), config)
    weights, statistics = result.weights, result.statistics
    expected = run_epoch(shard, Vector.of_names(start), model, config)
    assert sorted(result.names) == sorted(expected.names)
    names = NameTable([*result.names, *start])
    named = [dict(zip(names(one.ids), one.values.tolist(), strict=True)) for one in (weights, expected.weights)]
    # JSON carries every digit; the other forms ten.
    assert named[0] == pytest.approx(named[1], rel=1e-9 if form == "json" else 1e-6, abs=1e-12)
    assert named[0]["elsewhere"] == 3.0
    for key in ("lists", "hypotheses", "pairs", "rank_errors", "updates"):
        assert statistics[key] == expected.statistics[key], key
    assert statistics["updates"] > 50
    # The decoder's best is what these weights rank first.
    assert statistics["best_metric"] == pytest.approx(expected.statistics["best_metric"], rel=1e-12)
    assert statistics["best_score"] == pytest.approx(expected.statistics["best_score"], rel=1e-6)


def run_files(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*.vec")} | {
        path.relative_to(directory): path.read_bytes() for path in directory.rglob("weights.txt.gz")
    }


@pytest.mark.parametrize("algorithm", ["mix_sgd", "iter_sel_sgd"])
def test_same_bytes_in_several_processes_and_after_an_interruption(tmp_path, algorithm, monkeypatch):
    config = {
        **write_corpus(tmp_path, *random_corpus()),
        "algorithm": algorithm,
        "epochs": 3,
        "layout": LayoutConfig("reshard" if algorithm == "iter_sel_sgd" else "random", shards=4),
        "selection": SelectionConfig(top=15),
        "shuffle": True,
    }
    train_reranker(RerankConfig(**PLAIN, **config), tmp_path / "one", warn=no_warning)
    train_reranker(RerankConfig(**PLAIN, **config, run=RunConfig(jobs=3)), tmp_path / "three", warn=no_warning)
    calls = 0

    def dying(*args, **options):
        nonlocal calls
        calls += 1
        if calls == 7:
            raise KeyboardInterrupt
        return run_list_epoch(*args, **options)

    with monkeypatch.context() as patched, contextlib.suppress(KeyboardInterrupt):
        patched.setattr(itersel.algorithms.epoch_job, "run_list_epoch", dying)
        train_reranker(RerankConfig(**PLAIN, **config), tmp_path / "killed", warn=no_warning)
    assert calls == 7
    train_reranker(RerankConfig(**PLAIN, **config), tmp_path / "killed", warn=no_warning)
    train_reranker(RerankConfig(**PLAIN, **config, run=RunConfig("mrjob-inline")), tmp_path / "job", warn=no_warning)
    expected = run_files(tmp_path / "one")
    assert len(expected) > 7
    assert run_files(tmp_path / "three") == run_files(tmp_path / "killed") == run_files(tmp_path / "job") == expected
    statistics = (tmp_path / "killed" / "statistics.jsonl").read_text().splitlines()
    assert len(statistics) == 3 * 5
    with pytest.raises(ConfigError, match=r"epoch\.learn\.eta: 0\.0001 there, 0\.5 now"):
        train_reranker(RerankConfig(**PLAIN, **config, learn=LearnConfig(eta=0.5)), tmp_path / "one", warn=no_warning)
    tables = [next((tmp_path / name / ".tables").glob("*.table")).read_bytes() for name in ("one", "three")]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("learned", [range(120), range(80, 200)])
def test_improves_the_ranking_of_unseen_lists(tmp_path, shared_data, learned):
    """cdec's lists at hand-set weights: what is learned on some of them ranks others better than cdec did."""
    data = shared_data / "cdec-m30k"
    lines = gzip.decompress((data / "dense.100best.gz").read_bytes()).decode().splitlines(keepends=True)
    rest = [number for number in range(200) if number not in learned]
    for name, wanted in (("learned", learned), ("devtest", rest[:40]), ("unseen", rest[40:])):
        (tmp_path / name).write_text("".join(line for line in lines if int(line.split()[0]) in wanted))
    references = (str(data / "reference.en"),)
    config = RerankConfig(
        **PLAIN,
        lists=(str(tmp_path / "learned"),),
        references=references,
        devtest=(str(tmp_path / "devtest"),),
        devtest_references=references,
        layout=LayoutConfig("random", shards=4),
        epochs=5,
    )
    train_reranker(config, tmp_path / "run", warn=lambda text: None)
    weights = dict(Weights.read(tmp_path / "run" / "weights.txt.gz"))
    bleu, targets = BLEU(tokenize="none", force=True), (data / "reference.en").read_text().splitlines()

    def before_and_after(name, numbers):
        first = [one.parse()[0].text for one in read_lists([tmp_path / name])]
        best = [line.rstrip("\n") for line in rescore(read_lists([tmp_path / name]), weights, best_only=True)]
        return [bleu.corpus_score(texts, [[targets[k] for k in numbers]]).score for texts in (first, best)]

    as_it_came, reranked = before_and_after("unseen", rest[40:])
    assert reranked > as_it_came + 1
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    reached = [one["devtest_bleu"] for one in manifest["epochs"]]
    assert manifest["chosen"] == reached.index(max(reached)) + 1
    # Weights of 0 leave the lists as they came.
    assert before_and_after("devtest", rest[:40]) == pytest.approx([manifest["start"]["devtest_bleu"], max(reached)])


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_order_is_a_function_of_the_seed(tmp_path, shuffle):
    corpus, references = random_corpus()
    given = write_corpus(tmp_path, corpus, references)
    fields = {"fields": FieldsConfig(), "objective": ObjectiveConfig()}
    compile_lists(given["lists"], given["references"], tmp_path / "table", **fields)
    config = EpochConfig(learn=LEARNERS["default"], shuffle=shuffle, seed=9)
    result = run_list_epoch(ListTable(tmp_path / "table"), None, config, number=2, lists=[3, 1, 4, 1, 5, 9, 2, 6])
    chosen = [numbered(corpus, references)[k] for k in (3, 1, 4, 1, 5, 9, 2, 6)]
    chosen = [chosen[k] for k in epoch_oracle.order(8, config, 2)]
    expected, _ = oracle.epoch_of({}, chosen, config.learn, 2)
    assert (
        dict(zip(NameTable(result.names)(result.weights.ids), result.weights.values.tolist(), strict=True)) == expected
    )


def test_an_external_score_is_the_objective(tmp_path):
    lines = [
        {"id": "x", "text": "a", "features": {"a": 1.0}, "logprob": -1.0, "error": 3},
        {"id": "x", "text": "b", "features": {"b": 1.0}, "logprob": -2.0, "error": 1},
    ]
    (tmp_path / "lists").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ["rerank", "train", "--lists", str(tmp_path / "lists"), "--features", "features", "logprob", "--eta", "1"]
    command += ["--set", "own_score=false"]
    command += ["--objective", "error", "--algorithm", "sgd", "--epochs", "1", "--output"]
    assert main([*command, str(tmp_path / "higher")]) == 0
    assert dict(Weights.read(tmp_path / "higher" / "weights.txt.gz")) == {"a": 1.0, "b": -1.0, "logprob": 1.0}
    assert main([*command, str(tmp_path / "lower"), "--lower-is-better"]) == 0
    assert dict(Weights.read(tmp_path / "lower" / "weights.txt.gz")) == {"a": -1.0, "b": 1.0, "logprob": -1.0}


def test_apply_scores_sorts_and_keeps_the_form(tmp_path, capfdbinary):
    (tmp_path / "lists").write_text(
        "0 ||| a ||| x= 1 2 ||| 9 ||| 0-0\n0 ||| b ||| x= 2 2 ||| 8\n0 ||| c ||| x= 2 2 ||| 7\n5 ||| d ||| ||| 1\n"
    )
    (tmp_path / "weights").write_text("x_0 0.5\nx_1 -1\n")
    command = ["rerank", "apply", str(tmp_path / "lists"), "--weights", str(tmp_path / "weights")]
    expected = (
        b"0 ||| b ||| x= 2 2 ||| -1\n0 ||| c ||| x= 2 2 ||| -1\n0 ||| a ||| x= 1 2 ||| -1.5 ||| 0-0\n"
        b"5 ||| d |||  ||| 0\n"
    )
    for jobs in "1", "2":
        assert main([*command, "--jobs", jobs]) == 0
        assert capfdbinary.readouterr().out == expected
    assert main([*command, "--output", str(tmp_path / "out.gz")]) == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == expected
    capfdbinary.readouterr()
    assert main([*command, "--one-best"]) == 0
    assert capfdbinary.readouterr().out == b"b\nd\n"


@pytest.mark.parametrize(
    ("lists", "references", "options", "message"),
    [
        ("0 ||| a ||| x=1\n0 ||| b ||| x=oops\n", "a\n", [], "lists:2: feature 'x' is 'oops'"),
        ("0 ||| a ||| x=1\n2 ||| b ||| x=1\n", "a\nb\n", [], "lists:2: list 2 has no reference"),
        ("a ||| a ||| x=1\n", "a\n", [], "lists:1: the id 'a' is not a line number"),
        ("a ||| a ||| x=1\nb ||| b ||| x=1\n", "a\n", ["--references-by", "list"], "lists:2: list b has no reference"),
        ("a ||| a ||| x=1\n", "a\nb\n", ["--references-by", "list"], "references:2: there are references for more"),
        ("", "a\n", [], "lists: there are no lists"),
        ("0 ||| a ||| x=1\n0 ||| a ||| x=2\n", "a\n", [], "no two hypotheses"),
        ("0 ||| a ||| x=-9\n0 ||| b ||| x=9\n", "a\n", ["--eta", "1e308"], "at list 1 a weight became infinite"),
        ("0 ||| a ||| x=1\n", "a\n", ["--objective", "4"], "both references and an objective: one of them must say"),
        ("0 ||| a ||| x=1\n", "a\n", ["--lower-is-better"], "lower_is_better"),
        (
            "0 ||| a ||| x=1\n",
            "a\n",
            ["--set", "layout.kind=tasks"],
            "for lists, choose one of random, reshard, sequential",
        ),
        ("0 ||| a ||| x=1\n", "a\n", ["--devtest", "x"], "devtest and devtest_references must be given together"),
        ("0 ||| a ||| x=1\n", "a\n", ["--references-by", "list", "--lists", "-"], "cannot be read twice"),
        ("0 ||| a ||| x=1\n", "a\n", ["--set", "metrik=bleu"], "unknown key 'metrik'"),
        ("0 ||| a ||| x=1\n", "a\n", ["--algorithm", "sgd", "--shards", "1", "--epochs", "0"], "epochs is 0"),
        ("0 ||| a ||| x=1\n", "a\n", ["--shards", "2"], "Ask for fewer shards"),
    ],
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_is_wrong_is_said(tmp_path, capsys, lists, references, options, message, jobs):
    (tmp_path / "lists").write_text(lists)
    (tmp_path / "references").write_text(references)
    command = ["rerank", "train", "--lists", str(tmp_path / "lists"), "--references", str(tmp_path / "references")]
    assert main([*command, "--output", str(tmp_path / "run"), "--jobs", jobs, *options]) == 2
    error = capsys.readouterr().err
    assert message in error.replace(f"{tmp_path}/", "") and "Traceback" not in error


def test_reference_files_belong_together(tmp_path):
    for name, text in (("lists", "1 ||| a ||| x=1\n"), ("one", "a\nb\n"), ("two", "a\n")):
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in ("one", "two")]
    with pytest.raises(InputError, match=r"two: ends after 1 lines, but .*one continues"):
        compile_lists(
            [str(tmp_path / "lists")],
            paths,
            tmp_path / "t",
            fields=FieldsConfig(),
            objective=ObjectiveConfig(),
        )


SGD = ("--algorithm", "sgd", "--epochs", "3")


def scored_lists(folder, good: float, count: int = 40):
    """Lists of two hypotheses: the system gives the right one the score `good`, and 0 to the wrong one."""
    lines, references = [], []
    for number in range(count):
        texts = [f"this is sentence number {number} indeed", f"that was no sentence of {number}"]
        references.append(texts[0])
        scores = [good, 0.0]
        order = sorted((0, 1), key=lambda k: -scores[k])
        lines += [f"{number} ||| {texts[k]} ||| f={k} g={(number * 7 + k) % 5} ||| {scores[k]}" for k in order]
    (folder / "lists").write_text("".join(f"{line}\n" for line in lines))
    (folder / "references").write_text("".join(f"{line}\n" for line in references))
    return ["rerank", "train", "--lists", str(folder / "lists"), "--references", str(folder / "references")]


def test_lists_that_are_better_as_they_came_keep_their_order(tmp_path, capsys):
    """By hand: every list has its best hypothesis first, so that no epoch can be better on the held-out lists."""
    assert main([*scored_lists(tmp_path, 1.0), *SGD, "--output", str(tmp_path / "r")]) == 0
    said = capsys.readouterr().err
    assert "held-out devtest BLEU: 100.00 in the given order, 100.00 after the best epoch" in said
    command = [
        "rerank",
        "apply",
        str(tmp_path / "lists"),
        "--weights",
        str(tmp_path / "r" / "weights.txt.gz"),
        "--one-best",
    ]
    assert main(command) == 0
    assert capsys.readouterr().out == (tmp_path / "references").read_text()


def test_held_out_lists_choose_and_are_not_learned_from(tmp_path, capsys):
    """The system prefers the wrong hypothesis of every list: training mends that, and says how much it helps."""
    assert main([*scored_lists(tmp_path, -1.0), *SGD, "--eta", "0.1", "--output", str(tmp_path / "r")]) == 0
    said = capsys.readouterr().err
    assert "in the given order, 100.00 after the best epoch" in said and "no epoch is better" not in said
    manifest = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert manifest["start"]["devtest_bleu"] < 20 and manifest["kept_start"] is False
    statistics = [json.loads(line) for line in (tmp_path / "r" / "statistics.jsonl").read_text().splitlines()]
    assert {line["lists"] for line in statistics} == {32}  # of 40, every fifth is held out
    assert len(gzip.decompress((tmp_path / "r" / "epoch-001" / "devtest.txt.gz").read_bytes()).splitlines()) == 8


def test_a_training_that_makes_lists_worse_is_not_the_result(tmp_path, capsys):
    """Learning from the wrong references pulls the lists apart; held-out lists with the right ones show it."""
    command = scored_lists(tmp_path, 1.0)
    wrong = [line.split(" ||| ")[1] for line in (tmp_path / "lists").read_text().splitlines()[1::2]]
    (tmp_path / "wrong").write_text("".join(f"{line}\n" for line in wrong))
    command[-1] = str(tmp_path / "wrong")
    command += ["--devtest", str(tmp_path / "lists"), "--devtest-references", str(tmp_path / "references")]
    assert main([*command, "--algorithm", "sgd", "--eta", "1", "--epochs", "2", "--output", str(tmp_path / "r")]) == 0
    assert "no epoch is better than the order in which the lists were given" in capsys.readouterr().err
    assert dict(Weights.read(tmp_path / "r" / "weights.txt.gz")) == {"SystemScore": 1.0}
