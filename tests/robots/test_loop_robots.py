"""Robots with closed loops: their geometry, what becomes of their loops, and identities of mechanics."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.loops.stewart import HOME

CLOSED_FORM = (
    "four_bars",
    "slider_crank",
    "andrews_squeezer",
    "stewart",
    "delta",
    "five_bar",
    "excavator",
    "palletizer",
)


def made(name, **options):
    return getattr(gs.robots, name)(**options)


def near(model, seed, spread=0.05):
    """A configuration around the reference, and rates."""
    rng = np.random.default_rng(seed)
    q = gs.integrate(model, gs.neutral(model), spread * rng.uniform(-1.0, 1.0, model.nv))
    return q, rng.normal(size=model.nv)


def slope(f, model, q, h=1e-6):
    """Derivatives (..., nv) of f(q) along the rates, by central differences."""
    columns = [
        (f(gs.integrate(model, q, h * e)) - f(gs.integrate(model, q, -h * e))) / (2.0 * h) for e in np.eye(model.nv)
    ]
    return np.stack(columns, axis=-1)


def treatments(model):
    return {report.closer: report.treatment for report in gs.loops(model)}


# ------------------------------------------------------------------------------------------------ all of them
@pytest.mark.parametrize("name", CLOSED_FORM)
def test_loops_with_closed_forms_leave_minimal_coordinates(name):
    model, tree = made(name), made(name, loops="constraints")
    assert set(treatments(model).values()) <= {"closed form", "constant tie"}
    assert set(treatments(tree).values()) == {"constraints"}
    equations = sum(report.equations for report in gs.loops(tree))
    assert model.nv < tree.nv and tree.nv - model.nv <= equations


@pytest.mark.parametrize("name", [*CLOSED_FORM, "bricard", "five_point_suspension", "flyball_governor"])
def test_files_keep_robots_with_loops(name, tmp_path):
    model = made(name)
    gs.save(model, tmp_path / "robot.yaml")
    again = gs.load(tmp_path / "robot.yaml")
    assert again == model and again.dofs == model.dofs
    np.testing.assert_array_equal(gs.neutral(again), gs.neutral(model))


@pytest.mark.parametrize("loops", ["auto", "constraints"])
@pytest.mark.parametrize("name", [*CLOSED_FORM, "bricard", "five_point_suspension"])
def test_random_configurations_of_robots_are_closed_within_their_limits(name, loops):
    model = made(name, loops=loops)
    limited = [e for e in model.wiring.entities.values() if isinstance(e, gs.Joint) and e.lower is not None]
    for q in gs.random_configuration(model, 1, 5):
        for joint in limited:
            if joint.name in model.coordinates:
                assert joint.lower <= q[model.coordinates.index(joint.name)] <= joint.upper
        assert np.isfinite(gs.rnea(model, q, np.zeros(model.nv), np.zeros(model.nv))).all()  # refuses what is open


@pytest.mark.parametrize("name", ["bricard", "five_point_suspension"])
def test_loops_without_closed_forms_are_constraints(name):
    model = made(name)
    assert set(treatments(model).values()) == {"constraints"}
    with pytest.raises(gs.LoopError, match="have no closed form"):
        gs.neutral(made(name, loops="minimal"))


@pytest.mark.parametrize("name", [*CLOSED_FORM, "flyball_governor"])
def test_torques_at_rest_are_the_slope_of_the_potential_energy(name):
    model = made(name)
    q, _ = near(model, 1)
    zero = np.zeros(model.nv)
    forced = {"slider_crank": 1.0}.get(name)  # the push on its rod has no energy
    want = slope(lambda q: gs.potential_energy(model, q), model, q)
    if forced:
        want = want - slope(lambda q: gs.fk(model, q)["rod.pushed"].p[0] * forced, model, q)
    found = gs.rnea(model, q, zero, zero)
    np.testing.assert_allclose(found, want, rtol=2e-6, atol=2e-6 * max(1.0, np.abs(found).max()))


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_velocity_forces_are_those_of_christoffel(name):
    """h_i = sum_jk (dM_ij/dq_k - 1/2 dM_jk/dq_i) v_j v_k, M by the composite-body algorithm."""
    model = made(name, **({"drives": False} if name in ("five_bar", "palletizer") else {}))
    if model.layout.turning:
        pytest.skip("rates of the platform are no derivatives of coordinates; its energy is tested below")
    q, v = near(model, 2)
    zero, elements = np.zeros(model.nv), gs.rnea(model, q, np.zeros(model.nv), np.zeros(model.nv))
    dM = slope(lambda q: gs.crba(model, q), model, q)
    want = np.einsum("ijk,j,k->i", dM, v, v) - 0.5 * np.einsum("jki,j,k->i", dM, v, v)
    if name in ("slider_crank",):  # the damper's force
        place = lambda q: np.linalg.norm(gs.fk(model, q)["crank.middle"].p - gs.fk(model, q)["rod.middle"].p)  # noqa: E731
        pace = slope(place, model, q)
        want = want + pace * (pace @ v)
    found = gs.rnea(model, q, v, zero) - elements
    np.testing.assert_allclose(found, want, rtol=2e-6, atol=2e-6 * max(np.abs(found).max(), 1e-9))


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_the_power_of_the_torques_is_the_change_of_energy(name):
    model = made(name, **({"drives": False} if name in ("five_bar", "palletizer") else {}))
    if name == "slider_crank":
        pytest.skip("its damper takes energy")
    q, v = near(model, 3)
    a, h = np.random.default_rng(4).normal(size=model.nv), 1e-5

    def energy(s):
        at, rate = gs.integrate(model, q, s * (v + 0.5 * s * a)), v + s * a
        return gs.kinetic_energy(model, at, rate) + gs.potential_energy(model, at)

    want = (energy(h) - energy(-h)) / (2.0 * h)
    assert gs.rnea(model, q, v, a) @ v == pytest.approx(
        want, rel=1e-6, abs=1e-6 * float(gs.kinetic_energy(model, q, v))
    )


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_forward_dynamics_undoes_inverse_dynamics(name):
    model = made(name)
    q, v = near(model, 5)
    a = np.random.default_rng(6).normal(size=model.nv)
    np.testing.assert_allclose(gs.aba(model, q, v, gs.rnea(model, q, v, a)), a, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["slider_crank", "stewart", "delta", "five_bar", "excavator", "palletizer"])
def test_constraints_accelerate_as_minimal_coordinates_do(name):
    """At the reference, which both know, from rest; forces at the independent joints alone."""
    model, tree = made(name), made(name, loops="constraints")
    q, full = gs.neutral(model), gs.neutral(tree)
    tau, at = np.random.default_rng(7).normal(size=model.nv), [tree.dofs.index(dof) for dof in model.dofs]
    every = np.zeros(tree.nv)
    every[at] = tau
    found = gs.aba(tree, full, np.zeros(tree.nv), every)[at]
    want = gs.aba(model, q, np.zeros(model.nv), tau)
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())


# ------------------------------------------------------------------------------------------------ four-bars
@pytest.mark.parametrize("n", [1, 2, 7])
def test_four_bars_are_a_pendulum(n):
    """M = (n + 1)/3 + n, G = ((n + 1)/2 + n) 9.81 cos(A0)."""
    model = gs.robots.four_bars(n)
    for q in (0.0, 0.4, 2.0, -3.0):  # the flat position, too
        assert gs.crba(model, [q])[0, 0] == pytest.approx((n + 1) / 3 + n, rel=1e-12)
        assert gs.gravity(model, [q])[0] == pytest.approx(((n + 1) / 2 + n) * 9.81 * np.cos(q), rel=1e-12, abs=1e-12)


def test_no_four_bars_are_refused():
    with pytest.raises(gs.SpecError, match="needs at least one four-bar, got n = 0"):
        gs.robots.four_bars(0)


# ------------------------------------------------------------------------------------------------ five-bar
def test_the_tool_of_the_five_bar_is_where_two_circles_meet():
    model = gs.robots.five_bar()
    for seed in range(5):
        q, _ = near(model, seed, 0.2)
        elbows = np.array(
            [[x + 0.25 * np.cos(angle), 0.25 * np.sin(angle)] for x, angle in zip((-0.1, 0.1), q, strict=True)]
        )
        middle, half = elbows.mean(axis=0), (elbows[1] - elbows[0]) / 2
        up = np.array([-half[1], half[0]]) / np.linalg.norm(half)
        want = middle + up * np.sqrt(0.33**2 - half @ half)
        place = gs.fk(model, q)
        np.testing.assert_allclose(place["left_forearm.tip"].p[[0, 2]], want, atol=1e-14)
        np.testing.assert_allclose(place["right_forearm.tip"].p[[0, 2]], want, atol=1e-14)


def test_arms_of_the_five_bar_that_lie_too_far_apart_are_refused_by_name():
    with pytest.raises(gs.LoopError, match=r"'left_elbow', 'right_elbow' have no solution, 0\.0399 m are missing"):
        gs.rnea(gs.robots.five_bar(), [3.1, 0.0], [0.0, 0.0], [0.0, 0.0])


# ------------------------------------------------------------------------------------------------ Stewart
def leg_lengths(model, q):
    place = gs.fk(model, q)
    return np.array([np.linalg.norm(place[f"plate.a{k}"].p - place[f"foot{k}.b"].p) for k in range(1, 7)])


def test_the_legs_of_the_platform_end_at_its_anchors():
    model = gs.robots.stewart()
    home = leg_lengths(model, gs.neutral(model))
    assert home == pytest.approx([home[0]] * 6) and home[0] > HOME
    for seed in range(5):
        q, _ = near(model, seed, 0.3)
        place = gs.fk(model, q)
        for k in range(1, 7):
            np.testing.assert_allclose(place[f"piston{k}.tip"].p, place[f"plate.a{k}"].p, atol=1e-13)
            shift = place[f"piston{k}"].p - place[f"cylinder{k}"].p
            way = place[f"plate.a{k}"].p - place[f"foot{k}.b"].p
            np.testing.assert_allclose(np.cross(shift, way), np.zeros(3), atol=1e-13)


def test_forces_in_the_legs_do_the_work_of_the_platforms_wrench():
    """tau^T v = f^T dl/dt for all v: the forces f = J^-T tau, put on the slides of the tree, give the same motion."""
    model, tree = gs.robots.stewart(), gs.robots.stewart(loops="constraints")
    q, a = gs.neutral(model), np.random.default_rng(8).normal(size=6)
    tau = gs.rnea(model, q, np.zeros(6), a)
    J = slope(lambda q: leg_lengths(model, q), model, q)
    every = np.zeros(tree.nv)
    every[[tree.dofs.index(f"leg{k}") for k in range(1, 7)]] = np.linalg.solve(J.T, tau)
    found = gs.aba(tree, gs.neutral(tree), np.zeros(tree.nv), every)
    np.testing.assert_allclose(found[[tree.dofs.index(dof) for dof in model.dofs]], a, rtol=0, atol=1e-7)


def test_rotors_on_the_legs_add_their_inertia():
    """Each spindle turns a rotor of 2e-4 kg m^2 by 2 pi / 0.01 rad/m: M grows by J^T I N^2 J."""
    plain, driven = gs.robots.stewart(), gs.robots.stewart(drives=True)
    q = near(plain, 9, 0.2)[0]
    J = slope(lambda q: leg_lengths(plain, q), plain, q)
    want = gs.crba(plain, q) + J.T @ J * 2e-4 * (2.0 * np.pi / 0.01) ** 2
    assert gs.crba(driven, q) == pytest.approx(want, rel=2e-3, abs=0.5)  # rotors turn with their legs, too


# ------------------------------------------------------------------------------------------------ delta
def test_the_delta_with_all_rods_moves_as_the_one_that_cannot_turn():
    """Parallelograms keep the platform's orientation: no angular acceleration, the same linear one."""
    three, full = gs.robots.delta(), gs.robots.delta(parallelograms=True)
    q, whole = gs.neutral(three), gs.neutral(full)
    np.testing.assert_allclose(whole[:3], q, atol=1e-12)
    torque = np.array([3.0, -1.0, 2.0])
    arms = slope(lambda q: np.array([_arm_angle(three, q, k) for k in (1, 2, 3)]), three, q)
    every = np.zeros(full.nv)
    every[[full.dofs.index(f"arm{k}") for k in (1, 2, 3)]] = torque
    found = gs.aba(full, whole, np.zeros(full.nv), every)
    want = gs.aba(three, q, np.zeros(3), arms.T @ torque)
    np.testing.assert_allclose(found[:3], np.zeros(3), atol=1e-9)
    np.testing.assert_allclose(found[3:6], want, rtol=1e-7, atol=1e-7)


