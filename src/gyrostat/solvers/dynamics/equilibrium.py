"""Static rest: configurations in which nothing accelerates, with loops closed and springs loaded.

At rest, forward dynamics gives the acceleration a(q) with which the robot begins to move, and its derivative da/dq
along displacements. In the motions Z y that loops allow, the forces and the stiffness are

    F = Z^T M a,    K = -Z^T M (da/dq) Z.

Newton's step K y = F leads to any equilibrium, stable or not. Where K is not positive definite it is shifted until it
is: the robot then goes where its forces push it, and ends where they would hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import loop_numbers
from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.manifold import integrate
from gyrostat.configuration.packing import coordinates, rates
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.actuator_efforts import null_space
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.solvers.dynamics.derivatives import ForwardDynamicsDerivatives
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.kinematics.closed_configuration import Closing, close
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "equilibrium"
LONGEST = 0.3
"""Greatest step of one iteration [rad, m]."""
FLAT = 1e-9
"""Part of the largest stiffness below which one counts as zero."""


class Equilibrium(NamedTuple):
    """``q`` (nq,) at rest; ``stable``: whether small displacements are pushed back (True), pushed away (False), or
    neither in some direction (None); ``stiffness`` (d,): eigenvalues of K against M [1/s^2], least first: the squares
    of the frequencies of small vibrations; ``acceleration``: the greatest that is left [rad/s^2, m/s^2]."""

    q: Array
    stable: bool | None
    stiffness: Array
    acceleration: float


def equilibrium(
    model: Model,
    q0: Any,
    tau: Any = None,
    *,
    stable: bool = True,
    tolerance: float = 1e-10,
    iterations: int = 200,
) -> Equilibrium:
    """Where the robot rests, near q0 (nq,): under gravity, springs, and constant generalised forces tau (nv,), zero by
    default. Loops that stay constraints are closed first. Compliant contacts carry; a rest in which a rigid one is
    closed is refused.

    ``stable=True`` goes where the forces push, and refuses a rest from which they push away; ``stable=False`` takes the
    nearest one of any kind. ``tolerance``: accelerations that may be left [rad/s^2, m/s^2], relative to the largest met
    on the way, at least to 1."""
    expect_model(model, WHO)
    if not isinstance(model.context.base, str):
        raise StateError(f"{WHO}: the base of '{model.name}' moves by itself: there is no rest. Hint: fix it")
    start = coordinates(model, q0, WHO)
    efforts = np.zeros(model.nv) if tau is None else rates(model, tau, WHO, "tau")
    if start.ndim != 1 or efforts.ndim != 1:
        raise StateError(f"{WHO}: one state at a time, got q0 {start.shape}, tau {efforts.shape}. Hint: loop over them")
    search = _Search(model, efforts, stable)
    rest = search.found(close(model, start), tolerance, int(iterations))
    refuse_closed(model, rest.q, WHO)
    return rest


@dataclass
class _Local:
    """At one configuration: a (nv,), forces F (d,) and stiffness K (d, d) of motions Z, and their mass M (d, d)."""

    q: Array
    a: Array
    Z: Array
    F: Array
    K: Array
    M: Array


class _Search:
    def __init__(self, model: Model, tau: Array, stable: bool):
        self.model, self.tau, self.stable = model, tau, stable
        self.net = kept_network(model)
        self.forward = cached_solver(model, ForwardDynamics, algorithm="aba", representation="body")
        self.slopes = cached_solver(model, ForwardDynamicsDerivatives, method="auto")
        self.mass = cached_solver(model, MassMatrix, algorithm="crba", representation="body")
        self.rest = np.zeros(model.nv)
        low, high = limits_of(model, None, WHO)
        none = np.zeros(model.nv, dtype=bool)
        self.closing = Closing(self.net, loop_numbers(model), none, low, high) if self.net.closures else None

    def found(self, q: Array, tolerance: float, iterations: int) -> Equilibrium:
        here = self.at(q)
        largest = max(1.0, float(np.abs(here.a).max(initial=0.0)))
        for _ in range(iterations):
            left = float(np.abs(here.a).max(initial=0.0))
            largest = max(largest, left)
            if left <= tolerance * largest and not self._pushed_away(here):
                return self._result(here)
            here = self._next(here)
        worst = int(np.argmax(np.abs(here.a)))
        raise StateError(
            f"{WHO}: '{self.model.name}' did not come to rest in {iterations} steps: '{self.model.dofs[worst]}' still "
            f"accelerates with {here.a[worst]:.3g}. Hint: something must hold it: springs, a fixed base, or tau"
        )

    def at(self, q: Array) -> _Local:
        J = loop_numbers(self.model)(q).J if self.net.closures else np.zeros((0, self.model.nv))
        Z = null_space(J, self.model.nv)
        M, slopes = self.mass(q), self.slopes(q, self.rest, self.tau)
        a = self.forward(q, self.rest, self.tau)
        K = -Z.T @ M @ slopes.da_dq @ Z
        return _Local(q, a, Z, Z.T @ M @ a, K, Z.T @ M @ Z)

    def _next(self, here: _Local) -> _Local:
        """One step, as long as the forces do not turn against it."""
        step = here.Z @ self._direction(here)
        longest = float(np.abs(step).max(initial=0.0))
        if longest == 0.0:
            raise StateError(f"{WHO}: '{self.model.name}' is pushed in a direction without stiffness. Hint: another q0")
        step = step * min(1.0, LONGEST / longest)
        work = float(step @ self.mass(here.q) @ here.a)
        for _ in range(12):
            try:
                there = self.at(self._moved(here.q, step))
            except GyrostatError:
                step = 0.5 * step  # a singular position, or one that cannot be closed
                continue
            along = float(step @ self.mass(there.q) @ there.a)
            if not self.stable or along >= -0.9 * abs(work) or work <= 0.0:
                return there
            step = 0.5 * step
        return self.at(self._moved(here.q, step))

    def _moved(self, q: Array, step: Array) -> Array:
        q = integrate(self.model, q, step)
        return q if self.closing is None else self.closing.closed(q)

    def _direction(self, here: _Local) -> Array:
        """y (d,): Newton's step, with a stiffness that is positive if a stable rest is asked for."""
        if not len(here.F):
            return np.zeros(0)
        if not self.stable:
            return np.linalg.lstsq(here.K, here.F, rcond=1e-12)[0]
        L = np.linalg.cholesky(here.M)
        back = np.linalg.inv(L)
        K = back @ here.K @ back.T
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        top = max(float(np.abs(values).max(initial=0.0)), 1e-300)
        forces = vectors.T @ (back @ here.F)
        if np.abs(forces).max(initial=0.0) <= 1e-9 * top:  # at rest, where it is not stable: leave it
            forces = forces + 1e-2 * top * (values < -FLAT * top)
        return back.T @ (vectors @ (forces / np.maximum(np.abs(values), 1e-3 * top)))

    def _stiffness(self, here: _Local) -> Array:
        if not len(here.F):
            return np.zeros(0)
        back = np.linalg.inv(np.linalg.cholesky(here.M))
        K = back @ here.K @ back.T
        return np.linalg.eigvalsh(0.5 * (K + K.T))

    def _pushed_away(self, here: _Local) -> bool:
        values = self._stiffness(here)
        return self.stable and bool((values < -FLAT * max(float(np.abs(values).max(initial=0.0)), 1e-300)).any())

    def _result(self, here: _Local) -> Equilibrium:
        values = self._stiffness(here)
        flat = FLAT * max(float(np.abs(values).max(initial=0.0)), 1e-12)
        stable = False if (values < -flat).any() else None if (values <= flat).any() else True
        return Equilibrium(here.q, stable, values, float(np.abs(here.a).max(initial=0.0)))
