"""The joints of a solver's arrays in another order, or only some of them (H04 4.3.1, resortExteriorPorts)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import names_of, packed
from gyrostat.errors import StateError, nearest
from gyrostat.spec.model import Model

Array = np.ndarray
RateAxes = Sequence[tuple[str, tuple[int, ...]]]


class JointOrder:
    """``joints``: names in their order; ``q``, ``v``: places of their coordinates and rates in the model.

    Joints that are left out are locked: neutral, at rest."""

    def __init__(self, model: Model, joints: Sequence[str]):
        self.joints, self.nv = tuple(joints), model.nv
        self.q, self.v = model.layout.places(self.joints)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of coordinates and rates."""
        return len(self.q), len(self.v)

    @cached_property
    def locked(self) -> tuple[int, ...]:
        """Numbers of the rates of joints that are left out."""
        chosen = set(self.v.tolist())
        return tuple(k for k in range(self.nv) if k not in chosen)

    def of(self, name: str) -> Array:
        """Places in the model of a part of the state: q, or v, a, tau."""
        return self.q if name == "q" else self.v

    def whole(self, model: Model, x: Any, name: str, who: str) -> Array:
        """An array or dict of these joints as an array of all, in the order of the model."""
        array = packed(model, x, name, who, self.joints)
        rest = neutral(model) if name == "q" else np.zeros(model.nv)
        everything = np.empty((*array.shape[:-1], len(rest)), dtype=array.dtype)
        everything[...] = rest
        everything[..., self.of(name)] = array
        return everything

    def chosen(self, array: Array, name: str, rate_axes: RateAxes, lead: int = 0) -> Array:
        """An output of the whole model with its rates in this order; it has ``lead`` leading axes."""
        axes = dict(rate_axes).get(name, range(array.ndim - lead))
        for axis in axes:
            array = np.take(array, self.v, axis=axis + lead)
        return array

    def outputs(self, outputs: Mapping[str, Any], rate_axes: RateAxes) -> dict[str, Any]:
        """All outputs of one state in this order."""
        return {name: self.chosen(np.asarray(value), name, rate_axes) for name, value in outputs.items()}


def read_joints(model: Model, joints: Any, who: str) -> tuple[str, ...]:
    """Names of joints with coordinates, each once; or a :class:`StateError` that says what is wrong."""
    names = names_of(joints, who, "joints")
    owners = model.layout.entities
    for name in names:
        if name not in owners:
            raise StateError(f"{who}: '{name}' is no joint with coordinates. Hint: {nearest(str(name), owners)}")
    if owners and not names:
        raise StateError(f"{who}: no joint is named. Hint: name some of {', '.join(owners[:8])}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StateError(f"{who}: '{twice}' is named twice, got {', '.join(names)}. Hint: name every joint once")
    return names
