"""Algorithms by name: this package's, those that other packages register, and any `module:name`.

Another package registers its algorithm as an entry point of the group `itersel.algorithms`; a module in the current
folder needs no registration: `algorithm: my_trainer:Median`.
"""

from __future__ import annotations

import functools
from importlib.metadata import entry_points

from itersel.algorithms.base import Algorithm
from itersel.base.errors import ConfigError
from itersel.base.objects import find, let_modules_here_be_found

GROUP = "itersel.algorithms"
BUILT_IN = {
    "sgd": "itersel.algorithms.sgd:Sgd",
    "mix_sgd": "itersel.algorithms.sgd:MixSgd",
    "iter_mix_sgd": "itersel.algorithms.sgd:IterMixSgd",
    "iter_sel_sgd": "itersel.algorithms.sgd:IterSelSgd",
    "mert": "itersel.algorithms.mert:Mert",
    "avg_mert": "itersel.algorithms.domain_mert:AvgMert",
    "multitask_mert": "itersel.algorithms.domain_mert:MultitaskMert",
    "pro": "itersel.algorithms.pro:Pro",
    "mira": "itersel.algorithms.mira:Mira",
    "hols": "itersel.algorithms.hols:Hols",
    "rampion": "itersel.algorithms.response:Rampion",
    "exec": "itersel.algorithms.response:Exec",
    "rebol": "itersel.algorithms.response:Rebol",
}
DEFAULT = "iter_sel_sgd"


@functools.cache
def registered() -> dict[str, str]:
    """Names with the `module:name` of their classes. An entry point cannot take the name of one of ours."""
    found = {point.name: point.value for point in sorted(entry_points(group=GROUP), key=lambda one: one.name)}
    return found | BUILT_IN


def algorithm_class(name: str) -> type[Algorithm]:
    """The class of an algorithm; ConfigError that lists the known names if there is none."""
    names = registered()
    if name not in names and ":" not in name:
        raise ConfigError(
            f"unknown algorithm '{name}'", hint=f"Choose one of {', '.join(names)}, or name your own as module:name."
        )
    if name not in names:
        let_modules_here_be_found()
    kind = find(names.get(name, name))
    if not (isinstance(kind, type) and issubclass(kind, Algorithm)):
        raise ConfigError(
            f"{name} is not a training algorithm", hint="Name a subclass of itersel.algorithms.base.Algorithm."
        )
    return kind
