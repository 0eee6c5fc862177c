"""Elastic inverse dynamics: orders from structure, limits that must come out, H04's own algorithm, calls and errors."""

from __future__ import annotations

import pickle
from math import comb

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spatial.algebra import tilde
from tests.support.comparing import assert_close, central

INERTIA, TIP = (0.02, 0.018, 0.006), (0.05, 0.0, 0.3)


def rods(axes, **options):
    """A chain of rods along z about the given axes, all joints elastic; options may hold a list for each joint."""
    links = []
    for k, axis in enumerate(axes, 1):
        body = gs.RigidBody(f"link{k}", mass=2.0 / k, com=(0.02, -0.01 * k, 0.15), inertia=INERTIA, frames={"tip": TIP})
        links += [gs.Joint(f"j{k}", "revolute", axis=axis), body]
    model = gs.assemble("rods", gs.chain("world", *links))
    for k in range(len(axes)):
        own = {key: value[k] if isinstance(value, list) else value for key, value in options.items()}
        given = {"rotor_inertia": 1e-3 / (k + 1), "gear_ratio": 30.0 - 4.0 * k, "stiffness": 900.0 + 100.0 * k} | own
        model = model.with_drive(f"j{k + 1}", **{key: x for key, x in given.items() if x is not None})
    return model


def motion(t, n, order):
    w, phase = 0.9 + 0.23 * np.arange(n), 0.4 * np.arange(n) + 0.2
    return np.array([0.6 * w**k * np.sin(w * t + phase + k * np.pi / 2) for k in range(order + 1)])


def interpreted(model, **options):
    return gs.ElasticInverseDynamics(model, mode="interpret", **options)


def stacked(D, found):
    return [np.concatenate(x) for x in ((D[0], found.theta), (D[1], found.theta_dot), (D[2], found.theta_ddot))]


def assert_consistent(model, D, found, tolerance=1e-11):
    """The equations of the whole model, joints without drive torque."""
    n = D.shape[-1]
    tau = gs.InverseDynamics(model, mode="interpret")(*stacked(D, found))
    assert_close(tau, np.concatenate([np.zeros(n), found.tau_motor]), tolerance)


# ---------------------------------------------------------------------------------------------- orders
def test_seven_perpendicular_axes_need_ten_derivatives_and_show_the_zeros_of_5_1():
    """H04 says 12 differentiations (14 derivatives of q), for equation 6 no longer contains theta_7''. But so it is
    with every neighbour, and the way 1, 3, 5, 7 is the longest: 8 differentiations. Rates remain: C_rotor of equation
    6 contains theta_7'."""
    solver = interpreted(gs.robots.elastic_arm())
    j, r = np.indices((7, 7))
    assert np.array_equal(solver.coupling() == 2, r > j + 1)  # S(q) of (5.1)
    assert np.array_equal(solver.coupling() == 1, (r == j + 1) & (j > 0))  # nothing turns link 1 but joint 1
    assert solver.order == 10
    assert list(solver.orders.values()) == [4, 4, 6, 7, 8, 9, 10]


def test_s_67_alone_would_save_one_derivative_only():
    """With general axes but the last two perpendicular, equation 6 still contains theta_7'."""
    from gyrostat.algorithms.elastic.drives import ElasticDrive
    from gyrostat.algorithms.elastic.structure import _alpha

    model = gs.robots.elastic_arm()
    drives = {k: ElasticDrive(k, 7 + k, "", "a", (k,)) for k in range(7)}
    full = {(k, 7 + r): 2 for k in range(7) for r in range(k + 1, 7)}
    assert max(_alpha(model, 7, drives, full)) == 14
    assert max(_alpha(model, 7, drives, full | {(5, 13): 1})) == 13
    assert max(_alpha(model, 7, drives, {key: x for key, x in full.items() if key != (5, 13)})) == 12  # H04 5.1


def test_the_highest_derivative_matters_and_no_higher_one_does():
    model = gs.robots.elastic_arm()
    solver = interpreted(model)
    D = motion(0.3, 7, 14)
    found = solver(D)
    for k, changes in ((10, True), (11, False), (14, False)):
        other = D.copy()
        other[k] += 1e30  # every coupling divides by a stiffness: the effect is small
        assert (np.abs(solver(other).tau_motor - found.tau_motor).max() > 0.0) == changes


