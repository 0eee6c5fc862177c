"""Mechanisms with closed loops against histories that others computed: exact ones (A01, A02), to their last digits
(Andrews' squeezer, SUNDIALS' slider-crank, the car axis), and against independent computations (Bricard, governor).

The main figures are typed in; where the reference data are beside the checkout, whole histories are compared."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.loops.andrews import DRIVE
from tests.support.governor_equations import history
from tests.support.reference_data import reference

TREATMENTS = ("auto", "constraints")


def run(model, t, tolerance, **more):
    return gs.simulate(
        model,
        more.pop("torque", None),
        t_end=float(t[-1]),
        t_eval=t,
        rtol=tolerance,
        atol=tolerance,
        progress=False,
        **more,
    )


def column(model, result, name):
    return result.q[:, model.dofs.index(name)]


# ------------------------------------------------------------------------------------------------ pendulum, IFToMM A01
def cartesian_pendulum():
    """A point mass on two slides, held by a rod: two coordinates, one equation."""
    slides = [gs.Joint(axis, "prismatic", axis=axis) for axis in "xy"]
    return gs.assemble(
        "A01",
        gs.chain("world", *slides, gs.RigidBody("ball", mass=1.0)),
        gs.ConnectingRod("rod", 1.0),
        gs.connect("rod.a", "world"),
        gs.connect("rod.b", "ball.origin"),
        gravity=(0.0, -9.81, 0.0),
        reference={"x": -1.0, "y": 0.0},
        loops="constraints",
    )


A01 = {0.5: (-0.39104879155054639, -0.9203699487851922), 10.0: (-0.27508746257611686, -0.96141920509912506)}


@pytest.mark.parametrize(("tolerance", "error"), [(1e-6, 1e-5), (1e-9, 1e-7), (1e-12, 1e-10)])
def test_the_pendulum_in_cartesian_coordinates_follows_the_elliptic_functions(tolerance, error):
    t = np.array([0.0, *A01])
    found = run(cartesian_pendulum(), t, tolerance).q
    np.testing.assert_allclose(found[1:], list(A01.values()), rtol=0, atol=error)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=0, atol=1e-12)  # no drift


def test_the_pendulum_follows_its_whole_history():
    data = np.loadtxt(reference("iftomm_A01_pendulum_exact.csv"), delimiter=",", skiprows=2)
    np.testing.assert_allclose(run(cartesian_pendulum(), data[:, 0], 1e-12).q, data[:, 1:], rtol=0, atol=1e-10)


# ------------------------------------------------------------------------------------------------ four-bars, IFToMM A02
A02 = {0.5: (0.69528663316440051, 0.71873256343574162), 10.0: (0.32845811154081538, 0.94451853817860096)}
"""The top of the first upright bar of two four-bars."""


def upright(model):
    """The start of the benchmark: q as in the reference, the top of the first bar with 1 m/s along x."""
    v = np.array([-1.0 if name.startswith("A") else 1.0 for name in model.dofs])
    return {"q0": gs.neutral(model), "v0": v}


def top(model, result):
    angle = column(model, result, "A0")
    return np.column_stack([np.cos(angle), np.sin(angle)])


FINE = {"auto": (1e-12, 1e-9), "constraints": (1e-11, 1e-8)}
"""Tolerance, and what is left after 10 s: below 1e-11, constraints refuse at the flat position."""


@pytest.mark.parametrize("loops", TREATMENTS)
def test_two_four_bars_follow_the_elliptic_functions_through_their_singular_positions(loops):
    model = gs.robots.four_bars(2, loops=loops)
    t, (tolerance, error) = np.array([0.0, *A02]), FINE[loops]
    found = run(model, t, tolerance, **upright(model))
    np.testing.assert_allclose(top(model, found)[1:], list(A02.values()), rtol=0, atol=error)


@pytest.mark.parametrize("loops", TREATMENTS)
def test_two_four_bars_follow_their_whole_history(loops):
    tolerance, error = FINE[loops]
    data = np.loadtxt(reference("iftomm_A02_Nfourbar_N2_exact.csv"), delimiter=",", skiprows=2)
    model = gs.robots.four_bars(2, loops=loops)
    found = run(model, data[:, 0], tolerance, **upright(model))
    np.testing.assert_allclose(top(model, found), data[:, 1:3], rtol=0, atol=error)
    speed = found.v[:, model.dofs.index("A0")]
    np.testing.assert_allclose(top(model, found)[:, 0] * speed, data[:, 4], rtol=0, atol=20 * error)


@pytest.mark.parametrize(
    ("n", "tolerances"),
    [(2, (1e-5, 1e-7, 1e-9, 1e-11)), pytest.param(40, (1e-5, 1e-8, 1e-11), marks=pytest.mark.slow)],
)
def test_four_bars_as_constraints_are_as_good_as_their_pendulum_or_refuse(n, tolerances):
    """Error over 10 s, through flat positions, not more than three times that of the equation of one coordinate."""
    pendulum, model = gs.robots.four_bars(n), gs.robots.four_bars(n, loops="constraints")
    assert (pendulum.nv, model.nv) == (1, 2 * n + 1)
    t = np.linspace(0.0, 10.0, 21)
    exact = run(pendulum, t, 1e-13, **upright(pendulum)).q[:, 0]
    for tolerance in tolerances:
        allowed = np.abs(run(pendulum, t, tolerance, **upright(pendulum)).q[:, 0] - exact).max()
        try:
            found = column(model, run(model, t, tolerance, **upright(model)), "A0")
        except gs.SimulationError as error:
            assert "closing the loops" in str(error) and tolerance < 1e-10
        else:
            assert np.abs(found - exact).max() <= 3.0 * allowed + 1e-11


# ----------------------------------------------------------------------------------------------- slider-crank, SUNDIALS
CRANK = {  # t: crank angle, slide, rod angle
    2.5: (7.223610546579e-02, 1.498044718150e00, -3.609448680764e-02),
    9.25: (1.299241030757e00, 1.010463615801e00, -5.025678344656e-01),
}


def crank_coordinates(model, result):
    """Crank angle, slide, rod angle."""
    if model.nv == 3:
        return np.column_stack([column(model, result, name) for name in ("crank_angle", "slide", "rod_angle")])
    place = gs.fk(model, result.q)
    R = place["rod"].R
    return np.column_stack([result.q[:, 0], place["rod"].p[:, 0], np.arctan2(R[:, 1, 0], R[:, 0, 0])])


@pytest.mark.parametrize("loops", TREATMENTS)
def test_the_slider_crank_of_sundials_has_its_history(loops):
    model = gs.robots.slider_crank(loops=loops)
    t = np.array([0.0, *CRANK])
    found = crank_coordinates(model, run(model, t, 1e-12))
    np.testing.assert_allclose(found[1:], list(CRANK.values()), rtol=0, atol=2e-11)


@pytest.mark.parametrize("loops", TREATMENTS)
def test_the_slider_crank_of_sundials_has_its_whole_history(loops):
    data = np.loadtxt(reference("sundials_idaSlCrank_recomputed.csv"), delimiter=",", skiprows=2)
    model = gs.robots.slider_crank(loops=loops)
    found = crank_coordinates(model, run(model, data[:, 0], 1e-12))
    np.testing.assert_allclose(found, data[:, 1:], rtol=0, atol=2e-11)


# ------------------------------------------------------------------------------------------------ Andrews' squeezer
# Test Set for IVP Solvers, at t = 0.03 s: published (q to 9 digits), and recomputed with DOP853 at 3e-14 (12 digits)
PUBLISHED = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805303,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}
RECOMPUTED = {"beta": 15.810771195153642, "theta": -15.756371058411789, "gamma": 0.04082224011964915}
SPEEDS = {"beta": 1139.9203022591082, "theta": -1424.3792951775476, "gamma": 11.032911910606968}


def test_the_squeezer_as_constraints_has_all_angles_of_the_test_set():
    model = gs.robots.andrews_squeezer(loops="constraints")
    found = run(model, np.array([0.0, 0.03]), 1e-13, torque={"beta": DRIVE})
    q, v = (dict(zip(model.dofs, x[-1], strict=True)) for x in (found.q, found.v))
    for name, value in PUBLISHED.items():
        assert q[name] == pytest.approx(value, abs=2e-9), name
    for name, value in RECOMPUTED.items():
        assert q[name] == pytest.approx(value, abs=1e-11), name
        assert v[name] == pytest.approx(SPEEDS[name], abs=1e-8), name


def test_the_squeezer_in_one_coordinate_has_the_angles_of_the_test_set():
    model = gs.robots.andrews_squeezer()
    assert model.dofs == ("beta",)
    found = run(model, np.array([0.0, 0.03]), 1e-13, torque=[DRIVE])
    assert found.q[-1, 0] == pytest.approx(RECOMPUTED["beta"], abs=2e-11)
    assert found.v[-1, 0] == pytest.approx(SPEEDS["beta"], abs=1e-8)
    place = gs.fk(model, found.q[-1])
    for body, name in (("K3", "gamma"), ("K5", "delta"), ("K7", "epsilon")):
        R = place[body].R
        assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(PUBLISHED[name], abs=2e-11), name


def test_the_squeezer_starts_with_the_accelerations_of_the_test_set():
    data = json.loads(reference("andrews_squeezer_ivp_testset.json").read_text("utf-8"))
    model = gs.robots.andrews_squeezer()
    a = gs.aba(model, gs.neutral(model), [0.0], [DRIVE])
    assert a[0] == pytest.approx(data["a0_first2"][0], rel=1e-12)
    found = run(model, np.array([0.0, 0.03]), 1e-13, torque=[DRIVE])
    recomputed = data["recomputed_here_DOP853_3e-14"]
    assert gs.aba(model, found.q[-1], found.v[-1], [DRIVE])[0] == pytest.approx(recomputed["a_beta"], rel=1e-8)


# ------------------------------------------------------------------------------------------------ car axis
# Test Set for IVP Solvers: xl, yl, xr, yr and their rates at t = 3, given to 9 to 12 digits
CAR = [0.04934557842754028, 0.49698946023017115, 1.0417425248854215, 0.37391102726536124]
CAR_RATES = [-0.07705836840409723, 0.007446866587237785, 0.017556815753723223, 0.7703410437792519]


def road(t):
    """The axle's wheels at (0, 0) and (L cos a, L sin a), L sin a = 0.1 sin(10 t): a base that turns."""
    s, ds, dds = 0.1 * np.sin(10.0 * t), np.cos(10.0 * t), -10.0 * np.sin(10.0 * t)
    c, z = np.sqrt(1.0 - s * s), 0.0 * t
    w, dw = ds / c, dds / c + ds * ds * s / (c * c * c)
    V, A = (np.array([z, z, x, z, z, z]) for x in (w, dw))
    return np.array([[c, -s, z], [s, c, z], [z, z, z + 1.0]]), np.zeros(3), V, A


