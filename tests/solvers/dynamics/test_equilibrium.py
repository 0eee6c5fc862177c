"""Statics: loads on frames, locked joints, large rotations, buckling, sag of flexible links."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support import loop_models
from tests.support.comparing import assert_close
from tests.support.flexible_models import ALUMINIUM

EI, LENGTH = 1000.0, 1.0
EULER = np.pi**2 * EI / (4.0 * LENGTH**2)
"""Critical load [N] of a column that is clamped at one end."""


def column(n):
    """A beam in the plane x-z of n elements with two cut joints each, at the points of Gauss' rule, springs 2 EI/l."""
    l, parts, end = LENGTH / n, [], "world.frame"
    a = (0.5 - 1.0 / np.sqrt(12.0)) * l
    for k, length in enumerate([a, *([l - 2 * a, 2 * a] * n)[:-1], a]):
        if k:
            parts += [gs.Joint(f"c{k}", "revolute", axis="y"), gs.connect(end, f"c{k}.a")]
            parts += [gs.Spring(f"s{k}", stiffness=2.0 * EI / l, ground=True), gs.connect(f"c{k}.shaft", f"s{k}.a")]
            end = f"c{k}.b"
        mass, I = length, length**3 / 12 + 1e-6
        parts.append(
            gs.RigidBody(
                f"r{k}", mass=mass, com=(length / 2, 0, 0), inertia=(1e-6, I, I), frames={"tip": (length, 0, 0)}
            )
        )
        parts.append(gs.connect(end, f"r{k}.origin"))
        end = f"r{k}.tip"
    return gs.assemble("column", *parts, gravity=(0, 0, 0)), end


def modal(**options):
    beam = gs.FlexibleBeam("boom", **(ALUMINIUM | {"length": LENGTH, "modes": (0, 6), "modes_x": 0} | options))
    return gs.assemble("modal", gs.chain("world", beam), gravity=(0, 0, 0)), "boom.b"


def critical(model, tip, low, high):
    """The load [N] at which the straight column has no stiffness."""

    def least(P):
        load = {tip: gs.Wrench([0, 0, 0, -P, 0, 0], "aligned")}
        return gs.equilibrium(model, np.zeros(model.nq), None, load, stable=False).stiffness[0]

    f = {P: least(P) for P in (low, high)}
    for _ in range(8):  # the least eigenvalue is nearly linear in the load
        P = low - f[low] * (high - low) / (f[high] - f[low])
        f[P] = least(P)
        if abs(f[P]) <= 1e-9 * abs(f[min(f)]) or P in (low, high):
            break
        low, high = high, P
    return P


def test_a_cantilever_is_rolled_up_by_an_end_moment():
    """M = 2 pi EI/L makes a full circle: the tip comes back to the root. With springs at Gauss' points the polygon
    closes for any number of elements; that of the literature needs 12 to 15 nodes for 1e-6 [kynema, rollup]."""
    model, tip = column(4)
    rest = gs.equilibrium(model, np.zeros(8), None, {tip: [0, 2 * np.pi * EI / LENGTH, 0, 0, 0, 0]}, steps=4)
    end = gs.fk(model, rest.q)[tip]
    assert_close(end.p, np.zeros(3), 1e-12)
    assert_close(rest.q.sum(), 2 * np.pi, 1e-12)
    assert rest.stable
    half = gs.equilibrium(model, np.zeros(8), None, {tip: [0, np.pi * EI / LENGTH, 0, 0, 0, 0]}, steps=2)
    assert_close(half.q, np.full(8, np.pi / 8), 1e-12)


def test_a_force_that_follows_the_tip_is_not_one_that_keeps_its_direction():
    """Both against the sum of moments at every joint."""
    model, tip = column(3)
    for expressed_in in ("local", "aligned"):
        load = {tip: gs.Wrench([0, 0, 0, 0, 0, 900.0], expressed_in)}
        rest = gs.equilibrium(model, np.zeros(6), None, load, steps=3)
        frames = gs.fk(model, rest.q)
        F = frames[tip].R @ [0, 0, 900.0] if expressed_in == "local" else np.array([0, 0, 900.0])
        moments = [np.cross(frames[tip].p - frames[f"c{k}.b"].p, F)[1] for k in range(1, 7)]
        assert_close(2.0 * EI * 3 / LENGTH * rest.q, np.array(moments), 1e-9)
        assert np.abs(rest.q.sum()) > 0.3


