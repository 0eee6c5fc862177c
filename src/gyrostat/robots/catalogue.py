"""The robots by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from gyrostat.spec.model import Model


def catalogue() -> dict[str, Callable[..., Model]]:
    """Robots that need no arguments, by name: ``catalogue()["puma560"]()`` makes one; for command lines and menus."""
    from gyrostat import robots

    made = {name: getattr(robots, name) for name in robots.__all__}
    return {name: make for name, make in made.items() if inspect.isfunction(make) and _needs_nothing(make)}


def _needs_nothing(make: Callable[..., Model]) -> bool:
    named = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(p.default is not p.empty or p.kind in named for p in inspect.signature(make).parameters.values())


def short_names() -> dict[str, str]:
    """Short name -> full name: the file that holds a robot alone, ``lwr`` for ``kuka_lwr4``."""
    by_file: dict[str, list[str]] = {}
    for name, make in catalogue().items():
        by_file.setdefault(make.__module__.rpartition(".")[2], []).append(name)
    return {file: names[0] for file, names in by_file.items() if len(names) == 1 and names[0] != file}
