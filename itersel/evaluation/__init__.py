"""Systems compared: scores, intervals, significance, oracles."""
