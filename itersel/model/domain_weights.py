"""Weights of several domains: one file each in a folder, domain.NAME.txt, and what they have in common: their mean.

Runs of avg_mert and multitask_mert have such a folder, `domains`; one that was made by hand serves as well. Each
sentence is translated with the weights of its domain.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote

from itersel.base.errors import ConfigError, InputError
from itersel.model.features import Weights, template_of

FOLDER = "domains"
"""In a run's directory: the weights of the chosen round's domains."""
FILE = re.compile(r"domain\.(.+)\.txt(\.gz)?")
ERROR, MEAN = "error", "mean"
UNKNOWN_DOMAINS = (ERROR, MEAN)
"""What happens to a sentence whose domain has no weights: it is an error, or it gets the mean of all domains."""
SHOWN = 5


@dataclass(frozen=True, eq=False)
class DomainWeights:
    """Weights by domain; `others` is for domains without their own."""

    by_domain: Mapping[str, Weights]
    """Any mapping from names to values becomes Weights."""
    others: Weights | None = None
    where: str | None = None
    """The folder that they come from, for messages."""

    def __post_init__(self) -> None:
        if not self.by_domain:
            raise ConfigError("no domain has weights", where=self.where, hint="Give weights for at least one domain.")
        made = {domain: one if isinstance(one, Weights) else Weights(one) for domain, one in self.by_domain.items()}
        object.__setattr__(self, "by_domain", made)

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> DomainWeights:
        """All files domain.NAME.txt or domain.NAME.txt.gz of a folder, in code point order of the domains."""
        found: dict[str, Path] = {}
        for path in sorted(Path(folder).iterdir()):
            match = FILE.fullmatch(path.name)
            if match is None:
                continue
            domain = unquote(match[1])
            if domain in found:
                raise InputError(f"{domain} has two files of weights", where=folder, hint=f"Remove {path.name}.")
            found[domain] = path
        if not found:
            raise InputError(
                "the folder has no weights of domains", where=folder, hint="They are called domain.NAME.txt."
            )
        return cls({domain: Weights.read(found[domain]) for domain in sorted(found)}, where=os.fspath(folder))

    def write(self, folder: str | os.PathLike[str]) -> None:
        for domain, weights in self.by_domain.items():
            weights.write(Path(folder) / weights_file(domain))

    def of(self, domain: str) -> Weights:
        """The weights of a domain; an InputError if it has none and there are none for others."""
        found = self.by_domain.get(domain, self.others)
        if found is None:
            names = ", ".join(list(self.by_domain)[:SHOWN]) + (" …" if len(self.by_domain) > SHOWN else "")
            what = f"the domain {domain!r} has no weights" if domain else "a sentence has no domain"
            raise InputError(
                f"{what}: there are weights for {names}",
                where=self.where,
                hint="Name one of these domains for all sentences, or take the mean of all for unknown domains.",
            )
        return found

    def check(self, domains: Iterable[str]) -> None:
        """InputError for the first domain that has no weights."""
        for domain in sorted(set(domains)):
            self.of(domain)

    @property
    def mean(self) -> Weights:
        """The mean over the domains, each at an absolute sum of 1: what a run of avg_mert calls its weights."""
        return Weights(average([normalised(one) for one in self.by_domain.values()]))

    def prepared(self, domain: str | None = None, unknown: str = ERROR) -> Weights | DomainWeights:
        """The weights of one domain, if it is named; otherwise all, with the mean for others if that is wanted."""
        wanted = replace(self, others=self.mean) if unknown == MEAN and self.others is None else self
        return wanted if domain is None else wanted.of(domain)


def weights_file(domain: str) -> str:
    return f"domain.{quote(domain, safe=' ')}.txt"


def normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights with an absolute sum of 1 over dense features: output does not change, but weights can be compared,
    mixed and averaged.

    Template features do not count unless there are no others: a sum over many of them would say nothing about scale.
    """
    dense = [abs(value) for name, value in weights.items() if template_of(name) is None]
    total = math.fsum(dense) or math.fsum(abs(value) for value in weights.values())
    return {name: value / total for name, value in weights.items()} if total else dict(weights)


def average(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of the weights; an absent one counts as 0."""
    names = sorted({name for one in several for name in one})
    return {name: sum(one.get(name, 0.0) for one in several) / len(several) for name in names}
