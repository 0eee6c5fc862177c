"""Numbers that others published: dynamics, kinematics, mass matrices, from the sources named with each."""

import json

import numpy as np
import pytest

import gyrostat as gs
from tests.support.reference_data import reference

FLAT = (0.0, -9.81, 0.0)


def unit_body(name, com, frames=None, inertia=(1, 1, 1)):
    return gs.RigidBody(name, mass=1.0, com=com, inertia=inertia, frames=frames or {})


# ------------------------------------------------------------------------------------------------ RBDL
# rbdl/rbdl, tests/DynamicsTests.cc and FloatingBaseTests.cc: accelerations without torques, gravity (0, -9.81, 0), from
# rest at q = 0.
def planar_chain(n):
    links = []
    for k in range(n):
        links += [gs.Joint(f"q{k}", "revolute", axis="z"), unit_body(f"body{k}", (1, 0, 0), {"next": (1, 0, 0)})]
    return gs.assemble("chain", gs.chain("world", *links), gravity=FLAT)


def general_inertia():
    body = unit_body("body", (1.5, 1, 1), inertia=(1, 2, 3))
    return gs.assemble("one", gs.chain("world", gs.Joint("q", "revolute", axis="z"), body), gravity=FLAT)


def double_chain_3d():
    a, b = unit_body("a", (1, 0, 0), {"next": (1, 0, 0)}), unit_body("b", (0, 1, 0))
    links = gs.Joint("q0", "revolute", axis="z"), a, gs.Joint("q1", "revolute", axis="y"), b
    return gs.assemble("3d", gs.chain("world", *links), gravity=FLAT)


def tree_5():
    a = unit_body("a", (1, 0, 0), {"front": (1, 0, 0), "back": (-0.5, 0, 0)})
    b1, c1 = unit_body("b1", (0, 1, 0), {"next": (0, 1, 0)}), unit_body("c1", (0, 0, 1))
    b2, c2 = unit_body("b2", (0, 1, 0), {"next": (0, -0.5, 0)}), unit_body("c2", (0, 0, 1))
    joints = [gs.Joint(f"q{k}", "revolute", axis=axis) for k, axis in enumerate("zyxyx")]
    return gs.assemble(
        "tree",
        gs.chain("world", joints[0], a),
        gs.chain("a.front", joints[1], b1, joints[2], c1),
        gs.chain("a.back", joints[3], b2, joints[4], c2),
        gravity=FLAT,
    )


RBDL = {
    "single_chain": (lambda: planar_chain(1), [-4.905]),
    "single_chain_general_inertia": (general_inertia, [-2.3544]),
    "double_chain": (lambda: planar_chain(2), [-5.886, 3.924]),
    "triple_chain": (lambda: planar_chain(3), [-6.03692307692308, 3.77307692307692, 1.50923076923077]),
    "double_chain_3d": (double_chain_3d, [-3.924, 0.0]),
    "tree_5": (
        tree_5,
        [-1.6031906614786, -0.534396887159533, 4.1034046692607, 0.267198443579767, 5.30579766536965],
    ),
}


@pytest.mark.parametrize("case", RBDL)
def test_accelerations_of_rbdl_need_no_torque(case):
    """1e-12: the accelerations are printed with 13 to 15 digits."""
    build, a = RBDL[case]
    zero = np.zeros(len(a))
    np.testing.assert_allclose(gs.rnea(build(), zero, zero, a), zero, rtol=0, atol=2e-12)


def six_joints(*links):
    """TX TY TZ RZ RY RX, as RBDL models a floating base."""
    shifts = [gs.Joint(f"t{axis}", "prismatic", axis=axis) for axis in "xyz"]
    turns = [gs.Joint(f"r{axis}", "revolute", axis=axis) for axis in "zyx"]
    return gs.assemble("floating", gs.chain("world", *shifts, *turns, *links), gravity=FLAT)


