"""The flexible slider-crank of the IVP test set, with the source's matrices as data: 8 digits at t = 0.1 s."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from tests.support.ivp_slider_crank import ACCURATE, L1, L2, M3, OMEGA, PHI2_RATE, Q0, V0, rod


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

    start = [0.0, *Q0, PHI2_RATE - OMEGA, *V0]
    x = solve_ivp(rates, (0, 0.1), start, method="DOP853", rtol=1e-9, atol=1e-14).y[:, -1]
    assert x[0] + 15.0 == pytest.approx(ACCURATE["phi2"], rel=1e-8)
    assert x[5] + OMEGA == pytest.approx(ACCURATE["v_phi2"], rel=1e-8)
    assert np.allclose(x[1:5], ACCURATE["q"], rtol=2e-8, atol=0)


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
    """q and v at t = 0: crank, (slide, wrist,) shapes. Rates of slide and wrist are those of the source."""
    more = [] if minimal else [0.450016933, 0.0]
    rates = [] if minimal else [V0[3], -PHI2_RATE]
    return np.array([0.0, *more, *Q0]), np.array([OMEGA, *rates, *V0])


def test_a_closed_loop_with_a_flexible_rod_in_machine_code():
    """The start is known to nine digits, and is moved onto the constraints: the fast axial shape shows that most."""
    model = slider_crank(1e9)
    run = gs.simulate(model, None, *started(), 0.1, rtol=1e-10, atol=1e-13, t_eval=[0.1], progress=False)
    q, v = run.q[-1], run.v[-1]
    assert q[0] == pytest.approx(15.0, rel=1e-11)
    assert -q[2] == pytest.approx(ACCURATE["phi2"], rel=2e-8) and -v[2] == pytest.approx(ACCURATE["v_phi2"], rel=1e-8)
    assert q[1] == pytest.approx(ACCURATE["x3"], rel=1e-8)
    assert np.allclose(q[3:6], ACCURATE["q"][:3], rtol=2e-7, atol=0)
    assert q[6] == pytest.approx(ACCURATE["q"][3], rel=3e-6)


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


def test_minimal_coordinates_start_as_the_source_does():
    """Shapes and their rates are the source's; the rod's angle and rate are those that close the loop (4e-10)."""
    tree = slider_crank(1e9)
    minimal = replace(tree, context=tree.context.model_copy(update={"loops": "auto"}))
    settings = {"method": "dop853", "rtol": 1e-12, "atol": 1e-15, "t_eval": [0.1], "progress": False}
    run = gs.simulate(minimal, None, *started(minimal=True), 0.1, **settings)
    assert np.allclose(run.q[-1, 2:], ACCURATE["q"][1:], rtol=1e-8, atol=0)
    assert run.q[-1, 1] == pytest.approx(ACCURATE["q"][0], rel=1e-7)
