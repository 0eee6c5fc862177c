"""Flexible links in every public solver. Mass matrices, momenta and biases are put together here from columns of
recursive Newton-Euler, with the base free where momenta are asked for; Jacobians, Coriolis terms and derivatives are
differences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from tests.solvers import test_followers_in_every_solver as followers
from tests.support.comparing import assert_close
from tests.support.flexible_product import BODIES, KINDS, arm, state
from tests.support.solver_zoo import solver_classes

H = 1e-5
TIP = "hand.tip"


FAST = 1e6
"""Accelerations whose forces are far above those of springs and weight: what is subtracted takes no digits of M then.
With unit ones M is good to 3e-12 only, which impacts on a beam of finite elements amplify to 3e-10."""


def columns(model, q):
    """M (nv, nv) from inverse dynamics, which is linear in accelerations."""
    rest = np.zeros(model.nv)
    start = gs.rnea(model, q, rest, rest)
    return np.stack([(gs.rnea(model, q, rest, FAST * unit) - start) / FAST for unit in np.eye(model.nv)], axis=-1)


class Columns(followers.Reduced):
    """A model whose M and bias are those of inverse dynamics; all of its rates are free."""

    def __init__(self, kind):
        self.model = self.free = arm(kind)
        self.kind = kind

    def q(self, q):
        return q

    def G(self, q):
        return np.eye(self.model.nv)

    def G_rate(self, q, v):
        return np.zeros((self.model.nv, self.model.nv))

    def tau(self, q, v, a):
        return gs.rnea(self.model, q, v, a)

    def M(self, q):
        return columns(self.model, q)

    def whole(self, q, v, a, g=(0.0, 0.0, 0.0)):
        """Torque and force (3,) each, at the origin and in the axes of the world, that the motion needs altogether."""
        model = arm(self.kind, base="free", g=g)
        moved = np.concatenate([gs.neutral(model)[:7], q])
        wrench = gs.rnea(model, moved, np.concatenate([np.zeros(6), v]), np.concatenate([np.zeros(6), a]))[:6]
        return wrench[:3], wrench[3:]

    def rigid(self, q):
        """Mass, centre (3,) and inertia (3, 3) about it, from accelerations of the base."""
        model = arm(self.kind, base="free", g=(0.0, 0.0, 0.0))
        M = columns(model, np.concatenate([gs.neutral(model)[:7], q]))[:6, :6]
        m = M[3, 3]
        c = np.array([M[2, 4], M[0, 5], M[1, 3]]) / m
        return m, c, M[:3, :3] - m * (c @ c * np.eye(3) - np.outer(c, c))

    def momentum(self, q):
        """(6, nv): angular about the centre of mass and linear momentum for unit rates."""
        rest = np.zeros(self.model.nv)
        c = self.rigid(q)[1]
        start = self.whole(q, rest, rest)  # springs act on nothing outside
        assert_close(np.concatenate(start), np.zeros(6), 1e-9)
        rows = [self.whole(q, rest, unit) for unit in np.eye(self.model.nv)]
        return np.stack([np.concatenate([n - np.cross(c, f), f]) for n, f in rows], axis=-1)


@cache
def made(kind):
    return Columns(kind)


def along(f, q, v):
    """d f(q) / dt."""
    return (f(q + H * v) - f(q - H * v)) / (2.0 * H)


def slopes(f, q):
    return np.stack([along(f, q, unit) for unit in np.eye(len(q))], axis=-1)


def changed(model, path, value):
    """Frames of a beam stay at their fraction of its length."""
    more = {"boom.mid.translation": (0.3 * value / 0.8, 0.0, 0.0)} if path == "boom.length" else {}
    return model.replace({path: value} | more)


def solver(cls, r, *first, **options):
    return cls(r.model, *first, mode="interpret", **options)


# ------------------------------------------------------------------ kinematics, by differences
def ask_jacobian(r, name, q, v, a):
    def place(x):
        return gs.fk(r.model, x)[TIP]

    R = place(q).R
    J = gs.Jacobian(r.model, TIP, "local", mode="interpret")(q)
    assert_close(J[3:], R.T @ slopes(lambda x: place(x).p, q), 1e-7)
    for k, unit in enumerate(np.eye(len(q))):
        W = R.T @ along(lambda x: place(x).R, q, unit)
        assert_close(J[:3, k], np.array([W[2, 1], W[0, 2], W[1, 0]]), 1e-7)


def ask_jacobian_rate(r, name, q, v, a):
    rate = along(lambda x: gs.jacobian(r.model, x, TIP, "local"), q, v)
    assert_close(gs.JacobianRate(r.model, TIP, "local", mode="interpret")(q, v), rate, 1e-7)


def ask_parameter_jacobian(r, name, q, v, a):
    """By the length of a beam, with frames of the tip in the world's axes; by the tip's place in the hand otherwise."""
    boom = r.model.wiring.entities["boom"]
    live = name not in BODIES and boom.why_not_live("length") is None
    path, value = ("boom.length", 0.8) if live else ("hand.tip.translation", np.array([0.1, 0.0, 0.02]))
    mine = gs.ParameterJacobian(r.model, TIP, [path], "aligned", mode="interpret")(q)
    for k, unit in enumerate(np.eye(np.size(value))):
        step = H * (unit if np.ndim(value) else 1.0)
        ends = [gs.fk(changed(r.model, path, value + s * step), q)[TIP].p for s in (1, -1)]
        assert_close(mine[3:, k], (ends[0] - ends[1]) / (2.0 * H), 1e-8)


# ------------------------------------------------------------------ momenta, by the base that is free
def ask_total_inertia(r, name, q, v, a):
    for mine, expected in zip(solver(gs.TotalInertia, r)(q), r.rigid(q), strict=True):
        assert_close(np.asarray(mine), np.asarray(expected), 1e-10)


def ask_center_of_mass(r, name, q, v, a):
    m, c, _ = r.rigid(q)
    position, velocity, *_ = solver(gs.CenterOfMass, r)(q, v)
    assert_close(position, c, 1e-10)
    assert_close(velocity, r.momentum(q)[3:] @ v / m, 1e-10)


def ask_centroidal_matrix(r, name, q, v, a):
    assert_close(solver(gs.CentroidalMatrix, r)(q), r.momentum(q), 1e-10)


def ask_centroidal_momentum(r, name, q, v, a):
    assert_close(solver(gs.CentroidalMomentum, r)(q, v), r.momentum(q) @ v, 1e-10)


def ask_centroidal_momentum_rate(r, name, q, v, a):
    c = r.rigid(q)[1]
    n, f = r.whole(q, v, a)
    mine = solver(gs.CentroidalMomentumRate, r)(q, v, a)
    assert_close(mine, np.concatenate([n - np.cross(c, f), f]), 1e-9)


def ask_zero_moment_point(r, name, q, v, a):
    p = solver(gs.ZeroMomentPoint, r, height=0.2)(q, v, a)
    n, f = r.whole(q, v, a, (0.0, 0.0, -9.81))
    assert_close(np.append((n - np.cross(p, f))[:2], p[2]), [0.0, 0.0, 0.2], 1e-9 * max(1.0, np.abs(n).max()))


def ask_capture_point(r, name, q, v, a):
    m, c, _ = r.rigid(q)
    dc = r.momentum(q)[3:] @ v / m
    expected = [*(c[:2] + dc[:2] * np.sqrt((c[2] + 9.0) / 9.81)), -9.0]
    assert_close(solver(gs.CapturePoint, r, height=-9.0)(q, v), expected, 1e-10)


def ask_stability_margin(r, name, q, v, a):
    points = [TIP, "boom.a", "boom.b"]
    expected = gs.support_polygon(r.model, q, points).margin(r.rigid(q)[1])
    assert_close(solver(gs.StabilityMargin, r, points)(q), expected, 1e-10)


# ------------------------------------------------------------------ forces and energies
def ask_inverse_dynamics(r, name, q, v, a):
    """Lagrange: M' v - d(v' M v / 2)/dq is what is even in the rates; damping is linear in them."""
    mine = solver(gs.InverseDynamics, r)
    rest = mine(q, 0.0 * v, 0.0 * v)
    forth, back = mine(q, v, 0.0 * v) - rest, mine(q, -v, 0.0 * v) - rest
    inertial = along(r.M, q, v) @ v - 0.5 * slopes(lambda x: v @ r.M(x) @ v, q)
    assert_close(0.5 * (forth + back), inertial, 1e-6)
    damping = 0.5 * (forth - back)
    assert_close(0.5 * (mine(q, 2.0 * v, 0.0 * v) - mine(q, -2.0 * v, 0.0 * v)), 2.0 * damping, 1e-9)
    assert v @ damping > 0.0
    assert_close(mine(q, v, a) - mine(q, v, 0.0 * v), r.M(q) @ a, 1e-9)
    assert_close(r.M(q), r.M(q).T, 1e-12)


def ask_coriolis(r, name, q, v, a):
    C = solver(gs.Coriolis, r)(q, v)
    assert_close(C + C.T, along(r.M, q, v), 1e-6)
    assert_close(C @ v, along(r.M, q, v) @ v - 0.5 * slopes(lambda x: v @ r.M(x) @ v, q), 1e-6)


def ask_equations_of_motion(r, name, q, v, a):
    D, C, G, Q, _ = solver(gs.EquationsOfMotion, r)(q, v)
    assert_close(D, r.M(q), 1e-10)
    assert_close(C + C.T, along(r.M, q, v), 1e-6)
    assert_close(D @ a + C @ v + G + Q, r.tau(q, v, a), 1e-10)


def ask_gravity_forces(r, name, q, v, a):
    """What inverse dynamics at rest has more than without weight."""
    heavy, light = (gs.rnea(m, q, 0.0 * v, 0.0 * v) for m in (r.model, arm(name, g=(0.0, 0.0, 0.0))))
    assert_close(solver(gs.GravityForces, r)(q), heavy - light, 1e-9)


def ask_potential_energy(r, name, q, v, a):
    """Its slope is what holds the arm, weight and springs together."""
    energy = solver(gs.PotentialEnergy, r)
    assert_close(slopes(energy, q), gs.rnea(r.model, q, 0.0 * v, 0.0 * v), 1e-7)


def ask_delta_acceleration(r, name, q, v, a):
    """M da = dtau - d(M a + h), at the acceleration that there is."""
    dq, dv, dtau = 0.3 * v, a, v
    M = r.M(q)
    there = np.linalg.solve(M, a - r.tau(q, v, 0.0 * v))
    change = [r.tau(q + s * H * dq, v + s * H * dv, there) for s in (1, -1)]
    expected = np.linalg.solve(M, dtau - (change[0] - change[1]) / (2.0 * H))
    assert_close(solver(gs.DeltaAcceleration, r)(q, v, a, dq, dv, dtau), expected, 2e-6)


def ask_parameter_derivatives(r, name, q, v, a):
    """By the mass of the hand, and by what is live of a beam."""
    values = {"hand.mass": 0.4}
    if name not in BODIES:
        boom = r.model.wiring.entities["boom"]
        live = [key for key in ("E", "density", "length") if boom.why_not_live(key) is None]
        values |= {f"boom.{key}": getattr(boom, key) for key in live}
    mine = solver(gs.ParameterDerivatives, r, list(values))(q, v, a)
    for k, (path, value) in enumerate(values.items()):
        ends = [gs.rnea(changed(r.model, path, value * (1.0 + s * H)), q, v, a) for s in (1, -1)]
        assert_close(mine[:, k] * value, (ends[0] - ends[1]) / (2.0 * H), 1e-6)


def ask_elastic_inverse_dynamics(r, name, q, v, a):
    with pytest.raises(gs.SpecError, match=r"flexible link 'boom'.*have no motor.*gs\.flexible"):
        gs.ElasticInverseDynamics(r.model)


def ask_regressor(r, name, q, v, a):
    """Pieces of an in-cut beam are rigid bodies; the others are refused."""
    if "in-cut" in name:
        followers.ask_regressor(r, name, q, v, a)
        return
    with pytest.raises(gs.RowError, match=r"'boom.*has an inertia of its own"):
        gs.Regressor(r.model)


OFTEN = ("ForwardDynamics", "InverseDynamics", "MassMatrix", "Jacobian", "PotentialEnergy", "ElasticInverseDynamics")
QUICK = ("modal, by b", "segments", "body, by its other interface")


def question(name):
    word = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return globals().get(f"ask{word}") or followers.question(name)


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        pytest.param(cls, kind, marks=[] if (cls in OFTEN and kind in QUICK) or kind == "shear" else [pytest.mark.slow])
        for cls in solver_classes()
        for kind in KINDS
    ],
)
def test_every_solver_moves_flexible_links(cls, kind, monkeypatch):
    monkeypatch.setitem(followers.FRAME, kind, TIP)
    monkeypatch.setitem(followers.BODY, kind, "hand")
    r = made(kind)
    question(cls)(r, kind, *state(r.model))


@pytest.mark.parametrize("kind", QUICK)
def test_inverse_kinematics_bends_no_link(kind):
    model = arm(kind)
    q0, bent = state(model)[0], np.array([name.startswith("boom.") for name in model.dofs])
    goal = np.where(bent, q0, q0 + 0.2)
    reached = gs.inverse_kinematics(model, TIP, gs.fk(model, goal)[TIP].p, q0)
    assert_close(reached.q[bent], q0[bent], 0.0)
    assert reached.converged
    away = gs.fk(model, goal)[TIP].p + gs.jacobian(model, goal, TIP, "aligned")[3:, 1] * 0.3
    assert not gs.inverse_kinematics(model, TIP, away, q0).converged


@pytest.mark.parametrize("kind", QUICK)
def test_random_deflections_are_small(kind):
    model = arm(kind)
    bent = np.array([name.startswith("boom.") for name in model.coordinates])
    q = gs.random_configuration(model, 3, 50)
    assert np.abs(q[:, bent]).max() < 0.02 < np.abs(q[:, ~bent]).max()


@pytest.mark.parametrize("kind", BODIES)
def test_a_body_becomes_rigid(kind):
    model = gs.flexible.rigid(arm(kind))
    assert model.dofs == ("shoulder", "wrist")
    flexible, q = arm(kind), np.array([0.3, -0.2])
    bent = np.array([name.startswith("boom.") for name in flexible.dofs])
    whole = np.zeros(flexible.nv)
    whole[~bent] = q
    assert_close(gs.crba(model, q), gs.crba(flexible, whole)[np.ix_(~bent, ~bent)], 1e-12)
