"""Versions of the text form: old files are read as ever, new ones say so, and migrations keep values and lines."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

import gyrostat as gs
from gyrostat.errors import SaveError, SpecError
from gyrostat.io.yaml.emit import emit
from gyrostat.io.yaml.migrations import (
    MIGRATIONS,
    changed_property,
    each_entity,
    in_order,
    migrate,
    newest,
    oldest_alike,
    renamed_kind,
    renamed_property,
    renamed_section,
    unchanged,
)
from gyrostat.io.yaml.parse import Node, read
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.schema import json_schema, main
from gyrostat.io.yaml.versions import needed_version, stated_version
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity
from gyrostat.spec.rigid_body import RigidBody
from tests.support.examples import few
from tests.support.spec_models import models
from tests.support.yaml_examples import GOOD, mistakes, refused

FROZEN = Path(__file__).parent / "version_1"
SAVED = [path.stem for path in sorted(FROZEN.glob("*.yaml")) if path.stem != "hand_written"]
DIGESTS = {
    "differential_wrist": "4022e04a05db7a4e",
    "elastic_arm": "d156b4caaecc52ee",
    "hand_written": "ace36b7b065c4176",
    "hand_written_saved": "cf388239ec3550d8",
    "hydraulic_manipulator": "3cb9bd44c4f8f9d8",
    "puma560": "a1b7bd6073dc8045",
    "quadruped": "6bd8c87e23bf1930",
    "spatial_disorientation_trainer": "f3df349364ecd63e",
}


KINDS_OF_VERSION_1 = {
    *("assembly", "backlash", "bushing", "damper", "dh_displacement", "displacement", "force_element", "friction"),
    *("gear", "joint", "locked_rotor", "motor", "point_spring", "reference_frame", "rigid_body", "rotor_inertia"),
    "spring",
}


class LaterThing(Entity):
    """A kind that came with version 2."""

    since = 2
    size: float = 1.0


class MuchLaterThing(Entity):
    """A kind of a version that is not there yet."""

    since = 99


LATER = GOOD.replace("  - displacement: bracket", "  - later_thing: odd\n  - displacement: bracket").replace(
    "  - [upper.tip, push]", "  - [upper.tip, push, odd]"
)


FOLLOWING = """\
gyrostat: 2
name: press
entities:
- reference_frame: world
- {joint: crank, kind: continuous, axis: y}
- {rigid_body: wheel, mass: 1.0, inertia: [1.0, 1.0, 1.0]}
- {joint: slide, kind: prismatic, axis: z}
- {rigid_body: ram, mass: 1.0}
- {kind}
connections:
- [world.frame, crank.a]
- [crank.b, wheel]
- [world.frame, slide.a]
- [slide.b, ram]
- [crank.shaft, lift.driver]
- [slide.shaft, lift.follower]
"""


# ---------------------------------------------------------------------- version 1
@pytest.mark.parametrize("name", DIGESTS)
def test_the_frozen_files_are_those_that_version_1_wrote(name):
    assert hashlib.sha256((FROZEN / f"{name}.yaml").read_bytes()).hexdigest().startswith(DIGESTS[name])


@pytest.mark.parametrize("name", SAVED)
def test_what_version_1_saved_is_read_and_saved_byte_for_byte(name, tmp_path):
    model = gs.load(FROZEN / f"{name}.yaml")
    gs.save(model, tmp_path / "again.yaml")
    assert (tmp_path / "again.yaml").read_bytes() == (FROZEN / f"{name}.yaml").read_bytes()


def test_a_hand_written_file_of_version_1_is_the_model_it_was():
    model = gs.load(FROZEN / "hand_written.yaml")
    assert to_text(model) == (FROZEN / "hand_written_saved.yaml").read_text("utf-8")
    assert model.sources["leg.shin.inertia"].endswith("hand_written.yaml:28")


@settings(max_examples=few(60), deadline=None)
@given(model=models())
def test_every_model_comes_back_through_the_oldest_version_and_all_migrations(model):
    text = to_text(model)
    assert text.startswith("gyrostat: 1\n")
    root = read(text)
    newer = migrate(root, 1)
    assert newer.plain() == root.plain() | {"gyrostat": newest()}
    assert from_text(text) == model
    again = from_text(emit(newer.plain()))
    assert again == model
    assert to_text(again) == text


# ---------------------------------------------------------------------- which version
def test_a_file_may_say_any_version_that_is_known():
    assert from_text(GOOD.replace("gyrostat: 1", "gyrostat: 2")) == from_text(GOOD)


def test_a_newer_file_is_refused_with_its_version_and_nothing_else():
    text = GOOD.replace("gyrostat: 1", "gyrostat: 6").replace("mass: 2.0", "mass: -2.0").replace("- joint", "- loop")
    (problem,) = mistakes(text)
    assert str(problem) == (
        "model (arm.yaml:1): has the format version 6, this gyrostat reads versions 1 to 5. "
        "Hint: upgrade gyrostat: pip install --upgrade gyrostat."
    )
    assert (problem.rule, problem.value) == ("schema-version", 6)


@pytest.mark.parametrize("version", [newest() + 1, 10**40, int("9" * 300)])
def test_however_new_a_version_is_the_remedy_is_an_upgrade(version):
    (problem,) = mistakes(GOOD.replace("gyrostat: 1", f"gyrostat: {version}"))
    assert problem.remedy.startswith("upgrade gyrostat") and problem.where == "arm.yaml:1"
    assert len(str(problem)) < 300


def test_a_version_with_a_point_is_refused():
    (problem,) = mistakes(GOOD.replace("gyrostat: 1", "gyrostat: 1.0"))
    assert "format version 1.0, this gyrostat reads versions 1 to 5" in str(problem)


def test_a_version_that_is_there_twice_is_refused():
    assert refused(GOOD.replace("gyrostat: 1", "gyrostat: 1\ngyrostat: 2")).rule == "yaml-key"


def test_a_version_that_means_nothing_does_not_hide_other_mistakes():
    problems = mistakes(GOOD.replace("gyrostat: 1", "gyrostat: one").replace("mass: 2.0", "mass: -2.0"))
    assert [p.rule for p in problems] == ["schema-version", "mass"]


# ---------------------------------------------------------------------- kinds of a later version
def test_a_later_kind_is_written_in_the_version_it_came_with_and_read_back():
    model = from_text(LATER.replace("gyrostat: 1", "gyrostat: 2"))
    assert to_text(model).startswith("gyrostat: 2\n")
    assert from_text(to_text(model)) == model


CURVES = ["cam: lift\n  angles: [0.0, 1.0, 2.0]\n  lifts: [0.0, 0.1, 0.0]", "scotch_yoke: lift\n  radius: 0.1"]


@pytest.mark.parametrize("kind", CURVES)
def test_cams_and_scotch_yokes_came_with_version_2(kind):
    text = FOLLOWING.replace("{kind}", kind)
    model = from_text(text)
    assert to_text(model).startswith("gyrostat: 2\n") and from_text(to_text(model)) == model
    (problem,) = mistakes(text.replace("gyrostat: 2", "gyrostat: 1"))
    assert (problem.rule, problem.value) == ("kind-version", 2)


def test_a_polynomial_coupling_came_with_version_3():
    text = FOLLOWING.replace("{kind}", "polynomial_coupling: lift\n  coefficients: [0.1, 0.0, 2.0]\n  reference: 0.3")
    assert [p.rule for p in mistakes(text)] == ["kind-version"]
    model = from_text(text.replace("gyrostat: 2", "gyrostat: 3"))
    assert to_text(model).startswith("gyrostat: 3\n") and from_text(to_text(model)) == model


# ---------------------------------------------------------------------- closed loops: version 3
LOOP = """\
gyrostat: 3
name: four_bar
context:
  reference: {crank: 0.5, ball: [0, 0, 0, 1]}
  independent: [crank]
  loops: constraints
