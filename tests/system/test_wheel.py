"""A wheel is enough: installed with pip into an environment of its own, without the checkout, everything runs.

The environment sees the packages of the one that runs the tests, so nothing is fetched; itersel itself comes from the
wheel alone. Commands run in an empty folder.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from batch_cases import single_node
from engine_cases import assert_same_run, small_data
from itersel.base.version import __version__, build_id
from itersel.cli import VERBS
from itersel.pipeline.demo import TRAINED
from itersel.run.driver import train
from small_demo import TINY

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def clean_variables() -> dict[str, str]:
    """Environment variables without those that lead to the checkout."""
    return {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "ITERSEL_JOBS")}


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, arguments)]
    # Elsewhere than in the checkout, whose itersel.egg-info would pass for an installed itersel.
    done = subprocess.run(command, cwd="/", env=clean_variables(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def built_by(hook: str, sources: Path, folder: Path) -> Path:
    """What that function of the build backend makes of the sources."""
    code = f"import sys; from setuptools.build_meta import {hook}; print({hook}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel as `pip wheel .` makes it, with this environment's setuptools and pybind11."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder, ROOT)
    return next(folder.glob("itersel-*.whl"))


class Environment:
    """A virtual environment that has itersel from a wheel, and everything else from this environment."""

    def __init__(self, folder: Path, wheel: Path):
        venv.create(folder, symlinks=True)
        self.python = folder / "bin" / "python"
        pip("--python", self.python, "install", "--no-deps", "--no-index", wheel)
        self.site = next((folder / "lib").glob("python*/site-packages"))
        # Packages in these folders can be imported, but .pth files there, such as that of a checkout, do not count.
        (self.site / "others.pth").write_text("\n".join(site.getsitepackages()) + "\n")
        self.variables = clean_variables() | {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(self, folder: Path, *words: object, **variables: str) -> str:
        """Standard output of a command in that folder."""
        command = [str(word) for word in words]
        done = subprocess.run(command, cwd=folder, env=self.variables | variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Environment:
    return Environment(tmp_path_factory.mktemp("environment") / "venv", wheel)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small training and its run by the inline engine of the checkout."""
    folder = tmp_path_factory.mktemp("data")
    config = replace(small_data(folder), epochs=2)
    train(config, folder / "expected", warn=lambda text: None)
    return config, folder / "expected"


def training(installed: Environment, folder: Path, data, runner: str, **variables: str) -> None:
    """Train with that engine and compare with the checkout's run."""
    config, expected = data
    words = ["itersel", "train", "--output", "run", "--shards", *config.shards, "--devtest", *config.devtest]
    words += ["--lm", config.language_model, "--fold-lm", *config.fold_models, "--start", config.start]
    words += ["--epochs", config.epochs, "--reducers", 2, "--top", config.selection.top, "-k", config.epoch.k]
    words += ["--eta", config.epoch.learn.eta, "--runner", runner]
    words += ["--set", f"epoch.metric={config.epoch.metric}", "--set", "epoch.shuffle=false"]  # not the defaults
    installed.run(folder, *words, **variables)
    assert_same_run(expected, folder / "run")


def test_what_is_in_the_wheel(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("jobs", "conf", "data/demo", "data/sample"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"itersel/_installed/{path.relative_to(ROOT)}" in names
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "itersel").rglob("*.py")}
    assert {name for name in names if name.endswith(".py") and "/_installed/" not in name} == modules
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert "itersel/_installed/licenses/kenlm/COPYING.LESSER.3" in names
    assert "itersel/_installed/licenses/zstd/LICENSE" in names
    assert "itersel/_installed/licenses/pybind11/LICENSE" in names
    assert not any(name.endswith((".cc", ".hh")) or name.startswith("tests") for name in names)


def test_the_checkout_is_not_used(installed, tmp_path):
    code = (
        "import itersel, itersel._kernel as kernel; print(itersel.__file__, kernel.__file__, itersel.resource('jobs'))"
    )
    for path in installed.run(tmp_path, "python", "-c", code).split():
        assert Path(path).is_relative_to(installed.site)


def test_version(installed, tmp_path):
    said = installed.run(tmp_path, "itersel", "--version")
    assert said.startswith(f"itersel {__version__} (build {build_id()})\n")  # the same code as the checkout's


def test_every_verb_explains_itself(installed, tmp_path):
    code = """if True:
        from itersel.cli import VERBS, main
        for verb in VERBS:
            try:
                main([verb, "--help"])
            except SystemExit as end:
                assert end.code == 0
    """
    said = installed.run(tmp_path, "python", "-c", code)
    assert [f"usage: itersel {verb}" in said for verb in VERBS] == [True] * len(VERBS)


