"""Edited robots against Pinocchio models that were built the long way: bodies appended, models appended, joints taken
out by ``buildReducedModel``, rotors as bodies of their own on joints that gears tie to the links'."""

import logging
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close, assert_differs

pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")

ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
PANDA = ROBOTS / "panda_description" / "urdf" / "panda.urdf"
TOLERANCE = 1e-10
PLACE = pin.SE3(pin.rpy.rpyToMatrix(0.1, -0.2, 0.3), np.array([0.02, -0.01, 0.15]))
AT = ((0.02, -0.01, 0.15), gs.rpy(0.1, -0.2, 0.3))


@pytest.fixture(scope="module", autouse=True)
def quiet():
    if not PANDA.is_file():
        pytest.skip("the package example-robot-data is not installed")
    logger = logging.getLogger("gyrostat")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


def panda(**options) -> gs.Model:
    return gs.load(PANDA, roots=[ROBOTS.parent], **options)


def bare_panda() -> gs.Model:
    """As Pinocchio has it by default: no friction, no followers."""
    return panda(friction=False, mimic=False)


def compare(model: gs.Model, other, seed: int = 0, rename=lambda name: name) -> None:
    """Inverse and forward dynamics, mass matrix and masses; ``rename``: a joint's name in Pinocchio -> in gyrostat."""
    rng = np.random.default_rng(seed)
    order = [model.dofs.index(rename(other.names[k])) for k in range(1, other.njoints)]
    assert sorted(order) == list(range(model.nv)) == list(range(other.nv))
    data = other.createData()
    for _ in range(3):
        q, v, a, tau = rng.uniform(-1.5, 1.5, (4, model.nv))
        x, w, b, t = (value[order] for value in (q, v, a, tau))
        assert_close(gs.rnea(model, q, v, a)[order], pin.rnea(other, data, x, w, b), TOLERANCE)
        assert_close(gs.aba(model, q, v, tau)[order], pin.aba(other, data, x, w, t), TOLERANCE)
        M = pin.crba(other, data, x)
        assert_close(gs.crba(model, q)[np.ix_(order, order)], np.triu(M) + np.triu(M, 1).T, TOLERANCE)


def add_body(other, frame: str, body: gs.RigidBody, place) -> None:
    """A body on a frame of a Pinocchio model."""
    found = other.frames[other.getFrameId(frame)]
    inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
    other.appendBodyToJoint(found.parentJoint, inertia, found.placement * place)


def payload() -> gs.RigidBody:
    return gs.RigidBody.from_shape(
        "payload", "box", size=(0.05, 0.08, 0.2), density=2700.0, translation=(0, 0, 0.1), rotation=gs.rpy(0.2, 0.4, 0)
    )


def test_a_payload_on_the_hand():
    model = bare_panda().attach(payload(), to="panda_hand", at=AT)
    other = pin.buildModelFromUrdf(str(PANDA))
    q = np.linspace(-1, 1, 9)
    assert_differs(gs.gravity(model, q), gs.gravity(bare_panda(), q))
    add_body(other, "panda_hand", payload(), PLACE)
    compare(model, other)
    assert model["payload"].shapes[0].kind == "box"


def test_a_locked_wrist():
    model = bare_panda().lock("panda_joint7", 0.7)
    other = pin.buildModelFromUrdf(str(PANDA))
    q = pin.neutral(other)
    q[other.joints[other.getJointId("panda_joint7")].idx_q] = 0.7
    compare(model, pin.buildReducedModel(other, [other.getJointId("panda_joint7")], q))


def test_several_locked_joints_among_them_sliding_ones():
    given = {"panda_joint2": -0.4, "panda_joint5": 1.1, "panda_finger_joint1": 0.03}
    model = bare_panda().lock(given)
    other = pin.buildModelFromUrdf(str(PANDA))
    q = pin.neutral(other)
    for name, value in given.items():
        q[other.joints[other.getJointId(name)].idx_q] = value
    compare(model, pin.buildReducedModel(other, [other.getJointId(name) for name in given], q))


