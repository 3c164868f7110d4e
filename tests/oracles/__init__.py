"""Slow, obvious twins of the fast routines."""
