"""URDF files to models: agreement with Pinocchio, the tree, names, policies, hostile files."""

from __future__ import annotations

import contextlib
import logging
import random
import re
import sysconfig
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.urdf.load import read_urdf
from tests.support.accepting import load_accepted, load_told
from tests.support.reference_data import reference

pin = pytest.importorskip("pinocchio")

FOLDER = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.urdf"))


def renamed(audit: gs.Audit) -> dict[tuple[str, str], str]:
    """(link or joint, name in the file) -> name in the model, where they differ."""
    found = {}
    for f in audit:
        if f.rule == "name":
            sort, name = re.fullmatch(r"robot/(link|joint)\[(.*)\]", f.element).groups()
            found[sort, name] = re.search(r"called '(.*)' in the model", f.what)[1]
    return found


@dataclass
class Pair:
    """One state of a robot in both programs; T: v of Pinocchio = T v of gyrostat."""

    model: gs.Model
    other: Any
    names: dict[tuple[str, str], str]
    q: np.ndarray
    q_pin: np.ndarray
    v: np.ndarray
    a: np.ndarray
    T: np.ndarray


def pair(path: Path, base: str, rules: dict[str, int] | None = None) -> Pair:
    """Without damping, friction and followers: Pinocchio has none of them in its algorithms.

    ``rules``: the errors that the one warning must count; without them there must be no warning.
    """
    model, told = load_told(path, base=base, friction=False, mimic=False)
    assert told == (rules or {})
    names = renamed(gs.audit(path, policy="accept"))
    joint = [pin.JointModelFreeFlyer()] if base == "free" else []
    other = pin.buildModelFromUrdf(str(path), *joint)
    rng = np.random.default_rng(3)
    q, q_pin, T = np.zeros(model.nq), np.zeros(other.nq), np.zeros((other.nv, model.nv))
    for k in range(1, other.njoints):
        row = other.joints[k]
        if row.nv == 6:
            x = rng.normal(size=7)
            x[3:] /= np.linalg.norm(x[3:])
            q[:7] = q_pin[row.idx_q : row.idx_q + 7] = x
            T[row.idx_v : row.idx_v + 6, :6] = np.roll(np.eye(6), 3, axis=0)  # linear first
            continue
        name, x = names.get(("joint", other.names[k]), other.names[k]), rng.uniform(-1.5, 1.5)
        q[model.coordinates.index(name)] = x
        T[row.idx_v, model.dofs.index(name)] = 1.0
        q_pin[row.idx_q : row.idx_q + row.nq] = x if row.nq == 1 else (np.cos(x), np.sin(x))
    v, a = rng.normal(size=(2, model.nv))
    return Pair(model, other, names, q, q_pin, v, a, T)


def off(got: Any, expected: Any) -> float:
    """Largest difference, relative to the largest expected entry."""
    return float(np.abs(got - expected).max() / np.abs(expected).max()) if np.size(expected) else 0.0


def disagreement(p: Pair, mode: str = "interpret", forward: bool = True) -> float:
    """Worst relative difference of torques, mass matrix, accelerations and placements of links."""
    assert p.T.shape[0] == p.T.shape[1] == np.linalg.matrix_rank(p.T)
    data = p.other.createData()
    tau = p.T.T @ pin.rnea(p.other, data, p.q_pin, p.T @ p.v, p.T @ p.a)
    upper = np.triu(pin.crba(p.other, data, p.q_pin))
    M = p.T.T @ (upper + np.triu(upper, 1).T) @ p.T
    worst = [
        off(gs.InverseDynamics(p.model, mode=mode)(p.q, p.v, p.a), tau),
        off(gs.MassMatrix(p.model, mode=mode)(p.q), M),
    ]
    if forward:
        worst.append(off(gs.ForwardDynamics(p.model, mode=mode)(p.q, p.v, tau), p.a))
    pin.framesForwardKinematics(p.other, data, p.q_pin)
    motions = gs.ForwardKinematics(p.model, mode=mode)(p.q)
    for frame, X in zip(p.other.frames, data.oMf, strict=True):
        if frame.type == pin.FrameType.BODY:
            found = motions[p.names.get(("link", frame.name), frame.name)]
            size = max(1.0, np.abs(X.translation).max())
            worst += [np.abs(found.p - X.translation).max() / size, np.abs(found.R - X.rotation).max()]
    assert np.isfinite(worst).all()
    return float(max(worst))


