"""Error surfaces over the decoder's whole hypergraph: without k-best lists (Macherey et al. 2008, Kumar et al. 2009).

A sentence is decoded once for any number of lines; what the search pruned is not part of its surface.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from itersel import _kernel
from itersel.decode.shard_decoder import ShardDecoder
from itersel.tune.objective import Objective
from itersel.tune.surface import Surface

Floats = npt.NDArray[np.float64]


def forest_envelopes(
    decoder: ShardDecoder, sentence: int, origins: Floats, directions: Floats
) -> tuple[list[str], list[tuple[Floats, npt.NDArray[np.uint32]]]]:
    """Translations, and for each line where which of them becomes the best: (begins, numbers); begins[0] is −∞.

    Origins and directions have a column per feature of the shard. The forest is that of the decoder's own weights.
    """
    return _kernel.forest_envelopes(decoder.native, sentence, origins, directions)


def forest_surfaces(
    decoder: ShardDecoder,
    sentence: int,
    references: Sequence[str],
    origins: Floats,
    directions: Floats,
    objective: Objective,
) -> list[Surface]:
    """The sentence's surface of each line."""
    texts, lines = forest_envelopes(decoder, sentence, origins, directions)
    statistics = objective.statistics(texts, references)
    return [Surface.of_segments(begins, statistics[numbers]) for begins, numbers in lines]
