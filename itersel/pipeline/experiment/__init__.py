"""Experiments: a build and a grid of trainings, tested on the same sets, and the papers' table of them.

config (the grid) → cells (train, translate, evaluate; resumable) → results (JSON) and table (the papers' form).
"""
