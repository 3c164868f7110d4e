"""A shard: its sentences; of one sentence the rules, the best translations, or the derivation of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from itersel.base.errors import ConfigError
from itersel.base.tables import text_table
from itersel.decode.derivation import format_tree
from itersel.decode.shard_decoder import ShardDecoder
from itersel.inspect import grammar, weights
from itersel.inspect.options import ViewOptions
from itersel.lm.model import LanguageModel
from itersel.metrics.sentence import sentence_values
from itersel.model.features import Weights
from itersel.model.vectors import Vector
from itersel.shards.shard import Shard
from itersel.text.bitext import words

METRIC = "stupid_bleu"


def lines(path: Path, options: ViewOptions) -> Iterator[str]:
    shard = Shard(path)
    if options.sentence is None:
        return _summary(shard, options)
    if not 0 <= options.sentence < len(shard):
        raise ConfigError(
            f"sentence is {options.sentence}", where=path, hint=f"The shard has the sentences 0 to {len(shard) - 1}."
        )
    return _sentence(shard, options.sentence, options)


def _summary(shard: Shard, options: ViewOptions) -> Iterator[str]:
    sentences = range(len(shard))
    rules = [shard.grammar(at).count(b"\n") for at in sentences]
    lengths = [len(words(shard.source(at))) for at in sentences]
    domains = Counter(shard.domain(at) for at in sentences)
    groups = ", ".join(sorted(shard.groups)) or "none (dense only)"
    yield f"shard {shard.path}, {Path(shard.path).stat().st_size:,} bytes, checksum {shard.checksum:016x}"
    yield f"{len(shard):,} sentences, {sum(lengths):,} words, {shard.rule_count:,} rules, sparse groups: {groups}"
    yield f"{len(shard.feature_names()):,} features; rules of a sentence: {_spread(rules)}"
    if set(domains) != {""}:
        yield "domains: " + ", ".join(f"{name} {domains[name]:,}" for name in sorted(domains))
    found = [at for at in sentences if options.matches(shard.source(at))]
    rows = [["sentence", "id", "domain", "words", "rules", "source"]]
    for at in found[: options.top]:
        rows.append([str(at), shard.id(at), shard.domain(at), str(lengths[at]), f"{rules[at]:,}", shard.source(at)])
    if len(rows) > 1:
        yield from ("", text_table(rows, left=(5,)))
    if len(found) > options.top:
        yield f"… and {len(found) - options.top:,} more"


def _sentence(shard: Shard, at: int, options: ViewOptions) -> Iterator[str]:
    domain = f", domain {shard.domain(at)}" if shard.domain(at) else ""
    yield f"sentence {at} of {shard.path}, id {shard.id(at)}{domain}"
    yield f"source     {shard.source(at)}"
    for reference in shard.references(at):
        yield f"reference  {reference}"
    if options.weights is None:
        rules = grammar.rules_of(shard.grammar(at))
        yield from grammar.summary(rules)
        yield from grammar.matching(rules, options)
        return
    model = None if options.language_model is None else LanguageModel(options.language_model)
    given = weights.read(Path(options.weights))
    decoder = ShardDecoder(shard, given, model, options.decoder)
    if options.derivation:
        named: Mapping[str, float] = given if isinstance(given, Weights) else _named(shard, given)
        derivation = decoder.derivation(at, (options.rank or 1) - 1)
        yield f"translation {options.rank or 1}: {derivation.text}"
        yield f"score {derivation.score:.6f}"
        yield from (
            "",
            "span, rule, its score, [score of the tree], words",
            format_tree(derivation, named, options.top),
        )
    else:
        yield from ("", text_table(_translations(decoder, at, options), left=(3,)))


def _named(shard: Shard, vector: Vector) -> dict[str, float]:
    return dict(zip(shard.feature_names(), vector.values_of(shard.feature_hashes()).tolist(), strict=True))


def _translations(decoder: ShardDecoder, at: int, options: ViewOptions) -> list[list[str]]:
    """The best ones, with their BLEU+1 against the references."""
    found = decoder.kbest(at, max(1, options.top))
    references = [words(text) for text in decoder.shard.references(at)]
    values = sentence_values(METRIC, [words(one.text) for one in found], references)
    rows = [["rank", "score", "BLEU+1", "translation"]]
    for rank, (one, value) in enumerate(zip(found, values.tolist(), strict=True), 1):
        if options.matches(one.text):
            rows.append([str(rank), f"{one.score:.4f}", f"{100 * value:.1f}", one.text])
    return rows


def _spread(counts: list[int]) -> str:
    return f"{min(counts):,} to {max(counts):,}, mean {sum(counts) / len(counts):,.1f}" if counts else "none"