def test_eulers_load_is_where_the_stiffness_vanishes():
    model, tip = modal()
    found = critical(model, tip, *(x * np.pi**2 / 4 * ALUMINIUM["E"] * ALUMINIUM["I_y"] for x in (0.9, 0.95)))
    assert abs(found / (np.pi**2 / 4 * ALUMINIUM["E"] * ALUMINIUM["I_y"]) - 1.0) < 1e-8
    errors = [critical(*column(n), 0.9 * EULER, 0.95 * EULER) / EULER - 1.0 for n in (4, 6)]
    assert errors[0] == pytest.approx(-3.442e-3, rel=1e-3)
    assert errors[0] / errors[1] == pytest.approx(6**2 / 4**2, rel=1e-2)  # second order: 24 elements reach 1e-4


def test_a_pressed_column_vibrates_more_slowly_and_buckles():
    """w^2 falls to zero at Euler's load."""
    model, tip = modal()
    P = np.pi**2 / 4 * ALUMINIUM["E"] * ALUMINIUM["I_y"]
    free, pressed, beyond = (
        gs.eigenfrequencies(model, np.zeros(6), wrenches={tip: gs.Wrench([0, 0, 0, -x * P, 0, 0], "aligned")}).undamped
        for x in (0.0, 0.9, 1.1)
    )
    assert pressed[0] < 0.4 * free[0]
    assert beyond[0] < 0.0


def test_the_sag_of_a_flexible_link_is_that_of_the_beam_equation():
    """Own weight and a force at the tip, small: w L^4 / 8 EI + F L^3 / 3 EI."""
    model, tip = modal()
    g = 1e-3
    model = model.replace({"context.gravity": (0, 0, -g)})
    F, x = 1e-4, ALUMINIUM
    rest = gs.equilibrium(model, np.zeros(6), None, {tip: gs.Wrench([0, 0, 0, 0, 0, -F], "aligned")})
    bend = x["E"] * x["I_y"]
    want = x["density"] * x["area"] * g / (8 * bend) + F / (3 * bend)
    assert gs.fk(model, rest.q)[tip].p[2] / -want == pytest.approx(1.0, abs=1e-9)


def test_locked_joints_are_held_and_the_rest_sags():
    """Rotors of an elastic arm hold still: the springs carry the links, the drives what is held."""
    arm = gs.robots.elastic_arm()
    q = np.zeros(14)
    q[8] = 0.7 * arm["q2_drive.gear.ratio"]
    q[1] = 0.7
    rest = gs.equilibrium(arm, q, locked=arm.dofs[7:])
    assert_close(rest.q[7:], q[7:], 1e-15)
    tau = gs.rnea(arm, rest.q, np.zeros(14), np.zeros(14))
    assert_close(tau[:7], np.zeros(7), 1e-9)
    assert_close(rest.held[7:], tau[7:], 1e-9)
    assert_close(rest.held[:7], np.zeros(7), 1e-15)
    assert rest.stable
    assert 1e-4 < abs(rest.q[1] - 0.7) < 0.1


def test_locked_joints_in_a_loop_carry_what_is_left():
    """A five-bar with one crank locked rests where the other one is not turned; the lock holds the other's share."""
    minimal = loop_models.five_bar(loops="minimal")
    found = {}
    for kind in ("minimal", "constraints"):
        model = loop_models.five_bar(loops=kind)
        rest = gs.equilibrium(model, gs.neutral(model), locked=["A1"])
        at = model.dofs.index("A1")
        found[kind] = [rest.q[model.coordinates.index(x)] for x in minimal.coordinates], rest.held[at]
        assert rest.stable
    assert_close(np.array(found["constraints"][0]), np.array(found["minimal"][0]), 1e-8)
    assert_close(found["constraints"][1], found["minimal"][1], 1e-8)


