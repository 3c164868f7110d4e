"""One epoch as a map-reduce job: map trains a shard, reduce mixes a range of features (code: itersel.mapreduce.records).

Input lines are map tasks as the driver writes them, one a shard (docs/training.md shows how to make them by hand):

    python jobs/train_epoch.py -r local tasks.jsonl --configuration run/run.json --lm lm.bin --shards 4 \\
        --reducers 2 --epoch 2 --weights run/epoch-001/weights.vec > epoch-002.records
"""

import sys
import time
from collections.abc import Iterable, Iterator

from mrjob.job import MRJob
from mrjob.protocol import JSONProtocol, RawValueProtocol

from itersel.algorithms.plan import plan_of_name
from itersel.lm.model import LanguageModels
from itersel.mapreduce.records import FINISHED, Record, map_shard, read_configuration, reduce_pieces
from itersel.model.vectors import Vector

STATUS_INTERVAL = 30.0


class TrainEpoch(MRJob):
    INPUT_PROTOCOL = RawValueProtocol
    INTERNAL_PROTOCOL = JSONProtocol
    OUTPUT_PROTOCOL = JSONProtocol

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--configuration", help="a run's run.json")
        self.add_file_arg("--weights", help="vector to start from (default: all weights 0)")
        self.add_file_arg("--lm", help="ARPA or KenLM binary file")
        self.add_file_arg("--fold-lm", action="append", default=[], help="models by fold, one after the other")
        self.add_passthru_arg("--epoch", type=int, default=1, help="its number, from 1")
        self.add_passthru_arg("--shards", type=int, default=1, help="how many there are")
        self.add_passthru_arg("--reducers", type=int, default=1, help="ranges of features")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        if self.options.configuration is None:
            self.arg_parser.error("--configuration is missing: name a run's run.json")

    def mapper_init(self) -> None:
        self.config = read_configuration(self.options.configuration)
        self.start = None if self.options.weights is None else Vector.read(self.options.weights, mapped=True)
        self.models = LanguageModels(self.options.lm, self.options.fold_lm)
        self.told = time.monotonic()

    def mapper(self, _: None, line: str) -> Iterator[Record]:
        def note(text: str) -> None:  # so that the log of a task that was killed says which shard it had
            self.stderr.write(f"{text}\n".encode())
            self.stderr.flush()

        def tell(sums: dict[str, float]) -> None:  # engines end tasks that say nothing for long
            if time.monotonic() - self.told > STATUS_INTERVAL:
                self.told = time.monotonic()
                self.set_status(f"{sums['lists']:.0f} sentences")

        options = self.options
        yield from map_shard(
            line,
            self.start,
            self.models,
            self.config,
            epoch=options.epoch - 1,
            reducers=options.reducers,
            begin=note,
            progress=tell,
        )
        note(FINISHED)

    def reducer_init(self) -> None:
        config = read_configuration(self.options.configuration)
        self.selection = plan_of_name(config.algorithm).selection(config.selection)

    def reducer(self, key: str, values: Iterable[str]) -> Iterator[Record]:
        yield from reduce_pieces(key, values, self.options.shards, self.selection)


if __name__ == "__main__":
    sys.exit(TrainEpoch.run())
