"""Distributed discriminative training for hierarchical machine translation, as map-reduce."""

from itersel.version import __version__

__all__ = ["__version__"]
