"""The law of a contact, from what both surfaces and a pair say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum
from gyrostat.graph.lower import Values
from gyrostat.spec.contact import ContactPair
from gyrostat.spec.contact_law import LAW
from gyrostat.spec.contact_surfaces import NamedSurface, pairs
from gyrostat.spec.model import Model

USUAL: Mapping[str, float | None] = {
    "friction": 0.0,
    "restitution": 0.0,
    "torsional": 0.0,
    "rolling": 0.0,
    "stiffness": None,
    "damping": 0.0,
    "exponent": 1.0,
    "slip_speed": 0.01,
}
"""What counts where neither surface nor a pair says anything."""


@dataclass(frozen=True)
class ContactLaw:
    """The law of a contact in SI units; see :class:`~gyrostat.spec.contact_law.ContactEntity`. ``stiffness`` None:
    rigid."""

    mu_static: float = 0.0
    mu_dynamic: float = 0.0
    restitution: float = 0.0
    torsional: float = 0.0
    rolling: float = 0.0
    stiffness: float | None = None
    damping: float = 0.0
    exponent: float = 1.0
    slip_speed: float = 0.01


def contact_law(
    model: Model,
    one: NamedSurface,
    two: NamedSurface,
    pair: ContactPair | None,
    live: Mapping[str, Any] | None = None,
) -> ContactLaw:
    """What the pair says; else the larger of what both surfaces say (friction as MuJoCo takes it), or what one says.
    Of two compliant surfaces, k = k_a k_b / (k_a + k_b), and D as each gives way. ``live``: arrays to use for
    properties by path; laws of these hold them."""
    live = live or {}
    a, b = (_own(model, s, live) for s in (one, two))
    both = {key: _larger(a[key], b[key]) for key in LAW}
    if a["stiffness"] is not None and b["stiffness"] is not None:
        ka, kb = a["stiffness"], b["stiffness"]
        both["stiffness"] = ka * kb / (ka + kb)
        both["damping"] = (kb * _or_zero(a["damping"]) + ka * _or_zero(b["damping"])) / (ka + kb)
    said = _of_pair(model, pair, live)
    values = {key: _first(said[key], both[key], USUAL[key]) for key in LAW}
    static, dynamic = _two(values.pop("friction"))
    return ContactLaw(mu_static=static, mu_dynamic=dynamic, **values)


def _own(model: Model, surface: NamedSurface, live: Mapping[str, Any]) -> dict[str, Any]:
    if surface.shape is not None:
        return {key: getattr(surface.shape.contact, key, None) for key in LAW}
    read = Values(surface.entity, model.wiring.entities[surface.entity], live)
    return {key: read(key) for key in LAW}


def _of_pair(model: Model, pair: ContactPair | None, live: Mapping[str, Any]) -> dict[str, Any]:
    if pair is None:
        return dict.fromkeys(LAW)
    name = next(full for full, entity in pairs(model.wiring).items() if entity is pair)
    return {key: Values(name, pair, live)(key) for key in LAW}


def _two(mu: Any) -> tuple[Any, Any]:
    """(static, dynamic)."""
    static, dynamic = (mu[0], mu[1]) if np.ndim(mu) else (mu, mu)
    return (float(static), float(dynamic)) if isinstance(static, np.floating) else (static, dynamic)


def _larger(one: Any, two: Any) -> Any:
    if one is None or two is None:
        return two if one is None else one
    if np.ndim(one) or np.ndim(two):
        return np.array([maximum(x, y) for x, y in zip(_two(one), _two(two), strict=True)])
    return maximum(one, two)


def _or_zero(x: Any) -> Any:
    return 0.0 if x is None else x


def _first(*values: Any) -> Any:
    return next((x for x in values if x is not None), None)
