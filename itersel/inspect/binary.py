"""Binary files other than shards, vectors and language models: index, seen sentences, lists, job records, columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from itersel.base.files import read_bytes
from itersel.base.tables import text_table
from itersel.grammar.extraction import open_index
from itersel.inspect.options import ViewOptions
from itersel.learn.mixing import Columns
from itersel.lists.table import ListTable
from itersel.lm.seen import LARGEST, SeenSentences
from itersel.mapreduce.record_file import RecordFile
from itersel.model.feature_names import NameTable
from itersel.model.features import Weights


def index_lines(path: Path, options: ViewOptions) -> Iterator[str]:  # noqa: ARG001
    index = open_index(path)
    yield f"index of a bitext {path}, fingerprint {index.fingerprint:016x}"
    sizes = f"{index.source_words:,} source words, {index.target_words:,} target words"
    yield f"{index.sentences:,} sentence pairs, {sizes}"


def seen_lines(path: Path, options: ViewOptions) -> Iterator[str]:  # noqa: ARG001
    seen = SeenSentences.read(path)
    yield f"sentences that a language model has seen {path}"
    kept = "all of them" if seen.limit == LARGEST else f"a sample of {(seen.limit + 1) / (LARGEST + 1):.1%}"
    yield f"{seen.sentences:,} sentences; hashes of {len(seen.hashes):,} distinct ones ({kept})"


def list_table_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    table = ListTable(path)
    sizes = [len(table.metric(number)) for number in range(len(table))]
    yield f"compiled lists {path}, checksum {table.checksum:016x}"
    yield f"{len(table):,} lists, {sum(sizes):,} hypotheses, {len(table.names):,} features"
    chosen = [name for name in table.names if options.matches(name)]
    yield f"statistics: {table.corpus_metric or 'none'}; features: {', '.join(chosen[: options.top]) or 'none'}" + (
        f" … and {len(chosen) - options.top:,} more" if len(chosen) > options.top else ""
    )


def job_record_lines(path: Path, options: ViewOptions) -> Iterator[str]:  # noqa: ARG001
    found = RecordFile(path)
    sizes = [len(record.value) for record in found.records()]
    yield f"records of a job {path}"
    yield f"{len(sizes):,} records, {sum(sizes):,} bytes of values"


def column_lines(path: Path, options: ViewOptions) -> Iterator[str]:
    """The columns of W by which features were selected, largest first; names come from `weights.txt.gz` beside them."""
    columns = Columns.from_bytes(read_bytes(path), path)
    beside = path.with_name("weights.txt.gz")
    table = NameTable(Weights.read(beside)) if beside.is_file() else NameTable([])
    known = dict(zip(table.ids.tolist(), table.names, strict=True))
    names = [known.get(id, f"{id:#018x}") for id in columns.ids.tolist()]
    chosen = [at for at, name in enumerate(names) if options.matches(name)]
    ranked = sorted(chosen, key=lambda at: (-columns.keys[at], names[at]))[: options.top]
    yield f"columns of features {path}"
    yield f"{len(columns):,} features with the value that they are ranked by and their mean weight over the shards"
    if ranked:
        rows = [[f"{columns.keys[at]:.6g}", f"{columns.means[at]:+.6g}", names[at]] for at in ranked]
        yield from ("", text_table([["ranked by", "mean", "feature"], *rows], left=(2,)))
    if len(chosen) > len(ranked):
        yield f"… and {len(chosen) - len(ranked):,} more"