def test_three_rotations_of_rbdl_that_featherstones_own_program_computed():
    turns = [gs.Joint(f"r{axis}", "revolute", axis=axis) for axis in "zyx"]
    model = gs.assemble("ball", gs.chain("world", *turns, unit_body("body", (0, 0.5, 0))), gravity=FLAT)
    tau = gs.rnea(model, [1, 0, 0], np.zeros(3), [3.301932144386186, 0, 0])
    np.testing.assert_allclose(tau, np.zeros(3), rtol=0, atol=1e-14)


def test_a_torque_on_a_floating_base_of_rbdl():
    base, child = unit_body("base", (1, 0, 0), {"next": (2, 0, 0)}), unit_body("child", (1, 0, 0))
    model = six_joints(base, gs.Joint("q", "revolute", axis="z"), child)
    tau = gs.rnea(model, np.zeros(7), np.zeros(7), [0, -8.81, 0, -1, 0, 0, 2])
    np.testing.assert_allclose(tau, [0, 0, 0, 0, 0, 0, 1], rtol=0, atol=1e-14)


STATE = np.array([0.1, 1.1, 1.2, 1.3, 1.5, 1.7])


def point(x, y, z):
    return six_joints(unit_body("body", (0, 0, 0), {"point": (x, y, z)}))


def test_motion_of_a_point_on_a_floating_body_of_rbdl():
    far = gs.fk(point(-1.9, -1.8, 0), STATE, STATE, np.zeros(6))["body.point"]
    np.testing.assert_allclose(far.p, [-0.6357089363622626, -0.6831041744630977, 2.96897480591697], rtol=1e-14)
    velocity = [0.3091226260907569, 3.891012095550828, 4.100277995030419]
    np.testing.assert_allclose(far.velocity("aligned")[3:], velocity, rtol=1e-14)
    acceleration = [-5.30276015884716, 6.541369639625232, -4.795115077652286]
    np.testing.assert_allclose(far.acceleration("aligned")[3:], acceleration, rtol=1e-13)
    start = gs.fk(point(-1.9, -1.8, 0), np.zeros(6), np.zeros(6), STATE)["body.point"]
    np.testing.assert_allclose(start.acceleration("aligned")[3:], [2.44, -1.37, 0.99], rtol=1e-14)
    near = gs.fk(point(1, 0, 0), STATE, STATE)["body.point"]
    velocity = [-0.3888503432977729, -0.3171179347202455, 1.093894197498446]
    np.testing.assert_allclose(near.velocity("aligned")[3:], velocity, rtol=1e-14)


def test_the_numbers_of_rbdl_are_typed_correctly():
    data = json.loads(reference("rbdl_hard_numbers.json").read_text("utf-8"))
    assert {case: data[case]["qdd"] for case in RBDL} == {case: a for case, (_, a) in RBDL.items()}


# ------------------------------------------------------------------------------------------------ KUKA iiwa 14
# Drake, multibody/benchmarks/kuka_iiwa_robot: numbers of its URDF, results of MotionGenesis.
QUARTER, HALF = 1.570796326794897, 3.141592653589793
IIWA = (  # mass, centre of mass, moments of inertia; roll-pitch-yaw and position of the joint before the link
    (5.76, (0, -0.03, 0.12), (0.033, 0.0333, 0.0123), (0, 0, 0), (0, 0, 0.1575)),
    (6.35, (0.0003, 0.059, 0.042), (0.0305, 0.0304, 0.011), (QUARTER, 0, HALF), (0, 0, 0.2025)),
    (3.5, (0, 0.03, 0.13), (0.025, 0.0238, 0.0076), (QUARTER, 0, HALF), (0, 0.2045, 0)),
    (3.5, (0, 0.067, 0.034), (0.017, 0.0164, 0.006), (QUARTER, 0, 0), (0, 0, 0.2155)),
    (3.5, (0.0001, 0.021, 0.076), (0.01, 0.0087, 0.00449), (-QUARTER, HALF, 0), (0, 0.1845, 0)),
    (1.8, (0, 0.0006, 0.0004), (0.0049, 0.0047, 0.0036), (QUARTER, 0, 0), (0, 0, 0.2155)),
    (1.2, (0, 0, 0.02), (0.001, 0.001, 0.001), (-QUARTER, HALF, 0), (0, 0.081, 0)),
)
IIWA_STATE = np.array([60, 30, 60, 30, 60, 30, 60]) * np.pi / 180, np.arange(1, 8) / 10, np.arange(7, 0, -1) / 10


