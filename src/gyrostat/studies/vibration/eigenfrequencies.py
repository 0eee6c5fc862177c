"""Eigenfrequencies, modes and poles of small motions about a pose, of the whole model: elastic joints, flexible links,
loops and controllers together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.configuration.packing import names_of
from gyrostat.errors import ShapeError, StateError, nearest
from gyrostat.solvers.dynamics.closed_contacts import refuse_closed
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.vibration.linear_controller import linear_controller
from gyrostat.studies.vibration.live_parameters import with_parameters
from gyrostat.studies.vibration.mode_tracking import tracked
from gyrostat.studies.vibration.modes import Eigenfrequencies
from gyrostat.studies.vibration.rest_pose import rest_pose, say
from gyrostat.studies.vibration.small_motion import SmallMotion, cholesky, second_order

Array = np.ndarray
WHO = "eigenfrequencies"
SYMMETRIC = 1e-9
"""Share of the largest entry up to which a stiffness is symmetric."""
ROUNDING = 1e-12
"""Squares of frequencies below this share of the largest are zero."""


def eigenfrequencies(
    model: Model,
    q: Any,
    locked: Sequence[str] = (),
    *,
    controller: Any = None,
    wrenches: Any = None,
    rest: bool = False,
    track: bool = False,
    parameters: Mapping[str, Any] | None = None,
    method: str = "auto",
    **options: Any,
) -> Eigenfrequencies:
    """Frequencies and modes of small motions about the pose q, held there by constant efforts.

    ``q`` (..., nq) of the whole model, or (..., n) of the joints alone: rotors of elastic drives and shapes of flexible
    links then stand where they carry the weight. ``rest=True`` moves what nothing drives to rest, with the driven
    coordinates as given. ``locked``: names of rates that stand still, for example all rotors, as motors
    under stiff position control do. A pose in which a rigid contact is closed is refused.

    ``controller``: a block such as ``gs.blocks.pid(...)``, a function f(t, q, v), or a matrix K (nv, 2 nv) of state
    feedback, tau = -K (d, w); linearised at the pose, t = 0. Its own states (integrators, filters) add poles. The
    efforts that hold the pose are taken to be there, whatever the controller would give at this pose.

    ``wrenches``: constant loads (6,) on frames, as of :func:`rnea`: they stiffen or soften what they pull or press.

    ``track=True``, for q (k, nq) along a path: modes keep their places from one pose to the next, by the shapes they
    have, instead of being sorted. ``parameters``: other values of live properties, ``{"boom.E": 7e10}``, for which
    nothing is compiled anew. ``method`` and ``options`` are those of :func:`rnea_derivatives`."""
    expect_model(model, WHO)
    with with_parameters(model, parameters, method, WHO) as used:
        return _found(used, q, locked, controller, wrenches, rest, track, method, options)


def _found(
    model: Model,
    q: Any,
    locked: Any,
    controller: Any,
    wrenches: Any,
    rest: bool,
    track: bool,
    method: str,
    options: dict[str, Any],
) -> Eigenfrequencies:
    free = free_rates(model, locked, WHO)
    pose = rest_pose(model, q, rest, WHO, wrenches)
    refuse_closed(model, pose.q, WHO)
    if track and pose.q.ndim != 2:
        raise ShapeError(f"{WHO}: track=True needs a path, q (k, {model.nq}), got {pose.q.shape}. Hint: track=False")
    M, K, D, Z = second_order(model, pose.q, pose.held, free, WHO, method, wrenches, **options)
    if controller is not None:
        K, D, poles, damped = _with_controller(model, pose.q, (M, K, D, Z), controller)
    else:
        poles, damped = _poles(M, K, D)
        damped = Z @ damped
    squares, shapes = _undamped(M, K)
    size = np.abs(squares).max(axis=-1, keepdims=True, initial=0.0)
    squares = np.where(np.abs(squares) <= ROUNDING * size, 0.0, squares)
    undamped = np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi)
    found = Eigenfrequencies(undamped, Z @ shapes, poles, _greatest_one(damped), model, pose.q, pose.note)
    say(WHO, model, pose.note)
    return tracked(found) if track else found


def _with_controller(
    model: Model, q: Array, parts: tuple[Array, Array, Array, Array], controller: Any
) -> tuple[Array, Array, Array, Array]:
    """K and D with the controller, poles (..., 2 k + np) and their shapes (..., nv, 2 k + np), pose by pose."""
    closed: list[tuple[Array, Array, Array, Array]] = []
    for k in np.ndindex(q.shape[:-1]):
        M, K, D, Z = (x[k] for x in parts)
        motion = SmallMotion(M, D, K, Z, linear_controller(model, controller, q[k], WHO))
        poles, vectors = _sorted(*np.linalg.eig(motion.state_space()[0]))
        closed.append((motion.closed[1], motion.closed[0], poles, Z @ vectors[: len(M)]))
    lead = q.shape[:-1]
    return tuple(np.reshape(x, (*lead, *x[0].shape)) for x in zip(*closed, strict=True))  # type: ignore[return-value]


def _undamped(M: Array, K: Array) -> tuple[Array, Array]:
    """w^2 with K x = w^2 M x, in increasing order, and x, x^T M x = 1.

    Torques of free and spherical joints turn with the body: held by them, a pose may have a stiffness that is not
    symmetric. Pairs of complex w^2, a flutter, count as minus the square of their oscillation: they grow."""
    back = np.linalg.inv(cholesky(M, WHO))
    S, T = back @ K @ _transposed(back), _transposed(back)
    if np.abs(S - _transposed(S)).max(initial=0.0) <= SYMMETRIC * np.abs(S).max(initial=0.0):
        squares, vectors = np.linalg.eigh(0.5 * (S + _transposed(S)))
        return squares, T @ vectors
    squares, vectors = np.linalg.eig(S)
    flutter = np.abs(np.imag(squares)) > SYMMETRIC * np.abs(squares).max(axis=-1, keepdims=True, initial=0.0)
    real = np.where(flutter, -(np.real(np.sqrt(squares.astype(complex))) ** 2), np.real(squares))
    order = np.argsort(real, axis=-1)
    vectors = np.take_along_axis(np.real(vectors), order[..., None, :], axis=-1)
    length = np.linalg.norm(vectors, axis=-2, keepdims=True)
    return np.take_along_axis(real, order, axis=-1), T @ (vectors / np.where(length > 0.0, length, 1.0))


def _poles(M: Array, K: Array, D: Array) -> tuple[Array, Array]:
    """Eigenvalues of M x'' + D x' + K x = 0, slowest first, and their shapes."""
    k = K.shape[-1]
    A = np.zeros((*K.shape[:-2], 2 * k, 2 * k))
    back = np.linalg.inv(cholesky(M, WHO))
    inverse = _transposed(back) @ back
    A[..., :k, k:] = np.eye(k)
    A[..., k:, :k], A[..., k:, k:] = -inverse @ K, -inverse @ D
    poles, vectors = _sorted(*np.linalg.eig(A))
    return poles, vectors[..., :k, :]


