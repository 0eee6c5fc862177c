"""``gs.flexible.compare``: small vibrations on the rigid motion against the full motion of the model [AS 2.2]."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.manifold import difference, integrate
from gyrostat.errors import GyrostatError, StateError, clipped
from gyrostat.flexible.rigid_links import rigid as with_rigid_links
from gyrostat.flexible.superposed_figures import comparison_figure
from gyrostat.flexible.superposed_result import Superposed
from gyrostat.flexible.superposed_vibration import superposed
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.simulate import simulate
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.kinematics.frame_motion import FrameMotion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
WHO = "compare"
GOOD, FAIR = 0.01, 0.1
"""Shares of the vibration up to which the two simulations agree, or agree roughly."""
ORDERS = {"simpson": 15.0, "trapezoid": 3.0}
"""2^order - 1 of the steps."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Three runs at the same instants t (T,): ``rigid`` and ``full`` (:class:`Result`), ``superposed``
    (:class:`Superposed`); ``frame`` is the one whose place is compared."""

    rigid: Result
    superposed: Superposed
    full: Result
    frame: str
    step_error: float
    """Estimated error of the steps of ``superposed``, as a share of the frame's largest deviation: from a run with
    steps twice as long."""

    @property
    def t(self) -> Array:
        return self.superposed.t

    @cached_property
    def difference(self) -> Array:
        """Superposed - full (T, nv), of all rates of the flexible model."""
        return difference(self.full.model, self.full.q, self.superposed.q)

    @cached_property
    def vibration(self) -> Array:
        """Full - rigid (T, nv): what both simulations are about."""
        given = self.superposed.nominal
        return difference(given.model, given.q[self.superposed.rows], self.full.q)

    @cached_property
    def deviations(self) -> tuple[Array, Array]:
        """Place of the frame beside that of the rigid motion (T, 3) [m]: superposed, full."""
        small, full, rigid = (places.p for places in self._places)
        return small - rigid, full - rigid

    @cached_property
    def _places(self) -> list[FrameMotion]:
        """Of the frame: superposed, full and rigid."""
        solver = cached_solver(self.full.model, ForwardKinematics, frames=(self.frame,))
        rigid = self.superposed.nominal.q[self.superposed.rows]
        t = {} if isinstance(self.full.model.context.base, str) else {"t": self.t}
        return [solver(q, **t)[self.frame] for q in (self.superposed.q, self.full.q, rigid)]

    @cached_property
    def share(self) -> float:
        """Largest difference of the frame's place over its largest deviation."""
        small, full = self.deviations
        return float(_largest(small - full) / max(_largest(full), np.finfo(float).tiny))

    @cached_property
    def shares(self) -> dict[str, float]:
        """The same by rates of the flexible model."""
        sizes = np.maximum(np.abs(self.vibration).max(axis=0), np.finfo(float).tiny)
        return dict(zip(self.full.model.dofs, np.abs(self.difference).max(axis=0) / sizes, strict=True))

    @cached_property
    def turn(self) -> float:
        """Largest angle [rad] between the frame and the rigid one, by the full motion."""
        R, R0 = (places.R for places in self._places[1:])
        cosines = 0.5 * (np.einsum("tij,tij->t", R, R0) - 1.0)
        sines = 0.5 * np.linalg.norm(R - np.einsum("tij,tkj,tkl->til", R0, R, R0), axis=(1, 2)) / np.sqrt(2.0)
        return float(np.arctan2(sines, cosines).max())

    def first_apart(self, share: float = GOOD) -> float | None:
        """The instant [s] from which on the places are farther apart than this share of the largest deviation; None if
        they never are."""
        small, full = self.deviations
        apart = np.linalg.norm(small - full, axis=1) > share * _largest(full)
        return float(self.t[int(np.argmax(apart))]) if apart.any() else None

    def __str__(self) -> str:
        small, full = self.deviations
        name, worst = max(self.shares.items(), key=lambda item: item[1])
        verdict = "agree" if self.share <= GOOD else "agree roughly" if self.share <= FAIR else "do not agree"
        apart = self.first_apart()
        lines = [
            f"'{self.full.model.name}', {self.t[-1] - self.t[0]:g} s: superposed and full motion {verdict}",
            f"  '{self.frame}' beside the rigid motion: up to {_largest(full):.4g} m (full), {_largest(small):.4g} m",
            f"  difference: up to {_largest(small - full):.3g} m, {100 * self.share:.3g} % of it"
            + ("" if apart is None else f"; above {100 * GOOD:g} % from t = {apart:.4g} s on"),
            f"  largest share of a rate: '{name}', {100 * worst:.3g} %",
            f"  the frame turns by up to {self.turn:.3g} rad beside the rigid one: its square is left out",
            f"  steps of the superposed motion: error {100 * self.step_error:.2g} %"
            + (", which is most of the difference: take a smaller dt" if self.step_error > 0.5 * self.share else ""),
        ]
        return "\n".join(lines)

    def plot(self) -> Figure:
        """Deviation of the frame by both simulations, and their difference."""
        return comparison_figure(self.t, *self.deviations, self.frame, f"{self.full.model.name}: two simulations")


