"""Audits: every defect with file, line and rule; nothing passed over in silence."""

from __future__ import annotations

import csv
import json
import sysconfig
from pathlib import Path

import pytest

import gyrostat as gs
from tests.support.reference_data import reference

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
RULES = {
    "triangle inequality violated": {"inertia-triangle", "inertia-noise"},
    "inertia not positive semidefinite": {"inertia-positive", "inertia-noise"},
    "mass without inertia": {"point-mass"},
    "radius of gyration > 1 m": {"inertia-units"},
    "zero mass on moving joint": {"moving-massless"},
}

INERTIA = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'
GOOD = f"""<?xml version="1.0"?>
<robot name="r">
  <link name="base">
    <inertial><mass value="3"/>{INERTIA}</inertial>
  </link>
  <link name="finger">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <mass value="2"/>
      {INERTIA}
    </inertial>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="finger"/>
    <origin xyz="0 0 1"/>
    <axis xyz="0 0 1"/>
    {LIMIT}
  </joint>
</robot>
"""


@pytest.fixture
def audited(tmp_path):
    """The audit of a text; errors and warnings as (line, severity, rule)."""

    def run(text, **options):
        (tmp_path / "r.urdf").write_text(text, "utf-8")
        audit = gs.audit(tmp_path / "r.urdf", **options)
        return audit, [(f.line, f.severity, f.rule) for f in audit if f.severity != "ignored"]

    return run


# -------------------------------------------------------------------------------------------- known defects
def test_every_known_defect_is_reported_with_link_line_and_rule():
    rows = [r for r in csv.reader(reference("erd_urdf_defects.csv").read_text("utf-8").splitlines()) if len(r) == 8][1:]
    assert len(rows) == 160
    audits = {}
    for file, link, _, defect, *_ in rows:
        if not (FOLDER / file).exists():
            pytest.skip("needs example-robot-data")
        if file not in audits:
            lines = (FOLDER / file).read_text("utf-8").splitlines()
            audits[file] = gs.audit(FOLDER / file), lines
        audit, lines = audits[file]
        found = [f for f in audit if f.owner == f"link {link!r}" and f.rule in RULES[defect]]
        assert len(found) == 1, f"{file} {link}: {defect}"
        assert f"link[{link}]" in found[0].element
        tag = found[0].element.rpartition("/")[2].partition("[")[0]
        assert f"<{tag}" in lines[found[0].line - 1]


