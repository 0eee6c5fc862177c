"""The humanoid and the four-legged robot of H04 5.4.1, and the closed forms of their legs."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.leg_kinematics import (
    aibo_leg,
    aibo_leg_joints,
    humanoid_leg,
    humanoid_leg_joints,
    leg_solvers,
)

CORNERS = ("toe_left", "toe_right", "heel_left", "heel_right")
LEGS = ("front_left", "front_right", "rear_left", "rear_right")
ROBOTS = {
    "humanoid": gs.robots.humanoid,
    "driven humanoid": lambda: gs.robots.humanoid(drives=True),
    "aibo": gs.robots.aibo,
    "aibo with head": lambda: gs.robots.aibo(head=True),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_legged_robots_have_the_degrees_of_freedom_of_the_source(name):
    model = ROBOTS[name]()
    gs.check(model)
    assert model.nv == (21 if name == "aibo with head" else 18)
    rng = np.random.default_rng(1)
    q, v, a = gs.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    back = gs.aba(model, q, v, gs.rnea(model, q, v, a))
    np.testing.assert_allclose(back, a, rtol=1e-8, atol=1e-8)


def test_the_humanoid_weighs_47_kg_and_stands_on_flat_soles():
    model = gs.robots.humanoid()
    q = gs.neutral(model)
    assert gs.total_inertia(model, q).m == pytest.approx(47.0)
    place = gs.fk(model, q)
    for side, y in (("left", 0.09), ("right", -0.09)):
        assert place[f"{side}_foot.sole"].p == pytest.approx([0.0, y, -0.77])
        corners = np.array([place[f"{side}_foot.{c}"].p for c in CORNERS])
        assert corners[:, 2] == pytest.approx([-0.77] * 4)
        assert np.ptp(corners, axis=0) == pytest.approx([0.22, 0.11, 0.0])
    left_and_right = gs.crba(model, q)
    assert left_and_right[6:12, 6:12] == pytest.approx(left_and_right[12:, 12:])


def test_a_rotor_of_the_humanoid_adds_its_geared_inertia():
    bare, driven = gs.robots.humanoid(), gs.robots.humanoid(drives=True)
    q = gs.neutral(bare)
    added = np.diag(gs.crba(driven, q) - gs.crba(bare, q))[6:]
    assert added == pytest.approx([1e4 * i for i in (5e-5, 9e-5, 9e-5, 9e-5, 5e-5, 5e-5)] * 2, rel=0.05)


def test_the_dog_stands_on_four_points():
    model = gs.robots.aibo(head=True)
    place = gs.fk(model, gs.neutral(model))
    feet = np.array([place[f"{leg}_lower.foot"].p for leg in LEGS])
    assert feet == pytest.approx(
        np.array([[0.065, 0.07, -0.142], [0.065, -0.07, -0.142], [-0.065, 0.07, -0.142], [-0.065, -0.07, -0.142]])
    )
    assert gs.total_inertia(model, gs.neutral(model)).m == pytest.approx(1.6)


@pytest.mark.parametrize("name", ["humanoid", "aibo"])
def test_closed_forms_of_legs_hold_in_every_branch(name):
    model = ROBOTS[name]()
    rng = np.random.default_rng(3)
    for frame, block in leg_solvers(model).items():
        assert block.check(50) < 1e-12
        q = gs.random_configuration(model, rng)
        at = gs.fk(model, q)[frame]
        branches = block.candidates(at.R, at.p, q)
        assert len(branches) == (8 if name == "humanoid" else 4)
        for other in branches:
            there = gs.fk(model, other)[frame]
            np.testing.assert_allclose(there.p, at.p, atol=1e-12)
            if name == "humanoid":
                np.testing.assert_allclose(there.R, at.R, atol=1e-12)
        nearest = min(np.abs(np.sin((branches - q) / 2)).max(axis=1))
        assert nearest < 1e-9  # the configuration itself is among them


def test_the_first_branch_of_a_leg_is_the_one_within_the_limits():
    model = gs.robots.humanoid()
    q = gs.neutral(model) + 0.0
    coordinates, _ = model.layout.places(humanoid_leg_joints("left"))
    wanted = np.array([0.2, 0.1, -0.5, 0.9, -0.3, -0.1])
    q[coordinates] = wanted
    np.testing.assert_allclose(humanoid_leg("left")(gs.fk(model, q)["left_foot.sole"].matrix)[0], wanted, atol=1e-12)
    dog = gs.robots.aibo()
    for leg in LEGS:
        q = gs.neutral(dog) + 0.0
        coordinates, _ = dog.layout.places(aibo_leg_joints(leg))
        side, knee = (1 if leg.endswith("left") else -1), (1 if leg.startswith("front") else -1)
        wanted = np.array([-0.4 * knee, 0.2 * side, 0.9 * knee])
        q[coordinates] = wanted
        np.testing.assert_allclose(aibo_leg(leg)(gs.fk(dog, q)[f"{leg}_lower.foot"].p)[0], wanted, atol=1e-12)


def test_a_foot_out_of_reach_has_no_solution():
    model = gs.robots.humanoid()
    far = np.eye(4)
    far[:3, 3] = (0.0, 0.09, -0.9)
    assert np.isnan(humanoid_leg("left")(far)).any(axis=1).all()
    answer = leg_solvers(model)["left_foot.sole"](far, gs.neutral(model))
    assert not answer.converged


def test_legs_are_asked_for_by_name():
    with pytest.raises(gs.SpecError, match=r"there is no leg 'lft'.*left"):
        humanoid_leg("lft")
    with pytest.raises(gs.SpecError, match=r"'two_link' has no leg that is known in closed form"):
        leg_solvers(gs.robots.two_link())
