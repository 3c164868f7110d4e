"""From trained weights to translations of shards.

In: a set of a build, or shards; runs or weights by the names of systems. Out: outputs and references, ready to be
scored.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from itersel.base.progress import Progress
from itersel.decode.coverage import unmet_weights
from itersel.decode.decoder import DecoderConfig
from itersel.decode.shard_translator import ShardTranslator
from itersel.decode.trained import TrainedModel
from itersel.evaluation.scoring import System
from itersel.lm.model import LanguageModel
from itersel.model.domain_weights import ERROR, DomainWeights
from itersel.model.features import Weights
from itersel.run.build_folder import SHARD_PATTERN, BuildFolder
from itersel.run.config import expand
from itersel.shards.shard import Shard


def find_shards(places: Sequence[str]) -> list[Shard]:
    """The shards that files, patterns or folders name, in order."""
    patterns = [os.path.join(place, SHARD_PATTERN) if os.path.isdir(place) else place for place in places]
    return [Shard(path) for path in expand(patterns, "shards")]


def warnings_about(weights: Weights | DomainWeights, shards: Sequence[Shard]) -> list[str]:
    """Warnings about weights whose features the shards do not have."""
    if isinstance(weights, DomainWeights):
        found = (text for one in weights.by_domain.values() for text in warnings_about(one, shards))
        return list(dict.fromkeys(found))
    groups = frozenset(group for shard in shards for group in shard.groups)
    names = frozenset(name for shard in shards for name in shard.feature_names())
    return list(unmet_weights(weights, groups, names))


@dataclass(frozen=True, eq=False)
class BuiltSet:
    """The shards of a set of a build, and the language model to translate them with."""

    name: str
    shards: Sequence[Shard]
    model: LanguageModel

    @classmethod
    def of_build(cls, build: BuildFolder, name: str) -> BuiltSet:
        return cls(name, find_shards([build.shards(name)]), LanguageModel(build.language_model))

    @property
    def references(self) -> list[list[str]]:
        return [shard.references(number) for shard in self.shards for number in range(len(shard))]

    def translate(
        self,
        systems: Mapping[str, Sequence[str]],
        options: DecoderConfig,
        jobs: int = 1,
        *,
        domain: str | None = None,
        unknown_domains: str = ERROR,
    ) -> tuple[list[System], list[str]]:
        """The outputs of runs or weights files, by the names of their systems, and warnings about the weights.

        A system with weights by domain takes those of each sentence's domain, or of `domain` for all.
        """
        made, warnings = [], []
        for name, paths in systems.items():
            outputs = []
            for path in paths:
                weights = TrainedModel.read(path).prepared(domain, unknown_domains)
                warnings += [f"{path}: {text}" for text in warnings_about(weights, self.shards)]
                translator = ShardTranslator(self.shards, weights, self.model, options)
                with Progress(f"{name} on {self.name}", len(translator)) as progress:
                    lines = []
                    for line in translator.best(jobs):
                        lines.append(line)
                        progress.advance()
                outputs.append(lines)
            made.append(System(name, outputs))
        return made, warnings
