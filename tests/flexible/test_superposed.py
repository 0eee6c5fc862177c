"""Small vibrations on a recorded rigid motion [AS 2.2, (19)]: against the full motion, closed forms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from tests.flexible.jointed_beams import two_booms

T = 4.0
TURN = np.array([0.9, -0.9])
BEGIN = np.array([0.3, 0.4])


KP, KD = np.array([400.0, 150.0]), np.array([250.0, 80.0])
EXACT = {"rtol": 1e-10, "atol": 1e-12, "progress": False}


def slew(t, q, v, kp=KP, kd=KD):
    """PD about a smooth turn of both hinges."""
    phase = 2.0 * np.pi * t / T
    goal, rate = BEGIN + (t / T - np.sin(phase) / (2.0 * np.pi)) * TURN, (1.0 - np.cos(phase)) / T * TURN
    return kp * (goal - q) + kd * (rate - v)


@cache
def booms(**options):
    return two_booms(damping=2e-3, **options)


@cache
def recorded(samples=401, **options):
    return gs.simulate(booms(**options)[1], slew, BEGIN, t_eval=np.linspace(0.0, T, samples), **EXACT)


# ------------------------------------------------------------------------------------------- against the full motion
def test_the_difference_from_the_full_motion_falls_with_the_square_of_the_deflection():
    """AS neglects what is of second order in the displacements: ten times the stiffness, a hundredth of the error."""
    differences, sizes = [], []
    for EI in (1e3, 1e4, 1e5):
        flexible, rigid = booms(EI=EI)
        both = gs.flexible.compare(flexible, rigid, slew, BEGIN, t_end=T, dt=T / 400, frame="load.tip")
        differences.append(np.abs(both.difference).max())
        sizes.append(np.abs(both.superposed.U).max())
    orders = np.diff(np.log(differences)) / np.diff(np.log(sizes))
    assert np.all(np.abs(orders - 2.0) < 0.1), orders
    assert 5e-5 < sizes[-1] < 2e-4 and differences[-1] < 5e-9


def test_a_soft_arm_leaves_the_range_of_small_vibrations_and_is_told_so():
    flexible, rigid = booms(EI=1e2)
    both = gs.flexible.compare(flexible, rigid, slew, BEGIN, t_end=T, dt=T / 400, frame="load.tip")
    assert both.share > 0.01 and both.turn > 0.2 and both.first_apart() is not None
    assert "agree roughly" in str(both) and "from t =" in str(both)
    assert both.plot().axes


@pytest.mark.slow
def test_a_free_floating_base_is_superposed_to_second_order_too():
    """Quaternions: U is a displacement along the rates, U' its derivative."""

    def law(t, q, v):
        return np.concatenate([-30.0 * v[:3], -5.0 * v[3:6], slew(t, q[7:], v[6:])])

    shares = []
    start = np.concatenate([[0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0], BEGIN])
    for EI in (1e3, 1e4):
        flexible, rigid = booms(EI=EI, base="free", elements=1)
        both = gs.flexible.compare(flexible, rigid, law, start, t_end=T, dt=T / 800, frame="load.tip")
        assert np.abs(both.rigid.v[:, 2]).max() > 0.05  # the craft turns
        shares.append(np.abs(both.difference).max() / np.abs(both.vibration).max() ** 2)
    assert 0.3 < shares[1] / shares[0] < 3.0


# ------------------------------------------------------------------------------------------------ the equations
def test_the_equations_at_rest_are_those_of_eigenfrequencies():
    flexible, rigid = booms(EI=1e4)
    modes = gs.eigenfrequencies(flexible, np.array([0.3, *[0.0] * 4, 0.4, *[0.0] * 4]), locked=["hinge1", "hinge2"])
    shape, hz = modes.modes[:, 0], modes.undamped[0]
    t = np.linspace(0.0, 2.0 / hz, 801)
    still = gs.simulate(rigid, None, BEGIN, t_eval=t, progress=False)
    undamped = two_booms(EI=1e4)[0]
    run = gs.flexible.superposed(undamped, still, locked=["hinge1", "hinge2"], start=1e-3 * shape)
    expected = 1e-3 * shape * np.cos(2.0 * np.pi * hz * t)[:, None]
    assert np.abs(run.U - expected).max() < 1e-7 * np.abs(expected).max()


