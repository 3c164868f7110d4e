"""Map-reduce job: extract the rules of each shard's sentences and compile the shard.

Input: lines of `itersel shard --plan`, one shard a line. Side files: index, sentences, references, task labels.
Each map task writes its shard into --output-folder, a path that all workers reach, and hands over the shard's record;
the reducer lets each shard pass once.

    python jobs/extract_shards.py -r local --index model/index --sentences train.de --references train.en \
        --settings "$(cat settings.json)" --output-folder shards plan.jsonl
"""

from dataclasses import asdict

from mrjob.job import MRJob

from itersel.shards.folder import PlannedShard, write_shard
from itersel.shards.settings import open_compiler, single_record


class MRExtractShards(MRJob):
    def configure_args(self):
        super().configure_args()
        self.add_file_arg("--index", required=True, help="the bitext's index")
        self.add_file_arg("--sentences", required=True, help="tokenised sentences")
        self.add_file_arg("--references", action="append", default=[], help="translations; may be given several times")
        self.add_file_arg("--tasks", help="task labels")
        self.add_passthru_arg(
            "--settings", default="{}", help="rule and shard options as JSON (itersel.shards.settings)"
        )
        self.add_passthru_arg("--output-folder", required=True, help="where the shards go")

    def mapper_init(self):
        files = self.options
        self.compiler = open_compiler(files.index, files.sentences, files.references, files.tasks, files.settings)

    def mapper(self, _, line):
        planned = PlannedShard.from_line(line)
        self.set_status(f"compiling {planned.assignment.name}")
        record = write_shard(self.compiler, self.options.output_folder, planned)
        self.increment_counter("shards", "sentences", len(record.sentences))
        yield record.name, asdict(record)

    def reducer(self, name, records):
        yield name, single_record(name, records)


if __name__ == "__main__":
    MRExtractShards.run()
