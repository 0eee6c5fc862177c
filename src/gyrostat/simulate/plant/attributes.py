"""What objects, classes and functions hold, and how it is given back to them."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from gyrostat.simulate.plant.libraries import of_library

NOT_OURS = ("__dict__", "__weakref__")
"""Slots that belong to Python."""


@lru_cache(maxsize=1024)
def names_in(code: types.CodeType) -> frozenset[str]:
    """Names that a function uses, with those inside it."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(code.co_names).union(*(names_in(c) for c in inner))


def slots(x: Any) -> dict[str, Any]:
    return {
        name: member
        for cls in type(x).__mro__
        for name, member in vars(cls).items()
        if isinstance(member, types.MemberDescriptorType) and not of_library(cls) and name not in NOT_OURS
    }


def attributes(x: Any) -> dict[str, Any]:
    """Of an object: its dictionary and its slots, as far as they are set."""
    try:
        own = dict(object.__getattribute__(x, "__dict__"))
    except AttributeError:
        own = {}
    for name, member in slots(x).items():
        try:
            own[name] = member.__get__(x)
        except AttributeError:
            continue
    return own


def reset_attributes(x: Any, old: Mapping[str, Any]) -> None:
    members = slots(x)
    try:
        own = object.__getattribute__(x, "__dict__")
    except AttributeError:
        own = None
    if own is not None:
        own.clear()
        own.update({name: value for name, value in old.items() if name not in members})
    now = attributes(x)
    for name, member in members.items():
        if name in old:
            if name not in now or now[name] is not old[name]:  # some cannot be written, nor have they changed
                member.__set__(x, old[name])
        else:
            try:
                member.__delete__(x)
            except AttributeError:
                continue


def reset_class(x: type, old: Mapping[str, Any]) -> None:
    now = {name: value for name, value in vars(x).items() if not name.startswith("__")}
    for name in now.keys() - old.keys():
        type.__delattr__(x, name)
    for name, value in old.items():
        if now.get(name, x) is not value:
            type.__setattr__(x, name, value)


def empty_cell(cell: Any) -> None:
    try:
        del cell.cell_contents
    except ValueError:
        return


def state_numbers(state: Any) -> Any:
    """A state of random numbers, with arrays in full."""
    if isinstance(state, Mapping):
        return {key: state_numbers(value) for key, value in state.items()}
    return state.tobytes() if isinstance(state, np.ndarray) else state
