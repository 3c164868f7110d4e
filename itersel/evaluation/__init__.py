"""Comparing systems: scores, intervals, significance, oracles."""