def test_steps_have_their_orders():
    errors = {}
    fine = gs.flexible.superposed(booms(EI=1e3)[0], recorded(3201, EI=1e3), slew).U[-1]
    for method in ("simpson", "trapezoid"):
        ends = [
            gs.flexible.superposed(booms(EI=1e3)[0], recorded(n, EI=1e3), slew, method=method).U[-1]
            for n in (101, 201, 401)
        ]
        errors[method] = np.array([np.abs(end - fine).max() for end in ends])
    slopes = {method: np.log2(x[:-1] / x[1:]) for method, x in errors.items()}
    assert slopes["simpson"][-1] == pytest.approx(4.0, abs=0.3), slopes
    assert slopes["trapezoid"][-1] == pytest.approx(2.0, abs=0.2), slopes


def test_the_motion_is_that_of_runge_and_kutta_on_finite_differences_of_rnea():
    """An independent integration of an independent linearisation, with a law that saturates."""

    def law(t, q, v):
        return 4.0 * np.tanh(slew(t, q, v, np.array([60.0, 20.0]), np.array([20.0, 4.0])) / 4.0)

    flexible, rigid = two_booms(EI=1e3, elements=1)
    t = np.linspace(0.0, 1.0, 401)
    run = gs.simulate(rigid, law, BEGIN, t_eval=t, **EXACT)
    small = gs.flexible.superposed(flexible, run, law)
    dense = gs.simulate(rigid, law, BEGIN, t_eval=np.linspace(0.0, 1.0, 2001), **EXACT)
    at = [flexible.dofs.index("hinge1"), flexible.dofs.index("hinge2")]
    n, rnea, e = flexible.nv, gs.InverseDynamics(flexible), 1e-5

    def whole(x):
        y = np.zeros(n)
        y[at] = x
        return y

    def rates(s, y):
        k = min(round(s * 2000), 2000)
        q, v, a = (whole(x[k]) for x in (dense.q, dense.v, dense.a))
        U, V = y[:n], y[n:]
        along = (rnea(q + e * U, v + e * V, a) - rnea(q - e * U, v - e * V, a)) / (2.0 * e)
        F = whole(law(s, dense.q[k] + U[at], dense.v[k] + V[at]))
        return np.concatenate([V, np.linalg.solve(gs.crba(flexible, q), F - rnea(q, v, a) - along)])

    y = np.zeros(2 * n)
    for k in range(1000):  # the classical method, two samples for a step
        h, s = 1e-3, 1e-3 * k
        k1 = rates(s, y)
        k2 = rates(s + h / 2, y + h / 2 * k1)
        k3 = rates(s + h / 2, y + h / 2 * k2)
        k4 = rates(s + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert np.abs(small.U[-1] - y[:n]).max() < 1e-6 * np.abs(small.U).max()
    assert np.abs(law(0.5, small.q[200, at], small.v[200, at]) - small.tau[200, at]).max() < 1e-9


# ------------------------------------------------------------------------------------------------ cases
def test_a_case_alone_is_the_same_as_among_others():
    flexible, run = booms(EI=1e4)[0], recorded(EI=1e4)
    wrench = np.zeros((3, 6))
    wrench[:, 4] = 0.0, 5.0, -3.0
    start = np.zeros((3, flexible.nv))
    start[:, 3] = 1e-3, 0.0, 2e-3
    many = gs.flexible.superposed(flexible, run, slew, wrenches={"load.tip": wrench}, start=start)
    for k in range(3):
        one = gs.flexible.superposed(
            flexible, run, slew, wrenches={"load.tip": lambda t, k=k: wrench[k]}, start=start[k]
        )
        assert np.abs(many.U[:, k] - one.U).max() < 1e-12
        assert np.abs(many.deviation("load.tip")[:, k] - one.deviation("load.tip")).max() < 1e-12
    assert many.U.shape == (401, 3, 10) and many["hinge1"].shape == (401, 3) and many.mu["hinge1"].shape == (401, 3)


def test_payloads_and_gains_of_cases_are_those_of_models_of_their_own():
    def law(t, q, v, kp):
        return slew(t, q, v, kp=kp)

    flexible, run = booms(EI=1e4)[0], recorded(101, EI=1e4)
    masses, gains = np.array([1.0, 2.5]), np.array([[400.0, 150.0], [300.0, 200.0]])
    many = gs.flexible.superposed(flexible, run, law, parameters={"load.mass": masses, "kp": gains}, every=4)
    assert many.t.shape == (26,) and many.U.shape == (26, 2, 10)
    for k in range(2):
        own = flexible.replace({"load.mass": masses[k]})
        one = gs.flexible.superposed(own, run, lambda t, q, v, k=k: slew(t, q, v, kp=gains[k]), every=4)
        assert np.abs(many.U[:, k] - one.U).max() < 1e-11
        assert np.abs(many.tau[:, k] - one.tau).max() < 1e-8


def test_more_cases_than_are_stepped_together_are_all_there():
    flexible, run = booms(EI=1e4)[0], recorded(11, EI=1e4)
    masses, push = np.linspace(1.0, 3.0, 70), np.zeros((70, 6))
    push[:, 4] = np.linspace(-2.0, 2.0, 70)
    many = gs.flexible.superposed(flexible, run, slew, parameters={"load.mass": masses}, wrenches={"load.tip": push})
    own = {"parameters": {"load.mass": masses[66:67]}, "wrenches": {"load.tip": push[66]}}
    assert np.abs(many.U[:, 66] - gs.flexible.superposed(flexible, run, slew, **own).U[:, 0]).max() < 1e-13
    with pytest.raises(gs.ShapeError, match=r"different numbers of cases: load.mass 70, wrenches 3"):
        gs.flexible.superposed(flexible, run, slew, parameters={"load.mass": masses}, wrenches={"load.tip": push[:3]})


def test_a_drive_with_a_state_of_its_own_integrates_it():
    """AS: F(q + mu, q' + mu', p, p'). A PID law as a block, against the full motion with gains at the hinges alone."""
    flexible, rigid = booms(EI=1e5)
    at, gains = [0, 5], np.zeros((3, 10))
    gains[:, at] = [[400.0, 150.0], [90.0, 40.0], [250.0, 80.0]]
    goal = np.zeros(10)
    t = np.linspace(0.0, 1.0, 801)
    run = gs.simulate(
        rigid,
        gs.blocks.pid(*gains[:, at], reference=goal[at]),
        [0.02, 0.01],
        t_eval=t,
        rtol=1e-10,
        atol=1e-12,
        progress=False,
    )
    small = gs.flexible.superposed(flexible, run, gs.blocks.pid(*gains[:, at], reference=goal[at]))
    begin = np.zeros(10)
    begin[at] = 0.02, 0.01
    full = gs.simulate(
        flexible,
        gs.blocks.pid(*gains, reference=goal),
        begin,
        t_eval=t,
        method="radau",
        rtol=1e-9,
        atol=1e-12,
        progress=False,
    )
    p = full.p[:, at]
    assert small.p.shape == run.p.shape == p.shape
    assert np.abs(run.p - p).max() > 1e-4  # the integral sees the vibration
    assert np.abs(small.p - p).max() < 1e-3 * np.abs(run.p - p).max()
    late = t > 0.2  # the start is a blow
    assert np.abs(small.q - full.q)[late].max() < 1e-3 * np.abs(small.U).max()


def test_a_trajectory_is_followed_with_the_torques_of_the_undeformed_robot():
    flexible, rigid = booms(EI=1e4)
    path = gs.trajectories.point_to_point(BEGIN, BEGIN + TURN, duration=T, order=5)
    feed = gs.flexible.superposed(flexible, path, rigid=rigid, dt=1e-2)
    assert np.abs(feed.tau[:, [0, 5]] - gs.rnea(rigid, *np.moveaxis(path.derivatives(feed.t, 2), 1, 0))).max() < 1e-9
    held = gs.flexible.superposed(flexible, path, rigid=rigid, dt=1e-2, locked=["hinge1", "hinge2"])
    assert np.abs(held["hinge1"]).max() == 0.0 and np.abs(held["boom1_z1"]).max() > 1e-5


def test_the_static_start_is_the_sag_and_stays():
    flexible, rigid = booms(EI=1e4, axes="zy", gravity=(0, 0, -9.81), elements=1)
    still = gs.simulate(rigid, None, BEGIN, t_eval=np.linspace(0.0, 1.0, 201), progress=False)
    run = gs.flexible.superposed(flexible, still, start="static", locked=["hinge1", "hinge2"])
    assert np.ptp(run.U[:, run.nominal.elastic], axis=0).max() < 1e-10
    q0 = gs.integrate(flexible, run.nominal.q[0], run.U[0])
    left = np.abs(gs.rnea(flexible, q0, np.zeros(flexible.nv), np.zeros(flexible.nv))[run.nominal.elastic])
    assert np.abs(run.U[0]).max() > 1e-3 and left.max() < 0.05  # of second order in U; 70 N m are carried


# ------------------------------------------------------------------------------------------------ samples, refusals
def test_uneven_samples_are_interpolated_where_dt_is_given_and_refused_otherwise():
    flexible, rigid = booms(EI=1e4)
    uneven = gs.simulate(rigid, slew, BEGIN, t_end=T, **EXACT)
    with pytest.raises(gs.StateError, match=r"samples from .* apart, expected an odd number, evenly spaced. Hint: dt="):
        gs.flexible.superposed(flexible, uneven, slew)
    run = gs.flexible.superposed(flexible, uneven, slew, dt=T / 400)
    assert np.abs(run.U - gs.flexible.superposed(flexible, recorded(EI=1e4), slew).U).max() < 1e-8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "simson"}, "there is no method 'simson'. Hint: .*simpson"),
        ({"locked": ["hinge3"]}, "locked names 'hinge3', which is no rate. Hint: .*hinge1"),
        ({"start": "rest"}, "start is 'rest'. Hint: start='static'"),
        ({"start": np.zeros(3)}, r"start has shape \(3,\), expected \(10,\) or \(N, 10\)"),
        ({"every": 0}, "every must be a whole number from 1 on, got 0"),
        ({"parameters": {"load.mas": [1.0]}}, "parameters name 'load.mas', which is no property"),
        ({"parameters": {"load.mass": 1.0}}, r"parameters\['load.mass'\] has shape \(\), expected \(N, "),
        ({"wrenches": {"load.tip": np.zeros(3)}}, r"wrench at 'load.tip' has shape \(3,\)"),
        ({"dt": -1.0}, "dt must be a time"),
    ],
)
def test_what_is_given_wrongly_is_told(options, message):
    with pytest.raises(gs.GyrostatError, match=message):
        gs.flexible.superposed(booms(EI=1e4)[0], recorded(EI=1e4), slew, **options)