@pytest.mark.parametrize(
    ("axes", "options", "order"),
    [
        ("y", {}, 4),
        ("yyy", {}, 8),  # parallel: S is constant, and not zero
        ("zyy", {}, 6),  # the elbow of textbooks: axis 1 is perpendicular to the others in every pose
        ("zyz", {}, 6),
        ("zyzy", {"carrier": "world", "rotor_axis": (0.0, 0.0, 1.0)}, 4),  # all rotors on the base
        ("zyzy", {"reflected_inertia_only": True}, 4),
        ("yyyy", {"stiffness": [None, 900.0, None, 900.0]}, 6),
        ("yyyy", {"stiffness": [None, None, None, None]}, 2),
    ],
)
def test_the_order_follows_from_axes_and_carriers(axes, options, order):
    assert interpreted(rods(axes, **options)).order == order


def test_live_axes_count_as_general_ones():
    model = rods("zyz")
    assert interpreted(model).order == 6
    solver = interpreted(model, live=["j2_drive.rotor.axis"])
    assert solver.order == 7  # rotor 2 may now turn about any axis, equation 2 contains the rate of rotor 3


# ---------------------------------------------------------------------------------------------- H04, Algorithm 1
def skewed(p):
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


def leibniz(A, x, k):
    """k-th derivative of A x from the derivatives of both."""
    return sum(comb(k, j) * A[j] @ x[k - j] for j in range(k + 1))


def outboard(phi, Delta, V):
    """Derivatives of phi V for those of V: phi' = -Delta~ phi (3.28), again and again as in (3.30)-(3.32)."""
    moved = [[phi @ x for x in V]]  # moved[k][l]: k-th derivative of phi V^(l)
    for k in range(len(V) - 1):
        before = moved[-1]
        turned = [leibniz(Delta, [row[l] for row in moved], k) for l in range(len(before) - 1)]
        moved.append([before[l + 1] - turned[l] for l in range(len(before) - 1)])
    return [row[0] for row in moved]


def inboard(phi, Delta, f):
    """Derivatives of phi^T f: D_(alpha+1) below (3.37)."""
    transposed, sent, back = [X.T for X in Delta], [], list(f)
    for _ in f:
        sent.append(phi.T @ back[0])
        back = [back[l + 1] - leibniz(transposed, back, l) for l in range(len(back) - 1)]
    return sent


def inertia_of(body):
    m, C = body.mass, skewed(body.com)
    return np.block([[np.diag(INERTIA) - m * C @ C, m * C], [-m * C, m * np.eye(3)]])


def algorithm_1(model, D, alpha):
    """H04's Algorithm 1 by its own formulas (3.26)-(3.37), derivatives with binomials, for a chain of revolute joints
    in body-fixed representation; rotor i on link i - 1, gravity as an acceleration of the base."""
    n, top = D.shape[1], max(alpha)
    axes = [np.array(model[f"j{k}.axis"]) for k in range(1, n + 1)]
    H = [np.concatenate([u, np.zeros(3)]) for u in axes]
    N, K, I = (
        [model[f"j{k}_drive.{x}"] for k in range(1, n + 1)] for x in ("gear.ratio", "spring.stiffness", "rotor.inertia")
    )
    V = [[np.zeros(6), np.array([0, 0, 0, 0, 0, 9.81]), *[np.zeros(6)] * top]]  # the base accelerates against gravity
    phi, Delta = [], []
    for i in range(n):
        X = skewed(axes[i])
        R = np.eye(3) + np.sin(D[0, i]) * X + (1 - np.cos(D[0, i])) * X @ X
        P = skewed(TIP if i else np.zeros(3))
        phi.append(np.block([[R.T, np.zeros((3, 3))], [-R.T @ P, R.T]]))
        rates = [H[i] * D[k + 1, i] for k in range(top + 2)]
        Delta.append([tilde(x) for x in rates])
        V.append([x + y for x, y in zip(outboard(phi[i], Delta[i], V[i]), rates, strict=True)])  # (3.26)
    theta, u_of, tau, f = [[]] * n, np.zeros(n), np.zeros(n), [np.zeros(6)] * (top + 1)
    for i in range(n - 1, -1, -1):
        M, v, orders = inertia_of(model[f"link{i + 1}"]), V[i + 1], alpha[i] + 1
        L = [np.zeros(6)] * (top + 2)
        if i + 1 < n:  # (3.33); the axes of a joint are parallel to those of the link before
            L = [H[i + 1] * I[i + 1] * x for x in theta[i + 1][1:]]
        V_, Omega = [-tilde(x).T for x in v], [tilde(np.concatenate([x[:3], np.zeros(3)])) for x in v]
        momentum = [M @ x for x in v]
        own = [M @ v[a + 1] + L[a + 1] + leibniz(V_, momentum, a) + leibniz(Omega, L, a) for a in range(orders)]
        f = [x + y for x, y in zip(f, own, strict=False)]  # (3.37), (3.36)
        u = [H[i] @ x for x in f]
        theta[i] = [(u[a] / K[i] + D[a, i]) * N[i] for a in range(orders)]
        carrier = V[i][1][:3] if i else np.zeros(3)
        u_of[i], tau[i] = u[0], u[0] / N[i] + I[i] * theta[i][2] + I[i] * axes[i] @ carrier  # (3.45)
        f = inboard(phi[i], Delta[i], f)
    return tau, np.array([x[:3] for x in theta]).T, u_of