def car_axis(**options):
    """Chassis points l, which stays across the axle, and r, at the distance 1 from it, on springs of length 0.5."""

    def slide(name, axis):
        return gs.Joint(name, "prismatic", axis=axis)

    return gs.assemble(
        "car_axis",
        gs.chain("world", slide("left", "y"), gs.RigidBody("l", mass=5e-4)),
        gs.chain("world", slide("x", "x"), slide("y", "y"), gs.RigidBody("r", mass=5e-4)),
        gs.chain("world", gs.Displacement("wheel", translation=(1, 0, 0))),
        gs.ConnectingRod("chassis", 1.0),
        gs.connect("chassis.a", "l.origin"),
        gs.connect("chassis.b", "r.origin"),
        gs.PointSpring("left_spring", stiffness=1.0, rest_length=0.5),
        gs.connect("left_spring.a", "world"),
        gs.connect("left_spring.b", "l"),
        gs.PointSpring("right_spring", stiffness=1.0, rest_length=0.5),
        gs.connect("right_spring.a", "wheel.b"),
        gs.connect("right_spring.b", "r"),
        gravity=(0.0, -1.0, 0.0),
        base=road,
        reference={"left": 0.5, "x": 1.0, "y": 0.5},
        **options,
    )


def in_the_world(model, result):
    """Positions and rates of l and r against the road's start."""
    q, v = (dict(zip(model.dofs, x[-1], strict=True)) for x in (result.q, result.v))
    if "x" not in q:  # by the distance of the two
        drop, rate = q["y"] - q["left"], v["y"] - v["left"]
        q["x"], v["x"] = np.sqrt(1.0 - drop**2), -drop * rate / np.sqrt(1.0 - drop**2)
    R, _, V, _ = road(3.0)
    places = np.array([[0.0, q["left"], 0.0], [q["x"], q["y"], 0.0]])
    speeds = np.array([[0.0, v["left"], 0.0], [v["x"], v["y"], 0.0]]) + np.cross(V[:3], places)
    return (places @ R.T)[:, :2].ravel(), (speeds @ R.T)[:, :2].ravel()


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"independent": ["left", "y"]}, {"loops": "constraints"}], ids=["minimal", "constraints"]
)
def test_the_car_axis_has_the_digits_of_the_test_set(options):
    model = car_axis(**options)
    v = [{"left": 0.0, "x": 0.0, "y": -1.0}[name] for name in model.dofs]
    found = run(model, np.array([0.0, 3.0]), 1e-11, v0=v)
    places, speeds = in_the_world(model, found)
    np.testing.assert_allclose(places, CAR, rtol=0, atol=1e-10)
    np.testing.assert_allclose(speeds, CAR_RATES, rtol=0, atol=2e-9)


