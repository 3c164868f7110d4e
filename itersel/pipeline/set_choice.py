"""Which sentences go into which set: pairs held out of a text, and some of each domain. All by the seed.

In: labels of sentences. Out: numbers of sentences, from 0, in ascending order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from itersel.base.errors import ConfigError
from itersel.pipeline.set_config import HeldOutConfig, SetConfig
from itersel.shards.assignment import shuffled


def hold_out(
    domains: Sequence[str],
    groups: Sequence[str],
    wanted: Mapping[str, HeldOutConfig],
    seed: int,
    key: str = "train",
    pairs: str = "training pairs",
) -> list[list[int]]:
    """Divide a text: what remains of it, then each set. `domains` and `groups` have a label for each sentence, which is
    "" where it has none. `key` and `pairs` are what messages call the text and its sentences.

    Sets are made in their order, each of what the ones before it left. Whole groups are taken in a random order; one
    that adds nothing to a domain that lacks sentences stays where it is.
    """
    total = sum(one.pairs or 0 for one in wanted.values())
    if total >= len(domains):
        raise ConfigError(f"{total} of {len(domains)} {pairs} are to be held out", hint="Hold out fewer.")
    free = dict.fromkeys(shuffled(len(domains), seed))  # in this order
    made = []
    for name, one in wanted.items():
        pool = _whole_groups(free, domains, groups, one, seed) if one.groups else list(free)
        if one.each is not None:
            chosen = _some_of_each(pool, domains, one.each, f"{key}.held_out.{name}")
        else:
            chosen = pool if one.groups else pool[: one.pairs]
        if len(chosen) < (one.pairs or 0):
            raise ConfigError(f"{key}.held_out.{name} wants {one.pairs:,} pairs, but {len(chosen):,} have a group")
        made.append(sorted(chosen))
        for number in pool if one.groups else chosen:
            del free[number]
    if not free:
        raise ConfigError(f"{key}.held_out leaves none of the {pairs}", hint="Hold out fewer.")
    return [sorted(free), *made]


def _whole_groups(
    free: Iterable[int], domains: Sequence[str], groups: Sequence[str], wanted: HeldOutConfig, seed: int
) -> list[int]:
    """The free sentences of as many groups as are needed."""
    members: dict[str, list[int]] = {}
    for number in free:
        if groups[number]:
            members.setdefault(groups[number], []).append(number)
    names = sorted(members)
    lacking = Counter(dict.fromkeys(domains, wanted.each or 0) if wanted.each is not None else {"": wanted.pairs or 0})
    taken = set[str]()
    for at in shuffled(len(names), seed):
        counts = Counter(domains[number] if wanted.each is not None else "" for number in members[names[at]])
        if any(lacking[domain] > 0 for domain in counts):
            taken.add(names[at])
            lacking.subtract(counts)
    return [number for number in free if groups[number] in taken]


def chosen_sentences(domains: Sequence[str], wanted: SetConfig, seed: int, name: str) -> list[int]:
    """As many sentences as the set `name` asks for, in total or of each domain."""
    if wanted.pairs is None:
        return some_of_each(domains, wanted.each or 0, seed, f"{name}.each")
    if wanted.pairs > len(domains):
        raise ConfigError(
            f"{name}.pairs wants {wanted.pairs:,} sentences, but there are {len(domains):,}", hint="Ask for fewer."
        )
    return sorted(shuffled(len(domains), seed)[: wanted.pairs])


def some_of_each(domains: Sequence[str], each: int, seed: int, name: str) -> list[int]:
    """So many sentences of each domain; `name` is the key that asks for them."""
    return sorted(_some_of_each(shuffled(len(domains), seed), domains, each, name))


def _some_of_each(order: Iterable[int], domains: Sequence[str], each: int, name: str) -> list[int]:
    counts, chosen = dict.fromkeys(sorted(set(domains)), 0), []
    for number in order:
        if counts[domains[number]] < each:
            counts[domains[number]] += 1
            chosen.append(number)
    for domain, count in counts.items():
        if count < each:
            raise ConfigError(
                f"{name} wants {each:,} sentences of each domain, but there are {count:,} of {domain}",
                hint="Ask for fewer.",
            )
    return chosen
