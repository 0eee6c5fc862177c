"""Joints that follow by curves, in every public solver: against the same robot with all joints free, whose motion is
put together here from g, its first and second derivative, by CasADi."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from tests.support.cam_models import ROBOTS, SlidingCrank, branched, inboard
from tests.support.comparing import assert_close
from tests.support.solver_zoo import solver_classes

H = 1e-5


def yoke_lift(q):
    return 0.1 + 0.3 * ca.cos(q)


def crank_lift(q):
    s = 0.2 * ca.sin(q)
    return 0.2 * ca.cos(q) + ca.sqrt(0.25 - s * s)


class Reduced:
    """A robot with a follower, and the same without what ties it; ``driver`` and ``follower`` by name."""

    def __init__(self, model, entity, driver, follower, lift):
        self.model = model
        kept = tuple(e for e in model.entities if e.name != entity)
        links = tuple(c for c in model.connections if not any(p.startswith(f"{entity}.") for p in c))
        self.free = gs.Model(model.name, kept, links, model.context)
        self.driver, self.follower = driver, follower
        x = ca.SX.sym("x")
        y = lift(x)
        slope = ca.gradient(y, x)
        self.curve = ca.Function("curve", [x], [y, slope, ca.gradient(slope, x)])

    def _at(self, q):
        return (float(z) for z in self.curve(q[self.model.coordinates.index(self.driver)]))

    def q(self, q):
        y, *_ = self._at(q)
        own = dict(zip(self.model.coordinates, q, strict=True)) | {self.follower: y}
        return np.array([own[name] for name in self.free.coordinates])

    def G(self, q):
        """(rates of the free robot, rates of the tied one)."""
        _, slope, _ = self._at(q)
        G = np.array([[float(a == b) for b in self.model.dofs] for a in self.free.dofs])
        G[self.free.dofs.index(self.follower), self.model.dofs.index(self.driver)] = slope
        return G

    def G_rate(self, q, v):
        *_, bend = self._at(q)
        k = self.model.dofs.index(self.driver)
        G = np.zeros((self.free.nv, self.model.nv))
        G[self.free.dofs.index(self.follower), k] = bend * v[k]
        return G

    def motion(self, q, v, a):
        G = self.G(q)
        return self.q(q), G @ v, G @ a + self.G_rate(q, v) @ v

    def tau(self, q, v, a):
        return self.G(q).T @ gs.rnea(self.free, *self.motion(q, v, a))

    def M(self, q):
        G = self.G(q)
        return G.T @ gs.crba(self.free, self.q(q)) @ G


PAIRS = {
    "branched": lambda: Reduced(branched(), "yoke", "elbow", "slide", yoke_lift),
    "floating": lambda: Reduced(branched("free"), "yoke", "elbow", "slide", yoke_lift),
    "inboard": lambda: Reduced(inboard(), "crank", "arm", "rail", crank_lift),
}
FRAME = {"branched": "lower.tip", "floating": "l_end.tip", "inboard": "hand.tip"}
BODY = {"branched": "left", "floating": "left", "inboard": "cart"}


def by_differences(f, model, q, v, what):
    """Columns of the derivative of f(q) along displacements, or of f(v)."""
    n, columns = model.nv, []
    for unit in np.eye(n):
        ends = (
            [gs.integrate(model, q, s * H * unit) for s in (1, -1)]
            if what == "q"
            else [v + s * H * unit for s in (1, -1)]
        )
        columns.append((f(ends[0]) - f(ends[1])) / (2.0 * H))
    return np.stack(columns, axis=-1)


def made(cls, r, name, **options):
    return cls(r.model, *options.pop("first", ()), mode="interpret", **options)


def _solve(r, q, v, tau):
    return np.linalg.solve(r.M(q), tau - r.tau(q, v, np.zeros_like(v)))


def _coriolis(r, q, v, C):
    """C v, and C + C^T = dM/dt."""
    rate = (r.M(gs.integrate(r.model, q, H * v)) - r.M(gs.integrate(r.model, q, -H * v))) / (2.0 * H)
    inertial = r.G(q).T @ (gs.coriolis(r.free, r.q(q), r.G(q) @ v) @ r.G(q) + gs.crba(r.free, r.q(q)) @ r.G_rate(q, v))
    assert_close(C + C.T, rate, 1e-7)
    assert_close(C @ v, inertial @ v, 1e-11)


def ask_actuator_dynamics(r, name, q, v, a):
    assert_close(gs.ActuatorDynamics(r.model).torques(q, v, a), r.tau(q, v, a), 1e-11)


def ask_bias(r, name, q, v, a):
    assert_close(made(gs.Bias, r, name)(q, v), r.tau(q, v, 0.0 * a), 1e-11)


def ask_center_of_mass(r, name, q, v, a):
    mine, theirs = (
        made(gs.CenterOfMass, r, name)(q, v),
        gs.CenterOfMass(r.free, mode="interpret")(*r.motion(q, v, a)[:2]),
    )
    assert_close(np.concatenate(mine), np.concatenate(theirs), 1e-12)


def ask_centroidal_matrix(r, name, q, v, a):
    assert_close(made(gs.CentroidalMatrix, r, name)(q), gs.centroidal_matrix(r.free, r.q(q)) @ r.G(q), 1e-12)


def ask_centroidal_momentum(r, name, q, v, a):
    assert_close(
        made(gs.CentroidalMomentum, r, name)(q, v), gs.centroidal_momentum(r.free, *r.motion(q, v, a)[:2]), 1e-12
    )


def _held(r, name, q, v):
    """J and dJ/dt v of the local velocity of the frame, over the rates of the tied robot."""
    x, w, _ = r.motion(q, v, 0.0 * v)
    J = gs.jacobian(r.free, x, FRAME[name], "local")
    return J @ r.G(q), gs.jacobian_rate(r.free, x, w, FRAME[name], "local") @ w + J @ r.G_rate(q, v) @ v


def ask_contact_dynamics(r, name, q, v, a):
    """Two components of the frame's velocity are held, or one if it has no more rates."""
    Q = np.eye(6)[3 : 3 + min(2, r.model.nv)]
    J, bias = (Q @ x for x in _held(r, name, q, v))
    free, Y = _solve(r, q, v, a), np.linalg.solve(r.M(q), J.T)
    f = -np.linalg.pinv(J @ Y, rcond=1e-9, hermitian=True) @ (J @ free + bias)
    got = made(gs.ContactDynamics, r, name, first=({FRAME[name]: Q},))(q, v, a)
    assert_close(got.a, free + Y @ f, 1e-9)
    assert_close(got.forces[FRAME[name]], Q.T @ f, 1e-9)


