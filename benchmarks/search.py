"""Model scores and work of the search beside cdec's: `python benchmarks/search.py [--skip-callgrind]`.

Decodes the sentences of ../shared/data/cdec-search with cdec's settings and prints `name: value` lines. The search was
chosen on the first half of the sentences (and on other data), so the gaps and shares are of the second half. A gap is
cdec's total model score minus ours: below zero, ours is better. Speed is compared at equal score: cdec's instructions
at pop limit 200 over ours at the smallest pop limit of a ladder whose total score, over all sentences, is not below
cdec's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from decode import FORMS, child, compile_shard, decode_shard, decode_text, instructions_per_sentence

from itersel.base.files import read_lines
from itersel.decode.decoder import Decoder, DecoderConfig
from itersel.decode.shard_decoder import ShardDecoder
from itersel.lm.model import LanguageModel
from itersel.model.features import Weights
from itersel.shards.shard import Shard

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "cdec-search"
CDEC_INSTRUCTIONS = 647.9e6  # a sentence at pop limit 200, from the data's README
CHOSEN_ON = 100  # sentences
LADDER = (*range(20, 100, 10), *range(100, 200, 20), *range(200, 500, 50))


def make_decoder(pop_limit: int) -> Decoder:
    options = DecoderConfig(span_limit=15, pop_limit=pop_limit, pass_through="all")
    return Decoder(Weights.read(DATA / "weights.txt"), LanguageModel(DATA / "lm5.arpa.gz"), options)


def cdec_scores(pop_limit: int) -> list[float]:
    return [float(line.split("\t")[1]) for line in read_lines(DATA / f"cdec.pop{pop_limit}.tsv")]


def best_scores(decoder: Decoder, pop_limit: int, shard: Shard) -> list[float]:
    """The model score of each sentence's best translation."""
    options = DecoderConfig(span_limit=15, pop_limit=pop_limit, pass_through="all")
    search = ShardDecoder(shard, decoder.weights, decoder.language_model, options)
    return [search.kbest(sentence, 1)[0].score for sentence in range(len(shard))]


def report_scores(decoder: Decoder, shard: Shard) -> None:
    for pop_limit in (30, 200):
        ours = best_scores(decoder, pop_limit, shard)[CHOSEN_ON:]
        theirs = cdec_scores(pop_limit)[CHOSEN_ON:]
        share = sum(mine >= other - 1e-3 for mine, other in zip(ours, theirs, strict=True)) / len(ours)
        print(f"score_gap_pop{pop_limit}: {sum(theirs) - sum(ours):.3f}")
        print(f"share_not_below_pop{pop_limit}: {share:.3f}", flush=True)


def equal_score_pop_limit(decoder: Decoder, shard: Shard) -> int:
    goal = sum(cdec_scores(200))
    for pop_limit in LADDER:
        if sum(best_scores(decoder, pop_limit, shard)) >= goal - 1e-3:
            return pop_limit
    sys.exit(f"No pop limit up to {LADDER[-1]} reaches cdec's total score.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skip-callgrind", action="store_true", help="only scores")
    parser.add_argument("--child", choices=FORMS, help=argparse.SUPPRESS)
    parser.add_argument("--shard", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--pop-limit", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--lines", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        decoder = make_decoder(args.pop_limit)
        if args.child == "text":
            decode_text(decoder, args.lines, DATA)
        else:
            decode_shard(decoder, args.lines, args.shard)
        return
    if not DATA.is_dir():
        sys.exit("The data is not here: ../shared/data/cdec-search is absent.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shard"
        compile_shard(path, DATA)
        decoder, shard = make_decoder(200), Shard(path)
        report_scores(decoder, shard)
        pop_limit = equal_score_pop_limit(decoder, shard)
        print(f"equal_score_pop_limit: {pop_limit}", flush=True)
        if args.skip_callgrind:
            return
        for form in FORMS:
            arguments = ("--child", form, "--shard", str(path), "--pop-limit", str(pop_limit))
            child(*arguments, "--lines", "1", script=__file__)  # makes the model's cache
            instructions = instructions_per_sentence(*arguments, script=__file__)
            print(f"equal_score_instructions_{form}: {instructions:.4g}")
            print(f"equal_score_ratio_{form}: {CDEC_INSTRUCTIONS / instructions:.2f}", flush=True)


if __name__ == "__main__":
    main()
