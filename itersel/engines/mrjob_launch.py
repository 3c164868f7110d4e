"""Launching map-reduce jobs: the only module of the package that knows mrjob and the folder `jobs/`.

A job's script is in the checkout's folder `jobs/` or its installed copy, or where ITERSEL_JOBS says.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError, ResourceError, UserError
from itersel.base.resources import resource
from itersel.grammar.extraction import ExtractOptions
from itersel.shards.compiler import ShardOptions
from itersel.shards.folder import PlannedShard, ShardRecord
from itersel.shards.settings import format_settings

ROOT = Path(__file__).resolve().parents[2]


def extract_shards(
    plan: Sequence[PlannedShard],
    folder: str | os.PathLike[str],
    *,
    index: str | os.PathLike[str],
    sentences: str | os.PathLike[str],
    references: Sequence[str | os.PathLike[str]],
    tasks: str | os.PathLike[str] | None,
    rules: ExtractOptions,
    options: ShardOptions,
    runner: str,
) -> list[ShardRecord]:
    """Make these shards by the job `extract_shards`; its records, in the job's order."""
    arguments = ["--index", os.path.abspath(index), "--sentences", os.path.abspath(sentences)]
    for path in references:
        arguments += ["--references", os.path.abspath(path)]
    if tasks is not None:
        arguments += ["--tasks", os.path.abspath(tasks)]
    arguments += ["--settings", format_settings(rules, options), "--output-folder", os.path.abspath(folder)]
    with tempfile.TemporaryDirectory(prefix="itersel-plan-") as temporary:
        # One input file for each shard, so that each is a map task of its own.
        inputs = []
        for planned in plan:
            path = Path(temporary) / f"{planned.assignment.name}.plan"
            path.write_text(planned.to_line() + "\n")
            inputs.append(os.fspath(path))
        return [ShardRecord(**record) for _, record in run_job("extract_shards", [*arguments, *inputs], runner)]


def run_job(
    name: str,
    arguments: Sequence[str],
    runner: str,
    output: Callable[[str], Iterable[bytes]] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Run the job of that name on one of mrjob's runners; its output as (key, value).

    `output` reads the job's output folder; the default is mrjob's own way, file by file.
    """
    from mrjob.step import StepFailedException

    options = ["-r", runner, "--no-conf", "--quiet"] if runner == "inline" else ["-r", runner]
    if runner == "local":  # tasks run in folders of their own
        places = [os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        options += ["--cmdenv", f"PYTHONPATH={os.pathsep.join(places)}", "--python-bin", sys.executable]
    job = _job_class(name)(args=[*options, *arguments])
    try:
        with job.make_runner() as running:
            running.run()
            chunks = running.cat_output() if output is None else output(running.get_output_dir())
            yield from job.parse_output(chunks)
    except StepFailedException as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from None
        raise ResourceError(f"the job {name} failed on the runner {runner}: {error}") from None


def make_cluster(options: Sequence[str]) -> str:
    """Make an EMR cluster that stays until it is ended, with these options of mrjob's runner; its id."""
    with tempfile.TemporaryDirectory(prefix="itersel-cluster-") as folder:
        arguments = ["-r", "emr", *options, "--local-tmp-dir", folder, "--configuration", os.devnull]
        # Not as a context manager, which would end the cluster again.
        made = _job_class("train_epoch")(args=arguments).make_runner().make_persistent_cluster()
    return str(made)


def _job_class(name: str) -> Any:
    folder = Path(os.environ.get("ITERSEL_JOBS") or resource("jobs"))
    script = folder / f"{name}.py"
    if not script.is_file():
        raise ConfigError(f"there is no job {script}", hint="Set ITERSEL_JOBS to the repository's folder jobs.")
    module_name = f"itersel_job_{name}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, script)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    from mrjob.job import MRJob

    found = [value for value in vars(sys.modules[module_name]).values() if _is_job(value, MRJob)]
    return found[0]


def _is_job(value: object, base: type) -> bool:
    return isinstance(value, type) and issubclass(value, base) and value is not base