def ask_contact_dynamics_derivatives(r, name, q, v, a):
    held = {FRAME[name]: np.eye(6)[3:4]}
    mine = made(gs.ContactDynamicsDerivatives, r, name, first=(held,))(q, v, a)
    dynamics = made(gs.ContactDynamics, r, name, first=(held,))
    for k, x in ((0, "a"), (1, "forces")):
        by = [getattr(mine, f"d{x}_d{y}") for y in ("q", "v", "tau")]
        dq, dv, dtau = (y if x == "a" else y.array for y in by)
        assert_close(dq, by_differences(lambda p, k=k: dynamics(p, v, a)[k], r.model, q, v, "q"), 1e-5)
        assert_close(dv, by_differences(lambda p, k=k: dynamics(q, p, a)[k], r.model, q, v, "v"), 1e-5)
        assert_close(dtau, by_differences(lambda p, k=k: dynamics(q, v, p)[k], r.model, q, a, "v"), 1e-5)


def ask_impact(r, name, q, v, a):
    Q = np.eye(6)[3:4]
    J = Q @ _held(r, name, q, v)[0]
    Y = np.linalg.solve(r.M(q), J.T)
    P = -1.5 * np.linalg.pinv(J @ Y, rcond=1e-9, hermitian=True) @ (J @ v)
    got = made(gs.Impact, r, name, first=({FRAME[name]: Q}, 0.5))(q, v)
    assert_close(got.v, v + Y @ P, 1e-10)
    assert_close(got.impulses[FRAME[name]], Q.T @ P, 1e-9)


