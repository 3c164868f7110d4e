"""Extraction speed on Multi30k val against cdec's extractor: 9.3 sentences per CPU second on one core.

    python benchmarks/extract.py [--data ../shared/data]

Only extraction is timed, to text in memory, as CPU seconds of this process; the index is timed apart.
Linearity is the time a word takes in the second half of a run over the time it takes in the first.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from itersel.base.files import read_lines
from itersel.grammar.extraction import ExtractConfig, Extractor, build_index

CDEC_SENTENCES_PER_SECOND = 9.3


def cpu_seconds(index: Path, sentences: list[str], options: ExtractConfig) -> tuple[list[float], int]:
    """Cumulative CPU seconds after each sentence, and the number of rules."""
    extractor = Extractor(index, options)
    start, rules, seconds = time.process_time(), 0, []
    for number, sentence in enumerate(sentences):
        rules += extractor.extract(sentence, number).count(b"\n")
        seconds.append(time.process_time() - start)
    return seconds, rules


def linearity(seconds: list[float], sentences: list[str]) -> float:
    middle = len(sentences) // 2
    words = [sum(len(s.split()) for s in half) for half in (sentences[:middle], sentences[middle:])]
    return (seconds[-1] - seconds[middle - 1]) / words[1] / (seconds[middle - 1] / words[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    data = parser.parse_args().data
    corpus = data / "multi30k"
    source, target = corpus / "train.tok.lc.de.gz", corpus / "train.tok.lc.en.gz"
    sentences = list(read_lines(corpus / "val.tok.lc.de.gz"))
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        start = time.process_time()
        build_index(source, target, data / "cdec-m30k" / "train.alignment.gz", index)
        index_seconds = time.process_time() - start
        seconds, rules = cpu_seconds(index, sentences, ExtractConfig())
        training = list(read_lines(source))[: len(sentences)]
        left_out, _ = cpu_seconds(index, training, ExtractConfig(leave_one_out=True))
    rate = len(sentences) / seconds[-1]
    print(f"sentences: {len(sentences)}")
    print(f"rules: {rules}")
    print(f"sentences_per_cpu_second: {rate:.1f}")
    print(f"ratio_to_cdec: {rate / CDEC_SENTENCES_PER_SECOND:.1f}")
    print(f"leave_one_out_sentences_per_cpu_second: {len(training) / left_out[-1]:.1f}")
    print(f"peak_mb: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")
    print(f"index_cpu_seconds: {index_seconds:.2f}")
    print(f"linearity: {linearity(seconds, sentences):.2f}")


if __name__ == "__main__":
    main()
