"""For tests of the YAML form: a text that uses everything, mistakes to make in it, and kinds of another author."""

import time
from contextlib import contextmanager

import pytest
from pydantic import Field

from gyrostat.errors import LoadError, SpecError
from gyrostat.io.yaml.read import from_text
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity, Port

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

ENTITIES = GOOD[GOOD.index("entities:\n  - ref") : GOOD.index("connections:\n  - [world")]
CONNECTIONS = GOOD[GOOD.index("connections:\n  - [world") :]
PARTS_OF_LEG = GOOD[GOOD.index("    entities:\n      - joint: knee") : GOOD.index("    connections:\n      - [knee")]
BRACKET = "- displacement: bracket\n    rotation: {quaternion: [0.0, 0.0, 0.0, 1.0]}"
FRAMES = GOOD[GOOD.index("frames:\n") : GOOD.index("\n  - displacement")]

# name of the mistake -> (what stands in GOOD, what to put there, the problems: line, rule, part of the text)
EDITS = {
    "no version": (
        "gyrostat: 1\n", "",
        [(1, "schema-version", "needs the property 'gyrostat'")]),
    "a version in quotes": (
        "gyrostat: 1", "gyrostat: '1'",
        [(1, "schema-version", "version '1', this gyrostat reads versions 1 to 5. Hint: write 'gyrostat: 5'")]),
    "a version that is true": (
        "gyrostat: 1", "gyrostat: true",
        [(1, "schema-version", "format version True")]),
    "a version that is a list": (
        "gyrostat: 1", "gyrostat: [1]",
        [(1, "schema-version", "format version [1]")]),
    "a version that is zero": (
        "gyrostat: 1", "gyrostat: 0",
        [(1, "schema-version", "format version 0, this gyrostat reads versions 1 to 5. Hint: write")]),
    "a version below zero": (
        "gyrostat: 1", "gyrostat: -1",
        [(1, "schema-version", "format version -1, this gyrostat")]),
    "a version that is nothing": (
        "gyrostat: 1", "gyrostat:",
        [(1, "schema-version", "format version nothing")]),
    "a version that is no number": (
        "gyrostat: 1", "gyrostat: .nan",
        [(1, "schema-version", "format version nan")]),
    "a version that is a mapping": (
        "gyrostat: 1", "gyrostat: {version: 1}",
        [(1, "schema-version", "format version {'version': 1}")]),
    "a misspelt version": (
        "gyrostat: 1", "gyrstat: 1",
        [(1, "unknown-property", "has no property 'gyrstat'. Hint: did you mean 'gyrostat'?")]),
    "no name": (
        "name: two_link\n", "",
        [(1, "missing-property", "model (arm.yaml:1): needs the property 'name'")]),
    "a number for a name": (
        "name: two_link", "name: 2",
        [(2, "property-type", "'name' must be a text, got 2. Hint: put the name in quotes")]),
    "a name that cannot be printed": (
        "two_link", '"a\\x07"',
        [(2, "name", "holds characters that cannot be printed")]),
    "an unknown section": (
        "name:", "colour: red\nname:",
        [(2, "unknown-property", "model (arm.yaml:2): has no property 'colour'. Hint: known: 'gyrostat'")]),
    "a misspelt section": (
        "\nconnections:", "\nconections:",
        [(37, "unknown-property", "has no property 'conections'. Hint: did you mean 'connections'?")]),
    "a misspelt section of entities": (
        "\nentities:", "\nentitties:",
        [(6, "unknown-property", "did you mean 'entities'?")]),
    "a context that is a list": (
        "context:\n  gravity: [0.0, 0.0, -9.81]\n  base: fixed", "context: [1]",
        [(3, "property-type", "context (arm.yaml:3): must be a mapping, got [1]")]),
    "an unknown property of the context": (
        "base: fixed", "bse: fixed",
        [(5, "unknown-property", "context (arm.yaml:5): has no property 'bse'. Hint: did you mean 'base'?")]),
    "a gravity that is a number": (
        "gravity: [0.0, 0.0, -9.81]", "gravity: -9.81",
        [(4, "property-type", "'gravity' must be three numbers [m/s^2], a mapping")]),
    "a gravity of two numbers": (
        "[0.0, 0.0, -9.81]", "[0.0, -9.81]",
        [(4, "property-type", "'gravity' must be three numbers, got [0.0, -9.81]")]),
    "an infinite gravity": (
        "-9.81", "-.inf",
        [(4, "finite", "context (arm.yaml:4): 'gravity' must be finite, got -inf")]),
    "a field of gravity with a misspelt word": (
        "[0.0, 0.0, -9.81]", "{g: [0, 0, 1], treat_as: feild}",
        [(4, "property-value", "'gravity.treat_as' is 'feild'. Hint: expected 'acceleration' or 'field'")]),
    "a base that is nothing": (
        "base: fixed", "base: floating",
        [(5, "property-type", "'base' must be fixed, free, a harmonic motion")]),
    "a base about a long axis": (
        "base: fixed", "base:\n    frequency: 1\n    axis: [0, 0, 2]",
        [(7, "unit-axis", "'base.axis' must have unit length")]),
    "no entities": (
        ENTITIES, "",
        [(1, "missing-property", "model (arm.yaml:1): needs the property 'entities'")]),
    "entities that are a mapping": (
        ENTITIES, "entities: {joint: a}\n",
        [(6, "property-type", "'entities' must be a list, got {'joint': 'a'}")]),
    "an empty list of entities": (
        ENTITIES + CONNECTIONS, "entities: []\n",
        [(6, "one-reference-frame", "model (arm.yaml:6): has no reference frame")]),
    "an entity that is a number": (
        BRACKET, "- 5",
        [(20, "property-type", "entity (arm.yaml:20): must be a mapping that begins with kind and name, got 5")]),
    "an entity that is nothing": (
        BRACKET, "-",
        [(20, "property-type", "begins with kind and name, got nothing")]),
    "an entity that is empty": (
        BRACKET, "- {}",
        [(20, "property-type", "begins with kind and name, got {}")]),
    "a misspelt kind": (
        "- displacement:", "- displacment:",
        [(20, "unknown-kind",
           "entity 'bracket' (arm.yaml:20): there is no kind of entity 'displacment'. Hint:"
           " did you mean 'displacement'")]),
    "a misspelt kind with a mistake in a property": (
        "- displacement: bracket\n    rotation: {quaternion: [0.0,",
        "- displacment: bracket\n    rotation: {quaternion: [1.0,",
        [(20, "unknown-kind", "displacment"),
         (21, "rotation", "must be a unit quaternion")]),
    "an unknown kind": (
        "- displacement:", "- spaceship:",
        [(20, "unknown-kind", "there is no kind of entity 'spaceship'")]),
    "an unknown kind in an assembly": (
        "- joint: knee", "- spaceship: knee",
        [(24, "unknown-kind", "entity 'leg.knee' (arm.yaml:24): there is no kind of entity 'spaceship'")]),
    "an unknown kind for the reference frame": (
        "- reference_frame: world", "- spaceship: world",
        [(7, "unknown-kind", "entity 'world'")]),
    "no kind at all": (
        BRACKET, "- rotation: {}",
        [(20, "unknown-kind", "entity (arm.yaml:20): there is no kind of entity 'rotation'")]),
    "an entity without a name": (
        "- displacement: bracket", "- displacement:",
        [(20, "property-type",
           "displacement (arm.yaml:20): the name must be a text, got nothing. Hint: write "
           "a name behind 'displacement:'")]),
    "an entity with a number for a name": (
        "- displacement: bracket", "- displacement: 5",
        [(20, "property-type",
           "displacement '5' (arm.yaml:20): the name must be a text, got 5. Hint: write "
           'displacement: "5"'),
         (40, "dangling-connection", "there is no entity 'bracket'"),
         (41, "dangling-connection", "")]),
    "an entity with a list for a name": (
        "- displacement: bracket", "- displacement: [a]",
        [(20, "property-type", "the name must be a text, got ['a']")]),
    "an entity with a second name": (
        "- displacement: bracket", "- displacement: bracket\n    name: other",
        [(21, "unknown-property",
           "has no property 'name'. Hint: the name stands behind the kind, as in "
           "'displacement: elbow'")]),
    "a missing mass": (
        "    mass: 2.0\n", "",
        [(11, "missing-property", "rigid body 'upper' (arm.yaml:11): needs the property 'mass'. Hint: add 'mass'")]),
    "a mass that is a text": (
        "mass: 2.0", "mass: 2 kg",
        [(12, "property-type", "'mass' must be a number, got '2 kg'")]),
    "a mass that is nothing": (
        "mass: 2.0", "mass:",
        [(12, "property-type", "'mass' must be a number, got nothing")]),
    "a mass on the next line": (
        "mass: 2.0", "mass:\n      -2.0",
        [(12, "mass", "mass must not be negative")]),
    "a misspelt mass": (
        "mass: 2.0", "mas: 2.0",
        [(12, "unknown-property", "has no property 'mas'. Hint: did you mean 'mass'?")]),
    "a misspelt mass that is negative too": (
        "mass: 2.0", "mas: -2.0",
        [(12, "unknown-property", "'mas'"),
         (12, "mass", "negative")]),
    "a mass of zero": (
        "mass: 2.0", "mass: 0",
        [(12, "moving-mass", "rigid body 'upper' (arm.yaml:12): moves, but its mass is 0"),
         (14, "inertia-without-mass", "")]),
    "a huge mass": (
        "mass: 2.0", "mass: 1e999",
        [(12, "finite", "'mass' must be finite, got inf")]),
    "a mass that is no number": (
        "mass: 2.0", "mass: .nan",
        [(12, "finite", "'mass' must be finite, got nan")]),
    "a centre of mass of two numbers": (
        "com: [0.0, 0.0, 0.25]", "com: [0, 0]",
        [(13, "property-type", "'com' must be three numbers, got [0, 0]")]),
    "an inertia with a text": (
        "[0.1, 0.1, 0.01]", "[0.1, 0.1, small]",
        [(14, "property-type", "'inertia' must be three numbers or three rows")]),
    "an impossible inertia": (
        "[0.1, 0.1, 0.01]", "[0.1, 0.1, 0.3]",
        [(14, "inertia-triangle", "0.1 + 0.1 = 0.2 < 0.3")]),
    "a frame of two numbers": (
        "tip: {translation: [0.0, 0.0, 0.5]}", "tip: {translation: [0.0, 0.5]}",
        [(16, "property-type", "'frames.tip.translation' must be three numbers")]),
    "a short frame of two numbers": (
        "tip: {translation: [0.0, 0.0, 0.5]}", "tip: [0, 0.5]",
        [(16, "property-type", "'frames.tip.translation' must be three numbers")]),
    "a frame that is a text": (
        "tip: {translation: [0.0, 0.0, 0.5]}", "tip: here",
        [(16, "property-type", "'frames.tip.translation' must be three numbers, got 'here'")]),
    "a frame with a misspelt property": (
        "translation: [0.1", "translatoin: [0.1",
        [(18, "unknown-property", "has no property 'frames.side.translatoin'. Hint: did you mean 'translation'?")]),
    "a frame with wrong Euler axes": (
        "axes: ZYX", "axes: ZZX",
        [(19, "rotation", "'frames.side.rotation' has Euler axes 'ZZX'")]),
    "a frame with Euler axes that are a number": (
        "axes: ZYX", "axes: 3",
        [(19, "property-type", "'frames.side.rotation.axes' is 3: input should be a valid string")]),
    "a frame with an infinite angle": (
        "euler: [0.0", "euler: [.inf",
        [(19, "finite", "'frames.side.rotation.euler' must be finite, got inf")]),
    "frames that are a list": (
        FRAMES, "frames: [tip, side]",
        [(15, "property-type", "'frames' must map names to places, got ['tip', 'side']")]),
    "a frame called like a property": (
        "      tip: {", "      com: {",
        [(16, "name", "the frame 'com' is called like a property"),
         (42, "dangling-connection", "'upper' has no port 'tip'")]),
    "a rotation of three numbers": (
        "quaternion: [0.0, 0.0, 0.0, 1.0]", "quaternion: [0.0, 0.0, 1.0]",
        [(21, "property-type", "'rotation.quaternion' must be four numbers x, y, z, w, got [0.0, 0.0, 1.0]")]),
    "a rotation of no form": (
        "{quaternion: [0.0, 0.0, 0.0, 1.0]}", "{angles: [0, 0, 0]}",
        [(21, "property-type", "'rotation' must be a rotation, got {'angles': [0, 0, 0]}")]),
    "a rotation without its angle": (
        "{quaternion: [0.0, 0.0, 0.0, 1.0]}", "{axis: z}",
        [(21, "missing-property", "needs the property 'rotation.angle'")]),
    "a misspelt kind of joint": (
        "kind: revolute", "kind: revolut",
        [(9, "property-value", "'kind' is 'revolut'. Hint: did you mean 'revolute'?")]),
    "a misspelt kind of joint with a long axis": (
        "kind: revolute\n    axis: [0.0, 1.0, 0.0]", "kind: revolut\n    axis: [0, 2, 0]",
        [(9, "property-value", "revolut"),
         (10, "unit-axis", "length 2")]),
    "an unknown kind of joint": (
        "kind: revolute", "kind: hinge",
        [(9, "property-value", "'kind' is 'hinge'. Hint: expected 'fixed', 'revolute', 'continuous'")]),
    "a joint without a kind": (
        "    kind: revolute\n", "",
        [(8, "missing-property", "joint 'shoulder' (arm.yaml:8): needs the property 'kind'")]),
    "a joint with a misspelt property": (
        "    axis: [0.0, 1.0, 0.0]", "    axsi: [0.0, 1.0, 0.0]",
        [(10, "unknown-property", "has no property 'axsi'. Hint: did you mean 'axis'")]),
    "a joint with a wrong axis": (
        "    axis: [0.0, 1.0, 0.0]", "    axis: sideways",
        [(10, "property-type", "'axis' must be three numbers or one of x, y, z")]),
    "a joint without an axis": (
        "    axis: [0.0, 1.0, 0.0]\n", "",
        [(8, "joint-properties", "a revolute joint needs 'axis'")]),
    "a joint with a pitch too many": (
        "    axis: [0.0, 1.0, 0.0]", "    axis: [0.0, 1.0, 0.0]\n    pitch: 1",
        [(11, "joint-properties", "a revolute joint has no 'pitch', got 1")]),
    "a joint in an assembly without a pitch": (
        "        pitch: 0.5\n", "",
        [(24, "joint-properties", "joint 'leg.knee' (arm.yaml:24): a helical joint needs 'pitch'")]),
    "a body in an assembly with a bad mass": (
        "        mass: 1.0", "        mass: [1]",
        [(29, "property-type", "rigid body 'leg.shin' (arm.yaml:29): 'mass' must be a number, got [1]")]),
    "a body in an assembly with a skew inertia": (
        "[0.1, 0.0, 1.0]", "[0.3, 0.0, 1.0]",
        [(30, "inertia-symmetric",
           "rigid body 'leg.shin' (arm.yaml:30): inertia must be symmetric, Ixz = 0.1 "
           "but Izx = 0.3")]),
    "a wrench of five numbers": (
        "wrench: [0.0, 0.0,", "wrench: [0.0,",
        [(35, "property-type", "'wrench' must be six numbers")]),
    "a wrench in wrong axes": (
        "expressed_in: world", "expressed_in: wrld",
        [(36, "property-value", "'expressed_in' is 'wrld'. Hint: did you mean 'world'?")]),
    "an assembly without entities": (
        PARTS_OF_LEG, "",
        [(22, "missing-property", "assembly 'leg' (arm.yaml:22): needs the property 'entities'")]),
    "an assembly with a misspelt property": (
        "    exposes:", "    expose:",
        [(33, "unknown-property",
           "assembly 'leg' (arm.yaml:33): has no property 'expose'. Hint: did you mean "
           "'exposes'?")]),
    "an assembly that exposes a list": (
        "exposes: {top: knee.a, foot: shin.origin}", "exposes: [top]",
        [(33, "property-type", "'exposes' must map outer port names to inner ports, got ['top']")]),
    "an assembly that exposes a number": (
        "{top: knee.a,", "{top: 5,",
        [(33, "property-type",
           "assembly 'leg' (arm.yaml:33): 'exposes.top' must be the name of an inner port,"
           " got 5")]),
    "an assembly that exposes nothing that exists": (
        "{top: knee.a,", "{top: kne.a,",
        [(33, "dangling-connection", "exposes 'top', but there is no entity 'leg.kne'. Hint: did you mean 'knee'?")]),
    "an assembly with a broken connection": (
        "[knee.b, shin.origin]", "[knee.b, shn.origin]",
        [(32, "dangling-connection",
           "connection [knee.b, shn.origin] of assembly 'leg' (arm.yaml:32): there i"
           "s no entity 'leg.shn'")]),
    "an assembly with a connection that is a text": (
        "- [knee.b, shin.origin]", "- knee.b, shin.origin",
        [(32, "property-type",
           "connection of assembly 'leg' (arm.yaml:32): must be a list of ports, got "
           "'knee.b, shin.origin'")]),
    "connections that are a text": (
        CONNECTIONS, "connections: none\n",
        [(37, "property-type", "connections (arm.yaml:37): must be a list of connections, got 'none'")]),
    "a connection that is a text": (
        "- [bracket.b, leg.top]", "- bracket.b",
        [(41, "property-type", "connection (arm.yaml:41): must be a list of ports, got 'bracket.b'")]),
    "a connection with a number": (
        "- [bracket.b, leg.top]", "- [bracket.b, 5]",
        [(41, "property-type", "must be a list of ports, got ['bracket.b', 5]")]),
    "a connection of one port": (
        "- [bracket.b, leg.top]", "- [bracket.b]",
        [(41, "dangling-connection", "joins 1 port(s)")]),
    "a connection with a misspelt entity": (
        "[bracket.b, leg.top]", "[brackt.b, leg.top]",
        [(41, "dangling-connection",
           "connection [brackt.b, leg.top] (arm.yaml:41): there is no entity "
           "'brackt'. Hint: did you mean 'bracket'?")]),
    "a connection with a misspelt port": (
        "[bracket.b, leg.top]", "[bracket.b, leg.tpo]",
        [(41, "dangling-connection", "'leg' has no port 'tpo'. Hint: did you mean 'top'?")]),
    "a connection of a frame and a shaft": (
        "[upper.tip, push]", "[shoulder.shaft, push]",
        [(42, "port-kind", "'shoulder.shaft' is scalar")]),
    "a connection that is there twice": (
        "  - [upper.tip, push]\n", "  - [upper.tip, push]\n  - [push, upper.tip]\n",
        [(43, "duplicate-connection", "are connected already")]),
    "a connection that is missing": (
        "  - [upper.side, bracket.a]\n", "",
        [(20, "unreachable",
           "displacement 'bracket' (arm.yaml:20): cannot be reached from the reference frame"
           " (and with it leg.knee, leg.shin)")]),
    "a second reference frame": (
        "  - reference_frame: world\n", "  - reference_frame: world\n  - reference_frame: ground\n",
        [(8, "one-reference-frame", "model (arm.yaml:8): has 2 reference frames: world, ground")]),
    "no reference frame": (
        "- reference_frame: world", "- displacement: earth",
        [(6, "one-reference-frame", "has no reference frame"),
         (38, "dangling-connection", "there is no entity 'world'")]),
    "a world that is no reference frame": (
        "- reference_frame: world", "- reference_frame: earth\n  - displacement: world",
        [(8, "name", "displacement 'world' (arm.yaml:8): the name 'world' is reserved for the reference frame"),
         (39, "dangling-connection", "'world' has no port 'frame'")]),
    "an entity that is there twice": (
        "  - displacement: bracket\n", "  - displacement: bracket\n  - displacement: bracket\n",
        [(21, "unique-name", "displacement 'bracket' (arm.yaml:21): another displacement has the same name")]),
    "an entity twice, with a mistake in the second": (
        "  - force_element: push", "  - rigid_body: upper\n    mass: -5\n  - force_element: push",
        [(34, "unique-name", "another rigid body"),
         (35, "mass", "rigid body 'upper' (arm.yaml:35): mass must not be negative, got -5")]),
    "a name with a dot": (
        "- displacement: bracket", "- displacement: a.b\n  - displacement: bracket",
        [(20, "name", "name 'a.b' is not usable"),
         (20, "unreachable", "")]),
}  # fmt: skip


class ForeignSpring(Entity):
    """A kind of another author, with properties of all sorts."""

    stiffness: float
    turns: int = 1
    material: str | None = None
    wound: bool = False
    table: dict[str, tuple[float, ...]] = Field(default_factory=dict)
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
