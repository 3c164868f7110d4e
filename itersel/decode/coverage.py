"""Which weights apply to a feature. A weight without a feature is ignored, and only the translations show it.

Sparse weights of a switched-on group are met or not as the sentences have it; those of a switched-off group never are.
A dense weight should have its feature in the grammars.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from itersel.model.features import GROUPS, group_of

OWN = frozenset({"Glue", "PassThrough", "WordPenalty", "LanguageModel", "LanguageModel_OOV"})
"""Features that the decoder adds."""
ACCEPTED = 0.5
"""Share of the dense weights that may be without a feature: grammars of short sentences need not have all."""
SHOWN = 5


def names_in(grammar: bytes) -> set[str]:
    """Names of the dense features of a grammar in text form; those of nameless values, too."""
    found: set[str] = set()
    for line in grammar.splitlines():
        fields = line.split(b"|||")
        if len(fields) > 3:
            values = fields[3].split()
            found |= {part.rpartition(b"=")[0].decode(errors="replace") for part in values if b"=" in part}
            found |= {f"PhraseModel_{number}" for number, part in enumerate(values) if b"=" not in part}
    return found


def unmet_weights(
    weights: Mapping[str, float], groups: Collection[str], names: Collection[str] | None
) -> Iterator[str]:
    """Warnings about weights that meet no feature.

    `groups` are the sparse feature groups that are switched on, `names` the dense features of the grammars, where they
    are known.
    """
    counts: dict[str, int] = {}
    dense: list[str] = []
    for name, value in weights.items():
        group = group_of(name)
        if group is not None:
            counts[group] = counts.get(group, 0) + 1
        elif value != 0 and name not in OWN:
            dense.append(name)
    for group in GROUPS:
        if group in counts and group not in groups:
            yield (
                f"{counts[group]:,} of {len(weights):,} weights are for sparse features ({group}) that are not switched"
                " on: they have no effect"
            )
    missing = [] if names is None else sorted(set(dense) - set(names))
    if len(missing) > ACCEPTED * len(dense):
        listed = ", ".join(missing[:SHOWN]) + (" …" if len(missing) > SHOWN else "")
        yield f"{len(missing)} of {len(dense)} dense weights have no feature in the grammar: {listed}"
