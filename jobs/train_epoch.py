"""One epoch as a map-reduce job: map trains a shard, reduce mixes a range of features (itersel.mapreduce has the code).

Input lines are `number TAB path` with the shards' numbers from 0 and paths that every worker can read. Example:

    ls -d "$PWD"/shards/*.shard | awk '{print NR - 1 "\\t" $0}' > addresses.tsv
    python jobs/train_epoch.py -r local addresses.tsv --configuration run/run.json --lm lm.bin --shards 4 \\
        --reducers 2 --epoch 2 --weights run/epoch-001/weights.vec > epoch-002.records
"""

import json
import sys
import time
from collections.abc import Iterable, Iterator

from mrjob.job import MRJob
from mrjob.protocol import JSONProtocol, RawValueProtocol

from itersel.config import build
from itersel.errors import ConfigError
from itersel.language_model import LanguageModel
from itersel.mapreduce import Record, map_shard, parse_address, reduce_pieces
from itersel.plan import plan_of_name
from itersel.train_config import TrainConfig
from itersel.vectors import Vector

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
        self.add_passthru_arg("--epoch", type=int, default=1, help="its number, from 1")
        self.add_passthru_arg("--shards", type=int, default=1, help="how many there are")
        self.add_passthru_arg("--reducers", type=int, default=1, help="ranges of features")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        if self.options.configuration is None:
            self.arg_parser.error("--configuration is missing: name a run's run.json")

    def read_configuration(self) -> TrainConfig:
        with open(self.options.configuration, encoding="utf-8") as stream:
            config = build(TrainConfig, json.load(stream)["configuration"], self.options.configuration)
        if plan_of_name(config.algorithm).own_weights:
            raise ConfigError(
                f"{config.algorithm} does not start all shards from one model",
                hint="This job is for iter_mix_sgd and iter_sel_sgd.",
            )
        return config

    def mapper_init(self) -> None:
        self.config = self.read_configuration()
        self.start = None if self.options.weights is None else Vector.read(self.options.weights, mapped=True)
        self.model = None if self.options.lm is None else LanguageModel(self.options.lm)
        self.told = time.monotonic()

    def mapper(self, _: None, line: str) -> Iterator[Record]:
        number, path = parse_address(line)

        def tell(done: int) -> None:  # engines end tasks that say nothing for long
            if time.monotonic() - self.told > STATUS_INTERVAL:
                self.told = time.monotonic()
                self.set_status(f"shard {number}: {done} sentences")

        yield from map_shard(
            number,
            path,
            self.start,
            self.model,
            self.config.epoch,
            epoch=self.options.epoch - 1,
            reducers=self.options.reducers,
            progress=tell,
        )

    def reducer_init(self) -> None:
        config = self.read_configuration()
        self.selection = plan_of_name(config.algorithm).selection(config.selection)

    def reducer(self, key: str, values: Iterable[str]) -> Iterator[Record]:
        yield from reduce_pieces(key, values, self.options.shards, self.selection)


if __name__ == "__main__":
    sys.exit(TrainEpoch.run())
