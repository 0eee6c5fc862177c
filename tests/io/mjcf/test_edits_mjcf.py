"""Edited MJCF robots against MuJoCo's models of files in which the same was written by hand."""

import logging

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.mjcf_models import pair, without_what_is_not_taken

mujoco = pytest.importorskip("mujoco", reason="MuJoCo comes with the extra 'oracles'")

FINGERS = """
          <body name="{0}left" pos="0 0.03 0.05">
            <joint name="{0}left" type="slide" axis="0 1 0" range="0 0.04" armature="0.1"/>
            <inertial pos="0 0 0.01" mass="0.05" diaginertia="1e-4 1e-4 5e-5"/>
          </body>
          <body name="{0}right" pos="0 -0.03 0.05">
            <joint name="{0}right" type="slide" axis="0 -1 0" range="0 0.04" damping="0.4"/>
            <inertial pos="0 0 0.01" mass="0.05" diaginertia="1e-4 1e-4 5e-5"/>
          </body>"""
ARM = """
    <body name="{0}upper" pos="0.1 0 0.3"{place}>
      {shoulder}
      <inertial pos="0 0.02 0.1" mass="2" diaginertia="0.02 0.03 0.01"/>
      <body name="{0}lower" pos="0 0 0.4" euler="0.2 0.1 0">
        {elbow}
        <inertial pos="0.01 0 0.2" mass="1" diaginertia="0.01 0.01 0.002"/>
        <body name="{0}hand" pos="0 0 0.3">
          {ball}
          <inertial pos="0 0 0.03" mass="0.4" diaginertia="1e-3 2e-3 1e-3"/>
          <site name="{0}grip" pos="0 0.01 0.1" euler="0.3 0 0.2"/>{fingers}{more}
        </body>
      </body>
    </body>"""
PARTS = {
    "shoulder": '<joint name="{0}shoulder" axis="0 0 1" damping="0.7" armature="0.3" range="-2 2" limited="true"/>',
    "elbow": '<joint name="{0}elbow" axis="0 1 0" pos="0 0 0.02" stiffness="5" springref="0.2" frictionloss="0.1"/>',
    "ball": '<joint name="{0}wrist" type="ball" damping="0.05"/>',
}
FILE = """<mujoco model="{name}"><compiler angle="radian"/><option gravity="0 0.5 -9.7"/>
  <worldbody>{bodies}
  </worldbody>
  <equality>{ties}</equality>
</mujoco>"""
TIE = '<joint joint1="{0}right" joint2="{0}left" polycoef="0 1 0 0 0"/>'


def arm(prefix: str = "", more: str = "", fingers: str = FINGERS, place: str = "", **parts: str) -> str:
    given = {key: value.format(prefix) for key, value in (PARTS | parts).items()}
    return ARM.format(prefix, more=more, fingers=fingers.format(prefix), place=place, **given)


def file(name: str, bodies: str, *ties: str) -> str:
    return FILE.format(name=name, bodies=bodies, ties="".join(TIE.format(prefix) for prefix in ties))


@pytest.fixture
def load(tmp_path):
    logging.getLogger("gyrostat").setLevel(logging.ERROR)
    (tmp_path / "robot.xml").write_text(file("robot", arm(), ""))
    yield lambda: gs.load(tmp_path / "robot.xml")
    logging.getLogger("gyrostat").setLevel(logging.NOTSET)


def compare(model: gs.Model, text: str) -> None:
    """Inverse and forward dynamics with springs, damping and armature; tau = T^T tau of MuJoCo."""
    other = mujoco.MjModel.from_xml_string(text)
    without_what_is_not_taken(mujoco, other)
    other.dof_frictionloss[:] = 0.0
    model = model.replace({path: 0.0 for path in model.paths() if path.endswith(".coulomb")})
    state = pair(model, other, 2)
    data = mujoco.MjData(other)
    data.qpos[:], data.qvel[:] = state.qpos, state.T @ state.v
    data.qacc[:] = state.T @ state.a + state.bias
    mujoco.mj_inverse(other, data)
    tau = gs.InverseDynamics(model, mode="interpret")(state.q, state.v, state.a)
    assert_close(tau, state.T.T @ data.qfrc_inverse, 1e-10)
    assert_close(gs.ForwardDynamics(model, mode="interpret")(state.q, state.v, tau), state.a, 1e-9)