def _arm_angle(model, q, k):
    """Of an arm against its base."""
    place = gs.fk(model, q)
    R = place[f"base{k}.b"].R.T @ place[f"arm{k}_link"].R
    return np.arctan2(R[0, 2], R[0, 0])


def test_the_rods_of_the_delta_keep_their_length():
    model = gs.robots.delta()
    for seed in range(5):
        place = gs.fk(model, near(model, seed, 0.15)[0])
        for k in (1, 2, 3):
            assert np.linalg.norm(place[f"arm{k}_link.elbow"].p - place[f"plate.edge{k}"].p) == pytest.approx(
                0.8, abs=1e-14
            )
        np.testing.assert_allclose(place["plate"].R, np.eye(3), atol=1e-15)


# ------------------------------------------------------------------------------------------------ suspension
def test_the_suspension_has_one_degree_of_freedom_and_falls_on_its_strut():
    model = gs.robots.five_point_suspension()
    assert [report.equations for report in gs.loops(model)] == [1] * 5
    a = gs.aba(model, gs.neutral(model), np.zeros(7), np.zeros(7))
    assert a[5] < -1.0  # without the road the preloaded strut pushes the wheel down
    assert a[6] == pytest.approx(-a[1])  # the wheel does not turn with its carrier


def test_the_suspension_keeps_its_rods_while_it_swings():
    model = gs.robots.five_point_suspension()
    run = gs.simulate(model, None, t_end=1.0, t_eval=np.linspace(0.0, 1.0, 21), rtol=1e-8, atol=1e-8, progress=False)
    heights = run.q[:, 2]
    assert np.ptp(heights) > 0.02 and np.ptp(heights[-4:]) < 0.2 * np.ptp(heights)  # damped
    for q in run.q:
        place = gs.fk(model, q)
        for name in ("upper_front", "upper_rear", "lower_front", "lower_rear", "toe"):
            length = np.linalg.norm(place[f"{name}_mount.b"].p - place[f"upright.{name}"].p)
            assert length == pytest.approx(model[f"{name}.length"], abs=1e-10)


