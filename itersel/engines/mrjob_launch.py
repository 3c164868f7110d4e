"""Launching jobs by mrjob: with mrjob_hadoop, the only module that knows mrjob and the script `jobs/map_reduce.py`."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from itersel.base.errors import ConfigError, UserError
from itersel.base.resources import resource
from itersel.mapreduce.job import Record
from itersel.mapreduce.record_file import parse_record_line

ROOT = Path(__file__).resolve().parents[2]
JOBS_VARIABLE = "ITERSEL_JOBS"
MODULE = "itersel_job_map_reduce"
"""The module name under which the script is loaded here."""


class StepFailedError(Exception):
    """mrjob's runner gave up. The logs of the job's tasks say why."""


def job_script() -> Path:
    """The script that runs any job: in the checkout's `jobs/`, its installed copy, or where ITERSEL_JOBS says."""
    script = Path(os.environ.get(JOBS_VARIABLE) or resource("jobs")) / "map_reduce.py"
    if not script.is_file():
        raise ConfigError(f"there is no job {script}", hint=f"Set {JOBS_VARIABLE} to the repository's folder jobs.")
    return script


def run_script(
    arguments: Sequence[str],
    runner: str,
    output: Callable[[str], Iterable[bytes]] | None = None,
    script: str | None = None,
) -> Iterator[Record]:
    """Run the script on one of mrjob's runners and return its records; StepFailedError if it fails.

    `output` reads the job's output folder; the default is mrjob's own way, file by file. `script` is the script's copy
    in HDFS, for the runner hadoop; otherwise mrjob uploads it.
    """
    from mrjob.step import StepFailedException

    options = ["-r", runner]
    if runner == "local":  # its tasks run in folders of their own
        options += ["--cmdenv", f"PYTHONPATH={python_path()}", "--python-bin", sys.executable]
    job = _job_class()(args=[*options, *arguments])
    try:
        with _make_runner(job, script) as running:
            running.run()
            chunks = running.cat_output() if output is None else output(running.get_output_dir())
            for key, value in job.parse_output(chunks):
                yield parse_record_line(key, (value or "").rstrip("\n"))
    except StepFailedException as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from None
        raise StepFailedError(str(error)) from None


def _make_runner(job: Any, script: str | None) -> Any:
    if script is None:
        return job.make_runner()
    from itersel.engines.mrjob_hadoop import HadoopRunner

    return HadoopRunner(**(job._runner_kwargs() | {"mr_job_script": script}))


def python_path() -> str:
    """Where tasks on this machine, or on one with the same folders, find the package."""
    return os.pathsep.join([os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])


def make_cluster(options: Sequence[str]) -> str:
    """Make an EMR cluster that stays until it is ended, with these options of mrjob's runner; its id."""
    with tempfile.TemporaryDirectory(prefix="itersel-cluster-") as folder:
        arguments = ["-r", "emr", *options, "--local-tmp-dir", folder, "--job", os.devnull]
        # Not as a context manager, which would end the cluster again.
        made = _job_class()(args=arguments).make_runner().make_persistent_cluster()
    return str(made)


def _job_class() -> Any:
    script = job_script()
    known = sys.modules.get(MODULE)
    if known is None or known.__file__ != os.fspath(script):
        spec = importlib.util.spec_from_file_location(MODULE, script)
        assert spec is not None and spec.loader is not None
        known = importlib.util.module_from_spec(spec)
        sys.modules[MODULE] = known
        spec.loader.exec_module(known)
    return known.MapReduce
