"""Fixed steps that are too long for the vibrations of flexible links, told before the first of them.

About the start, x'' = -M^-1 (K x + D x'), with K, D, M of the robot without its controller. An explicit method
multiplies a vibration exp(s t) by R(s dt) in each step; |R| > 1 for a motion that is fast against the step and does not
grow by itself means that the steps make it grow. K and D are differences of inverse dynamics, which a run of a robot
with links has no reason to differentiate exactly: its frequencies need three digits.

Moreau's steps are those of semi-implicit Euler for coordinates in the middle of a step, with the damping of shafts
implicit. The bound of their energy would turn steps that are too long into links that stand still."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.configuration.deflections import deflections
from gyrostat.configuration.manifold import integrate
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.kernels.contact_scene import implicit_damping
from gyrostat.simulate.methods.runge_kutta import Table
from gyrostat.solvers.functions import rnea
from gyrostat.spec.model import Model

Array = np.ndarray
APART = 1e-6
"""Differences of coordinates [rad, m]."""
FAST = 1.0
"""|s dt| from which on a vibration is fast against the step."""


def expect_stable_steps(model: Model, q: Array, dt: float, table: Table | None, who: str) -> None:
    """Refuse steps of ``dt`` [s] of an explicit method (``table``, None: semi-implicit Euler) that cannot be stable."""
    bent = deflections(model)
    if not bent.any() or kept_network(model).closures or not isinstance(model.context.base, str):
        return
    s, shapes = vibrations(model, q, bent)
    growth = np.array([_growth(z, table) for z in s * dt])
    bad = (np.abs(s) * dt > FAST) & (np.real(s) <= 0.1 * np.abs(s)) & (growth > 1.0 + 1e-6)
    if not bad.any():
        return
    k = int(np.argmax(np.where(bad, np.abs(s), 0.0)))
    low, high = 0.0, dt
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _growth(s[k] * middle, table) <= 1.0 + 1e-6 else (low, middle)
    name = model.dofs[int(np.abs(shapes[:, k]).argmax())]
    raise StateError(
        f"{who}: steps of {dt:g} s make the vibration of '{name}' at {abs(s[k]) / (2 * np.pi):.4g} Hz grow by "
        f"{growth[k]:.3g} each. Hint: dt below {low:.2g} s, an implicit method ('dina', 'generalised-alpha', 'radau'), "
        "or fewer shapes"
    )


def expect_stable_moreau_steps(model: Model, q: Array, dt: float, who: str) -> None:
    """Refuse time steps of ``dt`` [s] that turn about every half step what they should not: springs and dampers of
    flexible links are explicit in them."""
    bent, network = deflections(model), kept_network(model)
    if not bent.any() or network.closures or not isinstance(model.context.base, str):
        return
    matrices = small_motions(model, q, bent)
    if matrices is None:
        return
    M, K, D = matrices
    implicit = np.zeros_like(M)
    for at, d in implicit_damping(network, q, np.zeros(model.nv)).items():
        implicit[at] = d

    def turned(h: float) -> tuple[float, Array]:
        """Largest growth of what changes its sign in each step, and its shape (nv,)."""
        by = np.linalg.solve(M + h * implicit, h * np.concatenate([K, D], axis=1))
        v1 = np.concatenate([np.zeros_like(M), np.eye(len(M))], axis=1) - by
        growth, shapes = np.linalg.eig(np.concatenate([np.eye(len(M), 2 * len(M)) + h * v1, v1]))
        size = np.where(np.real(growth) < 0.0, np.abs(growth), 0.0)
        return float(size.max()), shapes[: len(M), size.argmax()]

    growth, shape = turned(dt)
    if growth <= 1.0 + 1e-6:
        return
    low, high = 0.0, dt
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if turned(middle)[0] <= 1.0 + 1e-6 else (low, middle)
    name = model.dofs[int((np.abs(shape) * np.sqrt(np.abs(np.diag(K)))).argmax())]
    raise StateError(
        f"{who}: steps of {dt:g} s of 'moreau' make the vibration of '{name}' grow by {growth:.3g} each. "
        f"Hint: dt below {low:.2g} s, simulation by events, or fewer shapes"
    )


def small_motions(model: Model, q: Array, bent: Array) -> tuple[Array, Array, Array] | None:
    """M, K, D (nv, nv) about the configuration q (nq,), damping of what is ``bent`` (nv,) alone; None where the model
    has none."""
    n = model.nv
    unit, none = np.eye(n), np.zeros((n, n))
    moved = [integrate(model, q, sign * APART * unit) for sign in (1.0, -1.0)]
    here = np.repeat(q[None], n, axis=0)
    try:
        K = (rnea(model, moved[0], none, none) - rnea(model, moved[1], none, none)).T / (2 * APART)
        D = (rnea(model, here, APART * unit, none) - rnea(model, here, -APART * unit, none)).T / (2 * APART)
        M = (rnea(model, here, none, unit) - rnea(model, here, none, none)).T
    except GyrostatError:  # whatever is wrong here, the run will say it
        return None
    return M, K, D * np.outer(bent, bent)  # dry friction of joints has no slope at rest, and is not what this is about


def vibrations(model: Model, q: Array, bent: Array) -> tuple[Array, Array]:
    """s (2 nv,) [1/s] of small motions about the configuration q (nq,), damped by what is ``bent`` (nv,) alone, and
    their shapes (nv, 2 nv), each coordinate weighed by the root of its stiffness: a light link between heavy joints is
    what gives, whatever turns most."""
    n = model.nv
    matrices = small_motions(model, q, bent)
    if matrices is None:
        return np.zeros(0, complex), np.zeros((n, 0))
    M, K, D = matrices
    unit, none = np.eye(n), np.zeros((n, n))
    A = np.block([[none, unit], [-np.linalg.solve(M, np.concatenate([K, D], axis=1))]])
    s, shapes = np.linalg.eig(A)
    return s, shapes[:n] * np.sqrt(np.abs(np.diag(K)))[:, None]


def _growth(z: Any, table: Table | None) -> float:
    """|R(z)|."""
    if table is None:
        if z.imag == 0.0:
            return float(abs(1.0 + z.real))
        damping, size = 2.0 * z.real, abs(z) ** 2
        step = np.array([[1.0 - size, 1.0 + damping], [-size, 1.0 + damping]])
        return float(np.abs(np.linalg.eigvals(step)).max())
    k, y = [z], 1.0
    for row in table.a:
        y = 1.0 + sum(a * x for a, x in zip(row, k, strict=False))
        k.append(z * y)
    return float(abs(y))
