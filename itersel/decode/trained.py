"""What to translate with: a run's directory, a file of weights, or a folder with weights for each domain."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from itersel.base.errors import InputError
from itersel.base.json_files import read_json
from itersel.model.domain_weights import ERROR, FILE, FOLDER, DomainWeights
from itersel.model.features import Weights

RUN = "run.json"


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """Weights, and the language model that they were trained with, if they are a run's."""

    path: str
    weights: Weights
    """The weights; with weights by domain, their mean."""
    language_model: str | None = None
    domains: DomainWeights | None = None
    """Weights for each domain, if a folder of such was named."""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> TrainedModel:
        """A run's directory, a file of `name value` lines, or a folder of such files, domain.NAME.txt."""
        place = Path(path)
        if not place.is_dir():
            return cls(os.fspath(path), Weights.read(path))
        if not (place / RUN).is_file() and any(FILE.fullmatch(one.name) for one in place.iterdir()):
            domains = DomainWeights.read(place)
            return cls(os.fspath(path), domains.mean, _language_model(place.absolute().parent), domains)
        if not (place / RUN).is_file():
            hint = f"Name a run's directory, a weights file, or the folder `{FOLDER}` of a run that tuned for domains."
            raise InputError("a folder without a run", where=place, hint=hint)
        if not (place / "weights.txt.gz").is_file():
            raise InputError("the run is not finished", where=place, hint="Run the same itersel train again.")
        return cls(os.fspath(path), Weights.read(place / "weights.txt.gz"), _language_model(place))

    def prepared(self, domain: str | None = None, unknown: str = ERROR) -> Weights | DomainWeights:
        """What sentences are translated with: see `DomainWeights.prepared`; one set of weights does for all domains."""
        return self.weights if self.domains is None else self.domains.prepared(domain, unknown)


def _language_model(run: Path) -> str | None:
    """The language model that a run was trained with; None if it is no run or had none."""
    if not (run / RUN).is_file():
        return None
    model = read_json(run / RUN).get("configuration", {}).get("language_model")
    return model if isinstance(model, str) else None
