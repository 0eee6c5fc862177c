"""Eigenfrequencies, modes and poles of small motions about a pose, of the whole model, elastic or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import names_of, packed, real_array
from gyrostat.errors import GyrostatError, StateError, nearest
from gyrostat.graph.network import kept_network, network
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.solvers.dynamics.derivatives import InverseDerivatives, InverseDynamicsDerivatives
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.dynamics.mass_matrix import MassMatrix
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.spec.shaft_elements import Backlash, Spring

STEPS, SMALL, CARRIED = 50, 1e-13, 1e-8
"""Of Newton's method for the angles of rotors at rest: steps, the last one [rad], what may be left of the weight."""


SYMMETRIC = 1e-9
"""Share of the largest entry up to which a stiffness is symmetric."""


ROUNDING = 1e-12
"""Squares of frequencies below this share of the largest are zero."""


class Eigenfrequencies(NamedTuple):
    """``undamped`` (..., k) [Hz], in increasing order, and ``modes`` (..., nv, k), the columns belonging to them,
    scaled to unit modal mass. A negative frequency f is a mode that grows as exp(2 pi |f| t). ``poles`` (..., 2 k)
    [rad/s], the eigenvalues with damping, slowest first; ``damped`` (..., 2 k) [Hz] = |imaginary part| / 2 pi of each
    (zero for those that do not oscillate) and ``damped_modes`` (..., nv, 2 k), complex, greatest entry 1. k is the
    number of rates that are not locked."""

    undamped: Array
    modes: Array
    damped: Array
    damped_modes: Array
    poles: Array


def eigenfrequencies(
    model: Model, q: Any, locked: Sequence[str] = (), *, method: str = "auto", **options: Any
) -> Eigenfrequencies:
    """Frequencies and modes of small motions about the pose q, held there by constant torques.

    ``q`` (..., nq) of the whole model, or (..., n) of the joints alone: the rotors of elastic drives then stand where
    the springs carry the weight. ``locked``: names of rates that stand still, for example all rotors, as motors
    under stiff position control do. A pose in which a rigid contact is closed is refused. ``method`` and ``options``
    are those of :func:`rnea_derivatives`."""
    expect_model(model, "eigenfrequencies")
    kept_network(model).refuse_loops("eigenfrequencies")
    free = _free(model, names_of(locked, "eigenfrequencies", "locked"))
    q = rotors_at_rest(model, q)
    refuse_closed(model, q, "eigenfrequencies")
    K, D, _ = _derivatives(model, q, method, **options)
    M, K, D = (_part(x, free) for x in (_mass_matrix(model, q), K, D))
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        raise GyrostatError(
            "eigenfrequencies: the mass matrix is singular, something without inertia can move. Hint: see gs.check"
        ) from None
    back = np.linalg.inv(L)
    squares, shapes = _undamped(back @ K @ _transposed(back))
    size = np.abs(squares).max(axis=-1, keepdims=True, initial=0.0)
    squares = np.where(np.abs(squares) <= ROUNDING * size, 0.0, squares)
    undamped = np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi)
    poles, damped = _poles(back, K, D)
    modes = [_padded(x, free, model.nv) for x in (_transposed(back) @ shapes, damped)]
    return Eigenfrequencies(undamped, modes[0], np.abs(np.imag(poles)) / (2.0 * np.pi), modes[1], poles)


def _undamped(S: Array) -> tuple[Array, Array]:
    """Eigenvalues w^2 of the scaled stiffness, in increasing order, and their vectors.

    Torques of free and spherical joints turn with the body: held by them, a pose may have a stiffness that is not
    symmetric. Pairs of complex w^2, a flutter, count as minus the square of their oscillation: they grow."""
    if np.abs(S - _transposed(S)).max(initial=0.0) <= SYMMETRIC * np.abs(S).max(initial=0.0):
        return np.linalg.eigh(_symmetric(S))
    squares, vectors = np.linalg.eig(S)
    flutter = np.abs(np.imag(squares)) > SYMMETRIC * np.abs(squares).max(axis=-1, keepdims=True, initial=0.0)
    real = np.where(flutter, -(np.real(np.sqrt(squares.astype(complex))) ** 2), np.real(squares))
    order = np.argsort(real, axis=-1)
    vectors = np.take_along_axis(np.real(vectors), order[..., None, :], axis=-1)
    length = np.linalg.norm(vectors, axis=-2, keepdims=True)
    return np.take_along_axis(real, order, axis=-1), vectors / np.where(length > 0.0, length, 1.0)


