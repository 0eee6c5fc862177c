"""The same mechanism, written differently, has the same forces and motions.

All comparisons are to 1e-12 of the largest number involved, or bit for bit. Sweeps over models run the plain NumPy
code, which needs no compilation.
"""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.graph.rewrite import RULES
from tests.support.comparing import assert_close
from tests.support.random_models import random_state, random_wrenches, spatial_ports, various_tree
from tests.support.rewordings import (
    JOINTS,
    Reworded,
    about,
    explicit_wheels,
    flip_displacements,
    flip_joints,
    homogeneous,
    inverse,
    move_origins,
    nest,
    reorder,
    split_bodies,
)

SEEDS = range(20)
REPRESENTATIONS = ("body", "inertial", "absolute")
SAME = 1e-12


def small_tree(seed):
    return various_tree(seed, 3 + seed % 8, momentum=True, treat_as=["acceleration", "field"][seed % 2])


def entities(model, kind):
    """Names of the entities of a kind."""
    return [entity.name for entity in model.entities if isinstance(entity, kind)]


def inverse_dynamics(model, representation="body", rules=None):
    return gs.InverseDynamics(model, representation, rules=rules, mode="interpret")


def forward_kinematics(model, representation="body", rules=None):
    return gs.ForwardKinematics(model, representation=representation, rules=rules, mode="interpret")


def assert_same_motions(new, old, ports=None, tolerance=SAME):
    for port, motion in old.items():
        other = new[ports[port] if ports else port]
        assert_close(other.R, motion.R, tolerance)
        assert_close(other.p, motion.p, tolerance)
        assert_close(other.V, motion.V, tolerance)
        assert_close(other.A, motion.A, tolerance)


def assert_same_mechanism(change: Reworded, seed, cuts=True, representation="body", tolerance=SAME):
    """tau, motions of all ports and, if ``cuts`` are the same, the forces in all ports, under all kinds of wrenches."""
    old, new, rng = change.original, change.model, np.random.default_rng([seed, 31])
    gs.check(new)
    assert new != old
    q, v, a = random_state(old, rng)
    (q_new, v_new, a_new), T = change.convert(q, v, a)
    wrenches = random_wrenches(old, rng, 8)
    solver, other = inverse_dynamics(old, representation), inverse_dynamics(new, representation)
    tau = other(q_new, v_new, a_new, change.wrenches(wrenches))
    assert_close(T.T @ tau, solver(q, v, a, wrenches), tolerance)
    motions = forward_kinematics(new, representation)(q_new, v_new, a_new)
    assert_same_motions(motions, forward_kinematics(old)(q, v, a), change.ports, tolerance)
    if cuts:
        forces = other.port_forces(q_new, v_new, a_new, change.wrenches(wrenches))
        for port, force in solver.port_forces(q, v, a, wrenches).items():
            assert_close(forces[change.ports[port]], force, tolerance)


# ------------------------------------------------------------------------------------------ representations, rules
@pytest.mark.parametrize("seed", SEEDS)
def test_the_three_representations_agree(seed):
    model, rng = small_tree(seed), np.random.default_rng(seed)
    q, v, a = random_state(model, rng)
    wrenches = random_wrenches(model, rng, 8)
    solver, motions = inverse_dynamics(model), forward_kinematics(model)(q, v, a)
    tau, forces = solver(q, v, a, wrenches), solver.port_forces(q, v, a, wrenches)
    for representation in REPRESENTATIONS[1:]:
        other = inverse_dynamics(model, representation)
        assert_close(other(q, v, a, wrenches), tau, SAME)
        assert_same_motions(forward_kinematics(model, representation)(q, v, a), motions)
        for port, force in other.port_forces(q, v, a, wrenches).items():
            assert_close(force, forces[port], SAME)


def in_pieces(seed):
    """A tree whose bodies are in two pieces, so that there is much to merge, fold and drop."""
    model, rng = small_tree(seed), np.random.default_rng(seed)
    return split_bodies(model, entities(model, gs.RigidBody), rng, JOINTS[seed % 4], 2).model


