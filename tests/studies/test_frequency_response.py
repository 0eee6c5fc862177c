"""Response in frequency: against closed forms, against SciPy on the same matrices, against a sine in the simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import gyrostat as gs
from gyrostat.studies.vibration.hessenberg import resolvent
from tests.solvers.test_loops_in_every_solver import FRAME
from tests.support import loop_models, oscillators
from tests.support.comparing import assert_close

HZ = np.geomspace(0.1, 30.0, 200)
TWO = oscillators.two_masses()
ARM = gs.robots.elastic_arm()
POSE = [0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0]
KP, KD = np.r_[np.zeros(7), np.full(7, 2.0)], np.r_[np.zeros(7), np.full(7, 0.05)]


def test_two_masses_answer_as_their_matrices_say():
    outputs = ["b1.origin.x", "b2.origin.x", "v b2.origin.x", "a b1.origin.x", "s2", "tau s2"]
    r = gs.frequency_response(TWO, [0, 0], ["b1.fx", "b2.fx", "s2", "base.ax"], outputs, HZ)
    G, s = oscillators.receptance(HZ), 2j * np.pi * HZ
    assert r.H.shape == (200, 6, 4)
    assert_close(r.H[:, :2, :2], G, 1e-12)
    assert_close(r["v b2.origin.x", "b1.fx"], s * G[:, 1, 0], 1e-12)
    assert_close(r["a b1.origin.x", "b2.fx"], s**2 * G[:, 0, 1], 1e-11)
    assert_close(r["s2", "b1.fx"], G[:, 1, 0] - G[:, 0, 0], 1e-12)
    assert_close(r["b1.origin.x", "s2"], G[:, 0, 1] - G[:, 0, 0], 1e-12)  # the force of s2 acts on both masses
    assert_close(r["b2.origin.x", "base.ax"], -G[:, 1] @ np.array(oscillators.MASSES), 1e-12)
    assert_close(r["tau s2", "s2"], np.ones(200), 1e-14)
    assert_close(r.magnitude * np.exp(1j * r.phase), r.H, 1e-12)


def test_scipy_computes_the_same_from_the_matrices():
    r = gs.frequency_response(TWO, [0, 0], ["s1", "b2.fx"], ["b1.origin.x", "b2.origin.x"], HZ)
    for j in range(2):
        A, B, C, D, _ = r.system
        zpk = [signal.ss2tf(A, B, C, D, input=j)]
        for numerators, denominator in zpk:
            for i in range(2):
                _, H = signal.freqs(numerators[i], denominator, 2 * np.pi * HZ)
                assert_close(r.H[:, i, j], H, 1e-9)


def test_a_sine_in_the_simulation_has_this_amplitude_and_phase():
    f = 2.5
    w = 2 * np.pi * f
    r = gs.frequency_response(TWO, [0, 0], "s1", ["s1", "s2", "v s2", "a s1"], [f])
    run = gs.simulate(
        TWO, lambda t, q, v: np.array([np.cos(w * t), 0.0]), q0=[0, 0], t_end=42.0, rtol=1e-11, atol=1e-13,
        t_eval=40.0 + np.arange(40) / 40.0 * 5 / f,
    )  # fmt: skip
    carrier = np.exp(-1j * w * run.t)
    found = [2.0 * np.mean(x * carrier) for x in (run.q[:, 0], run.q[:, 1], run.v[:, 1], run.a[:, 0])]
    assert_close(np.array(found), r.H[0, :, 0], 1e-8)


def test_resonances_are_poles_and_antiresonances_those_of_the_locked_structure():
    r = gs.frequency_response(TWO, [0, 0], "b1.fx", ["b1.origin.x", "b2.origin.x"], HZ)
    assert_close(r.resonances, gs.eigenfrequencies(TWO, [0, 0]).damped[::2], 1e-10)
    locked = gs.eigenfrequencies(TWO, [0, 0], locked=["s1"])
    assert_close(r.antiresonances("b1.origin.x", "b1.fx"), locked.damped[:1], 1e-10)
    zeros, poles = (x[np.argsort(x.imag)] for x in (r.zeros(0, 0), locked.poles))  # real parts differ by rounding
    assert_close(zeros, poles, 1e-10)
    assert_close(r.zeros(1, 0), np.array([-100.0 + 0j]), 1e-9)  # k + c s
    assert len(r.antiresonances(1, 0)) == 0
    assert r.stable


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_hessenberg_form_solves_like_a_solver_for_each_frequency(n):
    rng = np.random.default_rng(n)
    A, B, C = rng.normal(size=(n, n)), rng.normal(size=(n, 3)), rng.normal(size=(2, n))
    A *= 10.0 ** rng.uniform(-3, 3, (n, 1))
    s = 1j * np.geomspace(1e-2, 1e4, 70)
    G, poles = resolvent(A, B, C, s)
    assert not poles.any()
    assert_close(G, C @ np.linalg.solve(s[:, None, None] * np.eye(n) - A, B), 1e-9)


def test_poles_that_coincide_do_no_harm():
    """A double integrator has no basis of eigenvectors."""
    G, poles = resolvent(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]]), np.eye(2), np.array([0, 1j, 2j]))
    assert poles.tolist() == [True, False, False]
    assert_close(G[1:, 0, 0], np.array([-1.0, -0.25]), 1e-15)


# ---------------------------------------------------------------------------------------------- controllers
def pid(gain=2.0):
    return gs.blocks.pid(KP, gain * KP, KD, np.zeros(14))


def test_elastic_joints_and_a_pid_controller_together():
    r = gs.frequency_response(ARM, POSE, ["q2_drive.rotor", "link7.fz"], ["q2", "link7.z"], HZ, pid())
    A, B = gs.linearise(ARM, r.q)
    J = gs.jacobian(ARM, r.q, "link7", "aligned")[5]
    s = 2j * np.pi * HZ
    law = np.concatenate(
        [np.diag(KP) + np.diag(2.0 * KP) / s[:, None, None], np.broadcast_to(np.diag(KD), (200, 14, 14))], axis=2
    )
    X = np.linalg.solve(s[:, None, None] * np.eye(28) - A + B @ law, B @ np.stack([np.eye(14)[8], J], axis=1))
    assert_close(r.H, np.stack([X[:, 1], np.einsum("n,fni->fi", J, X[:, :14])], axis=1), 1e-8)
    closed = gs.eigenfrequencies(ARM, POSE, controller=pid())
    assert closed.poles.shape == (35,)  # 2 x 14 and seven integrators: those with a gain of zero do not count
    assert_close(np.sort_complex(closed.poles), np.sort_complex(r.poles), 1e-9)
    assert r.stable
    assert not r.note


def test_a_law_is_a_block_a_function_or_a_matrix():
    K = np.concatenate([np.diag(KP), np.diag(KD)], axis=1)
    laws = (
        gs.blocks.pd(KP, KD, np.zeros(14)),
        lambda t, q, v: -KP * q - KD * v,
        lambda t, q, v: [-float(k * x + d * y) for k, x, d, y in zip(KP, q, KD, v, strict=True)],  # not recorded
        K,
    )
    want = gs.eigenfrequencies(ARM, POSE, controller=laws[0]).poles
    for law in laws[1:]:
        assert_close(gs.eigenfrequencies(ARM, POSE, controller=law).poles, want, 1e-6)


def test_motors_act_on_their_shafts():
    model = gs.robots.two_link().with_drive("shoulder", rotor_inertia=1e-3, gear_ratio=50, stiffness=900.0)
    model = model.with_drive("elbow", rotor_inertia=1e-3, gear_ratio=-30)
    motors = ["shoulder_drive.motor", "elbow_drive.motor"]
    r = gs.frequency_response(model, [0.3, -0.2], motors, model.dofs, HZ)
    want = gs.frequency_response(model, [0.3, -0.2], ["shoulder_drive.rotor", "elbow"], model.dofs, HZ)
    assert_close(r.H, want.H * np.array([1.0, -30.0]), 1e-12)


# ---------------------------------------------------------------------------------------------- loops, rest, refusals
@pytest.mark.parametrize("name", ["four-bar", "slider-crank"])
def test_loops_as_constraints_and_in_minimal_coordinates_answer_alike(name):
    minimal, constraints = (loop_models.LOOPS[name](loops=x) for x in ("minimal", "constraints"))
    q = gs.neutral(minimal)
    Q = gs.neutral(constraints)
    drive = minimal.dofs[0]
    frame = FRAME[name]
    K = np.zeros((minimal.nv, 2 * minimal.nv))
    K[0, 0], K[0, minimal.nv] = 40.0, 0.3
    L = np.zeros((constraints.nv, 2 * constraints.nv))
    at = constraints.dofs.index(drive)
    L[at, at], L[at, constraints.nv + at] = 40.0, 0.3
    one = gs.frequency_response(minimal, q, [drive, f"{frame}.fx"], [drive, f"{frame}.z"], HZ, K)
    two = gs.frequency_response(constraints, Q, [drive, f"{frame}.fx"], [drive, f"{frame}.z"], HZ, L)
    assert_close(two.H, one.H, 1e-8)
    f = gs.eigenfrequencies(minimal, q, controller=K), gs.eigenfrequencies(constraints, Q, controller=L)
    assert_close(f[1].undamped, f[0].undamped, 1e-8)


def test_what_is_not_at_rest_is_told_and_found(caplog):
    """The joints of an elastic arm hang where the springs let them."""
    rotors = np.zeros(14)
    rotors[1] = 0.5
    rotors[8] = 0.5 * ARM["q2_drive.gear.ratio"]
    held = gs.frequency_response(ARM, rotors, "q2", "q2", [1.0])
    assert "'q2', which nothing drives, is not at rest here" in held.note
    assert "frequency_response: 'elastic_arm'" in caplog.text
    found = gs.frequency_response(ARM, rotors, "q2", "q2", [1.0], rest=True)
    assert "was moved to rest" in found.note
    assert_close(found.q[7:], rotors[7:], 1e-12)
    assert np.abs(found.held[:7]).max() < 1e-9
    assert not gs.frequency_response(ARM, found.q, "q2", "q2", [1.0]).note


REFUSED = {
    "no rate": (dict(inputs="s9"), r"inputs name 's9'.*neither a rate.*nor a part of a frame"),
    "no frame": (dict(outputs="hand.z"), r"outputs name 'hand\.z'"),
    "no part": (dict(outputs="b1.w"), "outputs name 'b1.w'"),
    "no kind": (dict(outputs="j s1"), "'v s1' is a rate"),
    "no effort": (dict(outputs="tau b1.x"), "'tau' goes with a rate"),
    "nothing": (dict(inputs=[]), "no inputs are named"),
    "negative": (dict(hz=[-1.0]), "hz must be frequencies"),
    "nan": (dict(hz=[np.nan]), "finite"),
    "axes": (dict(expressed_in="world"), "expressed_in must be"),
    "law": (dict(controller=np.eye(3)), r"controller has shape \(3, 3\), expected finite \(2, 4\)"),
    "digital": (dict(controller=gs.blocks.pd(1.0, 1.0, [0, 0], sample_time=0.01)), "controller is digital"),
    "poses": (dict(q=np.zeros((3, 2))), "one pose at a time"),
    "locked": (dict(locked=["s7"]), "locked names 's7'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_answered_is_refused_by_name(case):
    given, match = REFUSED[case]
    call = dict(q=[0, 0], inputs="s1", outputs="s1", hz=HZ) | given
    with pytest.raises(gs.GyrostatError, match=match):
        gs.frequency_response(TWO, **call)


def test_a_frequency_at_a_pole_is_refused():
    model = gs.robots.two_link()
    with pytest.raises(gs.StateError, match=r"pole at 0 Hz.*drifts away"):
        gs.frequency_response(model.replace({"context.gravity": (0, 0, 0)}), [0, 0], "elbow", "elbow", [0.0, 1.0])
    with pytest.raises(gs.StateError, match=r"no output 'elbow'"):
        gs.frequency_response(TWO, [0, 0], "s1", "s1", HZ)["elbow", 0]


def test_bodes_figure_has_a_curve_for_each_pair():
    fig = gs.frequency_response(TWO, [0, 0], ["s1", "s2"], ["s1", "v s2"], HZ).plot(outputs="s1")
    assert [len(ax.lines) for ax in fig.axes] == [2, 2]
