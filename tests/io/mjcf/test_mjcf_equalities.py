"""<equality> of MJCF: loops against the KKT equations of MuJoCo's own matrices, polynomials, joints that are held."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

mujoco = pytest.importorskip("mujoco")

BARS = """<mujoco model="bars"><compiler angle="radian"/><option><flag contact="disable"/></option>{default}<worldbody>
<body name="crank"><joint name="drive" axis="0 1 0" {ref}/>
<geom type="capsule" fromto="0 0 0 0 0 1" size=".05" mass="1"/>
<body name="coupler" pos="0 0 1" euler="0 0.3 0"><joint name="first" axis="0 1 0"/>
<geom type="box" pos="1 0 0" size="1 .1 .1" mass="2"/>
<site name="end" pos="2 0 0" euler="0 -.3 0"/>{more}</body></body>
<body name="rocker" pos="2 0 -.5"><joint name="pivot" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 1.5" size=".05" mass="1"/>
<site name="top" pos="{top}"/></body>
<site name="here" pos="{top}"/>
</worldbody><equality>{equality}</equality></mujoco>"""
END = (2.0 * np.cos(0.3), 0.0, 1.0 - 2.0 * np.sin(0.3))  # of the coupler, in the configuration of the file
TOP = f"{float(END[0] - 2.0)!r} 0 {float(END[2] + 0.5)!r}"


def bars(equality: str, ref: str = "", more: str = "", default: str = "") -> str:
    return BARS.format(equality=equality, ref=ref, more=more, default=default, top=TOP)


def compiled(text: str):
    return mujoco.MjModel.from_xml_string(text)


def closure(m, qpos):
    """Residual and Jacobian of the equalities at a configuration."""
    data = mujoco.MjData(m)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_makeConstraint(m, data)
    rows = np.array(data.efc_J).reshape(-1, m.nv)[: data.ne]
    return np.array(data.efc_pos[: data.ne]), rows


def closed(m, qpos, kept):
    """The configuration with the coordinates ``kept`` in which the equalities hold [Newton]."""
    free = [k for k in range(m.nv) if k not in kept]
    for _ in range(50):
        residual, J = closure(m, qpos)
        qpos[free] -= np.linalg.lstsq(J[:, free], residual, rcond=1e-10)[0]
    assert np.abs(closure(m, qpos)[0]).max() < 1e-12
    return qpos


def accelerations(m, qpos, qvel, tau):
    """M a + J' l = tau - bias and J a = -J' v: the KKT equations; J' v by differences of order four."""
    data = mujoco.MjData(m)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(m, data)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(m, data, M)
    J, h = closure(m, qpos)[1], 1e-3
    d = [closure(m, qpos + s * h * qvel)[1] @ qvel for s in (-2, -1, 1, 2)]
    rate = (d[0] - 8 * d[1] + 8 * d[2] - d[3]) / (12 * h)
    n = len(J)
    K = np.block([[M, J.T], [J, np.zeros((n, n))]])
    right = np.concatenate([tau - data.qfrc_bias + data.qfrc_passive, -rate])
    return np.linalg.lstsq(K, right, rcond=1e-12)[0][: m.nv]


def compared(text: str, x=(0.4,), v=(0.7,), tau=(1.3,)) -> float:
    """Difference of accelerations of the independent joints; of gyrostat's and by the KKT equations of MuJoCo."""
    model, m = gs.load_string(text, policy="strict"), compiled(text)
    names = [m.joint(j).name for j in range(m.njnt)]
    kept = [names.index(name) for name in model.dofs]
    assert len(kept) == len(x)
    qpos = np.array(m.qpos0)
    for k, value in zip(kept, x, strict=True):  # by small steps, on one branch
        for step in np.linspace(m.qpos0[k], m.qpos0[k] + value, 20):
            qpos[k] = step
            qpos = closed(m, qpos, kept)
    J = closure(m, qpos)[1]
    free = [k for k in range(m.nv) if k not in kept]
    qvel, effort = np.zeros(m.nv), np.zeros(m.nv)
    qvel[kept], effort[kept] = v, tau
    qvel[free] = np.linalg.lstsq(J[:, free], -J[:, kept] @ np.array(v), rcond=1e-10)[0]
    assert np.abs(J @ qvel).max() < 1e-10
    expected = accelerations(m, qpos, qvel, effort)[kept]
    return float(np.abs(gs.aba(model, qpos[kept], v, tau) - expected).max() / np.abs(expected).max())


