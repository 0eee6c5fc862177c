"""The YAML form: round trips, every mistake with its line and no echo of it, and text that means harm."""

import math
import os
import random
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spec_models import HOSTILE_NAMES, models, names, numbers

from gyrostat.errors import GyrostatError, LoadError, SaveError, SpecError
from gyrostat.io import files, yaml_text
from gyrostat.io.files import load, save
from gyrostat.io.yaml_emit import emit
from gyrostat.io.yaml_model import from_text, to_text
from gyrostat.io.yaml_text import MAX_BYTES, MAX_DEPTH, MAX_VALUES, Node, read, scalar
from gyrostat.spec.assemble import assemble, chain, connect
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import problems
from gyrostat.spec.context import CentralGravity, Context, HarmonicMotion, UniformGravity
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import Frame
from gyrostat.spec.wiring import is_name

GOOD = """\
gyrostat: 1
name: two_link
context:
  gravity: [0.0, 0.0, -9.81]
  base: fixed
entities:
  - reference_frame: world
  - joint: shoulder
    kind: revolute
    axis: [0.0, 1.0, 0.0]
  - rigid_body: upper
    mass: 2.0
    com: [0.0, 0.0, 0.25]
    inertia: [0.1, 0.1, 0.01]
    frames:
      tip: {translation: [0.0, 0.0, 0.5]}
      side:
        translation: [0.1, 0.0, 0.0]
        rotation: {euler: [0.0, 0.0, 1.5], axes: ZYX}
  - displacement: bracket
    rotation: {quaternion: [0.0, 0.0, 0.0, 1.0]}
  - assembly: leg
    entities:
      - joint: knee
        kind: helical
        axis: [1.0, 0.0, 0.0]
        pitch: 0.5
      - rigid_body: shin
        mass: 1.0
        inertia: [[1.0, 0.0, 0.1], [0.0, 1.0, 0.0], [0.1, 0.0, 1.0]]
    connections:
      - [knee.b, shin.origin]
    exposes: {top: knee.a, foot: shin.origin}
  - force_element: push
    wrench: [0.0, 0.0, 0.0, 0.0, 0.0, 1.0e-05]
    expressed_in: world
connections:
  - [world.frame, shoulder.a]
  - [shoulder.b, upper.origin]
  - [upper.side, bracket.a]
  - [bracket.b, leg.top]
  - [upper.tip, push]
"""


class ForeignSpring(Entity):
    """A kind of another author, with properties of all sorts."""

    stiffness: float
    turns: int = 1
    material: str | None = None
    wound: bool = False
    table: dict[str, tuple[float, ...]] = {}
    points: tuple[tuple[float, float], ...] = ()

    @property
    def ports(self):
        return Port("frame"), Port("shaft", "scalar")


class ForeignCrate(Assembly):
    """An assembly of another author, with a property of its own."""

    label_text: str
    weight: float = 1.0


@contextmanager
def within(seconds):
    start = time.process_time()  # of this process: others may keep the machine busy
    yield
    assert time.process_time() - start < seconds


def mistakes(text, file="arm.yaml"):
    with pytest.raises(SpecError) as caught:
        from_text(text, file)
    return caught.value.problems


def refused(text):
    """The one problem for which a text is not read at all."""
    with within(5.0), pytest.raises(LoadError) as caught:
        from_text(text, "arm.yaml")
    (problem,) = caught.value.problems
    assert problem.entity == "YAML"
    return problem


# ------------------------------------------------------------------------------------------------ round trips
def test_the_text_of_a_model_is_this_and_comes_back_the_same():
    model = from_text(GOOD)
    assert to_text(model) == GOOD
    assert model["leg.knee.pitch"] == 0.5
    assert model.name == "two_link"
    assert model.dofs == ("shoulder", "leg.knee")


@settings(max_examples=150, deadline=None)
@given(models())
def test_every_model_comes_back_as_it_was_and_its_text_byte_for_byte(model):
    assert problems(model) == []
    text = to_text(model)
    again = from_text(text)
    assert again == model
    assert hash(again) == hash(model)
    assert to_text(again) == text


@settings(max_examples=50, deadline=None)
@given(models())
def test_other_yaml_programs_read_the_same_data(model):
    """PyYAML follows YAML 1.1, ours 1.2: the text is written so that both agree."""
    text = to_text(model)
    assert yaml.safe_load(text) == read(text).plain()


@pytest.mark.parametrize("name", [name for name in HOSTILE_NAMES if is_name(name)])
def test_hostile_names_come_back(name):
    model = Model(
        name,
        [ReferenceFrame(name), RigidBody(f"{name}2", mass=1, frames={f"{name}3": (0, 0, 0)}), Joint("j", "fixed"), RigidBody("b", mass=1)],
        [(name, f"{name}2"), (f"{name}2.{name}3", "j.a"), ("j.b", "b")],
    )  # fmt: skip
    assert problems(model) == []
    assert from_text(to_text(model)) == model


@given(numbers)
@example(-0.0)
@example(5e-324)
@example(1.7976931348623157e308)
@example(1e16)
@example(1e22)
@example(0.1 + 0.2)
def test_every_float_comes_back_bit_for_bit(x):
    text = emit({"x": x})
    assert read(text).plain()["x"].hex() == x.hex()
    assert yaml.safe_load(text)["x"].hex() == x.hex()


SAFE = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@settings(max_examples=300)
@given(SAFE)
@example("\u2028\x85\xa0\ufeff\ufffe\U0010ffff\x00\x1b\x7f")
@example("yes")
@example("- a")
@example("a: b #c")
@example("")
@example(" ")
@example("\n")
def test_every_text_comes_back_as_value_and_as_key(text):
    data = {"a": text, "b": [text], "c": {text: 1}}
    assert read(emit(data)).plain() == data
    assert yaml.safe_load(emit(data)) == data


@settings(max_examples=200)
@given(st.dictionaries(SAFE, st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-10**20, 10**20), numbers, SAFE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SAFE, inner, max_size=4), max_leaves=20), max_size=4))  # fmt: skip
def test_any_plain_data_come_back(data):
    text = emit(data)
    assert read(text).plain() == data if data else text == ""
    assert all(len(line) <= 120 for line in text.splitlines() if line.isascii() and "\\" not in line)


def test_half_a_character_cannot_be_stored():
    with pytest.raises(SaveError, match="half of a character"):
        emit({"a": "\ud800"})
    with pytest.raises(SaveError, match="too long for a key"):
        emit({"a" * 2000: 1})


def test_every_form_of_gravity_and_base_comes_back():
    gravities = [(0, 0, -9.81), (1, 2, 3), UniformGravity(g=(0, 0, 1), treat_as="field"), CentralGravity(mu=4e14, centre=(0, 0, -6.4e6))]
    for gravity in gravities:
        for base in ("fixed", "free", HarmonicMotion(), HarmonicMotion(amplitude=(0, 0, 1), frequency=2, axis="x")):
            model = Model("m", [ReferenceFrame("w"), RigidBody("b", mass=1)], [("w", "b")], Context(gravity=gravity, base=base))
            assert from_text(to_text(model)) == model


def test_gravity_and_base_are_always_written_and_other_defaults_never():
    text = to_text(assemble("m", chain("world", Displacement("d", translation=(0, 0, 0)))))
    assert text == (
        "gyrostat: 1\nname: m\ncontext:\n  gravity: [0.0, 0.0, -9.81]\n  base: fixed\n"
        "entities:\n  - reference_frame: world\n  - displacement: d\nconnections:\n  - [world, d.a]\n"
    )


