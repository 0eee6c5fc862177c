"""Inverse dynamics and kinematics against Pinocchio, over random trees with every kind of joint.

The wide sweeps run the plain NumPy code (``mode="interpret"``); compiled code, which takes longer to make than to run,
has smaller ones of its own. Pinocchio knows no internal momentum; bodies that have some are compared elsewhere.
"""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.examples import few
from tests.support.pinocchio_oracle import Oracle, random_state, walk
from tests.support.random_models import random_wrenches, spatial_ports, various_tree

TREES = [pytest.param(seed, marks=pytest.mark.slow) if seed >= 60 else seed for seed in range(300)]
EXPRESSIONS = ("local", "aligned", "world")
REPRESENTATIONS = ("body", "inertial", "absolute")
SAME = 1e-10


def assert_same_forces(model, oracle, rng, representation, mode):
    """tau and the cut forces of all joints, with wrenches in all kinds of frames."""
    q, v, a = random_state(model, rng)
    wrenches = random_wrenches(model, rng, 8)
    oracle.move(q, v, a)
    local = {port: oracle.local_wrench(port, w.value, w.expressed_in) for port, w in wrenches.items()}
    solver = gs.InverseDynamics(model, representation, mode=mode)
    assert_close(solver(q, v, a, wrenches), oracle.rnea(q, v, a, local), SAME)
    cut = oracle.joint_forces()
    forces = solver.port_forces(q, v, a, wrenches, ports=cut)
    for port, force in cut.items():
        assert_close(forces[port], force, SAME)


def assert_same_motions(model, oracle, rng, representation, mode):
    """Placement, velocity and both accelerations of every spatial port, in every system of coordinates."""
    q, v, a = random_state(model, rng)
    oracle.move(q, v, a)
    motions = gs.ForwardKinematics(model, representation=representation, mode=mode)(q, v, a)
    assert set(motions) == set(oracle.frame) == set(spatial_ports(model))
    for port, motion in motions.items():
        R, p = oracle.placement(port)
        assert_close(motion.R, R, SAME)
        assert_close(motion.p, p, SAME)
        for axes in EXPRESSIONS:
            assert_close(motion.velocity(axes), oracle.velocity(port, axes), SAME)
            assert_close(motion.spatial_acceleration(axes), oracle.spatial_acceleration(port, axes), SAME)
        for axes in ("local", "aligned"):
            assert_close(motion.acceleration(axes), oracle.acceleration(port, axes), SAME)


def assert_same(model, seed, representation="body", mode="interpret"):
    rng, oracle = np.random.default_rng([seed, 21]), Oracle(model)
    assert_same_forces(model, oracle, rng, representation, mode)
    assert_same_motions(model, oracle, rng, representation, mode)


# ------------------------------------------------------------------------------------------------ random trees
def of_the_list(seed):
    return various_tree(seed, treat_as=["acceleration", "field"][seed % 2])


@pytest.mark.by_default(15)
@pytest.mark.parametrize("seed", TREES)
def test_forces_and_motions_of_random_trees(seed):
    assert_same(of_the_list(seed), seed)


@settings(max_examples=few(25), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bodies=st.integers(1, 12), representation=st.sampled_from(REPRESENTATIONS))
def test_forces_and_motions_in_all_representations(seed, bodies, representation):
    assert_same(various_tree(seed, bodies), seed, representation)


@pytest.mark.by_default(8)
@pytest.mark.parametrize("seed", range(18))
def test_forces_and_motions_by_compiled_code(seed):
    assert_same(various_tree(seed, 2 + seed % 4), seed, REPRESENTATIONS[seed % 3], "compile")


@pytest.mark.slow
@pytest.mark.parametrize("seed", TREES[::15])
def test_forces_and_motions_of_large_trees_by_compiled_code(seed):
    assert_same(of_the_list(seed), seed, REPRESENTATIONS[seed % 3], "compile")


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(40))
def test_forces_and_motions_of_a_thousand_more_trees(batch):
    for seed in range(1000 + 25 * batch, 1025 + 25 * batch):
        assert_same(various_tree(seed), seed, REPRESENTATIONS[seed % 3])


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("seed", range(4))
def test_stacked_operators_give_the_same_forces(seed, representation):
    model = various_tree(seed, 1 + seed % 3, treat_as=["acceleration", "field"][seed % 2])
    q, v, a = random_state(model, np.random.default_rng(seed))
    assert_close(gs.operators(model, q, v, representation=representation).rnea(a), Oracle(model).rnea(q, v, a), SAME)


