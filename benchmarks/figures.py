"""Runs the benchmarks that need no other system's program, keeps their figures, and shows them in the README.

    python benchmarks/figures.py run [NAME …]   runs all benchmarks, or those named, and updates figures.json
    python benchmarks/figures.py table          writes the table between the marks of README.md

`make benchmark` does both. figures.json has, for each benchmark, its figures (the `name: value` lines that it printed),
the data and settings that they hold for, the date and the commit. Figures of other systems are in other_systems.json,
each with its source; nothing here runs another system. A row of the table is shown once its figures are there.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.json_files import write_json  # noqa: E402
from itersel.base.version import commit  # noqa: E402

FOLDER = ROOT / "benchmarks"
FIGURES, OTHERS, README = FOLDER / "figures.json", FOLDER / "other_systems.json", ROOT / "README.md"
BEGIN, END = "<!-- made by benchmarks/figures.py from benchmarks/figures.json -->", "<!-- end of what is made -->"
LINE = re.compile(r"([a-z][a-z0-9_]*): (-?[0-9][0-9.e+-]*)")
WIDTH = 118

BENCHMARKS: Mapping[str, str] = {
    "search": "Multi30k test 2016, sentences 201–400, 5-gram; chosen on the first half, shown for the second",
    "decode": "Multi30k de→en, 200 sentences of cdec-m30k, trigram, pop limit 200, dense features, 1-best",
    "storage": "Multi30k train and Europarl, all sparse features, leave-one-out",
    "build": "Multi30k de→en: conf/multi30k.yaml with models for ten folds; extraction: sentences 1–200 of test 2016",
    "extract": "Multi30k de→en: rules of val, as text in memory, from 29,000 pairs; leave-one-out on train",
    "train": "Multi30k val, one epoch, all sparse features, 100-best, 5-gram, pop limit 100 (dtrain: 200)",
    "mix": "2.7 M entries of 100 shards, K = 100,000; artificial weights with a long tail",
    "mert": "1,014 artificial lists of 1,000 hypotheses with 12 features",
    "lm": "Multi30k train, English side, order 3",
    "evaluate": "artificial texts of two systems",
    "ter": "data/demo's references, words moved",
}
"""The benchmarks, with the data and settings of their figures. One that is not there is left out. Scripts that need an
engine, files of one's own, or hours (cost_model, defaults, engines, kills, newcomer) are run by themselves."""


@dataclass(frozen=True)
class Row:
    """A row of the table: what, whose figure beside ours (a key of other_systems.json), ours, and their ratio."""

    what: str
    benchmark: str
    other: str | None
    ours: Callable[[Mapping[str, float], Mapping[str, Any]], str]
    ratio: Callable[[Mapping[str, float], Mapping[str, Any]], float] | None = None


def millions(value: float) -> str:
    return f"{value / 1e6:.1f} M" if value < 1e9 else f"{value / 1e9:.1f} G"


ROWS = (
    Row(
        "decoding from text grammars, at equal model score",
        "search",
        "cdec_decode_instructions",
        lambda ours, other: millions(other["value"] / ours["equal_score_ratio_text"]),
        lambda ours, _: ours["equal_score_ratio_text"],
    ),
    Row(
        "decoding from a compiled shard, at equal model score",
        "search",
        "cdec_decode_instructions",
        lambda ours, other: millions(other["value"] / ours["equal_score_ratio_shard"]),
        lambda ours, _: ours["equal_score_ratio_shard"],
    ),
    Row(
        "cdec's total model score minus ours, pop limit 200",
        "search",
        None,
        lambda ours, _: f"{ours['score_gap_pop200']:.3f}",
    ),
    Row("the same, pop limit 30", "search", None, lambda ours, _: f"{ours['score_gap_pop30']:.3f}"),
    Row(
        "peak memory of decoding",
        "decode",
        "cdec_decode_peak_mb",
        lambda ours, _: f"{ours['peak_mb']:.0f} MB",
        lambda ours, other: other["value"] / ours["peak_mb"],
    ),
    Row(
        "start-up of `translate` with a 5-gram, imports included",
        "build",
        "cdec_startup_instructions",
        lambda ours, _: millions(ours["import_instructions"] + ours["startup_instructions"]),
        lambda ours, other: other["value"] / (ours["import_instructions"] + ours["startup_instructions"]),
    ),
    Row(
        "training, one epoch, all sparse features, per sentence",
        "train",
        "dtrain_seconds",
        lambda ours, _: f"{1000 * ours['cpu_seconds_per_sentence']:.1f} ms",
        lambda ours, other: other["value"] / ours["cpu_seconds_per_sentence"],
    ),
    Row(
        "extraction to gzip files, per sentence",
        "build",
        "cdec_extract_ms",
        lambda ours, _: f"{ours['extract_cpu_ms_per_sentence']:.1f} ms",
        lambda ours, other: other["value"] / ours["extract_cpu_ms_per_sentence"],
    ),
    Row(
        "peak memory of extraction",
        "build",
        "cdec_extract_peak_mb",
        lambda ours, _: f"{ours['extract_peak_mb']:.0f} MB",
        lambda ours, other: other["value"] / ours["extract_peak_mb"],
    ),
    Row(
        "extraction with leave-one-out, sentences per CPU second",
        "build",
        None,
        lambda ours, _: f"{ours['leave_one_out_per_cpu_second']:.0f}",
    ),
    Row(
        "the whole build, CPU time for two cores",
        "build",
        None,
        lambda ours, _: f"{ours['build_seconds']:.0f} s",
    ),
    Row(
        "size of a training sentence in a shard",
        "storage",
        None,
        lambda ours, _: f"{ours['shard_bytes_per_sentence'] / 1000:.0f} KB",
    ),
    Row(
        "mixing",
        "mix",
        "ruby_mix_seconds",
        lambda ours, _: f"{ours['cpu_seconds']:.1f} s",
        lambda ours, other: other["value"] / ours["cpu_seconds"],
    ),
)


