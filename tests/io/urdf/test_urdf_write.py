"""Models as URDF: read back by gyrostat and by Pinocchio, and the list of what URDF cannot say."""

import logging
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.geometry.rotation import from_euler
from gyrostat.io.urdf.write import to_urdf
from gyrostat.io.urdf.write_xml import roll_pitch_yaw
from gyrostat.spec.gear import Gear
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shape import Shape
from tests.support.examples import few
from tests.support.random_models import random_state

SIMPLE = ("revolute", "prismatic", "continuous", "fixed")
STANDARD = (0.0, 0.0, -9.81)


def simple_tree(seed, bodies=6, base="fixed", kinds=SIMPLE, share=0.4):
    return gs.robots.tree(seed, bodies, kinds=kinds, reversed_share=share, gravity=STANDARD, base=base)


def read_back(model, **options):
    text, lost = to_urdf(model, **options)
    base = model.context.base
    return gs.load_string(text, base=base if isinstance(base, str) else "fixed", policy="strict"), lost


def assert_same(model, other, seed=0, tolerance=1e-12):
    """The same forces, inertias, and places of bodies and their frames, in a random state."""
    rng = np.random.default_rng(seed)
    q, v, a = random_state(model, rng)
    tau, M = gs.rnea(model, q, v, a), gs.crba(model, q)
    scale = max(1.0, np.abs(tau).max(initial=0.0), np.abs(M).max(initial=0.0))
    np.testing.assert_allclose(gs.rnea(other, q, v, a), tau, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(gs.crba(other, q), M, rtol=0, atol=tolerance * scale)
    here, there = gs.fk(model, q), gs.fk(other, q)
    for name, entity in model.wiring.entities.items():
        if isinstance(entity, gs.RigidBody):
            for port in ("", *(f.name for f in entity.frames)):
                one = here[f"{name}.{port}" if port else name]
                two = there[f"{name}.{port}".rstrip(".").replace(".", "_")]
                np.testing.assert_allclose(two.p, one.p, rtol=0, atol=tolerance)
                np.testing.assert_allclose(two.R, one.R, rtol=0, atol=tolerance)


def rules(lost):
    return [problem.rule for problem in lost]


# ------------------------------------------------------------------------------------------------ round trips
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_trees_come_back_the_same(seed):
    model = simple_tree(seed, seed % 12 + 1, ("fixed", "free")[seed % 2])
    assert_same(model, read_back(model)[0], seed)


@settings(max_examples=few(4), deadline=None)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 7), free=st.booleans())
def test_a_tree_of_simple_joints_comes_back_the_same(seed, bodies, free):
    model = simple_tree(seed, bodies, "free" if free else "fixed")
    other, lost = read_back(model)
    assert other.dofs == model.dofs
    assert_same(model, other, seed)
    assert set(rules(lost)) <= {"urdf-limits", "urdf-base"}
    assert ("urdf-base" in rules(lost)) == free


@pytest.mark.parametrize("seed", range(3))
def test_pinocchio_reads_the_file_and_agrees(seed):
    pin = pytest.importorskip("pinocchio")
    model = simple_tree(seed, 7, share=0.5)
    oracle = pin.buildModelFromXML(to_urdf(model)[0])
    data = oracle.createData()
    q, v, a = random_state(model, np.random.default_rng(seed))
    x, vv, aa = pin.neutral(oracle), np.zeros(oracle.nv), np.zeros(oracle.nv)
    at = {}
    for k, name in enumerate(model.dofs):
        joint = oracle.joints[oracle.getJointId(name)]
        turned = joint.nq == 2  # continuous: cosine and sine
        x[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(q[k]), np.sin(q[k])] if turned else [q[k]]
        vv[joint.idx_v], aa[joint.idx_v], at[name] = v[k], a[k], joint.idx_v
    order = [at[name] for name in model.dofs]
    np.testing.assert_allclose(
        gs.rnea(model, q, v, a), pin.rnea(oracle, data, x, vv, aa)[order], rtol=1e-10, atol=1e-10
    )
    M = pin.crba(oracle, data, x)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
    np.testing.assert_allclose(gs.crba(model, q), M, rtol=1e-10, atol=1e-10)
    pin.framesForwardKinematics(oracle, data, x)
    place = gs.fk(model, q)
    for k in range(7):
        for name in (f"body{k}", f"body{k}.tip"):
            frame = data.oMf[oracle.getFrameId(name.replace(".", "_"))]
            np.testing.assert_allclose(frame.translation, place[name].p, atol=1e-11)
            np.testing.assert_allclose(frame.rotation, place[name].R, atol=1e-11)