# -------------------------------------------------------------------------------------------- small robots
BODY = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.2 0.5"/><mass value="{m}"/>'
    '<inertia ixx="0.03" ixy="0.001" ixz="-0.002" iyy="0.04" iyz="0.003" izz="0.05"/></inertial>'
)


def link(name: str, inside: str | None = None) -> str:
    return f'<link name="{name}">{BODY.format(m=1.5) if inside is None else inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "continuous", more: str = '<axis xyz="0 1 0"/>') -> str:
    place = '<origin xyz="0.1 -0.2 0.4" rpy="0.1 0.7 -0.3"/>'
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{place}{more}</joint>\n'


def robot(*parts: str) -> str:
    return '<robot name="r">\n' + "".join(parts) + "</robot>\n"


TWO = robot(link("base"), link("arm"), joint("hinge", "base", "arm"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "r.urdf"


def write(path, text):
    path.write_text(text, "utf-8")
    return path


# -------------------------------------------------------------------------------------------- agreement
def test_the_wheel_has_its_files():
    assert len(FILES) == 69


@pytest.mark.by_default(12)
@pytest.mark.parametrize("file", FILES)
def test_robots_agree_with_pinocchio(file, caplog):
    """As they load by default, with one right warning where there are errors; 69 files in about half a minute."""
    audit = gs.audit(FOLDER / file, mimic=False)
    if file.endswith("ur3.urdf"):
        assert [f.rule for f in audit.errors] == ["links"]  # an empty robot
        return
    rules = Counter(f.rule for f in audit.errors)
    singular = "moving-massless" in rules
    for base in ("fixed", "free"):
        assert disagreement(pair(FOLDER / file, base, rules), forward=not singular) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("file", [f for f in FILES if not f.endswith("ur3.urdf")])
def test_compiled_robots_agree_with_pinocchio(file, caplog):
    rules = Counter(f.rule for f in gs.audit(FOLDER / file, mimic=False).errors)
    singular = "moving-massless" in rules
    for base in ("fixed", "free"):
        found = pair(FOLDER / file, base, rules)
        assert disagreement(found, "compile", forward=not singular) < 1e-9


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_every_type_of_joint_agrees_with_pinocchio(path, base):
    limit = '<axis xyz="0.6 0 0.8"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'
    text = robot(
        link("base"), link("l1"), link("l2"), link("l3"), link("l4"), link("tool", ""),
        joint("z", "base", "l1", "revolute", limit), joint("a", "l1", "l2", "prismatic", limit),
        joint("m", "l2", "l3"), joint("f", "l3", "l4", "fixed", ""), joint("t", "l4", "tool", "fixed", ""),
    )  # fmt: skip
    found = pair(write(path, text), base)
    assert disagreement(found) < 1e-12
    assert [d for d in found.model.dofs if "." not in d] == ["z", "a", "m"]


def test_floating_and_planar_joints_agree_with_pinocchio(path):
    model = gs.load(write(path, robot(link("base"), link("box"), joint("f", "base", "box", "floating", ""))))
    other = pin.buildModelFromUrdf(str(path))
    x = np.array([0.1, 0.2, 0.3, 0.5, -0.5, 0.5, 0.5])
    v, a = np.random.default_rng(0).normal(size=(2, 6))
    tau = pin.rnea(other, other.createData(), x, np.roll(v, 3), np.roll(a, 3))
    assert np.allclose(gs.rnea(model, x, v, a), np.roll(tau, 3), rtol=1e-12, atol=1e-12)
    planar = joint("p", "base", "box", "planar", '<axis xyz="0 0 1"/>')
    model = gs.load(write(path, robot(link("base"), link("box"), planar)))
    assert model.dofs == ("p.x", "p.y", "p.angle")
    other = pin.buildModelFromUrdf(str(path))
    q, data = np.array([0.3, -0.2, 0.7]), other.createData()
    R = np.array([[np.cos(0.7), -np.sin(0.7), 0.0], [np.sin(0.7), np.cos(0.7), 0.0], [0.0, 0.0, 1.0]])
    q_pin = np.array([0.3, -0.2, np.cos(0.7), np.sin(0.7)])
    pin.framesForwardKinematics(other, data, q_pin)
    X = data.oMf[other.getFrameId("box")]
    found = gs.fk(model, q)["box"]
    assert np.allclose(found.p, X.translation, atol=1e-14)
    assert np.allclose(found.R, X.rotation, atol=1e-14)
    M = pin.crba(other, data, q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    assert np.allclose(gs.crba(model, q), R @ M @ R.T, atol=1e-13)  # shifts: in the base here, in the box there


# -------------------------------------------------------------------------------------------- what comes out
def test_joints_come_in_file_order_parents_first(path):
    text = robot(
        link("c"), link("b"), link("a"), link("d"),
        joint("j3", "b", "c"), joint("j9", "a", "d"), joint("j1", "a", "b"),
    )  # fmt: skip
    assert gs.load(write(path, text)).dofs == ("j1", "j3", "j9")


def test_names_stay_where_they_can_and_changes_are_told(path, caplog):
    text = robot(link("base"), link("arm.0"), link("hinge"), joint("hinge", "base", "arm.0"),
                 joint("arm_0", "arm.0", "hinge", "fixed", ""))  # fmt: skip
    model = gs.load(write(path, text))
    assert [e.name for e in model.entities] == [
        "world", "base", "hinge_origin", "hinge", "arm_0_link", "arm_0_origin", "arm_0", "hinge_link",
    ]  # fmt: skip
    told = [f for f in gs.audit(path) if f.rule == "name"]
    assert {f.found for f in told} == {"'arm.0'", "'hinge'"}
    assert all(f.severity == "warning" for f in told)
    assert "2 warnings" in caplog.text


def test_a_root_called_world_is_the_reference_frame(path):
    model = gs.load(write(path, robot(link("world", ""), link("arm"), joint("j", "world", "arm"))))
    assert [e.name for e in model.entities] == ["world", "j_origin", "j", "arm"]


def test_a_massless_link_between_two_joints_is_a_place(path, caplog):
    text = robot(link("base"), link("cross", ""), link("arm"), joint("u", "base", "cross"),
                 joint("w", "cross", "arm", more='<axis xyz="1 0 0"/>'))  # fmt: skip
    found = pair(write(path, text), "fixed")
    assert type(found.model.entities[4]) is gs.Displacement
    assert disagreement(found) < 1e-11
    assert [f.rule for f in gs.audit(path).warnings] == ["massless-link"]


def test_sources_lead_to_the_lines(path):
    model = gs.load(write(path, TWO))
    assert model.source("arm").endswith("r.urdf:3")
    assert model.source("hinge.axis").endswith("r.urdf:4")


def test_a_model_from_urdf_can_be_saved_and_read_again(path, tmp_path):
    model = gs.load(write(path, TWO), base="free")
    gs.save(model, tmp_path / "r.yaml")
    assert gs.load(tmp_path / "r.yaml") == model
    assert [p.rule for p in gs.save(model, path)] == ["urdf-base"]  # that the base is free
    again = gs.load(path, base="free")
    state = gs.random_configuration(model, 1), np.ones(7), np.ones(7)
    assert np.allclose(gs.rnea(again, *state), gs.rnea(model, *state), rtol=1e-12)


# -------------------------------------------------------------------------------------------- policies
BAD = TWO.replace('izz="0.05"', 'izz="0.5"', 1)


def test_strict_refuses_with_all_errors_at_once(path):
    text = BAD.replace('mass value="1.5"', 'mass value="-2"', 2).replace('mass value="-2"', 'mass value="1.5"', 1)
    text = text.replace('axis xyz="0 1 0"', 'axis xyz="0 2 0"')
    with pytest.raises(gs.SpecError) as caught:
        gs.load(write(path, text), policy="strict")
    assert [p.rule for p in caught.value.problems] == ["inertia-triangle", "mass", "axis"]
    assert "link 'base'" in str(caught.value)
    assert "r.urdf:2" in str(caught.value)


def test_repair_says_what_it_did(path, caplog):
    text = BAD.replace('axis xyz="0 1 0"', 'axis xyz="0 2 0"')
    model = gs.load(write(path, text), policy="repair")
    gs.check(model)
    assert model["hinge.axis"] == (0.0, 1.0, 0.0)
    assert "repaired: link 'base': the inertia violates the triangle inequality" in caplog.text
    assert "scaled to unit length" in caplog.text
    assert {f.rule for f in gs.audit(path, policy="repair").repaired} == {"inertia-triangle", "axis"}
    S = np.array(model["base.inertia"])
    low, mid, high = np.linalg.eigvalsh(S)
    assert low + mid == pytest.approx(high)


def test_accept_takes_the_numbers_and_lists_what_is_wrong(path, caplog):
    found = pair(write(path, BAD), "free", {"inertia-triangle": 1})
    assert disagreement(found) < 1e-9
    assert caplog.text == ""  # the warning says it, once
    with pytest.raises(gs.SaveError):
        gs.save(found.model, path.with_suffix(".yaml"))


def test_negative_masses_are_refused_by_every_policy(path):
    write(path, TWO.replace('mass value="1.5"', 'mass value="-1.5"'))
    for policy in ("strict", "repair", "accept"):
        with pytest.raises(gs.SpecError, match=r"must not be negative, got -1\.5 kg"):
            gs.load(path, policy=policy)


def test_joints_that_move_no_mass_are_refused_fixed_or_accepted(path, caplog):
    write(path, robot(link("base"), link("arm"), link("tip", ""), joint("j", "base", "arm"), joint("t", "arm", "tip")))
    with pytest.raises(gs.SpecError, match=r"link 'tip' .*r.urdf:4.*neither it nor anything beyond has mass"):
        gs.load(path, policy="strict")
    assert gs.load(path, policy="repair").dofs == ("j",)
    model = load_accepted(path)
    assert model.dofs == ("j", "t")
    assert gs.rnea(model, [0.1, 0.2], [1.0, 1.0], [1.0, 1.0])[1] == 0.0
    with pytest.raises(gs.StateError, match="'t' moves nothing"):
        gs.aba(model, [0.1, 0.2], [1.0, 1.0], [1.0, 1.0])


def test_inertia_without_mass_is_refused_dropped_or_accepted(path, caplog):
    tip = BODY.format(m=0)
    write(path, robot(link("base"), link("arm"), link("tip", tip), joint("j", "base", "arm"), joint("t", "arm", "tip")))
    with pytest.raises(gs.SpecError, match="has inertia but no mass"):
        gs.load(path, policy="strict")
    assert gs.load(path, policy="repair").dofs == ("j",)
    assert gs.crba(load_accepted(path), [0.1, 0.2])[1, 1] > 0.01  # the moment of inertia as it stands


def test_accepted_bodies_are_in_the_regressor(path, caplog):
    model = load_accepted(write(path, BAD.replace('izz="0.05"', 'izz="0.5"')))
    state = [0.3], [0.4], [0.5]
    found = gs.Regressor(model)(*state)
    assert np.allclose(found.Y @ gs.inertial_parameters(model), gs.rnea(model, *state), rtol=1e-12)


def test_a_clean_file_is_silent_and_warnings_are_counted(path, caplog):
    gs.load(write(path, TWO))
    assert caplog.text == ""
    write(path, TWO.replace('<axis xyz="0 1 0"/>', ""))
    with caplog.at_level(logging.WARNING):
        gs.load(path)
    assert "0 errors, 1 warning" in caplog.text


def test_options_that_mean_nothing_are_refused(path, tmp_path):
    write(path, TWO)
    with pytest.raises(gs.SpecError, match="policy must be one of strict, repair, accept, got 'repiar'"):
        gs.load(path, policy="repiar")
    with pytest.raises(gs.SpecError, match="base must be 'fixed', 'free'"):
        gs.load(path, base="floating")
    with pytest.raises(gs.SpecError, match="roots must be a list"):
        gs.load(path, roots="here")
    with pytest.raises(gs.SpecError, match="are for URDF, SDF and MJCF files"):
        gs.load(tmp_path / "r.yaml", policy="repair")


# -------------------------------------------------------------------------------------------- hostile files
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is nothing in it"),
        ("<robot", "is not well-formed"),
        ("<robot name='r'><link name='a'></robot>", "is not well-formed"),
        ('<!DOCTYPE r [<!ENTITY a "1">]>' + TWO, "document type"),
        ('<!DOCTYPE r SYSTEM "http://localhost/x.dtd">' + TWO, "document type"),
        ('<!-- - --><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>', "document type"),
        ("<robot>" + "<a>" * 40 + "</a>" * 40 + "</robot>", "nested more than 32 deep"),
        ("<robot>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>", "depth"),
        ("<robot>&nope;</robot>", "is not well-formed"),
    ],
)
def test_what_is_no_plain_xml_is_refused_with_a_line(path, text, message):
    with pytest.raises(gs.LoadError, match=message) as caught:
        gs.load(write(path, text))
    assert re.search(r"r.urdf:\d+", str(caught.value))
    assert gs.audit(path).errors


def test_a_doctype_within_a_comment_is_a_comment(path):
    assert gs.load(write(path, "<!-- <!DOCTYPE x> -->" + TWO)).nv == 1


def test_entities_do_not_multiply(path):
    levels = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
    start = time.perf_counter()
    with pytest.raises(gs.LoadError, match="document type"):
        gs.load(write(path, f'<!DOCTYPE r [<!ENTITY e0 "x">{levels}]><robot name="&e9;"/>'))
    assert time.perf_counter() - start < 1.0


def test_large_and_binary_files_are_refused(path):
    path.write_bytes(b"\xff\xfe<robot/>")
    with pytest.raises(gs.LoadError, match=r"XML \(.*: is not UTF-8"):
        gs.load(path)
    with path.open("wb") as file:
        file.truncate(20 * 2**20)
    with pytest.raises(gs.LoadError, match=r"is 20.0 MiB long, expected at most 16 MiB"):
        gs.load(path)


@pytest.mark.parametrize("text", ["nan", "inf", "1,5", "one", "0x10", "1e400", "1e308", "5cm", "", "1_0", "१", "${m}"])
def test_what_is_no_number_is_refused_with_link_and_remedy(path, text):
    with pytest.raises(gs.SpecError, match=r"link 'base' \(.*r.urdf:2\): .*mass.*Hint: .+"):
        gs.load(write(path, TWO.replace('value="1.5"', f'value="{text}"', 1)), policy="accept")


@pytest.mark.parametrize(
    "parts",
    [
        "<zzz/>" * 30_000,
        "".join(
            f'<joint name="j{k}" type="fixed"><parent link="base"/><child link="no{k}"/></joint>' for k in range(5000)
        ),
        "".join(link(f"l{k}", "") for k in range(5000)),
        "".join(f'<link name="a{k:020b}"/>'.replace("1", ".").replace("0", ",") for k in range(5000)),
        '<joint name="x" type="fixed"><parent link="arm"/><child link="base"/></joint>' * 5000,
    ],
    ids=["unknown tags", "unknown links", "roots", "names", "loops"],
)
def test_many_mistakes_take_no_long_time(path, parts):
    write(path, TWO.replace("</robot>", parts + "</robot>"))
    start = time.process_time()
    gs.audit(path)
    with contextlib.suppress(gs.SpecError):
        gs.load(path)
    assert time.process_time() - start < 10.0


def test_lines_beyond_65535_are_told(path):
    audit = gs.audit(write(path, TWO.replace("</robot>", "\n" * 70_000 + "<zzz/></robot>")))
    assert [f.line for f in audit.warnings] == [70_005]


def test_lines_are_those_where_tags_begin(path):
    text = TWO.replace('<mass value="1.5"/>', '\n\n<mass\n\n  value="x"/>', 1)
    assert gs.audit(write(path, text)).errors[0].line == 4


def chain(n: int) -> str:
    parts = [link("l0")]
    for k in range(1, n + 1):
        more = f'<origin xyz="0 0 0.01"/><axis xyz="{"0 1 0" if k % 2 else "1 0 0"}"/>'
        ends = f'<parent link="l{k - 1}"/><child link="l{k}"/>'
        parts += [link(f"l{k}"), f'<joint name="j{k}" type="continuous">{ends}{more}</joint>\n']
    return robot(*parts)


def test_a_chain_of_100_links_agrees_with_pinocchio(path):
    found = pair(write(path, chain(100)), "fixed")
    assert disagreement(found, forward=False) < 1e-9


@pytest.mark.slow
def test_a_chain_of_3000_links_gives_torques_within_ten_seconds(path):
    write(path, chain(3000))
    start = time.process_time()
    model = gs.load(path)
    tau = gs.rnea(model, *np.zeros((3, 3000)))
    assert time.process_time() - start < 10.0
    assert model.dofs[:2] == ("j1", "j2")
    # at rest in line, the weight of what is beyond a joint acts at 0.1 m (about y) or 0.2 m (about x) from it
    beyond = 1.5 * 9.81 * np.arange(3000, 0, -1)
    expected = np.where(np.arange(3000) % 2 == 0, -0.1, 0.2) * beyond
    assert np.abs(tau - expected).max() < 1e-9 * np.abs(expected).max()


# -------------------------------------------------------------------------------------------- mutations
SEEDS = ["panda_description/urdf/panda.urdf", "double_pendulum_description/urdf/double_pendulum.urdf"]
VALUES = [
    "",
    "nan",
    "-1",
    "0",
    "1e308",
    "1e-320",
    "1 2",
    "x y z",
    "world",
    "base",
    "é.",
    "1e12 1 1",
    "-1e12",
    "\u200b",
    "0 0 0",
]


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 4)):
        sort = rng.randrange(5)
        if sort == 0:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice('<>"/=& \x00a0\n-') + text[at + rng.randrange(2) :]
        elif sort == 1:
            values = [m.span(1) for m in re.finditer(r'="([^"]*)"', text)]
            if values:
                begin, end = rng.choice(values)
                text = text[:begin] + rng.choice(VALUES) + text[end:]
        elif sort == 2:
            begin = rng.randrange(len(text))
            text = text[:begin] + text[begin + rng.randrange(200) :]
        elif sort == 3:
            tags = [m.span() for m in re.finditer(r"<[^<>]*/>", text)]
            if tags:
                begin, end = rng.choice(tags)
                text = text[:end] + text[begin:end] + text[end:] if rng.random() < 0.5 else text[:begin] + text[end:]
        else:
            words = [m.span() for m in re.finditer(r"[a-z_]{3,}(?=[ =>])", text)]
            if words:
                begin, end = rng.choice(words)
                text = text[:begin] + rng.choice(["axis", "mass", "origin", "joint", "fixed", "zzz"]) + text[end:]
        text = text or "<"
    return text