def test_what_cannot_be_superposed_is_refused_by_name():
    flexible, run = booms(EI=1e4)[0], recorded(EI=1e4)
    with pytest.raises(gs.StateError, match=r"the rigid motion is int, expected a gs.Result or a trajectory"):
        gs.flexible.superposed(flexible, 3, slew)
    with pytest.raises(gs.SpecError, match="'hinge1' moves in 'booms' and is not in 'two_link'"):
        gs.flexible.superposed(gs.robots.two_link(), run, slew)
    with pytest.raises(gs.RecordError, match=r"superposed: the function .* cannot be compiled"):
        gs.flexible.superposed(flexible, run, lambda t, q, v: -q if q[0] > 0 else q)
    with pytest.raises(gs.StateError, match="is digital, and vibrations are integrated without its sampling"):
        gs.flexible.superposed(flexible, run, gs.blocks.sampled(lambda t, q, v: -q, 0.01))
    with pytest.raises(gs.StateError, match=r"there is no 'boom'. Hint"):
        gs.flexible.superposed(flexible, run, slew)["boom"]


# ------------------------------------------------------------------------------------------------ every kind of beam
KINDS = {
    "modal": {"modes": (2, 0), "modes_x": 0},
    "in-cut": {"method": "in-cut", "elements": 1, "modes": (1, 0), "modes_x": 0},
    "fe": {"method": "fe", "elements": 4, "modes": (2, 0), "modes_x": 0},
    "nodal": {"method": "fe", "elements": 1, "modes_x": 0},
    "segments": {"segments": 2, "modes": (2, 0), "modes_x": 0},
    "spatial": {"modes": (2, 1), "modes_x": 1},
    "shear": {"modes": (2, 0), "modes_x": 0, "shear": True},
}
DEFAULT = ("modal", False), ("in-cut", True)


