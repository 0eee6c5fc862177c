"""The flexible slider-crank of the IVP test set, with the source's matrices as data: 8 digits at t = 0.1 s.

The accurate solution is the source's equations in 113-bit arithmetic. It starts from the source's crank and shapes; the
rod's rate and the slider follow from them, since the source prints those with 8 and 9 digits, off the constraints."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from tests.support.ivp_slider_crank import (
    ACCURATE,
    CONSISTENT,
    DRIFTED,
    L1,
    L2,
    M3,
    OMEGA,
    PHI2_RATE,
    Q0,
    V0,
    closed,
    rod,
    source_acceleration,
)


def source_end(rate=None):
    """State at 0.1 s by the source's equations: shapes and their rates with the rod in closed form, or index 1."""

    def minimal(t, x):
        angle, turning = closed(t, x[:4], x[4:])
        return np.r_[x[4:], source_acceleration(t, angle, x[:4], turning, x[4:])[1:]]

    def index_1(t, x):
        return np.r_[x[5:], source_acceleration(t, x[0], x[1:5], x[5], x[6:])]

    rates, start = (minimal, [*Q0, *V0]) if rate is None else (index_1, [0.0, *Q0, rate, *V0])
    return solve_ivp(rates, (0, 0.1), start, method="DOP853", rtol=1e-9, atol=1e-14).y[:, -1]


@pytest.mark.slow
def test_the_source_gives_the_accurate_solution():
    x = source_end()
    assert np.allclose(x[:4], ACCURATE["q"], rtol=1e-8, atol=0)
    assert np.allclose(x[4:], ACCURATE["v"], rtol=5e-7, atol=0)
    assert closed(0.1, x[:4], x[4:]) == pytest.approx((ACCURATE["phi2"], ACCURATE["v_phi2"]), rel=1e-10)


@pytest.mark.slow
def test_the_printed_rate_of_the_rod_lifts_the_slider():
    """Index 1 keeps the rate of 1.2e-8 m/s with which the source starts: the ninth digit of the angle is that."""
    x = source_end(PHI2_RATE)
    lift = L1 * OMEGA + (L2 + Q0[3]) * PHI2_RATE
    assert lift == pytest.approx(1.19e-8, rel=1e-2)
    assert x[0] == pytest.approx(DRIFTED, rel=1e-9)
    assert L1 * np.sin(15.0) + (L2 + x[4]) * np.sin(x[0]) == pytest.approx(0.1 * lift, rel=1e-3)


@pytest.mark.slow
def test_eight_digits_with_the_constraint_in_python():
    """The crank is the base, which turns; the slider's height is one equation, differentiated twice."""
    block = gs.RigidBody("block", mass=M3, inertia=(1e-12,) * 3)
    parts = gs.Displacement("crank", translation=(L1, 0, 0)), gs.Joint("pin", "revolute", axis="z"), rod(), block
    wires = [
        gs.connect(*w) for w in (("world", "crank.a"), ("crank.b", "pin.a"), ("pin.b", "rod.a"), ("rod.b", "block"))
    ]
    model = gs.assemble("slider", *parts, *wires, gravity=(0, 0, 0), base=gs.HarmonicMotion(rate=OMEGA))
    rnea, mass = gs.InverseDynamics(model), gs.MassMatrix(model, "mrnea")

    def rates(t, x):
        q, v, l, w = x[:5], x[5:], L2 + x[4], x[5] + OMEGA
        s, c = np.sin(x[0] + OMEGA * t), np.cos(x[0] + OMEGA * t)
        G = np.array([l * c, 0, 0, 0, s])
        left = L1 * OMEGA**2 * np.sin(OMEGA * t) + l * s * w * w - 2 * c * w * v[4]
        A = np.block([[mass(q, t=t), G[:, None]], [G, 0.0]])
        return np.r_[v, np.linalg.solve(A, np.r_[-rnea(q, v, np.zeros(5), t=t), left])[:5]]

    start = [0.0, *Q0, CONSISTENT - OMEGA, *V0]
    x = solve_ivp(rates, (0, 0.1), start, method="DOP853", rtol=1e-9, atol=1e-14).y[:, -1]
    assert x[0] + 15.0 == pytest.approx(ACCURATE["phi2"], rel=1e-8)
    assert x[5] + OMEGA == pytest.approx(ACCURATE["v_phi2"], rel=1e-8)
    assert np.allclose(x[1:5], ACCURATE["q"], rtol=1e-8, atol=0)
    assert np.allclose(x[6:], ACCURATE["v"], rtol=5e-7, atol=0)


