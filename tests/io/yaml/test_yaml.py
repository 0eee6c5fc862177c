"""The YAML form: models, numbers and texts come back as they were; scalars; the reference page."""

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gyrostat.errors import SaveError, SpecError
from gyrostat.io.text_files import MAX_BYTES
from gyrostat.io.yaml.emit import emit
from gyrostat.io.yaml.parse import MAX_DEPTH, MAX_VALUES, Node, read, scalar
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.assemble import assemble, chain, connect
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import problems
from gyrostat.spec.context import CentralGravity, Context, HarmonicMotion, UniformGravity
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import JOINT_KINDS, Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import Frame
from gyrostat.spec.wiring import is_name
from tests.support.examples import few
from tests.support.spec_models import HOSTILE_NAMES, models, numbers
from tests.support.yaml_examples import (
    GOOD,
    ForeignCrate,
    ForeignSpring,
    mistakes,
)


# ------------------------------------------------------------------------------------------------ round trips
def test_the_text_of_a_model_is_this_and_comes_back_the_same():
    model = from_text(GOOD)
    assert to_text(model) == GOOD
    assert model["leg.knee.pitch"] == 0.5
    assert model.name == "two_link"
    assert model.dofs == ("shoulder", "leg.knee")


@settings(max_examples=few(150), deadline=None)
@given(models())
def test_every_model_comes_back_as_it_was_and_its_text_byte_for_byte(model):
    assert problems(model) == []
    text = to_text(model)
    again = from_text(text)
    assert again == model
    assert hash(again) == hash(model)
    assert to_text(again) == text


@settings(max_examples=few(50), deadline=None)
@given(models())
def test_other_yaml_programs_read_the_same_data(model):
    """PyYAML follows YAML 1.1, ours 1.2: the text is written so that both agree."""
    text = to_text(model)
    assert yaml.safe_load(text) == read(text).plain()


@pytest.mark.parametrize("name", [name for name in HOSTILE_NAMES if is_name(name)])
def test_hostile_names_come_back(name):
    model = Model(
        name,
        [
            ReferenceFrame(name),
            RigidBody(f"{name}2", mass=1, frames={f"{name}3": (0, 0, 0)}),
            Joint("j", "fixed"),
            RigidBody("b", mass=1),
        ],
        [(name, f"{name}2"), (f"{name}2.{name}3", "j.a"), ("j.b", "b")],
    )
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


@settings(max_examples=few(300))
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


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), numbers, SAFE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SAFE, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=few(200))
@given(st.dictionaries(SAFE, PLAIN, max_size=4))
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
    gravities = [
        (0, 0, -9.81),
        (1, 2, 3),
        UniformGravity(g=(0, 0, 1), treat_as="field"),
        CentralGravity(mu=4e14, centre=(0, 0, -6.4e6)),
    ]
    for gravity in gravities:
        for base in ("fixed", "free", HarmonicMotion(), HarmonicMotion(amplitude=(0, 0, 1), frequency=2, axis="x")):
            model = Model(
                "m", [ReferenceFrame("w"), RigidBody("b", mass=1)], [("w", "b")], Context(gravity=gravity, base=base)
            )
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
    spring = ForeignSpring(
        "s", stiffness=2, turns=10**30, material="yes", wound=True, table={"1": (1, 2)}, points=((1, 2),)
    )
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


# ------------------------------------------------------------------------------------------------ not to be written
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
        ("1e-3", 1e-3), ("1E3", 1e3), (".5", 0.5), ("5.", 5.0), ("-.5e+1", -5.0), ("1e", "1e"), ("e1", "e1"),
        (".", "."),
        (".inf", math.inf), ("-.INF", -math.inf), ("+.Inf", math.inf), ("inf", "inf"), ("nan", "nan"),
        ("-.nan", "-.nan"),
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
    tree = read("a: 1\nb:\n  - '2\n    2'\n  - [3,\n     4]\n  - {c: 5,\n     d:\n      6}\ne: |\n  x\n  y\nf: 7\n")
    assert tree == Node(
        {
            "a": Node(1, 1, "1"),
            "b": Node(
                [
                    Node("2 2", 3, "2 2"),
                    Node([Node(3, 5, "3"), Node(4, 6, "4")], 5),
                    Node({"c": Node(5, 7, "5"), "d": Node(6, 8, "6")}, 7),
                ],
                2,
            ),
            "e": Node("x\ny\n", 10, "x\ny\n"),
            "f": Node(7, 13, "7"),
        },
        1,
    )


# ------------------------------------------------------------------------------------------------ the reference page
PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "yaml.md").read_text("utf-8")


def blocks(language):
    return [part.removeprefix(f"{language}\n") for part in PAGE.split("```")[1::2] if part.startswith(language)]


def test_the_example_of_the_reference_page_is_a_good_model():
    text, _ = blocks("yaml")
    assert from_text(text).dofs == ("shoulder", "forearm.elbow")


def test_the_mistakes_on_the_reference_page_are_reported_so():
    (text, _), (report,) = blocks("yaml"), blocks("text")
    text = text.replace("kind: revolute\n    axis: [0", "kind: revolut\n    axis: [0").replace("mass: 2.0", "mass: -2")
    with pytest.raises(SpecError) as caught:
        from_text(text.replace("[upper.tip,", "[upper.tpi,"), "arm.yaml")
    assert str(caught.value) == report.strip()


def test_the_reference_page_names_every_kind_and_every_property():
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| `")]
    kinds = {row[0].strip(" `"): row for row in rows if len(row) == 3}
    ours = {name: kind for name, kind in Entity.registry.items() if kind.__module__.startswith("gyrostat.")}
    assert set(kinds) == set(ours)
    for name, kind in ours.items():
        for field in set(kind.model_fields) - {"name"}:
            assert f"`{field}`" in kinds[name][1], f"{name} has a property {field}"
    joints = {kind.strip(" `"): row[1] for row in rows if len(row) == 2 for kind in row[0].split(",")}
    for kind, table in JOINT_KINDS.items():
        for field in ("axis", "second_axis", "pitch"):
            assert (f"`{field}`" in joints[kind]) == (field in table.needs + table.may), f"{kind}: {field}"


def test_the_limits_on_the_reference_page_are_the_real_ones():
    text = " ".join(PAGE.split())
    assert (
        f"nested more than {MAX_DEPTH} deep, more than {MAX_VALUES:,}".replace(",", " ").replace("deep ", "deep,")
        in text
    )
    assert f"{MAX_BYTES // 2**20} MiB" in text
