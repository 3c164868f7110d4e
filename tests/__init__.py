"""Tests: unit mirrors the modules, oracles are slow twins, parity compares with other systems."""
