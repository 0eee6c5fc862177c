"""Models as data: paths, changes, equality, order of the state, looks, and the short ways to write them."""

import dataclasses
import pickle
import re
import subprocess
import sys

import numpy as np
import pydantic
import pytest

import gyrostat as gs
from gyrostat.errors import SpecError
from gyrostat.spec.assemble import Parts, assemble, assembly, chain, connect
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import problems
from gyrostat.spec.context import CentralGravity, Context, GravityField, HarmonicMotion, MovingBase, UniformGravity
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import JOINT_KINDS, Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import (
    IDENTITY,
    AxisAngle,
    Euler,
    Frame,
    Quaternion,
    RotationMatrix,
    axis_angle,
    euler,
    quaternion,
    rpy,
)

PROPERTIES = {
    "fixed": {},
    "revolute": {"axis": "y"},
    "continuous": {"axis": "y"},
    "prismatic": {"axis": "y"},
    "helical": {"axis": "y", "pitch": 0.1},
    "cylindrical": {"axis": "y"},
    "universal": {"axis": "x", "second_axis": "y"},
    "planar": {"axis": "z"},
    "spherical": {},
    "free": {},
}


def joint(name, kind="revolute"):
    return Joint(name, kind, **PROPERTIES[kind])


def body(name, **properties):
    return RigidBody(name, **({"mass": 1.0, "frames": {"tip": (0, 0, 1)}} | properties))


def leg(name):
    return assembly(
        name, chain("thigh.tip", joint("knee"), body("shin")), body("thigh"), exposes={"hip": "thigh.origin"}
    )


@pytest.fixture
def model():
    return assemble(
        "walker",
        chain("world", joint("hinge"), body("trunk", com=(0, 0, 0.5))),
        leg("left"),
        leg("right"),
        connect("trunk.tip", "left.hip", "right.hip"),
    )


# ------------------------------------------------------------------------------------------------ paths
def test_properties_are_read_by_path(model):
    assert model["trunk.mass"] == 1.0
    assert model["trunk.com"] == (0.0, 0.0, 0.5)
    assert model["trunk.tip.translation"] == (0.0, 0.0, 1.0)
    assert model["left.knee.axis"] == (0.0, 1.0, 0.0)
    assert model["context.base"] == "fixed"
    assert model["context.gravity.g"] == (0.0, 0.0, -9.81)
    assert model["left.knee"] == joint("knee")
    assert model["trunk.tip"] == Frame(name="tip", translation=(0, 0, 1))


@pytest.mark.parametrize(
    ("path", "owner", "hint"),
    [
        ("trnk.mass", "model 'walker'", "did you mean 'trunk'?"),
        ("trunk.mas", "rigid body 'trunk'", "did you mean 'mass'"),
        ("trunk.tpi.translation", "rigid body 'trunk'", "did you mean 'tip'?"),
        ("trunk.tip.rotatio", "trunk.tip", "did you mean 'rotation'?"),
        ("left.kne.axis", "assembly 'left'", "did you mean 'knee'?"),
        ("context.gravty", "context", "did you mean 'gravity'?"),
        ("trunk.mass.x", "trunk.mass", "there are none to choose from"),
        ("", "model 'walker'", "known: 'context'"),
    ],
)
def test_an_unknown_path_suggests_near_ones(model, path, owner, hint):
    with pytest.raises(SpecError) as caught:
        model[path]
    (problem,) = caught.value.problems
    assert (problem.rule, problem.entity) == ("unknown-path", owner)
    assert hint in problem.remedy


def test_every_path_leads_to_a_property_and_every_property_has_one(model):
    paths = list(model.paths())
    assert len(paths) == len(set(paths))
    assert {"context.gravity", "trunk.mass", "trunk.tip.rotation", "left.knee.axis", "right.shin.momentum"} <= set(
        paths
    )
    for path in paths:
        model[path]


def test_every_property_can_be_replaced_by_itself(model):
    for path in model.paths():
        assert model.replace({path: model[path]}) == model