@pytest.mark.parametrize("axes", ["zyzy", "yyy", "zxyz"])
def test_algorithm_1_of_h04_by_explicit_derivatives_gives_the_same(axes):
    """Tables 3.12-3.14 and (3.26)-(3.37), word for word; orders of general axes."""
    model, n = rods(axes), len(axes)
    alpha = [2 * (k + 1) for k in range(n)]
    D = motion(0.7, n, 2 * n + 4)
    tau, theta, u = algorithm_1(model, D, alpha)
    found = interpreted(model)(D)
    assert_close(found.tau_spring, u, 1e-12)
    assert_close(np.array([found.theta, found.theta_dot, found.theta_ddot]), theta, 1e-11)
    assert_close(found.tau_motor, tau, 1e-11)


# ---------------------------------------------------------------------------------------------- limits
def test_torques_tend_to_the_rigid_ones_as_one_over_the_stiffness():
    bare, D = gs.robots.elastic_arm(elastic=False), motion(0.4, 7, 10)
    ratios = np.array([bare[f"q{k}.gear.ratio"] for k in range(1, 8)])
    rigid = gs.rnea(bare, *D[:3]) / ratios
    assert_close(interpreted(bare)(D).tau_motor, rigid, 1e-12)
    model = gs.robots.elastic_arm()
    errors, scales = [], np.array([1.0, 10.0, 100.0, 1000.0])
    for scale in scales:
        stiff = {f"q{k}_drive.spring.stiffness": scale * model[f"q{k}_drive.spring.stiffness"] for k in range(1, 8)}
        errors.append(np.abs(interpreted(model.replace(stiff))(D).tau_motor - rigid).max())
    slope = np.polyfit(np.log(scales), np.log(errors), 1)[0]
    assert abs(slope + 1.0) < 0.01


def test_without_coupling_the_reduced_model_of_spong_appears():
    """M q'' + C + G = u = K (theta/N - q), I theta'' + u/N = tau."""
    model = gs.robots.elastic_arm(reflected_inertia_only=True)
    bare, solver = gs.robots.elastic_arm(drives=False), interpreted(model)
    assert solver.order == 4
    K, N, I = (
        np.array([model[f"q{k}_drive.{path}"] for k in range(1, 8)])
        for path in ("spring.stiffness", "gear.ratio", "rotor.inertia")
    )

    def u(t):
        return gs.rnea(bare, *motion(t, 7, 2))

    D, found = motion(0.4, 7, 4), solver(motion(0.4, 7, 4))
    assert_close(found.tau_spring, u(0.4), 1e-12)
    assert_close(found.theta, N * (D[0] + u(0.4) / K), 1e-12)
    second = central(lambda t: central(u, t, 1e-2), 0.4, 1e-2)
    theta_ddot = N * (D[2] + second / K)
    assert_close(found.theta_ddot, theta_ddot, 1e-8)
    assert_close(found.tau_motor, I * theta_ddot + u(0.4) / N, 1e-8)


def test_the_spring_torque_is_stiffness_times_deflection():
    model, D = rods("zyz"), motion(0.2, 3, 8)
    found = interpreted(model)(D)
    K, N = (np.array([model[f"j{k}_drive.{x}"] for k in (1, 2, 3)]) for x in ("spring.stiffness", "gear.ratio"))
    assert_close(found.tau_spring, K * (found.theta / N - D[0]), 1e-11)


