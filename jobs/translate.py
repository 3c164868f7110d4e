"""Translation as a map-only job: each input line is a block of a shard's sentences (code: itersel.mapreduce.records).

Input lines are `[block, "shard file", "checksum", first sentence, number of sentences]`. Example:

    python jobs/translate.py -r local blocks.jsonl --configuration run/run.json --lm lm.bin \\
        --weights run/weights.vec > translations.records
"""

import sys
from collections.abc import Iterator

from mrjob.job import MRJob
from mrjob.protocol import JSONProtocol, RawValueProtocol

from itersel.lm.model import LanguageModel
from itersel.mapreduce.records import BlockTranslator, Record, read_configuration
from itersel.model.vectors import Vector


class Translate(MRJob):
    INPUT_PROTOCOL = RawValueProtocol
    OUTPUT_PROTOCOL = JSONProtocol

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--configuration", help="a run's run.json")
        self.add_file_arg("--weights", help="vector of weights")
        self.add_file_arg("--lm", help="ARPA or KenLM binary file")

    def mapper_init(self) -> None:
        config = read_configuration(self.options.configuration)
        model = None if self.options.lm is None else LanguageModel(self.options.lm)
        self.translator = BlockTranslator(Vector.read(self.options.weights, mapped=True), model, config)

    def mapper(self, _: None, line: str) -> Iterator[Record]:
        self.set_status("translating")
        yield self.translator(line)


if __name__ == "__main__":
    sys.exit(Translate.run())
