"""Models from texts: formats, what messages call them, and that no file outside the given folder is opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gyrostat as gs
from gyrostat.view.scene.mesh_places import find_mesh
from tests.io.urdf.test_urdf import TWO, robot

MJCF = """<mujoco model="m"><worldbody><body name="b"><joint name="j"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""
HEAD = '<robot name="r" xmlns:xacro="http://ros.org/xacro">'
XACRO = TWO.replace('<robot name="r">', f'{HEAD}<xacro:property name="m" value="2"/>')
XACRO = XACRO.replace('value="1.5"', 'value="${2*m}"')
YAML = """gyrostat: 1
name: pendulum
entities:
  - reference_frame: world
  - joint: hinge
    kind: revolute
    axis: y
  - rigid_body: bob
    mass: 1.0
    com: [0, 0, -1]
connections:
  - [world.frame, hinge.a]
  - [hinge.b, bob.origin]
"""
SDF = """<sdf version="1.9"><model name="two"><link name="base"/><link name="bob"/>
<joint name="hinge" type="continuous"><parent>base</parent><child>bob</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""
MESH = """<link name="base"><visual><geometry><mesh filename="{}"/></geometry></visual></link>"""
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.mark.parametrize(
    ("text", "format", "dofs"),
    [
        (TWO, "urdf", ("hinge",)),
        (MJCF, "mjcf", ("j",)),
        (XACRO, "xacro", ("hinge",)),
        (SDF, "sdf", ("hinge",)),
        (YAML, "yaml", ("hinge",)),
    ],
)
def test_every_format_is_read_and_guessed_and_equals_the_file(tmp_path, text, format, dofs):
    if format == "mjcf":
        pytest.importorskip("mujoco")
    if format == "xacro":
        pytest.importorskip("xacrodoc")
    suffix = {"urdf": ".urdf", "sdf": ".sdf", "mjcf": ".xml", "xacro": ".xacro", "yaml": ".yaml"}[format]
    (tmp_path / f"r{suffix}").write_text(text)
    for given in (None, format):
        model = gs.load_string(text, given)
        assert model.dofs == dofs
        assert model == gs.load(tmp_path / f"r{suffix}")
    assert gs.load_string("\ufeff\n" + text if format != "yaml" else text).dofs == dofs
    assert gs.load_string(text, base="free").nv == 7
    assert gs.audit_string(text).ok


def test_a_declaration_and_comments_come_before_the_guessed_tag():
    assert gs.load_string(f'<?xml version="1.0"?>\n<!-- <mujoco> ${{x}} <xacro:y/> -->\n{TWO}').dofs == ("hinge",)


def test_messages_call_the_text_by_its_format_and_count_its_lines():
    bad = TWO.replace('value="1.5"', 'value="-1"')
    with pytest.raises(gs.SpecError, match=r"link 'base' \(<text>\.urdf:2\): the mass must not be negative"):
        gs.load_string(bad)
    assert [(f.file, f.line, f.rule) for f in gs.audit_string(bad).errors] == [
        ("<text>.urdf", 2, "mass"),
        ("<text>.urdf", 3, "mass"),
    ]
    with pytest.raises(gs.LoadError, match=r"<text>\.urdf:1.*is not well-formed"):
        gs.load_string("<robot>")
    with pytest.raises(gs.SpecError, match=r"<text>\.yaml:6"):
        gs.load_string(YAML.replace("revolute", "revolut"))


def test_errors_of_a_text_are_accepted_with_one_warning_that_names_audit_string():
    thin = TWO.replace('izz="0.05"', 'izz="0.5"')
    with pytest.warns(gs.ModelWarning, match=r"^<text>\.urdf: 2 errors accepted.*gs\.audit_string\(text\)") as told:
        gs.load_string(thin)
    assert len(told) == 1 and told[0].filename == __file__
    with pytest.raises(gs.SpecError, match="triangle"):
        gs.load_string(thin, policy="strict")
    assert len(gs.audit_string(thin, policy="repair").repaired) == 2


# -------------------------------------------------------------------------------------------- mistaken for a path
@pytest.mark.parametrize("text", [TWO, "  \n" + MJCF, YAML, "<robot/>", "<not xml at all"])
@pytest.mark.parametrize("read", [gs.load, gs.audit])
def test_a_text_given_as_a_path_is_told_so(read, text):
    with pytest.raises(gs.LoadError, match=r"is the text of a model, not the path.*gs\.load_string\(text\)") as caught:
        read(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("robot.urdf", r"'robot\.urdf' is the path of a file, not the text of a model.*gs\.load\(path\)"),
        (TWO.encode(), r"the model must be a text.*text\.decode\('utf-8'\)"),
        (Path("robot.urdf"), r"the model must be a text.*gs\.load\(path\) reads a file"),
        (None, "the model must be a text, got nothing"),
        ("", "there is nothing|nothing in it|empty"),
    ],
)
def test_what_is_no_text_is_refused(given, told):
    with pytest.raises(gs.SpecError, match=told):
        gs.load_string(given)


def test_options_that_mean_nothing_are_refused(tmp_path):
    with pytest.raises(
        gs.SpecError, match=r"format must be one of urdf, sdf, mjcf, xacro, yaml or None, got 'udrf'.*'urdf'"
    ):
        gs.load_string(TWO, "udrf")
    with pytest.raises(gs.LoadError, match="there is no folder"):
        gs.load_string(TWO, folder=tmp_path / "nowhere")
    with pytest.raises(gs.SpecError, match=r"arguments are for \.xacro"):
        gs.load_string(TWO, arguments={"a": 1})
    with pytest.raises(gs.SpecError, match="are for URDF, SDF and MJCF"):
        gs.load_string(YAML, policy="repair")


# -------------------------------------------------------------------------------------------- files
@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a mesh, in which the process is, and a mesh outside of it."""
    (tmp_path / "outside.obj").write_text(TRIANGLE)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "a.obj").write_text(TRIANGLE)
    monkeypatch.chdir(inside)
    return inside


