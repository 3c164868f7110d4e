"""`itersel translate` as a user runs it, on cdec's grammars for Multi30k: quality, lists, interruption."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sacrebleu

from itersel import Weights

SENTENCES = 50


def command(data, *arguments):
    data = data / "cdec-m30k"
    model = ["--weights", data / "weights.txt", "--lm", data / "lm3.arpa.gz", "--grammar-root", data]
    return [sys.executable, "-m", "itersel", "translate", *map(str, [*model, *arguments])]


@pytest.fixture(scope="module")
def sentences(shared_data, tmp_path_factory):
    lines = (shared_data / "cdec-m30k" / "input.sgm").read_text().splitlines(keepends=True)[:SENTENCES]
    path = tmp_path_factory.mktemp("translate") / "input.sgm"
    path.write_text("".join(lines))
    return path


def test_bleu(shared_data, sentences):
    arguments = command(shared_data, sentences, "--pass-through", "all", "--jobs", 2)
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=1200)
    translations = done.stdout.splitlines()
    assert len(translations) == SENTENCES
    references = (shared_data / "cdec-m30k" / "reference.en").read_text().splitlines()[:SENTENCES]
    assert sacrebleu.corpus_bleu(translations, [references], tokenize="none", force=True).score > 30
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["cdec", "moses"])
def test_lists_parse_back(shared_data, sentences, tmp_path, form):
    options = ["--jobs", 2, "--kbest", 20, "--features", "all", "--format", form, "--output", tmp_path / "lists"]
    subprocess.run(command(shared_data, sentences, *options), check=True, timeout=1200)
    weights = Weights.read(shared_data / "cdec-m30k" / "weights.txt")
    lists = {}
    for line in (tmp_path / "lists").read_text().splitlines():
        name, text, features, score = line.split(" ||| ")
        tokens = features.split()
        if form == "cdec":
            vector = {feature: float(value) for feature, value in (token.rsplit("=", 1) for token in tokens)}
        else:
            vector = {feature[:-1]: float(value) for feature, value in zip(tokens[::2], tokens[1::2], strict=True)}
        assert list(vector) == sorted(vector)
        assert any(feature.startswith("R:") for feature in vector)
        product = sum(weights.get(feature, 0.0) * value for feature, value in vector.items())
        assert product == pytest.approx(float(score), abs=1e-6)
        lists.setdefault(name, []).append((float(score), text))
    assert list(lists) == [str(number) for number in range(SENTENCES)]
    for hypotheses in lists.values():
        scores, texts = zip(*hypotheses, strict=True)
        assert list(scores) == sorted(scores, reverse=True)
        assert len(set(texts)) == len(texts) <= 20


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def alive(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition):
    end = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="looks for processes in /proc")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(shared_data, sentences, tmp_path, number, code):
    (tmp_path / "long").write_text(sentences.read_text() * 100)
    arguments = command(shared_data, tmp_path / "long", "--jobs", 2, "--output", tmp_path / "made" / "out")
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: len(children(process)) == 2)
        workers = children(process)
        assert len(os.listdir(tmp_path / "made")) == 1  # the hidden one
        process.send_signal(number)
        _, said = process.communicate(timeout=600)
    assert process.returncode == code
    assert "Traceback" not in said
    assert os.listdir(tmp_path / "made") == []
    wait_for(lambda: not any(map(alive, workers)))


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="looks for processes in /proc")
def test_a_killed_worker_is_reported(shared_data, sentences, tmp_path):
    (tmp_path / "long").write_text(sentences.read_text() * 100)
    arguments = command(shared_data, tmp_path / "long", "--jobs", 2, "--output", tmp_path / "made" / "out")
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: len(children(process)) == 2)
        os.kill(int(children(process)[0]), signal.SIGKILL)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 1
    assert "a worker process was killed by SIGKILL" in said
    assert "Traceback" not in said
    assert os.listdir(tmp_path / "made") == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_translation_appears_while_input_is_awaited(shared_data, sentences, jobs):
    line = sentences.read_text().splitlines(keepends=True)[0]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command(shared_data, "--jobs", jobs), stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        for _ in range(2):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().startswith("a man with ")
        process.send_signal(signal.SIGINT)
        process.wait(timeout=600)
    assert process.returncode == 130


def test_a_reader_that_goes_away_is_no_failure(shared_data, sentences):
    pipe = subprocess.PIPE
    arguments = command(shared_data, sentences, "--jobs", 2, "--kbest", 100)
    with subprocess.Popen(arguments, stdout=pipe, stderr=pipe) as process:
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, b"Traceback" in said) == (0, False)
