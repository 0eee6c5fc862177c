"""Fields of gravity that are functions of users: what is not given is derived, what is given twice must agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.engine.tracing.dual import OUTER, Dual, rates_of
from gyrostat.errors import GyrostatError, SpecError, StateError
from gyrostat.spatial.algebra import Array, returned
from gyrostat.spec.context import GravityField

Scalar = Callable[[Array], Any]
Vector = Callable[[Array], Array]
POINTS = ((0.31, -0.72, 0.53), (-1.13, 0.44, 0.95), (7.2e6, 3.1e6, -2.6e6))
"""Where functions that are given twice are compared, if they are defined there [m]."""
AGREE = 1e-5


def derived(given: GravityField) -> tuple[Vector, Scalar | None, Vector | None, Callable[[Array, Array], Array] | None]:
    """g(p), phi(p), dg/dp and 1/2 d tr(G K)/dp of a field; None for what it does not have."""
    potential = _told(given.potential, (), "potential")
    field, gradient = _told(given.field, (3,), "field"), _told(given.gradient, (3, 3), "gradient")
    extended = given.extended if given.extended is not None else potential is not None or gradient is not None
    _compare(given, extended)
    if field is None:
        field = _downhill(potential)
    if not extended:
        return field, potential, None, None
    gradient = gradient or _slopes(field, OUTER + 1, "field")
    return field, potential, gradient, _stretch(gradient)


def _told(function: Any, shape: tuple[int, ...], name: str) -> Any:
    """The user's function, what it returns examined."""
    if function is None:
        return None

    def call(p: Array) -> Any:
        value = returned(function(p), shape, f"gravity field: {name}(p)")
        return value if shape else value[()]

    return call


def _slopes(function: Callable[[Array], Any], level: int, name: str) -> Vector:
    """d function / dp, by numbers with a rate; the last axis is that of p."""

    def slopes(p: Array) -> Array:
        try:
            columns = [rates_of(function(_along(p, i, level)), level) for i in range(3)]
        except GyrostatError:
            raise
        except Exception as error:  # a function of the user may fail in any way on numbers with a rate
            raise StateError(
                f"gravity field: {name}(p) cannot be differentiated, {type(error).__name__}: {error}. "
                "Hint: write it in plain NumPy, such as np.exp(p[2]); or give its derivative, field= or gradient=; "
                "or extended=False: bodies count as points"
            ) from error
        return np.stack(columns, axis=-1)

    return slopes


def _downhill(potential: Any) -> Vector:
    slopes = _slopes(potential, OUTER + 2, "potential")
    return lambda p: -slopes(p)


def _along(p: Array, i: int, level: int) -> Array:
    """p, moving along axis i."""
    moved = np.empty(3, dtype=object)
    for k in range(3):
        moved[k] = Dual(p[k], 1.0 if k == i else 0.0, level)
    return moved


def _stretch(gradient: Vector) -> Callable[[Array, Array], Array]:
    """1/2 d tr(G K)/dp: the force on a body with the second moment K that belongs to the torque of the gradient."""

    def stretch(p: Array, K: Array) -> Array:
        return _slopes(lambda x: 0.5 * np.sum(gradient(x) * K), OUTER, "gradient")(p)

    return stretch


# ------------------------------------------------------------------------------------------------ agreement
_agreed: dict[int, Any] = {}
"""Fields that were compared, by identity; a few are kept."""


def _compare(given: GravityField, extended: bool) -> None:
    """Refuse functions that contradict each other, or a gradient that belongs to no potential."""
    if _agreed.get(id(given)) is given:
        return
    for point in POINTS:
        p = np.array(point)
        pairs = (("field", given.field, "potential", given.potential, -1.0),
                 ("gradient", given.gradient, "field", given.field, 1.0))  # fmt: skip
        for name, function, other, source, sign in pairs:
            if function is not None and source is not None:
                _expect(name, f"{'minus ' if sign < 0.0 else ''}the derivative of {other}(p)", p,
                        _value(function, p), _difference(source, p, sign))  # fmt: skip
        if extended and (given.gradient is not None or given.potential is None):
            G = _value(given.gradient, p) if given.gradient is not None else _difference(given.field, p, 1.0)
            if G is not None:
                _expect("gradient", "its transpose: a field that turns has no potential", p, G, G.T)
    while len(_agreed) >= 64:
        _agreed.pop(next(iter(_agreed)))
    _agreed[id(given)] = given


def _value(function: Any, p: Array) -> Array | None:
    """A function of the user at a point where it may not be defined."""
    try:
        with np.errstate(all="ignore"):
            x = np.asarray(function(p), dtype=float)
    except Exception:
        return None
    return x if np.all(np.isfinite(x)) else None


def _difference(function: Any, p: Array, sign: float) -> Array | None:
    """Its derivative by differences, to about 1e-9."""
    h = 1e-3 * max(1.0, float(np.abs(p).max()))
    columns = []
    for e in np.eye(3) * h:
        values = [_value(function, p + k * e) for k in (-2, -1, 1, 2)]
        if any(x is None for x in values):
            return None
        a, b, c, d = values
        columns.append(sign * (a - 8.0 * b + 8.0 * c - d) / (12.0 * h))  # type: ignore[operator]
    return np.stack(columns, axis=-1)


def _expect(name: str, what: str, p: Array, got: Array | None, expected: Array | None) -> None:
    if got is None or expected is None or got.shape != expected.shape:
        return  # not defined there; shapes are examined where it is used
    if np.abs(got - expected).max() > AGREE * max(np.abs(expected).max(), np.abs(got).max()):
        raise SpecError.one(
            "context",
            "gravity-field",
            f"'gravity.{name}' differs from {what} at p = {tuple(p.tolist())}: {got.tolist()} and {expected.tolist()}",
            "give the potential alone: the rest is derived from it",
            name,
        )