def test_a_file_may_leave_out_context_and_connections():
    assert from_text("{gyrostat: 1, name: m, entities: [{reference_frame: w}]}") == Model("m", [ReferenceFrame("w")])
    text = "gyrostat: 1\nname: m\ncontext:\nentities:\n- reference_frame: w\nconnections:\n"
    assert from_text(text) == Model("m", [ReferenceFrame("w")])


def test_forms_that_are_easier_to_write_are_read_too():
    text = """
gyrostat: 1   # comments are allowed
name: "easy"
entities:
  - reference_frame: world
  - axis: z   # the kind need not come first
    joint: 'hinge'
    kind: revolute
  - rigid_body: rod
    mass: 1e-3
    inertia: [1, 1.5, .5]
    frames: {tip: [0, 0, 0.5], side: {rotation: [[0, -1, 0], [1, 0, 0], [0, 0, 1]]}}
connections:
  - [world, hinge.a]
  - - hinge.b
    - rod
"""
    model = from_text(text)
    assert model["hinge.axis"] == (0, 0, 1)
    assert model["rod.mass"] == 0.001
    assert model["rod.tip"] == Frame(name="tip", translation=(0, 0, 0.5))
    assert from_text(to_text(model)) == model


def test_kinds_of_other_authors_are_read_and_written():
    spring = ForeignSpring("s", stiffness=2, turns=10**30, material="yes", wound=True, table={"1": (1, 2)}, points=((1, 2),))
    crate = ForeignCrate("c", entities=[spring], exposes={"in": "s"}, label_text="a: b", weight=2)
    model = assemble("m", chain("world", crate), ForeignSpring("t", stiffness=1), connect("world", "t"))
    text = to_text(model)
    assert from_text(text) == model
    assert "foreign_spring: s" in text
    bad = text.replace("stiffness: 1.0", "stifness: soft").replace('label_text: "a: b"', "label_text: 3")
    found = mistakes(bad)
    assert [p.rule for p in found] == ["property-type", "unknown-property", "property-type"]
    assert "foreign crate 'c' (arm.yaml:18): 'label_text' is 3: input should be a valid string" in str(found[0])


@pytest.mark.parametrize("level", [1, 14, 15, 30])
def test_what_is_written_can_be_read_or_is_not_written(level):
    part = RigidBody("b", mass=1)
    for k in range(level):
        part = Assembly(f"a{k}", entities=[part], exposes={"in": part.name if k == 0 else f"{part.name}.in"})
    model = assemble("deep", chain("world", part))
    assert problems(model) == []
    if level <= 14:
        assert from_text(to_text(model)) == model
    else:
        with pytest.raises(SaveError, match="nested more than 32 deep"):
            to_text(model)


# ------------------------------------------------------------------------------------------------ what cannot be written
def test_functions_cannot_be_stored():
    model = assemble("m", gravity=lambda p: -p, base=lambda t: None)
    with pytest.raises(SaveError) as caught:
        to_text(model)
    assert [p.message for p in caught.value.problems] == [
        "'gravity' is a Python function, which a file cannot hold",
        "'base' is a Python function, which a file cannot hold",
    ]
    assert "set the function again after loading" in caught.value.problems[0].remedy


def test_a_bad_model_cannot_be_stored():
    with pytest.raises(SpecError, match="cannot be reached"):
        to_text(assemble("m", RigidBody("b", mass=1)))


def test_what_has_no_kind_cannot_be_stored():
    with pytest.raises(SaveError, match="'entity' is not a kind of entity that can be read back"):
        to_text(assemble("m", chain("world", Entity("x"))))


def test_a_property_without_a_plain_form_cannot_be_stored():
    class ForeignLock(Entity):
        thing: object = None

    with pytest.raises(SaveError, match="foreign lock 'x': has a property that cannot be stored"):
        to_text(assemble("m", chain("world", ForeignLock("x", thing=object()))))


# ------------------------------------------------------------------------------------------------ scalars
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None), ("~", None), ("", None), ("Null", None), ("NULL", None), ("nUll", "nUll"),
        ("true", True), ("True", True), ("FALSE", False), ("tRue", "tRue"),
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"), ("n", "n"),
        ("1", 1), ("-1", -1), ("+12", 12), ("007", 7), ("0x1F", 31), ("0o17", 15), ("0b1", "0b1"), ("1_000", "1_000"),
        ("1e-3", 1e-3), ("1E3", 1e3), (".5", 0.5), ("5.", 5.0), ("-.5e+1", -5.0), ("1e", "1e"), ("e1", "e1"), (".", "."),
        (".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf), ("inf", "inf"), ("nan", "nan"), ("-.nan", "-.nan"),
        ("12:30", "12:30"), ("2001-01-01", "2001-01-01"), ("=", "="), ("1 2", "1 2"), ("٣", "٣"), ("1.2.3", "1.2.3"),
        ("9" * 300, int("9" * 300)), ("1" + "0" * 400, math.inf), ("-1" + "0" * 400, -math.inf), ("1e999", math.inf),
    ],
)  # fmt: skip
def test_plain_scalars_follow_yaml_1_2(text, value):
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)
    assert read(f"[{text}, 0]" if text else "[, 0]").plain()[0] == value if text else True
    assert read(f"a: '{text}'").plain() == {"a": text}


def test_nan_is_read():
    assert math.isnan(scalar(".nan"))
    assert math.isnan(scalar(".NaN"))