# ------------------------------------------------------------------------------------------------ excavator
def test_the_cylinders_of_the_excavator_have_the_lengths_of_its_coordinates():
    model = gs.robots.excavator()
    assert model.dofs == ("swing", "boom_cylinder", "stick_cylinder", "bucket_cylinder")
    pins = {
        "boom": ("turntable.boom_foot", "boom_link.boom_pin"),
        "stick": ("boom_link.stick_foot", "stick_link.stick_pin"),
        "bucket": ("stick_link.bucket_foot", "rocker_link.tip"),
    }
    for seed in range(5):
        q, _ = near(model, seed, 0.2)
        place = gs.fk(model, q)
        for k, (foot, pin) in enumerate(pins.values(), start=1):
            assert np.linalg.norm(place[foot].p - place[pin].p) == pytest.approx(q[k], abs=1e-13)
        assert np.linalg.norm(place["rocker_link.tip"].p - place["bucket_link.link"].p) == pytest.approx(
            0.60, abs=1e-13
        )
        np.testing.assert_allclose(place["link_link.tip"].p, place["bucket_link.link"].p, atol=1e-13)


def test_the_rocker_of_the_excavator_is_solved_before_its_bucket():
    order = {report.closer: (report.order or 0, report.unknowns) for report in gs.loops(gs.robots.excavator())}
    assert order["bucket_pin"][0] < order["link_pin"][0]
    assert set(order["bucket_pin"][1]) == {"bucket_foot", "rocker"} and set(order["link_pin"][1]) == {"link", "bucket"}