def test_a_locked_leader_locks_its_follower():
    model = panda(friction=False).lock("panda_finger_joint1", 0.03)
    assert model.nv == 7
    other = pin.buildModelFromUrdf(str(PANDA))
    q = pin.neutral(other)
    fingers = [other.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    for k in fingers:
        q[other.joints[k].idx_q] = 0.03
    compare(model, pin.buildReducedModel(other, fingers, q))


def two_pandas() -> gs.Model:
    return bare_panda().attach(bare_panda(), to="panda_hand", at=AT, prefix="b_")


def both_in_pinocchio():
    first, second = pin.buildModelFromUrdf(str(PANDA)), pin.buildModelFromUrdf(str(PANDA))
    for k in range(1, second.njoints):
        second.names[k] = f"b_{second.names[k]}"
    for frame in second.frames:
        frame.name = f"b_{frame.name}"
    both = pin.appendModel(first, second, first.getFrameId("panda_hand"), PLACE)
    return both


def test_a_second_robot_on_the_gripper():
    compare(two_pandas(), both_in_pinocchio())


@pytest.mark.slow
def test_a_second_robot_can_be_changed_like_the_first():
    both = both_in_pinocchio()
    q = pin.neutral(both)
    q[both.joints[both.getJointId("b_panda_joint4")].idx_q] = -1.2
    add_body(both, "b_panda_hand", payload(), PLACE)
    expected = pin.buildReducedModel(both, [both.getJointId("b_panda_joint4")], q)
    compare(two_pandas().lock("b_panda_joint4", -1.2).attach(payload(), to="b_panda_hand", at=AT), expected)


def test_without_the_hand():
    model = bare_panda().detach("panda_hand")
    assert model.nv == 7
    assert "panda_leftfinger" not in model.wiring.entities
    compare(model, _without_hand())


def _without_hand():
    """The URDF with the hand's mass, and all behind it, taken away."""
    text = PANDA.read_text("utf-8")
    first = text.index('<joint name="panda_hand_joint"')
    return pin.buildModelFromXML(f"{text[:first]}</robot>")


# ------------------------------------------------------------------------------------------------ drives
ROTORS = {  # I_r, N, mass, position on the axis, transverse
    "panda_joint2": (4e-4, 100.0, 0.6, 0.05, 3e-4),
    "panda_joint4": (2e-4, -80.0, 0.3, -0.02, 0.0),
    "panda_joint7": (5e-5, 50.0, 0.1, 0.0, 1e-4),
}


def driven(model: gs.Model) -> gs.Model:
    for name, (inertia, N, mass, along, transverse) in ROTORS.items():
        u = np.array(model[name].axis)
        rotor = {"mass": mass, "position": tuple(along * u), "transverse": transverse}
        model = model.with_drive(name, rotor_inertia=inertia, gear_ratio=N, lumped=False, rotor=rotor)
    return model


class WithRotors:
    """Pinocchio's Panda with a body and a joint for every rotor; T: its rates by those of the robot."""

    def __init__(self, names: tuple[str, ...]):
        self.model = pin.buildModelFromUrdf(str(PANDA))
        for name, (inertia, _, mass, along, transverse) in ROTORS.items():
            k = self.model.getJointId(name)
            u = np.array([0.0, 0.0, 1.0])
            at, carrier = self.model.jointPlacements[k], self.model.parents[k]
            joint = self.model.addJoint(carrier, pin.JointModelRZ(), at, f"{name}_rotor")
            J = np.diag([transverse, transverse, inertia])
            self.model.appendBodyToJoint(joint, pin.Inertia(mass, along * u, J), pin.SE3.Identity())
        self.data = self.model.createData()
        self.T = np.zeros((self.model.nv, len(names)))
        for k in range(1, self.model.njoints):
            name = self.model.names[k].removesuffix("_rotor")
            ratio = ROTORS[name][1] if name != self.model.names[k] else 1.0
            if name in names:
                self.T[self.model.joints[k].idx_v, names.index(name)] = ratio
            elif name == "panda_finger_joint2":  # it follows the other one
                self.T[self.model.joints[k].idx_v, names.index("panda_finger_joint1")] = 1.0

    def rnea(self, q, v, a, still=()) -> np.ndarray:
        x = self.T @ q
        for name, value in still:
            x[self.model.joints[self.model.getJointId(name)].idx_q] = value
            x[self.model.joints[self.model.getJointId(f"{name}_rotor")].idx_q] = value * ROTORS[name][1]
        return self.T.T @ pin.rnea(self.model, self.data, x, self.T @ v, self.T @ a)

    def mass_matrix(self, q) -> np.ndarray:
        """By unit accelerations: Pinocchio's own algorithm wants joints in another order than they were added."""
        rest = np.zeros(len(q))
        return np.stack([self.rnea(q, rest, a) - self.rnea(q, rest, rest) for a in np.eye(len(q))], axis=1)


def test_drives_on_a_loaded_robot_keep_the_friction_of_its_file():
    """tau = T^T rnea(T q, T v, T a) of links and rotors, and damping and friction of the URDF at each joint."""
    model = driven(panda())
    assert model.nv == 8
    assert model["panda_joint2.gear.ratio"] == 100.0
    assert model["panda_joint2.friction.viscous"] == panda()["panda_joint2.friction.viscous"] == 0.003
    other, rng = WithRotors(model.dofs), np.random.default_rng(4)
    fingers = 2.0  # both of them rub
    damping = np.array([model[f"{name}.friction.viscous"] for name in model.dofs]) * np.r_[np.ones(7), fingers]
    dry = np.array([model[f"{name}.friction.coulomb"] for name in model.dofs]) * np.r_[np.ones(7), fingers]
    for _ in range(3):
        q, v, a = rng.uniform(-1.0, 1.0, (3, 8))
        expected = other.rnea(q, v, a) + damping * v + dry * np.sign(v)
        tau = gs.rnea(model, q, v, a)
        assert_close(tau, expected, TOLERANCE)
        assert_close(gs.aba(model, q, v, tau), a, TOLERANCE)
        assert_close(gs.crba(model, q), other.mass_matrix(q), TOLERANCE)


def test_a_locked_geared_joint_leaves_its_rotor_in_the_carrier():
    model = driven(panda(friction=False)).lock({"panda_joint4": -1.5, "panda_joint7": 0.4})
    still = [("panda_joint4", -1.5), ("panda_joint7", 0.4)]
    assert model["panda_joint4.rotor"].type_name == "locked_rotor"
    assert not any(name.startswith("panda_joint4_drive.gear") for name in model.wiring.entities)
    other, rng = WithRotors(model.dofs), np.random.default_rng(5)
    for _ in range(3):
        q, v, a = rng.uniform(-1.0, 1.0, (3, 6))
        assert_close(gs.rnea(model, q, v, a), other.rnea(q, v, a, still), TOLERANCE)
    without = model.detach("panda_joint4_drive").detach("panda_joint7_drive")
    assert_differs(gs.rnea(model, q, v, a), gs.rnea(without, q, v, a), 1e-4)


def test_driven_and_locked_and_loaded_models_survive_yaml(tmp_path):
    model = driven(panda()).lock("panda_joint4", -1.5).attach(payload(), to="panda_hand", at=AT)
    gs.save(model, tmp_path / "edited.yaml")
    again = gs.load(tmp_path / "edited.yaml")
    assert again == model
    q, v, a = np.random.default_rng(6).uniform(-1, 1, (3, model.nv))
    assert np.array_equal(gs.rnea(again, q, v, a), gs.rnea(model, q, v, a))