# -------------------------------------------------------------------------------------------- one mistake each
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ('mass value="2"', 'mass value="-2"', [(9, "error", "mass")]),
        ('mass value="2"', 'mass value="42"', [(9, "warning", "mass-units")]),
        ('mass value="3"', 'mass value="3000"', [(4, "warning", "mass-units")]),
        ('mass value="2"', 'mass value="0"', [(9, "error", "inertia-without-mass"), (9, "error", "moving-massless")]),
        ('mass value="2"', 'mass valeu="2"', [(9, "error", "misspelt-attribute"), (9, "error", "missing")]),
        ('<mass value="2"/>', "<mass>2</mass>", [(9, "warning", "text"), (9, "error", "missing")]),
        ('izz="0.1"', 'izz="0.3"', [(4, "error", "inertia-triangle")]),
        ('iyy="0.1"', 'iyy="-0.1"', [(4, "error", "inertia-positive")]),
        ('izz="0.1"', 'izz="0"', [(4, "warning", "inertia-rod")]),
        ('izz="0.1"', 'izz="0.2000000001"', [(4, "warning", "inertia-rounding")]),
        (INERTIA, INERTIA.replace("0.1", "9e4"), [(4, "warning", "inertia-units")]),
        (' izz="0.1"', "", [(4, "error", "missing")]),
        ('xyz="0 0 0.1"', 'xyz="0 0 120"', [(8, "warning", "far-origin")]),
        ('xyz="0 0 1"/>\n    <axis', 'xyz="0 0 1" rpy="0 90 0"/>\n    <axis', [(16, "warning", "rpy-degrees")]),
        ('axis xyz="0 0 1"', 'axis xyz="0 0 0"', [(17, "error", "axis")]),
        ('axis xyz="0 0 1"', 'axis xyz="0 1 1"', [(17, "error", "axis")]),
        ('axis xyz="0 0 1"', 'axis xyz="0.7071 0.7071 0"', [(17, "warning", "axis")]),
        ('<axis xyz="0 0 1"/>', "", [(13, "warning", "axis-missing")]),
        ('<axis xyz="0 0 1"/>', '<axsi xyz="0 0 1"/>',
         [(13, "warning", "axis-missing"), (17, "error", "misspelt-tag")]),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><axis xyz="0 1 0"/>', [(17, "error", "duplicate-element")]),
        ("<inertial>\n", "<inertail>\n", "xml"),
        ('lower="-1"', 'lower="2"', [(18, "error", "limit-order")]),
        ('lower="-1" upper="1"', "", [(18, "warning", "limit-zero")]),
        ('lower="-1"', 'lower="-180"', [(18, "warning", "limit-degrees")]),
        ('effort="5"', 'effort="-5"', [(18, "warning", "limit-negative")]),
        ('effort="5"', 'effort="x"', [(18, "warning", "number")]),
        (LIMIT, "", [(13, "warning", "limit-missing")]),
        (LIMIT, LIMIT + '<dynamics damping="0.5"/>', []),
        (LIMIT, LIMIT + '<dynamics damping="-0.5"/>', [(18, "error", "dynamics")]),
        (LIMIT, LIMIT + '<mimic joint="hinge"/>', [(18, "error", "mimic")]),
        (LIMIT, LIMIT + '<pose xyz="0 0 1"/>', [(18, "warning", "unknown-tag")]),
        (LIMIT, LIMIT + '<inertial/>', [(18, "error", "misplaced-tag")]),
        ("</robot>", '<Link name="payload"/></robot>', [(20, "error", "misspelt-tag")]),
        ("</robot>", '<jiont name="payload"/></robot>', [(20, "error", "misspelt-tag")]),
        (LIMIT, LIMIT + '<mimic joint="hing"/>', [(18, "error", "unknown-joint")]),
        (LIMIT, LIMIT + "<spring/>", [(18, "warning", "unknown-tag")]),
        ('type="revolute"', 'type="revolut"', [(13, "error", "joint-type")]),
        ('child link="finger"', 'child link="fingr"', [(15, "error", "unknown-link")]),
        ('child link="finger"', 'child link="base"', [(13, "error", "self-joint")]),
        ('<parent link="base"/>', "", [(13, "error", "missing")]),
        ('link name="finger"', 'link name="base"', [(6, "error", "unique-name"), (15, "error", "unknown-link")]),
        ('link name="finger"', "link", [(6, "error", "missing"), (15, "error", "unknown-link")]),
        ('robot name="r"', "robot", [(2, "warning", "robot-name")]),
        ('robot name="r"', 'robot name="r" colour="red"', [(2, "warning", "unknown-attribute")]),
        ("</robot>", "<xacro:x xmlns:xacro='http://x'/></robot>", [(20, "error", "xacro")]),
        ("</robot>", "<link name='loose'/></robot>", [(20, "error", "several-roots")]),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_its_line(audited, old, new, expected):
    audit, found = audited(GOOD.replace(old, new, 1))
    if expected == "xml":
        assert [f.rule for f in audit] == ["xml-syntax"]
        return
    assert found == expected
    for f in audit:
        assert str(f).startswith(f"{f.file}:{f.line}: {f.severity}: ")
        assert f.element.startswith("robot")


def test_a_line_of_an_audit_says_what_was_found_and_what_to_do(audited):
    audit, _ = audited(GOOD.replace('mass value="2"', 'mass value="-2"'))
    [error] = audit.errors
    assert error.element == "robot/link[finger]/inertial/mass"
    assert str(error).endswith(
        "r.urdf:9: error: link 'finger': the mass must not be negative, found -2 kg, fix: give the mass in kg"
    )
    assert str(audit).splitlines()[-1].endswith("1 error, 0 warnings, 0 ignored, 0 repaired")