def slider_crank(hub=1e7):
    """As a closed loop of gyrostat: a hub that nothing slows down turns the crank."""
    parts = (
        gs.Joint("crank", "revolute", axis="z"),
        gs.RigidBody("hub", mass=1.0, inertia=(hub,) * 3, frames={"pin": (L1, 0, 0)}),
        gs.Joint("pin", "revolute", axis="z", passive=True),
        rod(),
        gs.Joint("wrist", "revolute", axis="z", passive=True),
        gs.RigidBody("block", mass=M3, inertia=(1e-12,) * 3),
        gs.Joint("slide", "prismatic", axis="x", passive=True),
    )
    pairs = (
        ("world", "crank.a"), ("crank.b", "hub"), ("hub.pin", "pin.a"), ("pin.b", "rod.a"), ("rod.b", "wrist.a"),
        ("wrist.b", "block"), ("world", "slide.a"), ("slide.b", "block"),
    )  # fmt: skip
    wires = [gs.connect(*pair) for pair in pairs]
    return gs.assemble("slider_crank", *parts, *wires, gravity=(0, 0, 0), loops="constraints")


def started(minimal=False):
    """q and v at t = 0: crank, (slide, wrist,) shapes."""
    more = [] if minimal else [L1 + L2 + Q0[3], 0.0]
    rates = [] if minimal else [V0[3], -CONSISTENT]
    return np.array([0.0, *more, *Q0]), np.array([OMEGA, *rates, *V0])


QUICK = {"method": "dopri5", "rtol": 1e-11, "atol": 1e-14, "t_eval": [0.0, 0.1], "progress": False}
EXACT = QUICK | {"method": "dop853", "rtol": 1e-12, "atol": 1e-15}
EITHER = pytest.mark.parametrize(
    ("settings", "fast"), [(QUICK, 2e-7), pytest.param(EXACT, 5e-8, marks=pytest.mark.slow)], ids=["dopri5", "dop853"]
)
"""With the error allowed for rates of the axial shapes, which vibrate at kilohertz."""


@EITHER
def test_a_closed_loop_with_a_flexible_rod_in_machine_code(settings, fast):
    """A start on the constraints stays where it is."""
    q, v = started()
    run = gs.simulate(slider_crank(1e9), None, q, v, 0.1, **settings)
    assert np.allclose(run.q[0], q, rtol=0, atol=1e-16) and np.allclose(run.v[0], v, rtol=1e-14, atol=1e-14)
    expected = [15.0, ACCURATE["x3"], -ACCURATE["phi2"], *ACCURATE["q"]]
    assert np.allclose(run.q[-1], expected, rtol=1e-9, atol=0)
    expected = [OMEGA, ACCURATE["v_x3"], -ACCURATE["v_phi2"], *ACCURATE["v"]]
    assert np.allclose(run.v[-1, :5], expected[:5], rtol=1e-8, atol=0)
    assert np.allclose(run.v[-1, 5:], expected[5:], rtol=fast, atol=0)


def test_minimal_coordinates_and_constraints_agree():
    """Slide and wrist follow in closed form; deformations are never what follows."""
    tree = slider_crank(1e3)
    minimal = replace(tree, context=tree.context.model_copy(update={"loops": "auto"}))
    assert minimal.dofs == ("crank", "rod.e1", "rod.e2", "rod.e3", "rod.e4")
    assert np.allclose(gs.neutral(tree), [0, 0.45, 0, 0, 0, 0, 0])
    q, v = started(minimal=True)
    q[0] = 0.4
    run = [gs.simulate(minimal, None, q, v, 0.02, rtol=1e-11, atol=1e-14, t_eval=[0.0, 0.02], progress=False)]
    frames = gs.ForwardKinematics(minimal)(q)
    angle = np.arctan2(frames["rod.a"].R[1, 0], frames["rod.a"].R[0, 0])
    start = np.array([0.4, frames["block"].p[0], -angle, *q[1:]])
    l = L2 + q[4]
    turning = -(L1 * OMEGA * np.cos(0.4) + v[4] * np.sin(angle)) / (l * np.cos(angle))
    slide = -L1 * OMEGA * np.sin(0.4) - l * turning * np.sin(angle) + v[4] * np.cos(angle)
    rates = np.array([OMEGA, slide, -turning, *v[1:]])
    run.append(gs.simulate(tree, None, start, rates, 0.02, rtol=1e-11, atol=1e-14, t_eval=[0.0, 0.02], progress=False))
    both = [r.q[-1] for r in run]
    assert np.allclose(both[0], np.delete(both[1], [1, 2]), rtol=1e-9, atol=1e-13)


@EITHER
def test_eight_digits_in_minimal_coordinates(settings, fast):
    tree = slider_crank(1e9)
    minimal = replace(tree, context=tree.context.model_copy(update={"loops": "auto"}))
    run = gs.simulate(minimal, None, *started(minimal=True), 0.1, **settings)
    assert np.allclose(run.q[-1], [15.0, *ACCURATE["q"]], rtol=1e-9, atol=0)
    assert np.allclose(run.v[-1, :3], [OMEGA, *ACCURATE["v"][:2]], rtol=1e-8, atol=0)
    assert np.allclose(run.v[-1, 3:], ACCURATE["v"][2:], rtol=fast, atol=0)