def test_the_boom_cylinder_carries_the_arm():
    """Moments about the boom's hinge: weight of everything behind it = force of the cylinder x its lever."""
    model = gs.robots.excavator(load=800.0)
    q = gs.neutral(model)
    force, place = gs.gravity(model, q)[1], gs.fk(model, q)
    hinge, foot, pin = (place[p].p for p in ("turntable.boom", "turntable.boom_foot", "boom_link.boom_pin"))
    lever = np.linalg.norm(np.cross(pin - hinge, (pin - foot) / np.linalg.norm(pin - foot)))
    assert 100e3 < force < 400e3 and lever > 0.5
    lighter = gs.gravity(gs.robots.excavator(load=0.0), q)[1]
    reach = (place["bucket_link.load"].p - hinge)[0]
    assert (force - lighter) * lever == pytest.approx(800.0 * 9.81 * reach, rel=1e-9)


# ------------------------------------------------------------------------------------------------ palletizer
def test_the_loops_of_the_palletizer_are_solved_for_r6_then_r4():
    """H04 5.2: "solve loop 1 for joint angle of joint R6, then solve loop 2 for the remaining angle of joint R4"."""
    model = gs.robots.palletizer()
    assert model.dofs == ("R1", "R2", "R3", "R5")
    one, two = sorted(gs.loops(model), key=lambda report: report.order or 0)
    assert (one.closer, one.unknowns, one.order) == ("rod1", ("R6",), 1)
    assert (two.closer, two.unknowns, two.order) == ("rod2", ("R4",), 2)
    assert "R6" in two.entities and "R1" not in one.entities


