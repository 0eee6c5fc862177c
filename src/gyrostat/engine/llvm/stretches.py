"""Stretches of consecutive elements, which are moved together."""

from __future__ import annotations

from collections.abc import Sequence


def runs(elements: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches (first, end) of consecutive numbers, of numbers in order."""
    stretches: list[tuple[int, int]] = []
    for e in elements:
        if stretches and stretches[-1][1] == e:
            stretches[-1] = stretches[-1][0], e + 1
        else:
            stretches.append((e, e + 1))
    return stretches


def chunks(first: int, end: int, size: int) -> list[tuple[int, int]]:
    """A stretch in pieces of ``size``, and what is left one by one."""
    whole = end - (end - first) % size
    return [(k, k + size) for k in range(first, whole, size)] + [(k, k + 1) for k in range(whole, end)]
