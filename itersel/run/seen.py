"""Refuses to train on sentences whose references the language model has seen: it would learn to trust what no test has.

A model has its sentences beside it (itersel.lm.seen), a shard has its references inside. Both are compared by content,
so it does not matter which commands made them; nothing is known of models made elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itersel.base.errors import ConfigError
from itersel.lists.source import AnySource
from itersel.lm.seen import SeenSentences, find_seen
from itersel.mapreduce.shard_item import fold_of

MOST = 20_000
"""Sentences that are looked at, spread over all files."""
ENOUGH = 20
"""Sentences of a file that tell something about it."""
ACCEPTED = 0.5
"""Share of the references that may be in the model's text: sentences recur in every corpus."""
FOLD_MODELS = (
    "Train on a build (itersel train --build DIR), which has language models that lack a fold each, or name\n"
    "  such models with --fold-lm. docs/training.md says more."
)
OTHER_SENTENCES = "Choose sentences that are not in that text."
"""For files that are decoded with the model of the whole text."""


@dataclass(frozen=True)
class SeenShare:
    """How many of the sentences looked at have a reference that the model has seen; `file` has the largest share."""

    seen: int
    sentences: int
    file: str
    model: str

    @property
    def value(self) -> float:
        return self.seen / self.sentences


def seen_share(sources: Sequence[AnySource], model: str | None, fold_models: Sequence[str] = ()) -> SeenShare | None:
    """The share in all sources, or in the one where it is largest; None if nothing is known about the models."""
    known: dict[int | None, SeenSentences | None] = {}
    most = max(ENOUGH, MOST // max(len(sources), 1))
    found: list[SeenShare] = []
    for source in sources:
        if not source.decodes:
            continue
        by_fold: dict[int | None, list[int]] = {}
        step = max(1, len(source) // most)
        for number in range(0, len(source), step):
            fold = fold_of(source, number, len(fold_models)) if fold_models else None
            by_fold.setdefault(fold, []).append(number)
        seen = told = 0
        for fold, numbers in by_fold.items():
            path = model if fold is None else fold_models[fold]
            if fold not in known:
                known[fold] = None if path is None else find_seen(path)
            sentences = known[fold]
            if sentences is None:
                continue
            for number in numbers:
                answers = sentences.find(source.references(number))
                seen += any(answers)
                told += any(answer is not None for answer in answers)
        if told:
            found.append(SeenShare(seen, told, source.path, (model if not fold_models else fold_models[0]) or ""))
    if not found:
        return None
    largest = max((one for one in found if one.sentences >= ENOUGH), key=lambda one: one.value, default=found[0])
    total = SeenShare(sum(one.seen for one in found), sum(one.sentences for one in found), largest.file, largest.model)
    return max(total, largest, key=lambda one: one.value)


def check_unseen(
    sources: Sequence[AnySource], model: str | None, fold_models: Sequence[str], hint: str = FOLD_MODELS
) -> None:
    """ConfigError with this hint if more references than recur by chance are in the text of the language model."""
    share = seen_share(sources, model, fold_models)
    if share is None or share.value <= ACCEPTED:
        return
    raise ConfigError(
        f"the language model has seen the references to learn from: {share.value:.0%} of those in {share.file} are in"
        f" the text of {share.model}. Training would learn to trust a model that knows the answer, which no test has",
        hint=f"{hint} --allow-seen-references trains nevertheless.",
    )
