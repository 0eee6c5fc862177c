"""The default run takes a cover of every product of cases: each value of each parameter, with as many pairs as that
takes; ``-m slow`` takes the rest, ``-m ""`` the whole product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

WHOLE = 8
"""Cases of a test that are run by default whatever they are."""
TWICE = 2
"""How often each value of each parameter is met, if there are so many cases with it."""


def covered(cases: Sequence[dict[str, int]], times: int = TWICE) -> set[int]:
    """Numbers of cases, in which every value of every parameter occurs ``times`` times or in all its cases; greedy:
    the case with most values that are still wanted comes first.

    >>> sorted(covered([{"a": i, "b": j} for i in range(3) for j in range(3)], times=1))
    [0, 4, 8]
    """
    wanted = {value: min(times, n) for value, n in Counter(x for case in cases for x in case.items()).items()}
    chosen: set[int] = set()
    while any(wanted.values()):
        gain = {k: sum(wanted[x] > 0 for x in case.items()) for k, case in enumerate(cases) if k not in chosen}
        best = max(gain, key=lambda k: (gain[k], -k))
        chosen.add(best)
        for x in cases[best].items():
            wanted[x] -= wanted[x] > 0
    return chosen


def products(items: Iterable[pytest.Function]) -> dict[str, list[tuple[pytest.Function, dict[str, int]]]]:
    """Tests with several parameters: name -> its cases, each with the number of every value."""
    found: dict[str, list[tuple[pytest.Function, dict[str, int]]]] = {}
    for item in items:
        spec = getattr(item, "callspec", None)
        if spec is None or item.get_closest_marker("slow"):
            continue
        found.setdefault(item.nodeid.split("[")[0], []).append((item, dict(spec.indices)))
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for cases in products(items).values():  # type: ignore[arg-type]
        values = [case for _, case in cases]
        if len(cases) <= WHOLE or len(values[0]) < 2:
            continue
        kept = covered(values)
        for k, (item, _) in enumerate(cases):
            if k not in kept:
                item.add_marker(pytest.mark.slow)