def survive(number: int, seed: int) -> int:
    """Mutants either load, to finite numbers, or are refused by our own exceptions; how many gave a model."""
    rng = random.Random(seed)
    texts = [TWO] + [
        re.sub(r"<(visual|collision).*?</\1>", "", (FOLDER / s).read_text("utf-8"), flags=re.DOTALL) for s in SEEDS
    ]
    loaded = 0
    for k in range(number):
        text = mutated(texts[k % 3], rng)
        try:
            model, audit = read_urdf(
                text, "m.urdf", rng.choice(["fixed", "free"]), rng.choice(["strict", "repair", "accept"])
            )
        except gs.LoadError:
            continue
        str(audit), audit.to_json()
        if model is None:
            assert audit.errors
            continue
        loaded += 1
        gs.check(model)
        if k % 10 == 0:
            zero = np.zeros(model.nv)
            tau = gs.InverseDynamics(model, mode="interpret")(gs.neutral(model), zero, zero)
            assert np.isfinite(tau).all()
    return loaded


def test_mutants_load_or_are_refused():
    assert 20 < survive(500, 1) < 500


@pytest.mark.slow
def test_many_mutants_load_or_are_refused():
    survive(10_000, 2)


def test_the_bad_files_give_sentences():
    for path in sorted(reference("bad_urdf").glob("*.urdf")):
        audit = gs.audit(path)
        if path.name == "00_ok.urdf":
            assert audit.ok
            assert gs.load(path).nv == 1
            continue
        assert audit.errors, path.name
        with pytest.raises(gs.SpecError, match=rf"{path.name}:\d+"):
            gs.load(path, policy="strict")
