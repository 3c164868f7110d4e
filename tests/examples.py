"""How many examples a property is tried on."""

from hypothesis import settings


def examples(number: int) -> int:
    """That many with hypothesis' usual 100 per test, fewer in a profile with fewer (tests/conftest.py)."""
    return max(1, number * settings.default.max_examples // 100)