@pytest.mark.parametrize(
    ("kind", "turned"),
    [
        pytest.param(kind, turned, marks=() if (kind, turned) in DEFAULT else pytest.mark.slow)
        for kind in KINDS
        for turned in (False, True)
    ],
)
def test_beams_of_every_kind_and_mounting_are_superposed_to_second_order(kind, turned):
    """Held by a or by b: the share of the difference falls as the deflection."""
    section = {"area": 6e-4, "I_y": 6e-7, "I_z": 6e-7, "J": 1.2e-6, "G": 2.6e10, "density": 2700.0, "damping": 2e-3}
    near, far = ("b", "a") if turned else ("a", "b")

    def law(t, q, v):
        return 4e4 * (0.1 * (t - np.sin(t)) - q) + 4e4 * (0.1 * (1.0 - np.cos(t)) - v)

    shares, sizes = [], []
    for E in (7e9, 7e10):
        boom = gs.FlexibleBeam("boom", length=5.0, E=E, **section, **KINDS[kind])
        load = gs.RigidBody("load", mass=40.0, com=(0.1, 0.2, 0.0), inertia=(4.0, 4.0, 4.0))
        wires = gs.connect("world", "hinge.a"), gs.connect("hinge.b", f"boom.{near}"), gs.connect(f"boom.{far}", "load")
        model = gs.assemble("crane", gs.Joint("hinge", "revolute", axis="z"), boom, load, *wires, gravity=(0, 0, 0))
        both = gs.flexible.compare(model, None, law, t_end=4.0, dt=0.01, frame=f"boom.{far}")
        shares.append(both.share)
        sizes.append(np.linalg.norm(both.deviations[1], axis=1).max())
    assert shares[1] < 1e-3 and sizes[0] > 0.1
    assert shares[1] < 0.2 * shares[0], (shares, sizes)


