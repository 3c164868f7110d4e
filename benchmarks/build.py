"""Start-up of `translate`, rule extraction, and the time of a build: `python benchmarks/build.py [--quick]`.

Prints `name: value` lines. Instructions are counted by valgrind's callgrind.

`startup_instructions` is what `itersel translate` of one sentence costs with the 5-gram of ../shared/data/cdec-search
minus what it costs without a model; the model is the binary that a build makes. `startup_instructions_arpa` is the same
for the ARPA file, which was converted into the cache before. `import_instructions` is what importing the verb costs,
the interpreter included.

`leave_one_out_per_cpu_second` is for the first 1,000 training sentences of Multi30k, as a build extracts them;
`extract_cpu_ms_per_sentence` and `extract_peak_mb` are for `itersel extract` of 200 sentences of test 2016, gzip files
included.

`build_seconds` is the processor time of all processes of `itersel build conf/multi30k.yaml` with models for ten folds,
divided by two: the time on two free cores. `--quick` leaves the build out.
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
from itertools import islice
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from itersel.base.files import read_lines  # noqa: E402
from itersel.grammar.extraction import ExtractConfig, Extractor, build_index  # noqa: E402
from itersel.lm.binary import cached_binary, write_binary  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
CORPUS = DATA / "multi30k"
SEARCH = DATA / "cdec-search"
LEFT_OUT, EXTRACTED = 1000, 200
CDEC_SECONDS = 0.145
"""Of processor for a sentence, for the same 200 sentences, gzip files included, side by side with itersel."""


def run(arguments: list[str], under: tuple[str, ...] = (), text: str = "") -> tuple[float, float]:
    """CPU seconds, with those of all processes that it starts, and peak megabytes of the largest of them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONHASHSEED": "0"}  # the interpreter's own work is the same in every run
    command = [*under, sys.executable, *arguments]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, check=True, input=text.encode(), env=environment, **streams)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, after.ru_maxrss / 1024


def count_instructions(arguments: list[str], text: str = "") -> int:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        tool = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", f"--log-file={log}")
        run(arguments, tool, text)
        found = re.search(r"Collected : (\d+)", log.read_text())
    assert found, "callgrind printed no count"
    return int(found[1])


def report_startup(folder: Path) -> None:
    grammar, weights = folder / "grammar", SEARCH / "weights.txt"
    grammar.write_text("[X] ||| ein ||| a ||| CountEF=1\n")
    arpa, binary = SEARCH / "lm5.arpa.gz", folder / "lm5.bin"
    write_binary(arpa, binary)
    verb = ["-m", "itersel", "translate", "--grammar", str(grammar), "--weights", str(weights)]
    run(verb, text="ein\n")  # compiles the modules
    without = count_instructions(verb, "ein\n")
    imports = ["-c", "import itersel.cli.translate"]
    print(f"import_instructions: {count_instructions(imports)}", flush=True)
    with_binary = count_instructions([*verb, "--lm", str(binary)], "ein\n")
    print(f"startup_instructions: {with_binary - without}", flush=True)
    if cached_binary(arpa) is not None:
        with_arpa = count_instructions([*verb, "--lm", str(arpa)], "ein\n")
        print(f"startup_instructions_arpa: {with_arpa - without}", flush=True)


def report_extraction(folder: Path) -> None:
    index = folder / "index"
    build_index(
        CORPUS / "train.tok.lc.de.gz", CORPUS / "train.tok.lc.en.gz", DATA / "cdec-m30k" / "train.alignment.gz", index
    )
    sentences = list(islice(read_lines(CORPUS / "train.tok.lc.de.gz"), LEFT_OUT))
    extractor = Extractor(index, ExtractConfig(leave_one_out=True))
    started = time.process_time()
    for number, sentence in enumerate(sentences):
        extractor.grammar(sentence, number)
    print(f"leave_one_out_per_cpu_second: {LEFT_OUT / (time.process_time() - started):.1f}", flush=True)

    tests = list(islice(read_lines(CORPUS / "test_2016_flickr.tok.lc.de.gz"), EXTRACTED))

    def command(count: int) -> list[str]:
        (folder / f"{count}.de").write_text("".join(line + "\n" for line in tests[:count]))
        output = ["--output", tempfile.mkdtemp(dir=folder)]
        return ["-m", "itersel", "extract", "--index", str(index), "--sentences", str(folder / f"{count}.de"), *output]

    start, _ = run(command(1))
    # In a process of its own, because the peak of children counts all that ended so far.
    code = "import sys; sys.path.insert(0, sys.argv[1]); import build; print(*build.run(sys.argv[2:]))"
    measured = [sys.executable, "-c", code, str(ROOT / "benchmarks"), *command(EXTRACTED)]
    seconds, peak = map(float, subprocess.run(measured, check=True, stdout=subprocess.PIPE, text=True).stdout.split())
    print(f"extract_cpu_ms_per_sentence: {1000 * (seconds - start) / (EXTRACTED - 1):.2f}")
    print(f"extract_ratio_to_cdec: {CDEC_SECONDS * (EXTRACTED - 1) / (seconds - start):.1f}")
    print(f"extract_peak_mb: {peak:.0f}", flush=True)


def report_build(folder: Path) -> None:
    settings = ("lm.folds=10", f"work={folder / 'work'}", "jobs=2")
    options = [part for setting in settings for part in ("--set", setting)]
    seconds, _ = run(["-m", "itersel", "build", str(ROOT / "conf" / "multi30k.yaml"), *options])
    print(f"build_seconds: {seconds / 2:.0f}")
    size = sum(path.stat().st_size for path in (folder / "work").rglob("*") if path.is_file())
    print(f"build_mb: {size / 1e6:.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="without the build")
    parser.add_argument("--work", type=Path, help="folder for the build, which needs up to 14 GB (default: temporary)")
    args = parser.parse_args()
    if not (CORPUS.is_dir() and SEARCH.is_dir()):
        sys.exit("The data is not here: ../shared/data/multi30k or ../shared/data/cdec-search is absent.")
    with tempfile.TemporaryDirectory(dir=args.work) as folder:
        report_startup(Path(folder))
        report_extraction(Path(folder))
        if not args.quick:
            report_build(Path(folder))


if __name__ == "__main__":
    main()
