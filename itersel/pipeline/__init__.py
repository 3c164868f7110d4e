"""Whole ways: text to shards, grids of experiments, the demo."""
