"""Hypothesis strategies for good models that use everything a specification can say."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from gyrostat.spec.assembly import Assembly
from gyrostat.spec.context import CentralGravity, Context, HarmonicMotion, UniformGravity
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import JOINT_KINDS, Joint
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import AxisAngle, Euler, Frame, Quaternion, RotationMatrix
from gyrostat.spec.wiring import RESERVED, is_name

HOSTILE_NAMES = [
    "yes", "No", "on", "OFF", "y", "N", "true", "False", "null", "Null", "~", "1", "1e3", "-1", "+1", ".5",
    "0x10", "0o7", "1_000", ".inf", ".nan", "-", "--", "---", "?", ":", "!", "!!str", "&", "*", "*a", "&a", "#",
    "#a", "%", "%a", "@", "@a", "`", ">", ">-", "<<", "=", "12:30", "2001-01-01", "a:b", "a#b", "a=b", "a-b",
    "a/b", "a\\b", "a$b", "(a)", ";", "world", "joint", "entities", "connections", "(again)", "é", "ß", "ヒンジ",
    "关节", "सन्धि", "😀", "²",
]  # fmt: skip

numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.tuples(numbers, numbers, numbers)
names = st.one_of(
    st.sampled_from(HOSTILE_NAMES),
    st.from_regex(r"[a-z][a-z0-9_]{0,7}", fullmatch=True),
    st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8),
).filter(lambda name: is_name(name) and name not in (*RESERVED, "world"))
TAKEN = {"origin", *RigidBody.model_fields}
frame_names = names.filter(lambda name: name not in TAKEN)


@st.composite
def units(draw: st.DrawFn, length: int = 3) -> tuple[float, ...]:
    """Vectors of unit length."""
    x = draw(st.lists(st.floats(-1, 1), min_size=length, max_size=length).filter(lambda x: math.hypot(*x) > 0.1))
    return tuple(c / math.hypot(*x) for c in x)


@st.composite
def matrices(draw: st.DrawFn) -> RotationMatrix:
    x, y, z, w = draw(units(4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return RotationMatrix(matrix=rows)


EULER_AXES = [a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c]
rotations = st.one_of(
    st.builds(Euler, euler=vectors, axes=st.sampled_from([*EULER_AXES, *(axes.upper() for axes in EULER_AXES)])),
    st.builds(Quaternion, quaternion=units(4)),
    st.builds(AxisAngle, axis=units(), angle=numbers),
    matrices(),
)


@st.composite
def inertias(draw: st.DrawFn) -> Any:
    scale = draw(st.floats(1e-40, 1e300))
    if draw(st.booleans()):
        x, y, z = draw(st.tuples(*[st.just(0.0) | st.floats(1e-9, 1)] * 3))
        return (y + z) * scale, (x + z) * scale, (x + y) * scale
    xy, xz, yz = (draw(st.floats(-0.1, 0.1)) * scale for _ in range(3))
    return (scale, xy, xz), (xy, scale, yz), (xz, yz, scale)


frames = st.dictionaries(frame_names, st.tuples(vectors, rotations), max_size=3).map(
    lambda places: tuple(Frame(name=name, translation=p, rotation=R) for name, (p, R) in places.items())
)


@st.composite
def bodies(draw: st.DrawFn, name: str) -> RigidBody:
    optional = {"com": vectors, "inertia": inertias(), "momentum": vectors, "frames": frames}
    given = {key: draw(values) for key, values in optional.items() if draw(st.booleans())}
    return RigidBody(name, mass=draw(st.floats(1e-40, 1e300)), **given)


@st.composite
def joints(draw: st.DrawFn, name: str) -> Joint:
    kind = draw(st.sampled_from(list(JOINT_KINDS)))
    table = JOINT_KINDS[kind]
    given: dict[str, Any] = {}
    if "axis" in table.needs:
        given["axis"] = draw(st.one_of(units(), st.sampled_from(["x", "y", "-z"])))
    if "pitch" in table.needs:
        given["pitch"] = draw(numbers)
    if kind == "universal":
        given |= draw(
            st.sampled_from([{"axis": "x", "second_axis": "y"}, {"axis": "-z", "second_axis": (0.6, 0, 0.8)}])
        )
    if kind == "planar" and draw(st.booleans()):
        given |= {"axis": "z", "second_axis": (0.6, -0.8, 0)}
    return Joint(name, kind, **given)


@st.composite
def placed(draw: st.DrawFn, name: str) -> Entity:
    """An entity with two frames or one that needs no mass behind it."""
    return draw(
        st.one_of(
            st.builds(Displacement, st.just(name), translation=vectors, rotation=rotations),
            st.builds(
                DHDisplacement,
                st.just(name),
                a=numbers,
                alpha=numbers,
                d=numbers,
                theta=numbers,
                convention=st.sampled_from(["standard", "modified"]),
            ),
        )
    )


class _Tree:
    """Grows entities and connections; ``free`` lists the ports that further ones can be attached to."""

    def __init__(self, free: list[str], taken: set[str]):
        self.free, self.taken = free, taken
        self.entities: list[Entity] = []
        self.connections: list[tuple[str, ...]] = []

    def name(self, draw: st.DrawFn) -> str:
        name = draw(names.filter(lambda n: n not in self.taken))
        self.taken.add(name)
        return name

    def grow(self, draw: st.DrawFn, depth: int) -> None:
        start = draw(st.sampled_from(self.free)) if self.free else None
        what = draw(st.sampled_from(["joint", "joint", "placed", "force", "assembly" if depth else "joint"]))
        if what == "assembly":
            entity, inside, outside = draw(assemblies(self.name(draw), depth - 1))
        elif what == "force":
            wrench = draw(st.tuples(*[numbers] * 6))
            axes = draw(st.sampled_from(["local", "aligned", "world"]))
            entity = ForceElement(self.name(draw), wrench=wrench, expressed_in=axes)
            inside, outside = "frame", []
        elif what == "placed":
            entity = draw(placed(self.name(draw)))
            inside, outside = draw(st.sampled_from([("a", ["b"]), ("b", ["a"])]))
        else:
            entity = draw(joints(self.name(draw)))
            body = draw(bodies(self.name(draw)))
            inside, far = draw(st.sampled_from([("a", "b"), ("b", "a")]))
            outside = []
            short = draw(st.booleans())
            self.connections.append((f"{entity.name}.{far}", body.name if short else f"{body.name}.origin"))
            self.entities.append(body)
            self.free += [f"{body.name}.{port.name}" for port in body.ports]
        self.entities.append(entity)
        if start is None:
            self.entry = f"{entity.name}.{inside}"
        else:
            ends = [start, f"{entity.name}.{inside}"]
            self.connections.append(tuple(draw(st.permutations(ends))))
        self.free += [f"{entity.name}.{port}" for port in outside]


@st.composite
def assemblies(draw: st.DrawFn, name: str, depth: int) -> tuple[Assembly, str, list[str]]:
    """An assembly, the port to enter it by, and other ports."""
    tree = _Tree([], set())
    tree.grow(draw, depth)
    for _ in range(draw(st.integers(0, 2)) if tree.free else 0):
        tree.grow(draw, depth)
    inner = [
        tree.entry,
        *draw(st.lists(st.sampled_from(tree.free), unique=True, max_size=2) if tree.free else st.just([])),
    ]
    outer = draw(st.lists(names, unique=True, min_size=len(inner), max_size=len(inner)))
    made = Assembly(
        name, entities=tree.entities, connections=tree.connections, exposes=dict(zip(outer, inner, strict=True))
    )
    return made, outer[0], outer[1:]


contexts = st.builds(
    Context,
    gravity=st.one_of(
        vectors,
        st.builds(UniformGravity, g=vectors, treat_as=st.sampled_from(["field", "acceleration"])),
        st.builds(CentralGravity, mu=numbers, centre=vectors),
    ),
    base=st.one_of(
        st.just("fixed"),
        st.builds(HarmonicMotion, offset=vectors, frequency=numbers, axis=units(), swing=numbers, swing_phase=numbers),
        st.just(HarmonicMotion()),
    ),
)


@st.composite
def models(draw: st.DrawFn) -> Model:
    """Good models: trees with every kind of entity and joint, in any order, under any context."""
    root = draw(st.one_of(st.just("world"), names))
    tree = _Tree([f"{root}.frame", root], {root})
    tree.entities.append(ReferenceFrame(root))
    for _ in range(draw(st.integers(0, 4))):
        tree.grow(draw, depth=2)
    entities = draw(st.permutations(tree.entities))
    context = draw(contexts)
    if any(isinstance(entity, RigidBody) for entity in entities) and draw(st.booleans()):
        context = Context(gravity=context.gravity, base="free")
    title = draw(st.one_of(names, st.just(""), st.just(" a  b "), st.just('quo"te\\')))
    return Model(title, entities, tree.connections, context)
