"""``gs.flexible.inverse_dynamics``: torques that move the joints as prescribed while flexible links vibrate.

With r the rates of the joints and e the deflections, a_r is prescribed, and nothing drives e:

    M_ee a_e = -(M_er a_r + h_e),    tau_r = M_rr a_r + M_re a_e + h_r

The first is integrated from rest. Motors and prescribed joints are at the same places, so that what is integrated is
the vibration of the links with their joints held: passive, never unstable. A prescribed *tip* is another matter: its
internal dynamics have zeros in the right half plane, and torques that follow from it grow without bound."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.deflections import deflections
from gyrostat.errors import SpecError, StateError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.run.simulate import simulate
from gyrostat.simulate.trajectories.trajectory import Trajectory, expect_trajectory
from gyrostat.solvers.functions import crba, rnea, rnea_derivatives
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "flexible.inverse_dynamics"
ROUNDS = 30
DRIFT = 20.0  # [1/s]: how fast errors of the integration in the joints fade


class FlexibleInverse(NamedTuple):
    """``t`` (T,) [s]; ``q``, ``v``, ``a``, ``tau`` (T, nv) of the whole model; tau of deflections is zero."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array


def inverse_dynamics(
    model: Model, motion: Trajectory, t_eval: Any, *, rtol: float = 1e-10, atol: float = 1e-12, **options: Any
) -> FlexibleInverse:
    """Deflections and torques for a ``motion`` of all joints, from rest at its begin, at the instants ``t_eval``.

    ``options``: those of :func:`gs.simulate`, such as ``method="radau"`` for stiff links. Torques replayed into the
    same model move the joints as prescribed. After the motion links go on vibrating, unless it is slow and smooth
    against their lowest frequency."""
    expect_model(model, WHO)
    motion = expect_trajectory(motion, WHO)
    bent = _checked(model, motion)
    joints = ~bent

    def law(t: float, q: Array, v: Array) -> Array:
        reference, rate, change = motion.derivatives(min(max(t, 0.0), motion.duration), 2)
        a = np.zeros(model.nv)
        a[joints] = change + 2.0 * DRIFT * (rate - v[joints]) + DRIFT**2 * (reference - q[joints])
        return _driven(model, q, v, a, bent)[1]

    q0, v0 = np.zeros(model.nv), np.zeros(model.nv)
    q0[joints] = motion.derivatives(0.0, 1)[0]
    q0 = _settled(model, q0, bent)
    t = np.asarray(t_eval, dtype=float)
    run = simulate(
        model, law, q0, v0, float(t[-1]), rtol=rtol, atol=atol, t_eval=t, compiled=False, progress=False, **options
    )
    rows = []
    for s, q, v in zip(run.t, run.q, run.v, strict=True):
        a = np.zeros(model.nv)
        a[joints] = motion.derivatives(min(max(s, 0.0), motion.duration), 2)[2]
        rows.append(_driven(model, q, v, a, bent))
    return FlexibleInverse(run.t, run.q, run.v, np.array([a for a, _ in rows]), np.array([tau for _, tau in rows]))


def _driven(model: Model, q: Array, v: Array, a: Array, bent: Array) -> tuple[Array, Array]:
    """a (nv,) with the accelerations of deflections, and tau (nv,) of the joints."""
    a = a.copy()
    a[bent] = np.linalg.solve(crba(model, q)[np.ix_(bent, bent)], -rnea(model, q, v, a)[bent])
    tau = rnea(model, q, v, a)
    tau[bent] = 0.0
    return a, tau


def _settled(model: Model, q: Array, bent: Array) -> Array:
    """Deflections at rest under gravity, joints held: Newton's method."""
    rest = np.zeros(model.nv)
    for _ in range(ROUNDS):
        force = rnea(model, q, rest, rest)[bent]
        step = np.linalg.solve(rnea_derivatives(model, q, rest, rest).dtau_dq[np.ix_(bent, bent)], force)
        q = q.copy()
        q[bent] -= step
        if np.abs(step).max(initial=0.0) < 1e-13:
            return q
    raise StateError(f"{WHO}: links of '{model.name}' find no rest at the begin. Hint: they are too soft to carry it")


def _checked(model: Model, motion: Trajectory) -> Array:
    """(nv,) which rates are deflections; all others are prescribed, in their order."""
    kept_network(model).refuse_loops(WHO)
    bent = deflections(model)
    names = tuple(name for name, b in zip(model.dofs, bent, strict=True) if not b)

    def refused(rule: str, message: str, remedy: str) -> SpecError:
        return SpecError.one(WHO, rule, f"'{model.name}': {message}", remedy)

    if not bent.any():
        raise refused("flexible-links", "has no flexible link", "gs.rnea, or gs.ElasticInverseDynamics")
    if model.nq != model.nv or model.context.base != "fixed":
        raise refused("joints", "has a base or joints that no motor moves one by one", "take a fixed base and hinges")
    if model.shafts.rotors:
        message = "has rotors behind springs: joints beside flexible links are not driven directly"
        raise refused(
            "elastic-joint", message, "make the drives stiff; gs.flexible.rigid and gs.ElasticInverseDynamics"
        )
    if motion.n != len(names) or (motion.names is not None and tuple(motion.names) != names):
        given = motion.n if motion.names is None else ", ".join(motion.names)
        message = f"the motion is of {given}, expected all joints in their order: {', '.join(names)}"
        remedy = "prescribe joints; a frame at a flexible link cannot be: its inverse is unstable"
        raise refused("joints", message, remedy)
    if np.abs(motion.derivatives(0.0, 1)[1]).max() > 0.0:
        raise refused("rest", "the motion does not begin at rest", "take a motion from rest, such as gs.quintic")
    return bent