# ------------------------------------------------------------------------------------------------ Bricard, IFToMM A04
BRICARD = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1.0)])


def bricard_by_pinocchio():
    """The five rods as a chain, its end held on two points of the last axis."""
    from tests.support.loop_oracle import LoopOracle

    rows, parent, before = [], None, np.zeros(3)
    for k in range(5):
        u, moments = BRICARD[k + 1] - BRICARD[k], [1.01 / 12] * 3
        moments[int(np.argmax(np.abs(u)))] = 0.01 / 6
        rows.append((f"b{k}", parent, "R" + "YZXYZ"[k], BRICARD[k] - before, 1.0, u / 2, moments))
        parent, before = f"b{k}", BRICARD[k]
    end = BRICARD[5] - BRICARD[4]
    axis = [np.array([x, 0.0, 0.0]) for x in (0.0, 0.3)]
    pairs = [(("b4", end + x), (None, BRICARD[5] + x)) for x in axis]
    return LoopOracle(rows, pairs, (0.0, -9.81, 0.0))


def test_bricards_mechanism_moves_as_by_pinocchio_and_scipy():
    """Redundant rows, 10 s; the angles q0, q1, q2 are those of both trees."""
    oracle, t = bricard_by_pinocchio(), np.linspace(0.0, 10.0, 101)
    want = oracle.motion(np.zeros(5), np.zeros(5), t, lambda q, v: np.zeros(5), 1e-11)
    model = gs.robots.bricard()
    found = run(model, t, 1e-11)
    assert np.abs(want).max() > 0.9
    for k in range(3):
        np.testing.assert_allclose(column(model, found, f"q{k}"), want[:, k], rtol=0, atol=1e-9)