def selections(rng):
    """All rules and none, each one alone, each one left out, and some more."""
    alone, left_out = [[rule] for rule in RULES], [[rule for rule in RULES if rule != off] for off in RULES]
    return [None, list(RULES), [], *alone, *left_out, *([r for r in RULES if rng.random() < 0.5] for _ in range(16))]


@pytest.mark.parametrize("seed", range(12))
def test_rewriting_rules_change_nothing(seed):
    """Each way to join pieces in each representation."""
    model, rng, representation = in_pieces(seed), np.random.default_rng(seed), REPRESENTATIONS[seed % 3]
    q, v, a = random_state(model, rng)
    wrenches = random_wrenches(model, rng, 8)
    tau = inverse_dynamics(model, representation, rules=())(q, v, a, wrenches)
    motions = forward_kinematics(model, representation, rules=())(q, v, a)
    assert set(motions) == set(spatial_ports(model))
    for rules in selections(rng):
        assert_close(inverse_dynamics(model, representation, rules=rules)(q, v, a, wrenches), tau, SAME)
        found = forward_kinematics(model, representation, rules=rules)(q, v, a)
        assert set(found) == set(motions)
        assert_same_motions(found, motions)


@pytest.mark.parametrize("rule", RULES)
def test_every_rewriting_rule_can_be_left_out(rule):
    models, all_rules = [*(in_pieces(seed) for seed in range(12)), gs.robots.arm6()], list(RULES)
    assert rule in {name for model in models for name, _ in gs.network(model, all_rules).events}
    assert rule not in {name for model in models for name, _ in gs.network(model, all_rules, off=[rule]).events}