LOOPS = {
    "connect of two bodies": bars('<connect body1="coupler" body2="rocker" anchor="2 0 0"/>'),
    "connect the other way round": bars(f'<connect body1="rocker" body2="coupler" anchor="{TOP}"/>'),
    "connect of two sites": bars('<connect site1="end" site2="top"/>'),
    "connect with a reference": bars('<connect body1="coupler" body2="rocker" anchor="2 0 0"/>', ref='ref="0.5"'),
    "weld of a hinge": bars(
        '<weld body1="eye" body2="rocker"/>',
        more='<body name="eye" pos="2 0 0"><joint name="second" axis="0 1 0"/><geom size=".05" mass=".1"/></body>',
    ),
    "weld with a pose": bars(
        f'<weld body1="eye" body2="rocker" anchor="{TOP}" relpose="0 0 0 1 0 0 0"/>',
        more='<body name="eye" pos="2 0 0" euler="0 -.3 0"><joint name="second" axis="0 1 0"/>'
        '<geom size=".05" mass=".1"/></body>',
    ),
    "weld without torques": bars(f'<weld body1="coupler" body2="rocker" anchor="{TOP}" torquescale="0"/>'),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_move_as_the_equations_of_mujoco_say(name):
    assert compared(LOOPS[name]) < 1e-9


def test_a_connect_to_the_world_closes_a_loop():
    text = bars(
        '<connect body1="slider" anchor="0 0 0"/>',
        more='<body name="slider" pos="2 0 0"><joint name="slide" type="slide" axis="0.6 0 0.8"/>'
        '<joint name="turn" axis="0 1 0"/><geom size=".05" mass=".1"/></body>',
    )
    model = gs.load_string(text, policy="strict")
    (loop,) = model.wiring.tree.loops
    assert "world" in loop.entities
    (pin,) = [e for e in model.entities if isinstance(e, gs.Joint) and e.kind == "spherical"]
    assert pin.passive is True


def test_the_frames_of_a_weld_are_those_that_mujoco_compiles():
    text = LOOPS["weld with a pose"].replace('1 0 0 0"/>', '0.8 0 0.6 0"/>')
    m, model = compiled(text), gs.load_string(text, policy="strict")
    (weld,) = [e.name for e in model.entities if isinstance(e, gs.Joint) and e.kind == "fixed"]
    ends = {port: other for ports in model.connections if len(ports) == 2 for port, other in (ports, ports[::-1])}
    one = next((e for e in model.entities if ends[f"{weld}.a"].startswith(f"{e.name}.")), None)
    two = next((e for e in model.entities if ends[f"{weld}.b"].startswith(f"{e.name}.")), None)
    anchor, p, quat = m.eq_data[0][:3], m.eq_data[0][3:6], m.eq_data[0][6:10]
    assert np.allclose(getattr(one, "translation", np.zeros(3)), p, atol=1e-15)
    assert np.allclose(two.translation, anchor, atol=1e-15)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quat)
    assert np.allclose(one.rotation.matrix, R.reshape(3, 3), atol=1e-14)


def test_a_loop_that_the_file_does_not_close_is_not_taken_for_a_closed_one():
    text = bars('<connect site1="end" site2="top"/>').replace(f'name="top" pos="{TOP}"', 'name="top" pos="0 0 1"')
    assert compared(text, x=(0.0,)) < 1e-9  # solved for, from the configuration of the file


# -------------------------------------------------------------------------------------------- joints
POLYNOMIAL = '<joint joint1="pivot" joint2="drive" polycoef=".1 -.5 .3 .2 -.1"/>'


def test_a_polynomial_of_degree_four_moves_as_the_equations_of_mujoco_say():
    for text in (bars(POLYNOMIAL), bars(POLYNOMIAL, ref='ref="0.5"')):
        model = gs.load_string(text, policy="strict")
        assert model.dofs == ("drive", "first")
        (curve,) = [e for e in model.entities if isinstance(e, gs.PolynomialCoupling)]
        assert curve.coefficients == (0.1, -0.5, 0.3, 0.2, -0.1)
        assert compared(text, (0.4, 0.2), (0.7, -0.3), (1.3, 0.4)) < 1e-9


def test_trailing_zeros_of_a_polynomial_are_dropped_and_a_constant_one_is_refused():
    (curve,) = [
        e
        for e in gs.load_string(bars(POLYNOMIAL.replace(".2 -.1", "0 0"))).entities
        if isinstance(e, gs.PolynomialCoupling)
    ]
    assert curve.coefficients == (0.1, -0.5, 0.3)
    with pytest.raises(gs.SpecError, match=r"by a constant is held.*take joint2 out"):
        gs.load_string(bars('<joint joint1="pivot" joint2="drive" polycoef=".1 0 0 0 0"/>'))