def ask_contact_velocities(r, name, q, v, a):
    """Of the rates, one follows: the one that moves the frame most in the direction that is held."""
    J = np.eye(6)[3:4] @ _held(r, name, q, v)[0]
    owners = r.model.layout.entities
    reach = {o: np.abs(J[0, r.model.layout.places([o])[1]]).max() for o in owners}
    follower = max(owners, key=reach.__getitem__)
    kept = [o for o in owners if o != follower]
    at = list(r.model.layout.places([follower])[1])
    M = r.M(q)[np.ix_(at, at)]
    jump = np.linalg.solve(M, J[0, at])
    expected = v.copy()
    expected[at] -= jump * (J[0] @ v) / (J[0, at] @ jump)
    got = made(gs.ContactVelocities, r, name, first=({FRAME[name]: np.eye(6)[3:4]}, kept))(q, v)
    assert_close(got, expected, 1e-9)


def ask_friction_margins(r, name, q, v, a):
    """From the forces of the contact, turned into the world's axes."""
    held = gs.FrameContact(FRAME[name], np.eye(6)[3:4], normal=(0.6, 0.0, 0.8), friction=0.4)
    force = made(gs.ContactDynamics, r, name, first=([held],))(q, v, a).forces[FRAME[name]][3:]
    force = gs.fk(r.free, r.q(q))[FRAME[name]].R @ force
    along = force @ held.normal
    expected = 0.4 * along - np.linalg.norm(force - along * np.array(held.normal))
    assert_close(made(gs.FrictionMargins, r, name, first=([held],))(q, v, a), [expected], 1e-9)


def ask_stability_margin(r, name, q, v, a):
    """Distance of the centre of mass from the polygon of the open robot."""
    first, *_ = (e for e in r.free.entities if isinstance(e, gs.RigidBody) and not FRAME[name].startswith(e.name))
    points = [FRAME[name], f"{first.name}.origin", f"{BODY[name]}.origin"]
    expected = gs.support_polygon(r.free, r.q(q), points).margin(gs.total_inertia(r.free, r.q(q)).p)
    assert_close(made(gs.StabilityMargin, r, name, first=(points,))(q), expected, 1e-12)


def ask_capture_point(r, name, q, v, a):
    x, w, _ = r.motion(q, v, a)
    c, dc = gs.center_of_mass(r.free, x, w)[:2]
    g = -np.array(r.model.context.gravity.g)[2]
    expected = [*(c[:2] + dc[:2] * np.sqrt((c[2] + 9.0) / g)), -9.0]
    assert_close(made(gs.CapturePoint, r, name, height=-9.0)(q, v), expected, 1e-12)


def ask_centroidal_momentum_rate(r, name, q, v, a):
    """By differences of the momentum of the open robot along the motion."""
    end = [
        gs.centroidal_momentum(
            r.free, *r.motion(gs.integrate(r.model, q, s * H * v + 0.5 * H * H * a), v + s * H * a, a)[:2]
        )
        for s in (1, -1)
    ]
    assert_close(made(gs.CentroidalMomentumRate, r, name)(q, v, a), (end[0] - end[1]) / (2.0 * H), 1e-6)


def ask_zero_moment_point(r, name, q, v, a):
    """Weight and the rate of momentum have no torque about it but along the normal."""
    p = made(gs.ZeroMomentPoint, r, name, height=0.2)(q, v, a)
    x, w, b = r.motion(q, v, a)
    total = gs.total_inertia(r.free, x)
    dh = gs.centroidal_momentum_rate(r.free, x, w, b)
    force = dh[3:] - total.m * np.array(r.model.context.gravity.g)
    torque = dh[:3] + np.cross(total.p - p, force)
    assert_close(np.array([*torque[:2], p[2]]), [0.0, 0.0, 0.2], 1e-9 * max(1.0, np.abs(dh).max()))


