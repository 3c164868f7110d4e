"""Word alignment of a bitext: eflomal (Östling and Tiedemann 2016) in both directions, then symmetrisation.

In: tokenised bitext, or links that another aligner made. Out: the words and links of each
sentence pair. eflomal samples and has no option for a seed: it reads one from /dev/urandom. `eflomal_links` runs a
private copy of the program, in which that name is replaced by the name of a file with our seed. It uses one thread per
direction, so the same text, options and program give the same links. The program's floating-point code is compiled for
the machine it is installed on, so another machine may give other links: later stages should depend on the content of
the alignment, not on the seed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import itertools
import math
import os
import signal
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from itersel.align.links import SYMMETRIZATIONS, Links, check_links, read_links
from itersel.base.errors import ConfigError, InputError, ResourceError, UserError
from itersel.base.processes import end_with
from itersel.base.progress import Progress
from itersel.base.temporary import temporary_folder
from itersel.text.bitext import Bitext, words

LONGEST_SENTENCE = 1023  # eflomal's buffers hold no more; longer pairs get no links
ENTROPY_NAME = b"/dev/urandom"
SEED_NAME = b"itersel.seed"  # must be as long as the name it replaces
ELF_MAGIC = b"\x7fELF"
POLL_SECONDS = 0.2
HEADER = "{:>12} {:>12}\n"


class AlignedPair(NamedTuple):
    """One sentence pair with its links, sorted; `number` is its line, from 1."""

    number: int
    source: list[str]
    target: list[str]
    links: Links


@dataclass(frozen=True)
class AlignerConfig:
    """eflomal's options. `effort` multiplies its number of iterations, 5000 / √pairs for its full model."""

    seed: int = 1
    samplers: int = 3
    effort: float = 1.0
    null_prior: float = 0.2

    def __post_init__(self) -> None:
        if self.samplers < 1:
            raise ConfigError(f"{self.samplers} samplers", hint="Give 1 or more; 3 is usual.")
        if not (math.isfinite(self.effort) and self.effort > 0):
            raise ConfigError(f"the effort is {self.effort}", hint="Give a positive number; 1 is eflomal's default.")
        if not 0 < self.null_prior < 1:
            raise ConfigError(f"the null prior is {self.null_prior}", hint="Give a probability between 0 and 1.")

    def iterations(self, pairs: int) -> tuple[int, int, int]:
        """How often each model samples: word translations alone, then with distances, then with fertility."""
        full = max(2, round(self.effort * 5000 / math.sqrt(max(pairs, 1))))
        return max(2, full // 4), max(1, full // 4), full


@dataclass(frozen=True)
class DirectedLinks:
    """Pharaoh files of both directions, and how they were made."""

    forward: Path
    reverse: Path
    deterministic: bool
    skipped: int  # pairs that are empty on a side or too long for the aligner


@contextlib.contextmanager
def eflomal_links(bitext: Bitext, config: AlignerConfig) -> Iterator[DirectedLinks]:
    """Align in both directions at once, one process each. The files live as long as the context.

    Words are compared in lower case. `deterministic` is false if the program does not accept our seed.
    """
    program = _find_program()
    with temporary_folder("align") as folder:
        try:
            directed = _align_in(folder, program, bitext, config)
        except OSError as error:
            raise ResourceError(
                f"cannot run eflomal: {error.strerror or error}",
                where=folder.parent,
                hint="Set TMPDIR to a folder with free space that allows programs to run.",
            ) from None
        yield directed


def _align_in(folder: Path, program: Path, bitext: Bitext, config: AlignerConfig) -> DirectedLinks:
    pairs, skipped = _write_indexed(bitext, folder)
    forward, reverse = folder / "forward", folder / "reverse"
    if skipped == pairs:
        for path in (forward, reverse):
            path.write_bytes(b"\n" * pairs)
        return DirectedLinks(forward, reverse, True, skipped)
    seeded = _seeded_copy(program, folder / "eflomal")
    executable = folder / "eflomal" if seeded else program
    options = [os.fspath(executable), "-m", "3", "-s", "../source", "-t", "../target"]
    options += ["-n", str(config.samplers), "-N", repr(config.null_prior)]
    iterations = config.iterations(pairs)
    for model, count in enumerate(iterations, 1):
        options += [f"-{model}", str(count)]
    _run_both(options, folder, config.seed, iterations)
    for path in (forward, reverse):
        _check_complete(path, pairs)
    return DirectedLinks(forward, reverse, seeded, skipped)


def eflomal_version() -> str:
    """The installed package's version."""
    return importlib.metadata.version("eflomal")


def _find_program() -> Path:
    # The package is found but not imported: its Python part hides the program's failures.
    found = importlib.util.find_spec("eflomal")
    program = None if found is None or found.origin is None else Path(found.origin).parent / "bin" / "eflomal"
    if program is None or not program.is_file():
        raise UserError(
            "the word aligner eflomal is not installed",
            hint="pip install 'eflomal>=2.0,<3' (needs a C compiler), or give links with --given.",
        )
    return program


def _write_indexed(bitext: Bitext, folder: Path) -> tuple[int, int]:
    """Write both sides as eflomal reads them: `sentences types`, then lines of length and word numbers."""
    pairs = skipped = 0
    indexes: tuple[dict[str, int], dict[str, int]] = ({}, {})
    with open(folder / "source", "w") as source_file, open(folder / "target", "w") as target_file:
        files = source_file, target_file
        for file in files:
            file.write(HEADER.format(0, 0))  # to be filled in below: its width is fixed
        for pair in bitext:
            sides = words(pair.source.lower()), words(pair.target.lower())
            pairs += 1
            if not all(0 < len(side) <= LONGEST_SENTENCE for side in sides):
                skipped += 1
                sides = [], []
            for file, side, index in zip(files, sides, indexes, strict=True):
                numbers = [index.setdefault(word, len(index)) for word in side]
                file.write(" ".join(map(str, [len(side), *numbers])) + "\n")
        for file, index in zip(files, indexes, strict=True):
            file.seek(0)
            file.write(HEADER.format(pairs, len(index)))
    return pairs, skipped


def _seeded_copy(program: Path, copy: Path) -> bool:
    """Copy the program so that it reads its seed from a file in its working folder; False if that is impossible."""
    content = program.read_bytes()
    name = b"\0" + ENTROPY_NAME + b"\0"
    if not content.startswith(ELF_MAGIC) or content.count(name) != 1:
        return False  # another platform (which may check signatures) or another version of the program
    copy.write_bytes(content.replace(name, b"\0" + SEED_NAME + b"\0"))
    copy.chmod(stat.S_IRWXU)
    return True


def _run_both(options: list[str], folder: Path, seed: int, iterations: Sequence[int]) -> None:
    # One thread only: several would draw from their shared generator in any order.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with contextlib.ExitStack() as stack:
        running = []
        for direction, flag in (("forward", "-f"), ("reverse", "-r")):
            place = folder / f"{direction}.run"
            place.mkdir()
            digest = hashlib.sha256(f"itersel align {direction} {seed}".encode()).digest()
            (place / SEED_NAME.decode()).write_bytes(digest[:8])
            log = stack.enter_context(open(place / "log", "wb"))
            process = subprocess.Popen(  # noqa: S603 (an argument list; none of it comes from the text)
                [*options, flag, f"../{direction}"],
                cwd=place,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=functools.partial(end_with, os.getpid()),
            )
            stack.callback(process.wait)
            stack.callback(process.kill)  # does nothing to a process that has ended
            running.append((direction, process, place / "log"))
        total = 2 * sum(iterations)
        with Progress("eflomal", total, unit="iterations") as progress:
            for direction, process, log_path in running:
                while _still_runs(process):
                    finished = [path.read_bytes().count(b"Done:") for _, _, path in running]
                    progress.advance(sum(sum(iterations[:models]) for models in finished) - progress.done)
                if process.returncode:
                    said = log_path.read_text(errors="replace").strip().splitlines()
                    if process.returncode < 0:
                        raise ResourceError(
                            f"eflomal was killed by {signal.Signals(-process.returncode).name}"
                            f" in the {direction} direction",
                            hint="Memory may have run out: give eflomal more, or align fewer pairs at a time.",
                        )
                    raise ResourceError(
                        f"eflomal failed in the {direction} direction with status {process.returncode}: "
                        f"{said[-1] if said else 'no message'}"
                    )
            progress.advance(total - progress.done)


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _check_complete(path: Path, pairs: int) -> None:
    """Check the number of lines: eflomal ignores errors of writing."""
    lines, last = 0, b""
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            lines += block.count(b"\n")
            last = block[-1:]
    if lines != pairs or last != b"\n":
        raise UserError(
            f"eflomal wrote {lines:,} of {pairs:,} lines",
            where=path,
            hint="The disk may be full: set TMPDIR to a folder with free space.",
        )


def symmetrize(
    bitext: Bitext,
    forward: str | os.PathLike[str],
    reverse: str | os.PathLike[str],
    method: str = "grow-diag-final-and",
) -> Iterator[AlignedPair]:
    """Combine two Pharaoh files, both written `source-target`, by one of `SYMMETRIZATIONS`."""
    if method not in SYMMETRIZATIONS:
        raise ConfigError(f"unknown symmetrisation {method!r}", hint=f"Choose one of {', '.join(SYMMETRIZATIONS)}.")
    combine = SYMMETRIZATIONS[method]
    for number, source, target, (ahead, back) in _with_links(bitext, forward, reverse):
        yield AlignedPair(number, source, target, combine(ahead, back))


def given_links(bitext: Bitext, path: str | os.PathLike[str]) -> Iterator[AlignedPair]:
    """The pairs with a Pharaoh file's links, sorted and without repetitions.

    A link beyond its sentence and a missing or surplus line are reported as `path:line`.
    """
    for number, source, target, (links,) in _with_links(bitext, path):
        yield AlignedPair(number, source, target, sorted(set(links)))


def _with_links(
    bitext: Bitext, *paths: str | os.PathLike[str]
) -> Iterator[tuple[int, list[str], list[str], list[Links]]]:
    """Words of each pair with its line of every file, checked."""
    files = [read_links(path) for path in paths]
    pairs = iter(bitext)
    for number in itertools.count(1):
        pair = next(pairs, None)
        lines = [next(file, None) for file in files]
        for path, links in zip(paths, lines, strict=True):
            if (links is None) != (pair is None):
                state = "ends" if links is None else "continues"
                raise InputError(
                    f"the alignment {state} after {number - 1} lines, but the text does not",
                    where=f"{os.fspath(path)}:{number}",
                    hint="It needs one line per sentence pair; an empty line means no links.",
                )
        if pair is None:
            return
        source, target = words(pair.source), words(pair.target)
        checked = [links for links in lines if links is not None]
        for path, links in zip(paths, checked, strict=True):
            check_links(links, len(source), len(target), f"{os.fspath(path)}:{number}")
        yield number, source, target, checked
