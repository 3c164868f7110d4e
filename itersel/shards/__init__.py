"""Shards, the compiled unit of work: the file, which sentences go into which shard, folders of shards."""
