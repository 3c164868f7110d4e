"""Speed and memory of decoding: `python benchmarks/decode.py [--skip-callgrind]`.

Decodes the 200 sentences of ../shared/data/cdec-m30k with cdec's settings (trigram model, pop limit 200, all words may
be copied, dense features, 1-best) and prints `name: value` lines. Instructions are counted by valgrind's callgrind as
(a run of 20 lines - a run of 1 line) / 19; ratios are cdec's figure over ours, so more is better.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.files import read_bytes, read_lines  # noqa: E402
from itersel.decode.decoder import Decoder, DecoderConfig  # noqa: E402
from itersel.decode.shard_decoder import ShardDecoder  # noqa: E402
from itersel.grammar.grammar import Grammar  # noqa: E402
from itersel.lm.model import LanguageModel  # noqa: E402
from itersel.model.features import Weights  # noqa: E402
from itersel.shards.shard import Shard, ShardWriter  # noqa: E402

DATA = ROOT.parent / "shared" / "data" / "cdec-m30k"
CDEC_INSTRUCTIONS = (18.91 - 0.62) / 19 * 1e9  # a sentence, from the data's README
CDEC_PEAK_MB = 172


def read_input(folder: Path) -> list[tuple[str, Path]]:
    """Sentences with their grammars' paths."""
    pattern = re.compile(r'<seg grammar="([^"]*)" id="\d+"> (.*) </seg> *')
    found = [pattern.fullmatch(line) for line in read_lines(folder / "input.sgm")]
    return [(match[2], folder / match[1]) for match in found if match]


def make_decoder() -> Decoder:
    options = DecoderConfig(span_limit=15, pop_limit=200, pass_through="all")
    return Decoder(Weights.read(DATA / "weights.txt"), LanguageModel(DATA / "lm3.arpa.gz"), options)


def decode_text(decoder: Decoder, lines: int, folder: Path = DATA) -> int:
    """Decode the first lines, reading each sentence's gzip grammar as cdec does."""
    work = read_input(folder)[:lines]
    for sentence, path in work:
        decoder.translate(sentence, Grammar.read(path))
    return len(work)


def compile_shard(path: Path, folder: Path = DATA) -> None:
    """The 200 sentences as one shard, with the copies cdec allows."""
    writer = ShardWriter(pass_through="all")
    for sentence, grammar in read_input(folder):
        writer.add(sentence, [], read_bytes(grammar), path=str(grammar))
    writer.write(path)


def decode_shard(decoder: Decoder, lines: int, path: Path) -> int:
    """Decode the first lines of a compiled shard: no grammar is parsed."""
    shard = ShardDecoder(Shard(path), decoder.weights, decoder.language_model, decoder.options)
    for sentence in range(lines):
        shard.translate(sentence)
    return lines


FORMS = ("text", "shard")


def child(*arguments: str, under: tuple[str, ...] = (), script: str = __file__) -> str:
    """Run this script, or another, in a fresh process and return what it prints."""
    command = [*under, sys.executable, str(Path(script).resolve()), *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}  # the interpreter's own work is the same in every run
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def count_instructions(*arguments: str, script: str = __file__) -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        tool = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--log-file={log}")
        child(*arguments, under=tool, script=script)
        found = re.search(r"Collected : (\d+)", log.read_text())
    assert found, "callgrind printed no count"
    return int(found[1])


def instructions_per_sentence(*arguments: str, script: str = __file__) -> float:
    """Start-up and the first sentence subtracted. The script must take `--lines`."""
    runs = [count_instructions(*arguments, "--lines", lines, script=script) for lines in ("20", "1")]
    return (runs[0] - runs[1]) / 19


def report(form: str, callgrind: bool, shard: Path) -> None:
    """The figures of one form of grammar; the peak is a fresh process's, model included."""
    for line in child("--child", form, "--lines", "200", "--shard", str(shard)).splitlines():
        print(line, flush=True)
    if callgrind:
        instructions = instructions_per_sentence("--child", form, "--shard", str(shard))
        print(f"instructions_per_sentence_{form}: {instructions:.4g}")
        print(f"instructions_ratio_{form}: {CDEC_INSTRUCTIONS / instructions:.2f}", flush=True)


def run_child(form: str, lines: int, shard: Path) -> None:
    decoder = make_decoder()
    started = time.process_time()
    sentences = decode_text(decoder, lines) if form == "text" else decode_shard(decoder, lines, shard)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    suffix = "" if form == "text" else f"_{form}"
    print(f"sentences_per_second_{form}: {sentences / seconds:.1f}")
    print(f"peak_mb{suffix}: {peak:.0f}")
    print(f"peak_ratio{suffix}: {CDEC_PEAK_MB / peak:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-callgrind", action="store_true", help="only times and memory")
    parser.add_argument("--child", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--compile", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--shard", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--lines", type=int, default=200, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.compile:
        compile_shard(args.compile)
        return
    if args.child:
        run_child(args.child, args.lines, args.shard)
        return
    if not DATA.is_dir():
        sys.exit("The data is not here: ../shared/data/cdec-m30k is absent.")
    with tempfile.TemporaryDirectory() as folder:
        shard = Path(folder) / "shard"
        child("--compile", str(shard))  # elsewhere, since a child's peak memory begins with its parent's
        for form in FORMS:
            report(form, not args.skip_callgrind, shard)


if __name__ == "__main__":
    main()