# ------------------------------------------------------------------------------------------------ changes
def test_replace_makes_a_new_model_and_leaves_the_old_one(model):
    changed = model.replace({"trunk.mass": 2, "left.knee.axis": "x", "context.gravity": (0, 0, -1.62)})
    assert (changed["trunk.mass"], changed["left.knee.axis"], changed["right.knee.axis"]) == (2.0, (1, 0, 0), (0, 1, 0))
    assert changed["context.gravity"] == UniformGravity(g=(0, 0, -1.62))
    assert model["trunk.mass"] == 1.0
    assert changed != model
    assert changed.replace({"trunk.mass": 1, "left.knee.axis": "y", "context.gravity": (0, 0, -9.81)}) == model


def test_replace_reaches_frames_and_what_is_inside_assemblies(model):
    changed = model.replace({"left.thigh.tip.translation": (0, 0, 2), "trunk.tip.rotation": rpy(0, 0, 1)})
    assert changed["left.thigh.tip.translation"] == (0.0, 0.0, 2.0)
    assert changed["right.thigh.tip.translation"] == (0.0, 0.0, 1.0)
    assert changed["trunk.tip"] == Frame(name="tip", translation=(0, 0, 1), rotation=rpy(0, 0, 1))


def test_whole_entities_frames_and_contexts_can_be_replaced(model):
    assert model.replace({"left.knee": joint("knee", "spherical")})["left.knee.kind"] == "spherical"
    assert model.replace({"trunk.tip": Frame(name="tip")})["trunk.tip.translation"] == (0.0, 0.0, 0.0)
    assert model.replace({"trunk.tip": (0, 0, 2)})["trunk.tip"] == Frame(name="tip", translation=(0, 0, 2))
    assert model.replace({"context": Context(base="free")})["context.base"] == "free"


