"""xacro: what it expands to, and what a file cannot make it do."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.io.xacro.expand import expanded
from gyrostat.io.xacro.expression import Evaluator, RefusedExpressionError
from tests.support.examples import few

pytest.importorskip("xacrodoc")

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
MODEL = f"""{HEAD}
  <xacro:arg name="length" default="0.5"/>
  <xacro:arg name="tool" default="false"/>
  <xacro:property name="l" value="$(arg length)"/>
  <xacro:property name="masses" value="${{[2*l, 0.5]}}"/>
  <xacro:include filename="parts/rod.xacro"/>
  <link name="base"/>
  <xacro:rod name="upper" mass="${{masses[0]}}" length="${{l}}"><origin xyz="0 0 ${{-l/2}}"/></xacro:rod>
  <joint name="hinge" type="continuous">
    <parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  </joint>
  <xacro:if value="$(arg tool)">
    <xacro:rod name="tool" length="0.1"><origin xyz="0 0 0"/></xacro:rod>
    <joint name="flange" type="fixed">
      <parent link="upper"/><child link="tool"/><origin xyz="0 0 ${{-l}}" rpy="0 ${{radians(90)}} 0"/>
    </joint>
  </xacro:if>
  <xacro:unless value="${{l > 0.4}}"><xacro:property name="never" value="${{nothing}}"/></xacro:unless>
</robot>
"""
ROD = f"""{HEAD}
  <xacro:macro name="rod" params="name mass:=1.0 length *place">
    <link name="${{name}}"><inertial>
      <xacro:insert_block name="place"/><mass value="${{mass}}"/>
      <inertia ixx="${{mass*length**2/12}}" ixy="0" ixz="0" iyy="${{mass*length**2/12}}" iyz="0"
               izz="${{mass*pow(0.01, 2)/2}}"/></inertial></link>
  </xacro:macro>
