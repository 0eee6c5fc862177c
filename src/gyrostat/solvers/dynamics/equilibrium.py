"""Static rest: configurations in which nothing accelerates, with loops closed, springs and flexible links loaded.

Forces F and stiffness K along the motions that loops and locked joints leave are those of
:mod:`gyrostat.solvers.dynamics.static_forces`. Newton's step K y = F leads to any equilibrium, stable or not. Where K
is not positive definite it is shifted until it is: the robot then goes where its forces push it, and ends where they
would hold it. Loads come on in steps, each of which begins where the last one ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import loop_numbers
from gyrostat.configuration.limits import limits_of
from gyrostat.configuration.manifold import difference, integrate
from gyrostat.configuration.packing import coordinates, names_of, rates
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.solvers.dynamics.inverse_dynamics import chosen_rates
from gyrostat.solvers.dynamics.static_forces import Local, StaticForces
from gyrostat.solvers.kinematics.closed_configuration import Closing, close
from gyrostat.solvers.machinery.wrench import Wrench, read_wrenches
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "equilibrium"
LONGEST = 0.3
"""Greatest step of one iteration [rad, m]."""
FLAT = 1e-12
"""Part of the largest stiffness below which one counts as zero."""
SETTLED = 1e-9
"""Steps [rad, m] that no longer shrink below this size are rounding."""
FINEST = 1.0 / 4096.0
"""Least share of the loads by which they grow."""


class Equilibrium(NamedTuple):
    """``q`` (nq,) at rest; ``stable``: whether small displacements are pushed back (True), pushed away (False), or
    neither in some direction (None); ``stiffness`` (d,): eigenvalues of K against M [1/s^2], least first: the squares
    of the frequencies of small vibrations; ``acceleration``: the greatest that is left [rad/s^2, m/s^2]; ``held``
    (nv,): the efforts that hold what is locked [N m, N]."""

    q: Array
    stable: bool | None
    stiffness: Array
    acceleration: float
    held: Array


def equilibrium(
    model: Model,
    q0: Any,
    tau: Any = None,
    wrenches: Any = None,
    *,
    locked: Sequence[str] = (),
    stable: bool = True,
    steps: int = 1,
    tolerance: float = 1e-10,
    iterations: int = 200,
) -> Equilibrium:
    """Where the robot rests, near q0 (nq,): under gravity, springs, constant generalised forces tau (nv,), zero by
    default, and external ``wrenches`` (as of :func:`rnea`; ``"local"`` ones turn with their frame, ``"aligned"`` ones
    do not). Loops that stay constraints are closed first. Compliant contacts carry; a rest in which a rigid one is
    closed is refused.

    ``locked``: names of rates that stay as they are in q0, such as all driven joints of a robot with flexible links:
    what is found then is its sag, and ``held`` are the efforts of the drives. ``steps``: tau and wrenches grow to their
    full size in so many equal parts, finer ones where that fails; large rotations need them.

    ``stable=True`` goes where the forces push, and refuses a rest from which they push away; ``stable=False`` takes the
    nearest one of any kind. ``tolerance``: accelerations that may be left [rad/s^2, m/s^2], relative to the largest met
    on the way, at least to 1."""
    expect_model(model, WHO)
    if not isinstance(model.context.base, str):
        raise StateError(f"{WHO}: the base of '{model.name}' moves by itself: there is no rest. Hint: fix it")
    start = coordinates(model, q0, WHO)
    efforts = np.zeros(model.nv) if tau is None else rates(model, tau, WHO, "tau")
    places, values = read_wrenches(kept_network(model), wrenches, WHO)
    if start.ndim != 1 or efforts.ndim != 1 or any(w.ndim != 1 for w in values):
        raise StateError(f"{WHO}: one state at a time, got q0 {start.shape}, tau {efforts.shape}. Hint: loop over them")
    if not isinstance(steps, int | np.integer) or steps < 1:
        raise StateError(f"{WHO}: steps must be a whole number from 1 on, got {steps!r}. Hint: 10")
    still = chosen_rates(model, names_of(locked, WHO, "locked"), WHO)
    search = _Search(
        model, (efforts, {p.port: (w, p.expressed_in) for p, w in zip(places, values, strict=True)}), stable, still
    )
    rest = search.loaded(close(model, start), int(steps), tolerance, int(iterations))
    refuse_closed(model, rest.q, WHO)
    return rest


class _Search:
    def __init__(
        self, model: Model, load: tuple[Array, dict[str, tuple[Array, str]]], stable: bool, locked: tuple[int, ...]
    ):
        self.model, self.stable, self.locked = model, stable, list(locked)
        self.load, self.tau, self.wrenches = load, *load
        self.forces, net = StaticForces(model, locked), kept_network(model)
        low, high = limits_of(model, None, WHO)
        still = np.zeros(model.nv, dtype=bool)
        still[self.locked] = True
        self.closing = Closing(net, loop_numbers(model), still, low, high) if net.closures else None

    def loaded(self, q: Array, steps: int, tolerance: float, iterations: int) -> Equilibrium:
        """The loads grow in steps; after one that failed in smaller ones."""
        tau, wrenches = self.load
        done, step = 0.0, 1.0 / steps
        while True:
            share = min(1.0, done + step) if 1.0 - done - step > 1e-9 else 1.0
            self.tau = share * tau
            self.wrenches = {port: Wrench(share * w, expressed_in) for port, (w, expressed_in) in wrenches.items()}
            try:
                rest = self.found(q, tolerance, iterations if steps == 1 else min(iterations, 50))
            except GyrostatError:
                step = 0.5 * step
                if steps == 1 or step < FINEST:
                    raise
                continue
            q, done, step = rest.q, share, min(1.5 * step, 1.0 / steps)
            if done == 1.0:
                return rest

    def found(self, q: Array, tolerance: float, iterations: int) -> Equilibrium:
        here = self.at(q)
        largest = max(1.0, float(np.abs(here.a).max(initial=0.0)))
        before = np.inf
        for _ in range(iterations):
            left = float(np.abs(here.a).max(initial=0.0))
            largest = max(largest, left)
            if left <= tolerance * largest and not self._pushed_away(here):
                return self._result(here)
            there = self._next(here)
            size = float(np.abs(difference(self.model, here.q, there.q)).max(initial=0.0))
            if 0.5 * before <= size <= SETTLED * (1.0 + float(np.abs(here.q).max())) and not self._pushed_away(there):
                return self._result(there)  # of something stiff: what is left of the acceleration is rounding
            here, before = there, size
        worst = int(np.argmax(np.abs(here.a)))
        raise StateError(
            f"{WHO}: '{self.model.name}' did not come to rest in {iterations} steps: '{self.model.dofs[worst]}' still "
            f"accelerates with {here.a[worst]:.3g}. Hint: something must hold it: springs, a fixed base, or tau; large "
            "loads come on in steps=10"
        )

    def at(self, q: Array) -> Local:
        return self.forces.at(q, self.tau, self.wrenches or None)

    def _next(self, here: Local) -> Local:
        """One step, as long as the forces do not turn against it."""
        step = here.Z @ self._direction(here)
        longest = float(np.abs(step).max(initial=0.0))
        if longest == 0.0:
            raise StateError(f"{WHO}: '{self.model.name}' is pushed in a direction without stiffness. Hint: another q0")
        step = step * min(1.0, LONGEST / longest)
        work = float(step @ self.forces.mass(here.q) @ here.a)
        for _ in range(12):
            try:
                there = self.at(self._moved(here.q, step))
            except GyrostatError:
                step = 0.5 * step  # a singular position, or one that cannot be closed
                continue
            along = float(step @ self.forces.mass(there.q) @ there.a)
            if not self.stable or along >= -0.9 * abs(work) or work <= 0.0:
                return there
            step = 0.5 * step
        return self.at(self._moved(here.q, step))

    def _moved(self, q: Array, step: Array) -> Array:
        q = integrate(self.model, q, step)
        return q if self.closing is None else self.closing.closed(q)

    def _direction(self, here: Local) -> Array:
        """y (d,): Newton's step, with a stiffness that is positive if a stable rest is asked for."""
        if not len(here.F):
            return np.zeros(0)
        if not self.stable:
            return np.linalg.lstsq(here.K, here.F, rcond=1e-12)[0]
        back = np.linalg.inv(np.linalg.cholesky(here.M))
        K = back @ here.K @ back.T
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        top = max(float(np.abs(values).max(initial=0.0)), 1e-300)
        if values[0] > FLAT * top:
            return np.linalg.solve(here.K, here.F)
        forces = vectors.T @ (back @ here.F)
        if np.abs(forces).max(initial=0.0) <= 1e-9 * top:  # at rest, where it is not stable: leave it
            forces = forces + 1e-2 * top * (values < -FLAT * top)
        parts = (back.T @ vectors) * (forces / np.maximum(np.abs(values), FLAT * top))
        far = np.abs(here.Z @ parts).max(axis=0, initial=0.0)
        return (parts / np.maximum(1.0, far / LONGEST)).sum(axis=1)

    def _stiffness(self, here: Local) -> Array:
        if not len(here.F):
            return np.zeros(0)
        back = np.linalg.inv(np.linalg.cholesky(here.M))
        K = back @ here.K @ back.T
        return np.linalg.eigvalsh(0.5 * (K + K.T))

    def _pushed_away(self, here: Local) -> bool:
        values = self._stiffness(here)
        return self.stable and bool((values < -FLAT * max(float(np.abs(values).max(initial=0.0)), 1e-300)).any())

    def _result(self, here: Local) -> Equilibrium:
        values = self._stiffness(here)
        flat = FLAT * max(float(np.abs(values).max(initial=0.0)), 1e-12)
        stable = False if (values < -flat).any() else None if (values <= flat).any() else True
        return Equilibrium(here.q, stable, values, float(np.abs(here.a).max(initial=0.0)), here.held)