def test_with_other_rods_the_order_is_the_same_and_the_forms_are_closed():
    model = gs.robots.palletizer().replace({"rod1.length": 1.27, "rod2.length": 1.37})
    one, two = sorted(gs.loops(model), key=lambda report: report.order or 0)
    assert (one.unknowns, two.unknowns) == (("R6",), ("R4",))
    assert (one.treatment, two.treatment) == ("closed form", "closed form")
    q = np.array([0.4, 0.3, 0.2, 0.5])
    place = gs.fk(model, q)
    assert np.linalg.norm(place["carousel.rod1"].p - place["triangle.rod1"].p) == pytest.approx(1.27, abs=1e-14)
    assert np.linalg.norm(place["triangle.rod2"].p - place["hand.rod2"].p) == pytest.approx(1.37, abs=1e-14)
    assert place["hand"].R[2, 2] < 1.0 - 1e-5  # the flange is not level any more


@pytest.mark.parametrize("bars", [False, True])
def test_the_flange_of_the_palletizer_stays_level(bars):
    model = gs.robots.palletizer(bars=bars)
    rng = np.random.default_rng(10)
    for q in rng.uniform((-3, -0.6, -0.6, -3), (3, 0.9, 1.0, 3), (20, 4)):
        place = gs.fk(model, q)
        np.testing.assert_allclose(place["payload"].R[:, 2], (0, 0, 1), atol=1e-12)
        wrist = np.array(
            [
                0.35 + 1.25 * np.sin(q[1]) + 1.4 * np.cos(q[1] + q[2]),
                0.85 + 1.25 * np.cos(q[1]) - 1.4 * np.sin(q[1] + q[2]),
            ]
        )
        radius = np.hypot(*place["hand"].p[:2])
        np.testing.assert_allclose((radius, place["hand"].p[2]), wrist, atol=1e-12)


def test_the_payload_of_the_palletizer_is_carried_by_r2_and_r3():
    """dU/dq of 180 kg at the flange: it stays level, so that its centre of mass moves as the wrist does."""
    q = np.array([0.3, 0.25, 0.4, -0.2])
    heavy, light = (gs.gravity(gs.robots.palletizer(payload=m), q) for m in (280.0, 180.0))
    lift = -1.25 * np.sin(q[1]) - 1.4 * np.cos(q[1] + q[2]), -1.4 * np.cos(q[1] + q[2])
    np.testing.assert_allclose((heavy - light)[1:3], 100.0 * 9.81 * np.array(lift), rtol=1e-12)
    np.testing.assert_allclose((heavy - light)[[0, 3]], 0.0, atol=1e-9)


def test_bars_of_the_palletizer_weigh_what_they_weigh():
    """Bar 1 turns with the arm, bar 2 with the forearm, both parallel to them."""
    q = np.array([0.3, 0.25, 0.4, -0.2])
    found = gs.gravity(gs.robots.palletizer(bars=True), q) - gs.gravity(gs.robots.palletizer(), q)
    s2, c23 = np.sin(q[1]), np.cos(q[1] + q[2])
    second = 13.0 * 9.81 * (-0.7 * c23)
    first = -14.0 * 9.81 * 0.625 * s2 + 13.0 * 9.81 * (-1.25 * s2) + second
    np.testing.assert_allclose(found[1:3], (first, second), rtol=1e-9)


@pytest.mark.parametrize("bars", [False, True])
def test_parallelograms_of_the_palletizer_are_constant_ties_beyond_their_flat_position(bars):
    """Rod 2 and forearm lie in line at R2 + R3 = -1.123 rad: a closed form would take the crossed branch from there."""
    model = gs.robots.palletizer(bars=bars)
    assert set(treatments(model).values()) == {"constant tie"}
    for total in (-1.0, -1.1229, -1.2, -1.4):
        place = gs.fk(model, [0.2, 0.3, total - 0.3, 0.1])
        np.testing.assert_allclose(place["hand"].R[:, 2], (0, 0, 1), atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(place["triangle.rod2"].p - place["hand.rod2"].p), 1.4, rtol=1e-12)


