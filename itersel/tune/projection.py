"""Lists in fewer dimensions: sparse features are replaced by weighted sums of them, so that MERT can search.

Held-out line search has two such sums: the sparse part of the model, and the gradient (f1 and f2 of NAACL 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from itersel.lists.accumulated import NewList
from itersel.model.vectors import Vector, feature_ids


def projected(
    found: NewList, sums: Mapping[str, Vector], is_summed: Callable[[str], bool], watched: Collection[str] = ()
) -> NewList:
    """The list with, in the place of the features that `is_summed` accepts, one feature for each of the sums.

    A sum's value is ⟨vector, those features⟩; a vector's weights of other features do not count. Features in `watched`
    stay beside the sums that they are in.
    """
    summed = [is_summed(name) for name in found.names]
    kept = [k for k, name in enumerate(found.names) if not summed[k] or name in watched]
    matrix = np.zeros((len(found.names), len(sums)))
    ids = feature_ids(list(found.names))
    for column, vector in enumerate(sums.values()):
        matrix[:, column] = vector.values_of(ids)
    matrix[~np.array(summed, dtype=bool)] = 0.0
    count = len(found.texts)
    rows = np.repeat(np.arange(count), np.diff(found.starts))
    totals = [np.bincount(rows, found.values * matrix[found.features, k], minlength=count) for k in range(len(sums))]
    is_kept = np.zeros(len(found.names), dtype=bool)
    is_kept[kept] = True
    new_number = np.cumsum(is_kept) - 1
    stays = is_kept[found.features] if len(found.features) else np.zeros(0, dtype=bool)
    all_rows = np.concatenate([rows[stays], *([np.arange(count)] * len(sums))])
    features = np.concatenate(
        [new_number[found.features[stays]], *(np.full(count, len(kept) + k) for k in range(len(sums)))]
    )
    values = np.concatenate([found.values[stays], *totals])
    order = np.lexsort((features, all_rows))
    order = order[values[order] != 0]
    return replace(
        found,
        names=[*(found.names[k] for k in kept), *sums],
        starts=np.concatenate([[0], np.cumsum(np.bincount(all_rows[order], minlength=count))]).astype(np.int64),
        features=features[order].astype(np.uint32),
        values=values[order],
    )
