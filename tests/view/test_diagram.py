"""Component diagrams: well-formed, complete, nothing on top of anything else."""

from __future__ import annotations

import itertools
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gyrostat as gs
from gyrostat.view.diagram.diagram import diagram
from gyrostat.view.diagram.layout import layout
from tests.support.accepting import load_accepted
from tests.support.random_models import various_tree

SVG = "{http://www.w3.org/2000/svg}"


def leg(name: str) -> gs.Assembly:
    thigh = gs.RigidBody("thigh", mass=1, inertia=(1, 1, 1), frames={"knee": (0, 0, -0.4)})
    shin = gs.RigidBody("shin", mass=1, inertia=(1, 1, 1), frames={"foot": (0, 0, -0.4)})
    hip, knee = gs.Joint("hip", "revolute", axis="y"), gs.Joint("knee", "revolute", axis="y")
    parts = gs.chain("hip.b", thigh, knee, shin)
    return gs.assembly(name, hip, parts, exposes={"hip": "hip.a", "foot": "shin.foot"})


def walker() -> gs.Model:
    trunk = gs.RigidBody("trunk", mass=5, inertia=(1, 1, 1), frames={"left": (0, 0.1, 0), "right": (0, -0.1, 0)})
    return gs.assemble(
        "walker",
        trunk,
        leg("left_leg"),
        leg("right_leg"),
        gs.RigidBody("toe", mass=1, inertia=(1, 1, 1)),
        gs.connect("world", "trunk.origin"),
        gs.connect("trunk.left", "left_leg.hip"),
        gs.connect("trunk.right", "right_leg.hip"),
        gs.connect("left_leg.foot", "toe.origin"),
        base="free",
    )


def models() -> dict[str, gs.Model]:
    return {
        "lwr": gs.robots.kuka_lwr4(),
        "chain": gs.robots.chain(40),
        "tree": gs.robots.tree(30),
        "various": various_tree(15, 2),
        "walker": walker(),
    }


def parse(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # ours, not a file of somebody else


@pytest.mark.parametrize("name", ["lwr", "chain", "tree", "various", "walker"])
def test_every_entity_port_and_connection_is_drawn_once(name):
    model = models()[name]
    root = parse(diagram(model))
    drawn = [g.get("data-entity") for g in root.iter(f"{SVG}g") if g.get("data-entity")]
    assert sorted(drawn) == sorted(model.wiring.entities)
    for g in root.iter(f"{SVG}g"):
        if g.get("data-entity"):
            ports = model.wiring.entities[g.get("data-entity")].ports
            assert len(g.findall(f"{SVG}rect")) == 1 + sum(port.kind == "spatial" for port in ports)
            assert len(g.findall(f"{SVG}circle")) == sum(port.kind == "scalar" for port in ports)
    found = layout(model)
    lines = [*found.lines, *found.curves]
    for k, group in enumerate(model.wiring.groups):
        assert sum(line == k for line, _ in lines) == len(group) - 1


@pytest.mark.parametrize("name", ["lwr", "chain", "tree", "various", "walker"])
def test_lines_end_in_ports(name):
    model = models()[name]
    found = layout(model)
    for group, points in [*found.lines, *found.curves]:
        ports = [found.boxes[entity].at(port) for entity, port in model.wiring.groups[group]]
        assert points[-1] in ports
        assert points[0] in ports


@pytest.mark.parametrize("name", ["lwr", "chain", "tree", "various", "walker"])
def test_boxes_do_not_overlap_and_are_on_the_sheet(name):
    found = layout(models()[name])
    boxes = list(found.boxes.values())
    for a, b in itertools.combinations(boxes, 2):
        apart = a.x + a.w <= b.x or b.x + b.w <= a.x or a.y + a.h <= b.y or b.y + b.h <= a.y
        assert apart, f"{a.name} and {b.name}"
    for box in boxes:
        assert box.x >= 0.0
        assert box.y >= 30.0
        assert box.x + box.w <= found.width
        assert box.y + box.h <= found.height
    assert found.width < 2000.0


def test_assemblies_are_frames_around_their_parts():
    found = layout(walker())
    assert [name for name, *_ in found.frames] == ["left_leg", "right_leg"]
    for name, x, y, w, h in found.frames:
        for box in found.boxes.values():
            inside = x < box.x and box.x + box.w < x + w and y < box.y and box.y + box.h < y + h
            assert inside == box.name.startswith(f"{name}."), box.name


def test_a_drive_is_one_frame_with_dashed_lines():
    model = gs.robots.kuka_lwr4().with_drive("q2", rotor_inertia=1e-4, gear_ratio=100.0, stiffness=1e4, viscous=0.1)
    text = diagram(model)
    assert text.count('data-assembly="q2_drive"') == 1
    assert 'class="shaft"' in text
    [(_, x, y, w, h)] = layout(model).frames
    for box in layout(model).boxes.values():
        inside = x < box.x and box.x + box.w < x + w and y < box.y and box.y + box.h < y + h
        assert inside == box.name.startswith("q2_drive.")


def test_names_are_escaped():
    body = gs.RigidBody("a<b>&c;", mass=1, inertia=(1, 1, 1), frames={"<tip>": (0, 0, 1)})
    model = gs.assemble(
        '"<script>alert(1)</script>\x00\x1b', gs.chain("world", gs.Joint("&j", "revolute", axis="x"), body)
    )
    text = diagram(model)
    root = parse(text)
    assert "<script" not in text
    assert {g.get("data-entity") for g in root.iter(f"{SVG}g")} >= {"a<b>&c;", "&j"}


def test_open_ports_are_hollow_and_shafts_are_round():
    root = parse(diagram(gs.robots.pendulum()))
    circles = [c for c in root.iter(f"{SVG}circle") if c.get("stroke")]
    assert len(circles) == 1  # the shaft of the hinge, which nothing is connected with
    assert circles[0].get("fill") == "#ffffff"


def test_a_loop_is_closed_by_a_curve():
    bar = [gs.RigidBody(f"bar{k}", mass=1, inertia=(1, 1, 1), frames={"end": (0, 0, 1)}) for k in range(2)]
    joints = [gs.Joint(f"j{k}", "revolute", axis="y") for k in range(3)]
    parts = gs.chain("world", joints[0], bar[0], joints[1], bar[1], joints[2])
    model = gs.assemble("loop", parts, gs.Displacement("foot", translation=(1, 0, 0)), gs.connect("world", "foot.a"),
                        gs.connect("foot.b", "j2.b"))  # fmt: skip
    found = layout(model)
    assert len(found.curves) == 1
    assert "<path" in diagram(model)


def test_what_the_reference_frame_does_not_reach_is_drawn_too():
    model = gs.Model("m", (gs.ReferenceFrame("world"), gs.RigidBody("lost", mass=1)))
    assert set(layout(model).boxes) == {"world", "lost"}


def test_a_humanoid_fits_a_page_in_width():
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    path = folder / "talos_data" / "robots" / "talos_reduced.urdf"
    if not path.is_file():
        pytest.skip("the package example-robot-data is not installed")
    model = load_accepted(path, base="free")
    found = layout(model)
    assert len(found.boxes) > 100
    assert found.width < 1700.0
    parse(diagram(model))


def test_no_model_is_told():
    with pytest.raises(gs.GyrostatError, match="diagram"):
        diagram("arm.urdf")
