"""Laws that were looked at before: the same code, which reaches nothing that could remember, with other numbers.

Whether a function remembers is found out by calling it (:mod:`~gyrostat.simulate.plant.user_memory`), which takes
longer than a short run. Code whose closure, defaults and globals hold numbers, arrays, modules and functions of the same
kind alone does the same whatever these numbers are; it is looked at once for every program that it records to."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Hashable
from typing import Any

import numpy as np

from gyrostat.engine.tracing.program import Program
from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.plant.attributes import names_in
from gyrostat.simulate.plant.libraries import of_library
from gyrostat.spec.model import Model

PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, Model)
DEEP = 8
"""Levels of functions and blocks inside each other that are looked at."""
MOST = 4096
_trusted: dict[Hashable, None] = {}


def made_of(x: Any, depth: int = 0) -> Hashable | None:
    """The code that a function or block is made of; None if something that it reaches may remember."""
    if isinstance(x, PLAIN) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiub"):
        return ()
    if depth > DEEP:
        return None
    if isinstance(x, types.FunctionType) and not of_library(x):
        return _of_function(x, depth)
    if isinstance(x, tuple):
        return _all([made_of(y, depth + 1) for y in x])
    if isinstance(x, types.ModuleType | types.BuiltinFunctionType | np.ufunc | types.FunctionType | type):
        return () if isinstance(x, np.ufunc) or of_library(x) else None
    frozen = dataclasses.is_dataclass(x) and of_library(type(x)) and type(x).__dataclass_params__.frozen  # type: ignore
    if not frozen or (isinstance(x, Block) and getattr(type(x), "remembers", False)):
        return None
    return _all([type(x), *(made_of(getattr(x, f.name), depth + 1) for f in dataclasses.fields(x))])


def _of_function(x: types.FunctionType, depth: int) -> Hashable | None:
    try:
        cells = [cell.cell_contents for cell in x.__closure__ or ()]
    except ValueError:  # a name that is not set yet
        return None
    known = x.__globals__
    named = [known[name] for name in sorted(names_in(x.__code__)) if name in known]
    others = [*cells, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values(), *named]
    if x.__dict__:
        return None
    return _all([x.__code__, *(made_of(y, depth + 1) for y in others)])


def _all(parts: list[Any]) -> Hashable | None:
    return None if any(part is None for part in parts) else tuple(parts)


def trust_key(users: tuple[Any, ...], lifted: Program) -> Hashable | None:
    """What a law is known by; None if it must be looked at every time."""
    parts = made_of(users)
    return None if parts is None else (parts, lifted.digest)


def trusted(key: Hashable | None) -> bool:
    """Whether a law was looked at before."""
    return key is not None and key in _trusted


def trust(key: Hashable | None) -> None:
    """A law was looked at, and found to be a function of its arguments."""
    if key is not None:
        while len(_trusted) >= MOST:
            _trusted.pop(next(iter(_trusted)))
        _trusted[key] = None
