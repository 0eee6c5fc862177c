"""Drivers that call each other live in one module of machine code: their names differ."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import FunctionType

import gyrostat
from gyrostat.engine.drivers import translate

KINDS = {"ptr", "table", "words"}
FOLDERS = ("algorithms.contact", "engine.drivers", "simulate")


def drivers() -> Iterator[FunctionType]:
    """Every function that takes pointers."""
    for module in pkgutil.walk_packages(gyrostat.__path__, "gyrostat."):
        if module.name.startswith(tuple(f"gyrostat.{folder}" for folder in FOLDERS)):
            functions = vars(importlib.import_module(module.name)).values()
            for f in functions:
                if inspect.isfunction(f) and f.__module__ == module.name and KINDS & set(f.__annotations__.values()):
                    yield f


@cache
def together(driver: FunctionType) -> frozenset[FunctionType]:
    """The driver and all that it calls."""
    names = (
        n.func.id for n in ast.walk(translate._tree(driver)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    )
    called = {driver.__globals__.get(name) for name in names} - {driver}
    used = [f for f in called if isinstance(f, FunctionType) and f.__module__ != translate.language.__name__]
    return frozenset({driver}).union(*(together(f) for f in used))


def test_drivers_that_are_put_together_have_different_names():
    found = list(drivers())
    assert len(found) > 200
    for driver in found:
        names = [f.__name__ for f in together(driver)]
        assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