@settings(max_examples=few(200), deadline=None)
@given(st.tuples(*[st.floats(-np.pi, np.pi)] * 3), st.sampled_from(["any", "up", "down", "nearly"]))
def test_angles_give_their_rotation_back_also_at_the_poles(angles, pitch):
    roll, middle, yaw = angles
    middle = {"any": middle, "up": np.pi / 2, "down": -np.pi / 2, "nearly": np.pi / 2 - 1e-9}[pitch]
    R = from_euler(np.array([roll, middle, yaw]), "xyz")
    np.testing.assert_allclose(from_euler(np.array(roll_pitch_yaw(R)), "xyz"), R, rtol=0, atol=1e-14)


@pytest.mark.by_default(2)
@pytest.mark.parametrize("kind", ["cylindrical", "universal", "planar", "free"])
def test_joints_with_several_coordinates_become_chains_with_the_same_coordinates(kind, seed=1):
    model = gs.robots.tree(seed, 2, kinds=(kind,), gravity=STANDARD)
    other, lost = read_back(model)
    assert [name.replace(".", "_") for name in model.dofs] == [name.replace(".", "_") for name in other.dofs]
    assert_same(model, other, seed)
    assert ("urdf-chain" in rules(lost)) == (kind != "free")


def test_a_cylindrical_joint_can_be_met_from_its_far_side():
    model = gs.robots.tree(4, 2, kinds=("cylindrical",), reversed_share=1.0, gravity=STANDARD)
    assert_same(model, read_back(model)[0])


@pytest.mark.parametrize(
    ("kind", "share", "message"),
    [
        ("helical", 0.0, "URDF has no helical joint. Hint: use revolute"),
        ("spherical", 0.0, "URDF has no spherical joint"),
        ("universal", 1.0, "URDF has no universal joint that is met from its far side"),
        ("planar", 1.0, "met from its far side"),
        ("free", 1.0, "met from its far side"),
    ],
)
def test_joints_that_urdf_does_not_have_are_refused_or_made_fixed(tmp_path, kind, share, message):
    model = gs.robots.tree(1, 2, kinds=(kind,), reversed_share=share, gravity=STANDARD)
    path = tmp_path / "x.urdf"
    with pytest.raises(gs.SaveError) as error:
        gs.save(model, path)
    assert message in str(error.value) and len(error.value.problems) == 2
    assert not path.exists()
    lost = gs.save(model, path, allow_loss=True)
    assert rules(lost).count("urdf-lacks") == 2
    assert gs.load(path).nv == 0


def test_assemblies_are_written_with_their_names_joined():
    leg = gs.assembly(
        "leg",
        gs.chain("knee.b", gs.RigidBody("shank", mass=1.0, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.02))),
        gs.Joint("knee", "revolute", axis="y"),
        exposes={"hip": "knee.a"},
    )
    model = gs.assemble("two", leg, leg.model_copy(update={"name": "arm"}), gs.connect("world", "leg.hip", "arm.hip"))
    other, lost = read_back(model)
    assert model.dofs == ("leg.knee", "arm.knee") and other.dofs == ("leg_knee", "arm_knee")
    assert rules(lost).count("urdf-name") == 4
    assert_same(model, other)


@pytest.mark.slow
def test_robots_of_the_wheel_come_back_the_same():
    for make in (gs.robots.kuka_lwr4, gs.robots.quadruped):
        model = make()
        model = model.replace({"context.gravity": STANDARD})
        assert_same(model, read_back(model)[0], tolerance=1e-11)


