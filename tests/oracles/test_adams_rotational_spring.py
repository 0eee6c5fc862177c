"""A body on a revolute joint with a torsion spring and damper, as MSC ADAMS computed it: an elastic joint whose spring
is an element of the model, also where its law is a curve.

Source: adams_cases (test_adams_histories compares all columns). Mass 1 kg, centre of mass 2 m from the joint, moment of
inertia 0.1 kg m^2 about the axis, gravity 9.80665 m/s^2 along -z, from rest. 200 N m/rad and 10 N m s/rad; in the
second case 50 N m/rad + 10 N m/rad^2 |angle|, and the same damper.

Tolerances: 1e-5 of the largest number for positions, 5e-5 for velocities, 2e-4 for accelerations.
"""

import csv

import numpy as np
import pytest

import gyrostat as gs
from tests.support.reference_data import reference

scipy_integrate = pytest.importorskip("scipy.integrate")

POINTS = np.linspace(-0.6, 0.6, 241)  # between them the broken line is off by 10 x 0.005^2 / 4 = 6e-5 N m at most
LAWS = {
    "RotSpring_Case01": {"stiffness": 200.0},
    "RotSpring_Case02": {"curve": np.stack([POINTS, 50.0 * POINTS + 10.0 * POINTS * np.abs(POINTS)], axis=1)},
}
# t, position x, z, angular rate, angular acceleration
SAMPLES = {"RotSpring_Case01": ((0.05, 1.999968, -1.137225e-02, 2.206286e-01, 3.968172),)}


def build(case):
    arm = gs.RigidBody("arm", mass=1.0, com=(2, 0, 0), inertia=(0.04, 0.1, 0.1))
    joint = gs.Joint("joint", "revolute", axis="y")
    return gs.assemble(
        case,
        gs.chain("world", joint, arm),
        gs.Spring("spring", ground=True, **LAWS[case]),
        gs.Damper("damper", damping=10.0, ground=True),
        gs.connect("joint.shaft", "spring.a", "damper.a"),
        gravity=(0, 0, -9.80665),
    )


def history(case):
    text = reference(f"adams_joints/{case}.csv").read_text("utf-8").splitlines()
    rows = list(csv.reader(line for line in text if not line.startswith("#")))
    return {name: np.array([float(row[k]) for row in rows[1:]]) for k, name in enumerate(rows[0])}


def off(got, expected):
    return np.abs(got - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("case", LAWS)
def test_along_the_history_the_spring_gives_what_the_motion_needs(case):
    model, seen = build(case), history(case)
    q = np.arctan2(-seen["Pos:Z_Pos"], seen["Pos:X_Pos"])[:, None]
    v, a = seen["Avel:Y_AngVel"][:, None], seen["Aacc:Y_AngAcc"][:, None]
    held = gs.gravity(model, q)
    assert np.abs(gs.rnea(model, q, v, a)).max() < 2e-4 * np.abs(held).max()
    assert off(gs.aba(model, q, v, np.zeros_like(q)), a) < 2e-4


def fall(model, t):
    def rate(_, x):
        return [x[1], gs.aba(model, x[:1], x[1:], np.zeros(1))[0]]

    return scipy_integrate.solve_ivp(rate, (0.0, t[-1]), [0.0, 0.0], t_eval=t, rtol=1e-10, atol=1e-12).y


@pytest.mark.parametrize("case", LAWS)
def test_the_arm_falls_and_swings_as_adams_says(case):
    model, seen = build(case), history(case)
    q, v = fall(model, seen["time"])
    assert off(2.0 * np.cos(q), seen["Pos:X_Pos"]) < 1e-5
    assert off(-2.0 * np.sin(q), seen["Pos:Z_Pos"]) < 1e-5
    assert off(v, seen["Avel:Y_AngVel"]) < 5e-5


def test_a_sample_without_the_files():
    for case, rows in SAMPLES.items():
        model = build(case)
        for t, x, z, rate, acceleration in rows:
            q, v = fall(model, np.array([0.0, t]))[:, -1]
            assert abs(2.0 * np.cos(q) - x) < 2e-6
            assert abs(-2.0 * np.sin(q) - z) < 2e-7
            assert abs(v - rate) < 1e-5
            assert abs(gs.aba(model, [q], [v], [0.0])[0] - acceleration) < 4e-4