def ask_coriolis(r, name, q, v, a):
    _coriolis(r, q, v, made(gs.Coriolis, r, name)(q, v))


def ask_delta_acceleration(r, name, q, v, a):
    dq, dv, dtau = 0.3 * v, a, v
    f = lambda s: _solve(r, gs.integrate(r.model, q, s * dq), v + s * dv, a + s * dtau)  # noqa: E731
    mine = made(gs.DeltaAcceleration, r, name)(q, v, a, dq, dv, dtau)
    assert_close(mine, (f(H) - f(-H)) / (2.0 * H), 1e-6)


def ask_elastic_inverse_dynamics(r, name, q, v, a):
    if name != "inboard":
        with pytest.raises(gs.SpecError, match=r"quaternion|free"):
            gs.ElasticInverseDynamics(r.model)
        return
    assert_close(gs.ElasticInverseDynamics(r.model, mode="interpret")([q, v, a]).tau_motor, r.tau(q, v, a), 1e-11)
    soft = {"rotor_inertia": 1e-3, "gear_ratio": 50.0, "stiffness": 900.0}
    model = r.model.with_drive("end", **soft)
    solver = gs.ElasticInverseDynamics(model, mode="interpret")
    rng = np.random.default_rng(3)
    x = np.concatenate([[q, v, a], rng.normal(size=(solver.order - 2, 2))])
    mine = solver(x)
    state = [np.array([*row, theta[1]]) for row, theta in zip((q, v, a), mine[1:4], strict=True)]
    torques = gs.rnea(model, *state)  # of arm, end, rotor
    assert_close(torques, np.array([mine.tau_motor[0], 0.0, mine.tau_motor[1]]), 1e-9)


def ask_equations_of_motion(r, name, q, v, a):
    D, C, G, Q, _ = made(gs.EquationsOfMotion, r, name)(q, v)
    assert_close(D, r.M(q), 1e-12)
    _coriolis(r, q, v, C)
    assert_close(D @ a + C @ v + G + Q, r.tau(q, v, a), 1e-11)


def ask_forward_dynamics(r, name, q, v, a):
    assert_close(made(gs.ForwardDynamics, r, name)(q, v, a), _solve(r, q, v, a), 1e-10)


def ask_forward_dynamics_derivatives(r, name, q, v, a):
    mine = made(gs.ForwardDynamicsDerivatives, r, name)(q, v, a)
    assert_close(mine.da_dq, by_differences(lambda x: _solve(r, x, v, a), r.model, q, v, "q"), 1e-6)
    assert_close(mine.da_dv, by_differences(lambda x: _solve(r, q, x, a), r.model, q, v, "v"), 1e-6)
    assert_close(mine.da_dtau, np.linalg.inv(r.M(q)), 1e-10)


def ask_gravity_forces(r, name, q, v, a):
    assert_close(made(gs.GravityForces, r, name)(q), r.G(q).T @ gs.gravity(r.free, r.q(q)), 1e-12)


def ask_innovations(r, name, q, v, a):
    """M = L^T D L."""
    L, D = made(gs.Innovations, r, name)(q)
    assert_close(L.T @ np.diag(D) @ L, r.M(q), 1e-10)


def ask_inverse_dynamics(r, name, q, v, a):
    assert_close(made(gs.InverseDynamics, r, name)(q, v, a), r.tau(q, v, a), 1e-11)


def ask_inverse_dynamics_derivatives(r, name, q, v, a):
    mine = made(gs.InverseDynamicsDerivatives, r, name)(q, v, a)
    assert_close(mine.dtau_dq, by_differences(lambda x: r.tau(x, v, a), r.model, q, v, "q"), 1e-7)
    assert_close(mine.dtau_dv, by_differences(lambda x: r.tau(q, x, a), r.model, q, v, "v"), 1e-7)
    assert_close(mine.dtau_da, r.M(q), 1e-12)


