"""Mistakes in a YAML file: all of them in one exception, each with its line, and no echo of any."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrostat.errors import LoadError, SpecError
from gyrostat.io.yaml.read import from_text
from gyrostat.spec.check import problems
from tests.support.examples import few
from tests.support.yaml_examples import EDITS, GOOD, mistakes


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
        "joint 'shoulder' (arm.yaml:7): 'axis' must have unit length, got (0, 2, 0) of length 2. "
        "Hint: write [0, 1, 0].",
        "rigid body 'upper' (arm.yaml:9): mass must not be negative, got -2 kg. Hint: give the mass in kg.",
        "rigid body 'upper' (arm.yaml:10): has no property 'comm'. Hint: did you mean 'com'?",
        "joint 'elbow' (arm.yaml:14): 'kind' is 'revolut'. Hint: did you mean 'revolute'?",
        "rigid body 'fore' (arm.yaml:17): 'mass' must be a number, got 'heavy'. "
        "Hint: write a number such as 0.5, without quotes or units.",
        "connection [upper.tpi, elbow.a] (arm.yaml:21): 'upper' has no port 'tpi'. Hint: did you mean 'tip'?",
    ]


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


@settings(max_examples=few(300), deadline=None)
@given(st.permutations(PAIRS).map(lambda cases: cases[:4]))
def test_several_mistakes_in_one_file_are_reported_together(cases):
    """Not more problems than the mistakes have alone; fewer only where a wrong part is no longer looked into."""
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
    for text in (
        "gyrostat: 1",
        "a: 1",
        "entities: 3",
        "{}",
        "connections: [[a, b], []]",
        "name:\nentities:\ncontext: 1",
    ):
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