def test_a_file_that_was_read_is_written_so_that_it_is_read_the_same():
    text = """<robot name="r"><link name="base"/>
      <link name="arm"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
      <link name="tool"/>
      <joint name="hinge" type="revolute"><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/><parent link="base"/>
        <child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1.5" effort="7" velocity="3"/></joint>
      <joint name="weld" type="fixed"><origin xyz="0.2 0 0"/><parent link="arm"/><child link="tool"/></joint></robot>"""
    first = gs.load_string(text, policy="strict")
    written, _ = to_urdf(first)
    second = gs.load_string(written, policy="strict")
    assert_same(first, second)
    assert "weld" in second.wiring.entities and "hinge" in second.dofs
    assert to_urdf(second)[0] == written


# ------------------------------------------------------------------------------------------------ what is written
def element_of(model, path, **options):
    return ElementTree.fromstring(to_urdf(model, **options)[0]).find(path)


def pendulum(**joint):
    rod = gs.RigidBody("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    return gs.assemble("p", gs.chain("world", gs.Joint("hinge", "revolute", axis="y", **joint), rod))


def test_limits_are_written_and_made_up_only_where_urdf_demands_them():
    limit = element_of(pendulum(lower=-1.0, upper=2.0, effort_limit=5.0, velocity_limit=3.0), "joint/limit")
    assert limit.attrib == {"lower": "-1.0", "upper": "2.0", "effort": "5.0", "velocity": "3.0"}
    _, lost = to_urdf(pendulum(lower=-1.0, upper=2.0, effort_limit=5.0, velocity_limit=3.0))
    assert lost == ()
    text, lost = to_urdf(pendulum(lower=-1.0, upper=2.0))
    assert 'effort="1000000000.0"' in text and rules(lost) == ["urdf-limits"]
    text, lost = to_urdf(pendulum())
    assert 'type="continuous"' in text and "limit" not in text and lost == ()


def test_damping_friction_and_rotor_are_written_at_the_joint():
    model = pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=-50.0, viscous=0.2, coulomb=0.3)
    dynamics = element_of(model, "joint/dynamics")
    assert float(dynamics.get("damping")) == 0.2 and float(dynamics.get("friction")) == 0.3
    transmission = element_of(model, "transmission")
    assert transmission.find("joint").get("name") == "hinge"
    assert float(transmission.find("actuator/mechanicalReduction").text) == -50.0
    assert float(transmission.find("actuator/rotorInertia").text) == 1e-4


@pytest.mark.by_default(1)
@pytest.mark.parametrize("seed", range(2))
def test_drives_of_simple_joints_come_back_the_same(seed):
    model = simple_tree(seed + 20, 4, kinds=("revolute", "prismatic"), share=0.5)
    rng = np.random.default_rng(seed)
    for name in model.dofs:
        ratio = float(rng.choice([-1, 1]) * rng.uniform(10, 100))
        model = model.with_drive(name, rotor_inertia=1e-4, gear_ratio=ratio, viscous=0.3, coulomb=0.2)
    other, lost = read_back(model)
    assert set(rules(lost)) <= {"urdf-limits"}
    assert_same(model, other, seed)


def test_the_driven_arm_comes_back_the_same():
    arm = gs.robots.arm6()
    other, lost = read_back(arm)
    assert_same(arm, other)
    assert not lost
    first = arm.dofs[0]
    assert other[f"{first}.motor.torque_limit"] == arm[f"{first}.motor.torque_limit"]


def test_a_rotor_with_mass_is_a_link_of_its_own():
    own = {"mass": 0.5, "position": (0, 0.2, 0), "transverse": 2e-3, "lumped": False}
    rotor = RotorInertia("rotor", inertia=1e-3, axis="y", **own)
    frames = {"next": (0, 0, -1)}
    first = gs.RigidBody("first", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01), frames=frames)
    second = gs.RigidBody("second", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    joints = [gs.Joint(name, "revolute", axis="y") for name in ("one", "two")]
    parts = gs.chain("world", joints[0], first, joints[1], second), rotor, Gear("gear", 30.0)
    links = [("two.a", "rotor.carrier"), ("rotor.shaft", "gear.motor"), ("two.shaft", "gear.joint")]
    model = gs.assemble("m", *parts, *(gs.connect(*ports) for ports in links))
    other, lost = read_back(model)
    assert lost == ()
    assert_same(model, other)


def test_rotors_that_a_transmission_does_not_mean_are_told():
    reflected = pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=50.0, reflected_inertia_only=True)
    across = pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=50.0, rotor_axis="z")
    other, lost = read_back(reflected)
    assert lost == ()
    assert_same(reflected, other)
    _, lost = to_urdf(across)
    assert rules(lost) == ["urdf-lacks"] and "link before it" in str(lost[0])