</robot>
"""
LINK = '<link name="base"/>'


@pytest.fixture
def model(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "rod.xacro").write_text(ROD, "utf-8")
    (tmp_path / "arm.xacro").write_text(MODEL, "utf-8")
    return tmp_path / "arm.xacro"


def refused(tmp_path, body, *words, **options):
    """The message with which a document with this body is refused; it must not take long."""
    path = tmp_path / "x.xacro"
    path.write_text(f"{HEAD}\n{body}\n{LINK}</robot>", "utf-8")
    start = time.perf_counter()
    with pytest.raises(gs.LoadError) as error:
        gs.load(path, **options)
    assert time.perf_counter() - start < 12.0
    for word in words:
        assert word in str(error.value)
    assert ".xacro" in str(error.value)
    return str(error.value)


# ------------------------------------------------------------------------------------------------ what it does
def test_properties_macros_blocks_and_includes_make_a_model(model):
    rod = gs.load(model)
    assert rod.dofs == ("hinge",)
    assert rod["upper.mass"] == 1.0
    assert gs.crba(rod, [0.0]) == pytest.approx(1.0 * 0.5**2 / 3)


def test_arguments_replace_defaults(model):
    rod = gs.load(model, arguments={"length": 0.8, "tool": True})
    assert rod["upper.mass"] == pytest.approx(1.6)
    place = gs.fk(rod, [0.0])["tool"]
    assert place.p == pytest.approx([0, 0, -0.8])
    assert place.R[0, 2] == pytest.approx(1.0)


def test_lines_of_messages_are_those_of_the_expanded_document(tmp_path):
    body = '<link name="x"><inertial><mass value="${-1}"/></inertial></link>'
    path = tmp_path / "bad.xacro"
    path.write_text(f"{HEAD}{body}</robot>", "utf-8")
    with pytest.raises(gs.SpecError, match=r"bad\.xacro \(expanded\):4"):
        gs.load(path)


def test_packages_are_found_around_the_file_and_in_roots(tmp_path):
    inner, other = tmp_path / "robot_description" / "urdf", tmp_path / "ws" / "parts_description"
    inner.mkdir(parents=True)
    other.mkdir(parents=True)
    (tmp_path / "robot_description" / "names.xacro").write_text(
        f'{HEAD}<xacro:property name="name" value="base"/></robot>', "utf-8"
    )
    (other / "sizes.xacro").write_text(f'{HEAD}<xacro:property name="width" value="0.25"/></robot>', "utf-8")
    path = inner / "robot.urdf.xacro"
    path.write_text(
        f'{HEAD}<xacro:include filename="$(find robot_description)/names.xacro"/>'
        f'<xacro:include filename="$(find parts_description)/sizes.xacro"/>'
        f'<link name="${{name}}"><visual><geometry><box size="${{width}} 1 1"/></geometry></visual></link></robot>',
        "utf-8",
    )
    found = gs.load(path, roots=[tmp_path / "ws"])
    assert found["base.shapes"][0].size == (0.25, 1.0, 1.0)
    with pytest.raises(gs.LoadError, match=r"package 'parts_description' is not known.*roots"):
        gs.load(path)


def test_meshes_of_found_packages_keep_their_package(tmp_path):
    folder = tmp_path / "bot"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "a.stl").write_text("solid\nendsolid\n")
    path = folder / "bot.xacro"
    mesh = '<visual><geometry><mesh filename="file://$(find bot)/meshes/a.stl"/></geometry></visual>'
    path.write_text(f'{HEAD}<link name="base">{mesh}</link></robot>', "utf-8")
    text = expanded(path.read_text("utf-8"), str(path))
    assert 'filename="package://bot/meshes/a.stl"' in text
    assert gs.load(path)["base.shapes"][0].file.endswith("meshes/a.stl")


def test_yaml_beside_the_model_can_be_read(tmp_path):
    (tmp_path / "sizes.yaml").write_text("arm: {length: 0.5, angle: !degrees 90}\nlist: [1, 2, 3]\n", "utf-8")
    body = (
        '<xacro:property name="c" value="${xacro.load_yaml(\'sizes.yaml\')}"/>'
        "<link name=\"base\"><visual><geometry><box size=\"${c['arm']['length']} ${c.arm.angle} ${c['list'][2]}\"/>"
        "</geometry></visual></link>"
    )
    path = tmp_path / "m.xacro"
    path.write_text(f"{HEAD}{body}</robot>", "utf-8")
    assert gs.load(path)["base.shapes"][0].size == pytest.approx((0.5, np.pi / 2, 3.0))


def test_names_in_included_name_spaces_are_found(tmp_path):
    (tmp_path / "a.xacro").write_text(f'{HEAD}<xacro:property name="w" value="0.5"/></robot>', "utf-8")
    body = '<xacro:include filename="a.xacro" ns="a"/><link name="base"><visual><geometry><sphere radius="${a.w}"/>'
    path = tmp_path / "m.xacro"
    path.write_text(f"{HEAD}{body}</geometry></visual></link></robot>", "utf-8")
    assert gs.load(path)["base.shapes"][0].size == (0.5,)


# ------------------------------------------------------------------------------------------------ what it does not
HARMFUL = [
    "__import__('os').system('touch {mark}')",
    "().__class__.__bases__[0].__subclasses__()",
    "(lambda: ().__class__.__mro__)()",
    "[c for c in ().__class__.__mro__]",
    "open('{mark}', 'w')",
    "str.format('{{0.__class__}}', 1)",
    "'{{0.__class__}}'.format(1)",
    "python.vars(python.type)",
    "math.__loader__",
    "math.sin.__self__",
    "xacro.__init__",
    "exec('1')",
    "list.__init__",
    "f'{{1}}'",
    "(x := 1)",
    "print(*[1])",
    "dict(a=1)",
]


@pytest.mark.parametrize("text", HARMFUL)
def test_python_is_not_run(text):
    with pytest.raises(RefusedExpressionError):
        evaluate(text.format(mark="mark"), x=3.0)


@pytest.mark.parametrize("text", [HARMFUL[0], HARMFUL[1], HARMFUL[2]])
def test_python_is_not_run_by_a_file(tmp_path, text):
    mark = tmp_path / "mark"
    body = f'<link name="${{{text.format(mark=mark)}}}"/>'.replace("'", "&apos;")
    refused(tmp_path, body, "the expression", "Python code is not run")
    assert not mark.exists()


def test_python_put_together_from_pieces_is_not_run(tmp_path):
    mark = tmp_path / "mark"
    call = f"__import__('os').system('touch {mark}')"
    for body in (
        f'<link name="$${{{call}}}"/>',
        f"<link name=\"${{'$' + '{{' + &quot;{call}&quot;}}\"/>",
        f'<xacro:property name="p" value="{call}"/><link name="${{${{p}}}}"/>',
        f'<xacro:macro name="m" params="p"><link name="${{${{p}}}}"/></xacro:macro><xacro:m p="{call}"/>',
    ):
        (tmp_path / "x.xacro").write_text(f"{HEAD}{body}{LINK}</robot>", "utf-8")
        try:
            gs.load(tmp_path / "x.xacro")
        except gs.SpecError as error:
            assert str(error)
        assert not mark.exists()


@pytest.mark.parametrize("text", ["$(eval 1+1)", "$(env HOME)", "$(optenv HOME x)", "$(dirname)", "$(cwd)"])
def test_substitutions_other_than_arg_and_find_are_refused(tmp_path, text):
    refused(tmp_path, f'<link name="{text}"/>', "only $(arg name) and $(find package)", "x.xacro:2")


@pytest.mark.parametrize("name", ["..", "/etc", "no_such_package"])
def test_packages_elsewhere_are_not_found(tmp_path, name):
    refused(tmp_path, f'<xacro:include filename="$(find {name})/passwd"/>', "package")


def test_files_outside_are_not_read(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.xacro").write_text(f"{HEAD}</robot>", "utf-8")
    os.symlink(tmp_path / "secret.xacro", inside / "link.xacro")
    for name in ("../secret.xacro", str(tmp_path / "secret.xacro"), "link.xacro", "/etc/passwd", "../*.xacro"):
        refused(inside, f'<xacro:include filename="{name}"/>', "outside the allowed folders")
        body = f'<xacro:property name="y" value="${{xacro.load_yaml(\'{name}\')}}"/><link name="${{y}}"/>'
        if name == "link.xacro":
            refused(inside, body, "outside the allowed folders")
    path = inside / "x.xacro"
    path.write_text(f'{HEAD}<xacro:include filename="../secret.xacro"/>{LINK}</robot>', "utf-8")
    assert gs.load(path, roots=[tmp_path]).nv == 0


def test_a_missing_file_is_told_and_an_optional_one_may_be_missing(tmp_path):
    refused(tmp_path, '<xacro:include filename="none.xacro"/>', "No such file")
    (tmp_path / "y.xacro").write_text(
        f'{HEAD}<xacro:include filename="none.xacro" optional="true"/>{LINK}</robot>', "utf-8"
    )
    assert gs.load(tmp_path / "y.xacro").nv == 0


def test_entities_are_refused_also_in_included_files(tmp_path):
    bomb = '<!DOCTYPE robot [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    (tmp_path / "x.xacro").write_text(f"{bomb}{HEAD}{LINK}</robot>", "utf-8")
    with pytest.raises(gs.LoadError, match="entity declaration"):
        gs.load(tmp_path / "x.xacro")
    (tmp_path / "inner.xacro").write_text(f"{bomb}{HEAD}</robot>", "utf-8")
    refused(tmp_path, '<xacro:include filename="inner.xacro"/>', "entity declaration", "inner.xacro:1")


ENDLESS = {
    "itself": '<xacro:macro name="m" params=""><xacro:m/></xacro:macro><xacro:m/>',
    "each other": '<xacro:macro name="a"><xacro:b/></xacro:macro>'
    '<xacro:macro name="b"><xacro:a/></xacro:macro><xacro:a/>',
    "include": '<xacro:include filename="x.xacro"/>',
}


@pytest.mark.parametrize("body", ENDLESS.values(), ids=ENDLESS)
def test_what_has_no_end_is_ended(tmp_path, body):
    refused(tmp_path, body, "Hint")


def test_macros_that_double_are_stopped(tmp_path):
    levels = "".join(
        f'<xacro:macro name="m{k}"><xacro:m{k + 1}/><xacro:m{k + 1}/><xacro:m{k + 1}/></xacro:macro>' for k in range(24)
    )
    body = f'{levels}<xacro:macro name="m24"><link name="l"/></xacro:macro><xacro:m0/>'
    refused(tmp_path, body, "macros")  # too many of them, or too long, on a busy machine


def test_properties_that_double_are_stopped(tmp_path):
    doubled = "".join(f'<xacro:property name="p{k + 1}" value="${{p{k}}}${{p{k}}}"/>' for k in range(40))
    refused(tmp_path, f'<xacro:property name="p0" value="xxxxxxxxxx"/>{doubled}<link name="${{p40}}"/>', "longer than")
    refused(tmp_path, f'<xacro:property name="p0" value="x"/>{doubled}<link name="${{p2*10**9}}"/>', "arithmetic with")


def test_an_aliased_yaml_file_is_refused(tmp_path):
    (tmp_path / "bomb.yaml").write_text("a: &a [1, 2]\nb: [*a, *a]\n", "utf-8")
    body = '<xacro:property name="y" value="${xacro.load_yaml(\'bomb.yaml\')}"/><link name="${y[\'b\']}"/>'
    refused(tmp_path, body, "aliases")


def test_behind_the_expressions_stands_a_second_wall(tmp_path):
    """Were there a hole in the evaluator, the process itself could still neither read elsewhere nor start anything."""
    worker = Path(gs.__file__).parent / "io" / "xacro" / "worker.py"
    code = f"""
