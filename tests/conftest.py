"""The default run takes a cover of every product of cases: each value of each parameter, with as many pairs as that
takes; of a long list of cases marked ``@pytest.mark.by_default(n)`` n evenly spread ones; and a quarter of the examples
of property tests. ``-m slow`` takes the rest, ``-m ""`` the whole."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

from tests.support import examples

Case = dict[str, Any]
WHOLE = 8
"""Cases of a test that are run by default whatever they are."""
TIMES = 1
"""How often each value of each parameter is met, if there are so many cases with it."""


def covered(cases: Sequence[Case], times: int = TIMES) -> set[int]:
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


def value(x: Any) -> Any:
    """What tells a value of a parameter from another one."""
    return x if isinstance(x, str | int | float | bool | type | None) else id(x)


def products(items: Iterable[pytest.Item]) -> dict[str, list[tuple[pytest.Item, Case]]]:
    """Tests with parameters: name -> its cases, each with its values."""
    found: dict[str, list[tuple[pytest.Item, Case]]] = {}
    for item in items:
        spec = getattr(item, "callspec", None)
        if spec is None or item.get_closest_marker("slow"):
            continue
        case = {name: value(x) for name, x in spec.params.items()}
        found.setdefault(item.nodeid.split("[")[0], []).append((item, case))
    return found


def spread(count: int, n: int) -> set[int]:
    """n numbers from 0 to count - 1, evenly spread, the first among them.

    >>> sorted(spread(10, 3))
    [0, 3, 6]
    """
    return {k * count // n for k in range(n)} if n < count else set(range(count))


def pytest_configure(config: pytest.Config) -> None:
    examples.few_by_default = config.getoption("markexpr") == "not slow"
    settings.register_profile("gyrostat", max_examples=examples.few(100), deadline=None)
    settings.load_profile("gyrostat")


def pytest_collection(session: pytest.Session) -> None:
    gc.disable()  # twenty thousand tests are collected, and nothing of them is garbage


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for cases in products(items).values():
        values = [case for _, case in cases]
        asked = cases[0][0].get_closest_marker("by_default")
        if asked is None and (len(cases) <= WHOLE or len(values[0]) < 2):
            continue
        kept = covered(values) if asked is None else spread(len(cases), *asked.args)
        for k, (item, _) in enumerate(cases):
            if k not in kept:
                item.add_marker(pytest.mark.slow)