# ---------------------------------------------------------------------------------------------- other drives
def test_progressive_springs_and_curves_are_turned_round():
    curve = ((-0.2, -300.0), (-0.01, -4.0), (0.02, 8.0), (0.2, 400.0))
    springs = [{"cubic": 3e5}, {"cubic": 1e6, "rest": 0.05}, {"stiffness": None, "curve": curve}]
    model = rods("zyy", spring=springs, stiffness=[700.0, 800.0, None])
    D = motion(0.6, 3, 8)
    found = interpreted(model)(D)
    assert_consistent(model, D, found)
    solver = interpreted(model)
    for value, slope in (("theta", "theta_dot"), ("theta_dot", "theta_ddot")):
        rate = central(lambda t, name=value: getattr(solver(motion(t, 3, 8)), name), 0.6, 1e-3)
        assert_close(rate, getattr(found, slope), 1e-7)


@pytest.mark.parametrize("at", ["joint", "motor"])
def test_friction_is_carried_by_the_motors(at):
    friction = [{"smooth": 0.5}, {"static": 2.0, "stribeck": 0.3}, {"smooth": 0.8}]
    model = rods("yzy", viscous=0.3, coulomb=[0.5, (1.5, 1.0), (0.4, 0.6)], friction=friction, friction_at=at)
    D, solver = motion(0.5, 3, 10), interpreted(model)
    found = solver(D)
    assert_consistent(model, D, found)
    rate = central(lambda t: solver(motion(t, 3, 10)).theta_dot, 0.5, 1e-3)
    assert_close(rate, found.theta_ddot, 1e-7)


def test_stiff_drives_and_joints_without_drive_may_be_among_them():
    model = rods("yyzy", stiffness=[900.0, None, 800.0, None], rotor_inertia=[1e-3, 1e-3, 5e-4, 4e-4])
    D = motion(0.5, 4, 8)
    solver = interpreted(model)
    found = solver(D)
    assert solver.elastic == ("j1", "j3")
    q, v, a = (
        np.concatenate([x, y[[0, 2]]])
        for x, y in ((D[0], found.theta), (D[1], found.theta_dot), (D[2], found.theta_ddot))
    )
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a)
    ratios = np.array([model[f"j{k}_drive.gear.ratio"] for k in (1, 2, 3, 4)])
    assert_close(tau[4:], found.tau_motor[[0, 2]], 1e-12)
    assert_close(tau[:4], [0.0, found.tau_motor[1] * ratios[1], 0.0, found.tau_motor[3] * ratios[3]], 1e-12)
    assert_close(found.theta[[1, 3]], (ratios * D[0])[[1, 3]], 1e-13)


def test_springs_met_from_either_side_and_on_the_motor_side_of_the_gear():
    def model(flipped, fast):
        parts = [
            gs.Joint("hinge", "revolute", axis="y"),
            gs.RigidBody("arm", mass=2.0, com=(0, 0, 0.3), inertia=(0.1, 0.1, 0.02)),
            gs.RotorInertia("wheel", inertia=2e-3, axis="y"),
            gs.Gear("gear", ratio=20.0),
            gs.Spring("shaft", stiffness=2.0 if fast else 800.0),
            gs.connect("world.frame", "hinge.a"),
            gs.connect("hinge.b", "arm.origin"),
            gs.connect("world.frame", "wheel.carrier"),
        ]
        near, far = ("b", "a") if flipped else ("a", "b")
        if fast:
            links = [("wheel.shaft", f"shaft.{near}"), (f"shaft.{far}", "gear.motor"), ("gear.joint", "hinge.shaft")]
        else:
            links = [("wheel.shaft", "gear.motor"), ("gear.joint", f"shaft.{near}"), (f"shaft.{far}", "hinge.shaft")]
        return gs.assemble("hinge", *parts, *(gs.connect(*link) for link in links))

    D = motion(0.3, 1, 4)
    found = [interpreted(model(flipped, fast))(D) for flipped in (False, True) for fast in (False, True)]
    for other in found[1:]:  # 2 N m/rad at the motor are 800 at the joint
        for one, two in zip(found[0], other, strict=True):
            assert_close(two, one, 1e-12)
    assert_consistent(model(True, True), D, found[3])


