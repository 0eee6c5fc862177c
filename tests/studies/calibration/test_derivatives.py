"""Residuals of calibration: their Jacobians against differences, and predictions against other solvers, over products
of measurements and models."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.yaml.write import to_text
from gyrostat.studies import Camera, Distances, FixedPoint, PlaneContact, Points, Poses, StaticPoses
from gyrostat.studies.calibration.equations import Equations
from tests.studies.calibration.machines import NOISE, THIRTY, six_angles, six_axes

URDF = """<robot name="u"><link name="root"/>
<link name="a"><inertial><mass value="3"/><origin xyz="0.2 0 0"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tip"/>
<joint name="j1" type="revolute"><parent link="root"/><child link="a"/><origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
<axis xyz="0 0.6 0.8"/><limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="j2" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="f" type="fixed"><parent link="b"/><child link="tip"/><origin xyz="0.4 0.1 0" rpy="0 0 0.5"/></joint>
</robot>"""
MJCF = """<mujoco><worldbody><body name="arm" pos="0 0 0.2"><joint name="j1" axis="0 0 1"/>
<inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
<body name="fore" pos="0.5 0 0"><joint name="j2" axis="0 1 0"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
<site name="tip" pos="0.4 0 0.05"/></body></body></worldbody></mujoco>"""
LOOK = np.eye(4)
LOOK[:3, :3], LOOK[2, 3] = np.diag([1.0, -1.0, -1.0]), 8.0
"""A camera above the robot that looks down."""


def differences(equations, x, step=1e-5):
    columns = np.eye(len(x)) * step
    return np.stack([(equations.evaluate(x + d) - equations.evaluate(x - d)) / (2 * step) for d in columns], axis=1)


def expect_exact(equations, rng, tolerance=2e-8):
    x = equations.start() + 5e-3 * rng.normal(size=len(equations.columns))
    J = equations.jacobian(x)
    assert np.abs(J - differences(equations, x)).max() <= tolerance * np.abs(J).max()
    assert np.linalg.matrix_rank(J) > 1


def dh_arm():
    rows = [gs.DHRow(a=0.1, alpha=-np.pi / 2, d=0.4), gs.DHRow(a=0.5), gs.DHRow(a=0.3, d=0.1)]
    return gs.from_dh([gs.DHRow(r.a, r.alpha, r.d, m=1.0, I=(0.1, 0.1, 0.1)) for r in rows], tool=(0.1, 0.0, 0.2))


def beam_arm(method="modal"):
    beam = gs.FlexibleBeam(
        "boom", length=2.0, area=2e-3, I_y=3e-6, I_z=4e-6, J=6e-6, E=7e10, G=2.7e10, density=2700, method=method,
        modes=2, elements=2,
    )  # fmt: skip
    load = gs.RigidBody("load", mass=20.0, com=(0.1, 0.05, 0.0), inertia=(0.2, 0.2, 0.2))
    hand = gs.Displacement("hand", translation=(0.1, 0, 0))
    joints = gs.Joint("turn", "revolute", axis=(0, 0, 1)), gs.Joint("lift", "revolute", axis=(0, 1, 0))
    links = [gs.RigidBody(n, mass=5.0, inertia=(0.1, 0.1, 0.1)) for n in ("post", "knee")]
    parts = (joints[0], links[0], joints[1], links[1], beam, load, hand)
    return gs.assemble("crane", gs.chain("world", *parts)).with_drive(
        "lift", gear_ratio=80.0, rotor_inertia=1e-3, stiffness=4e4
    )


MODELS = {
    "URDF": lambda: (gs.load_string(URDF, "urdf"), "tip", ["base", "tool", "j1.axis", "j2.axis", "j1.offset",
                     "j2.offset", "j2_origin.rotation", "j2_origin.translation"]),
    "MJCF": lambda: (gs.load_string(MJCF, "mjcf"), "fore.tip", ["base.rx", "j1.axis", "j2.offset",
                     "fore.tip.translation"]),
    "YAML": lambda: (gs.load_string(to_text(six_axes()), "yaml"), "d6", THIRTY),
    "DH": lambda: (dh_arm(), "tool", ["base", "tool", "q2.axis", "q3.axis.y", "q2.offset", *dh_paths()]),
    "palletizer": lambda: (gs.robots.palletizer(), "payload.tool", ["base", "R1.offset", "R2.offset", "R3.offset",
                           "rod1.length", "arm.elbow.translation", "R1_drive.gear.ratio", "R3_drive.gear.offset"]),
    "unequal rods": lambda: (gs.robots.palletizer().replace({"rod1.length": 1.27}), "payload.tool",
                             ["R2.offset", "rod1.length", "rod2.length", "arm.elbow.translation.x"]),
    "elastic gears": lambda: (six_axes(), "d6", [*THIRTY, "q1.axis", "q2_drive.gear.ratio", "q2_drive.gear.offset",
                              "link4.mass", "link4.com"]),
    "beam": lambda: (beam_arm(), "hand", ["base", "boom.E", "boom.I_y", "lift_drive.spring.stiffness", "load.mass",
                     "lift.offset", "hand.translation"]),
    "beam in cuts": lambda: (beam_arm("in-cut"), "hand", ["boom.E", "boom.length", "lift.axis", "turn.offset"]),
}  # fmt: skip


def dh_paths():
    entities = [e for e in dh_arm().wiring.entities.values() if isinstance(e, gs.DHDisplacement)]
    return [f"{entities[0].name}.alpha", f"{entities[1].name}.a", f"{entities[2].name}.d", f"{entities[2].name}.theta"]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in ("URDF", "palletizer", "beam") else pytest.mark.slow) for n in MODELS]
)
def test_jacobians_of_every_kind_of_model_are_those_of_differences(name):
    model, frame, parameters = MODELS[name]()
    rng = np.random.default_rng(0)
    count = len(StaticPoses(model, [frame]).joints)
    planned = Poses(frame, rng.uniform(-0.2, 0.4, (4, count)))
    equations = Equations(model, [planned], parameters)
    placed = equations.placements(equations.start())
    T = np.zeros((4, 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = placed.R[:, 0], placed.p[:, 0] + 1e-3, 1.0
    expect_exact(Equations(model, [Poses(frame, planned.q, T, std=(1e-4, 1e-4))], parameters), rng)


def test_jacobians_of_every_kind_of_measurement_are_those_of_differences():
    rng = np.random.default_rng(1)
    q = six_angles(rng, 5)
    near = np.array([0.1, 0.2, 0.1, 0.1, 0.1, 0.1]) + 0.05 * rng.normal(size=(5, 6))
    markers = 0.1 * rng.normal(size=(3, 3))
    measurements = [
        Points("d6", q, np.ones((5, 3, 3)), markers, unknown=("markers",), std=NOISE),
        Distances("d6", q, np.ones(5), (3, 0, 0), (0.1, 0, 0), unknown=("origin", "offset", "marker")),
        Distances("d6", q, np.ones(5), origin="link2", name="between two frames"),
        FixedPoint("d6", q, unknown=("point", "marker")),
        PlaneContact("d6", q, normal=(0.1, 0.2, 1), unknown=("plane", "marker")),
        Camera(q, np.zeros((5, 3, 2)), markers, "d6", pose=LOOK, distortion=(0.1, -0.02), name="standing",
               unknown=("pose", "focal", "centre", "distortion", "markers")),
        Camera(near, np.zeros((5, 2, 2)), [[1.0, 0, 6], [1.5, 0.5, 7]], carrier="d6", pose=np.eye(4), name="carried",
               unknown=("pose", "markers")),
    ]  # fmt: skip
    expect_exact(Equations(six_axes(), measurements, THIRTY), rng, tolerance=1e-6)


def test_the_rotation_of_a_pose_is_seen_in_the_axes_of_the_world():
    R = np.array(gs.fk(six_axes(False), np.full(6, 0.3))["d6"].matrix)
    turned = R.copy()
    turned[:3, :3] = gs.studies.calibration.camera._exp(np.array([0.0, 0.0, -1e-3])) @ R[:3, :3]
    planned = Poses("d6", np.full((1, 6), 0.3), turned[None], std=(1.0, 1.0))
    (r,) = Equations(six_axes(False), [planned], ["base"]).raw(np.zeros(6))
    np.testing.assert_allclose(r, [[0, 0, 1e-3, 0, 0, 0]], atol=1e-12)


# ------------------------------------------------------------------------------------------------ against other solvers
def test_rigid_placements_are_those_of_forward_kinematics():
    model = six_axes(False)
    q = six_angles(np.random.default_rng(2), 6)
    placed, deflections = StaticPoses(model, ["d6", "link3"]).rest(q)
    motion = gs.fk(model, q)
    assert deflections.shape == (6, 0)
    for k, frame in enumerate(("d6", "link3")):
        np.testing.assert_allclose(placed.p[:, k], motion[frame].p, atol=1e-14)
        np.testing.assert_allclose(placed.R[:, k], motion[frame].R, atol=1e-14)


@pytest.mark.parametrize(
    "make",
    [
        six_axes,
        pytest.param(beam_arm, marks=pytest.mark.slow, id="beam"),
        pytest.param(lambda: beam_arm("in-cut"), marks=pytest.mark.slow, id="cuts"),
    ],
)
def test_deflections_are_those_of_equilibrium(make):
    """A search of its own, by mass matrix and forward dynamics, with the motors locked."""
    model = make()
    kinematics = StaticPoses(model, ["d6" if model.name == "six" else "hand"])
    c = np.linspace(-0.3, 0.5, len(kinematics.joints))[None]
    placed, _ = kinematics.rest(c)
    driven = [k for k in range(model.nq) if k not in kinematics.coordinates.deflecting]
    rest = gs.equilibrium(
        model, placed.q[0] + 1e-4 * ~np.isin(np.arange(model.nq), driven), locked=[model.dofs[k] for k in driven]
    )
    np.testing.assert_allclose(placed.q[0], rest.q, atol=1e-9)


def test_the_deflection_of_a_spring_is_torque_over_stiffness():
    """Closed form: a horizontal lever on a spring, k s = m g L cos(c + s)."""
    lever = gs.RigidBody(
        "lever", mass=12.0, com=(0.8, 0, 0), inertia=(0.1, 0.1, 0.1), frames={"tip": {"translation": (1, 0, 0)}}
    )
    model = gs.assemble("lever", gs.chain("world", gs.Joint("j", "revolute", axis=(0, -1, 0)), lever))
    model = model.with_drive("j", gear_ratio=-60.0, rotor_inertia=1e-3, stiffness=2e3)
    kinematics = StaticPoses(model, ["lever.tip"], ["j_drive.spring.stiffness"])
    c = np.linspace(-1.2, 1.2, 7)[:, None]
    placed, s = kinematics.rest(c)
    angle = s[:, 0]
    np.testing.assert_allclose(2e3 * (c[:, 0] - angle), 12.0 * 9.81 * 0.8 * np.cos(angle), rtol=1e-9)
    twist = kinematics.sensitivities(c, placed.q, None, [("j_drive.spring.stiffness", np.array(1.0))])[:, 0, :, 0]
    K = 2e3 - 12.0 * 9.81 * 0.8 * np.sin(angle)  # d(k (angle - c) + m g L cos)/d angle
    np.testing.assert_allclose(-twist[:, 1], (c[:, 0] - angle) / K, rtol=1e-9)
    assert np.abs(twist).max() > 1e-6  # the rigid Jacobian of gs.ParameterJacobian is zero here


@pytest.mark.slow
def test_offsets_of_a_closed_loop_are_a_shift_of_its_commands():
    model, rng = gs.robots.palletizer(), np.random.default_rng(4)
    q, x = rng.uniform(-0.2, 0.3, (4, 4)), np.array([0.3, -0.5, 0.2])
    E = Equations(model, [Points("payload.tool", q)], ["R1.offset", "R2.offset", "R3.offset"])
    shifted = q + np.append(x * E.scale, 0.0)
    np.testing.assert_allclose(E.raw(x)[0], gs.fk(model, shifted)["payload.tool"].p, atol=1e-12)
    corrected = E.robot.changed(x * E.scale)
    np.testing.assert_allclose(gs.fk(corrected, q)["payload.tool"].p, E.raw(x)[0], atol=1e-12)


def test_a_wrong_ratio_turns_the_joint_by_less_than_was_commanded():
    model = gs.robots.palletizer()
    N = model["R1_drive.gear.ratio"]
    E = Equations(model, [Points("payload.tool", [[0.5, 0.1, 0.1, 0.2]])], ["R1_drive.gear.ratio"])
    got = E.raw(np.array([0.01 * N / E.scale[0]]))[0][0]
    np.testing.assert_allclose(got, gs.fk(model, [0.5 / 1.01, 0.1, 0.1, 0.2])["payload.tool"].p, atol=1e-13)