# ------------------------------------------------------------------------------------------------ the other way round
@pytest.mark.parametrize("seed", SEEDS)
def test_displacements_written_from_b_to_a(seed):
    model = small_tree(seed + 1)
    names = entities(model, gs.Displacement | gs.DHDisplacement)
    if not names:
        pytest.skip("this tree has no displacement")
    assert_same_mechanism(flip_displacements(model, names), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_bodies_described_from_another_of_their_frames(seed):
    model, rng = small_tree(seed), np.random.default_rng(seed)
    frames = {e.name: rng.choice(["tip", "side"]) for e in model.entities if isinstance(e, gs.RigidBody) and e.frames}
    assert_same_mechanism(move_origins(model, frames), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_joints_written_from_b_to_a(seed):
    model = small_tree(seed)
    assert_same_mechanism(flip_joints(model, entities(model, gs.Joint)), seed)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("kind", gs.JOINT_KINDS)
def test_a_joint_of_each_kind_written_from_b_to_a(kind, representation):
    for seed in range(4):
        model = gs.robots.tree(seed, 3, kinds=[kind], base="free", reversed_share=0.5, momentum=True)
        assert_same_mechanism(flip_joints(model, entities(model, gs.Joint)), seed, representation=representation)


# ------------------------------------------------------------------------------------------ pieces, order, nesting
@pytest.mark.parametrize("pieces", [2, 3])
@pytest.mark.parametrize("how", JOINTS)
@pytest.mark.parametrize("seed", range(8))
def test_bodies_in_pieces_that_are_joined_rigidly(seed, how, pieces):
    model, rng = small_tree(seed), np.random.default_rng(seed)
    change = split_bodies(model, entities(model, gs.RigidBody), rng, how, pieces)
    for representation in REPRESENTATIONS:
        assert_same_mechanism(change, seed, cuts=False, representation=representation)


@pytest.mark.parametrize("seed", SEEDS)
def test_internal_momentum_is_a_wheel_that_turns_at_constant_speed(seed):
    """1e-10: the wheels turn at up to 10000 rad/s, and what cancels inside them leaves its rounding errors."""
    change, representation = explicit_wheels(small_tree(seed)), REPRESENTATIONS[seed % 3]
    assert_same_mechanism(change, seed, representation=representation, tolerance=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_entities_and_connections_in_another_order(seed):
    model = small_tree(seed)
    assert_same_mechanism(reorder(model, np.random.default_rng(seed)), seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_states_by_name_do_not_depend_on_the_order(seed):
    model, rng = small_tree(seed), np.random.default_rng(seed)
    other = reorder(model, rng).model
    q, v, a = random_state(model, rng)
    named = [
        dict(zip(names, x, strict=True)) for names, x in [(model.coordinates, q), (model.dofs, v), (model.dofs, a)]
    ]
    tau = dict(zip(other.dofs, inverse_dynamics(other)(*named), strict=True))
    assert_close([tau[name] for name in model.dofs], inverse_dynamics(model)(q, v, a), SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_assemblies_inside_assemblies(seed):
    model, rng = small_tree(seed), np.random.default_rng(seed)
    names = [e.name for e in model.entities if not isinstance(e, gs.ReferenceFrame)]
    first = [name for name in names if rng.random() < 0.5]
    second = ["inner"] + [name for name in names if name not in first and rng.random() < 0.5]
    change = nest(model, first, "inner").then(lambda m: nest(m, second, "outer"))
    assert any(name.startswith("outer.inner.") for name in change.model.dofs)
    assert_same_mechanism(change, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_at_once(seed):
    model, rng = small_tree(seed), np.random.default_rng(seed)
    how = JOINTS[seed % 4]

    def some(names):
        return [name for name in names if rng.random() < 0.6]

    change = (
        flip_joints(model, some(entities(model, gs.Joint)))
        .then(lambda m: flip_displacements(m, some(entities(m, gs.Displacement | gs.DHDisplacement))))
        .then(
            lambda m: move_origins(m, dict.fromkeys([n for n in some(entities(m, gs.RigidBody)) if n != "end"], "side"))
        )
        .then(lambda m: split_bodies(m, some(entities(m, gs.RigidBody)), rng, how, 3))
        .then(lambda m: nest(m, some(entities(m, gs.RigidBody | gs.Joint)), "part"))
        .then(lambda m: reorder(m, rng))
    )
    assert_same_mechanism(change, seed, cuts=False, representation=REPRESENTATIONS[seed % 3])


# ------------------------------------------------------------------------------------------------ forms of rotations
def placed(entity):
    """4x4 matrix of b in a."""
    return forward_kinematics(gs.assemble("place", gs.chain("world", entity)))([])[entity.name].matrix


@pytest.mark.parametrize("axes", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"])
@pytest.mark.parametrize("moving", [False, True])
def test_euler_angles_mean_what_scipy_means(axes, moving):
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    axes = axes.upper() if moving else axes
    for angles in np.random.default_rng(1).uniform(-4, 4, (5, 3)):
        got = placed(gs.Displacement("d", rotation=gs.euler(angles, axes)))
        assert_close(got, homogeneous(Rotation.from_euler(axes, angles).as_matrix(), (0, 0, 0)), SAME)


def test_quaternions_axes_and_matrices_mean_what_scipy_means():
    Rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    rng = np.random.default_rng(2)
    for oracle in Rotation.random(20, rng=rng):
        R, p, turn = oracle.as_matrix(), rng.normal(size=3), oracle.as_rotvec()
        angle = np.linalg.norm(turn)
        roll_pitch_yaw = oracle.as_euler("xyz")
        forms = (
            gs.quaternion(*oracle.as_quat()),
            gs.quaternion(*-oracle.as_quat()),
            gs.axis_angle(turn / angle, angle),
            gs.axis_angle(-turn / angle, 2 * np.pi - angle),
            gs.rpy(*roll_pitch_yaw),
            R,
            R.tolist(),
            {"quaternion": oracle.as_quat().tolist()},
            {"euler": roll_pitch_yaw.tolist()},
        )
        for form in forms:
            assert_close(placed(gs.Displacement("d", translation=p, rotation=form)), homogeneous(R, p), SAME)


@pytest.mark.parametrize("name", ["x", "y", "z", "-x", "-y", "-z"])
def test_axes_by_name(name):
    vector = np.eye(3)["xyz".index(name[-1])] * (-1 if name.startswith("-") else 1)
    got = placed(gs.Displacement("d", rotation=gs.axis_angle(name, 0.7)))
    assert_close(got, homogeneous(about(vector, 0.7), (0, 0, 0)), SAME)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_denavit_hartenberg_parameters_are_the_product_of_four_screws(convention):
    for a, alpha, d, theta in np.random.default_rng(3).uniform(-3, 3, (10, 4)):
        Rz, Tz = homogeneous(about((0, 0, 1), theta), (0, 0, 0)), homogeneous(np.eye(3), (0, 0, d))
        Rx, Tx = homogeneous(about((1, 0, 0), alpha), (0, 0, 0)), homogeneous(np.eye(3), (a, 0, 0))
        want = Rz @ Tz @ Tx @ Rx if convention == "standard" else Rx @ Tx @ Rz @ Tz
        entity = gs.DHDisplacement("d", a=a, alpha=alpha, d=d, theta=theta, convention=convention)
        assert_close(placed(entity), want, SAME)
        back = gs.assemble("back", gs.chain("world", ("b", entity)))
        assert_close(forward_kinematics(back)([])["d.a"].matrix, inverse(want), SAME)


# ------------------------------------------------------------------------------------------------ forms of states
def a_few_joints():
    """Small, since it is compiled: a spherical, a universal and two revolute joints; momentum and force elements."""
    return various_tree(16, 2, momentum=True)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_a_batch_equals_its_states_bit_for_bit(representation, mode):
    """Also states without wrenches, which have a way of their own in compiled code."""
    model, rng = a_few_joints(), np.random.default_rng(7)
    states = [[random_state(model, rng) for _ in range(5)] for _ in range(3)]
    q, v, a = (np.array([[state[k] for state in row] for row in states]) for k in range(3))
    w = rng.normal(size=(3, 5, 6))
    solver = gs.InverseDynamics(model, representation, mode=mode)
    kinematics = gs.ForwardKinematics(model, representation=representation, mode=mode)
    tau, pushed, motions = solver(q, v, a), solver(q, v, a, {"body1.tip": w}), kinematics(q, v, a)
    forces = solver.port_forces(q, v, a, {"body1.tip": w})
    assert tau.shape == pushed.shape == (3, 5, model.nv)
    assert not np.array_equal(tau, pushed)
    for i, j in np.ndindex(3, 5):
        state = q[i, j], v[i, j], a[i, j]
        np.testing.assert_array_equal(solver(*state), tau[i, j])
        np.testing.assert_array_equal(solver(*state, {"body1.tip": w[i, j]}), pushed[i, j])
        for port, force in solver.port_forces(*state, {"body1.tip": w[i, j]}).items():
            np.testing.assert_array_equal(force, forces[port][i, j])
        for port, motion in kinematics(*state).items():
            for part in ("R", "p", "V", "A", "matrix"):
                np.testing.assert_array_equal(getattr(motion, part), getattr(motions[port], part)[i, j])


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_leading_axes_broadcast(mode):
    model, rng = a_few_joints(), np.random.default_rng(5)
    (q, v, _), a = random_state(model, rng), rng.normal(size=(2, 1, model.nv))
    w = rng.normal(size=(3, 6))
    solver = gs.InverseDynamics(model, mode=mode)
    tau = solver(q, v, a, {"body0.tip": w})
    assert tau.shape == (2, 3, model.nv)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_array_equal(tau[i, j], solver(q, v, a[i, 0], {"body0.tip": w[j]}))


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_lists_tuples_and_dicts_are_the_same_state(mode):
    model, rng = a_few_joints(), np.random.default_rng(3)
    q, v, a = random_state(model, rng)
    solver = gs.InverseDynamics(model, mode=mode)
    tau = solver(q, v, a)
    np.testing.assert_array_equal(solver(q.tolist(), tuple(v), a.tolist()), tau)
    by_coordinate = [
        dict(zip(names, x, strict=True)) for names, x in [(model.coordinates, q), (model.dofs, v), (model.dofs, a)]
    ]
    np.testing.assert_array_equal(solver(*by_coordinate), tau)
    by_joint = [{}, {}, {}]
    for block in model.layout:
        for named, x, at in zip(by_joint, (q, v, a), (block.q, block.v, block.v), strict=True):
            named[block.entity] = x[at][0] if len(x[at]) == 1 else x[at].tolist()
    np.testing.assert_array_equal(solver(*by_joint), tau)
