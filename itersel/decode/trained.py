"""What to translate with: a run's directory, or a file of weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.json_files import read_json
from itersel.model.features import Weights


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """Weights, and the language model that they were trained with, if they are a run's."""

    path: str
    weights: Weights
    language_model: str | None = None

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """A run's directory, or a file of `name value` lines."""
        place = Path(path)
        if not place.is_dir():
            return cls(os.fspath(path), Weights.read(path))
        if not (place / "run.json").is_file():
            raise InputError("a folder without a run", where=place, hint="Name a run's directory or a weights file.")
        if not (place / "weights.txt.gz").is_file():
            raise InputError("the run is not finished", where=place, hint="Run the same itersel train again.")
        model = read_json(place / "run.json").get("configuration", {}).get("language_model")
        return cls(os.fspath(path), Weights.read(place / "weights.txt.gz"), model if isinstance(model, str) else None)
