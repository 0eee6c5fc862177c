"""The robots by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from gyrostat.spec.model import Model


def catalogue() -> dict[str, Callable[..., Model]]:
    """Robots that need no arguments, by name: ``catalogue()["puma560"]()`` makes one; for command lines and menus."""
    from gyrostat import robots

    made = {name: getattr(robots, name) for name in robots.__all__}
    return {name: make for name, make in made.items() if _needs_nothing(make)}


def _needs_nothing(make: Callable[..., Model]) -> bool:
    return all(p.default is not p.empty for p in inspect.signature(make).parameters.values())
