"""Batch tuning: upper envelopes of lists and forests, line search, PRO, batch MIRA."""