def test_every_value_knows_its_line():
    tree = read("a: 1\nb:\n  - 2\n  - [3,\n     4]\n  - {c: 5,\n     d:\n      6}\ne: |\n  x\n  y\nf: 7\n")
    assert tree == Node(
        {
            "a": Node(1, 1, "1"),
            "b": Node(
                [Node(2, 3, "2"), Node([Node(3, 4, "3"), Node(4, 5, "4")], 4), Node({"c": Node(5, 6, "5"), "d": Node(6, 7, "6")}, 6)],
                2,
            ),
            "e": Node("x\ny\n", 9, "x\ny\n"),
            "f": Node(7, 12, "7"),
        },
        1,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ mistakes, with lines
def test_a_file_with_six_mistakes_gives_six_problems_with_line_entity_and_remedy():
    text = """\
gyrostat: 1
name: six
entities:
  - reference_frame: world
  - joint: shoulder
    kind: revolute
    axis: [0, 2, 0]
  - rigid_body: upper
    mass: -2.0
    comm: [0, 0, 0.25]
    frames:
      tip: {translation: [0, 0, 0.5]}
  - joint: elbow
    kind: revolut
    axis: y
  - rigid_body: fore
    mass: heavy
connections:
  - [world.frame, shoulder.a]
  - [shoulder.b, upper.origin]
  - [upper.tpi, elbow.a]
  - [elbow.b, fore.origin]
"""
    with pytest.raises(SpecError) as caught:
        from_text(text, "arm.yaml")
    assert not isinstance(caught.value, LoadError)
    assert [(p.entity, p.rule, p.where) for p in caught.value.problems] == [
        ("joint 'shoulder'", "unit-axis", "arm.yaml:7"),
        ("rigid body 'upper'", "mass", "arm.yaml:9"),
        ("rigid body 'upper'", "unknown-property", "arm.yaml:10"),
        ("joint 'elbow'", "property-value", "arm.yaml:14"),
        ("rigid body 'fore'", "property-type", "arm.yaml:17"),
        ("connection [upper.tpi, elbow.a]", "dangling-connection", "arm.yaml:21"),
    ]
    assert str(caught.value).splitlines() == [
        "6 problems:",
        "joint 'shoulder' (arm.yaml:7): 'axis' must have unit length, got (0, 2, 0) of length 2. Hint: write [0, 1, 0].",
        "rigid body 'upper' (arm.yaml:9): mass must not be negative, got -2 kg. Hint: give the mass in kg.",
        "rigid body 'upper' (arm.yaml:10): has no property 'comm'. Hint: did you mean 'com'?",
        "joint 'elbow' (arm.yaml:14): 'kind' is 'revolut'. Hint: did you mean 'revolute'?",
        "rigid body 'fore' (arm.yaml:17): 'mass' must be a number, got 'heavy'. "
        "Hint: write a number such as 0.5, without quotes or units.",
        "connection [upper.tpi, elbow.a] (arm.yaml:21): 'upper' has no port 'tpi'. Hint: did you mean 'tip'?",
    ]


# what stands in GOOD, what to put there, and the problems: (line, rule, part of the text)
EDITS = {
    "no version": ("gyrostat: 1\n", "", [(1, "schema-version", "needs the property 'gyrostat'")]),
    "a later version": ("gyrostat: 1", "gyrostat: 2", [(1, "schema-version", "format version 2, this gyrostat reads version 1. Hint: update")]),
    "a version in quotes": ("gyrostat: 1", "gyrostat: '1'", [(1, "schema-version", "version '1', this gyrostat reads version 1. Hint: write")]),
    "a version that is true": ("gyrostat: 1", "gyrostat: true", [(1, "schema-version", "format version True")]),
    "a version that is a list": ("gyrostat: 1", "gyrostat: [1]", [(1, "schema-version", "format version [1]")]),
    "no name": ("name: two_link\n", "", [(1, "missing-property", "model (arm.yaml:1): needs the property 'name'")]),
    "a number for a name": ("name: two_link", "name: 2", [(2, "property-type", "'name' must be a text, got 2. Hint: put the name in quotes")]),
    "a name that cannot be printed": ("two_link", '"a\\x07"', [(2, "name", "holds characters that cannot be printed")]),
    "an unknown section": ("name:", "colour: red\nname:", [(2, "unknown-property", "model (arm.yaml:2): has no property 'colour'. Hint: known: 'gyrostat'")]),
    "a misspelt section": ("\nconnections:", "\nconections:", [(37, "unknown-property", "has no property 'conections'. Hint: did you mean 'connections'?")]),
    "a misspelt section of entities": ("\nentities:", "\nentitties:", [(6, "unknown-property", "did you mean 'entities'?")]),
    "a context that is a list": ("context:\n  gravity: [0.0, 0.0, -9.81]\n  base: fixed", "context: [1]", [(3, "property-type", "context (arm.yaml:3): must be a mapping, got [1]")]),
    "an unknown property of the context": ("base: fixed", "bse: fixed", [(5, "unknown-property", "context (arm.yaml:5): has no property 'bse'. Hint: did you mean 'base'?")]),
    "a gravity that is a number": ("gravity: [0.0, 0.0, -9.81]", "gravity: -9.81", [(4, "property-type", "'gravity' must be three numbers [m/s^2], a mapping")]),
    "a gravity of two numbers": ("[0.0, 0.0, -9.81]", "[0.0, -9.81]", [(4, "property-type", "'gravity' must be three numbers, got [0.0, -9.81]")]),
    "an infinite gravity": ("-9.81", "-.inf", [(4, "finite", "context (arm.yaml:4): 'gravity' must be finite, got -inf")]),
    "a field of gravity with a misspelt word": ("[0.0, 0.0, -9.81]", "{g: [0, 0, 1], treat_as: feild}", [(4, "property-value", "'gravity.treat_as' is 'feild'. Hint: expected 'acceleration' or 'field'")]),
    "a base that is nothing": ("base: fixed", "base: floating", [(5, "property-type", "'base' must be fixed, free, a harmonic motion")]),
    "a base about a long axis": ("base: fixed", "base:\n    frequency: 1\n    axis: [0, 0, 2]", [(7, "unit-axis", "'base.axis' must have unit length")]),
    "no entities": (GOOD[GOOD.index("entities:\n  - ref"):GOOD.index("connections:\n  - [wor")], "", [(1, "missing-property", "model (arm.yaml:1): needs the property 'entities'")]),
    "entities that are a mapping": (GOOD[GOOD.index("entities:\n  - ref"):GOOD.index("connections:\n  - [wor")], "entities: {joint: a}\n", [(6, "property-type", "'entities' must be a list, got {'joint': 'a'}")]),
    "an empty list of entities": (GOOD[GOOD.index("entities:\n  - ref"):], "entities: []\n", [(6, "one-reference-frame", "model (arm.yaml:6): has no reference frame")]),
    "an entity that is a number": ("- displacement: bracket\n    rotation: {quaternion: [0.0, 0.0, 0.0, 1.0]}", "- 5", [(20, "property-type", "entity (arm.yaml:20): must be a mapping that begins with kind and name, got 5")]),
    "an entity that is nothing": ("- displacement: bracket\n    rotation: {quaternion: [0.0, 0.0, 0.0, 1.0]}", "-", [(20, "property-type", "begins with kind and name, got nothing")]),
    "an entity that is empty": ("- displacement: bracket\n    rotation: {quaternion: [0.0, 0.0, 0.0, 1.0]}", "- {}", [(20, "property-type", "begins with kind and name, got {}")]),
    "a misspelt kind": ("- displacement:", "- displacment:", [(20, "unknown-kind", "entity 'bracket' (arm.yaml:20): there is no kind of entity 'displacment'. Hint: did you mean 'displacement'")]),
    "a misspelt kind with a mistake in a property": ("- displacement: bracket\n    rotation: {quaternion: [0.0,", "- displacment: bracket\n    rotation: {quaternion: [1.0,", [(20, "unknown-kind", "displacment"), (21, "rotation", "must be a unit quaternion")]),
    "an unknown kind": ("- displacement:", "- spaceship:", [(20, "unknown-kind", "there is no kind of entity 'spaceship'")]),
    "an unknown kind in an assembly": ("- joint: knee", "- spaceship: knee", [(24, "unknown-kind", "entity 'leg.knee' (arm.yaml:24): there is no kind of entity 'spaceship'")]),
    "an unknown kind for the reference frame": ("- reference_frame: world", "- spaceship: world", [(7, "unknown-kind", "entity 'world'")]),
    "no kind at all": ("- displacement: bracket\n    rotation: {quaternion: [0.0, 0.0, 0.0, 1.0]}", "- rotation: {}", [(20, "unknown-kind", "entity (arm.yaml:20): there is no kind of entity 'rotation'")]),
    "an entity without a name": ("- displacement: bracket", "- displacement:", [(20, "property-type", "displacement (arm.yaml:20): the name must be a text, got nothing. Hint: write a name behind 'displacement:'")]),
    "an entity with a number for a name": ("- displacement: bracket", "- displacement: 5", [(20, "property-type", "displacement '5' (arm.yaml:20): the name must be a text, got 5. Hint: write displacement: \"5\""), (40, "dangling-connection", "there is no entity 'bracket'"), (41, "dangling-connection", "")]),
    "an entity with a list for a name": ("- displacement: bracket", "- displacement: [a]", [(20, "property-type", "the name must be a text, got ['a']")]),
    "an entity with a second name": ("- displacement: bracket", "- displacement: bracket\n    name: other", [(21, "unknown-property", "has no property 'name'. Hint: the name stands behind the kind, as in 'displacement: elbow'")]),
    "a missing mass": ("    mass: 2.0\n", "", [(11, "missing-property", "rigid body 'upper' (arm.yaml:11): needs the property 'mass'. Hint: add 'mass'")]),
    "a mass that is a text": ("mass: 2.0", "mass: 2 kg", [(12, "property-type", "'mass' must be a number, got '2 kg'")]),
    "a mass that is nothing": ("mass: 2.0", "mass:", [(12, "property-type", "'mass' must be a number, got nothing")]),
    "a mass on the next line": ("mass: 2.0", "mass:\n      -2.0", [(12, "mass", "mass must not be negative")]),
    "a misspelt mass": ("mass: 2.0", "mas: 2.0", [(12, "unknown-property", "has no property 'mas'. Hint: did you mean 'mass'?")]),
    "a misspelt mass that is negative too": ("mass: 2.0", "mas: -2.0", [(12, "unknown-property", "'mas'"), (12, "mass", "negative")]),
    "a mass of zero": ("mass: 2.0", "mass: 0", [(12, "moving-mass", "rigid body 'upper' (arm.yaml:12): moves, but its mass is 0"), (14, "inertia-without-mass", "")]),
    "a huge mass": ("mass: 2.0", "mass: 1e999", [(12, "finite", "'mass' must be finite, got inf")]),
    "a mass that is no number": ("mass: 2.0", "mass: .nan", [(12, "finite", "'mass' must be finite, got nan")]),
    "a centre of mass of two numbers": ("com: [0.0, 0.0, 0.25]", "com: [0, 0]", [(13, "property-type", "'com' must be three numbers, got [0, 0]")]),
    "an inertia with a text": ("[0.1, 0.1, 0.01]", "[0.1, 0.1, small]", [(14, "property-type", "'inertia' must be three numbers or three rows")]),
    "an impossible inertia": ("[0.1, 0.1, 0.01]", "[0.1, 0.1, 0.3]", [(14, "inertia-triangle", "0.1 + 0.1 = 0.2 < 0.3")]),
    "a frame of two numbers": ("tip: {translation: [0.0, 0.0, 0.5]}", "tip: {translation: [0.0, 0.5]}", [(16, "property-type", "'frames.tip.translation' must be three numbers")]),
    "a short frame of two numbers": ("tip: {translation: [0.0, 0.0, 0.5]}", "tip: [0, 0.5]", [(16, "property-type", "'frames.tip.translation' must be three numbers")]),
    "a frame that is a text": ("tip: {translation: [0.0, 0.0, 0.5]}", "tip: here", [(16, "property-type", "'frames.tip.translation' must be three numbers, got 'here'")]),
    "a frame with a misspelt property": ("translation: [0.1", "translatoin: [0.1", [(18, "unknown-property", "has no property 'frames.side.translatoin'. Hint: did you mean 'translation'?")]),
    "a frame with wrong Euler axes": ("axes: ZYX", "axes: ZZX", [(19, "rotation", "'frames.side.rotation' has Euler axes 'ZZX'")]),
    "a frame with Euler axes that are a number": ("axes: ZYX", "axes: 3", [(19, "property-type", "'frames.side.rotation.axes' is 3: input should be a valid string")]),
    "a frame with an infinite angle": ("euler: [0.0", "euler: [.inf", [(19, "finite", "'frames.side.rotation.euler' must be finite, got inf")]),
    "frames that are a list": ("frames:\n      tip: {translation: [0.0, 0.0, 0.5]}\n      side:\n        translation: [0.1, 0.0, 0.0]\n        rotation: {euler: [0.0, 0.0, 1.5], axes: ZYX}", "frames: [tip, side]", [(15, "property-type", "'frames' must map names to places, got ['tip', 'side']")]),
    "a frame called like a property": ("      tip: {", "      com: {", [(16, "name", "the frame 'com' is called like a property"), (42, "dangling-connection", "'upper' has no port 'tip'")]),
    "a rotation of three numbers": ("quaternion: [0.0, 0.0, 0.0, 1.0]", "quaternion: [0.0, 0.0, 1.0]", [(21, "property-type", "'rotation.quaternion' must be four numbers x, y, z, w, got [0.0, 0.0, 1.0]")]),
    "a rotation of no form": ("{quaternion: [0.0, 0.0, 0.0, 1.0]}", "{angles: [0, 0, 0]}", [(21, "property-type", "'rotation' must be a rotation, got {'angles': [0, 0, 0]}")]),
    "a rotation without its angle": ("{quaternion: [0.0, 0.0, 0.0, 1.0]}", "{axis: z}", [(21, "missing-property", "needs the property 'rotation.angle'")]),
    "a misspelt kind of joint": ("kind: revolute", "kind: revolut", [(9, "property-value", "'kind' is 'revolut'. Hint: did you mean 'revolute'?")]),
    "a misspelt kind of joint with a long axis": ("kind: revolute\n    axis: [0.0, 1.0, 0.0]", "kind: revolut\n    axis: [0, 2, 0]", [(9, "property-value", "revolut"), (10, "unit-axis", "length 2")]),
    "an unknown kind of joint": ("kind: revolute", "kind: hinge", [(9, "property-value", "'kind' is 'hinge'. Hint: expected 'fixed', 'revolute', 'continuous'")]),
    "a joint without a kind": ("    kind: revolute\n", "", [(8, "missing-property", "joint 'shoulder' (arm.yaml:8): needs the property 'kind'")]),
    "a joint with a misspelt property": ("    axis: [0.0, 1.0, 0.0]", "    axsi: [0.0, 1.0, 0.0]", [(10, "unknown-property", "has no property 'axsi'. Hint: did you mean 'axis'")]),
    "a joint with a wrong axis": ("    axis: [0.0, 1.0, 0.0]", "    axis: sideways", [(10, "property-type", "'axis' must be three numbers or one of x, y, z")]),
    "a joint without an axis": ("    axis: [0.0, 1.0, 0.0]\n", "", [(8, "joint-properties", "a revolute joint needs 'axis'")]),
    "a joint with a pitch too many": ("    axis: [0.0, 1.0, 0.0]", "    axis: [0.0, 1.0, 0.0]\n    pitch: 1", [(11, "joint-properties", "a revolute joint has no 'pitch', got 1")]),
    "a joint in an assembly without a pitch": ("        pitch: 0.5\n", "", [(24, "joint-properties", "joint 'leg.knee' (arm.yaml:24): a helical joint needs 'pitch'")]),
    "a body in an assembly with a bad mass": ("        mass: 1.0", "        mass: [1]", [(29, "property-type", "rigid body 'leg.shin' (arm.yaml:29): 'mass' must be a number, got [1]")]),
    "a body in an assembly with a skew inertia": ("[0.1, 0.0, 1.0]", "[0.3, 0.0, 1.0]", [(30, "inertia-symmetric", "rigid body 'leg.shin' (arm.yaml:30): inertia must be symmetric, Ixz = 0.1 but Izx = 0.3")]),
    "a wrench of five numbers": ("wrench: [0.0, 0.0,", "wrench: [0.0,", [(35, "property-type", "'wrench' must be six numbers")]),
    "a wrench in wrong axes": ("expressed_in: world", "expressed_in: wrld", [(36, "property-value", "'expressed_in' is 'wrld'. Hint: did you mean 'world'?")]),
    "an assembly without entities": (GOOD[GOOD.index("    entities:\n      - joint: knee"):GOOD.index("    connections:\n      - [knee")], "", [(22, "missing-property", "assembly 'leg' (arm.yaml:22): needs the property 'entities'")]),
    "an assembly with a misspelt property": ("    exposes:", "    expose:", [(33, "unknown-property", "assembly 'leg' (arm.yaml:33): has no property 'expose'. Hint: did you mean 'exposes'?")]),
    "an assembly that exposes a list": ("exposes: {top: knee.a, foot: shin.origin}", "exposes: [top]", [(33, "property-type", "'exposes' must map outer port names to inner ports, got ['top']")]),
    "an assembly that exposes a number": ("{top: knee.a,", "{top: 5,", [(33, "property-type", "assembly 'leg' (arm.yaml:33): 'exposes.top' must be the name of an inner port, got 5")]),
    "an assembly that exposes nothing that exists": ("{top: knee.a,", "{top: kne.a,", [(33, "dangling-connection", "exposes 'top', but there is no entity 'leg.kne'. Hint: did you mean 'knee'?")]),
    "an assembly with a broken connection": ("[knee.b, shin.origin]", "[knee.b, shn.origin]", [(32, "dangling-connection", "connection [knee.b, shn.origin] of assembly 'leg' (arm.yaml:32): there is no entity 'leg.shn'")]),
    "an assembly with a connection that is a text": ("- [knee.b, shin.origin]", "- knee.b, shin.origin", [(32, "property-type", "connection of assembly 'leg' (arm.yaml:32): must be a list of ports, got 'knee.b, shin.origin'")]),
    "connections that are a text": (GOOD[GOOD.index("connections:\n  - [wor"):], "connections: none\n", [(37, "property-type", "connections (arm.yaml:37): must be a list of connections, got 'none'")]),
    "a connection that is a text": ("- [bracket.b, leg.top]", "- bracket.b", [(41, "property-type", "connection (arm.yaml:41): must be a list of ports, got 'bracket.b'")]),
    "a connection with a number": ("- [bracket.b, leg.top]", "- [bracket.b, 5]", [(41, "property-type", "must be a list of ports, got ['bracket.b', 5]")]),
    "a connection of one port": ("- [bracket.b, leg.top]", "- [bracket.b]", [(41, "dangling-connection", "joins 1 port(s)")]),
    "a connection with a misspelt entity": ("[bracket.b, leg.top]", "[brackt.b, leg.top]", [(41, "dangling-connection", "connection [brackt.b, leg.top] (arm.yaml:41): there is no entity 'brackt'. Hint: did you mean 'bracket'?")]),
    "a connection with a misspelt port": ("[bracket.b, leg.top]", "[bracket.b, leg.tpo]", [(41, "dangling-connection", "'leg' has no port 'tpo'. Hint: did you mean 'top'?")]),
    "a connection of a frame and a shaft": ("[upper.tip, push]", "[shoulder.shaft, push]", [(42, "port-kind", "'shoulder.shaft' is scalar")]),
    "a connection that is there twice": ("  - [upper.tip, push]\n", "  - [upper.tip, push]\n  - [push, upper.tip]\n", [(43, "duplicate-connection", "are connected already")]),
    "a connection that is missing": ("  - [upper.side, bracket.a]\n", "", [(20, "unreachable", "displacement 'bracket' (arm.yaml:20): cannot be reached from the reference frame (and with it leg.knee, leg.shin)")]),
    "a second reference frame": ("  - reference_frame: world\n", "  - reference_frame: world\n  - reference_frame: ground\n", [(8, "one-reference-frame", "model (arm.yaml:8): has 2 reference frames: world, ground")]),
    "no reference frame": ("- reference_frame: world", "- displacement: earth\n  - displacement: world", [(6, "one-reference-frame", "has no reference frame"), (39, "dangling-connection", "")]),
    "an entity that is there twice": ("  - displacement: bracket\n", "  - displacement: bracket\n  - displacement: bracket\n", [(21, "unique-name", "displacement 'bracket' (arm.yaml:21): another displacement has the same name")]),
    "an entity twice, with a mistake in the second": ("  - force_element: push", "  - rigid_body: upper\n    mass: -5\n  - force_element: push", [(34, "unique-name", "another rigid body"), (35, "mass", "rigid body 'upper' (arm.yaml:35): mass must not be negative, got -5")]),
    "a name with a dot": ("- displacement: bracket", "- displacement: a.b\n  - displacement: bracket", [(20, "name", "name 'a.b' is not usable"), (20, "unreachable", "")]),
}  # fmt: skip

@pytest.mark.parametrize("case", EDITS)
def test_one_mistake_in_a_good_file_is_one_problem_with_its_line(case):
    old, new, expected = EDITS[case]
    assert GOOD.count(old) == 1, "the edit must be unambiguous"
    text = GOOD.replace(old, new)
    found = mistakes(text)
    assert [(p.where, p.rule) for p in found] == [(f"arm.yaml:{line}", rule) for line, rule, _ in expected]
    for problem, (_, _, part) in zip(found, expected, strict=True):
        assert part in str(problem)


@pytest.mark.parametrize("case", EDITS)
def test_a_mistake_does_not_hide_another_one_elsewhere(case):
    old, new, expected = EDITS[case]
    text = GOOD.replace(old, new).replace("name: two_link", "name: two_link\nflavour: sweet")
    if "name: two_link" in GOOD.replace(old, new):
        assert len(mistakes(text)) == len(expected) + 1


PAIRS = [name for name, (old, _, _) in EDITS.items() if len(old) < 60]


@settings(max_examples=300, deadline=None)
@given(st.permutations(PAIRS).map(lambda cases: cases[:4]))
def test_several_mistakes_in_one_file_are_reported_together(cases):
    """Not more problems than the mistakes have alone, and each is there unless a wrong part is no longer looked into."""
    text, expected = GOOD, 0
    for case in cases:
        old, new, alone = EDITS[case]
        if text.count(old) == 1:
            text = text.replace(old, new)
            expected += len(alone)
    found = mistakes(text)
    assert 1 <= len(found) <= expected, [str(p) for p in found]
    assert len({str(p) for p in found}) == len(found)
    assert all(p.where and p.where.startswith("arm.yaml:") and p.entity and p.remedy for p in found)
    line = [int(p.where.rpartition(":")[2]) for p in found]
    assert line == sorted(line)


def test_every_problem_of_a_file_has_a_line():
    """Also where nothing but the whole is wrong."""
    for text in ("gyrostat: 1", "a: 1", "entities: 3", "{}", "connections: [[a, b], []]", "name:\nentities:\ncontext: 1"):
        for problem in mistakes(text):
            assert problem.where == "arm.yaml:1" or int(problem.where.rpartition(":")[2]) <= 3


def test_the_model_remembers_where_everything_was():
    model = from_text(GOOD, "arm.yaml")
    lines = GOOD.splitlines()
    for path, start in {
        "world": "- reference_frame: world",
        "upper": "- rigid_body: upper",
        "upper.mass": "mass: 2.0",
        "upper.frames.side.rotation": "rotation: {euler",
        "leg": "- assembly: leg",
        "leg.knee.pitch": "pitch: 0.5",
        "leg.exposes.foot": "exposes:",
        "leg.connections[0]": "- [knee.b",
        "connections[3]": "- [bracket.b",
        "context": "context:",
        "context.gravity": "gravity:",
        "model.name": "name:",
    }.items():
        file, _, line = model.source(path).rpartition(":")
        assert file == "arm.yaml"
        assert lines[int(line) - 1].strip().startswith(start)
    (problem,) = problems(model.replace({"leg.shin.mass": -1}))
    assert problem.where == f"arm.yaml:{lines.index('        mass: 1.0') + 1}"


# ------------------------------------------------------------------------------------------------ text that means harm
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}, *a{k - 1}]\n" for k in range(1, 40))
HOSTILE = {
    "a tag that would run a program": ("name: !!python/object/apply:os.system ['echo harm']", 1, "yaml-tag", "the tag 'tag:yaml.org,2002:python/object/apply:os.system' is not allowed"),
    "a tag on a mapping": ("a: 1\nb: !!map {}", 2, "yaml-tag", "the tag 'tag:yaml.org,2002:map' is not allowed"),
    "a tag on a key": ("!!str a: 1", 1, "yaml-tag", "the tag 'tag:yaml.org,2002:str' is not allowed"),
    "a tag of one's own": ("a: !robot x", 1, "yaml-tag", "the tag '!robot' is not allowed"),
    "a tag without a name": ("a: ! x", 1, "yaml-tag", "the tag '!' is not allowed"),
    "a tag with a prefix": ("%TAG !e! tag:example.com,2000:\n---\na: !e!x 1", 3, "yaml-tag", "the tag 'tag:example.com,2000:x' is not allowed"),
    "binary data": ("a: !!binary aGk=", 1, "yaml-tag", "2002:binary' is not allowed"),
    "a billion laughs": (LAUGHS, 1, "yaml-anchor", "the anchor '&a0' is not allowed"),
    "an anchor that nobody uses": ("a: 1\nb: &x 2", 2, "yaml-anchor", "the anchor '&x' is not allowed"),
    "an alias that leads nowhere": ("a: *x", 1, "yaml-anchor", "the alias '*x' is not allowed"),
    "a list that holds itself": ("&a [*a]", 1, "yaml-anchor", "the anchor '&a' is not allowed"),
    "a merge key": ("a:\n  <<: {b: 1}", 2, "yaml-key", "the merge key '<<' is not allowed"),
    "two documents": ("a: 1\n---\nb: 2", 2, "yaml-documents", "a second document begins"),
    "many documents": ("---\n" * 10**5, 2, "yaml-documents", "a second document begins"),
    "a key that is a number": ("a: 1\n2: b", 2, "yaml-key", "the key '2' is not a text. Hint: put it in quotes"),
    "a key that is nothing": ("{a: 1,\n ? : b}", 2, "yaml-key", "the key nothing is not a text"),
    "a key that is null": ("~: b", 1, "yaml-key", "the key '~' is not a text"),
    "a key that is true": ("true: b", 1, "yaml-key", "the key 'true' is not a text"),
    "a key that is a list": ("? [a]\n: b", 1, "yaml-key", "a list or mapping is used as a key"),
    "a key that is a mapping": ("{{a: b}: c}", 1, "yaml-key", "a list or mapping is used as a key"),
    "a key that is there twice": ("a: 1\nb: 2\na: 3", 3, "yaml-key", "the key 'a' is here for the second time, first in line 1"),
    "a key twice deep inside": ("a: [{b: {c: 1,\n c: 2}}]", 2, "yaml-key", "the key 'c' is here for the second time, first in line 1"),
    "a million brackets": ("[" * 10**6, 1, "yaml-depth", "lists and mappings are nested more than 32 deep"),
    "a million closed brackets": ("[" * 10**6 + "]" * 10**6, 1, "yaml-depth", "nested more than 32 deep"),
    "a million braces": ("{a: " * 10**6, 1, "yaml-depth", "nested more than 32 deep"),
    "a million dashes": ("- " * 10**6, 1, "yaml-depth", "nested more than 32 deep"),
    "a thousand nested blocks": ("".join(" " * k + "-\n" for k in range(1000)), 33, "yaml-depth", "nested more than 32 deep"),
    "a thousand nested mappings": ("".join(" " * k + "a:\n" for k in range(1000)), 33, "yaml-depth", "nested more than 32 deep"),
    "a list that is one too deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), 1, "yaml-depth", "nested more than 32 deep"),
    "a million question marks": ("? " * 10**6, 1, "yaml-key", "used as a key"),
    "a NUL byte": ("a: 1\nb: \x00", 2, "yaml-characters", r"has the character '\x00', which YAML does not allow"),
    "a bell": ('a: "\x07"', 1, "yaml-characters", r"has the character '\x07'"),
    "an escape sequence for the terminal": ("a: \x1b[2J", 1, "yaml-characters", r"has the character '\x1b'"),
    "half a character": ("a: \ud800", 1, "yaml-characters", r"has the character '\ud800'"),
    "half a character, escaped": (r'a: "\uD800"', 1, "yaml-syntax", "invalid Unicode character escape code"),
    "an unclosed quote": ('a: 1\nb: "x', 2, "yaml-syntax", "found unexpected end of stream"),
    "an unclosed bracket": ("a: [1, 2", 1, "yaml-syntax", "did not find expected ',' or ']'"),
    "a tab for indentation": ("a:\n\tb: 1", 2, "yaml-syntax", "found character that cannot start any token"),
    "a wrong indentation": ("a:\n  b: 1\n c: 2", 3, "yaml-syntax", "did not find expected key"),
    "two values on a line": ("a: b: c", 1, "yaml-syntax", "mapping values are not allowed in this context"),
    "an unknown directive": ("%FOO bar\na: 1", 1, "yaml-syntax", "unknown directive"),
    "a YAML of the future": ("%YAML 3.0\n---\na: 1", 1, "yaml-syntax", "incompatible YAML document"),
    "nothing": ("", 1, "yaml-empty", "there is nothing in it. Hint: start with 'gyrostat: 1'"),
    "nothing but a comment": ("# gyrostat: 1\n", 1, "yaml-empty", "there is nothing in it"),
    "nothing but a document mark": ("---\n", 1, "yaml-empty", "there is nothing in it"),
    "millions of empty lines": ("\n" * 10**7, 1, "yaml-empty", "there is nothing in it"),
    "a list": ("- a\n- b", 1, "yaml-form", "a model is a mapping, got ['a', 'b']"),
    "a text": ("hello", 1, "yaml-form", "a model is a mapping, got 'hello'"),
    "a null": ("null", 1, "yaml-form", "a model is a mapping, got nothing"),
    "an unending key": ("x" * 10**7 + ": 1", 1, "yaml-syntax", "mapping values are not allowed"),
    "too many values in a list": ("a: [" + "1," * (2 * MAX_VALUES) + "]", 1, "yaml-size", f"has more than {MAX_VALUES} values"),
    "too many entities": ("entities:\n" + "- joint: a\n" * MAX_VALUES, None, "yaml-size", "values. Hint: split the model"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_refused_at_once_with_its_line(case):
    text, line, rule, message = HOSTILE[case]
    problem = refused(text)
    assert problem.rule == rule
    assert message in str(problem)
    assert line is None or problem.where == f"arm.yaml:{line}"


DIFFERENT = {"an unknown directive", "half a character, escaped"}  # the one is passed over, the other is found by us


@pytest.mark.parametrize("case", [c for c in HOSTILE if len(HOSTILE[c][0]) < 1000 and c not in DIFFERENT])
def test_without_the_c_library_hostile_text_is_refused_for_the_same_reason(case, monkeypatch):
    monkeypatch.setattr(yaml_text, "LOADER", yaml.SafeLoader)
    text, line, rule, _ = HOSTILE[case]
    problem = refused(text)
    assert problem.rule == rule
    assert line is None or problem.where == f"arm.yaml:{line}"


def test_without_the_c_library_half_a_character_is_refused_too(monkeypatch):
    monkeypatch.setattr(yaml_text, "LOADER", yaml.SafeLoader)
    assert refused(r'a: "\uD800"').rule == "yaml-characters"


def test_without_the_c_library_good_text_gives_the_same_tree(monkeypatch):
    tree = read(GOOD)
    monkeypatch.setattr(yaml_text, "LOADER", yaml.SafeLoader)
    assert read(GOOD) == tree


def test_lists_may_be_as_deep_as_the_limit():
    tree = read("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert tree.plain() == eval("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert read("".join(" " * k + "a:\n" for k in range(MAX_DEPTH))).plain()["a"] is not None


def test_a_text_beyond_the_limit_is_refused_unread():
    problem = refused("#" * (MAX_BYTES + 1))
    assert (problem.rule, problem.where) == ("yaml-size", "arm.yaml")
    assert "is 16.0 MiB long, expected at most 16 MiB" in problem.message


def test_quoted_texts_are_harmless():
    data = {"<<": "!!python/object:os.system", "a": "*b", "c": "&d", "1": "---", "null": "%TAG"}
    assert read("".join(f"'{k}': '{v}'\n" for k, v in data.items())).plain() == data


@pytest.mark.parametrize(
    "number",
    ["9" * 10**6, "-" + "9" * 10**6, "1" * 10**7, "0." + "1" * 10**6, "1e" + "9" * 10**6, "1" + "0" * 10**6 + "e-999999", "0" * 10**6 + "x"],
    ids=lambda number: f"{number[:4]}...{number[-4:]}",
)  # fmt: skip
def test_numbers_with_a_million_digits_are_read_or_refused_at_once(number):
    with within(5.0):
        try:
            from_text(GOOD.replace("mass: 2.0", f"mass: {number}"))
        except SpecError as error:
            assert len(str(error)) < 1000
            assert [p.rule for p in error.problems] in (["finite"], ["property-type"])


def head(more=""):
    return f"gyrostat: 1\nname: x\nentities:\n  - reference_frame: world\n{more}"


def repeated(line, count):
    return "".join(line.replace("%", str(k)) for k in range(count))


FLOODS = {  # just below the limit of values
    "bodies in the air": head(repeated("  - rigid_body: b%\n    mass: 1\n", 15_000)),
    "bodies of one name": head("  - rigid_body: b\n    mass: 1\n" * 15_000),
    "bodies with three mistakes each": head(repeated("  - rigid_body: b%\n    mass: x\n    com: [1]\n    foo: 1\n", 8_000)),
    "entities that are numbers": head("  - 1\n" * 95_000),
    "entities of unknown kind": head(repeated("  - jointt%: b%\n", 30_000)),
    "reference frames": head(repeated("  - reference_frame: w%\n", 30_000)),
    "connections of nothing": head("connections:\n" + "- [a, b]\n" * 30_000),
    "connections with names that are almost right": head(
        repeated("  - rigid_body: body%\n    mass: 1\n", 9_000) + "connections:\n" + repeated("- [bdy%, world]\n", 9_000)
    ),
    "one connection of one port": head("connections:\n- [" + "world," * 95_000 + "]\n"),
    "one connection of all": head(
        repeated("  - rigid_body: b%\n    mass: 1\n", 15_000) + "connections:\n- [world" + repeated(", b%", 14_999) + "]\n"
    ),
    "frames": head("  - rigid_body: b\n    mass: 1\n    frames:\n" + repeated("      f%: {}\n", 30_000)),
    "frames connected to each other": head(
        "  - rigid_body: b\n    mass: 1\n    frames:\n" + repeated("      f%: {}\n", 15_000) + "connections:\n" + repeated("- [b.f%, world]\n", 15_000)
    ),
    "wrong frames": head("  - rigid_body: b\n    mass: 1\n    frames:\n" + repeated("      f%: {translation: 1}\n", 15_000)),
    "unknown properties": head("  - rigid_body: b\n" + repeated("    mass%: 1\n", 30_000)),
    "unknown sections": repeated("k%: 1\n", 45_000),
    "a name of ten million letters": head(f"  - rigid_body: {'b' * 10**7}\n    mass: 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("case", FLOODS)
def test_a_flood_of_mistakes_is_reported_in_time(case):
    with within(5.0), pytest.raises(SpecError) as caught:
        from_text(FLOODS[case])
    assert not isinstance(caught.value, LoadError), "below the limits, so that it is looked into"
    assert len(str(caught.value)) < 10**5


def test_deep_assemblies_that_expose_much_take_no_time():
    ports, inner = range(40), "b"
    text = f"  - rigid_body: b\n    mass: 1\n    frames: {{{', '.join(f'p{k}: {{}}' for k in ports)}}}\n"
    for level in range(13):
        inside = "".join(f"    {line}\n" for line in text.splitlines())
        text = f"  - assembly: a{level}\n    entities:\n{inside}    exposes: {{{', '.join(f'p{k}: {inner}.p{k}' for k in ports)}}}\n"
        inner = f"a{level}"
    with within(5.0):
        assert from_text(head(text + f"connections:\n- [world, {inner}.p3]\n")).nv == 0


# ------------------------------------------------------------------------------------------------ any text at all
def survives(text):
    with within(5.0):
        try:
            model = from_text(text)
        except GyrostatError as error:
            assert str(error)
        else:
            assert problems(model) == []
            assert from_text(to_text(model)) == model


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_model_or_an_exception_of_ours(text):
    survives(text)


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#~<= \n\t0.1e"), max_size=60))
def test_any_text_of_yaml_signs_gives_an_exception_of_ours(text):
    survives(text)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_in_a_file_give_an_exception_of_ours(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.yaml"
        path.write_bytes(data)
        with within(5.0), pytest.raises(LoadError):
            try:
                load(path)
            except SpecError as error:
                raise LoadError(error.problems) from None


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_a_good_text_with_random_damage_gives_a_model_or_an_exception_of_ours(chance: random.Random, times):
    text = GOOD
    for _ in range(times):
        at = chance.randrange(len(text))
        to = min(len(text), at + chance.choice([0, 1, 1, 3, 20, 100]))
        away = chance.randrange(len(text))
        piece = chance.choice(["", "", ":", "-", "\n", " ", "[", "}", "-1", "~", '"', text[away : away + chance.choice([1, 5, 30])]])
        text = text[:at] + piece + text[to:] or "x"
    survives(text)


WORDS = st.sampled_from(
    [*Entity.registry, "name", "kind", "axis", "second_axis", "pitch", "mass", "com", "inertia", "frames", "tip", "rotation", "euler", "axes",
     "quaternion", "matrix", "angle", "translation", "entities", "connections", "exposes", "gravity", "base", "g", "mu", "treat_as", "wrench",
     "a", "b", "a.a", "a.b", "a.origin", "b.tip", "world", "revolute", "planar", "universal", "xyz", "free", "self", "cls", "model_config", "x"]
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(), WORDS, st.sampled_from([[0, 0, 1], [0] * 6, [0, 0, 0, 1]])),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)
ENTITIES = st.lists(
    st.tuples(st.sampled_from([*Entity.registry]), st.sampled_from(["a", "b", "world"]), st.dictionaries(WORDS, VALUES, max_size=5)).map(
        lambda parts: {parts[0]: parts[1]} | parts[2]
    ),
    max_size=5,
)
CONNECTIONS = st.lists(st.lists(WORDS, max_size=4), max_size=5)
SECTIONS = st.fixed_dictionaries(
    {"gyrostat": st.just(1), "name": st.just("fuzz")},
    optional={
        "context": st.one_of(st.dictionaries(st.sampled_from(["gravity", "base"]), VALUES), VALUES),
        "entities": st.one_of(ENTITIES, VALUES),
        "connections": st.one_of(CONNECTIONS, VALUES),
    },
)


@settings(max_examples=200, deadline=None)
@given(SECTIONS)
def test_any_data_in_the_right_places_give_a_model_or_an_exception_of_ours(data):
    survives(emit(data))


# ------------------------------------------------------------------------------------------------ files
@pytest.fixture
def path(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD, "utf-8")
    return path


def test_a_model_is_saved_and_loaded(tmp_path):
    model = from_text(GOOD)
    for name in ("a.yaml", "b.yml", "C.YAML"):
        save(model, tmp_path / name)
        assert load(tmp_path / name) == model
        assert load(str(tmp_path / name)) == model
        assert (tmp_path / name).read_bytes() == GOOD.encode()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["C.YAML", "a.yaml", "b.yml"]


def test_names_of_the_whole_world_are_saved_as_utf8(tmp_path):
    model = assemble("关节", chain("world", DHDisplacement("größe"), RigidBody("😀", mass=1)))
    save(model, tmp_path / "a.yaml")
    assert "größe" in (tmp_path / "a.yaml").read_text("utf-8")
    assert load(tmp_path / "a.yaml") == model


def test_problems_of_a_file_carry_its_name(path):
    path.write_text(GOOD.replace("mass: 2.0", "mass: -1"), "utf-8")
    with pytest.raises(SpecError) as caught:
        load(path)
    assert caught.value.problems[0].where == f"{path}:12"


def test_the_base_can_be_chosen_while_loading(path):
    assert load(path)["context.base"] == "fixed"
    assert load(path, base="free").nv == load(path).nv + 6
    assert load(path, base="free") == load(path).replace({"context.base": "free"})
    with pytest.raises(SpecError, match="base must be 'fixed', 'free' or None, got 'floating'"):
        load(path, base="floating")
    path.write_text("{gyrostat: 1, name: m, entities: [{reference_frame: w}]}", "utf-8")
    with pytest.raises(SpecError, match="is free, but nothing in the model has mass"):
        load(path, base="free")


def test_files_with_a_byte_order_mark_and_windows_line_ends_are_read(path):
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(path) == from_text(GOOD)
    path.write_bytes(GOOD.replace("mass: 2.0", "mass: -1").replace("\n", "\r\n").encode())
    with pytest.raises(SpecError, match=r"arm.yaml:12"):
        load(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is nothing in it"),
        (b"a: 1\nb: \xff", "arm.yaml:2): is not UTF-8 text: byte 0xff at position 8. Hint: save it with the encoding UTF-8"),
        (GOOD.encode("utf-16"), "arm.yaml:1): is not UTF-8 text: byte 0xff at position 0"),
        ("a: ä".encode("latin-1"), "is not UTF-8 text: byte 0xe4"),
        (b"\xed\xa0\x80", "is not UTF-8 text"),
        (b"a: \x00", "has the character"),
        (b"\x80" * 1000, "is not UTF-8 text"),
    ],
    ids=["empty", "a stray byte", "UTF-16", "Latin-1", "a surrogate", "NUL", "garbage"],
)  # fmt: skip
def test_files_that_are_not_text_are_refused(path, data, message):
    path.write_bytes(data)
    with pytest.raises(LoadError) as caught:
        load(path)
    assert message in str(caught.value)


def test_a_file_of_twenty_megabytes_is_refused_unread(path, monkeypatch):
    with path.open("wb") as file:
        file.truncate(20 * 2**20)
    monkeypatch.setattr(files, "READERS", {".yaml": lambda *_: pytest.fail("was read")})
    with within(1.0), pytest.raises(LoadError, match="is 20.0 MiB long, expected at most 16 MiB"):
        load(path)


def test_a_file_of_sixteen_megabytes_is_read(path):
    path.write_text(GOOD + "# " + "x" * (MAX_BYTES - len(GOOD) - 2), "ascii")
    assert path.stat().st_size == MAX_BYTES
    with within(5.0):
        assert load(path) == from_text(GOOD)


def test_what_is_no_file_is_refused(tmp_path, path):
    with pytest.raises(LoadError, match=r"amr.yaml': cannot be read: No such file or directory. Hint: did you mean 'arm.yaml'\?"):
        load(tmp_path / "amr.yaml")
    with pytest.raises(LoadError, match="there is no folder"):
        load(tmp_path / "nowhere" / "arm.yaml")
    with pytest.raises(LoadError, match=r"is a folder. Hint: use a file with one of .yaml, .yml"):
        load(tmp_path)
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(LoadError, match=r"cannot be read: Is a directory. Hint: give a file in this folder"):
        load(tmp_path / "dir.yaml")
    with pytest.raises(LoadError, match=r"files of the kind '.txt' cannot be read. Hint: use a file with one of .yaml, .yml"):
        load(tmp_path / "arm.txt")
    with pytest.raises(LoadError, match="is not a path"):
        load(5)
    with pytest.raises(LoadError, match="cannot be read: embedded null byte"):
        load("a\0b.yaml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with within(5.0), pytest.raises(LoadError, match="is not a regular file"):
        load(tmp_path / "pipe.yaml")


def test_a_model_that_cannot_be_saved_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()
    with pytest.raises(SpecError, match="cannot be reached"):
        save(assemble("bad", RigidBody("b", mass=1)), path)
    with pytest.raises(SaveError, match="Python function"):
        save(assemble("field", gravity=lambda p: p), path)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(SaveError, match="arm.yaml': cannot be written: No space left on device"):
        save(assemble("other"), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_places_where_nothing_can_be_saved_are_refused(tmp_path):
    model = assemble("m")
    with pytest.raises(SaveError, match=r"files of the kind '.json' cannot be written"):
        save(model, tmp_path / "a.json")
    with pytest.raises(SaveError, match="cannot be written: No such file or directory"):
        save(model, tmp_path / "nowhere" / "a.yaml")
    with pytest.raises(SaveError, match="cannot be written: embedded null byte"):
        save(model, "a\0b.yaml")
    with pytest.raises(SaveError, match="is not a path"):
        save(model, None)
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(SaveError, match="cannot be written"):
        save(model, tmp_path / "dir.yaml")
    assert list(tmp_path.iterdir()) == [tmp_path / "dir.yaml"]


@pytest.mark.skipif(os.name == "nt", reason="needs permissions and links")
def test_saving_keeps_permissions_and_links(path):
    path.chmod(0o640)
    link = path.with_name("link.yaml")
    link.symlink_to(path)
    save(assemble("new"), link)
    assert link.is_symlink()
    assert load(path).name == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    fresh = path.with_name("fresh.yaml")
    save(assemble("new"), fresh)
    reference = path.with_name("reference")
    reference.touch()
    assert fresh.stat().st_mode == reference.stat().st_mode, "as any new file"