def iiwa(gravity=(0, 0, -9.81)):
    links = []
    for k, (mass, com, inertia, rpy, xyz) in enumerate(IIWA, start=1):
        links.append(gs.Displacement(f"place{k}", translation=xyz, rotation=gs.rpy(*rpy)))
        links.append(gs.Joint(f"iiwa_joint_{k}", "revolute", axis="z"))
        links.append(gs.RigidBody(f"link{k}", mass=mass, com=com, inertia=inertia))
    return gs.assemble("iiwa14", gs.chain("world", *links), gravity=gravity)


def test_the_iiwa_is_where_motiongenesis_has_it():
    hand = gs.fk(iiwa(), IIWA_STATE[0])["link7"]
    R = [
        [-0.5939002959880204, 0.8043869080239565, -0.015625],
        [-0.8043869080239565, -0.5932991120359317, 0.03094940802395521],
        [0.015625, 0.03094940802395527, 0.9993988160479114],
    ]
    np.testing.assert_allclose(hand.R, R, rtol=0, atol=1e-14)
    np.testing.assert_allclose(hand.p, [0.2970356451892219, 0.1727696964662288, 1.154681973689345], rtol=0, atol=1e-14)
    np.testing.assert_allclose(gs.fk(iiwa(), np.zeros(7))["link7"].p, (0, 0, 1.261), rtol=0, atol=1e-14)


def test_the_iiwa_feels_its_last_link_turn_as_in_motiongenesis():
    """Upright, without gravity: 1000 rad/s^2 of the last link, with 0.001 kg m^2, is felt by all parallel axes."""
    tau = gs.rnea(iiwa(gravity=(0, 0, 0)), np.zeros(7), np.zeros(7), [0, 0, 0, 0, 0, 0, 1000])
    np.testing.assert_allclose(tau, [1, 0, 1, 0, 1, 0, 1], rtol=0, atol=1e-12)


def test_torques_of_the_iiwa_equal_those_that_pinocchio_finds_for_its_urdf():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    model = pin.buildModelFromUrdf(str(reference("iiwa14.urdf")))
    want = pin.rnea(model, model.createData(), *IIWA_STATE)
    np.testing.assert_allclose(gs.rnea(iiwa(), *IIWA_STATE), want, rtol=0, atol=1e-12)


def test_the_numbers_of_motiongenesis_are_typed_correctly():
    data = json.loads(reference("iiwa14_motiongenesis.json").read_text("utf-8"))
    for key, value in zip(("q", "qd", "qdd"), IIWA_STATE, strict=True):
        np.testing.assert_allclose(data[key], value, rtol=1e-15)
    hand = gs.fk(iiwa(), data["q"])["link7"]
    np.testing.assert_allclose(hand.R, data["published_MG"]["R_NG"], rtol=0, atol=1e-14)
    np.testing.assert_allclose(hand.p, data["published_MG"]["p_NoGo"], rtol=0, atol=1e-14)


