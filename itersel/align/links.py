"""Word links: lists of (source position, target position) from 0, and how those of two directions combine.

In and out: Pharaoh files, one line per sentence pair, `0-0 1-2 2-1`. Symmetrisation follows Och and Ney
(2003) and Koehn, Och and Marcu (2003): grow-diag adds neighbours of the intersection out of the union,
final-and adds the remaining links between two words that have no link yet.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Callable, Iterable, Iterator

from itersel.base.errors import InputError
from itersel.base.files import read_lines

Link = tuple[int, int]
Links = list[Link]

_LINK = re.compile(r"(\d{1,9})-(\d{1,9})", re.ASCII)
_LINE = re.compile(r"\s*(?:\d{1,9}-\d{1,9}(?:\s+|$))*", re.ASCII)
# (source, target) steps, tried in this order: the four straight neighbours, then the four diagonal ones.
NEIGHBOURS = ((0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1))


def parse_links(line: str, where: str) -> Links:
    """The links of one Pharaoh line, in its order. `where` is `path:line`, for the message."""
    if not _LINE.fullmatch(line):
        wrong = next((word for word in line.split() if not _LINK.fullmatch(word)), line)
        raise InputError(
            f"not a link: {wrong!r}",
            where=where,
            hint="Write links as `i-j`, positions from 0, separated by blanks.",
        )
    return [(int(source), int(target)) for source, target in _LINK.findall(line)]


def format_links(links: Iterable[Link]) -> str:
    """The Pharaoh line of these links, sorted by source, then target position, without repetitions."""
    return " ".join(f"{source}-{target}" for source, target in sorted(set(links)))


def check_links(links: Iterable[Link], source_length: int, target_length: int, where: str) -> None:
    """Raise InputError for a link that points beyond its sentence."""
    for source, target in links:
        if source >= source_length or target >= target_length:
            side, length = ("source", source_length) if source >= source_length else ("target", target_length)
            raise InputError(
                f"link {source}-{target} points beyond the {side} sentence, which has {length} tokens",
                where=where,
                hint="Positions count from 0, source side first. Do text and alignment belong together?",
            )


def read_links(path: str | os.PathLike[str]) -> Iterator[Links]:
    """The links of each line of a Pharaoh file, plain or gzipped."""
    for number, line in enumerate(read_lines(path), 1):
        yield parse_links(line, f"{os.fspath(path)}:{number}")


def intersection(forward: Links, reverse: Links) -> Links:
    """Links that both directions have."""
    return sorted(set(forward) & set(reverse))


def union(forward: Links, reverse: Links) -> Links:
    """Links that either direction has."""
    return sorted(set(forward) | set(reverse))


def grow_diag(forward: Links, reverse: Links) -> Links:
    """The intersection, grown by neighbouring links of the union that reach a word without a link.

    Links are visited by target, then source position, pass after pass until nothing is added; a link added
    ahead of the visit is visited in the same pass.
    """
    return sorted(_grow(set(forward), set(reverse)))


def grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    """`grow_diag`, then the links of each direction (forward first) between two words that have no link yet."""
    links = _grow(set(forward), set(reverse))
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    for direction in (forward, reverse):
        for source, target in sorted(direction, key=_by_target):
            if source not in sources and target not in targets:
                links.add((source, target))
                sources.add(source)
                targets.add(target)
    return sorted(links)


def _by_target(link: Link) -> Link:
    return link[1], link[0]


def _grow(forward: set[Link], reverse: set[Link]) -> set[Link]:
    # One visit of a link is enough: a neighbour that is refused has links on both sides and never loses them.
    # So a pass need not scan the grid, only the links not yet visited; a heap keeps the scanning order.
    links = forward & reverse
    candidates = (forward | reverse) - links
    sources, targets = {source for source, _ in links}, {target for _, target in links}
    waiting = sorted(map(_by_target, links))
    while waiting and candidates:
        later: list[Link] = []
        heapq.heapify(waiting)
        while waiting and candidates:
            here = target, source = heapq.heappop(waiting)
            for source_step, target_step in NEIGHBOURS:
                near = source + source_step, target + target_step
                if near in candidates and (near[0] not in sources or near[1] not in targets):
                    candidates.remove(near)
                    links.add(near)
                    sources.add(near[0])
                    targets.add(near[1])
                    place = near[1], near[0]
                    if place > here:
                        heapq.heappush(waiting, place)
                    else:
                        later.append(place)
        waiting = later
    return links


SYMMETRIZATIONS: dict[str, Callable[[Links, Links], Links]] = {
    "grow-diag-final-and": grow_diag_final_and,
    "grow-diag": grow_diag,
    "intersection": intersection,
    "union": union,
    "forward": lambda forward, _: sorted(set(forward)),
    "reverse": lambda _, reverse: sorted(set(reverse)),
}