def test_units_are_guessed(audited):
    gmm = GOOD.replace('ixx="0.1"', 'ixx="9e5"').replace('iyy="0.1"', 'iyy="9e5"').replace('izz="0.1"', 'izz="9e5"')
    assert all("it looks like g mm^2" in f.fix for f in audited(gmm)[0].warnings)


def test_a_misspelt_inertial_is_an_error(audited):
    text = GOOD.replace("<inertial>", "<inertail>").replace("</inertial>", "</inertail>")
    audit, found = audited(text)
    assert (4, "error", "misspelt-tag") in found
    assert any("did you mean 'inertial'?" in f.fix for f in audit.errors)


def test_everything_ignored_is_listed(audited):
    box = '<geometry><box size="1 1 1"/></geometry>'
    shapes = f"<visual>{box}</visual><collision>{box}</collision>"
    more = '<calibration rising="0"/><safety_controller k_velocity="1"/><dynamics damping="0"/></joint>'
    text = GOOD.replace("</link>", f"{shapes}</link>", 1).replace("</joint>", more)
    extra = '<gazebo/><transmission name="t"/><material name="m"/><sensor name="s"/><ros2_control name="c"/></robot>'
    audit, found = audited(text.replace("</robot>", extra))
    assert found == []
    assert sorted(f.rule for f in audit.ignored) == [
        "unused-calibration", "unused-gazebo", "unused-material", "unused-ros2_control", "unused-safety-controller",
        "unused-sensor", "unused-transmission",
    ]  # fmt: skip


def test_meshes_are_looked_for_inside_allowed_folders_only(audited, tmp_path):
    (tmp_path / "pkgs" / "hand").mkdir(parents=True)
    (tmp_path / "pkgs" / "hand" / "a.stl").write_text("")
    (tmp_path / "b.stl").write_text("")

    def told(name, roots=()):
        shape = f'<visual><geometry><mesh filename="{name}"/></geometry></visual></link>'
        audit, found = audited(GOOD.replace("</link>", shape, 1), roots=roots)
        return [f.rule for f in audit.ignored], [rule for _, _, rule in found]

    assert told("b.stl") == ([], [])
    assert told("package://hand/a.stl", [tmp_path / "pkgs"]) == ([], [])
    assert told("package://hand/a.stl")[1] == ["mesh-missing"]
    assert told("c.stl")[1] == ["mesh-missing"]
    for name in ("../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://localhost/a.stl"):
        assert told(name)[1] == ["mesh-path"]
    assert told("package://hand/../../b.stl", [tmp_path / "pkgs"])[1] == ["mesh-path"]


# -------------------------------------------------------------------------------------------- the object
def test_an_audit_goes_to_json(audited):
    audit, _ = audited(GOOD.replace('mass value="2"', 'mass value="-2"'))
    data = json.loads(audit.to_json())
    assert data["ok"] is False
    [error] = [f for f in data["findings"] if f["severity"] == "error"]
    assert (error["line"], error["rule"]) == (9, "mass")


def test_yaml_is_audited_too(tmp_path):
    path = tmp_path / "arm.yaml"
    gs.save(gs.robots.chain(2), path)
    assert gs.audit(path).ok
    path.write_text(path.read_text("utf-8").replace("mass: ", "mass: -"), "utf-8")
    audit = gs.audit(path)
    assert {f.rule for f in audit.errors} == {"mass"}
    assert all(f.line > 1 for f in audit.errors)


def test_a_file_that_is_not_there_raises(tmp_path):
    for name in ("no.urdf", "no.yaml", "no.txt"):
        with pytest.raises(gs.LoadError):
            gs.audit(tmp_path / name)


def test_very_many_findings_are_counted(audited):
    audit, _ = audited(GOOD.replace("</robot>", "<gazebo/>" * 21_000 + "</robot>"))
    assert "1000 more findings" in str(audit)


@pytest.mark.slow
def test_the_whole_wheel_is_audited_in_order_of_lines():
    if not FOLDER.exists():
        pytest.skip("needs example-robot-data")
    for path in FOLDER.rglob("*.urdf"):
        lines = [f.line for f in gs.audit(path)]
        assert lines == sorted(lines)