def test_bricards_mechanism_keeps_its_energy_and_the_relation_of_its_angles():
    """Threefold-symmetric Bricard linkages with axes at right angles have sin a + sin b + sin a sin b = 0 (Chen, You
    and Tarnai 2005, with angles from where neighbouring rods are perpendicular), a = q0 = q2 = q4, b = q1 = q3 = q5."""
    model, t = gs.robots.bricard(), np.linspace(0.0, 10.0, 101)
    found = run(model, t, 1e-11)
    a, b = (np.sin(column(model, found, name)) for name in ("q0", "q1"))
    np.testing.assert_allclose(a + b + a * b, 0.0, rtol=0, atol=1e-11)
    for name in ("q2", "q4"):
        np.testing.assert_allclose(column(model, found, name), column(model, found, "q0"), rtol=0, atol=1e-11)
    energy = gs.kinetic_energy(model, found.q, found.v) + gs.potential_energy(model, found.q)
    assert np.ptp(gs.potential_energy(model, found.q)) > 4.0
    np.testing.assert_allclose(energy, energy[0], rtol=0, atol=1e-8)


# ------------------------------------------------------------------------------------------------ governor, IFToMM A05
@pytest.mark.parametrize("method", ["dopri5", "radau", "bdf"])
def test_the_stiff_governor_moves_as_by_its_equations_written_out(method):
    """Three methods, against SciPy's Radau on Lagrange's equations."""
    t = np.linspace(0.0, 1.0, 21)
    want, model = history(t), gs.robots.flyball_governor()
    found = run(model, t, 1e-10, v0=[2.0 * np.pi, 0.0, 0.0, 0.0], method=method)
    assert np.ptp(want[:, 1]) > 0.1
    np.testing.assert_allclose(found.q[:, 0], want[:, 0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.q[:, 1] + 0.5, want[:, 1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.q[:, 2:], np.pi / 6 - want[:, 2:4], rtol=0, atol=1e-8)


def test_the_stiff_governor_moves_as_by_exudyn():
    """Its trapezoidal rule errs with the square of the step: extrapolated, the two agree."""
    from tests.support import governor_exudyn

    model, t = gs.robots.flyball_governor(), np.linspace(0.0, 1.0, 11)
    exact = run(model, t, 1e-11, v0=[2.0 * np.pi, 0.0, 0.0, 0.0]).q[:, :2]
    coarse, fine = (governor_exudyn.history(1.0, step, 10)[:, :2] for step in (1e-3, 5e-4))
    errors = [np.abs(x - exact).max() for x in (coarse, fine)]
    assert errors[0] < 3e-6 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    np.testing.assert_allclose((4.0 * fine - coarse) / 3.0, exact, rtol=0, atol=2e-9)


def test_the_governor_with_rigid_links_moves_the_same_in_two_coordinates_and_in_four():
    t = np.linspace(0.0, 10.0, 41)
    two, four = (gs.robots.flyball_governor(rigid=True, loops=loops) for loops in TREATMENTS)
    assert (two.dofs, four.dofs) == (("spin", "slide"), ("spin", "slide", "left", "right"))
    one, other = run(two, t, 1e-12, v0=[2.0 * np.pi, 0.0]), run(four, t, 1e-12, v0=[2.0 * np.pi, 0.0, 0.0, 0.0])
    assert np.ptp(one.q[:, 1]) > 0.2
    np.testing.assert_allclose(one.q, other.q[:, :2], rtol=0, atol=1e-9)


def test_the_stiff_governor_is_nearly_the_rigid_one():
    """The springs of the benchmark give by millimetres: what is wrong by more is wrong."""
    t = np.linspace(0.0, 1.0, 11)
    stiff = run(gs.robots.flyball_governor(), t, 1e-9, v0=[2.0 * np.pi, 0.0, 0.0, 0.0])
    rigid = run(gs.robots.flyball_governor(rigid=True), t, 1e-9, v0=[2.0 * np.pi, 0.0])
    np.testing.assert_allclose(stiff.q[:, 1], rigid.q[:, 1], rtol=0, atol=5e-3)
