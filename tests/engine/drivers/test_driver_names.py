"""Drivers that call each other live in one module of machine code: their names differ."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import FunctionType

import gyrostat
from gyrostat.engine.drivers.translate import sources

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


def test_every_driver_can_be_put_together_with_those_that_it_calls():
    found = list(drivers())
    assert len(found) > 200
    for driver in found:
        assert driver.__name__ in sources(driver)  # which refuses two of one name