def _sorted(poles: Array, vectors: Array) -> tuple[Array, Array]:
    poles, vectors = (np.asarray(x, dtype=complex) for x in (poles, vectors))
    order = np.lexsort((np.imag(poles), np.abs(poles)), axis=-1)
    return np.take_along_axis(poles, order, axis=-1), np.take_along_axis(vectors, order[..., None, :], axis=-1)


def _greatest_one(shapes: Array) -> Array:
    """Scaled to a greatest entry 1; those of controllers alone, in which the robot stands, stay zero."""
    if not shapes.size:
        return shapes
    place = np.abs(shapes).argmax(axis=-2)[..., None, :]
    greatest = np.take_along_axis(shapes, place, axis=-2)
    return shapes / np.where(greatest == 0.0, 1.0, greatest)


def _transposed(X: Array) -> Array:
    return np.swapaxes(X, -1, -2)


def free_rates(model: Model, locked: Any, who: str) -> list[int]:
    """Numbers of the rates that are not locked; a joint stands for all its rates."""
    still: set[int] = set()
    for name in names_of(locked, who, "locked"):
        rates = [k for k, rate in enumerate(model.dofs) if rate == name or rate.startswith(f"{name}.")]
        if not rates:
            hint = nearest(str(name), model.dofs)
            raise StateError(f"{who}: locked names '{name}', which is no rate. Hint: {hint}")
        still.update(rates)
    return [k for k in range(model.nv) if k not in still]
