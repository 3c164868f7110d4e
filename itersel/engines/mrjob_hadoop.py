"""mrjob's Hadoop runner without the commands that a job of ours does not need.

Before each job mrjob asks for Hadoop's version, makes two folders and uploads the script: four Java machines, about a
second of processor time each. The engine puts the script into HDFS together with the job's other files, and Hadoop's
version does not change while a driver runs.
"""

from __future__ import annotations

from typing import Any

from mrjob.hadoop import HadoopJobRunner
from mrjob.parse import is_uri

_VERSIONS: dict[tuple[str, ...], str] = {}
"""Hadoop's version by the command that tells it."""


class HadoopRunner(HadoopJobRunner):
    """The runner of a job whose script and files are in HDFS already."""

    def get_hadoop_version(self) -> Any:
        command = tuple(self.get_hadoop_bin())
        if command not in _VERSIONS:
            _VERSIONS[command] = super().get_hadoop_version()
        return _VERSIONS[command]

    def _upload_local_files(self) -> None:
        """Nothing, unless the user's options name files or `setup` commands: mrjob writes these into a script."""
        names = self._working_dir_mgr.name_to_path
        working = [*names("file").values(), *names("archive_file").values()]
        if self._upload_mgr.path_to_uri() or not all(map(is_uri, working)):
            super()._upload_local_files()