def test_the_random_trees_contain_everything():
    """Among the first sixty: every joint from both sides, every kind of entity, every form of rotation, both bases."""
    joints, kinds, rotations, bases, groups = Counter(), Counter(), Counter(), Counter(), Counter()
    for seed in TREES[:60]:
        model = of_the_list(seed)
        bases[model.context.base] += 1
        joints.update((moved.joint.kind, moved.far) for moved in walk(model).moved[1:])
        groups.update(len(group) for group in model.wiring.groups)
        for entity in model.entities:
            kinds[type(entity).__name__] += 1
            if isinstance(entity, gs.DHDisplacement):
                rotations[entity.convention] += 1
            elif isinstance(entity, gs.Displacement):
                rotations[type(entity.rotation).__name__] += 1
            elif isinstance(entity, gs.Joint) and entity.kind == "fixed":
                joints["fixed", "ab"] += 1
    moving = {(kind, far) for kind in gs.JOINT_KINDS if kind != "fixed" for far in "ab"}
    assert set(joints) == moving | {("fixed", "ab"), ("free", "frame")}
    assert min(joints.values()) >= 20
    assert set(bases) == {"fixed", "free"}
    entities = (gs.ReferenceFrame, gs.RigidBody, gs.Displacement, gs.DHDisplacement, gs.Joint, gs.ForceElement)
    assert set(kinds) == {entity.__name__ for entity in entities}
    forms = {"Euler", "Quaternion", "RotationMatrix", "AxisAngle", "standard", "modified"}
    assert set(rotations) == forms
    assert {2, 3, 4, 5} <= set(groups)  # connections of several ports


# ------------------------------------------------------------------------------------------------ single joints
def single_joint(kind, near, base="fixed"):
    """A body between two displacements on a joint of this kind, entered at the port ``near``."""
    needs = gs.JOINT_KINDS[kind].needs
    numbers = {"axis": (2 / 3, -1 / 3, 2 / 3), "second_axis": (0.6, 0.0, -0.8), "pitch": 0.17}
    joint = gs.Joint("joint", kind, **{key: numbers[key] for key in needs})
    before = gs.Displacement("before", translation=(0.3, -0.2, 0.5), rotation=gs.rpy(0.3, -1.1, 2.0))
    body = gs.RigidBody(
        "body",
        mass=1.7,
        com=(0.05, 0.11, -0.08),
        inertia=((0.04, 0.003, -0.002), (0.003, 0.05, 0.004), (-0.002, 0.004, 0.03)),
        frames={"tip": ((0.1, 0.2, -0.3), gs.rpy(1.0, 0.4, -0.7))},
    )
    far = "a" if near == "b" else "b"
    wires = [("world.frame", "before.a"), ("before.b", f"joint.{near}"), (f"joint.{far}", "body.tip")]
    entities = [gs.ReferenceFrame("world"), before, joint, body]
    return gs.Model(kind, entities, wires, gs.Context(gravity=(1.0, -2.0, -9.0), base=base))


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", gs.JOINT_KINDS)
def test_forces_and_motions_of_a_single_joint(kind, near, base):
    model = single_joint(kind, near, base)
    for seed, representation in enumerate(REPRESENTATIONS):
        assert_same(model, seed, representation)
    if base == "fixed":
        assert_same(model, 3, mode="compile")


# ------------------------------------------------------------------------------------------------ the oracle itself
def step(model, q, v, h):
    """q after a time h with constant rates v, from the meaning of the coordinates in the documentation of Joint."""
    q = q.copy()
    for block in model.layout:
        if not block.turns:
            q[block.q] += h * v[block.v]
            continue
        x = q[block.quaternion].copy()
        if block.moves:
            # with constant body rates: p' = R v; half a step of rotation makes it second order
            q[block.position] += h * (matrix(turned(x, v[block.angular], h / 2)) @ v[block.linear])
        q[block.quaternion] = turned(x, v[block.angular], h)
    return q


def turned(x, w, h):
    """Quaternion x times exp(w h / 2)."""
    angle = np.linalg.norm(w) * h
    y = np.array([*(w * (np.sin(angle / 2) / np.linalg.norm(w))), np.cos(angle / 2)])
    vector = x[3] * y[:3] + y[3] * x[:3] + np.cross(x[:3], y[:3])
    return np.array([*vector, x[3] * y[3] - x[:3] @ y[:3]])


def matrix(x):
    u, w = x[:3], x[3]
    return np.eye(3) + 2 * w * np.cross(np.eye(3), u) + 2 * (np.outer(u, u) - u @ u * np.eye(3))


@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", [kind for kind in gs.JOINT_KINDS if kind != "fixed"])
def test_the_oracle_moves_as_the_documentation_of_joints_says(kind, near):
    """Velocities are rates of placements, accelerations rates of velocities, forces have the power of the wrenches.

    1e-7: central differences with a step of 1e-5 s leave about 1e-10 from the formula and 1e-11 from rounding.
    """
    model, rng, h = single_joint(kind, near), np.random.default_rng(5), 1e-5
    oracle = Oracle(model)
    q, v, a = random_state(model, rng)

    def at(time):
        oracle.move(step(model, q, v + 0.5 * time * a, time), v + time * a, a)
        R, p = oracle.placement("body.origin")
        return R, p, oracle.velocity("body.origin")

    (R_1, p_1, V_1), (R_2, p_2, V_2) = at(-h), at(h)
    R, _, V = at(0.0)
    spin = R.T @ (R_2 - R_1) / (2 * h)
    assert_close(V[:3], [spin[2, 1], spin[0, 2], spin[1, 0]], 1e-7)
    assert_close(V[3:], R.T @ (p_2 - p_1) / (2 * h), 1e-7)
    assert_close(oracle.spatial_acceleration("body.origin"), (V_2 - V_1) / (2 * h), 1e-7)
    wrench = rng.normal(size=6)
    without, with_it = oracle.rnea(q, v, a), oracle.rnea(q, v, a, {"body.origin": wrench})
    assert (without - with_it) @ v == pytest.approx(wrench @ V, rel=1e-12)