def test_friction_of_the_motor_is_brought_to_the_joint():
    model = pendulum().with_drive("hinge", gear_ratio=-10.0, viscous=0.002, coulomb=0.03, friction_at="motor")
    dynamics = element_of(model, "joint/dynamics")
    assert float(dynamics.get("damping")) == pytest.approx(0.2)
    assert float(dynamics.get("friction")) == pytest.approx(0.3)


def coupled(ratio, offset):
    """Two fingers on a palm; the second one follows the first."""
    bodies = [gs.RigidBody(f"tip{k}", mass=0.1 * k, com=(0, 0, 0.1), inertia=(1e-3, 1e-3, 1e-4)) for k in (1, 2)]
    joints = [gs.Joint(f"finger{k}", "revolute", axis="y", lower=-2.0, upper=2.0) for k in (1, 2)]
    return gs.assemble(
        "hand",
        gs.chain("world", joints[0], bodies[0]),
        gs.chain("world", joints[1], bodies[1]),
        Gear("mimic", ratio, offset=offset),
        gs.connect("finger2.shaft", "mimic.motor"),
        gs.connect("finger1.shaft", "mimic.joint"),
    )


def test_a_joint_that_follows_another_is_a_mimic():
    model = coupled(-0.5, 0.25)
    assert model.dofs == ("finger1",)
    mimic = element_of(model, "joint[@name='finger2']/mimic")
    assert mimic.attrib == {"joint": "finger1", "multiplier": "-0.5", "offset": "0.25"}
    assert_same(model, read_back(model)[0])
    pin = pytest.importorskip("pinocchio")
    oracle = pin.buildModelFromXML(to_urdf(model)[0], True)
    assert oracle.nv == 1
    tau = pin.rnea(oracle, oracle.createData(), *(np.array([x]) for x in (0.3, 0.7, -0.2)))
    np.testing.assert_allclose(gs.rnea(model, [0.3], [0.7], [-0.2]), tau, rtol=1e-12)


def test_shapes_are_visuals_and_collisions(tmp_path):
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "arm.stl"
    mesh.write_text("solid\nendsolid\n")
    shapes = (
        Shape(kind="box", size=(0.1, 0.2, 0.3), translation=(1, 0, 0), rotation=gs.rpy(0.1, 0, 0), color=(1, 0, 0)),
        Shape(kind="cylinder", size=(0.1, 0.2), role="collision"),
        Shape(kind="sphere", size=(0.1,)),
        Shape(kind="capsule", size=(0.1, 0.4), translation=(0, 0, 1)),
        Shape(kind="ellipsoid", size=(0.1, 0.2, 0.3)),
        Shape(kind="mesh", file=str(mesh), size=(2, 2, 2)),
    )
    body = gs.RigidBody("body", mass=1.0, inertia=(1, 1, 1), shapes=shapes)
    path = tmp_path / "x.urdf"
    lost = gs.save(gs.assemble("m", gs.chain("world", body)), path)
    assert rules(lost) == ["urdf-shape"] and "ellipsoid" in str(lost[0])
    found = gs.load(path)["body.shapes"]
    kinds = sorted(shape.kind for shape in found)
    assert kinds == ["box", "cylinder", "cylinder", "mesh", "sphere", "sphere", "sphere"]
    box = next(shape for shape in found if shape.kind == "box")
    assert box.size == (0.1, 0.2, 0.3) and box.color == (1, 0, 0, 1) and box.translation == (1, 0, 0)
    assert [s.role for s in found if s.kind == "cylinder" and s.size == (0.1, 0.2)] == ["collision"]
    ends = sorted(s.translation[2] for s in found if s.kind == "sphere" and s.translation[2] != 0.0)
    assert ends == pytest.approx([0.8, 1.2])
    assert 'filename="meshes/arm.stl"' in path.read_text("utf-8")


