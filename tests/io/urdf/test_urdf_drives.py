"""What a URDF says about drives is in the dynamics: damping, friction, followers, transmissions, limits."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import gyrostat as gs
from tests.io.urdf.test_urdf import FILES, FOLDER, joint, link, off, pin, renamed, robot, write
from tests.support.accepting import load_accepted, load_told

FOLLOWING = [f for f in FILES if "<mimic" in (FOLDER / f).read_text("utf-8", "ignore")]
RUBBING = [
    f for f in FILES if re.search(r'(damping|friction)="(?!0+(\.0*)?")', (FOLDER / f).read_text("utf-8", "ignore"))
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "r.urdf"


def reduced(model, other, names):
    """T (all rates of Pinocchio, nv) and the offset of its q, from the gears of the model."""
    T, shift = np.zeros((other.nv, model.nv)), np.zeros(other.nv)
    gears = {e.name: e for e in model.entities if isinstance(e, gs.Gear)}
    follows = {}
    for name, gear in gears.items():
        ends = {
            p.split(".")[1]: q for c in model.connections for p in c if p.startswith(f"{name}.") for q in c if q != p
        }
        follows[ends["motor"].removesuffix(".shaft")] = ends["joint"].removesuffix(".shaft"), gear.ratio, gear.offset
    for k in range(1, other.njoints):
        row, name, factor, offset = other.joints[k], names.get(("joint", other.names[k]), other.names[k]), 1.0, 0.0
        while name in follows:
            leader, ratio, constant = follows[name]
            name, factor, offset = leader, factor * ratio, offset + factor * constant
        T[row.idx_v, model.dofs.index(name)], shift[row.idx_v] = factor, offset
    return T, shift


def coordinates(other, angles):
    q = np.zeros(other.nq)
    for k in range(1, other.njoints):
        row, x = other.joints[k], angles[other.joints[k].idx_v]
        q[row.idx_q : row.idx_q + row.nq] = x if row.nq == 1 else (np.cos(x), np.sin(x))
    return q


def expected(other, T, shift, q, v, a, damping, friction):
    """tau and M of the explicitly constrained model, with damping and friction of every joint."""
    data, q_all, v_all = other.createData(), coordinates(other, T @ q + shift), T @ v
    tau = pin.rnea(other, data, q_all, v_all, T @ a)
    upper = np.triu(pin.crba(other, data, q_all))
    M = upper + np.triu(upper, 1).T
    return T.T @ (tau + damping * v_all + friction * np.sign(v_all)), T.T @ M @ T


@pytest.mark.by_default(6)
@pytest.mark.parametrize("file", sorted({*FOLLOWING, *RUBBING}))
def test_followers_damping_and_friction_are_in_the_dynamics(file, caplog):
    """Against Pinocchio's independent joints, constrained and rubbed by hand."""
    audit = gs.audit(FOLDER / file)
    model, told = load_told(FOLDER / file)
    assert told == Counter(f.rule for f in audit.errors)
    other = pin.buildModelFromUrdf(str(FOLDER / file))
    T, shift = reduced(model, other, renamed(gs.audit(FOLDER / file, policy="accept")))
    assert np.linalg.matrix_rank(T) == model.nv
    rng = np.random.default_rng(5)
    q, v, a = rng.uniform(-1.0, 1.0, (3, model.nv))
    tau, M = expected(other, T, shift, q, v, a, other.damping, other.friction)
    assert off(gs.InverseDynamics(model, mode="interpret")(q, v, a), tau) < 1e-9
    assert off(gs.MassMatrix(model, mode="interpret")(q), M) < 1e-9
    if "moving-massless" not in {f.rule for f in audit.errors}:
        assert off(gs.ForwardDynamics(model, mode="interpret")(q, v, tau), a) < 1e-7


GRIPPER = robot(
    link("base"), link("hand"), link("left"), link("right"),
    joint("arm", "base", "hand", more='<axis xyz="0 1 0"/><dynamics damping="0.4" friction="0.3"/>'),
    joint("left", "hand", "left", "prismatic",
          '<axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="20" velocity="0.2"/>'),
    joint("right", "hand", "right", "prismatic",
          '<axis xyz="0 -1 0"/><limit lower="0" upper="0.08" effort="20" velocity="0.2"/>'
          '<mimic joint="left" multiplier="2" offset="0.01"/>'),
)  # fmt: skip


def test_a_follower_has_no_coordinate(path):
    model = gs.load(write(path, GRIPPER))
    assert model.dofs == ("arm", "left")
    assert (model["left.lower"], model["left.upper"], model["left.effort_limit"]) == (0.0, 0.04, 20.0)
    moved, still = (gs.fk(model, [0.3, x])["right"].p for x in (0.02, 0.0))
    assert np.isclose(np.linalg.norm(moved - still), 0.04)
    assert gs.load(path, mimic=False).nv == 3


