"""Drives as parts of a model: the sugar, paths, YAML."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.yaml.parse import read
from gyrostat.io.yaml.schema import json_schema
from gyrostat.io.yaml.write import to_text
from tests.graph.test_gears_and_couplings import driven_arm
from tests.oracles.test_family_against_pinocchio import interpreted
from tests.support.comparing import assert_close
from tests.support.drive_models import driven_tree
from tests.support.pinocchio_oracle import random_state


def arm(*parts, **hinge):
    """Two links; what acts on their shafts and frames is given."""
    rod = gs.RigidBody("rod", mass=1.0, frames={"tip": (0, 0, 1)})
    fore = gs.RigidBody("fore", mass=1.0, com=(0, 0, 0.2), inertia=(0.1, 0.1, 0.1), frames={"end": (0, 0, 1)})
    joints = gs.Joint("hinge", "revolute", axis="y", **hinge), gs.Joint("elbow", "revolute", axis="x")
    return gs.assemble("arm", gs.chain("world", joints[0], rod, "tip", joints[1], fore), *parts)


def on(shaft, element, port="shaft"):
    return element, gs.connect(shaft, f"{element.name}.{port}")


# ------------------------------------------------------------------------------------------------ the sugar
def test_a_drive_is_an_assembly_of_what_is_needed():
    model = arm().with_drive("elbow", rotor_inertia=1e-3, gear_ratio=50, torque_limit=2)
    drive = model.entities[-1]
    assert drive.name == "elbow_drive"
    assert [e.type_name for e in drive.entities] == ["rotor_inertia", "gear", "motor"]
    assert model.connections[-2:] == (("elbow.shaft", "elbow_drive.shaft"), ("elbow.a", "elbow_drive.carrier"))
    assert model.dofs == ("hinge", "elbow")
    rubbing = arm().with_drive("elbow", viscous=0.2)
    assert [e.type_name for e in rubbing.entities[-1].entities] == ["friction"]
    passive = arm().with_drive("elbow", rotor_inertia=1e-3, motor=False)
    assert [e.type_name for e in passive.entities[-1].entities] == ["rotor_inertia", "gear"]
    soft = arm().with_drive("elbow", rotor_inertia=1e-3, spring={"curve": [(0, 0), (1, 5)]}, damping=0.1)
    assert [e.type_name for e in soft.entities[-1].entities] == ["rotor_inertia", "gear", "motor", "spring", "damper"]
    assert soft.dofs == ("hinge", "elbow", "elbow_drive.rotor")


def test_the_carrier_is_the_parent_whichever_way_the_joint_is_mounted():
    for near, far, sign in (("a", "b", 1.0), ("b", "a", -1.0)):
        wires = gs.connect("world", f"j.{near}"), gs.connect(f"j.{far}", "b")
        plain = gs.assemble("m", gs.Joint("j", "revolute", axis="z"), gs.RigidBody("b", mass=1), *wires)
        model = plain.with_drive("j", rotor_inertia=1e-3)
        assert model.connections[-1] == (f"j.{near}", "j_drive.carrier")
        assert model["j.rotor.axis"] == (0.0, 0.0, sign)


def test_a_carrier_on_either_side_knows_the_axis_and_another_one_must_be_told():
    assert arm().with_drive("elbow", rotor_inertia=1, carrier="rod").connections[-1][0] == "elbow.a"
    behind = arm().with_drive("elbow", rotor_inertia=1, carrier="fore")
    assert behind.connections[-1][0] == "elbow.b"
    assert behind["elbow.rotor.axis"] == (1.0, 0.0, 0.0)
    far = arm().with_drive("hinge", rotor_inertia=1, carrier="fore.end", rotor_axis="z")
    assert far.connections[-1][0] == "fore.end"


def test_a_joint_inside_an_assembly_gets_its_drive_there():
    """Also when the assembly is met from the far side of its joint: the rotor sits on what is nearer to the world."""
    leg = gs.Assembly(
        "leg",
        entities=[gs.Joint("knee", "revolute", axis="y"), gs.RigidBody("shin", mass=1.0)],
        connections=[["knee.a", "shin.origin"]],
        exposes={"top": "knee.b"},
    )
    plain = gs.assemble("m", leg, gs.connect("world", "leg.top"))
    model = plain.with_drive("leg.knee", rotor_inertia=1e-3, gear_ratio=30)
    inside = model.entities[-1] if model.entities[-1].name == "leg" else model.entities[0]
    assert inside.entities[-1].name == "knee_drive"
    assert inside.connections[-1] == ("knee.b", "knee_drive.carrier")
    assert model["leg.knee.gear.ratio"] == model["leg.knee_drive.gear.ratio"] == 30.0
    assert model["leg.knee.rotor.axis"] == (0.0, -1.0, 0.0)
    assert_close(gs.MassMatrix(model, mode="interpret")([0.1]), [[900 * 1e-3]])


# ------------------------------------------------------------------------------------------------ paths
def test_properties_have_short_paths():
    model = driven_arm()
    assert model["elbow.gear.ratio"] == model["elbow_drive.gear.ratio"] == -50.0
    assert model["elbow.axis"] == (1.0, 0.0, 0.0)
    assert model.canonical("elbow.gear.ratio") == "elbow_drive.gear.ratio"
    paths = list(model.paths())
    assert len(set(paths)) == len(paths)
    assert {"elbow_drive.spring.stiffness", "shoulder_drive.friction.coulomb", "wrist_drive.rotor.inertia"} <= {*paths}
    for path in paths:
        model[path]
    changed = model.replace({"elbow.gear.ratio": 100, "elbow.axis": "z"})
    assert changed["elbow_drive.gear.ratio"] == 100.0
    assert changed["elbow.axis"] == (0.0, 0.0, 1.0)
    assert model["elbow.gear.ratio"] == -50.0


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("elbow.gear.ratoi", "gear 'gear': 'elbow.gear.ratoi': there is no 'ratoi'. Hint: did you mean 'ratio'"),
        (
            "elbow.geer.ratio",
            "assembly 'elbow_drive': 'elbow.geer.ratio': there is no 'geer'. Hint: did you mean 'gear'",
        ),
        ("elbow.axs", "joint 'elbow': 'elbow.axs': there is no 'axs'. Hint: did you mean 'axis'"),
    ],
)
def test_misspelt_paths_are_told(path, message):
    with pytest.raises(gs.SpecError) as caught:
        driven_arm()[path]
    assert str(caught.value).startswith(message)


def test_a_model_with_drives_is_shown_with_them():
    text = str(driven_arm())
    assert "Model 'arm': nq 4, nv 4, mass 3.5 kg" in text
    (line,) = (line for line in text.splitlines() if line.startswith("elbow_drive.rotor "))
    assert line.split()[:4] == ["elbow_drive.rotor", "rotor", "inertia", "upper"]
    assert line.split()[-1] == "v"
    assert "elbow_drive.spring" in driven_arm()._repr_html_()


# ------------------------------------------------------------------------------------------------ YAML
def everything():
    """Every entity with every property."""
    return arm(
        *on("hinge.shaft", gs.Gear("g", -30.5, offset=0.1), "joint"),
        gs.RotorInertia("r", inertia=1e-3, axis=(0.6, 0, 0.8), lumped=False, mass=0.2, position=(0, 0.1, 0),
                        transverse=2e-3),
        gs.connect("g.motor", "r.shaft", "m.shaft", "f.shaft"),
        gs.connect("rod.tip", "r.carrier"),
        gs.Motor("m", torque_limit=2, speed_limit=300, torque_speed=[(0, 2), (300, 0.5)], resistance=1.5,
                 inductance=1e-3, torque_constant=0.05, voltage_limit=48, current_limit=10),
        gs.Friction("f", viscous=0.1, coulomb=(0.3, 0.2), static=(0.5, 0.4), stribeck=0.1, smooth=0.01),
        gs.Spring("s", stiffness=40, cubic=3, rest=0.2, ground=True),
        gs.Spring("t", curve=[(-1, -2), (0, 0), (1, 7)]),
        gs.Damper("d", damping=0.4),
        gs.Backlash("b", gap=0.02, stiffness=100, damping=0.3, ground=True),
        gs.RotorInertia("w", inertia=2e-3),
        gs.Gear("n", [[2, 1], [1, -1]], offset=(0.1, 0.2)),
        gs.RotorInertia("x", inertia=2e-3),
        gs.RotorInertia("y", inertia=3e-3),
        gs.connect("n.motor1", "x"),
        gs.connect("n.motor2", "y"),
        gs.connect("n.joint1", "hinge.shaft"),
        gs.connect("n.joint2", "elbow.shaft", "s.a", "t.a", "d.a", "b.a"),
        gs.connect("w.shaft", "t.b", "d.b"),
        gs.PointSpring("p", stiffness=30, damping=0.2, rest_length=0.4),
        gs.Bushing("q", stiffness=(1, 2, 3, 4, 5, 6), damping=(6, 5, 4, 3, 2, 1)),
        gs.connect("fore.end", "p.a", "q.a"),
        gs.connect("world", "p.b", "q.b"),
        lower=-2, upper=1.5, velocity_limit=3, effort_limit=50,
    )  # fmt: skip


def test_every_entity_survives_yaml(tmp_path):
    model = everything()
    gs.check(model)
    kinds = {e.type_name for e in model.entities}
    for kind in (
        "rotor_inertia",
        "gear",
        "spring",
        "damper",
        "backlash",
        "friction",
        "motor",
        "point_spring",
        "bushing",
    ):
        assert kind in kinds
    gs.save(model, tmp_path / "m.yaml")
    again = gs.load(tmp_path / "m.yaml")
    assert again == model
    assert to_text(again) == to_text(model)
    q, v, a = random_state(model, np.random.default_rng(0))
    with interpreted():
        assert np.array_equal(gs.rnea(again, q, v, a), gs.rnea(model, q, v, a))
        assert_close(gs.aba(model, q, v, gs.rnea(model, q, v, a)), a, 1e-9)


def test_the_schema_knows_every_entity():
    jsonschema = pytest.importorskip("jsonschema")
    data = read(to_text(everything())).plain()
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.validate(data)
    for kind, key, wrong in (("gear", "ratio", "x"), ("friction", "coulomb", [1, 2, 3]), ("bushing", "stiffness", [1])):
        changed = [e | {key: wrong} if kind in e else e for e in data["entities"]]
        assert not validator.is_valid(data | {"entities": changed})


@pytest.mark.parametrize("seed", range(5))
def test_random_drives_survive_yaml(seed, tmp_path):
    model = driven_tree(seed, joints=4, elastic=True).model
    gs.save(model, tmp_path / "m.yaml")
    again = gs.load(tmp_path / "m.yaml")
    assert again == model
    assert again.dofs == model.dofs
    q, v, a = random_state(model, np.random.default_rng(seed))
    with interpreted():
        assert np.array_equal(gs.rnea(again, q, v, a), gs.rnea(model, q, v, a))