@pytest.mark.parametrize("ref", ["", 'ref="0.5"'])
def test_a_joint_that_is_held_is_no_joint_and_stands_where_it_is_held(ref):
    text = bars('<joint joint1="drive" polycoef="0.3 0 0 0 0"/>', ref=ref)
    model, m = gs.load_string(text, policy="strict"), compiled(text)
    assert model.dofs == ("first", "pivot")
    data = mujoco.MjData(m)
    data.qpos[:] = [m.qpos0[0] + 0.3, 0.2, -0.4]
    mujoco.mj_kinematics(m, data)
    places = gs.fk(model, [0.2, -0.4])
    for name in ("crank", "coupler", "rocker"):
        assert np.allclose(places[name].p, data.body(name).xpos, atol=1e-14)
        assert np.allclose(places[name].R.ravel(), data.body(name).xmat, atol=1e-14)


def test_a_slide_is_held_too():
    text = """<mujoco><worldbody><body pos="1 0 0">
    <joint name="s" type="slide" axis="0 0.6 0.8" pos="1 2 3"/><joint name="h" axis="1 0 0"/>
    <geom size=".1" mass="1" pos="0 0 1"/></body></worldbody>
    <equality><joint joint1="s" polycoef="2 0 0 0 0"/></equality></mujoco>"""
    model = gs.load_string(text, policy="strict")
    assert model.dofs == ("h",)
    assert gs.fk(model, [0.0])["body1"].p == pytest.approx([1.0, 1.2, 1.6], abs=1e-14)


def test_a_joint_that_two_equalities_hold_elsewhere_is_refused():
    with pytest.raises(gs.SpecError, match="another equality holds the joint elsewhere"):
        gs.load_string(bars('<joint joint1="drive"/><joint joint1="drive" polycoef="1 0 0 0 0"/>'))


# -------------------------------------------------------------------------------------------- what is told
def told(text: str, severity: str, **options) -> list[tuple[str, int]]:
    return [
        (f.rule, f.line)
        for f in gs.audit_string(text, **options)
        if f.severity == severity and "contact" not in f.rule and "option" not in f.rule
    ]


def test_what_is_switched_off_or_soft_is_told():
    connect = '<connect body1="coupler" body2="rocker" anchor="2 0 0" {}/>'
    line = bars("").splitlines().index(next(row for row in bars("").splitlines() if "<equality>" in row)) + 1
    assert told(bars(connect.format('active="false"')), "ignored") == [("unused-equality", line)]
    assert told(bars(connect.format('solref="0.1 1"')), "ignored") == [("unused-softness", line)]
    assert told(bars(connect.format("")), "ignored", mimic=False) == [("unused-equality", line)]
    assert gs.load_string(bars(connect.format('active="false"'))).nv == 3
    default = '<default><default class="off"><equality active="false"/></default></default>'
    assert gs.load_string(bars(connect.format('class="off"'), default=default)).nv == 3


def test_a_body_tied_to_itself_is_refused():
    with pytest.raises(gs.SpecError, match="ties a body to itself"):
        gs.load_string(bars('<connect site1="end" site2="end2"/>', more='<site name="end2"/>'))


@pytest.mark.parametrize(
    ("equality", "rule", "hint"),
    [
        ('<connect body1="copler" anchor="0 0 0"/>', "unknown-body", "coupler"),
        ('<weld body1="coupler" body2="roker"/>', "unknown-body", "rocker"),
        ('<connect site1="end" site2="tip"/>', "unknown-site", "top"),
        ('<joint joint1="dirve"/>', "unknown-joint", "drive"),
        ('<joint joint1="drive" joint2="pivto"/>', "unknown-joint", "pivot"),
    ],
)
def test_names_that_do_not_exist_are_told_with_near_ones(equality, rule, hint):
    (error,) = gs.audit_string(bars(equality)).errors
    assert (error.rule, error.fatal) == (rule, True) and hint in error.fix


def test_a_coupling_of_joints_that_are_not_there_to_move_is_left_out():
    text = bars('<joint joint1="drive"/><joint joint1="pivot" joint2="drive" polycoef="0 1 0 0 0"/>')
    (error,) = gs.audit_string(text).errors
    assert error.rule == "coupling" and "that move" in error.what and error.left_out