def ask_inverse_dynamics_second_derivatives(r, name, q, v, a):
    mine = made(gs.InverseDynamicsSecondDerivatives, r, name)(q, v, a)
    first = gs.InverseDynamicsDerivatives(r.model, method="forward-mode")
    by_q = by_differences(lambda x: np.array(first(x, v, a)), r.model, q, v, "q")
    assert_close(mine.d2tau_dqdq, by_q[0], 1e-6)
    assert_close(mine.d2tau_dvdq, by_q[1], 1e-6)
    assert_close(mine.d2tau_dadq, by_q[2], 1e-6)
    by_v = by_differences(lambda x: np.array(first(q, x, a)), r.model, q, v, "v")
    assert_close(mine.d2tau_dvdv, by_v[1], 1e-6)


def ask_inverse_mass_matrix(r, name, q, v, a):
    assert_close(made(gs.InverseMassMatrix, r, name)(q), np.linalg.inv(r.M(q)), 1e-10)


def ask_inverse_operational_inertia(r, name, q, v, a):
    J = gs.jacobian(r.free, r.q(q), FRAME[name], "local") @ r.G(q)
    mine = made(gs.InverseOperationalInertia, r, name, first=({FRAME[name]: "fixed"},))(q)
    assert_close(mine, J @ np.linalg.inv(r.M(q)) @ J.T, 1e-10)


def ask_jacobian(r, name, q, v, a):
    assert_close(
        made(gs.Jacobian, r, name, first=(FRAME[name],))(q), gs.jacobian(r.free, r.q(q), FRAME[name]) @ r.G(q), 1e-12
    )


def ask_jacobian_rate(r, name, q, v, a):
    x, w, _ = r.motion(q, v, a)
    rate = gs.jacobian_rate(r.free, x, w, FRAME[name]) @ r.G(q) + gs.jacobian(r.free, x, FRAME[name]) @ r.G_rate(q, v)
    assert_close(made(gs.JacobianRate, r, name, first=(FRAME[name],))(q, v), rate, 1e-11)


def ask_kinetic_energy(r, name, q, v, a):
    assert_close(made(gs.KineticEnergy, r, name)(q, v), 0.5 * v @ r.M(q) @ v, 1e-12)


def ask_mass_matrix(r, name, q, v, a):
    assert_close(made(gs.MassMatrix, r, name)(q), r.M(q), 1e-12)


def ask_parameter_derivatives(r, name, q, v, a):
    """By the mass of a body, and by numbers of the curve."""
    mine = made(gs.ParameterDerivatives, r, name, first=([f"{BODY[name]}.mass"],))(q, v, a)[:, 0]
    free = gs.ParameterDerivatives(r.free, [f"{BODY[name]}.mass"])(*r.motion(q, v, a))[:, 0]
    assert_close(mine, r.G(q).T @ free, 1e-11)
    path, value = ("crank.l", 0.5) if name == "inboard" else ("yoke.radius", 0.3)
    slope = made(gs.ParameterDerivatives, r, name, first=([path],))(q, v, a)[:, 0]
    ends = [gs.rnea(r.model.replace({path: value + s * H}), q, v, a) for s in (1, -1)]
    assert_close(slope, (ends[0] - ends[1]) / (2.0 * H), 1e-6)


def ask_parameter_jacobian(r, name, q, v, a):
    path = [f"{FRAME[name]}.translation"]
    mine = made(gs.ParameterJacobian, r, name, first=(FRAME[name], path))(q)
    assert_close(mine, gs.ParameterJacobian(r.free, FRAME[name], path)(r.q(q)), 1e-12)


def ask_potential_energy(r, name, q, v, a):
    assert_close(made(gs.PotentialEnergy, r, name)(q), gs.potential_energy(r.free, r.q(q)), 1e-12)


def ask_reference_dynamics(r, name, q, v, a):
    """With v as the reference it is inverse dynamics."""
    mine = made(gs.ReferenceDynamics, r, name)(q, v, v, a)
    assert_close(mine, r.tau(q, v, a), 1e-10)