def parse(output: str) -> dict[str, float]:
    """The figures among the lines that a benchmark printed."""
    found = [LINE.fullmatch(line.strip()) for line in output.splitlines()]
    return {match[1]: float(match[2]) for match in found if match}


def run(names: Sequence[str], *, quick: bool = False) -> None:
    """Run benchmarks and keep their figures; those of the others stay."""
    document = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    failed = []
    for name in names:
        print(f"{name}: running", file=sys.stderr, flush=True)
        code = commit() or "unknown"
        command = [sys.executable, str(FOLDER / f"{name}.py"), *(["--quick"] if quick and name == "build" else [])]
        printed = []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                printed.append(line)
        found = parse("".join(printed))
        if process.returncode != 0 or not found:
            failed.append(name)
            continue
        document[name] = {
            "data": BENCHMARKS[name],
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "commit": code,
            "figures": found,
        }
        write_json(FIGURES, document)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; their figures are the earlier ones")


def table(document: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    """The README's table with its notes. Rows without figures are left out."""
    lines = ["| | another system | itersel | ratio |", "| --- | --- | --- | --- |"]
    sources: dict[str, dict[str, None]] = {}
    for row in ROWS:
        entry, other = document.get(row.benchmark), others.get(row.other or "", {})
        try:
            ours = row.ours(entry["figures"], other) if entry else None
            ratio = f"{row.ratio(entry['figures'], other):.1f}" if entry and row.ratio else ""
        except KeyError:
            continue
        if ours is None:
            continue
        shown = f"{other['system']}: {other['shown']}" if other else "–"
        lines.append(f"| {row.what} | {shown} | {ours} | {ratio} |")
        notes = sources.setdefault(row.benchmark, {})
        if other:
            notes[f"{other['system']}, {other['shown']}: {other['source']}."] = None
    for name, notes in sources.items():
        entry = document[name]
        first = f"`benchmarks/{name}.py`, {entry['date']}: {entry['data']}."
        lines += ["", *textwrap.wrap(" ".join([first, *notes]), WIDTH, break_on_hyphens=False, break_long_words=False)]
    return "\n".join(lines)


def rewritten(readme: str) -> str:
    """The README with the table of the figures as they are."""
    before, mark, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        sys.exit(f"{README}: no lines `{BEGIN}` and `{END}`")
    made = table(json.loads(FIGURES.read_text()), json.loads(OTHERS.read_text()))
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    running = verbs.add_parser("run", help="run benchmarks and keep their figures")
    present = [name for name in BENCHMARKS if (FOLDER / f"{name}.py").exists()]
    running.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(present)} (default: all)")
    running.add_argument("--quick", action="store_true", help="without the build of Multi30k")
    verbs.add_parser("table", help="write the table of README.md")
    args = parser.parse_args()
    if args.verb == "table":
        README.write_text(rewritten(README.read_text()))
        return
    unknown = [name for name in args.names if name not in present]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    run(args.names or present, quick=args.quick)


if __name__ == "__main__":
    main()