def _largest(x: Array) -> float:
    return float(np.linalg.norm(x, axis=-1).max(initial=0.0))


def compare(
    model: Model,
    rigid: Model | None,
    torque: Any = None,
    q0: Any = None,
    v0: Any = None,
    t_end: float | None = None,
    *,
    dt: float = 5e-3,
    frame: str,
    start: Any = None,
    full: Mapping[str, Any] | None = None,
    **options: Any,
) -> Comparison:
    """Simulate the rigid model, small vibrations on its motion, and the flexible model itself, with the same drives.

    ``rigid``: None is :func:`rigid` of the model.
    ``torque``, ``q0``, ``v0``: of the rigid model, as ``gs.simulate(rigid, ...)`` takes them; a function f(t, q, v) or
    efforts. ``dt`` [s] between samples; ``frame``: port whose place is compared. ``start``: deflections at the first
    instant, as :func:`superposed` takes them, ``options`` likewise. ``full``: options of the simulation of the flexible
    model, by default ``{"method": "radau", "rtol": 1e-8, "atol": 1e-10}``."""
    expect_model(model, WHO)
    rigid = with_rigid_links(model) if rigid is None else rigid
    expect_model(rigid, WHO)
    if not isinstance(t_end, float | int) or not 0.0 < 2.0 * dt <= t_end:
        raise StateError(
            f"{WHO}: t_end must be a time [s] of two steps at least, got {clipped(t_end)}. Hint: t_end=5.0"
        )
    t = np.linspace(0.0, t_end, 4 * max(1, round(t_end / dt / 4.0)) + 1)
    recorded = simulate(rigid, torque, q0, v0, t_eval=t, method="dopri5", rtol=1e-10, atol=1e-12, progress=False)
    small = superposed(model, recorded, torque, start=start, **options)
    if small.U.ndim != 2 or len(small.t) != len(t):
        raise StateError(f"{WHO}: one case with all its samples is compared. Hint: superposed(...) for many cases")
    coarse = superposed(model, _every_other(recorded), torque, start=start, **options)
    law = on_joints(model, small.nominal.places, rigid, torque)
    begin = integrate(model, small.nominal.q[0], small.U[0]), small.v[0]
    chosen = {"method": "radau", "rtol": 1e-8, "atol": 1e-10} | dict(full or {})
    whole = simulate(model, law, *begin, t_eval=t, progress=False, **chosen)
    error = _largest(coarse.deviation(frame) - small.deviation(frame)[::2]) / ORDERS[options.get("method", "simpson")]
    size = max(_largest(small.deviation(frame)), np.finfo(float).tiny)
    return Comparison(recorded, small, whole, frame, float(error / size))


def _every_other(run: Result) -> Result:
    rows = slice(None, None, 2)
    return replace(run, **{name: getattr(run, name)[rows] for name in ("t", "q", "v", "a", "tau", "p", "work", "wall")})


def on_joints(model: Model, places: Array, rigid: Model, torque: Any) -> Any:
    """The law of the rigid model's joints as one of the flexible model: deflections have no drives."""
    if torque is None:
        return None
    if callable(getattr(torque, "output", None)):
        raise GyrostatError(f"{WHO}: {type(torque).__name__} is a block. Hint: give a function f(t, q, v)")
    names = rigid.dofs
    if isinstance(torque, Mapping):
        return dict(torque)
    if not callable(torque):
        return dict(zip(names, np.asarray(torque, dtype=float), strict=True))
    at_q, _ = model.layout.places(rigid.layout.entities)
    function: Callable[..., Any] = torque

    def law(t: Any, q: Array, v: Array) -> Any:
        efforts = function(t, q[at_q], v[places])
        return efforts if isinstance(efforts, Mapping) else {name: efforts[k] for k, name in enumerate(names)}

    return law