def wrist(ratio=((1.0, 0.5), (1.0, -0.5))):
    """Motors, each elastic, turn pitch and roll together through a differential."""
    parts = [
        gs.Joint("pitch", "revolute", axis="y"),
        gs.RigidBody("hand", mass=1.0, com=(0.02, 0, 0.1), inertia=(0.01, 0.012, 0.004), frames={"tip": (0, 0, 0.1)}),
        gs.Joint("roll", "revolute", axis="z"),
        gs.RigidBody("tool", mass=0.7, com=(0.05, 0.01, 0.05), inertia=(0.004, 0.005, 0.003)),
        gs.Gear("differential", ratio=ratio),
    ]
    links = [("world.frame", "pitch.a"), ("pitch.b", "hand.origin"), ("hand.tip", "roll.a"), ("roll.b", "tool.origin")]
    links += [("pitch.shaft", "differential.joint1"), ("roll.shaft", "differential.joint2")]
    for k in ("1", "2") if len(ratio) > 1 else ("",):
        parts += [
            gs.RotorInertia(f"rotor{k}", inertia=3e-5, axis=(0.0, 1.0, 0.0)),
            gs.Gear(f"gear{k}", ratio=60.0),
            gs.Spring(f"spring{k}", stiffness=400.0, cubic=1e4),
        ]
        links += [("world.frame", f"rotor{k}.carrier"), (f"rotor{k}.shaft", f"gear{k}.motor")]
        links += [(f"gear{k}.joint", f"spring{k}.a"), (f"spring{k}.b", f"differential.motor{k}")]
    return gs.assemble("wrist", *parts, *(gs.connect(*link) for link in links))


def test_elastic_motors_in_front_of_a_differential():
    model, D = wrist(), motion(0.5, 2, 6)
    for solver in (interpreted(model), gs.ElasticInverseDynamics(model, live=["differential.ratio"])):
        found = solver(D)
        assert solver.order == 4
        assert_consistent(model, D, found)
    rate = central(lambda t: interpreted(model)(motion(t, 2, 6)).theta_dot, 0.5, 1e-3)
    assert_close(rate, found.theta_ddot, 1e-8)
    with pytest.raises(gs.SpecError, match="one spring cannot give each joint its own torque"):
        interpreted(wrist(((1.0, 0.5),)))


def test_negligible_couplings_save_orders():
    axes = [(0.0, 0.0, 1.0), (0.0, 1.0, 4e-6), (0.0, 0.0, 1.0), (0.0, 1.0, -3e-6)]  # as files have them
    exact, rough = rods(axes), rods("zyzy")
    assert (interpreted(exact).order, interpreted(exact, negligible=1e-4).order) == (10, interpreted(rough).order)
    D = motion(0.3, 4, 10)
    one, two = interpreted(exact)(D), interpreted(exact, negligible=1e-4)(D)
    assert_close(two.tau_motor, one.tau_motor, 1e-8)
    with pytest.raises(gs.GyrostatError, match="negligible must be a share"):
        interpreted(rough, negligible=2.0)


def test_a_base_that_swings_is_differentiated_too():
    swing = gs.HarmonicMotion(amplitude=(0.1, 0.0, 0.05), frequency=0.4, swing=0.3, swing_frequency=0.3, axis=(1, 0, 0))
    model = rods("zyz").replace({"context.base": swing})
    solver, D = interpreted(model), motion(0.4, 3, 8)
    assert solver.orders == {"j1": 4, "j2": 5, "j3": 6}  # the base turns link 1: theta_2' is in equation 1
    found = solver(D, t=0.4)
    tau = gs.InverseDynamics(model, mode="interpret")(*stacked(D, found), t=0.4)
    assert_close(tau, np.concatenate([np.zeros(3), found.tau_motor]), 1e-11)
    rate = central(lambda t: solver(motion(t, 3, 8), t=t).theta_dot, 0.4, 1e-3)
    assert_close(rate, found.theta_ddot, 1e-8)


@pytest.mark.parametrize("representation", ["inertial", "absolute"])
def test_all_representations_give_the_same(representation):
    model, D = rods("zyy"), motion(0.3, 3, 6)
    for one, two in zip(interpreted(model)(D), interpreted(model, representation=representation)(D), strict=True):
        assert_close(two, one, 1e-11)


# ---------------------------------------------------------------------------------------------- calls
@pytest.fixture(scope="module")
def small():
    return gs.ElasticInverseDynamics(rods("zy"))


def test_batches_threads_and_out_equal_single_calls(small):
    D = np.array([motion(t, 2, small.order) for t in np.linspace(0, 2, 12)])
    single = [small(x) for x in D]
    for got in (small(D), small(D.reshape(3, 4, *D.shape[1:])), small(D, threads=2), small(D.tolist())):
        for name, values in zip(got._fields, got, strict=True):
            assert np.array_equal(values.reshape(12, 2), [getattr(x, name) for x in single])
    out = tuple(np.empty((12, 2)) for _ in range(5))
    small(D, out=out)
    assert np.array_equal(out[0], small(D).tau_motor)
    plain = interpreted(small.model)(D)
    for one, two in zip(small(D), plain, strict=True):
        assert_close(one, two, 1e-12)


