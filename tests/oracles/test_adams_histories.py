"""All 28 histories that MSC ADAMS has computed of a body on a joint, an actuator or a spring: simulated by gyrostat
from the start, and compared in every column that was printed, over 5 s.

Source, models and columns: adams_cases, adams_histories. The histories are good to what this table says: the largest
difference between ADAMS and the Newton-Euler equations of one free body with Lagrange multipliers, integrated by SciPy
to 1e-11, without gyrostat (adams_newton_euler; test_adams_newton_euler computes the table again). A dash is zero.
**Allowed is 1.1 times the number in the table.** The measured deviation of gyrostat from ADAMS is the same number, to
2 %, because gyrostat and these equations differ by at most 8e-8 of the largest number of a column.

Units: m, m/s, m/s^2, 1, rad/s, rad/s^2, N, N m. "Digits": as many are printed. "print": positions, velocities,
quaternions and angular velocities are off by half a unit of the last digit of the largest number, not more. "drift":
ADAMS' own integration has lost more than that. For three of them other histories show it, too: Spherical_Case01,
Universal_Case01 and Universal_Case02 are the same fall as Revolute_Case01, Cylindrical_Case02 and Spherical_Case02, but
8.4e-4 m away from them. Accelerations and reactions of ADAMS jitter by 1e-4 of their size where there is a constraint;
torques have the lever besides (in Cylindrical_Case03 and Prismatic_Case02 84 m).

=================== ======= ======= ======= ======= ======= ======= ======= ======= ====== ======
case                Pos     Vel     Acc     Quat    Avel    Aacc    force   torque  digits motion
=================== ======= ======= ======= ======= ======= ======= ======= ======= ====== ======
Revolute_Case01     5.0e-06 5.0e-06 6.0e-04 5.0e-07 5.0e-06 5.8e-04 6.2e-04 -       6      print
Revolute_Case02     5.0e-06 5.0e-06 1.1e-03 5.0e-07 5.0e-06 5.0e-04 1.1e-03 1.6e-03 6      print
Spherical_Case01    8.4e-04 2.6e-03 1.3e-02 2.1e-04 1.0e-03 2.3e-03 1.3e-02 -       6      drift
Spherical_Case02    5.0e-06 5.0e-06 6.4e-04 5.0e-07 5.0e-06 5.8e-04 5.9e-04 -       6      print
Universal_Case01    8.4e-04 2.6e-03 1.3e-02 2.2e-04 1.0e-03 2.3e-03 1.3e-02 -       6      drift
Universal_Case02    8.4e-04 2.6e-03 1.3e-02 2.2e-04 1.0e-03 2.3e-03 1.3e-02 -       6      drift
Universal_Case03    7.6e-04 2.6e-03 1.3e-02 2.0e-04 1.5e-03 1.6e-02 1.3e-02 5.0e-04 6      drift
Cylindrical_Case01  4.7e-04 5.0e-05 -       -       -       -       -       -       6      print
Cylindrical_Case02  5.0e-06 5.0e-06 6.1e-04 5.0e-07 5.0e-06 5.9e-04 6.1e-04 -       6      print
Cylindrical_Case03  5.0e-05 5.0e-05 6.7e-04 5.0e-07 5.0e-06 5.8e-04 6.7e-04 7.0e-02 6      print
Prismatic_Case01    4.7e-04 5.0e-05 -       -       -       -       -       -       6      print
Prismatic_Case02    5.0e-05 5.0e-05 7.7e-04 4.7e-07 -       -       7.7e-04 9.3e-02 6      print
Prismatic_Case03    -       -       -       2.2e-07 -       -       -       -       6      print
Distance_Case01     5.0e-07 5.1e-07 1.3e-03 -       -       -       1.3e-03 -       7      print
Distance_Case02     1.7e-05 3.0e-04 1.7e-02 1.0e-05 1.4e-03 2.0e-01 1.7e-02 -       7      drift
Distance_Case03     6.1e-07 9.6e-07 1.3e-03 4.9e-06 2.8e-06 1.2e-03 1.3e-03 -       7      drift
RevSpherical_Case01 5.2e-06 4.3e-05 4.4e-03 7.7e-07 6.3e-05 1.2e-02 3.8e-03 6.2e-03 6      drift
RevSpherical_Case02 9.5e-06 1.5e-04 2.7e-02 4.8e-06 3.4e-04 5.0e-02 2.7e-02 4.8e-02 6      drift
LinActuator_Case01  -       -       -       -       -       -       -       -       6      print
LinActuator_Case02  5.0e-06 3.9e-07 -       4.7e-07 -       -       5.0e-06 5.0e-05 6      print
RotSpring_Case01    1.3e-06 1.0e-05 7.7e-04 2.3e-07 5.2e-06 6.5e-04 7.7e-04 1.4e-04 7      drift
RotSpring_Case02    7.0e-07 3.6e-06 2.5e-03 1.6e-07 1.7e-06 8.6e-04 2.5e-03 2.9e-05 7      drift
TranSpring_Case01   5.0e-06 5.0e-06 5.0e-06 -       -       -       5.0e-05 -       6      print
TranSpring_Case02   5.0e-07 5.1e-07 5.0e-06 -       -       -       5.0e-06 -       7      print
TranSpringCB_Case01 5.0e-06 5.0e-06 5.0e-06 -       -       -       5.0e-05 -       6      print
TranSpringCB_Case02 5.0e-07 5.1e-07 5.0e-06 -       -       -       5.0e-06 -       7      print
TranSpringCB_Case03 6.4e-07 1.0e-06 7.1e-06 6.4e-06 4.5e-06 1.4e-04 7.3e-06 -       7      drift
TranSpringCB_Case04 2.7e-05 4.8e-05 7.5e-04 5.5e-06 5.1e-04 1.4e-02 7.5e-04 -       7      drift
=================== ======= ======= ======= ======= ======= ======= ======= ======= ====== ======

TranSpringCB_Case01 and 02 are the same numbers as TranSpring_Case01 and 02. Where the files are absent these tests are
skipped; test_adams_samples has figures of all 28.
"""