def mesh(text, **options):
    model = gs.load_string(text, **options)
    return model, model["base.shapes"][0].file


def test_without_a_folder_meshes_are_references_and_nothing_is_opened(place):
    for name in ("a.obj", "package://inside/a.obj", f"{place}/a.obj", f"file://{place}/a.obj", "../outside.obj"):
        text = robot(MESH.format(name))
        assert gs.audit_string(text).findings == ()
        model, file = mesh(text)
        assert not os.path.isabs(file)
        assert find_mesh(model, "base", file)[0] is None  # nor does the viewer open it
        assert find_mesh(model, "base", file, [place])[0] == (
            None if ".." in name or "package" in name else (place / "a.obj").resolve()
        )


def test_with_a_folder_meshes_are_found_inside_it_alone(place):
    assert mesh(robot(MESH.format("a.obj")), folder=place)[1] == (place / "a.obj").resolve().as_posix()
    assert mesh(robot(MESH.format("package://inside/a.obj")), folder=".")[1].endswith("inside/a.obj")
    for name in ("../outside.obj", str(place.parent / "outside.obj")):
        text = robot(MESH.format(name))
        assert [f.rule for f in gs.audit_string(text, folder=place).warnings] == ["mesh-path"]
        model, file = mesh(text, folder=place)
        assert find_mesh(model, "base", file)[0] is None


def test_a_mesh_of_a_yaml_text_is_followed_in_roots_alone(place):
    shape = f"    shapes:\n      - {{kind: mesh, size: [1, 1, 1], file: {place}/a.obj}}\n"
    model = gs.load_string(YAML.replace("    com:", shape + "    com:"))
    assert find_mesh(model, "bob", f"{place}/a.obj")[0] is None
    assert find_mesh(model, "bob", f"{place}/a.obj", [place])[0] is not None


def test_mjcf_texts_include_files_of_the_folder_alone(place):
    pytest.importorskip("mujoco")
    body = MJCF[MJCF.index("<body") : MJCF.index("</worldbody>")]
    (place / "arm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    text = '<mujoco><include file="arm.xml"/></mujoco>'
    with pytest.raises(gs.SpecError, match="the included file is a mere reference: the text came without a folder"):
        gs.load_string(text)
    assert gs.load_string(text, folder=place).dofs == ("j",)
    assert gs.load_string(text, roots=[place]).dofs == ("j",)
    with pytest.raises(gs.SpecError, match="leads out of the allowed folders"):
        gs.load_string('<mujoco><include file="../arm.xml"/></mujoco>', folder=place)


def test_mjcf_texts_whose_inertia_needs_a_mesh_say_so(place):
    pytest.importorskip("mujoco")
    geom = '<asset><mesh name="a" file="a.obj"/></asset><worldbody><body><joint/><geom type="mesh" mesh="a"/></body>'
    with pytest.raises(gs.SpecError, match="depends on this mesh, which is a mere reference"):
        gs.load_string(f"<mujoco>{geom}</worldbody></mujoco>")


def test_xacro_texts_include_files_of_the_folder_alone(place):
    pytest.importorskip("xacrodoc")
    (place / "part.xacro").write_text(f'{HEAD}<link name="base"/></robot>')
    for name in ("part.xacro", f"{place}/part.xacro", "$(find inside)/part.xacro"):
        text = f'{HEAD}<xacro:include filename="{name}"/></robot>'
        with pytest.raises(gs.LoadError, match=r"<text>\.xacro.*(outside the allowed folders|is not known)"):
            gs.load_string(text)
        assert gs.load_string(text, folder=place).name == "r"


def test_arguments_of_a_xacro_text_are_taken():
    pytest.importorskip("xacrodoc")
    text = XACRO.replace('<xacro:property name="m" value="2"/>', '<xacro:arg name="m" default="1"/>')
    text = text.replace("${2*m}", "$(arg m)")
    assert gs.load_string(text, arguments={"m": 3})["arm.mass"] == 3.0