def test_live_properties_are_read_at_every_call(small):
    model = small.model
    solver = gs.ElasticInverseDynamics(model, live=["j1_drive.spring.stiffness", "link2.mass"])
    D = motion(0.3, 2, solver.order)
    assert_close(solver(D).tau_motor, small(D).tau_motor, 1e-13)
    changed = model.replace({"j1_drive.spring.stiffness": 500.0, "link2.mass": 3.0})
    solver.refresh(changed)
    assert_close(solver(D).tau_motor, interpreted(changed)(D).tau_motor, 1e-12)


def test_it_can_be_copied_explained_and_differentiated(small):
    D = motion(0.3, 2, small.order)
    twin = pickle.loads(pickle.dumps(small))
    assert np.array_equal(twin(D).tau_motor, small(D).tau_motor)
    assert "operations kept" in small.explain()
    J = small.jacobian("tau_motor", "derivatives")(D)
    assert J.shape == (2, small.order + 1, 2)
    assert np.abs(J[:, small.order]).max() > 0.0


def test_wrong_derivatives_are_refused_in_words(small):
    D = motion(0.3, 2, small.order)
    with pytest.raises(gs.ShapeError, match=r"orders 0 to 3, expected 0 to 4, which this robot needs"):
        small(D[:4])
    with pytest.raises(gs.ShapeError, match=r"shape \(5, 3\), expected \(\.\.\., 5, 2\).*j1, j2"):
        small(np.zeros((5, 3)))
    with pytest.raises(gs.ShapeError, match="real numbers"):
        small(D + 1j)
    bad = D.copy()
    bad[2, 1] = np.nan
    for solver in (small, interpreted(small.model)):
        with pytest.raises(gs.NonFiniteError, match="derivative 2 of 'j2' is nan"):
            solver(bad)
    with pytest.raises(gs.GyrostatError, match="has no in_order"):
        small.in_order(["j2", "j1"])


# ---------------------------------------------------------------------------------------------- errors
def test_damping_in_the_elasticity_says_why_it_cannot_be_inverted():
    with pytest.raises(gs.SpecError, match=r"'j1_drive.damper'.*differential equation"):
        interpreted(rods("zy", damping=1.0))
    model = rods("zy", damping=0.0)
    assert interpreted(model).order == 4
    with pytest.raises(gs.SpecError, match="differential equation"):
        interpreted(model, live=["j1_drive.damper.damping"])


def test_rotors_that_act_on_their_own_joints_are_refused():
    with pytest.raises(gs.SpecError, match="rotor of 'j1' acts on the equation of its own joint"):
        interpreted(rods("zy", carrier=["link1", None], rotor_axis=[(0.0, 0.0, 1.0), None]))
    circle = {"carrier": ["link2", "link1"], "rotor_axis": [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]}
    with pytest.raises(gs.SpecError, match="'j1', 'j2' act on each other's joints in a circle"):
        interpreted(rods("zy", **circle))


def test_a_rotor_outboard_of_its_joint_is_fine_where_it_does_not_act_on_it():
    model = rods("zz", carrier=["link1", None], rotor_axis=[(1.0, 0.0, 0.0), None])
    solver, D = interpreted(model), motion(0.3, 2, 10)
    assert_consistent(model, D, solver(D))


def test_what_cannot_be_prescribed_is_refused():
    model = rods("zy")
    with pytest.raises(gs.SpecError, match="base is free"):
        interpreted(gs.robots.tree(0, 2, ("revolute",), base="free"))
    with pytest.raises(gs.SpecError, match=r"'joint0'.*quaternion"):
        interpreted(gs.robots.tree(0, 1, ("spherical",)))
    loose = gs.assemble(
        "wheels", gs.RotorInertia("wheel", inertia=1e-3, axis="z"), gs.connect("world.frame", "wheel.carrier")
    )
    with pytest.raises(gs.SpecError, match=r"'wheel'.*nothing prescribes its motion"):
        interpreted(loose)
    falling = {"stiffness": None, "curve": ((-1.0, 5.0), (0.0, 0.0), (1.0, 5.0))}
    with pytest.raises(gs.SpecError, match="does not increase"):
        interpreted(rods("z", spring=falling, stiffness=[None]))
    assert model.nv == 4
