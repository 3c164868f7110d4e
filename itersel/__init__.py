"""Distributed discriminative training for hierarchical machine translation, as map-reduce.

Start with `build`, `train`, `translate`, `rerank` and `evaluate` (itersel.api, docs/python-api.md).
Names are loaded when they are first used, so that `import itersel` costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from itersel.base.version import __version__

if TYPE_CHECKING:
    from itersel.api import Build, Run, build, evaluate, rerank, train, train_reranker, translate
    from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
    from itersel.base.resources import resource
    from itersel.decode.decoder import Decoder, DecoderConfig, Hypothesis
    from itersel.evaluation.scoring import Evaluation
    from itersel.grammar.grammar import Grammar
    from itersel.lm.model import LanguageModel
    from itersel.model.domain_weights import DomainWeights
    from itersel.model.features import Weights
    from itersel.model.vectors import Vector
    from itersel.shards.shard import Shard, ShardWriter

_MODULES = {
    "itersel.api": ("Build", "Run", "build", "evaluate", "rerank", "train", "train_reranker", "translate"),
    "itersel.base.errors": ("ConfigError", "InputError", "ResourceError", "UserError"),
    "itersel.base.resources": ("resource",),
    "itersel.decode.decoder": ("Decoder", "DecoderConfig", "Hypothesis"),
    "itersel.evaluation.scoring": ("Evaluation",),
    "itersel.grammar.grammar": ("Grammar",),
    "itersel.lm.model": ("LanguageModel",),
    "itersel.model.domain_weights": ("DomainWeights",),
    "itersel.model.features": ("Weights",),
    "itersel.model.vectors": ("Vector",),
    "itersel.shards.shard": ("Shard", "ShardWriter"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Build",
    "ConfigError",
    "Decoder",
    "DecoderConfig",
    "DomainWeights",
    "Evaluation",
    "Grammar",
    "Hypothesis",
    "InputError",
    "LanguageModel",
    "ResourceError",
    "Run",
    "Shard",
    "ShardWriter",
    "UserError",
    "Vector",
    "Weights",
    "__version__",
    "build",
    "evaluate",
    "rerank",
    "resource",
    "train",
    "train_reranker",
    "translate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'itersel' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
