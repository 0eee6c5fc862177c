"""How many examples property tests try: a quarter of what is written down by default, all of them with ``-m ""``."""

from __future__ import annotations

LEAST = 4
few_by_default = True
"""Set before tests are collected (``tests/conftest.py``)."""


def few(n: int) -> int:
    """n examples, or a quarter of them in a default run."""
    return max(min(n, LEAST), n // 4) if few_by_default else n