import importlib.util, os, socket, subprocess, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("worker", {str(worker)!r})
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)
bounds = worker.beside("sandbox")
home = Path({str(tmp_path)!r})
sandbox = bounds.Sandbox(None, None, home / "x.xacro", [], [home])
(home / "in.txt").write_text("x")
sys.addaudithook(worker.wall(sandbox, bounds.RefusedError))
print((home / "in.txt").read_text())
for attempt in (
    lambda: os.system("true"),
    lambda: subprocess.run(["true"]),
    lambda: open({str(worker)!r} + "x"),
    lambda: open("/etc/hostname"),
    lambda: open(home / "new.txt", "w"),
    lambda: os.open(home / "new.txt", os.O_CREAT | os.O_RDWR),
    lambda: os.remove(home / "in.txt"),
    lambda: socket.socket(),
):
    try:
        attempt()
    except bounds.RefusedError:
        print("refused")
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["x"] + ["refused"] * 8


def test_the_environment_is_not_seen(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "xyzzy")
    message = refused(tmp_path, '<link name="$(env SECRET_OF_MINE)"/>')
    assert "xyzzy" not in message


def test_arguments_belong_to_xacro_and_are_a_mapping(tmp_path, model):
    with pytest.raises(gs.SpecError, match="must map names to values"):
        gs.load(model, arguments=["length"])
    path = tmp_path / "plain.urdf"
    path.write_text(f"<robot name='r'>{LINK}</robot>", "utf-8")
    with pytest.raises(gs.SpecError, match=r"arguments are for \.xacro files"):
        gs.load(path, arguments={"length": 1})
    message = refused(tmp_path, '<link name="$(arg side)"/>', "argument 'side' has no value")
    assert "arguments={'side': ...}" in message