# ------------------------------------------------------------------------------------------------ Puma 560
# Parameters and results published with the Robotics Toolbox for Python (Corke and Armstrong-Helouvry 1994), standard
# Denavit-Hartenberg.
# mass, centre of mass, moments of inertia; a, alpha, d; rotor inertia, gear ratio, viscous and Coulomb friction
PUMA = (
    (0.0, (0, 0, 0), (0, 0.35, 0), (0, np.pi / 2, 0), (200e-6, -62.6111, 1.48e-3, 0.395)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), (0.4318, 0, 0), (200e-6, 107.815, 0.817e-3, 0.126)),
    (
        4.8,
        (-0.0203, -0.0141, 0.070),
        (0.066, 0.086, 0.0125),
        (0.0203, -np.pi / 2, 0.15005),
        (200e-6, -53.7063, 1.38e-3, 0.132),
    ),
    (0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3), (0, np.pi / 2, 0.4318), (33e-6, 76.0364, 71.2e-6, 11.2e-3)),
    (0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), (0, -np.pi / 2, 0), (33e-6, 71.923, 82.6e-6, 9.26e-3)),
    (0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), (0, 0, 0), (33e-6, 76.686, 36.7e-6, 3.96e-3)),
)
QN = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])


def puma():
    """Two links are written differently, since no distribution of mass has their moments; the dynamics are the same.

    Link 1 only turns about its y axis: the other moments and a mass on that axis are free. Link 3 takes 0.01 kg m^2
    about the directions across its joint axis (its y) from link 2 (its z), with which it shares the angular velocity in
    these directions.
    """
    masses = [(1.0 if k == 0 else PUMA[k][0], PUMA[k][1], np.array(PUMA[k][2])) for k in range(6)]
    masses[0][2][:] = 0.2, 0.35, 0.2
    masses[1][2][:] -= (0.01, 0.01, 0)
    masses[2][2][:] += (0.01, 0, 0.01)
    links = []
    for k, (mass, com, inertia) in enumerate(masses):
        a, alpha, d = PUMA[k][3]
        links.append(gs.Joint(f"q{k}", "revolute", axis="z"))
        links.append(gs.DHDisplacement(f"dh{k}", a=a, alpha=alpha, d=d))
        links.append(gs.RigidBody(f"link{k}", mass=mass, com=com, inertia=inertia))
    return gs.assemble("puma560", gs.chain("world", *links))


def puma_torques(v, a):
    """With rotor inertia and friction of the motors, for v >= 0, as rne of the toolbox has it."""
    J, ratio, viscous, coulomb = np.array([row[4] for row in PUMA]).T
    friction = viscous * ratio**2 * v + np.abs(ratio) * coulomb * (v > 0)
    return gs.rnea(puma(), QN, v, a) + J * ratio**2 * a + friction