# ------------------------------------------------------------------------------------------------ trees and actuators
@pytest.mark.parametrize(
    "name", ["slider_crank", "andrews_squeezer", "stewart", "delta", "five_bar", "excavator", "palletizer"]
)
def test_constraints_accelerate_as_minimal_coordinates_do_in_motion(name):
    """The tree is closed around the independent coordinates, which both have; rods of the palletizer are unequal."""
    model, tree = made(name), made(name, loops="constraints")
    if name == "palletizer":
        model, tree = (m.replace({"rod1.length": 1.27, "rod2.length": 1.37}) for m in (model, tree))
    at = [tree.dofs.index(dof) for dof in model.dofs]
    q, v = near(model, 11, 0.03)
    tau = np.random.default_rng(12).normal(size=model.nv)
    start, rates, efforts = gs.neutral(tree), np.zeros(tree.nv), np.zeros(tree.nv)
    for block in model.layout:
        start[tree.layout.of[block.entity].q] = q[block.q]
    rates[at], efforts[at] = v, tau
    kept = [block.entity for block in model.layout]
    full, moving = gs.close(tree, start, rates, keep=kept)
    found = gs.aba(tree, full, moving, efforts)[at]
    want = gs.aba(model, q, v, tau)
    np.testing.assert_allclose(found, want, rtol=1e-8, atol=1e-8 * np.abs(want).max())


@pytest.mark.parametrize(("name", "lengths"), [("stewart", "leg"), ("delta", "arm")])
def test_actuators_do_the_work_of_the_generalised_forces(name, lengths):
    """J^T u = tau with the Jacobian of the actuators by differences."""
    model = made(name)
    q, _ = near(model, 13, 0.1)
    tau = np.random.default_rng(14).normal(size=model.nv)
    if name == "stewart":
        J = slope(lambda q: leg_lengths(model, q), model, q)
    else:
        J = slope(lambda q: np.array([_arm_angle(model, q, k) for k in (1, 2, 3)]), model, q)
    efforts = gs.actuator_efforts(model, q, tau)
    assert list(efforts) == [f"{lengths}{k}" for k in range(1, model.nv + 1)]
    np.testing.assert_allclose(J.T @ np.array([float(u) for u in efforts.values()]), tau, rtol=0, atol=1e-7)


def test_cylinders_of_the_excavator_exert_its_generalised_forces():
    model = gs.robots.excavator()
    q, v = near(model, 15, 0.05)
    tau = gs.rnea(model, q, 0.2 * v, v)
    np.testing.assert_allclose([float(u) for u in gs.actuator_efforts(model, q, tau).values()], tau, rtol=1e-9)


def test_the_suspension_comes_to_rest_where_its_forces_hold_it():
    model = gs.robots.five_point_suspension()
    rest = gs.equilibrium(model, gs.neutral(model))
    run = gs.simulate(model, None, t_end=6.0, t_eval=[0.0, 6.0], rtol=1e-8, atol=1e-8, progress=False)
    np.testing.assert_allclose(run.q[-1, :7], rest.q[:7], rtol=0, atol=1e-5)
    assert np.abs(run.v[-1, :6]).max() < 1e-4


# ------------------------------------------------------------------------------------------------ Bricard
def test_bricards_point_starts_at_its_corner_and_its_hinges_stay_where_they_are():
    model = gs.robots.bricard()
    np.testing.assert_allclose(gs.fk(model, gs.neutral(model))["rod3.P3"].p, (1, -1, 1), atol=1e-15)
    (loop,) = gs.loops(model)
    assert (loop.equations, loop.redundant, loop.mobility) == (5, 1, 1)
    for q in gs.random_configuration(model, 2, 5):
        place = gs.fk(model, q)
        np.testing.assert_allclose(place["rod3.tip"].p, place["rod4.origin"].p, atol=1e-10)
        np.testing.assert_allclose(place["rod5.tip"].p, (0, 0, 1), atol=1e-10)
        np.testing.assert_allclose(place["rod5"].R[:, 0], (1, 0, 0), atol=1e-10)  # the axis of the last hinge


def test_a_palletizer_without_any_mass_behind_its_last_joint_is_refused():
    with pytest.raises(gs.GyrostatError, match=r"payload is 0.*R5 would turn nothing"):
        gs.robots.palletizer(payload=0)
