"""``with_drive`` on joints that have a drive already: what is there stays, contradictions are refused by name."""

import re

import pytest

import gyrostat as gs
from gyrostat.io.accept_policy import AcceptedFriction


def arm(**drive) -> gs.Model:
    body = gs.RigidBody("body", mass=1.0, com=(0, 0, 0.1), inertia=(0.1, 0.1, 0.1))
    model = gs.assemble("arm", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), body))
    return model.with_drive("hinge", **drive) if drive else model


WAYS = [
    ({"viscous": 0.3, "coulomb": 0.1}, {"rotor_inertia": 1e-3, "gear_ratio": 50.0}),
    ({"viscous": 0.3}, {"rotor_inertia": 1e-3, "gear_ratio": 50.0, "stiffness": 100.0, "damping": 2.0}),
    ({"viscous": 0.3}, {"coulomb": (0.2, 0.1)}),
    ({"viscous": 0.3}, {"torque_limit": 3.0}),
    ({"rotor_inertia": 1e-3, "gear_ratio": 50.0}, {"viscous": 0.3, "coulomb": 0.2}),
    ({"rotor_inertia": 1e-3, "gear_ratio": 50.0}, {"stiffness": 100.0, "damping": 2.0}),
    ({"rotor_inertia": 1e-3, "gear_ratio": 50.0, "stiffness": 100.0}, {"damping": 2.0, "speed_limit": 9.0}),
    ({"gear_ratio": 50.0, "motor": True}, {"rotor_inertia": 1e-3, "viscous": 1.0}),
    ({"viscous": 0.3, "friction_at": "motor", "gear_ratio": 50.0}, {"rotor_inertia": 1e-3, "lumped": False}),
]


@pytest.mark.parametrize(("first", "then"), WAYS)
def test_a_drive_in_two_steps_is_the_drive_in_one(first, then):
    at_once = {**first, **then}
    both = arm(**first).with_drive("hinge", **then)
    assert both["hinge_drive"] == arm(**at_once)["hinge_drive"]
    assert set(both.connections) == set(arm(**at_once).connections)
    gs.check(both)
    assert arm(**first).with_drive("hinge", **first) == arm(**first)  # the same again contradicts nothing


def test_friction_on_the_other_shaft_comes_beside_that_of_the_joint():
    model = arm(viscous=0.3).with_drive("hinge", rotor_inertia=1e-3, gear_ratio=10.0, viscous=0.02, friction_at="motor")
    assert model["hinge.friction.viscous"] == 0.3
    assert model["hinge.motor_friction.viscous"] == 0.02
    tau = gs.rnea(model, [0.0], [1.0], [0.0]) - gs.rnea(arm(), [0.0], [1.0], [0.0])
    assert tau == pytest.approx(0.3 + 0.02 * 10.0**2)
    again = model.with_drive("hinge", coulomb=0.1)
    assert again["hinge.friction.coulomb"] == 0.1


@pytest.mark.parametrize(
    ("first", "then", "messages"),
    [
        ({"viscous": 0.3}, {"viscous": 0.4}, ["'viscous' 0.4 is given, but 'hinge_drive.friction.viscous' is .*: 0.3"]),
        (
            {"rotor_inertia": 1e-3, "gear_ratio": 50.0, "torque_limit": 2.0},
            {"rotor_inertia": 2e-3, "gear_ratio": 60.0, "torque_limit": 3.0, "viscous": 1.0},
            ["3 problems", "'inertia' 0.002 is given", "'ratio' 60 is given, but 'hinge_drive.gear.ratio' is there alr",
             "'torque_limit' 3 is given"],
        ),
        ({"rotor_inertia": 1e-3}, {"rotor_axis": "z"}, ["'rotor_axis' 'z' is given, but 'hinge_drive.rotor' is there"]),
        ({"rotor_inertia": 1e-3}, {"motor": False}, ["'motor' False is given, but 'hinge_drive.motor' is there alre"]),
        ({"rotor_inertia": 1e-3, "stiffness": 5.0}, {"stiffness": 6.0}, ["'stiffness' 6 is given, but 'hinge_drive.s"]),
        ({"viscous": 0.3}, {"stiffness": 5.0}, ["is elastic, but has no rotor"]),
        ({"viscous": 0.3}, {"viscous": "much"}, ["friction 'hinge_drive.friction': 'viscous' must be a number, got "]),
        ({"viscous": 0.3}, {"friction": {"smoot": 1.0}}, ["friction 'hinge_drive.friction': has no property 'smoot'"]),
    ],
)  # fmt: skip
def test_contradictions_are_refused_and_named(first, then, messages):
    with pytest.raises(gs.SpecError) as caught:
        arm(**first).with_drive("hinge", **then)
    for message in messages:
        assert re.search(message, str(caught.value)), str(caught.value)


def test_a_drive_that_was_made_otherwise_is_not_taken_apart():
    own = gs.assembly("hinge_drive", gs.RotorInertia("wheel", inertia=1.0), exposes={"shaft": "wheel.shaft"})
    model = arm().attach(own, to="hinge.shaft")
    with pytest.raises(gs.SpecError, match="there is already 'hinge_drive', and it is no drive of the usual parts"):
        model.with_drive("hinge", viscous=0.1)
    assert model.with_drive("hinge", viscous=0.1, replace=True)["hinge.friction.viscous"] == 0.1


def test_friction_that_was_accepted_as_it_is_stays_so(tmp_path):
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
      <dynamics damping="-0.2" friction="0.1"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    with pytest.warns(gs.ModelWarning, match="1 dynamics"):
        model = gs.load(tmp_path / "r.urdf", policy="accept")
    model = model.with_drive("j", rotor_inertia=0.1, gear_ratio=3.0)
    assert isinstance(model["j_drive.friction"], AcceptedFriction)
    assert model["j.friction.viscous"] == -0.2
    gs.check(model)