def test_stiff_and_soft_things_come_to_rest_together():
    """A pendulum that is a steel beam: squares of frequencies from 1e1 to 1e10 1/s^2."""
    steel = {"area": 4e-4, "I_y": 1.3e-8, "I_z": 1.3e-8, "J": 2.2e-8, "E": 2.1e11, "G": 8.1e10, "density": 7850.0}
    beam = gs.FlexibleBeam("bar", length=0.3, **steel, modes=(0, 4), modes_x=(0, 2))
    model = gs.assemble("pendulum", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), beam))
    rest = gs.equilibrium(model, np.r_[0.3, np.zeros(6)])
    assert_close(rest.q[0], np.pi / 2, 1e-9)
    assert rest.stable
    assert rest.stiffness[0] == pytest.approx(9.81 * 0.15 / 0.03, rel=1e-2)
    stretch = 7850.0 * 9.81 * 0.3**2 / (2 * 2.1e11)
    assert gs.fk(model, rest.q)["bar.b"].p[2] == pytest.approx(-0.3 - stretch, abs=1e-14)


REFUSED = {
    "steps": (dict(steps=0), "steps must be a whole number"),
    "locked": (dict(locked=["elbow"]), "'elbow'"),
    "shape": (dict(wrenches={"r0": [1, 2, 3]}), r"wrench at 'r0' has shape \(3,\)"),
    "many": (dict(wrenches={"r0": np.zeros((4, 6))}), "one state at a time"),
    "frame": (dict(wrenches={"hand": np.zeros(6)}), "hand"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_load_is_refused(case):
    given, match = REFUSED[case]
    with pytest.raises(gs.GyrostatError, match=match):
        gs.equilibrium(column(1)[0], np.zeros(2), **given)


def bathe_bolourchi(n):
    """Tip displacement [in] of the 45 degree bend of radius 100 in, section 1 x 1 in, E = 1e7 psi, nu = 0, under 600 lb
    across its plane: n straight in-cut elements between points of the arc."""
    step, parts = np.pi / 4 / n, ["world"]
    for k in range(n):
        turn = {"axis": (0, 0, 1), "angle": step if k else step / 2}
        parts.append(gs.Displacement(f"turn{k}", rotation=turn))
        numbers = {"area": 1.0, "I_y": 1 / 12, "I_z": 1 / 12, "J": 1 / 6, "E": 1e7, "G": 5e6, "density": 1.0}
        parts.append(gs.FlexibleBeam(f"b{k}", length=200 * np.sin(step / 2), **numbers, method="in-cut", elements=1))
    model, tip = gs.assemble("bend", gs.chain(*parts), gravity=(0, 0, 0)), f"b{n - 1}.b"
    load = {tip: gs.Wrench([0, 0, 0, 0, 0, 600.0], "aligned")}
    rest = gs.equilibrium(model, np.zeros(model.nq), None, load, steps=6)
    assert rest.stable
    return gs.fk(model, rest.q)[tip].p - gs.fk(model, np.zeros(model.nq))[tip].p


@pytest.mark.slow
def test_the_bend_of_bathe_and_bolourchi():
    """Printed for eight straight elements: -13.4, 53.4, -23.5 [Bathe and Bolourchi, Int. J. Num. Meth. Eng. 14 (1979)
    961]; a geometrically exact beam with shear and stretch converges to -23.646, -13.721, 53.578 [kynema]."""
    found = {n: bathe_bolourchi(n) for n in (4, 6, 8)}
    assert_close(found[8], [-23.5, -13.4, 53.4], 2e-3)
    limits = [(b * b * found[b] - a * a * found[a]) / (b * b - a * a) for a, b in ((4, 6), (6, 8))]
    assert_close(limits[0], limits[1], 1e-3)  # second order
    assert_close(limits[1], [-23.646, -13.721, 53.578], 3e-3)