@pytest.mark.slow
def test_a_body_by_finite_elements_is_superposed_to_second_order():
    pytest.importorskip("skfem")
    solids = pytest.importorskip("tests.support.flexible_solids")

    def law(t, q, v):
        return 4e3 * (0.1 * (t - np.sin(t)) - q) + 2e3 * (0.1 * (1.0 - np.cos(t)) - v)

    shares = []
    for E in (2e6, 2e7):
        rubber, ends = {"E": E, "nu": 0.33, "density": 2700.0}, {"base": "left", "tip": "right"}
        options = {"name": "link", "highest": 40.0, "damping": {"ratio": 0.05}}
        link = gs.FlexibleBody.from_mesh(solids.bar_mesh(cells=(4, 1, 1)), rubber, ends, 1, **options)
        load = gs.RigidBody("load", mass=2.0, inertia=(0.01, 0.01, 0.01))
        wires = gs.connect("world", "hinge.a"), gs.connect("hinge.b", "link.base"), gs.connect("link.tip", "load")
        model = gs.assemble("arm", gs.Joint("hinge", "revolute", axis="z"), link, load, *wires, gravity=(0, 0, 0))
        both = gs.flexible.compare(model, None, law, t_end=3.0, dt=0.005, frame="link.tip")
        shares.append(both.share)
    assert shares[1] < 1e-3 and shares[1] < 0.3 * shares[0], shares