def test_a_mesh_elsewhere_keeps_its_path_and_is_told(tmp_path):
    body = gs.RigidBody("body", mass=1.0, inertia=(1, 1, 1), shapes=(Shape(kind="mesh", file="/meshes/arm.stl"),))
    assert rules(gs.save(gs.assemble("m", gs.chain("world", body)), tmp_path / "x.urdf")) == ["urdf-mesh"]


def test_numbers_are_read_back_exactly():
    numbers = (0.1 + 0.2, 1e-17, 123456.789012345, 2.0 / 3.0)
    mass, x, y, z = numbers
    body = gs.RigidBody("body", mass=mass, com=(x, y, z), inertia=(z, z, z))
    other, _ = read_back(gs.assemble("m", gs.chain("world", gs.Joint("j", "revolute", axis="z"), body)))
    assert other["body.mass"] == mass and other["body.com"] == (x, y, z)
    assert other["body.inertia"] == body.inertia


# ------------------------------------------------------------------------------------------------ what is not
def test_what_urdf_cannot_say_is_listed_returned_and_told(tmp_path, caplog):
    wheel = gs.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1), momentum=(0, 0, 2.0))
    push = gs.ForceElement("push", wrench=(0, 0, 0, 1, 0, 0))
    parts = gs.chain("world", gs.Joint("j", "revolute", axis="z", lower=-1, upper=1), wheel)
    model = gs.assemble(
        "m", parts, push, gs.connect("wheel", "push"), gravity=(0, -9.81, 0), base={"amplitude": [0, 0, 0.1]}
    )
    model = model.with_drive("j", rotor_inertia=1e-4, gear_ratio=20.0, coulomb=(0.3, 0.2), torque_limit=1.0)
    with caplog.at_level(logging.WARNING, "gyrostat"):
        lost = gs.save(model, tmp_path / "m.urdf")
    told = "\n".join(map(str, lost))
    for words in (
        "gravity",
        "motion of the base",
        "momentum",
        "push",
        "direction",
        "limits",
    ):
        assert words in told
    assert told in caplog.text
    assert all(problem.remedy for problem in lost)
    assert gs.save(model, tmp_path / "m.yaml") == ()


def test_elastic_drives_are_refused():
    model = pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=50.0, stiffness=100.0)
    with pytest.raises(gs.SaveError, match="behind a spring"):
        to_urdf(model)
    _, lost = to_urdf(model, allow_loss=True)
    assert "urdf-lacks" in rules(lost)


def test_loops_are_refused():
    bars = [gs.RigidBody(f"bar{k}", mass=1.0, inertia=(1, 1, 1), frames={"tip": (1, 0, 0)}) for k in range(3)]
    joints = [gs.Joint(f"j{k}", "revolute", axis="z") for k in range(4)]
    links = [part for k in range(3) for part in (joints[k], bars[k])]
    model = gs.assemble(
        "ring", gs.chain("world", *links), joints[3], gs.connect("bar2.tip", "j3.a"), gs.connect("j3.b", "world")
    )
    for loss in (False, True):  # an opened loop is another mechanism
        with pytest.raises(gs.SaveError, match=r"has a loop, .*Hint: save it as YAML"):
            gs.save(model, "never.urdf", allow_loss=loss)
    with pytest.raises(gs.SaveError, match="loop"):
        to_urdf(model)


def test_a_refused_or_failing_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.urdf"
    path.write_text("old", "utf-8")
    with pytest.raises(gs.SaveError):
        gs.save(gs.robots.tree(1, 2, kinds=("helical",)), path)
    assert path.read_text("utf-8") == "old"
    gs.save(pendulum(), path)
    assert gs.load(path).dofs == ("hinge",)
    assert [p.name for p in tmp_path.iterdir()] == ["x.urdf"]
    with pytest.raises(gs.SaveError, match="cannot be written"):
        gs.save(pendulum(), tmp_path / "none" / "x.urdf")
