"""Compiling shards as a job: each work item is a planned shard, whose rules are extracted where it is compiled.

In: a plan of shards (itersel.shards.folder), the bitext's index and the text as side files. Out: shards in a folder
that all workers reach, and their records. Safe to repeat: equal bytes replace each other.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from itersel.base.temporary import temporary_folder
from itersel.engines import RunConfig, open_engine
from itersel.grammar.extraction import ExtractConfig
from itersel.mapreduce.job import DRIVER, Job, Tell
from itersel.mapreduce.side import Side, SideFile
from itersel.mapreduce.work_item import WorkItem
from itersel.shards.compiler import Corpus, IndexGrammars, ShardCompiler, ShardOptions
from itersel.shards.folder import PlannedShard, ShardRecord, write_shard

INDEX, SENTENCES, REFERENCES, DOMAINS = "index", "sentences", "references", "domains"
"""Names of side files; references are numbered: references.0 …"""


@dataclass(frozen=True)
class CompileJob(Job):
    """Compiles planned shards into a folder."""

    rules: ExtractConfig = field(default_factory=ExtractConfig)
    options: ShardOptions = field(default_factory=ShardOptions)
    folder: str = ""
    """Where the shards go: a path that all workers reach."""

    def map(self, item: WorkItem, side: Side, tell: Tell) -> Iterable[tuple[int, bytes]]:
        planned = PlannedShard.from_line(json.dumps(dict(item.values)))
        record = write_shard(self.compiler(side), self.folder, planned, lambda done: tell(done, {}))
        yield DRIVER, json.dumps(asdict(record)).encode()

    def compiler(self, side: Side) -> ShardCompiler:
        """The compiler of the side files, opened once per process."""
        references = [name for name in side.paths if name.startswith(f"{REFERENCES}.")]
        names = (INDEX, SENTENCES, *references, *([DOMAINS] if DOMAINS in side else []))

        def make(index: str, sentences: str, *others: str) -> ShardCompiler:
            domains = others[len(references)] if DOMAINS in side else None
            corpus = Corpus.read(sentences, others[: len(references)], domains)
            return ShardCompiler(corpus, IndexGrammars(index, self.rules), self.options)

        return side.cached(f"shard compiler {self.rules} {self.options}", names, make)

    def warm(self, side: Side) -> None:
        self.compiler(side)


def side_files(
    index: str | os.PathLike[str],
    sentences: str | os.PathLike[str],
    references: Sequence[str | os.PathLike[str]],
    domains: str | os.PathLike[str] | None,
) -> dict[str, SideFile]:
    """The side files of a CompileJob."""
    paths = {INDEX: index, SENTENCES: sentences}
    paths |= {f"{REFERENCES}.{number}": path for number, path in enumerate(references)}
    if domains is not None:
        paths[DOMAINS] = domains
    return {name: SideFile(os.path.abspath(path), lasting=True) for name, path in paths.items()}


def compile_shards(
    plan: Sequence[PlannedShard],
    job: CompileJob,
    side: Mapping[str, SideFile],
    config: RunConfig,
    advance: Callable[[int], None] = lambda _: None,
) -> list[ShardRecord]:
    """Make these shards on an engine; their records, in the plan's order.

    `advance` is called with the number of sentences compiled since the last call, as far as the engine knows.
    """
    items = [
        WorkItem(
            number, planned.assignment.name, len(planned.assignment.sentences), values=json.loads(planned.to_line())
        )
        for number, planned in enumerate(plan)
    ]
    told = 0

    def tell(done: float, _: Mapping[str, float]) -> None:
        nonlocal told
        before, told = told, int(done)
        advance(told - before)

    with temporary_folder("compile") as folder, contextlib.closing(open_engine(config, folder)) as engine:
        return [ShardRecord(**json.loads(bytes(one.value))) for one in engine.run(job, items, side, tell)]