from dataclasses import replace

import numpy as np
import pytest

import gyrostat as gs
from tests.support.adams_cases import CASES
from tests.support.adams_histories import (
    QUANTITIES,
    TIMES,
    along,
    columns,
    deviations,
    history,
    read,
    read_table,
    released,
    simulated,
)
from tests.support.reference_data import reference

ERRORS = read_table(__doc__ or "")
ALLOWED = {case: {quantity: 1.1 * error for quantity, error in row.items()} for case, row in ERRORS.items()}
ALONG = 3e-4
"""Allowed for accelerations and reactions in printed states, of the largest number: the jitter of ADAMS."""


def printed(case):
    return read(reference(f"adams_joints/{case}.csv"))


def test_every_case_is_in_the_table():
    assert list(ERRORS) == list(CASES)
    assert len(CASES) == 28


@pytest.mark.by_default(9)
@pytest.mark.parametrize("case", CASES)
def test_motion_and_reactions_are_those_of_adams(case):
    want, got = printed(case), history(case)
    np.testing.assert_array_equal(want["time"][:, 0], TIMES)
    assert set(want) - set(got) == {"time"}  # every column is compared
    found = deviations(got, want)
    assert set(found) == set(QUANTITIES)
    assert {x: found[x] for x in found if not found[x] <= ALLOWED[case][x]} == {}


@pytest.mark.by_default(9)
@pytest.mark.parametrize("case", CASES)
def test_forward_dynamics_in_the_states_of_adams(case):
    """Nothing is integrated: where ADAMS drifts, this is sharper."""
    want = printed(case)
    found = deviations(along(case, want), want)
    for quantity in ("Acc", "Aacc", "Rforce", "Rtorque"):
        size = max(np.abs(want[name]).max() for name in want if name.startswith(quantity))
        assert found[quantity] <= ALONG * max(1.0, size), quantity


def test_adams_differs_from_itself_where_it_drifts():
    """Three histories of one pendulum; gyrostat has no part in it."""
    good, twin, drifted = (
        printed(case)["Pos"] for case in ("Revolute_Case01", "Cylindrical_Case02", "Spherical_Case01")
    )
    np.testing.assert_allclose(twin, good, rtol=0, atol=1.01e-5)
    assert np.abs(drifted - good).max() == pytest.approx(8.4e-4, rel=0.02)


@pytest.mark.parametrize(
    ("case", "path", "value"),
    [
        ("TranSpring_Case02", "spring.stiffness", 100.01),
        ("RotSpring_Case01", "damper.damping", 10.01),
        ("RevSpherical_Case01", "rod.translation", (2.0001, 0.0, 0.0)),
        ("Universal_Case03", "body.inertia", (0.1, 0.1, 0.045)),
    ],
)
def test_a_mechanism_that_is_slightly_wrong_is_found_out(case, path, value):
    right = simulated(case)[0]
    wrong = replace(right, model=right.model.replace({path: value}))
    found = deviations(columns(wrong, released(wrong)), history(case))
    assert found["Pos"] > 2.0 * ALLOWED[case]["Pos"]


def test_a_spring_between_points_does_what_the_bushing_does():
    """TranSpring_Case01 begins where both ends coincide, which a PointSpring refuses; from 0.01 s on it can."""
    mechanism, run = simulated("TranSpring_Case01")
    ends = gs.connect("post.b", "spring.a"), gs.connect("body", "spring.b")
    body = gs.chain("post.b", gs.Joint("joint", "free"), gs.RigidBody("body", mass=1.0, inertia=(0.04, 0.1, 0.1)))
    spring = gs.PointSpring("spring", stiffness=10.0, damping=0.5)
    model = gs.assemble(
        "spring", gs.chain("world", gs.Displacement("post")), body, spring, *ends, gravity=(0, 0, -9.80665)
    )
    with pytest.raises(gs.NonFiniteError, match="singular"):
        gs.simulate(model, t_end=1.0)
    q0, v0, t = run.q[1], run.v[1], run.t[1:]
    again = gs.simulate(model, None, q0, v0, t_start=t[0], t_end=t[-1], t_eval=t, rtol=1e-10, atol=1e-11)
    assert mechanism.model.coordinates == model.coordinates
    np.testing.assert_allclose(again.q, run.q[1:], rtol=0, atol=1e-8)