ZERO, ALL, COUNT = np.zeros(6), np.ones(6), np.array([1, 2, 3, 1, 2, 3])
PUMA_TORQUES = {  # v, a, published torques
    "gravload_qn": (ZERO, ZERO, [0, 31.6399, 6.0351, 0, 0.0283, 0]),
    "rne_qn_qd0_qdd1": (ZERO, ALL, [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
    "rne_qn_qd1_qdd1": (ALL, ALL, [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
    "rne_qn_qd1_qdd0": (ALL, ZERO, [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
}


@pytest.mark.parametrize("case", PUMA_TORQUES)
def test_torques_of_the_puma_560_are_the_published_ones(case):
    """6e-5 N m: the figures have four decimals or six digits."""
    v, a, want = PUMA_TORQUES[case]
    np.testing.assert_allclose(puma_torques(v, a), want, rtol=5e-6, atol=6e-5)


def test_inertia_and_velocity_torques_of_the_puma_560_are_the_published_ones():
    """Half a unit of the fourth decimal for each matrix entry; the sums over six of them, times up to 3, allow 6e-4."""
    inertia = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
        [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
        [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
        [-0.0025, 0, 0, 0.1925, 0, 0],
        [0, 0.0024, 0.0015, 0, 0.1713, 0],
        [0, 0, 0, 0, 0, 0.1941],
    ]
    still = puma_torques(ZERO, ZERO)
    columns = [puma_torques(ZERO, e) - still for e in np.eye(6)]
    np.testing.assert_allclose(np.transpose(columns), inertia, rtol=0, atol=6e-5)
    coriolis = [
        [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
        [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0],
        [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0],
        [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
        [-0.0002, 0.0028, 0.0046, -0.0002, 0, 0],
        [0.0001, 0, 0, 0, 0, 0],
    ]
    velocity = gs.rnea(puma(), QN, COUNT, ZERO) - gs.rnea(puma(), QN, ZERO, ZERO)
    np.testing.assert_allclose(velocity, np.array(coriolis) @ COUNT, rtol=0, atol=6e-4)


def test_a_wrench_on_the_hand_of_the_puma_560_is_felt_as_published():
    """The toolbox gives the wrench that the hand exerts: force (1, 2, 3), then moment (1, 2, 3), in the last frame."""
    push = {"link5": -np.array([1, 2, 3, 1, 2, 3])}
    want = [0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3]
    np.testing.assert_allclose(gs.rnea(puma(), QN, ZERO, ZERO, push), want, rtol=5e-6, atol=6e-5)


def test_the_numbers_of_the_puma_560_are_typed_correctly():
    data = json.loads(reference("puma560_corke.json").read_text("utf-8"))["published_tests"]
    assert {case: data[case] for case in PUMA_TORQUES} == {case: want for case, (_, _, want) in PUMA_TORQUES.items()}
    accelerated = puma_torques(ZERO, COUNT) - puma_torques(ZERO, ZERO)
    np.testing.assert_allclose(accelerated, data["itorque_qn_qdd123123"], rtol=0, atol=6e-5)


# ------------------------------------------------------------------------------------------------ forward dynamics
ALGORITHMS = gs.ForwardDynamics.algorithms


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("case", RBDL)
def test_accelerations_of_rbdl_by_every_algorithm(case, algorithm):
    build, a = RBDL[case]
    zero = np.zeros(len(a))
    found = gs.ForwardDynamics(build(), algorithm, mode="interpret")(zero, zero, zero)
    np.testing.assert_allclose(found, a, rtol=0, atol=1e-13)


def test_accelerations_of_the_tree_of_rbdl_by_compiled_code():
    build, a = RBDL["tree_5"]
    zero = np.zeros(5)
    np.testing.assert_allclose(gs.aba(build(), zero, zero, zero), a, rtol=0, atol=1e-13)
    M, bias = gs.crba(build(), zero), gs.bias(build(), zero, zero)
    np.testing.assert_allclose(M @ a + bias, zero, rtol=0, atol=2e-12)
    np.testing.assert_allclose(-gs.inverse_mass_matrix(build(), zero) @ bias, a, rtol=0, atol=1e-13)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_three_rotations_of_featherstones_own_program_by_every_algorithm(algorithm):
    turns = [gs.Joint(f"r{axis}", "revolute", axis=axis) for axis in "zyx"]
    model = gs.assemble("ball", gs.chain("world", *turns, unit_body("body", (0, 0.5, 0))), gravity=FLAT)
    found = gs.ForwardDynamics(model, algorithm, mode="interpret")([1, 0, 0], np.zeros(3), np.zeros(3))
    np.testing.assert_allclose(found, [3.301932144386186, 0, 0], rtol=0, atol=1e-14)


def test_accelerations_of_a_floating_base_of_rbdl():
    """As six joints, and as a free base, whose rates are angular, then linear; at zero and at rest they agree."""
    base, child = unit_body("base", (1, 0, 0), {"next": (2, 0, 0)}), unit_body("child", (1, 0, 0))
    hinge = gs.Joint("q", "revolute", axis="z")
    six, tau = six_joints(base, hinge, child), [0, 0, 0, 0, 0, 0, 1]
    for algorithm in ALGORITHMS:
        found = gs.ForwardDynamics(six, algorithm, mode="interpret")(np.zeros(7), np.zeros(7), tau)
        np.testing.assert_allclose(found, [0, -8.81, 0, -1, 0, 0, 2], rtol=0, atol=1e-13)
    free = gs.assemble("free", gs.chain("world", base, hinge, child), gravity=FLAT, base="free")
    for algorithm in ALGORITHMS:
        found = gs.ForwardDynamics(free, algorithm, mode="interpret")(gs.neutral(free), np.zeros(7), tau)
        np.testing.assert_allclose(found, [0, 0, -1, 0, -8.81, 0, 2], rtol=0, atol=1e-13)


def test_jacobians_of_a_point_on_a_floating_body_of_rbdl():
    """Velocity J v, and acceleration dJ/dt v without that of the joints."""
    far, near = point(-1.9, -1.8, 0), point(1, 0, 0)
    velocity = gs.jacobian(far, STATE, "body.point", "aligned") @ STATE
    np.testing.assert_allclose(velocity[3:], [0.3091226260907569, 3.891012095550828, 4.100277995030419], rtol=1e-14)
    acceleration = gs.jacobian_rate(far, STATE, STATE, "body.point", "aligned") @ STATE
    expected = [-5.30276015884716, 6.541369639625232, -4.795115077652286]
    np.testing.assert_allclose(acceleration[3:], expected, rtol=1e-13)
    start = gs.jacobian(far, np.zeros(6), "body.point", "aligned") @ STATE
    np.testing.assert_allclose(start[3:], [2.44, -1.37, 0.99], rtol=1e-14)
    velocity = gs.jacobian(near, STATE, "body.point", "aligned") @ STATE
    expected = [-0.3888503432977729, -0.3171179347202455, 1.093894197498446]
    np.testing.assert_allclose(velocity[3:], expected, rtol=1e-14)


def test_momentum_and_energy_of_a_floating_body_of_rbdl():
    """A ball of mass and moments one: its momentum is its velocity, and that of two of its points is published."""
    near, far = point(1, 0, 0), point(-1.9, -1.8, 0)
    h = gs.centroidal_momentum(near, STATE, STATE)
    R = gs.fk(near, STATE)["body"].R
    published = {
        (1.0, 0.0, 0.0): [-0.3888503432977729, -0.3171179347202455, 1.093894197498446],
        (-1.9, -1.8, 0.0): [0.3091226260907569, 3.891012095550828, 4.100277995030419],
    }
    for at, velocity in published.items():
        np.testing.assert_allclose(h[3:] + np.cross(h[:3], R @ at), velocity, rtol=1e-13)
    np.testing.assert_allclose(gs.centroidal_matrix(far, STATE) @ STATE, h, rtol=1e-13)
    np.testing.assert_allclose(gs.center_of_mass(far, STATE, STATE).v, STATE[:3], rtol=1e-14)
    np.testing.assert_allclose(gs.kinetic_energy(far, STATE, STATE), 0.5 * h @ h, rtol=1e-14)
    np.testing.assert_allclose(gs.potential_energy(far, STATE), 9.81 * STATE[1], rtol=1e-14)


# ------------------------------------------------------------------------------------------------ iiwa 14, dynamics
def test_the_iiwa_answers_the_torques_of_motiongenesis():
    """Upright, without gravity: torques (1, 0, 1, 0, 1, 0, 1) turn the last link alone, by 1000 rad/s^2."""
    model, felt = iiwa(gravity=(0, 0, 0)), np.array([1.0, 0, 1, 0, 1, 0, 1])
    zero = np.zeros(7)
    np.testing.assert_allclose(gs.crba(model, zero)[:, 6], felt / 1000, rtol=0, atol=1e-15)
    for algorithm in ALGORITHMS:
        a = gs.ForwardDynamics(model, algorithm, mode="interpret")(zero, zero, felt)
        np.testing.assert_allclose(a, 1000 * np.eye(7)[6], rtol=0, atol=1e-9)
    np.testing.assert_allclose(gs.inverse_mass_matrix(model, zero) @ felt, 1000 * np.eye(7)[6], rtol=0, atol=1e-9)


def test_the_iiwa_moves_from_where_motiongenesis_has_it():
    """The last joint turns about the published axis through the published point, the first one carries that point."""
    q = IIWA_STATE[0]
    R = np.array(
        [
            [-0.5939002959880204, 0.8043869080239565, -0.015625],
            [-0.8043869080239565, -0.5932991120359317, 0.03094940802395521],
            [0.015625, 0.03094940802395527, 0.9993988160479114],
        ]
    )
    p = np.array([0.2970356451892219, 0.1727696964662288, 1.154681973689345])
    model = iiwa()
    local, world = (gs.jacobian(model, q, "link7", axes) for axes in ("local", "world"))
    np.testing.assert_allclose(local[:, 6], [0, 0, 1, 0, 0, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(world[:3, 6], R[:, 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(world[3:, 6], np.cross(p, R[:, 2]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(world[:, 0], [0, 0, 1, 0, 0, 0], rtol=0, atol=1e-14)
    aligned = gs.jacobian(model, q, "link7", "aligned")
    np.testing.assert_allclose(aligned[3:, 0], np.cross([0, 0, 1], p), rtol=0, atol=1e-12)


def test_matrices_of_the_iiwa_equal_those_that_pinocchio_finds_for_its_urdf():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    theirs = pin.buildModelFromUrdf(str(reference("iiwa14.urdf")))
    data, model = theirs.createData(), iiwa()
    q, v, a = IIWA_STATE
    M = pin.crba(theirs, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(gs.crba(model, q), M, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gs.bias(model, q, v), pin.nonLinearEffects(theirs, data, q, v), rtol=0, atol=1e-12)
    np.testing.assert_allclose(gs.gravity(model, q), pin.computeGeneralizedGravity(theirs, data, q), rtol=0, atol=1e-12)
    tau = pin.rnea(theirs, data, q, v, a)
    np.testing.assert_allclose(gs.aba(model, q, v, tau), a, rtol=0, atol=1e-11)
    J = pin.computeFrameJacobian(theirs, data, q, theirs.getFrameId("iiwa_joint_7"), pin.LOCAL)
    ours = gs.jacobian(model, q, "link7", "local")
    np.testing.assert_allclose(ours, np.concatenate([J[3:], J[:3]]), rtol=0, atol=1e-12)


# ------------------------------------------------------------------------------------------------ Puma 560, matrices
PUMA_INERTIA = (
    (3.6594, -0.4044, 0.1006, -0.0025, 0, 0),
    (-0.4044, 4.4137, 0.3509, 0, 0.0024, 0),
    (0.1006, 0.3509, 0.9378, 0, 0.0015, 0),
    (-0.0025, 0, 0, 0.1925, 0, 0),
    (0, 0.0024, 0.0015, 0, 0.1713, 0),
    (0, 0, 0, 0, 0, 0.1941),
)
PUMA_CORIOLIS = (
    (-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001),
    (0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0),
    (-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0),
    (0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001),
    (-0.0002, 0.0028, 0.0046, -0.0002, 0, 0),
    (0.0001, 0, 0, 0, 0, 0),
)
PUMA_ACCEL = (
    (0.1, 0.2, 0.8, 0.2, 0.5, 1.0),
    (1.0, 3.2, 1.8, 0.1, 0.7, 4.6),
    (-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228),
)


def puma_rotors():
    return np.array([J * ratio**2 for *_, (J, ratio, _, _) in PUMA])


@pytest.mark.parametrize("algorithm", gs.MassMatrix.algorithms)
def test_the_mass_matrix_of_the_puma_560_is_the_published_one(algorithm):
    """With the rotors; half a unit of the fourth decimal."""
    M = gs.MassMatrix(puma(), algorithm, mode="interpret")(QN)
    np.testing.assert_allclose(M + np.diag(puma_rotors()), PUMA_INERTIA, rtol=0, atol=6e-5)


def test_the_coriolis_matrix_and_gravity_of_the_puma_560_are_the_published_ones():
    """The toolbox splits products of two rates evenly, as Christoffel's symbols do."""
    model = puma()
    np.testing.assert_allclose(gs.coriolis(model, QN, COUNT), PUMA_CORIOLIS, rtol=0, atol=6e-5)
    terms = gs.EquationsOfMotion(model)(QN, COUNT)
    np.testing.assert_allclose(terms.C @ COUNT, np.array(PUMA_CORIOLIS) @ COUNT, rtol=0, atol=6e-4)
    want = PUMA_TORQUES["gravload_qn"][2]
    np.testing.assert_allclose(gs.gravity(model, QN), want, rtol=0, atol=6e-5)
    np.testing.assert_allclose(terms.G, want, rtol=0, atol=6e-5)


def test_torques_of_the_puma_560_without_gravity_are_the_published_ones():
    want = [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781]
    np.testing.assert_allclose(puma_torques(ALL, ALL) - gs.gravity(puma(), QN), want, rtol=5e-6, atol=6e-5)
    itorque = [3.15, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823]
    M = gs.crba(puma(), QN) + np.diag(puma_rotors())
    np.testing.assert_allclose(M @ COUNT, itorque, rtol=0, atol=6e-5)


def test_accelerations_of_the_puma_560_are_the_published_ones():
    """With rotors and friction: (M + rotors) a = tau - torques without acceleration."""
    v, tau, want = (np.array(x) for x in PUMA_ACCEL)
    M = gs.crba(puma(), QN) + np.diag(puma_rotors())
    a = np.linalg.solve(M, tau - puma_torques(v, ZERO))
    np.testing.assert_allclose(a, want, rtol=0, atol=6e-5)
    np.testing.assert_allclose(puma_torques(v, want), tau, rtol=0, atol=4e-4)
    without = tau - (puma_torques(v, a) - gs.rnea(puma(), QN, v, a))
    np.testing.assert_allclose(gs.aba(puma(), QN, v, without), a, rtol=0, atol=1e-9)


def test_the_matrices_of_the_puma_560_are_typed_correctly():
    data = json.loads(reference("puma560_corke.json").read_text("utf-8"))["published_tests"]
    np.testing.assert_array_equal(data["inertia_qn"], PUMA_INERTIA)
    np.testing.assert_array_equal(data["coriolis_qn_qd123123"], PUMA_CORIOLIS)
    assert [data["accel_qn"][key] for key in ("qd", "tau", "qdd")] == [list(x) for x in PUMA_ACCEL]
    assert data["rne_qn_qd1_qdd1_nogravity"] == [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781]
    assert data["itorque_qn_qdd123123"] == [3.15, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823]


def test_the_floating_bodies_of_rbdl_are_typed_correctly():
    data = json.loads(reference("rbdl_hard_numbers.json").read_text("utf-8"))
    assert data["three_rot_dof_spatial_v1"]["qdd"] == [3.301932144386186, 0, 0]
    assert data["floating_base_torque"]["qdd"] == [0, -8.81, 0, -1, 0, 0, 2]
    assert data["point_velocity"]["q=qd"] == STATE.tolist()
    assert data["point_velocity"]["vel"] == [-0.3888503432977729, -0.3171179347202455, 1.093894197498446]
    assert data["humans_toolbox_point"]["vel"] == [0.3091226260907569, 3.891012095550828, 4.100277995030419]
    assert data["humans_toolbox_point"]["acc"] == [-5.30276015884716, 6.541369639625232, -4.795115077652286]