@pytest.mark.parametrize("runner", ["inline", "local", "mrjob-inline", "mrjob-local"])
def test_same_bytes(installed, data, tmp_path, runner):
    training(installed, tmp_path, data, runner)


def test_same_bytes_on_slurm(installed, data, tmp_path, tmp_path_factory):
    for _ in single_node("slurm", tmp_path_factory.mktemp("slurm"), {}):
        training(installed, tmp_path, data, "slurm", SLURM_CONF=os.environ["SLURM_CONF"])


def test_build_on_the_sample(installed, tmp_path):
    """The configuration and the corpus that come with the package, to another folder."""
    configuration = installed.run(
        tmp_path, "python", "-c", "import itersel; print(itersel.resource('conf/sample.yaml'))"
    )
    installed.run(tmp_path, "itersel", "build", configuration.strip(), "--set", "work=work")
    assert list((tmp_path / "work" / "shards" / "train").glob("*.itsh"))


def test_demo(wheel, tmp_path):
    """`itersel demo` without any argument, on a part of the installed corpus, and fewer epochs."""
    environment = Environment(tmp_path / "venv", wheel)
    resources, empty = environment.site / "itersel" / "_installed", tmp_path / "empty"
    for path in (resources / "data" / "demo").iterdir():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[: TINY[path.stem]]), encoding="utf-8")
    for one in TRAINED:
        with open(resources / "conf" / one.configuration, "r+") as stream:
            text = stream.read()
            assert "\nepochs: " in text
            stream.seek(0)
            stream.write("\n".join("epochs: 2" if line.startswith("epochs: ") else line for line in text.splitlines()))
            stream.truncate()
    empty.mkdir()
    said = environment.run(empty, "itersel", "demo")
    assert "IterSelSGD" in said and (empty / "work" / "demo" / "report.html").is_file()
    assert json.loads((empty / "work" / "demo" / "evaluation.json").read_text())["sentences"] == TINY["test"]


def test_the_wheel_is_made_again_from_the_installation(installed, wheel, tmp_path):
    """What `itersel wheelhouse` ships: the same files with the same content, and pip installs it."""
    code = "import pathlib, sys; from itersel.engines.repack import repack; print(repack(pathlib.Path(sys.argv[1])))"
    again = Path(installed.run(tmp_path, "python", "-c", code, tmp_path).strip())
    assert again.name == wheel.name
    first, second = zipfile.ZipFile(wheel), zipfile.ZipFile(again)
    assert set(second.namelist()) == set(first.namelist())
    for name in first.namelist():
        assert name.endswith("/RECORD") or second.read(name) == first.read(name), name
    other = Environment(tmp_path / "other", again)
    assert build_id() in other.run(tmp_path, "itersel", "--version")


def test_import_beside_a_clone(tmp_path):
    """In the parent folder of a clone named itersel, which has an editable install."""
    clone, copied = tmp_path / "itersel", ("itersel", "setup.py", "setup.cfg", "pyproject.toml", "README.md")
    clone.mkdir()
    for name in (*copied, "LICENSE", "NOTICE"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__", "kernel"))
        else:
            shutil.copy(ROOT / name, clone / name)
    # The kernel is there; what is tried is how Python finds the package.
    before, rest, _ = (clone / "setup.py").read_text().partition("    ext_modules=[")
    assert rest
    (clone / "setup.py").write_text(f"{before})\n")
    environment = Environment(tmp_path / "venv", built_by("build_editable", clone, tmp_path))
    for folder in (tmp_path, clone, Path("/")):
        code = "import itersel; from itersel import Weights; print(Weights({'a': 1.0}), itersel.__file__)"
        said = environment.run(folder, "python", "-c", code)
        assert said == f"Weights({{'a': 1.0}}) {clone / 'itersel' / '__init__.py'}\n"


def test_source_distribution(tmp_path):
    """It has all that a build, the engines and the tests need."""
    copy = tmp_path / "checkout"
    ignored = shutil.ignore_patterns(".git", ".venv", "build", "work", "__pycache__", "*.so", ".*_cache", ".hypothesis")
    shutil.copytree(ROOT, copy, ignore=ignored)
    with tarfile.open(built_by("build_sdist", copy, tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True).stdout.split("\0")
    assert {name for name in tracked if name and name != ".gitignore" and (ROOT / name).exists()} <= names