def _poles(back: Array, K: Array, D: Array) -> tuple[Array, Array]:
    """Eigenvalues of M x'' + D x' + K x = 0, slowest first, and their shapes."""
    k = K.shape[-1]
    A = np.zeros((*K.shape[:-2], 2 * k, 2 * k))
    inverse = _transposed(back) @ back
    A[..., :k, k:] = np.eye(k)
    A[..., k:, :k], A[..., k:, k:] = -inverse @ K, -inverse @ D
    poles, vectors = (np.asarray(x, dtype=complex) for x in np.linalg.eig(A))
    order = np.lexsort((np.imag(poles), np.abs(poles)), axis=-1)
    poles = np.take_along_axis(poles, order, axis=-1)
    shapes = np.take_along_axis(vectors[..., :k, :], order[..., None, :], axis=-1)
    place = np.abs(shapes).argmax(axis=-2)[..., None, :] if k else order[..., None, :]
    return poles, shapes / np.take_along_axis(shapes, place, axis=-2) if k else shapes


def _symmetric(X: Array) -> Array:
    return 0.5 * (X + _transposed(X))


def _transposed(X: Array) -> Array:
    return np.swapaxes(X, -1, -2)


def _part(X: Array, free: list[int]) -> Array:
    return X[..., free, :][..., :, free]


def _padded(X: Array, free: list[int], n: int) -> Array:
    """Rows of the rates that are free, zeros for the others."""
    padded = np.zeros((*X.shape[:-2], n, X.shape[-1]), dtype=X.dtype)
    padded[..., free, :] = X
    return padded


def _free(model: Model, locked: Sequence[str]) -> list[int]:
    """Numbers of the rates that are not locked; a joint stands for all its rates."""
    still: set[int] = set()
    for name in locked:
        rates = [k for k, rate in enumerate(model.dofs) if rate == name or rate.startswith(f"{name}.")]
        if not rates:
            hint = nearest(str(name), model.dofs)
            raise StateError(f"eigenfrequencies: locked names '{name}', which is no rate. Hint: {hint}")
        still.update(rates)
    return [k for k in range(model.nv) if k not in still]


def _sprung(model: Model, n: int) -> list[int]:
    """Rates of joints that hang on rotors through springs."""
    sprung: set[int] = set()
    for c in network(model).transmission.elements:
        rates = {k for shaft in c.shafts.values() for k, _ in shaft.ties}
        if issubclass(c.kind, Spring | Backlash) and max(rates, default=0) >= n:
            sprung |= {k for k in rates if k < n}
    return sorted(sprung)


def rotors_at_rest(model: Model, q: Any) -> Array:
    """q (..., nq) of the whole model; where only those of the joints are given, the springs carry the weight."""
    m = len(model.shafts.rotors)
    who = "eigenfrequencies"
    array = packed(model, q, "q", who) if isinstance(q, Mapping) else real_array(q, who, "q")
    if m == 0 or array.ndim == 0 or array.shape[-1] != model.nq - m:
        return packed(model, array, "q", who)
    n = model.nv - m
    full = np.concatenate([array, np.zeros((*array.shape[:-1], m))], axis=-1)
    size = 0.0
    for _ in range(STEPS):  # springs act between joints and rotors: the equations of the joints give their angles
        tau = _weight(model, full)[..., :n]
        slope = _derivatives(model, full).dtau_dq[..., :n, n:]
        step = -np.linalg.pinv(slope) @ tau[..., None]
        full = np.concatenate([array, full[..., -m:] + step[..., 0]], axis=-1)
        size = float(np.abs(step).max(initial=0.0))
        if size <= SMALL * max(1.0, np.abs(full).max(initial=0.0)):
            left = np.abs(_weight(model, full)[..., _sprung(model, n)]).max(initial=0.0)
            if left <= CARRIED * (1.0 + np.abs(tau).max(initial=0.0)):
                return full
            break  # backlash, or a spring that is slack: it does not see the weight
    raise GyrostatError(
        f"eigenfrequencies: no angles of the rotors were found at which the springs carry '{model.name}', the last "
        f"step was {size:g} rad. Hint: give q of the whole model"
    )


# ------------------------------------------------------------------------------------------------ at rest
def _weight(model: Model, q: Array) -> Array:
    """Generalised forces (..., nv) that hold the model at rest."""
    rest = np.zeros(model.nv)
    return cached_solver(model, InverseDynamics, representation="body")(q, rest, rest)


def _derivatives(model: Model, q: Array, method: str = "auto", **options: Any) -> InverseDerivatives:
    """Stiffness, damping and mass matrix: derivatives of the generalised forces at rest."""
    rest = np.zeros(model.nv)
    return cached_solver(model, InverseDynamicsDerivatives, method=method)(q, rest, rest, **options)


def _mass_matrix(model: Model, q: Array) -> Array:
    return cached_solver(model, MassMatrix, algorithm="crba", representation="body")(q)
