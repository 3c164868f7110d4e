"""Apply a reranker: score the hypotheses of n-best lists with weights, and sort each list by the new scores.

Lists go in and out one by one, in the same form and order; lines keep everything except their score and their position.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping

from itersel.base.workers import ordered_map
from itersel.lists.reader import SYSTEM_SCORE, Entry, NbestList


def score_of(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """⟨w, f⟩, summed by name, so that the order of features on a line does not matter."""
    return sum(value * weights.get(name, 0.0) for name, value in sorted(features.items()))


def ranked(entries: Iterable[Entry], weights: Mapping[str, float]) -> list[tuple[float, Entry]]:
    """New scores with entries, best first; equals stay in the list's order.

    Weights that name SYSTEM_SCORE get the old score of each entry as a feature.
    """
    own = SYSTEM_SCORE in weights
    scored = [(score_of(one.with_score if own else one.features, weights), one) for one in entries]
    return sorted(scored, key=lambda pair: -pair[0])


def rescore(
    lists: Iterable[NbestList], weights: Mapping[str, float], *, best_only: bool = False, jobs: int = 1
) -> Generator[str, None, None]:
    """Each list's lines, sorted; with `best_only`, each list's best text as one line."""

    def lines(given: NbestList) -> str:
        found = ranked(given.parse(), weights)
        return found[0][1].text + "\n" if best_only else "".join(given.form.write(one, new) for new, one in found)

    work: Callable[[NbestList], str] = lines
    return ordered_map(work, lists, jobs, describe=lambda given: given.where())
