"""Building GeoQuery's semantic parser: write its parallel text, align it several times, then estimate and index it.

Question ids come in, and the data set's folder; the files that `itersel.response.geoquery.parser.QuestionParser` reads
go out. The index has the text once per alignment, each made with another seed, so rules are counted in all of them.
Nothing is done again that is up to date.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from itersel.align.aligner import AlignerConfig, eflomal_version
from itersel.align.links import format_links
from itersel.base.config import build as make_config
from itersel.base.errors import InputError
from itersel.base.files import read_lines
from itersel.base.folders import PARSER, claim_folder
from itersel.base.outputs import atomic_group
from itersel.pipeline.build import build
from itersel.pipeline.build_config import BuildConfig
from itersel.pipeline.build_paths import index_path, language_model_path
from itersel.pipeline.model_stages import aligned_pairs
from itersel.pipeline.stages import Stage, run_stage
from itersel.response.geoquery.data import read_questions
from itersel.response.geoquery.database import FACTS_FILE, Database, read_database
from itersel.response.geoquery.parser import QuestionParser
from itersel.response.geoquery.parser_text import parser_lines, write_parser_text
from itersel.response.geoquery.phrases import database_phrases
from itersel.text.bitext import Bitext

DATA = Path("..") / "shared" / "data" / "geoquery"
"""Where the data set is expected, beside the checkout."""
LM_ORDER = 5
SEED = 1
ALIGNMENTS = 10
"""One alignment of a few hundred questions depends on chance, and rules that are counted in several of them do not."""
METHOD = "union"
"""How both directions of the alignment combine."""
SAMPLERS = 3


@dataclass(frozen=True)
class ParserFiles:
    """What a built parser consists of."""

    index: Path
    language_model: Path

    def open(self, database: Database) -> QuestionParser:
        return QuestionParser(self.index, self.language_model, database)


def build_parser(
    data: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    ids: Sequence[int] | None = None,
    *,
    seed: int = SEED,
    samplers: int = SAMPLERS,
    alignments: int = ALIGNMENTS,
    method: str = METHOD,
) -> ParserFiles:
    """Build the parser that knows these questions (none: all 880) in the folder, or find it there.

    `seed`, `samplers` and `method` are those of the word alignments; other seeds have no alignment in common.
    """
    data, folder = Path(data), Path(folder)
    if not (data / FACTS_FILE).exists():
        raise InputError(
            "there is no GeoQuery data set here",
            where=data,
            hint=f"Name its folder, which has {FACTS_FILE}: --data DIR.",
        )
    questions = read_questions(data)
    chosen = questions if ids is None else [questions[number] for number in ids]
    phrases = database_phrases(read_database(data / FACTS_FILE))
    lines = list(parser_lines(chosen, phrases))
    _check_same_questions(folder / "questions", [line.question for line in lines])
    claim_folder(folder, PARSER)
    write_parser_text(lines, folder / "questions", folder / "forms")
    # The language model knows questions only: phrases are no sentences.
    write_parser_text(parser_lines(chosen), folder / "lm.questions", folder / "lm.forms")
    aligners = [AlignerConfig(seed * alignments - number, samplers) for number in range(alignments)]
    run_stage(_copies(folder, aligners, method), folder)
    config = make_config(
        BuildConfig,
        {
            "work": str(folder / "work"),
            "train": {
                "source": str(folder / "copies.questions"),
                "target": str(folder / "copies.forms"),
                "shards": False,
            },
            "align": {"given": str(folder / "copies.links")},
            "lm": {"order": LM_ORDER, "text": [str(folder / "lm.forms")]},
        },
    )
    for _ in build(config):
        pass
    return ParserFiles(index_path(config), language_model_path(config))


def _copies(folder: Path, aligners: Sequence[AlignerConfig], method: str) -> Stage:
    """The text once per aligner, and the links of each."""
    inputs = {"questions": folder / "questions", "forms": folder / "forms"}
    outputs = [folder / f"copies.{name}" for name in (*inputs, "links")]

    def make() -> str:
        bitext = Bitext(*inputs.values())
        with atomic_group(outputs) as streams:
            for aligner in aligners:
                for pair in aligned_pairs(bitext, aligner, method):
                    lines = " ".join(pair.source), " ".join(pair.target), format_links(pair.links)
                    for stream, line in zip(streams, lines, strict=True):
                        stream.write(line.encode() + b"\n")
        return f"{len(aligners)} alignments"

    options = {"aligner": eflomal_version(), "method": method, "aligners": [asdict(aligner) for aligner in aligners]}
    return Stage("copies", inputs, options, outputs, make)


def _check_same_questions(place: Path, questions: Sequence[str]) -> None:
    """Refuse to replace a parser that was made of other questions."""
    if place.exists() and list(read_lines(place)) != questions:
        raise InputError(
            "the parser here was made of other questions, or by another version",
            where=place.parent,
            hint="Name another folder, or remove this one.",
        )