def test_changes_inside_an_assembly_change_its_ports():
    model = assemble("m", chain("world", assembly("a", joint("j"), exposes={"in": "j.a", "drive": "j.shaft"})))
    assert model["a"].ports == (Port("in"), Port("drive", "scalar"))
    changed = model.replace({"a.j": body("j", frames={"a": (0, 0, 0), "shaft": (0, 0, 1)})})
    assert changed["a"].ports == (Port("in"), Port("drive"))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("trunk.mass", "heavy", "rigid body 'trunk': 'mass' must be a number, got 'heavy'"),
        ("left.thigh.com", (1, 2), "rigid body 'thigh': 'com' must be three numbers, got (1, 2)"),
        ("trunk.tip.translation", 1, "frame 'trunk.tip': 'translation' must be three numbers, got 1"),
        ("trunk.tip", 1, "rigid body 'trunk': 'frames.tip.translation' must be three numbers, got 1"),
        ("left.knee.kind", "revolut", "joint 'knee': 'kind' is 'revolut'. Hint: did you mean 'revolute'?"),
        ("left.knee", 3, "assembly 'left': 'entities.0' is 3: input should be an instance of Entity"),
        ("context.gravity", 3, "context: 'gravity' must be three numbers"),
        ("context", 3, "model 'walker': context must be a Context, got 3"),
        ("trunk", 3, "model 'walker': entities must be a list of Entity objects, got 3"),
        ("trunk.mas", 3, "rigid body 'trunk': 'trunk.mas': there is no 'mas'"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(model, path, value, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        model.replace({path: value})


def test_nothing_can_be_changed_in_place(model):
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.name = "other"
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        model["trunk"].mass = 2.0
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        model.context.base = "free"
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        model["trunk.tip"].translation = (0, 0, 0)


# ------------------------------------------------------------------------------------------------ equality
def test_equal_data_make_equal_models_with_equal_hashes(model):
    again = assemble(
        "walker",
        chain("world", joint("hinge"), body("trunk", com=np.array([0, 0, 0.5]))),
        leg("left"),
        leg("right"),
        connect("trunk.tip", "left.hip", "right.hip"),
    )
    assert again == model
    assert hash(again) == hash(model)
    assert model["left"].ports  # what was computed on the way does not count
    assert again == model
    assert hash(again) == hash(model)
    assert {model: 1}[again] == 1


def test_any_difference_makes_models_unequal(model):
    others = [
        Model("other", model.entities, model.connections, model.context),
        Model(model.name, model.entities[::-1], model.connections, model.context),
        Model(model.name, model.entities, model.connections[::-1], model.context),
        Model(model.name, model.entities, model.connections, Context(base="free")),
        model.replace({"left.shin.mass": 1.0 + 1e-15}),
    ]
    for other in others:
        assert other != model
    assert model != "walker"


def test_where_a_model_was_read_from_makes_no_difference(model):
    read = Model(model.name, model.entities, model.connections, model.context, {"trunk": "a.yaml:3"})
    assert read == model
    assert hash(read) == hash(model)
    assert read.source("trunk") == "a.yaml:3"
    assert read.replace({"trunk.mass": 1.0}).source("trunk") == "a.yaml:3"
    assert model.source("trunk") is None


def test_a_model_survives_a_trip_to_another_process(model):
    assert pickle.loads(pickle.dumps(model)) == model


# ------------------------------------------------------------------------------------------------ state
@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_each_kind_of_joint_has_its_coordinates(kind):
    q, v = {
        "fixed": ((), ()),
        "revolute": (("j",), ("j",)),
        "continuous": (("j",), ("j",)),
        "prismatic": (("j",), ("j",)),
        "helical": (("j",), ("j",)),
        "cylindrical": (("j.angle", "j.shift"), ("j.angle", "j.shift")),
        "universal": (("j.angle1", "j.angle2"), ("j.angle1", "j.angle2")),
        "planar": (("j.x", "j.y", "j.angle"), ("j.x", "j.y", "j.angle")),
        "spherical": (("j.qx", "j.qy", "j.qz", "j.qw"), ("j.wx", "j.wy", "j.wz")),
        "free": (
            ("j.x", "j.y", "j.z", "j.qx", "j.qy", "j.qz", "j.qw"),
            ("j.wx", "j.wy", "j.wz", "j.vx", "j.vy", "j.vz"),
        ),
    }[kind]
    model = assemble("m", chain("world", joint("j", kind), body("b")))
    assert problems(model) == []
    assert (model.coordinates, model.dofs) == (q, v)
    assert (model.nq, model.nv) == (len(q), len(v))
    place = model["j"].quaternion_at
    assert (place is None) == (len(q) == len(v))
    if place is not None:
        assert q[place : place + 4] == ("j.qx", "j.qy", "j.qz", "j.qw")


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_each_kind_of_joint_has_a_shaft_for_each_rate_that_a_drive_can_hold(kind):
    shafts = [port.name for port in joint("j", kind).ports if port.kind == "scalar"]
    one = ["revolute", "continuous", "prismatic", "helical"]
    assert shafts == (
        ["shaft"] if kind in one else ["shaft1", "shaft2"] if kind in ("cylindrical", "universal") else []
    )
    assert [port.name for port in joint("j", kind).ports][:2] == ["a", "b"]


def test_the_state_is_in_file_order(model):
    assert model.dofs == ("hinge", "left.knee", "right.knee")
    assert assemble("m", *(chain("world", joint(n), body(f"b{n}")) for n in "cab")).dofs == ("c", "a", "b")


def test_parents_come_before_children_whatever_the_file_order():
    entities = [
        body("c"),
        joint("j3"),
        body("b"),
        joint("j2"),
        body("a"),
        joint("j1"),
        joint("k"),
        body("d"),
        ReferenceFrame("w"),
    ]
    connections = [("w", "j1.a"), ("j1.b", "a"), ("a.tip", "j2.a"), ("j2.b", "b"), ("b.tip", "j3.a"), ("j3.b", "c"),
                   ("w", "k.a"), ("k.b", "d")]  # fmt: skip
    model = Model("m", entities, connections)
    assert problems(model) == []
    assert model.dofs == ("j1", "j2", "j3", "k")


def test_a_free_base_comes_first():
    model = assemble("m", chain("world", joint("j"), body("b")), base="free")
    assert model.coordinates[:8] == (*(f"world.{c}" for c in ("x", "y", "z", "qx", "qy", "qz", "qw")), "j")
    assert model.dofs == (*(f"world.{c}" for c in ("wx", "wy", "wz", "vx", "vy", "vz")), "j")
    assert (model.nq, model.nv) == (8, 7)


def test_a_joint_met_from_its_far_side_has_its_coordinate_and_one_that_closes_a_loop_has_none():
    parts = chain("world", joint("a"), body("x"), joint("b"), body("y")), joint("c")
    links = connect("y.tip", "c.b"), connect("c.a", "world")
    assert assemble("loop", *parts, *links, loops="constraints").dofs == ("a", "c")
    assert assemble("loop", *parts, *links, loops="constraints", independent=["b"]).dofs == ("a", "b")


def test_the_order_of_a_long_chain_takes_no_time():
    """Entities from last to first: a search that goes back along the chain for each would take minutes."""
    n = 5000
    entities = [e for k in reversed(range(n)) for e in (body(f"b{k}"), joint(f"j{k}"))]
    ends = ["world", *(f"b{k}.tip" for k in range(n))]
    connections = [c for k in range(n) for c in ((ends[k], f"j{k}.a"), (f"j{k}.b", f"b{k}"))]
    model = Model("chain", [ReferenceFrame("world"), *entities], connections)
    assert model.dofs == tuple(f"j{k}" for k in range(n))


# ------------------------------------------------------------------------------------------------ looks
def test_the_text_of_a_model_is_a_table(model):
    assert str(model).splitlines() == [
        "Model 'walker': nq 3, nv 3, mass 5 kg, base fixed, gravity (0, 0, -9.81) m/s^2",
        "entity       kind             on           mass [kg]  rates",
        "-----------  ---------------  -----------  ---------  -----",
        "world        reference frame",
        "hinge        revolute         world                   v",
        "trunk        rigid body       hinge        1",
        "left.knee    revolute         left.thigh              v",
        "left.shin    rigid body       left.knee    1",
        "left.thigh   rigid body       trunk        1",
        "right.knee   revolute         right.thigh             v",
        "right.shin   rigid body       right.knee   1",
        "right.thigh  rigid body       trunk        1",
    ]


@pytest.mark.parametrize("bodies", [1, 3, 7, 40, 200])
def test_the_short_text_of_a_model_is_ten_lines_at_most(bodies):
    model = gs.robots.tree(bodies, bodies)
    lines = repr(model).splitlines()
    assert len(lines) <= 10
    assert lines[0] == str(model).splitlines()[0]
    assert max(map(len, lines)) < 140
    if bodies > 7:
        assert re.search(r"joints +\d+ ", repr(model))
        assert "print(model) shows every entity" in lines[-1]


def test_the_short_text_of_a_small_model_is_its_table():
    assert repr(gs.robots.pendulum()) == str(gs.robots.pendulum())


def test_a_broken_model_can_be_looked_at():
    text = str(Model("broken", [body("b"), body("b"), joint("j")], [("b", "nowhere")]))
    assert "unreachable" in text
    assert "Model 'broken'" in repr(Model("broken", []))


def test_gravity_and_base_of_every_form_are_shown():
    for gravity, text in [
        ((0, 0, -1), "(0, 0, -1) m/s^2"),
        (CentralGravity(mu=1), "CentralGravity"),
        (len, "GravityField"),
    ]:
        assert f"gravity {text}" in repr(assemble("m", gravity=gravity))
    for base, text in [("free", "free"), (HarmonicMotion(), "moving"), (lambda t: None, "moving")]:
        assert f"base {text}" in repr(assemble("m", base=base))


def test_the_html_of_a_model_escapes_names():
    text = assemble("<script>x</script>", chain("world", joint("a<b>&c"), body("b")))._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert "<td>a&lt;b&gt;&amp;c</td>" in text
    assert text.count("<tr>") == 4


# ------------------------------------------------------------------------------------------------ short ways to write
def test_a_chain_enters_by_the_first_port_and_leaves_by_the_last():
    parts = chain(
        "world", joint("j"), body("b"), Displacement("d"), DHDisplacement("h"), ForceElement("f", wrench=[0] * 6)
    )
    assert parts.connections == (
        ("world", "j.a"),
        ("j.b", "b.origin"),
        ("b.tip", "d.a"),
        ("d.b", "h.a"),
        ("h.b", "f.frame"),
    )
    assert [entity.name for entity in parts.entities] == ["j", "b", "d", "h", "f"]


def test_a_chain_leaves_an_entity_by_a_named_port_and_enters_one_by_a_named_port():
    base = body("base", frames={"left": (0, 1, 0), "right": (0, -1, 0)})
    assert chain("world", base, "left", joint("j")).connections[-1] == ("base.left", "j.a")
    assert chain("world", base, joint("j")).connections[-1] == ("base.right", "j.a")
    assert chain("world", ("left", base), "origin", joint("j")).connections == (
        ("world", "base.left"),
        ("base.origin", "j.a"),
    )


def test_a_chain_goes_through_assemblies(model):
    assert chain("world", leg("l"), joint("j")).connections == (("world", "l.hip"), ("l.hip", "j.a"))


def test_an_empty_chain_is_nothing():
    assert chain("world") == Parts()
    assert connect("a", "b", "c") == Parts(connections=(("a", "b", "c"),))


def test_a_world_is_added_only_if_there_is_no_reference_frame():
    assert assemble("m").entities == (ReferenceFrame("world"),)
    assert assemble("m", ReferenceFrame("ground")).entities == (ReferenceFrame("ground"),)


def test_an_assembly_can_be_made_of_chains_like_a_model():
    made = assembly("arm", chain("a.b", body("x")), joint("a"), exposes={"in": "a.a"})
    assert made == Assembly(
        "arm", entities=[body("x"), joint("a")], connections=[["a.b", "x.origin"]], exposes=[("in", "a.a")]
    )


# ------------------------------------------------------------------------------------------------ assemblies
def test_names_inside_assemblies_get_a_prefix(model):
    assert list(model.wiring.entities) == [
        "world", "hinge", "trunk", "left.knee", "left.shin", "left.thigh", "right.knee", "right.shin", "right.thigh",
    ]  # fmt: skip
    assert (("trunk", "tip"), ("left.thigh", "origin"), ("right.thigh", "origin")) in model.wiring.groups


def test_assemblies_hold_assemblies():
    inner = assembly("inner", joint("j"), exposes={"in": "j.a", "out": "j.b", "drive": "j.shaft"})
    outer = assembly("outer", inner, exposes={"p": "inner.in", "q": "inner.out", "d": "inner.drive"})
    assert outer.ports == (Port("p"), Port("q"), Port("d", "scalar"))
    model = assemble("m", chain("world", outer, "q", body("b")))
    assert problems(model) == []
    assert model.dofs == ("outer.inner.j",)
    assert model["outer.inner.j.axis"] == (0.0, 1.0, 0.0)
    assert (("world", "frame"), ("outer.inner.j", "a")) in model.wiring.groups
    assert (("outer.inner.j", "b"), ("b", "origin")) in model.wiring.groups


def test_an_exposed_port_may_name_an_entity_alone():
    made = assembly("a", body("b"), exposes={"in": "b"})
    model = assemble("m", chain("world", made))
    assert problems(model) == []
    assert (("world", "frame"), ("a.b", "origin")) in model.wiring.groups


def test_deep_assemblies_with_many_ports_take_no_time():
    """Asking each level for the kinds of its ports anew would take 40 to the power of 20 questions."""
    ports = [f"p{k}" for k in range(40)]
    part = body("core", frames=dict.fromkeys(ports, (0, 0, 0)))
    for level in range(20):
        part = Assembly(f"level{level}", entities=[part], exposes={p: f"{part.name}.{p}" for p in ports})
    model = assemble("m", part, connect("world", "level19.p7"))
    assert problems(model) == []
    assert model.nv == 0


# ------------------------------------------------------------------------------------------------ values
def test_numbers_of_every_type_become_floats():
    made = RigidBody("b", mass=np.float32(2), com=np.arange(3), inertia=[np.ones(3), [1, 1, 1], (1, 1, 1)])
    assert (made.mass, made.com, made.inertia) == (2.0, (0.0, 1.0, 2.0), ((1.0,) * 3,) * 3)
    assert {type(x) for x in (made.mass, *made.com, *made.inertia[0])} == {float}


def test_an_inertia_is_three_moments_or_three_rows():
    rows = ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    for form in ((1, 2, 3), [1, 2, 3], np.array([1, 2, 3]), rows, np.diag([1, 2, 3]), [list(r) for r in rows]):
        assert RigidBody("b", mass=1, inertia=form).inertia == rows


def test_axes_can_be_letters():
    for letter, axis in {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-z": (0, 0, -1)}.items():
        assert Joint("j", "revolute", axis=letter).axis == axis
    assert not any(np.signbit(x) for x in Joint("j", "revolute", axis="-y").axis if x == 0.0)


def test_rotations_keep_the_form_in_which_they_were_given():
    rows = ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    forms = {
        Euler: [rpy(1, 2, 3), euler((1, 2, 3)), {"euler": (1, 2, 3)}, {"euler": [1, 2, 3], "axes": "xyz"}],
        Quaternion: [quaternion(0, 0, 0, 1), {"quaternion": (0, 0, 0, 1)}],
        AxisAngle: [axis_angle("z", 1), {"axis": (0, 0, 1), "angle": 1}],
        RotationMatrix: [rows, np.array(rows), [np.array(row) for row in rows], {"matrix": rows}],
    }
    for form, ways in forms.items():
        made = [Displacement("d", rotation=way).rotation for way in ways]
        assert {type(rotation) for rotation in made} == {form}
        assert len(set(made)) == 1
    assert Displacement("d").rotation == IDENTITY == rpy(0, 0, 0)


def test_frames_can_be_given_in_three_ways():
    frames = RigidBody("b", mass=1, frames={
        "a": (0, 0, 1),
        "b": ((0, 0, 1), rpy(0, 0, 1)),
        "c": {"rotation": {"euler": (0, 0, 1)}},
        "d": np.array([0, 0, 1]),
    }).frames  # fmt: skip
    assert frames == (
        Frame(name="a", translation=(0, 0, 1)),
        Frame(name="b", translation=(0, 0, 1), rotation=rpy(0, 0, 1)),
        Frame(name="c", rotation=rpy(0, 0, 1)),
        Frame(name="d", translation=(0, 0, 1)),
    )


def test_the_context_takes_data_and_functions():
    def field(p):
        return -p

    assert Context().gravity == UniformGravity(g=(0, 0, -9.81))
    assert Context(gravity={"g": (0, 0, 1), "treat_as": "field"}).gravity.treat_as == "field"
    assert Context(gravity={"mu": 2}).gravity == CentralGravity(mu=2.0)
    assert Context(gravity=field).gravity == GravityField(field=field)
    assert Context(base={"amplitude": (0, 0, 1)}).base == HarmonicMotion(amplitude=(0, 0, 1))
    assert Context(base=field).base == MovingBase(motion=field)


# ------------------------------------------------------------------------------------------------ kinds
def test_importing_the_specification_registers_every_kind():
    """What only a later import would register could not be read from a file."""
    program = """
import importlib, pkgutil
import gyrostat.spec
from gyrostat.spec.entity import Entity
known = set(Entity.registry)
for module in pkgutil.iter_modules(gyrostat.spec.__path__):
    importlib.import_module(f"gyrostat.spec.{module.name}")
assert known == set(Entity.registry), set(Entity.registry) - known
assert {"joint", "rigid_body", "dh_displacement"} <= known
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_class_can_be_defined_again():
    """As happens when a cell of a notebook is run twice."""
    for _ in range(2):

        class ForeignAgain(Entity):
            size: float

    assert Entity.registry["foreign_again"] is ForeignAgain
