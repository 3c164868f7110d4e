"""From end to end: text to shards, grids of experiments, the demo."""