def test_a_payload_on_a_site(load):
    block = gs.RigidBody("block", mass=0.8, com=(0, 0.01, 0.02), inertia=(2e-3, 3e-3, 4e-3))
    model = load().attach(block, to="hand.grip")
    more = """
          <body name="block" pos="0 0.01 0.1" euler="0.3 0 0.2">
            <inertial pos="0 0.01 0.02" mass="0.8" diaginertia="2e-3 3e-3 4e-3"/>
          </body>"""
    compare(model, file("robot", arm(more=more), ""))
    assert model.detach("block") == load()


def test_locked_hinges_balls_and_leaders(load):
    x = np.array([0.1, -0.3, 0.2, 0.9])
    x /= np.linalg.norm(x)
    model = load().lock({"elbow": 0.6, "left": 0.02})
    assert model.nv == 4
    fingers = FINGERS.replace("0.03 0.05", "0.05 0.05", 1).replace("-0.03 0.05", "-0.05 0.05", 1)
    fingers = "\n".join(line for line in fingers.splitlines() if "<joint" not in line)
    # the elbow turns about a point 0.02 above its body's origin
    before, turned = _quaternion(gs.rpy(0.2, 0.1, 0.0)), np.array([0.0, np.sin(0.3), 0.0, np.cos(0.3)])
    both = _product(before, turned)
    p = np.array([0, 0, 0.4]) + _matrix(before) @ (0, 0, 0.02) - _matrix(both) @ (0, 0, 0.02)
    text = file("robot", arm(fingers=fingers, elbow=""))
    w = both[[3, 0, 1, 2]]
    text = text.replace('pos="0 0 0.4" euler="0.2 0.1 0"', f'pos="{p[0]} {p[1]} {p[2]}" quat="{" ".join(map(str, w))}"')
    compare(model, text)
    locked = load().lock("wrist", x)
    assert not any(e.type_name == "bushing" for e in locked.wiring.entities.values())
    w = x[[3, 0, 1, 2]]
    text = file("robot", arm(ball=""), "").replace('pos="0 0 0.3">', f'pos="0 0 0.3" quat="{" ".join(map(str, w))}">')
    compare(locked, text)


def _matrix(q: np.ndarray) -> np.ndarray:
    x, y, z, w = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])  # fmt: skip


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    a, s, b, r = p[:3], p[3], q[:3], q[3]
    return np.concatenate([s * b + r * a + np.cross(a, b), [s * r - a @ b]])


def _quaternion(rotation) -> np.ndarray:
    """Of MuJoCo's euler="r p 0": about x, then about the new y."""
    r, p, _ = np.array(rotation.euler) / 2.0
    return _product(np.array([np.sin(r), 0, 0, np.cos(r)]), np.array([0, np.sin(p), 0, np.cos(p)]))


def test_a_second_robot_on_the_gripper(load):
    model = load().attach(load(), to="hand.grip", prefix="b_")
    mount = f"""
          <body name="mount" pos="0 0.01 0.1" euler="0.3 0 0.2">
            <inertial pos="0 0 0" mass="1e-15" diaginertia="1e-15 1e-15 1e-15"/>{arm("b_")}
          </body>"""
    compare(model, file("robot", arm(more=mount), "", "b_"))
    assert model["b_shoulder.rotor.inertia"] == 0.3
    assert model["b_shoulder.lower"] == -2.0
    assert model.detach("b_robot") == load()


def test_a_drive_is_added_to_the_friction_of_the_file(load):
    model = load().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=100.0, reflected_inertia_only=True, motor=False)
    elbow = PARTS["elbow"].replace("/>", ' armature="1"/>')
    compare(model, file("robot", arm(elbow=elbow), ""))
    assert model["elbow.friction.coulomb"] == 0.1
    with pytest.raises(
        gs.SpecError, match=r"drive of 'shoulder': 'inertia' 0.1 is given, but 'shoulder_drive.rotor.ine"
    ):
        load().with_drive("shoulder", rotor_inertia=0.1)


def test_edited_robots_survive_yaml(load, tmp_path):
    model = load().lock("elbow", 0.3).attach(load(), to="hand.grip", prefix="b_").rename("shoulder", "first")
    gs.save(model, tmp_path / "edited.yaml")
    assert gs.load(tmp_path / "edited.yaml") == model
