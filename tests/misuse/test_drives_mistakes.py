"""Every way in which a drivetrain can be wrong ends in one sentence that names the entity, the value and a remedy."""

import math

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spec.check import problems
from tests.algorithms.shafts.test_drives import arm, on

NAN = math.nan
JOINTS = {
    "fixed": {},
    "spherical": {},
    "universal": {"axis": "x", "second_axis": "y"},
}
REFUSED = {
    "no such joint": (
        lambda: arm().with_drive("hing", viscous=1),
        "drive of 'hing': there is no such joint in 'arm'. Hint: did you mean 'hinge'?",
    ),
    "a body": (
        lambda: arm().with_drive("rod", viscous=1),
        "drive of 'rod': is no joint. Hint: known: 'hinge', 'elbow'",
    ),
    "nothing": (lambda: arm().with_drive("hinge"), "drive of 'hinge': nothing is given. Hint: give rotor_inertia"),
    "misspelt": (
        lambda: arm().with_drive("hinge", viscos=1),
        "drive of 'hinge': there is no property 'viscos'. Hint: did you mean 'viscous'?",
    ),
    "twice": (
        lambda: arm().with_drive("hinge", viscous=1).with_drive("hinge", viscous=2),
        (
            "drive of 'hinge': 'viscous' 2 is given, but 'hinge_drive.friction.viscous' is there already: 1. Hint: "
            "change it with model.replace, or put another drive in its place with with_drive(..., replace=True)."
        ),
    ),
    "massless motor side": (
        lambda: arm().with_drive("hinge", stiffness=10),
        (
            "drive of 'hinge': is elastic, but has no rotor: the motor side of the spring would have "
            "no inertia. Hint: give rotor_inertia"
        ),
    ),
    "damping without spring": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, damping=1),
        ("drive of 'hinge': damping is that of the spring, and there is none. Hint: give stiffness, or use viscous"),
    ),
    "unknown carrier": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, carrier="rood"),
        "drive of 'hinge': there is no carrier 'rood'. Hint: did you mean 'rod'?",
    ),
    "far carrier": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, carrier="fore"),
        (
            "drive of 'hinge': the axis of the joint is not known in 'fore', which moves against both"
            " sides of the joint. Hint: give rotor_axis"
        ),
    ),
    "carrier of nothing": (
        lambda: arm().with_drive("hinge", viscous=1, carrier="rod"),
        ("drive of 'hinge': has a carrier, an axis or a rotor's properties, but no rotor. Hint: give rotor_inertia"),
    ),
    "properties of no rotor": (
        lambda: arm().with_drive("hinge", viscous=1, rotor={"mass": 1}),
        "drive of 'hinge': has a carrier, an axis or a rotor's properties",
    ),
    "friction nowhere": (
        lambda: arm().with_drive("hinge", viscous=1, friction_at="top"),
        ("drive of 'hinge': friction_at must be 'joint' or 'motor', got 'top'. Hint: friction_at='joint'"),
    ),
    "a text for a ratio": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, gear_ratio="x"),
        "gear 'hinge_drive.gear': 'ratio' must be a number, got 'x'",
    ),
    "three magnitudes": (
        lambda: arm().with_drive("hinge", coulomb=(1, 2, 3)),
        ("friction 'hinge_drive.friction': 'coulomb' must be a number or two of them (plus, minus), got (1, 2, 3)"),
    ),
    "rows of different length": (
        lambda: gs.Gear("g", [[1, 2], [3]]),
        "gear 'g': 'ratio' must have rows of equal length",
    ),
    "no ratio": (lambda: gs.Gear("g"), "gear 'g': needs the property 'ratio'"),
    "a curve of numbers": (lambda: gs.Spring("s", curve=[1, 2]), "spring 's': 'curve' must be points of a curve, got"),
    "three numbers for a bushing": (
        lambda: gs.Bushing("b", stiffness=(1, 2, 3)),
        "bushing 'b': 'stiffness' must be six numbers (rotations, then shifts), got (1, 2, 3)",
    ),
} | {
    f"a {kind} joint": (
        lambda kind=kind, more=more: gs.assemble(
            "m", gs.chain("world", gs.Joint("j", kind, **more), gs.RigidBody("b", mass=1, inertia=(1, 1, 1)))
        ).with_drive("j", torque_limit=1),
        f"drive of 'j': a {kind} joint has {2 if more else 0} shafts, expected one. Hint: ",
    )
    for kind, more in JOINTS.items()
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_a_drive_is_refused(case):
    make, message = REFUSED[case]
    with pytest.raises(gs.SpecError) as caught:
        make()
    assert str(caught.value).startswith(message)


GEARS = gs.connect("hinge.shaft", "g.motor", "h.motor"), gs.connect("elbow.shaft", "g.joint", "h.joint")
WRONG = {
    "zero ratio": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, gear_ratio=0),
        [
            (
                "gear 'hinge_drive.gear': ratio must not be zero, got 0. Hint: give the turns of the "
                "motor for one turn of the joint."
            )
        ],
    ),
    "ratio that is no number": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, gear_ratio=NAN),
        [("gear 'hinge_drive.gear': 'ratio' must be finite, got nan. Hint: give a number, not NaN or infinity.")],
    ),
    "negative inertia": (
        lambda: arm().with_drive("hinge", rotor_inertia=-1),
        [
            (
                "rotor inertia 'hinge_drive.rotor': inertia must be positive, got -1 kg m^2. Hint: give "
                "the moment of inertia about the spin axis, on the rotor's own side of the gear."
            )
        ],
    ),
    "no inertia": (
        lambda: arm().with_drive("hinge", rotor_inertia=0),
        ["rotor inertia 'hinge_drive.rotor': inertia must be positive, got 0 kg m^2. Hint: "],
    ),
    "spring without partner": (
        lambda: arm(*on("hinge.shaft", gs.Spring("s", stiffness=1), "a")),
        [
            (
                "spring 's': its shaft 'b' is connected to nothing. Hint: connect it to a joint, a rotor "
                "or a gear, or write ground=True."
            )
        ],
    ),
    "spring in the air": (
        lambda: arm(gs.Spring("s", stiffness=1)),
        ["spring 's': cannot be reached from the reference frame. Hint: "],
    ),
    "open gear": (
        lambda: arm(*on("hinge.shaft", gs.Gear("g", 2), "joint")),
        [("gear 'g': its shaft 'motor' is connected to nothing. Hint: connect it to a joint, a rotor or a gear.")],
    ),
    "motor in the air": (lambda: arm(gs.Motor("m")), ["motor 'm': cannot be reached from the reference frame. Hint: "]),
    "rotor without carrier": (
        lambda: arm(*on("hinge.shaft", gs.RotorInertia("r", inertia=1, axis="z"))),
        [
            (
                "rotor inertia 'r': its port 'carrier' is connected to no frame of the mechanism. Hint: "
                "connect it to a body, a joint or the reference frame; without an axis, a rotor needs "
                "none."
            )
        ],
    ),
    "motor on a fixed joint": (
        lambda: gs.assemble(
            "m", gs.chain("world", gs.Joint("j", "fixed"), gs.RigidBody("b", mass=1)), *on("j.shaft", gs.Motor("m"))
        ),
        ["connection [j.shaft, m.shaft]: 'j' has no port 'shaft'. Hint: "],
    ),
    "contradicting gears": (
        lambda: arm(gs.Gear("g", 2), gs.Gear("h", 2, offset=0.1), *GEARS),
        [
            (
                "gear 'h': contradicts other gears: it asks for an angle that differs by 0.1 rad. Hint: "
                "change its offset, or take it out."
            )
        ],
    ),
    "locking gears": (
        lambda: arm(gs.Gear("g", 2), gs.Gear("h", 3), *GEARS),
        [
            (
                "gear 'h': locks its shafts: together with other gears it allows one angle only. Hint: "
                "take it out, or change a ratio."
            )
        ],
    ),
    "gear on itself": (
        lambda: arm(gs.Gear("g", 2), gs.connect("hinge.shaft", "g.motor", "g.joint")),
        ["gear 'g': 'g.motor' and 'g.joint' are connected to each other. Hint: "],
    ),
    "massless motor side": (
        lambda: arm(
            gs.Gear("g", 9),
            gs.Spring("s", stiffness=1),
            gs.Motor("m"),
            gs.connect("hinge.shaft", "s.b"),
            gs.connect("s.a", "g.joint"),
            gs.connect("g.motor", "m"),
        ),
        [
            (
                "spring 's': the shaft [s.a, g.joint] can turn by itself, but has neither a joint nor a "
                "rotor. Hint: add a RotorInertia to it, or connect it to a joint."
            )
        ],
    ),
    "carrier that has no such frame": (
        lambda: arm().with_drive("hinge", rotor_inertia=1, carrier="rod.top", rotor_axis="z"),
        ["connection [rod.top, hinge_drive.carrier]: 'rod' has no port 'top'. Hint: "],
    ),
    "shaft to frame": (
        lambda: arm(*on("rod.tip", gs.Motor("m"))),
        [
            (
                "connection [rod.tip, m.shaft]: joins ports of different kinds: 'rod.tip' is spatial, "
                "'m.shaft' is scalar. Hint: frames go to frames, shafts to shafts."
            )
        ],
    ),
    "limits the wrong way round": (
        lambda: arm(lower=1, upper=-1),
        ["joint 'hinge': 'lower' 1 is greater than 'upper' -1. Hint: exchange them."],
    ),
    "limits of a ball joint": (
        lambda: gs.assemble(
            "m", gs.chain("world", gs.Joint("j", "spherical", upper=1), gs.RigidBody("b", mass=1, inertia=(1, 1, 1)))
        ),
        [
            (
                "joint 'j': a spherical joint has no 'upper', got 1. Hint: only joints with one rate have"
                " limits; take it out."
            )
        ],
    ),
    "several at once": (
        lambda: arm(*on("elbow.shaft", gs.Friction("f", coulomb=(1, -2)))).with_drive(
            "hinge", rotor_inertia=NAN, gear_ratio=0, torque_limit=-3
        ),
        [
            "friction 'f': 'coulomb' must be zero or positive, got (1, -2). Hint: give a magnitude",
            "rotor inertia 'hinge_drive.rotor': 'inertia' must be finite, got nan. Hint: ",
            "gear 'hinge_drive.gear': ratio must not be zero, got 0. Hint: ",
            (
                "motor 'hinge_drive.motor': 'torque_limit' must be positive, got -3. Hint: give a "
                "positive number, or leave it out."
            ),
        ],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_drivetrains_are_told_in_one_sentence_each(case):
    make, messages = WRONG[case]
    model = make()
    with pytest.raises(gs.SpecError) as caught:
        gs.check(model)
    found = [str(problem) for problem in caught.value.problems]
    assert len(found) == len(messages), found
    for got, expected in zip(found, messages, strict=True):
        assert got.startswith(expected)
    with pytest.raises(gs.SpecError):
        gs.InverseDynamics(model)


def test_mistakes_of_drives_in_a_file_have_lines(tmp_path):
    text = """gyrostat: 1
name: arm
entities:
  - reference_frame: world
  - joint: hinge
    kind: revolute
    axis: y
    lower: 2
    upper: 1
  - rigid_body: rod
    mass: 1
  - rotor_inertia: rotor
    inertia: -1
  - gear: gear
    ratio: 0
  - spring: spring
    stiffness: 4
connections:
  - [world, hinge.a]
  - [hinge.b, rod]
  - [hinge.shaft, gear.joint, spring.a]
  - [gear.motor, rotor.shaft]
"""
    (tmp_path / "arm.yaml").write_text(text, "utf-8")
    with pytest.raises(gs.SpecError) as caught:
        gs.load(tmp_path / "arm.yaml")
    found = {(str(p.where).rpartition("/")[2], p.rule) for p in caught.value.problems}
    assert found == {
        ("arm.yaml:8", "joint-limits"),
        ("arm.yaml:13", "rotor-inertia"),
        ("arm.yaml:15", "gear-ratio"),
        ("arm.yaml:16", "open-shaft"),
    }


def test_a_misspelt_connection_is_not_reported_again_as_an_open_shaft():
    model = arm(gs.Spring("s", stiffness=1), gs.connect("hinge.shaft", "s.a"), gs.connect("elbow.shft", "s.b"))
    assert [p.rule for p in problems(model)] == ["dangling-connection"]


def test_a_rotor_larger_than_the_body_that_contains_it_is_told():
    """Otherwise the mass matrix is indefinite, and the kinetic energy can be negative."""
    hub, disk = gs.RigidBody("hub", mass=0.2, inertia=(1e-3,) * 3), gs.RigidBody("disk", mass=0.1, inertia=(1e-4,) * 3)
    yaw, spin = (gs.Joint(name, "revolute", axis="z") for name in ("yaw", "spin"))
    model = gs.assemble("wheel", gs.chain("world", yaw, hub, spin, disk))
    with pytest.raises(
        gs.SpecError, match=r"'spin_drive.rotor': has 0.002 kg m\^2 about its axis, more than the 0.001"
    ):
        gs.crba(model.with_drive("spin", rotor_inertia=2e-3), [0, 0])
    assert np.linalg.eigvalsh(gs.crba(model.with_drive("spin", rotor_inertia=9e-4), [0, 0])).min() > 0.0
    assert np.linalg.eigvalsh(gs.crba(model.with_drive("spin", rotor_inertia=2e-3, lumped=False), [0, 0])).min() > 0.0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"motor": False, "torque_limit": 1.0}, "has limits of a motor, but motor=False"),
        ({"reflected_inertia_only": True, "carrier": "world"}, "no body feels the rotor"),
    ],
)
def test_arguments_of_a_drive_are_not_dropped(given, told):
    with pytest.raises(gs.SpecError, match=told):
        gs.robots.pendulum().with_drive("hinge", rotor_inertia=1e-4, **given)
