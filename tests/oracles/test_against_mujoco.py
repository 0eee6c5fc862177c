"""Inverse dynamics against a second independent program: MuJoCo, by ``mj_inverse``.

MuJoCo has hinges, slides, balls and free bodies; the other kinds are rows of these, except for the helical joint.
"""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.pinocchio_oracle import joint_row, random_state, walk

mujoco = pytest.importorskip("mujoco", reason="MuJoCo comes with the extra 'oracles'")
pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")

KINDS = tuple(kind for kind in gs.JOINT_KINDS if kind not in ("helical", "free"))
COORDINATES = {"cylindrical": ("angle", "shift"), "universal": ("angle1", "angle2"), "planar": ("x", "y", "angle")}


def text(numbers):
    return " ".join(repr(float(x)) for x in numbers)


def pose(X):
    x, y, z, w = pin.Quaternion(X.rotation).coeffs()
    return f'pos="{text(X.translation)}" quat="{text((w, x, y, z))}"'


def joints_xml(moved):
    """Joints of MuJoCo, each called after the coordinate of gyrostat that it stands for."""
    joint = moved.joint
    if joint.kind == "free":
        return f'<freejoint name="{moved.name}"/>'
    if joint.kind == "spherical":
        return f'<joint name="{moved.name}" type="ball"/>'
    names = [f"{moved.name}.{part}" for part in COORDINATES.get(joint.kind, ())] or [moved.name]
    row = zip(names[::-1] if moved.backward else names, joint_row(joint, moved.backward), strict=True)
    kinds = {"JointModelRevoluteUnaligned": "hinge", "JointModelPrismaticUnaligned": "slide"}
    return "".join(f'<joint name="{n}" type="{kinds[type(j).__name__]}" axis="{text(j.axis)}"/>' for n, j in row)


def mjcf(model):
    """The model as MJCF; what a moving part carries are bodies without joints."""
    found = walk(model)

    def inside(number):
        xml = ""
        for carrier, at, body in found.bodies:
            if carrier == number:
                J = np.array(body.inertia)
                six = text((J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
                inertial = f'<inertial pos="{text(body.com)}" mass="{body.mass!r}" fullinertia="{six}"/>'
                xml += f"<body {pose(at)}>{inertial}</body>"
        for k, moved in enumerate(found.moved):
            if moved is not None and moved.carrier == number:
                xml += f'<body name="part{k}" {pose(moved.at)}>{joints_xml(moved)}{inside(k)}</body>'
        return xml

    gravity = text(model.context.gravity.g)
    return f'<mujoco><option gravity="{gravity}"/><worldbody>{inside(0)}</worldbody></mujoco>'


def rotation(xyzw):
    return pin.Quaternion(np.array(xyzw)).toRotationMatrix()


def inverse_dynamics(model, q, v, a, wrenches):
    """tau by MuJoCo; its free bodies have linear rates in the world, and its quaternions begin with w."""
    found = walk(model)
    m = mujoco.MjModel.from_xml_string(mjcf(model))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    d = mujoco.MjData(m)
    T = np.zeros((m.nv, m.nv))  # v of MuJoCo = T v
    bias = np.zeros(m.nv)  # its acceleration = T a + bias
    at_q, at_v = dict(zip(model.coordinates, q, strict=True)), {name: k for k, name in enumerate(model.dofs)}
    for moved in found.moved[1:]:
        name, kind = moved.name, moved.joint.kind
        if kind in ("free", "spherical"):
            joint = m.joint(name)
            x = np.array([at_q[f"{name}.{part}"] for part in ("qx", "qy", "qz", "qw")])
            R, w_at = rotation(x), [at_v[f"{name}.{part}"] for part in ("wx", "wy", "wz")]
            q_0, v_0 = joint.qposadr[0], joint.dofadr[0]
            if kind == "free":
                v_at = [at_v[f"{name}.{part}"] for part in ("vx", "vy", "vz")]
                d.qpos[q_0 : q_0 + 3] = [at_q[f"{name}.{part}"] for part in "xyz"]
                T[v_0 : v_0 + 3, v_at] = R
                bias[v_0 : v_0 + 3] = R @ np.cross(v[w_at], v[v_at])
                q_0, v_0 = q_0 + 3, v_0 + 3
            x, turn = (x * [-1, -1, -1, 1], -R) if moved.backward else (x, np.eye(3))
            d.qpos[q_0 : q_0 + 4] = x[[3, 0, 1, 2]]
            T[v_0 : v_0 + 3, w_at] = turn
        else:
            for full in [f"{name}.{part}" for part in COORDINATES.get(kind, ())] or [name]:
                joint = m.joint(full)
                d.qpos[joint.qposadr[0]] = at_q[full]
                T[joint.dofadr[0], at_v[full]] = 1.0
    d.qvel[:] = T @ v
    d.qacc[:] = T @ a + bias
    mujoco.mj_inverse(m, d)
    tau = d.qfrc_inverse.copy()
    for port, wrench in wrenches.items():
        carrier, at = found.ports[port]
        if carrier:
            body = m.body(f"part{carrier}").id
            R = d.xmat[body].reshape(3, 3)
            applied, point = np.zeros(m.nv), d.xpos[body] + R @ at.translation
            R = R @ at.rotation
            mujoco.mj_applyFT(m, d, R @ wrench[3:], R @ wrench[:3], point, body, applied)
            tau -= applied
    return T.T @ tau


def tree(seed):
    """Up to twelve bodies; with a free base, a trunk on it, since MuJoCo wants mass on every free body."""
    base = ["fixed", "free"][seed % 2]
    model = gs.robots.tree(seed, 2 + seed % 11, kinds=KINDS, base=base, reversed_share=0.3)
    trunk = gs.RigidBody("trunk", mass=3.0, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.2, 0.15))
    wires = (*model.connections, ("world.frame", "trunk.origin"))
    return gs.Model(model.name, (*model.entities, trunk), wires, model.context)


@pytest.mark.parametrize("seed", range(24))
def test_inverse_dynamics_equals_that_of_mujoco(seed):
    model, rng = tree(seed), np.random.default_rng(seed)
    q, v, a = random_state(model, rng)
    wrenches = {port: rng.normal(size=6) for port in ("body0.tip", "body1.origin", "body1.side")}
    want = inverse_dynamics(model, q, v, a, wrenches)
    assert_close(gs.rnea(model, q, v, a, wrenches), want, 1e-10)


def test_the_trees_for_mujoco_contain_every_kind_it_can_have():
    joints = {(moved.joint.kind, moved.far) for seed in range(24) for moved in walk(tree(seed)).moved[1:]}
    assert joints == {(kind, far) for kind in KINDS if kind != "fixed" for far in "ab"} | {("free", "frame")}