def test_a_gripper_equals_the_explicitly_constrained_one(path):
    """Forward dynamics, derivatives and energy by G = [1, 0; 0, 1; 0, 2]."""
    model, free = gs.load(write(path, GRIPPER)), gs.load(path, mimic=False)
    G, shift = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), np.array([0.0, 0.0, 0.01])
    rng = np.random.default_rng(0)
    for q, v, a in rng.uniform(-1.0, 1.0, (5, 3, 2)):
        every = G @ q + shift, G @ v, G @ a
        tau = G.T @ gs.rnea(free, *every)
        assert np.allclose(gs.rnea(model, q, v, a), tau, rtol=1e-12)
        assert np.allclose(gs.aba(model, q, v, tau), a, rtol=1e-10)
        for got, full in zip(gs.rnea_derivatives(model, q, v, a), gs.rnea_derivatives(free, *every), strict=True):
            assert np.allclose(got, G.T @ full @ G, rtol=1e-11, atol=1e-11)
        M = G.T @ gs.crba(free, every[0]) @ G
        for got, full in zip(
            gs.aba_derivatives(model, q, v, tau)[:2], gs.rnea_derivatives(free, *every)[:2], strict=True
        ):
            assert np.allclose(got, -np.linalg.solve(M, G.T @ full @ G), rtol=1e-10, atol=1e-10)
        assert np.isclose(gs.kinetic_energy(model, q, v), gs.kinetic_energy(free, *every[:2]), rtol=1e-13)
        assert np.isclose(gs.potential_energy(model, q), gs.potential_energy(free, every[0]), rtol=1e-13)


def test_friction_can_be_left_out(path):
    model, smooth = gs.load(write(path, GRIPPER)), gs.load(path, friction=False)
    state = [0.1, 0.02], [0.5, 0.1], [0.0, 0.0]
    assert np.allclose(gs.rnea(model, *state) - gs.rnea(smooth, *state), [0.4 * 0.5 + 0.3, 0.0])
    assert [f.rule for f in gs.audit(path).ignored] == []


@pytest.mark.parametrize(
    ("mimic", "rule", "told"),
    [
        ('<mimic joint="nobody"/>', "unknown-joint", "follows a joint that does not exist"),
        ('<mimic joint="left" multiplier="0"/>', "mimic", "does not move"),
        ('<mimic joint="right"/>', "mimic", "cannot follow itself"),
        ('<mimic joint="welded"/>', "mimic", "must have one rate each"),
    ],
)
def test_followers_that_cannot_be_are_errors(path, mimic, rule, told, caplog):
    extra = link("tip") + joint("welded", "hand", "tip", "fixed", "")
    text = re.sub(r"<mimic[^>]*>", mimic, GRIPPER).replace("</robot>", extra + "</robot>")
    with pytest.raises(gs.SpecError, match=told):
        gs.load(write(path, text), policy="strict")
    if "itself" in told:  # a circle
        with pytest.raises(gs.SpecError, match=told):
            gs.load(path)
    else:
        accepted, rules = load_told(path)
        assert (accepted.nv, rules) == (3, {rule: 1})
    assert rule in {f.rule for f in gs.audit(path).errors}
    assert gs.load(path, policy="repair").nv == 3


def test_a_transmission_is_a_geared_rotor(path):
    text = """<transmission name="t"><type>SimpleTransmission</type><joint name="arm"/>
      <actuator name="m"><mechanicalReduction>50</mechanicalReduction><rotorInertia>1e-4</rotorInertia></actuator>
      </transmission>"""
    plain = gs.load(write(path, GRIPPER))
    model = gs.load(write(path, GRIPPER.replace("</robot>", text + "</robot>")))
    assert model["arm.gear.ratio"] == 50.0
    q = [0.3, 0.01]
    assert np.allclose(gs.crba(model, q) - gs.crba(plain, q), np.diag([50.0**2 * 1e-4, 0.0]), atol=1e-12)
    assert any(f.rule == "unused-transmission" and "type" in f.what for f in gs.audit(path).ignored)


DEAD = robot(
    link("base"), link("hand"), link("tip", ""), link("more"),
    joint("arm", "base", "hand"),
    joint("loose", "hand", "tip", "revolute",
          '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="2"/>'),
    joint("after", "hand", "more", more='<axis xyz="0 1 0"/><mimic joint="loose"/>'),
)  # fmt: skip


def test_a_joint_that_a_repair_fixes_has_no_drive_left(path, caplog):
    """Limits, damping, and what follows it go with its motion."""
    model = gs.load(write(path, DEAD), policy="repair")
    assert model.dofs == ("arm", "after")
    told = [str(f) for f in gs.audit(path, policy="repair").repaired]
    assert any("which was made fixed: it moves by itself" in line for line in told)


def test_two_transmissions_of_a_joint_are_told(path, caplog):
    text = (
        '<transmission name="{}"><joint name="arm"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction>'
        "<rotorInertia>{}</rotorInertia></actuator></transmission>"
    )
    write(path, GRIPPER.replace("</robot>", text.format("t", 1e-4) + text.format("u", 1.0) + "</robot>"))
    with pytest.raises(gs.SpecError, match="another transmission drives this joint"):
        gs.load(path, policy="strict")
    for policy in ("repair", "accept"):
        assert load_told(path, policy=policy)[0]["arm.rotor.inertia"] == 1e-4


def test_accepted_numbers_are_taken_as_they_are(path, caplog):
    text = GRIPPER.replace('damping="0.4" friction="0.3"', 'damping="-0.4" friction="-0.3"')
    with pytest.raises(gs.SpecError, match="it would drive the joint"):
        gs.load(write(path, text), policy="strict")
    model, rest = load_accepted(path), [0.0, 0.0]
    smooth = gs.load(path, friction=False)
    state = rest, [1.0, 0.0], rest
    assert np.isclose((gs.rnea(model, *state) - gs.rnea(smooth, *state))[0], -0.7)
    write(path, GRIPPER.replace('lower="0" upper="0.04"', 'lower="1" upper="0.04"'))
    assert any("they are left out" in f.what for f in gs.audit(path, policy="accept").errors)
