"""The state in portions that belong together: one for each angle or shift, one for each rotation in space.

Figures have a row for each, the viewer a slider (three for a rotation)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gyrostat.errors import StateError, nearest
from gyrostat.spec.model import Model

Sort = Literal["angle", "shift", "turn", "place", "number"]
Quantity = Literal["q", "v", "a", "tau"]

_ANGLE = {"q": "rad", "v": "rad/s", "a": "rad/s^2", "tau": "N m"}
_SHIFT = {"q": "m", "v": "m/s", "a": "m/s^2", "tau": "N"}
UNITS: dict[Sort, dict[str, str]] = {
    "angle": _ANGLE,
    "shift": _SHIFT,
    "turn": _ANGLE | {"q": "quaternion"},
    "place": _SHIFT,
    "number": dict.fromkeys(_ANGLE, ""),
}
"""Units of q, v, a and tau for each sort of channel."""

_SORTS: dict[str, tuple[Sort, ...]] = {
    "revolute": ("angle",),
    "continuous": ("angle",),
    "helical": ("angle",),
    "prismatic": ("shift",),
    "cylindrical": ("angle", "shift"),
    "universal": ("angle", "angle"),
    "planar": ("shift", "shift", "angle"),
}


@dataclass(frozen=True)
class Channel:
    """``q_at``, ``v_at``: places in q and in v; ``limits``: quantity -> (lower, upper), None where there is none."""

    name: str
    joint: str
    sort: Sort
    q_at: tuple[int, ...]
    v_at: tuple[int, ...]
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    limits: dict[str, tuple[float | None, float | None]]

    def unit(self, quantity: str) -> str:
        """The unit of q, v, a or tau."""
        return UNITS[self.sort][quantity]

    def at(self, quantity: str) -> tuple[int, ...]:
        """Places in the array of a quantity."""
        return self.q_at if quantity == "q" else self.v_at

    def names(self, quantity: str) -> tuple[str, ...]:
        """Names of the numbers of a quantity."""
        return self.q_names if quantity == "q" else self.v_names


KINDS = {"numbers": "", "rotation": "spherical", "placement": "free"}
"""Joints of the same kind of state."""


def channels(model: Model) -> tuple[Channel, ...]:
    """All channels in order of the state."""
    portions: list[Channel] = []
    for block in model.layout:
        entity = model.wiring.entities[block.entity]
        kind = getattr(entity, "kind", KINDS[block.kind])
        portions += _of_joint(
            block.entity, str(kind), entity, block.coordinates, block.rates, block.q.start, block.v.start
        )
    return tuple(portions)


def _of_joint(
    name: str, kind: str, entity: Any, q: Sequence[str], v: Sequence[str], nq: int, nv: int
) -> Iterable[Channel]:
    def channel(label: str, sort: Sort, q_in: range, v_in: range) -> Channel:
        limits = _limits(entity) if len(q) == len(v) == 1 else {}
        return Channel(
            label,
            name,
            sort,
            tuple(nq + k for k in q_in),
            tuple(nv + k for k in v_in),
            tuple(q[k] for k in q_in),
            tuple(v[k] for k in v_in),
            limits,
        )

    if kind == "free":
        return (
            channel(f"{name}.place", "place", range(3), range(3, 6)),
            channel(f"{name}.turn", "turn", range(3, 7), range(3)),
        )
    if kind == "spherical":
        return (channel(name, "turn", range(4), range(3)),)
    sorts: tuple[Sort, ...] = _SORTS.get(kind, ())
    if len(sorts) != len(v):
        whole = entity.coordinates  # some of the joint's rates may be tied to others and left out
        by_name: dict[str, Sort] = dict(zip(whole, sorts, strict=True)) if len(sorts) == len(whole) else {}
        shaft: Sort = "angle" if len(v) == 1 and not kind else "number"  # a rotor
        sorts = tuple(by_name.get(n, shaft) for n in q)
    names = [name] if len(v) == 1 else [f"{name}.{n}" for n in v]
    return [channel(names[k], sorts[k], range(k, k + 1), range(k, k + 1)) for k in range(len(v))]


def _limits(entity: Any) -> dict[str, tuple[float | None, float | None]]:
    limits: dict[str, tuple[float | None, float | None]] = {}
    lower, upper = getattr(entity, "lower", None), getattr(entity, "upper", None)
    if lower is not None or upper is not None:
        limits["q"] = lower, upper
    for quantity, key in (("v", "velocity_limit"), ("tau", "effort_limit")):
        bound = getattr(entity, key, None)
        if bound is not None:
            limits[quantity] = -bound, bound
    return limits


def chosen(model: Model, joints: Iterable[str] | str | None, who: str) -> tuple[Channel, ...]:
    """The channels of some joints, all by default; names of joints or of channels."""
    every = channels(model)
    if joints is None:
        return every
    names = [joints] if isinstance(joints, str) else list(joints)
    known = {c.name for c in every} | {c.joint for c in every}
    for name in names:
        if name not in known:
            hint = nearest(str(name), sorted(known))
            raise StateError(f"{who}: there is no joint '{name}' with coordinates in '{model.name}'. Hint: {hint}")
    return tuple(c for name in dict.fromkeys(names) for c in every if name in (c.name, c.joint))
