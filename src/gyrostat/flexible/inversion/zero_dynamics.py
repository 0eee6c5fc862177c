"""``gs.flexible.zeros``: how what no motor drives moves while the outputs stand still.

Linearised about a rest, with the outputs held: (Fa s^2 + Fv s + Fz) z = 0, s the zeros of the transfer from motors to
outputs. Held joints leave vibrations; a held tip leaves motions that grow: its zeros in the right half plane. Finite
zeros are told from infinite ones (equations without derivatives) by the rank of H^k, H = (A - s_0 E)^-1 E: what is
infinite is nilpotent there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.deflections import deflections
from gyrostat.configuration.packing import coordinates
from gyrostat.errors import StateError
from gyrostat.flexible.inversion.undriven_equations import UndrivenEquations, undriven_equations
from gyrostat.solvers.functions import crba
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "flexible.zeros"
RANK = 1e-11
"""Singular values below this share of the largest vanish."""
UNSTABLE = 1e-6
"""Zeros whose real part is above this share of their size grow."""
ROUNDS = 40


@dataclass(frozen=True, eq=False)
class Zeros:
    """``values`` (k,) complex [1/s], slowest first; ``names``: the deflection that
    moves most in each; ``q`` (nv,) the
    rest."""

    values: Array
    names: tuple[str, ...]
    q: Array

    @property
    def growing(self) -> Array:
        """(k,) which are in the right half plane."""
        return np.real(self.values) > UNSTABLE * np.abs(self.values)

    @property
    def minimum_phase(self) -> bool:
        return not self.growing.any()

    @property
    def unstable(self) -> dict[str, complex]:
        """Those in the right half plane by the name of the coordinate that moves most: ``"boom.y1"``, if several
        ``"boom.y1 (2)"`` and so on."""
        told: dict[str, complex] = {}
        for name, value in zip(np.array(self.names)[self.growing], self.values[self.growing], strict=True):
            count = sum(key == name or key.startswith(f"{name} (") for key in told)
            told[str(name) if not count else f"{name} ({count + 1})"] = complex(value)
        return told

    def __repr__(self) -> str:
        told = ", ".join(f"{name} {growth_of(value)} 1/s" for name, value in self.unstable.items())
        return f"<{len(self.values)} zeros: {'minimum phase' if self.minimum_phase else 'unstable ' + told}>"


def growth_of(value: complex) -> str:
    """As text."""
    return f"{value.real:+.4g}" if value.imag == 0.0 else f"{value.real:+.4g}{value.imag:+.4g}j"


def zeros(model: Model, q: Any, outputs: Any = None) -> Zeros:
    """Zeros from the motors to ``outputs`` (None: the joints; (frame, axes); a matrix; as of
    :func:`gs.flexible.inverse_dynamics`), at the rest whose outputs are those of q (nv,)."""
    expect_model(model, WHO)
    equations = undriven_equations(model, outputs)
    start = coordinates(model, q, WHO)
    if start.ndim != 1:
        raise StateError(f"{WHO}: one pose at a time, got q {start.shape}. Hint: loop over them")
    y = start[equations.known] if equations.outputs is None else equations.outputs(start[None])[0][0]
    return zeros_at(equations, y, rest_of(equations, y, start))


def rest_of(equations: UndrivenEquations, y: Array, q: Array) -> Array:
    """q (nv,) at rest with the outputs y (p,), near q: Newton's method with steps of 0.3 at most."""
    held = np.zeros((1, 3, len(y)))
    held[0, 0] = y
    z, still = q[None, equations.free].copy(), np.zeros((1, len(equations.free)))
    for _ in range(ROUNDS):
        state = equations.states(held, z, still, still)
        F, Fz = equations.residual(held, *state)[0], equations.slopes(*state)[0][0][:, equations.free]
        scale = np.maximum(np.abs(Fz).max(axis=1), 1e-300)
        try:
            step = np.linalg.solve(Fz / scale[:, None], F / scale)
        except np.linalg.LinAlgError:
            break
        z = z - step * min(1.0, 0.3 / max(np.abs(step).max(), 1e-300)) if np.abs(step).max() > 0.3 else z - step
        if np.abs(step).max() < 1e-12 * max(1.0, np.abs(z).max()):
            return equations.states(held, z, still, still)[0][0]
    raise StateError(
        f"{WHO}: what '{equations.model.name}' has no motors for finds no rest. Hint: links that are too soft to carry "
        "the load, a passive joint without a rest, or outputs out of reach"
    )


def zeros_at(equations: UndrivenEquations, y: Array, q: Array) -> Zeros:
    """At the rest q (nv,)."""
    still = np.zeros((1, equations.model.nv))
    Fz, Fv, Fa = (x[0][:, equations.free] for x in equations.slopes(q[None], still, still))
    M = crba(equations.model, q)
    values, shapes = finite_zeros(Fz, Fv, Fa)
    weight = np.sqrt(np.abs(np.diag(M)))[equations.free]
    names = np.array([equations.model.dofs[k] for k in equations.free])
    bent = deflections(equations.model)[equations.free]
    if bent.any():
        weight[~bent] = 0.0  # joints follow what bends
    order = np.argsort(np.abs(values), kind="stable")
    most = names[np.abs(shapes[:, order] * weight[:, None]).argmax(axis=0)] if len(values) else []
    return Zeros(values[order], tuple(str(x) for x in most), q)


def finite_zeros(Fz: Array, Fv: Array, Fa: Array) -> tuple[Array, Array]:
    """Zeros s (k,) of Fa s^2 + Fv s + Fz, and their shapes z (n, k)."""
    n = len(Fz)
    unit, none = np.eye(n), np.zeros((n, n))
    pace = np.sqrt(max(np.abs(Fz).max(), 1e-300) / max(np.abs(Fa).max(), 1e-300))  # s = pace * its own unit of time
    Fv, Fa = Fv * pace, Fa * pace**2
    scale = np.maximum(np.abs(np.concatenate([Fz, Fv, Fa], axis=1)).max(axis=1), 1e-300)[:, None]
    A = np.block([[none, unit], [-Fz / scale, -Fv / scale]])
    E = np.block([[unit, none], [none, Fa / scale]])
    s_0 = 0.137  # no zero, for no model: any other number would do
    H = np.linalg.solve(A - s_0 * E, E)
    span = np.eye(2 * n)
    while True:
        U, size, _ = np.linalg.svd(H @ span, full_matrices=False)
        rank = int((size > RANK * max(size[0], 1e-300)).sum()) if len(size) else 0
        if rank == span.shape[1] or rank == 0:
            break
        span = U[:, :rank]
    if span.shape[1] == 0 or rank == 0:
        return np.zeros(0, complex), np.zeros((n, 0))
    inverse, vectors = np.linalg.eig(np.linalg.lstsq(span, H @ span, rcond=None)[0])
    values = (1.0 / inverse + s_0) * pace
    return values, (span @ vectors)[:n]
