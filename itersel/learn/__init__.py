"""Online learning: pairs, updates, the epoch over a shard, mixing of shards."""