def ask_regressor(r, name, q, v, a):
    Y, rest = made(gs.Regressor, r, name)(q, v, a)
    assert_close(Y @ gs.inertial_parameters(r.model) + rest, r.tau(q, v, a), 1e-10)


def ask_total_inertia(r, name, q, v, a):
    mine, theirs = made(gs.TotalInertia, r, name)(q), gs.total_inertia(r.free, r.q(q))
    for x, y in zip(mine, theirs, strict=True):
        assert_close(np.asarray(x), np.asarray(y), 1e-12)


def question(name):
    word = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return globals()[f"ask{word}"]


@pytest.mark.by_default(19)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("solver", solver_classes())
def test_every_solver_moves_followers(solver, name):
    r = PAIRS[name]()
    rng = np.random.default_rng(11)
    q, v, a = gs.random_configuration(r.model, rng), rng.normal(size=r.model.nv), rng.normal(size=r.model.nv)
    question(solver)(r, name, q, v, a)


@pytest.mark.parametrize("name", PAIRS)
def test_frames_move_with_followers(name):
    r = PAIRS[name]()
    rng = np.random.default_rng(12)
    q, v, a = gs.random_configuration(r.model, rng), rng.normal(size=r.model.nv), rng.normal(size=r.model.nv)
    mine, theirs = (gs.ForwardKinematics(m, [FRAME[name]], mode="interpret") for m in (r.model, r.free))
    one, two = mine(q, v, a)[FRAME[name]], theirs(*r.motion(q, v, a))[FRAME[name]]
    for x, y in ((one.R, two.R), (one.p, two.p), (one.V, two.V), (one.A, two.A)):
        assert_close(x, y, 1e-11)


def test_inverse_kinematics_reaches_by_a_follower():
    model = PAIRS["inboard"]().model
    q = np.array([0.6, -0.4])
    target = gs.fk(model, q)["hand.tip"]
    reached = gs.inverse_kinematics(model, "hand.tip", target.p, q0=np.array([0.5, -0.2]))
    assert_close(gs.fk(model, reached.q)["hand.tip"].p, target.p, 1e-8)


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_and_forward_dynamics_agree_on_every_robot(name):
    model = ROBOTS[name]()
    rng = np.random.default_rng(13)
    q, v, a = gs.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a)
    M, h = gs.MassMatrix(model, mode="interpret")(q), gs.Bias(model, mode="interpret")(q, v)
    assert_close(M @ a + h, tau, 1e-11)
    assert_close(gs.ForwardDynamics(model, mode="interpret")(q, v, tau), a, 1e-10)
    closed, forward = (
        gs.InverseDynamicsDerivatives(model, method=m, mode="interpret")(q, v, a)
        for m in ("closed-form", "forward-mode")
    )
    for x, y in zip(closed, forward, strict=True):
        assert_close(x, y, 1e-11)
    stacked = gs.operators(model, q, v)
    assert_close(stacked.mass_matrix(), M, 1e-11)
    assert_close(stacked.rnea(a), tau, 1e-11)
    assert_close(stacked.aba(tau), a, 1e-10)
    C = gs.Coriolis(model, mode="interpret")(q, v)
    rate = [gs.crba(model, gs.integrate(model, q, s * H * v)) for s in (1, -1)]
    assert_close(C + C.T, (rate[0] - rate[1]) / (2.0 * H), 1e-6)
    D, C, G, Q, _ = gs.EquationsOfMotion(model, mode="interpret")(q, v)
    assert_close(D @ a + C @ v + G + Q, tau, 1e-11)
    assert_close(C + C.T, (rate[0] - rate[1]) / (2.0 * H), 1e-6)


def test_the_slider_crank_of_the_user_is_in_files(tmp_path):
    model = inboard()
    gs.save(model, tmp_path / "model.yaml")
    assert gs.load(tmp_path / "model.yaml") == model
    assert isinstance(model.entities[-1], SlidingCrank)
