"""Binary language models: made beside an ARPA file or in the cache, opened by mapping, with the same scores."""

from __future__ import annotations

import gzip
import os
import random
from multiprocessing import get_context
from pathlib import Path

import kenlm
import pytest

from itersel.base.errors import InputError
from itersel.lm import binary, model
from itersel.lm.binary import KINDS, binary_path, cached_binary, is_binary, prefer_binaries, write_binary
from itersel.lm.model import LanguageModel
from oracles.random_arpa import write_random_arpa

WORDS = ("x", "y", "z", "v", "ü")


@pytest.fixture(scope="module")
def arpa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arpa") / "lm.arpa"
    write_random_arpa(path, 4, WORDS, seed=3, sentences=40)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, for models of any size."""
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(model, "CACHED_FROM_BYTES", 0)
    return tmp_path / "cache" / binary.FOLDER


def sentences() -> list[str]:
    source = random.Random(5)
    return [" ".join(source.choices((*WORDS, "unseen"), k=source.randint(0, 9))) for _ in range(100)]


def kept(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.bin"))


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(arpa: Path, tmp_path: Path, kind: str) -> None:
    """Equal bytes each time; KenLM's own reader agrees, and all but the quantised form score as the ARPA file does."""
    packed = tmp_path / "lm.arpa.gz"
    packed.write_bytes(gzip.compress(arpa.read_bytes()))
    write_binary(arpa, tmp_path / "one", kind)
    write_binary(packed, tmp_path / "two", kind)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert is_binary(tmp_path / "one") and not is_binary(arpa)
    ours, theirs, text = LanguageModel(tmp_path / "one"), kenlm.Model(str(tmp_path / "one")), LanguageModel(arpa)
    for line in sentences():
        assert ours.score(line) == pytest.approx(theirs.score(line), abs=1e-5)
        assert kind == "quantised" or ours.score(line) == text.score(line)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lm.arpa.gz", "one", "two"]


def test_a_failure_leaves_nothing(arpa: Path, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(arpa.read_bytes()[:-40])
    with pytest.raises(InputError, match="bad: not a readable ARPA"):
        write_binary(tmp_path / "bad", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_names() -> None:
    assert binary_path("model/lm.arpa.gz") == Path("model/lm.bin")
    assert binary_path("lm.without-fold.003.arpa") == Path("lm.without-fold.003.bin")
    both = ["m/lm.0.arpa.gz", "m/lm.0.bin", "m/lm.1.arpa", "m/./lm.1.bin", "m/lm.2.arpa.gz", "other/lm.0.arpa.gz"]
    assert prefer_binaries(both) == ["m/lm.0.bin", "m/./lm.1.bin", "m/lm.2.arpa.gz", "other/lm.0.arpa.gz"]


def test_the_cache_is_by_content(arpa: Path, cache: Path, tmp_path: Path) -> None:
    renamed, packed, other = tmp_path / "renamed", tmp_path / "packed.gz", tmp_path / "other"
    renamed.write_bytes(arpa.read_bytes())
    packed.write_bytes(gzip.compress(arpa.read_bytes()))
    assert LanguageModel(arpa).score("x y") == LanguageModel(renamed).score("x y")
    assert len(kept(cache)) == 1
    assert LanguageModel(packed).score("x y") == LanguageModel(arpa).score("x y")
    assert len(kept(cache)) == 2
    write_random_arpa(other, 4, WORDS, seed=4, sentences=40)
    expected = kenlm.Model(str(other)).score("x y")
    renamed.write_bytes(other.read_bytes())  # the same name with another content
    assert LanguageModel(renamed).score("x y") == pytest.approx(expected, abs=1e-5)
    assert len(kept(cache)) == 3
    assert cache.stat().st_mode & 0o777 == 0o700 and all(path.stat().st_mode & 0o777 == 0o600 for path in kept(cache))


def test_a_converted_model_is_not_read_again(arpa: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = LanguageModel(arpa).score("x y z")
    monkeypatch.setattr(binary, "write_binary", None)  # calling it would fail
    monkeypatch.setattr(model, "_read", None)
    assert LanguageModel(arpa).score("x y z") == expected
    assert len(kept(cache)) == 1


def test_damaged_entries_are_made_again(arpa: Path, cache: Path) -> None:
    expected = LanguageModel(arpa).score("x y z")
    (entry,) = kept(cache)
    whole = entry.read_bytes()
    os.truncate(entry, len(whole) // 2)
    assert LanguageModel(arpa).score("x y z") == expected and not kept(cache)
    assert LanguageModel(arpa).score("x y z") == expected
    assert entry.read_bytes() == whole


def test_links_and_foreign_folders_are_not_followed(arpa: Path, cache: Path, tmp_path: Path) -> None:
    """Whoever can write to the cache could choose the model; a link could overwrite a file."""
    expected = LanguageModel(arpa).score("x y z")
    (entry,) = kept(cache)
    victim = tmp_path / "victim"
    victim.write_bytes(entry.read_bytes()[:-1])
    entry.unlink()
    entry.symlink_to(victim)
    assert LanguageModel(arpa).score("x y z") == expected
    assert not entry.is_symlink() and len(victim.read_bytes()) == entry.stat().st_size - 1
    cache.chmod(0o777)
    assert cached_binary(arpa) is None and LanguageModel(arpa).score("x y z") == expected
    cache.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o700)
    cache.symlink_to(tmp_path / "elsewhere")
    assert cached_binary(arpa) is None and LanguageModel(arpa).score("x y z") == expected


def test_no_place_for_a_cache(arpa: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = LanguageModel(arpa).score("x y z")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ITERSEL_CACHE", str(tmp_path / "file" / "below"))
    assert cached_binary(arpa) is None and LanguageModel(arpa).score("x y z") == expected
    assert len(kept(cache)) == 1


def test_bad_models_are_named_and_not_kept(arpa: Path, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(arpa.read_bytes()[:-40])
    with pytest.raises(InputError, match="not a readable ARPA") as caught:
        LanguageModel(tmp_path / "bad")
    assert caught.value.where == str(tmp_path / "bad")
    assert not [path for path in cache.iterdir() if path.suffix != ".lock"]


def test_many_at_once(arpa: Path, cache: Path) -> None:
    """Processes that need the same model convert it once, and none opens an incomplete file."""
    context = get_context("fork")
    results = context.Queue()

    def work() -> None:
        results.put((LanguageModel(arpa).score("x y z"), kept(cache)[0].stat().st_ino))

    processes = [context.Process(target=work) for _ in range(6)]
    for process in processes:
        process.start()
    found = {results.get(timeout=600) for _ in processes}
    for process in processes:
        process.join()
    assert len(found) == 1 and found.pop()[0] == pytest.approx(kenlm.Model(str(arpa)).score("x y z"), abs=1e-5)


def test_models_not_used_for_long_are_forgotten(arpa: Path, cache: Path, tmp_path: Path) -> None:
    LanguageModel(arpa)
    (old,) = kept(cache)
    long_ago = old.stat().st_mtime - binary.KEPT_SECONDS - 60
    for path in (old, old.with_suffix(".lock")):
        os.utime(path, (long_ago, long_ago))
    opened = LanguageModel(arpa)  # is in use again
    assert old.stat().st_mtime > long_ago + 60
    os.utime(old, (long_ago, long_ago))
    write_random_arpa(tmp_path / "new", 3, WORDS, seed=9)
    LanguageModel(tmp_path / "new")
    assert old not in kept(cache) and len(kept(cache)) == 1
    assert opened.score("x") < 0  # what is mapped stays
