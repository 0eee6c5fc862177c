"""Tables of cams: unequal and long ones, periods closed up to rounding, live lifts; and curves of users that fail."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import gyrostat as gs
from gyrostat.geometry.quintic_spline import coefficients, evaluate, spline_matrices
from gyrostat.graph.network import network
from tests.support.cam_models import ANGLES, CLOSED, tied
from tests.support.comparing import assert_close

FLAT = [(2, 0.0), (3, 0.0)]
TABLE = [-2.0, -1.0, 0.3, 1.0, 2.5], [0.4, 0.1, 0.3, 0.25, 0.6]


def slotted(curve) -> gs.Model:
    """Two arms side by side; the second one follows the first by the curve."""
    arms = [
        gs.chain("world", gs.Joint(name, "revolute", axis="y"), gs.RigidBody(f"{name}_link", mass=m, com=(0.1, 0, 0.2)))
        for name, m in (("a", 2.0), ("b", 1.5))
    ]
    return tied(gs.assemble("slotted", *arms), (curve, "a.shaft", "b.shaft"))


def spline(x, y, periodic, at):
    c = coefficients(tuple(map(float, x)), periodic, y)
    return evaluate(np.array([x[0], *x]), c, at)


# ------------------------------------------------------------------------------------------------ live angles
@pytest.mark.parametrize(
    "use",
    [
        lambda c: gs.InverseDynamics(c, live=["slot.angles"]),
        lambda c: gs.ParameterDerivatives(c, ["slot.angles"]),
        lambda c: gs.rollout(
            c, None, np.zeros((2, 1)), np.zeros((2, 1)), dt=1e-3, steps=2,
            parameters={"slot.angles": np.array([TABLE[0], TABLE[0]]) * 1.1},
        ),
        lambda c: network(c, live={"slot.angles": np.array(TABLE[0]) * 1.1}),
    ],
    ids=["live", "derivative", "rollout", "network"],
)  # fmt: skip
def test_angles_of_a_table_cannot_be_live(use):
    with pytest.raises(gs.GyrostatError, match=r"slot[\s\S]*angles[\s\S]*lifts may be live; build a solver for each"):
        use(slotted(gs.Cam("slot", *TABLE)))


# ------------------------------------------------------------------------------------------------ unequal tables
@pytest.mark.parametrize("eps", [1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
def test_unequal_intervals_give_the_spline_of_scipy(eps):
    x, y, at = np.array([0.0, 1.0, 1.0 + eps, 2.0]), np.array([0.0, 0.5, 0.5 + 0.1 * eps, 0.3]), np.linspace(0, 2, 41)
    expected = make_interp_spline(x, y, k=5, bc_type=(FLAT, FLAT))(at)
    assert np.abs(spline(x, y, False, at) - expected).max() < 1e-9
    gs.check(slotted(gs.Cam("slot", x, y)))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_points_give_the_spline_of_scipy(seed, periodic):
    x = np.sort(np.random.default_rng(seed).uniform(0.0, 6.0, 40))
    y, at = np.sin(x), np.linspace(x[0], x[-1], 301)
    y[-1] = y[0] if periodic else y[-1]
    expected = make_interp_spline(x, y, k=5, bc_type="periodic" if periodic else (FLAT, FLAT))(at)
    assert np.abs(spline(x, y, periodic, at) - expected).max() < 1e-12
    assert_close(spline_matrices(tuple(map(float, x)), periodic) @ y, coefficients(tuple(x), periodic, y), 1e-7)


@pytest.mark.parametrize(
    "x", [(0, 1, 1 + 1e-8, 2), (0, 1, 1 + 1e-5, 1 + 2e-5, 2), (0, 1e-300, 1, 2)], ids=["one", "two", "tiny"]
)
def test_tables_that_amplify_rounding_are_refused_by_name(x):
    with pytest.raises(gs.SpecError, match=r"slot[\s\S]*'angles' are too unequal"):
        gs.check(slotted(gs.Cam("slot", x, np.sin(x))))


def test_long_tables_take_seconds_not_minutes():
    x = np.linspace(0.0, 6.0, 600)
    start = time.process_time()
    spline_matrices.__wrapped__(tuple(x), False)
    assert time.process_time() - start < 3.0


# ------------------------------------------------------------------------------------------------ periods
def test_a_period_closes_up_to_rounding():
    lifts = (*CLOSED[:-1], CLOSED[0] + 1e-14)
    one, two = (slotted(gs.Cam("slot", ANGLES, y, periodic=True)) for y in (lifts, CLOSED))
    gs.check(one)
    assert_close(gs.rnea(one, [0.4], [1.0], [2.0]), gs.rnea(two, [0.4], [1.0], [2.0]), 1e-13)
    far = slotted(gs.Cam("slot", ANGLES, (*CLOSED[:-1], CLOSED[0] + 1e-9), periodic=True))
    with pytest.raises(gs.SpecError, match=r"slot[\s\S]*is periodic"):
        gs.check(far)


# ------------------------------------------------------------------------------------------------ live lifts
@pytest.mark.parametrize("table", [{}, {"periodic": True}], ids=["open", "periodic"])
@pytest.mark.parametrize("mode", ["interpret", "compile"])
def test_derivatives_by_lifts_are_differences(table, mode):
    x, y = (ANGLES, CLOSED) if table else TABLE
    solver = gs.ParameterDerivatives(slotted(gs.Cam("slot", x, y, **table)), ["slot.lifts"], mode=mode)
    derivatives, h = np.ravel(solver([0.4], [1.0], [2.0])[0]), 1e-5
    live = gs.InverseDynamics(slotted(gs.Cam("slot", x, y, **table)), live=["slot.lifts"])
    assert len(derivatives) == len(y)
    for k, derivative in enumerate(derivatives[1:-1], start=1):
        ends = []
        for s in (h, -h):
            live.refresh(slotted(gs.Cam("slot", x, [z + s * (i == k) for i, z in enumerate(y)], **table)))
            ends.append(live([0.4], [1.0], [2.0])[0])
        assert abs((ends[0] - ends[1]) / (2 * h) - derivative) < 1e-6 * max(1.0, abs(derivative))


# ------------------------------------------------------------------------------------------------ curves that fail
class UserCurve(gs.Entity):
    """A curve by its name in CURVES."""

    curve: str

    @property
    def ports(self):
        return gs.Port("driver", "scalar"), gs.Port("follower", "scalar")

    def curves(self, value):
        return (gs.CurveRelation("follower", "driver", partial(_curve, self.curve)),)


def _curve(name, angle):
    return CURVES[name](angle)


CURVES = {
    "nothing": lambda x: None,
    "array": lambda x: np.array([x, x]),
    "list": lambda x: [x, x],
    "math": math.sin,
    "interp": lambda x: np.interp(x, [0.0, 1.0], [0.0, 2.0]),
    "if": lambda x: x if x > 0.0 else -x,
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_that_fail_are_told_by_name(name):
    with pytest.raises(gs.RowError, match="the curve of 'slot'"):
        gs.InverseDynamics(slotted(UserCurve("slot", curve=name)))([0.3], [0.1], [0.2])


def test_a_curve_may_be_constant_or_an_array_of_no_dimension():
    CURVES["constant"] = lambda x: 0.3
    CURVES["no dimension"] = lambda x: np.array(x * 0.5, dtype=object)
    for name in ("constant", "no dimension"):
        assert np.isfinite(gs.rnea(slotted(UserCurve("slot", curve=name)), [0.3], [0.1], [0.2])).all()