def test_a_file_can_ask_to_stop(tmp_path):
    refused(tmp_path, "<link name=\"${xacro.fatal('no such', 'gripper')}\"/>", "no such gripper")


# ------------------------------------------------------------------------------------------------ expressions
def evaluate(text, **names):
    def look_up(name):
        return names[name]

    return Evaluator(look_up)(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2*3 - 4/8", 6.5),
        ("-2**2", -4),
        ("7 // 2 + 7 % 4", 6),
        ("2**-1", 0.5),
        ("pi/2", np.pi / 2),
        ("math.cos(math.pi)", -1.0),
        ("radians(180)", np.pi),
        ("x if x > 2 else 'no'", 3),
        ("1 < x <= 3 and not x == 4", True),
        ("[1, 2, 3][1] + (4, 5)[-1]", 7),
        ("{'a': 1}['a']", 1),
        ("'left' + '_' + 'arm'", "left_arm"),
        ("'Left'.lower()", "left"),
        ("max(1, x, 2) + len([1, 2])", 5),
        ("round(2.567, 1)", 2.6),
        ("str(x) + 'a'", "3a"),
        ("[1, 2, 3][1:]", [2, 3]),
        ("'a' in ['a', 'b']", True),
        ("sum(range(4))", 6),
    ],
)
def test_expressions_have_their_values(text, value):
    assert evaluate(text, x=3) == value


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10", "2**99999", "'a' * 10**9", "[0] * 10**9", "'%c' % 36", "range(10**9)", "str([[1]])",
        "1 << 10**9", "~1", "1 / 0", "x.y", "x.__class__", "unknown", "1 +", "(" * 500 + "1" + ")" * 500, "[1][5]",
        "-'a'", "{**{}}", "[*[1]]", "lambda: 1", "x[::2]", "sqrt(-1)", "factorial(10**6)", "'a'.encode()", "1j",
        "x @ x", "'a'.replace('a', 'b' * 3)", "''.join(['a'])",
    ],
)  # fmt: skip
def test_expressions_without_value_are_refused(text):
    with pytest.raises(RefusedExpressionError):
        evaluate(text, x=3)


@settings(max_examples=few(300), deadline=500)
@given(st.text("0123456789+-*/%()[]{}.,<>=! '\"xabe_:\\n", max_size=60))
def test_no_text_gets_more_than_plain_values_out_of_the_evaluator(text):
    try:
        value = evaluate(text, x=3.0, a="name", b=[1, 2])
    except RefusedExpressionError:
        return
    assert value is None or isinstance(value, bool | int | float | str | list | tuple | dict)