entities:
- reference_frame: world
- {joint: crank, kind: revolute, axis: y, passive: false}
- {rigid_body: arm, mass: 1.0, inertia: [1, 1, 1], frames: {tip: [0, 0, 1]}}
- {joint: rocker, kind: revolute, axis: y, passive: true}
- {rigid_body: swing, mass: 1.0, inertia: [1, 1, 1], frames: {tip: [0, 0, 1]}}
- {joint: ball, kind: spherical}
- {rigid_body: knob, mass: 1.0}
- {displacement: apart, translation: [1, 0, 0]}
- {connecting_rod: rod, length: 1.0}
connections:
- [world.frame, crank.a, apart.a]
- [crank.b, arm]
- [apart.b, rocker.a]
- [rocker.b, swing]
- [arm.tip, rod.a, ball.a]
- [swing.tip, rod.b]
- [ball.b, knob]
"""


def test_closed_loops_are_stored_and_come_back():
    model = from_text(LOOP)
    assert dict(model.context.reference) == {"crank": (0.5,), "ball": (0.0, 0.0, 0.0, 1.0)}
    assert model.context.independent == ("crank",) and model.context.loops == "constraints"
    assert [model[f"{name}.passive"] for name in ("crank", "rocker", "ball")] == [False, True, None]
    text = to_text(model)
    assert text.startswith("gyrostat: 3\n") and from_text(text) == model and to_text(from_text(text)) == text


def test_what_says_nothing_about_loops_is_stored_as_before():
    model = from_text(LOOP)
    plain = [e for e in model.entities if e.name != "rod"]
    plain = [e.model_copy(update={"passive": None}) if isinstance(e, gs.Joint) else e for e in plain]
    ends = [tuple(p for p in ports if not p.startswith("rod.")) for ports in model.connections]
    text = to_text(gs.Model("tree", tuple(plain), tuple(ports for ports in ends if len(ports) > 1)))
    assert text.startswith("gyrostat: 1\n")
    assert not any(word in text for word in ("passive", "reference:", "independent", "loops"))


@pytest.mark.parametrize(
    ("entity", "what", "line"),
    [
        ("context", "the property 'reference'", 4),
        ("context", "the property 'independent'", 5),
        ("context", "the property 'loops'", 6),
        ("joint 'crank'", "the property 'passive'", 9),
        ("joint 'rocker'", "the property 'passive'", 11),
        ("connecting rod 'rod'", "the kind 'connecting_rod'", 16),
    ],
)
def test_loops_in_an_older_file_are_refused_with_their_lines(entity, what, line):
    told = [str(p) for p in mistakes(LOOP.replace("gyrostat: 3", "gyrostat: 2"))]
    assert len(told) == 6
    said = f"{entity} (arm.yaml:{line}): {what} came with version 3, the file says version 2. "
    assert f"{said}Hint: write 'gyrostat: 3' at its top." in told


@pytest.mark.parametrize(
    ("old", "new", "line", "match"),
    [
        ("loops: constraints", "loops: constraint", 6, "did you mean 'constraints'"),
        ("independent: [crank]", "independent: {a: 1}", 5, "must be a list of names of joints"),
        ("{crank: 0.5, ball", "{crank: x, ball", 4, "must be"),
        ("{crank: 0.5, ball: [0, 0, 0, 1]}", "[1]", 4, "must map names of joints"),
        ("{crank: 0.5, ball: [0, 0, 0, 1]}", "{crank: .nan}", 4, "must be finite"),
        ("passive: true", "passive: 3.5", 11, "passive"),
        ("length: 1.0", "length: -1.0", 16, "'length' must be positive, got -1"),
        ("length: 1.0", "lenght: 1.0", 16, "did you mean 'length'"),
        ("referenc", "refrenc", 4, "did you mean 'reference'"),
    ],
)
def test_mistakes_about_loops_have_their_lines(old, new, line, match):
    problems = mistakes(LOOP.replace(old, new, 1))
    assert any(match in str(p) and (p.where or "").endswith(f":{line}") for p in problems), problems


def test_the_schema_of_version_3_takes_loops_and_that_of_version_2_does_not():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json_schema(3)).validate(read(LOOP).plain())
    older = json_schema(2)
    assert "passive" not in older["$defs"]["joint"]["properties"] and "connecting_rod" not in older["$defs"]
    assert not {"reference", "independent", "loops"} & set(older["$defs"]["context"]["properties"])


def test_a_later_kind_in_an_older_file_is_refused_with_its_version():
    (problem,) = mistakes(LATER)
    assert str(problem) == (
        "later thing 'odd' (arm.yaml:20): the kind 'later_thing' came with version 2, the file says version 1. "
        "Hint: write 'gyrostat: 2' at its top."
    )


def test_a_later_kind_with_a_mistake_is_told_for_both():
    problems = mistakes(LATER.replace("later_thing: odd", "later_thing: odd\n    size: big"))
    assert [p.rule for p in problems] == ["kind-version", "property-type"]


def test_a_later_kind_inside_an_assembly_counts():
    inside = Assembly("box", entities=(Assembly("inner", entities=(LaterThing("odd"),)), RigidBody("b", mass=1.0)))
    assert needed_version([RigidBody("b", mass=1.0)]) == 1
    assert needed_version([inside]) == 2


def test_a_kind_of_a_version_that_does_not_exist_cannot_be_saved():
    model = from_text(LATER.replace("gyrostat: 1", "gyrostat: 2"))
    odd = [MuchLaterThing("odd") if e.name == "odd" else e for e in model.entities]
    with pytest.raises(SaveError, match="'much_later_thing' says since = 99, the newest version is 5"):
        to_text(gs.Model(model.name, tuple(odd), model.connections, model.context))


# ---------------------------------------------------------------------- migrations
def doubled(node):
    return Node(2.0 * float(node.plain()), node.line, node.text)


MADE_UP = {
    1: in_order(renamed_section("parts", "entities"), renamed_kind("pivot", "joint")),
    2: in_order(renamed_property("joint", "direction", "axis"), renamed_kind("solid", "rigid_body")),
    3: unchanged,
    4: changed_property("rigid_body", "mass", doubled),
}
"""Version 5 is that of today; mass was written by halves up to version 4."""

FIRST = (
    GOOD.replace("\nentities:", "\nparts:")
    .replace("- joint:", "- pivot:")
    .replace("axis: [", "direction: [")
    .replace("rigid_body:", "solid:")
    .replace("mass: 2.0", "mass: 1.0", 1)
    .replace("mass: 1.0\n        inertia", "mass: 0.5\n        inertia")
)


def test_a_chain_of_migrations_leads_to_the_model_of_today():
    model = from_text(FIRST, "old.yaml", MADE_UP)
    assert model == from_text(GOOD)
    assert model.sources["leg.knee.axis"] == "old.yaml:26"
    assert FIRST.splitlines()[25].strip() == "direction: [1.0, 0.0, 0.0]"


def test_each_version_of_the_chain_is_read():
    root = read(FIRST)
    for version in range(1, newest(MADE_UP)):
        root = migrate(root, version, {old: step for old, step in MADE_UP.items() if old <= version})
        assert root.plain()["gyrostat"] == version + 1
        assert from_text(emit(root.plain()), "old.yaml", MADE_UP) == from_text(GOOD)


def test_every_node_keeps_its_line():
    def lines(node):
        inside = list(node.value.values()) if isinstance(node.value, dict) else node.value
        inside = inside if isinstance(inside, list) else []
        return [node.line, *(line for inner in inside for line in lines(inner))]

    root = read(FIRST)
    assert lines(migrate(root, 1, MADE_UP)) == lines(root)


def test_a_migration_leaves_the_tree_it_is_given():
    root = read(FIRST)
    before = root.plain()
    migrate(root, 1, MADE_UP)
    assert root.plain() == before


def test_a_mistake_in_an_old_file_is_told_with_its_line():
    with pytest.raises(SpecError) as caught:
        from_text(FIRST.replace("mass: 0.5", "mass: -0.5"), "old.yaml", MADE_UP)
    (problem,) = caught.value.problems
    assert str(problem).startswith("rigid body 'leg.shin' (old.yaml:29): mass must not be negative")


def test_names_of_an_old_version_mean_nothing_in_a_new_one():
    with pytest.raises(SpecError, match="there is no kind of entity 'pivot'"):
        from_text(FIRST.replace("gyrostat: 1", "gyrostat: 3").replace("parts:", "entities:"), "old.yaml", MADE_UP)


def test_an_old_name_beside_the_new_one_is_refused():
    old = GOOD.replace("    axis: [0.0, 1.0, 0.0]", "    axis: [0.0, 1.0, 0.0]\n    direction: [0.0, 1.0, 0.0]")
    with pytest.raises(SpecError, match="has no property 'direction'"):
        from_text(old, "old.yaml", {1: renamed_property("joint", "direction", "axis")})


@pytest.mark.parametrize("entities", ["entities: 5", "entities: [5, [], {}, {joint: 1}, null]", "entities: {a: b}", ""])
def test_migrations_leave_what_is_no_model_to_the_reader(entities):
    text = f"gyrostat: 1\nname: m\n{entities}\n"
    with pytest.raises(SpecError):
        from_text(text, "old.yaml", MADE_UP | {4: renamed_kind("a", "b")})


def test_a_version_in_which_something_changed_is_not_written_any_more():
    assert oldest_alike(MADE_UP) == 5
    assert oldest_alike({1: unchanged, 2: unchanged}) == 1
    assert oldest_alike({1: each_entity(lambda kind, fields: fields), 2: unchanged}) == 2
    assert needed_version([RigidBody("b", mass=1.0)], MADE_UP) == 5


def test_a_kind_that_version_1_did_not_have_says_since_when_it_is_there():
    ours = {name: kind for name, kind in Entity.registry.items() if kind.__module__.startswith("gyrostat.")}
    assert {name for name, kind in ours.items() if kind.since == 1} == KINDS_OF_VERSION_1, (
        "a new kind came without a version. Hint: since = 2 in its class, and regenerate the schemas"
    )


def test_the_table_has_every_version_but_the_newest():
    assert sorted(MIGRATIONS) == list(range(1, newest()))
    assert all(kind.since <= newest() for kind in Entity.registry.values() if kind.__module__.startswith("gyrostat."))


# ---------------------------------------------------------------------- audits and the schema
def test_an_audit_tells_the_version(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD, "utf-8")
    audit = gs.audit(path)
    assert (audit.version, audit.ok, len(audit)) == (1, True, 0)
    assert audit.summary() == f"{path} (version 1): 0 errors, 0 warnings, 0 ignored, 0 repaired"
    assert json.loads(audit.to_json())["version"] == 1


def test_an_audit_of_a_newer_file_tells_its_version(tmp_path):
    audit = gs.audit_string(GOOD.replace("gyrostat: 1", "gyrostat: 7"))
    assert (audit.version, [f.rule for f in audit]) == (7, ["schema-version"])
    assert "(version 7): 1 error" in str(audit)


@pytest.mark.parametrize("text", ["gyrostat: [", "- 1", "name: m", "gyrostat: '1'", "gyrostat: true", "a: 1"])
def test_a_text_that_says_no_version_has_none(text):
    assert stated_version(text, "arm.yaml") is None


def test_the_command_tells_the_version(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD, "utf-8")
    command = [sys.executable, "-m", "gyrostat", "check", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert re.search(r"\(version 1\): 0\s+errors", said)
    printed = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed)["files"][0]["version"] == 1


def test_each_version_has_a_schema_with_the_kinds_it_had(monkeypatch):
    monkeypatch.setattr(LaterThing, "__module__", "gyrostat.spec.later_thing")
    assert json_schema(1)["properties"]["gyrostat"]["const"] == 1
    assert "later_thing" not in json_schema(1)["$defs"] and "later_thing" in json_schema(2)["$defs"]
    assert json_schema()["properties"]["gyrostat"]["enum"] == [1, 2, 3, 4, 5]
    assert "later_thing" in json_schema()["$defs"]


@pytest.mark.parametrize("version", [0, 6, -1])
def test_there_is_no_schema_of_other_versions(version):
    with pytest.raises(SpecError, match=f"there is no schema of version {version}. Hint: known: 1, 2, 3, 4, 5"):
        json_schema(version)


def test_the_schema_of_a_version_is_printed(capsys):
    assert main(["1"]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema(1)
    assert main([]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema()


@pytest.mark.parametrize("arguments", [["one"], ["9"], ["1", "2"]])
def test_a_schema_that_is_not_there_is_one_sentence(arguments, capsys):
    assert main(arguments) == 2
    assert "Hint: " in capsys.readouterr().err
