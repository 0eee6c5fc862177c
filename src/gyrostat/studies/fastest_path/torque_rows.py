"""Torques along a path, of joints and of motors, and what limits them.

With v = q' s', a = q' u + q'' x the torques of a rigid robot are tau = A(s) u + B(s) x + C(s): three inverse dynamics
for each point [H04 (5.2)]. Friction, and limits that change with the speed, are curved in x; they are taken as tangents
at the motion of the last pass, with the torques of the whole model there, so that whatever the model knows is in them
once the passes have settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts.actuators import UNLIMITED, Actuator, actuators, motor_map
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import real_array
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import ShapeError, SpecError, StateError, clipped, nearest
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "time_optimal"
STILL = 1e-9
"""Least speed along the path, in parts of the fastest one: friction has the sign of the motion that begins."""
ASIDE = 1.02
"""Where the slope of what is curved is looked at."""
Limit = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class TorqueRow:
    """``along`` (nv,): torque = along . tau; ``speed`` (nv,): its shaft turns with speed . v; ``limit(w)`` gives the
    least and the greatest torque at the speeds w (P,); ``varies`` with the speed or not; ``power`` [W] or infinite."""

    name: str
    along: Array
    speed: Array
    limit: Limit
    varies: bool
    power: float = np.inf

    def at(self, w: Array) -> tuple[Array, Array]:
        low, high = self.limit(w)
        if np.isfinite(self.power):
            most = self.power / np.maximum(np.abs(w), 1e-300)
            low, high = np.maximum(low, -most), np.minimum(high, most)
        return low, high


class TorqueRows:
    """All torques with limits, as columns; those whose limits vary have one column for each side."""

    def __init__(self, model: Model, rows: Sequence[TorqueRow]):
        self.model, self.rows = model, rows
        self.solver = cached_solver(model, InverseDynamics)
        n = model.nv
        self.S = np.array([r.along for r in rows]).reshape(len(rows), n)
        self.W = np.array([r.speed for r in rows]).reshape(len(rows), n)
        self.plain = bool(len(rows) == n and np.array_equal(self.S, np.eye(n)))
        self.varying = [k for k, r in enumerate(rows) if r.varies or np.isfinite(r.power)]
        still = [r.at(np.zeros(1)) for r in rows]
        self.low = np.array([-np.inf if k in self.varying else x[0][0] for k, x in enumerate(still)])
        self.high = np.array([np.inf if k in self.varying else x[1][0] for k, x in enumerate(still)])
        self.at_rest = np.array([[float(x[0][0]), float(x[1][0])] for x in still]).reshape(len(rows), 2)
        self.names = [f"torque of {r.name}" for r in rows]
        self.names += [f"torque of {rows[k].name} (at speed)" for k in self.varying] * 2
        rubs = self._rubs()
        self.curved = bool(self.varying) or rubs

    @property
    def drive_names(self) -> tuple[str, ...]:
        """Of the joints or actuators, by which power_limits are given."""
        return tuple(row.name for row in self.rows)

    @property
    def count(self) -> int:
        return len(self.rows) + 2 * len(self.varying)

    def _rubs(self) -> bool:
        """Whether something in the model takes torques that are not even in v; ``steep`` if they are not in proportion
        to it, either, ``dry`` if they jump at rest."""
        rng = np.random.default_rng(0)
        v = rng.normal(size=(4, self.model.nv))
        q, zero = np.tile(neutral(self.model), (4, 1)), np.zeros_like(v)
        odd = self.solver(q, v, zero) - self.solver(q, -v, zero)
        small = self.solver(q, 1e-6 * v, zero) - self.solver(q, zero, zero)
        creeping = self.solver(q, 1e-10 * v, zero) - self.solver(q, zero, zero)
        self.dry = bool(np.abs(creeping).max(initial=0.0) > 1e-6)
        slow = self.solver(q, 1e-2 * v, zero) - self.solver(q, -1e-2 * v, zero)
        bent = np.abs(odd - 1e2 * slow).max(initial=0.0)
        self.steep = bool(self.dry or bent > 1e-6 * np.abs(odd).max(initial=0.0) + 1e-9)
        return bool(max(np.abs(odd).max(initial=0.0), np.abs(small).max(initial=0.0)) > 1e-9)

    def tau(self, q: Array, v: Array, a: Array) -> Array:
        """Of the rows (P, rows)."""
        found = self.solver(q, v, a)
        return found if self.plain else found @ self.S.T

    # ------------------------------------------------------------------ as rows of a stage
    def affine(self, q: Array, q1: Array, q2: Array) -> tuple[Array, Array, Array]:
        """A, B, C (P, rows) without friction."""
        zero = np.zeros_like(q1)
        C = self.tau(q, zero, zero)
        A = self.tau(q, zero, q1) - C
        B = self.tau(q, q1, q2) - C
        if self.curved:
            B = 0.5 * (B + self.tau(q, -q1, q2) - C)
        return A, B, C

    def tangents(self, q: Array, q1: Array, q2: Array, A: Array, x: Array, u: Array, least: float) -> tuple[Array, ...]:
        """A, B, low, high (P, count) at x, u (P,): low <= A u + B x <= high."""
        y0, low0, high0, x0 = self.exact(q, q1, q2, x, u, least)
        y1, low1, high1, x1 = self.exact(q, q1, q2, x0 * ASIDE, u, least)
        run = (x1 - x0)[:, None]
        slope = (y1 - y0) / run
        C = y0 - A * u[:, None] - slope * x0[:, None]
        low, high = self.low - C, self.high - C
        if not self.varying:
            return A, slope, low, high
        at = self.varying
        up, down = (high1 - high0)[:, at] / run, (low1 - low0)[:, at] / run
        top, bottom = high0[:, at] - up * x0[:, None] - C[:, at], low0[:, at] - down * x0[:, None] - C[:, at]
        none = np.full_like(top, np.inf)
        parts = (
            (A, A[:, at], A[:, at]), (slope, slope[:, at] - up, slope[:, at] - down),
            (low, -none, bottom), (high, top, none),
        )  # fmt: skip
        return tuple(np.concatenate(part, axis=1) for part in parts)

    def exact(
        self, q: Array, q1: Array, q2: Array, x: Array, u: Array, least: float
    ) -> tuple[Array, Array, Array, Array]:
        """Torques and their limits (P, rows) of the whole model at x, u (P,), and the x (P,) that were taken."""
        x = np.maximum(x, least) if self.curved else x
        r = np.sqrt(x)[:, None]
        y = self.tau(q, q1 * r, q1 * u[:, None] + q2 * x[:, None])
        low, high = np.broadcast_to(self.low, y.shape), np.broadcast_to(self.high, y.shape)
        if self.varying:
            low, high = low.copy(), high.copy()
            for k in self.varying:
                low[:, k], high[:, k] = self.rows[k].at((q1 @ self.W[k]) * r[:, 0])
        return y, low, high, x


def torque_rows(model: Model, torque: Any, power: Any, passive: Sequence[str]) -> TorqueRows:
    """The rows of ``torque_limits`` and ``power_limits``: see :func:`time_optimal`."""
    by_model = torque is None or torque == "model" if isinstance(torque, str | None) else isinstance(torque, Mapping)
    if isinstance(torque, str) and torque != "model":
        raise SpecError.one(
            WHO, "torque_limits", f"torque_limits is {clipped(torque)}", "'model', numbers, or a dict", torque
        )
    given = _by_name(model, torque) if isinstance(torque, Mapping) else {}
    rows: list[TorqueRow] = []
    powers = {
        name: _watts(name, most) for name, most in expect_mapping(power, "power_limits", "{'elbow': 300.0}").items()
    }
    for name in passive:
        if name not in model.dofs:
            raise StateError(f"{WHO}: passive: no rate '{clipped(name)}'. Hint: {nearest(str(name), model.dofs)}")
    if by_model:
        net = kept_network(model)
        net.refuse_loops(WHO)
        driving = actuators(net, WHO, tuple(passive))
        T = motor_map(driving, model.nv)
        back = np.linalg.inv(T).T
        for k, actuator in enumerate(driving):
            replaced = _effort_of(model, actuator, given)
            if not replaced:
                most = float(powers.pop(actuator.name, np.inf))
                rows.append(_of_actuator(actuator, back[k], T[k], most))
    if not isinstance(torque, Mapping | str | None):
        array = limits_array(torque, "torque_limits")
        low, high = sides(array, model.nv, "torque_limits")
        none = [name in passive and array.ndim == 0 for name in model.dofs]
        given = {name: (0.0, 0.0) if none[k] else (low[k], high[k]) for k, name in enumerate(model.dofs)}
    for name, limit in given.items():
        if name in passive and (callable(limit) or np.any(np.asarray(limit) != 0.0)):
            message = f"'{name}' is passive and has the limit {clipped(limit)}"
            raise SpecError.one(WHO, "torque_limits", message, "0 there, or take it out of passive", None)
        k = model.dofs.index(name)
        e = np.eye(model.nv)[k]
        most = float(powers.pop(name, np.inf))
        rows.append(_of_joint(name, e, limit, most))
    if powers:
        known = [r.name for r in rows]
        name = next(iter(powers))
        raise StateError(f"{WHO}: power_limits: no actuator '{clipped(name)}'. Hint: {nearest(str(name), known)}")
    if by_model:
        rows = [r for r in rows if r.varies or np.isfinite(r.power) or _bounded(r)]
    return TorqueRows(model, rows)


def _bounded(row: TorqueRow) -> bool:
    low, high = row.limit(np.zeros(1))
    return bool(low[0] > -UNLIMITED or high[0] < UNLIMITED)


def _effort_of(model: Model, actuator: Actuator, given: Mapping[str, Any]) -> bool:
    """Whether the limits of an actuator are replaced by given ones of its joints: of all, if it drives several."""
    return all(model.dofs[k] in given for k, _ in actuator.ties)


def expect_mapping(given: Any, what: str, example: str) -> dict[str, Any]:
    """Name -> value; empty for None."""
    if given is not None and not isinstance(given, Mapping):
        raise SpecError.one(WHO, what, f"{what} is {clipped(given)}", f"a dict by name: {example}", given)
    return dict(given or {})


def one_number(value: Any, what: str) -> float:
    """A limit that is one number."""
    array = limits_array(value, what)
    if array.ndim:
        raise SpecError.one(WHO, what, f"{what} is {clipped(value)}", "one number", value)
    return float(array)


def _watts(name: str, given: Any) -> float:
    most = one_number(given, f"power_limits of '{name}'")
    if not most > 0.0:
        raise SpecError.one(
            WHO, "power_limits", f"power_limits: that of '{name}' is {most:g} W", "a power above 0", given
        )
    return most


def _of_actuator(actuator: Actuator, along: Array, speed: Array, power: float) -> TorqueRow:
    c = actuator.motor
    varies = c is not None and (len(c["torque_speed"]) > 0 or c["voltage_limit"] is not None)
    if not varies:
        low, high = (float(x) for x in actuator.torques(0.0))

        def constant(w: Array) -> tuple[Array, Array]:
            return np.full(w.shape, low), np.full(w.shape, high)

        return TorqueRow(actuator.name, along, speed, constant, False, power)
    recorded = record(lambda w: dict(zip(("low", "high"), actuator.torques(w[()]), strict=True)), {"w": ()}, "limits")
    kernel = Kernel(recorded, "limits")

    def limit(w: Array) -> tuple[Array, Array]:
        found = kernel.call(np.ascontiguousarray(w))
        return found["low"], found["high"]

    return TorqueRow(actuator.name, along, speed, limit, True, power)


def _of_joint(name: str, e: Array, given: Any, power: float) -> TorqueRow:
    if callable(given):

        def curve(w: Array) -> tuple[Array, Array]:
            return _pair_at(w, given(w), name)

        return TorqueRow(name, e, e, curve, True, power)
    low, high = sides(limits_array(given, f"torque_limits of '{name}'").reshape(1, -1), 1, "torque_limits")

    def constant(w: Array) -> tuple[Array, Array]:
        return np.full(w.shape, low[0]), np.full(w.shape, high[0])

    return TorqueRow(name, e, e, constant, False, power)


def _pair_at(w: Array, found: Any, name: str) -> tuple[Array, Array]:
    """What a function of the speed gave at w (P,): low, high (P,)."""
    what = f"torque_limits of '{name}', a function of the speed,"
    hint = "lambda w: (-100 + 0 * w, 100 - 5 * abs(w)): low and high"
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise SpecError.one(WHO, "torque_limits", f"{what} gives {clipped(found)}", hint)
    try:
        low, high = (np.broadcast_to(limits_array(side, f"{what} side"), w.shape) for side in found)
    except ValueError as error:
        raise SpecError.one(WHO, "torque_limits", f"{what} gives other shapes than {w.shape}", hint) from error
    if np.any(low > high):
        k = int(np.argmax(low > high))
        message = f"{what} gives the lower limit {low[k]:g} above the upper one {high[k]:g} at the speed {w[k]:g}"
        raise SpecError.one(WHO, "torque_limits", message, hint)
    return low, high


def _by_name(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in model.dofs:
            raise StateError(f"{WHO}: torque_limits: no rate '{clipped(name)}'. Hint: {nearest(str(name), model.dofs)}")
    return dict(given)


def limits_array(value: Any, what: str) -> Array:
    """Numbers; infinite ones are no limits."""
    array = np.array(real_array(value, WHO, what), dtype=float)
    if np.isnan(array).any():
        raise SpecError.one(WHO, what, f"{what}: a limit is NaN", "write inf where there is no limit", value)
    return array


def sides(array: Array, n: int, what: str) -> tuple[Array, Array]:
    """Lower and upper limits (n,) from one number, (n,), or (n, 2)."""
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape == (1, 1) and n == 1:
        array = array[0]
    if array.shape == (n,):
        low, high = -array, array
    elif array.shape == (n, 2):
        low, high = array[:, 0], array[:, 1]
    else:
        raise ShapeError(f"{WHO}: {what} has shape {array.shape}, expected one number, ({n},) or ({n}, 2): low, high")
    if np.any(low > high):
        k = int(np.argmax(low > high))
        raise SpecError.one(
            WHO, what, f"the lower limit {low[k]:g} of number {k} is above the upper one {high[k]:g}",
            "give magnitudes, or (low, high)", array,
        )  # fmt: skip
    return low.astype(float), high.astype(float)
