"""Torques are linear in the inertial parameters: the regressor against inverse dynamics, and base parameters."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gyrostat as gs
from tests.algorithms.recursions.test_sensitivities import (
    BASES,
    MOVING,
    PLANET,
    SEEDS,
    batch,
    placed_on,
    saddle,
    single,
    some,
    state,
    two_joints,
)
from tests.support.comparing import assert_close, assert_differs
from tests.support.random_models import various_tree

PARTS = ("m", "mx", "my", "mz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
LINEAR = 1e-11


def tree(seed, bodies, base="fixed", treat_as="acceleration"):
    """Gyrostats on all kinds of joints, bodies entered at any of their frames, force elements in all kinds of axes."""
    return placed_on(various_tree(seed, bodies, momentum=True, treat_as=treat_as), base)


def assert_linear(model, seed, mode="interpret"):
    q, v, a = state(model, seed)
    t = None if isinstance(model.context.base, str) else 0.37
    Y, tau_0 = gs.Regressor(model, mode=mode)(q, v, a, t=t)
    tau = gs.InverseDynamics(model, mode="interpret")(q, v, a, t=t)
    assert_close(Y @ gs.inertial_parameters(model) + tau_0, tau, LINEAR)


# ------------------------------------------------------------------------------------------------ linear
@some(40)
@given(
    seed=SEEDS,
    bodies=st.integers(1, 12),
    base=st.sampled_from(sorted(BASES)),
    treat_as=st.sampled_from(["acceleration", "field"]),
)
def test_torques_of_random_trees_are_linear_in_their_parameters(seed, bodies, base, treat_as):
    assert_linear(tree(seed, bodies, BASES[base], treat_as), seed)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", MOVING)
def test_torques_on_a_single_joint_are_linear_in_its_parameters(kind, near, base):
    assert_linear(single(kind, near, BASES[base]), 3)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("treat_as", ["acceleration", "field"])
def test_torques_are_linear_in_the_parameters_in_compiled_code(base, treat_as):
    assert_linear(tree(11, 3, BASES[base], treat_as), 11, "compile")


def test_other_parameters_give_the_torques_of_the_other_robot():
    """The regressor belongs to the kinematics: it serves every robot of the same shape."""
    model = tree(12, 5)
    heavy = {}
    for e in model.entities:
        if isinstance(e, gs.RigidBody):
            heavy |= {f"{e.name}.mass": 3 * e.mass, f"{e.name}.com": tuple(0.5 * np.array(e.com))}
            heavy[f"{e.name}.inertia"] = (2.0 * np.array(e.inertia)).tolist()
    other = model.replace(heavy)
    q, v, a = state(model)
    Y, tau_0 = gs.Regressor(model, mode="interpret")(q, v, a)
    tau = gs.InverseDynamics(other, mode="interpret")(q, v, a)
    assert_close(Y @ gs.inertial_parameters(other) + tau_0, tau, LINEAR)
    assert_differs(tau, gs.InverseDynamics(model, mode="interpret")(q, v, a))


def test_what_does_not_depend_on_inertia_comes_from_gyrostats_and_force_elements():
    model = single("spherical")
    q, v, a = state(model)
    found = gs.Regressor(model, mode="interpret")(q, v, a).tau_0
    w = v
    R = np.array(gs.fk(model, q, v)["body"].R)
    assert np.any(found)
    light = model.replace({"body.mass": 1e-12, "body.inertia": (1e-12, 1e-12, 1e-12), "body.com": (0, 0, 0)})
    assert_close(found, gs.InverseDynamics(light, mode="interpret")(q, v, a), 1e-9)
    plain = model.replace({"body.momentum": (0, 0, 0), "push.wrench": (0, 0, 0, 0, 0, 0)})
    np.testing.assert_array_equal(gs.Regressor(plain, mode="interpret")(q, v, a).tau_0, np.zeros(3))
    spinning = model.replace({"push.wrench": (0, 0, 0, 0, 0, 0)})
    l = np.array(model["body.momentum"])
    turned = np.array(gs.fk(model, q)["joint.b"].R).T @ R  # axes of the body in those of the joint
    assert_close(gs.Regressor(spinning, mode="interpret")(q, v, a).tau_0, np.cross(w, turned @ l))


def test_the_parameters_of_a_body_are_about_its_origin_and_in_its_axes():
    com, J = np.array([0.1, -0.2, 0.3]), np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.35]])
    found = gs.inertial_parameters(single("revolute"))
    assert_close(found[:4], [1.7, *(1.7 * com)], 1e-15)
    about_origin = J + 1.7 * (com @ com * np.eye(3) - np.outer(com, com))
    assert_close(found[4:], about_origin[np.triu_indices(3)], 1e-15)
    model = two_joints()
    assert gs.inertial_parameters(model).shape == (20,)
    assert gs.Regressor(model).columns == tuple(f"{body}.{part}" for body in ("thigh", "shin") for part in PARTS)


def test_the_regressor_of_a_serial_chain_is_that_of_pinocchio():
    """Pinocchio orders the moments of inertia xx, xy, yy, xz, yz, zz."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    axes = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
    ours, theirs = gs.robots.chain(5, axes="zyx", length=0.3), pin.Model()
    for k in range(5):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.3 if k else 0.0]))
        theirs.addJoint(k, axes["zyx"[k % 3]](), place, f"joint{k + 1}")
    data = theirs.createData()
    rng = np.random.default_rng(0)
    order = np.concatenate([10 * k + np.array([0, 1, 2, 3, 4, 5, 7, 6, 8, 9]) for k in range(5)])
    solver = gs.Regressor(ours)
    for _ in range(5):
        q, v, a = rng.normal(size=(3, 5))
        expected = pin.computeJointTorqueRegressor(theirs, data, q, v, a)
        assert_close(solver(q, v, a).Y[:, order], expected, 1e-12)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_batches_and_arrays_of_the_caller(mode):
    model = two_joints()
    solver = gs.Regressor(model, mode=mode)
    q, v, a = batch(model, (2, 3))
    Y, tau_0 = solver(q, v, a)
    assert Y.shape == (2, 3, 5, 20) and tau_0.shape == (2, 3, 5)
    alone = solver(q[1, 2], v[1, 2], a[1, 2])
    assert_close(Y[1, 2], alone.Y, 1e-13)
    assert_close(tau_0[1, 2], alone.tau_0, 1e-13)
    out = np.full(Y.shape, np.nan), np.full(tau_0.shape, np.nan)
    solver(q, v, a, out=out)
    np.testing.assert_array_equal(out[0], Y)
    np.testing.assert_array_equal(out[1], tau_0)
    assert_close(Y @ gs.inertial_parameters(model) + tau_0, gs.rnea(model, q, v, a), LINEAR)
    for other in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        assert other.columns == solver.columns and other.mode == mode
        np.testing.assert_array_equal(other(q, v, a).Y, Y)


def test_states_that_are_none_are_refused_in_words():
    solver = gs.Regressor(two_joints())
    q, v, a = state(two_joints())
    with pytest.raises(gs.ShapeError, match=r"regressor: v has shape \(6,\), expected \(\.\.\., 5\), nv of 'two'"):
        solver(q, q, a)
    with pytest.raises(gs.NonFiniteError, match="regressor"):
        solver(q, v, a * np.inf)


@pytest.mark.parametrize("field", [PLANET, saddle])
def test_fields_in_which_torques_are_not_linear_are_refused(field):
    model = two_joints().replace({"context.gravity": field})
    for function in (gs.Regressor, gs.base_parameters):
        with pytest.raises(gs.StateError, match=r"regressor: torques are not linear .* Hint: use UniformGravity"):
            function(model)


# ------------------------------------------------------------------------------------------------ base parameters
def excitation(model, count=150, seed=99):
    q = gs.random_configuration(model, seed, (count,))
    v, a = np.random.default_rng(seed).uniform(-2.0, 2.0, (2, count, model.nv))
    return q, v, a


def assert_base_parameters(model):
    """On fresh motions: as many as the regressor has independent columns, and they tell all torques."""
    base = gs.base_parameters(model)
    q, v, a = excitation(model)
    solver = gs.Regressor(model)
    Y, tau_0 = solver(q, v, a)
    W = Y.reshape(-1, Y.shape[-1])
    size = np.linalg.norm(W, axis=0)
    scaled = W[:, size > 1e-9] / size[size > 1e-9]
    assert base.rank == len(base.columns) == np.linalg.matrix_rank(scaled, tol=1e-8 * np.sqrt(len(scaled)))
    assert base.names == tuple(solver.columns[k] for k in base.columns)
    assert base.projection.shape == (base.rank, W.shape[1])
    assert_close(base.projection[:, base.columns], np.eye(base.rank), 1e-15)
    assert_close(Y[..., base.columns] @ base.projection, Y, 1e-8)
    pi = gs.inertial_parameters(model)
    tau = gs.rnea(model, q, v, a)
    assert_close(Y[..., base.columns] @ base.projection @ pi + tau_0, tau, 1e-8)
    return base


def hinge(gravity):
    rod = gs.RigidBody("rod", mass=1.2, com=(0.3, 0.1, 0.05), inertia=(0.1, 0.2, 0.25))
    return gs.assemble("hinge", gs.chain("world", gs.Joint("q", "revolute", axis="z"), rod), gravity=gravity)


def test_a_pendulum_has_three_base_parameters_and_a_turntable_one():
    """tau = Jzz a + (mx, my) across gravity; along the axis, gravity does no work."""
    base = assert_base_parameters(hinge((0, -9.81, 0)))
    assert base.rank == 3 and set(base.names) == {"rod.mx", "rod.my", "rod.Jzz"}
    base = assert_base_parameters(hinge((0, 0, -9.81)))
    assert base.rank == 1 and base.names == ("rod.Jzz",)
    assert gs.base_parameters(hinge((0, 0, 0))).names == ("rod.Jzz",)


def test_a_slider_has_one_base_parameter():
    load = gs.RigidBody("load", mass=1.2, com=(0.3, 0.1, 0.05), inertia=(0.1, 0.2, 0.25))
    model = gs.assemble("slider", gs.chain("world", gs.Joint("q", "prismatic", axis="z"), load))
    assert assert_base_parameters(model).names == ("load.m",)


def test_a_planar_double_pendulum_has_six_base_parameters_and_four_without_weight():
    """J1 + m2 l^2, J2, m2 c2 (two numbers), and with weight m1 c1 + m2 l (two numbers)."""
    links = []
    for k in range(2):
        rod = gs.RigidBody(
            f"rod{k}", mass=1.2, com=(0.3, 0.1, 0.0), inertia=(0.1, 0.2, 0.25), frames={"end": (0.5, 0, 0)}
        )
        links += [gs.Joint(f"q{k}", "revolute", axis="z"), rod]
    upright = gs.assemble("upright", gs.chain("world", *links), gravity=(0, -9.81, 0))
    assert assert_base_parameters(upright).rank == 6
    flat = gs.assemble("flat", gs.chain("world", *links), gravity=(0, 0, -9.81))
    assert assert_base_parameters(flat).rank == 4


def test_a_free_body_shows_all_ten_parameters():
    body = gs.RigidBody("body", mass=1.2, com=(0.3, 0.1, 0.05), inertia=(0.1, 0.2, 0.25))
    model = gs.assemble("satellite", gs.chain("world", body), base="free")
    base = assert_base_parameters(model)
    assert base.rank == 10 and base.names == tuple(f"body.{part}" for part in PARTS)


def test_the_lwr_has_forty_three_base_parameters():
    """Gautier and Khalil: seven for each revolute joint, one for the first, whose axis is vertical."""
    base = assert_base_parameters(gs.robots.kuka_lwr4())
    assert base.rank == 43
    assert sum(name.startswith("link1.") for name in base.names) == 1


@some(4)
@given(seed=SEEDS, bodies=st.integers(1, 2), base=st.sampled_from(["fixed", "free"]))
def test_base_parameters_of_random_trees_tell_all_torques(seed, bodies, base):
    model = placed_on(gs.robots.tree(seed, bodies, reversed_share=0.3), base)
    assert_base_parameters(model)


def test_base_parameters_are_the_same_for_the_same_seed():
    model = two_joints()
    one, two, other = gs.base_parameters(model), gs.base_parameters(model, 0), gs.base_parameters(model, 5)
    np.testing.assert_array_equal(one.projection, two.projection)
    np.testing.assert_array_equal(one.columns, other.columns)
    assert_close(one.projection, other.projection, 1e-8)


def test_a_model_without_bodies_or_without_motion_has_no_base_parameters():
    still = gs.assemble("still", gs.chain("world", gs.RigidBody("post", mass=1, inertia=(1, 1, 1))))
    assert gs.base_parameters(still).rank == 0 and gs.base_parameters(still).projection.shape == (0, 10)
    empty = gs.assemble("empty", gs.chain("world", gs.Displacement("shift", translation=(1, 0, 0))))
    assert gs.inertial_parameters(empty).shape == (0,)
    assert gs.base_parameters(empty).rank == 0


def test_base_parameters_are_shown_as_a_table():
    base = gs.base_parameters(gs.robots.kuka_lwr4())
    lines = repr(base).splitlines()
    assert lines[0] == "43 base parameters of 70 inertial parameters"
    assert lines[1].split() == ["column", "name", "combination"] and len(lines) == 3 + 43
    assert all(len(line) < 140 for line in lines) and str(base) == repr(base)
    values = dict(zip(base.parameters, gs.inertial_parameters(gs.robots.kuka_lwr4()), strict=True))
    for k, line in enumerate(lines[3:]):
        column, name, combination = line.split(maxsplit=2)
        assert (int(column), name) == (base.columns[k], base.names[k]) and combination.startswith(name)
        terms = base.combination(k).replace(" - ", " + -").split(" + ")
        parts = [term.split(" ") if " " in term else ["-1" if term[0] == "-" else "1", term] for term in terms]
        total = sum(float(c) * values[n.lstrip("-")] for c, n in parts)
        assert_close(total, base.projection[k] @ list(values.values()), 1e-3)
    shown = [line for line in lines if " more" in line]
    assert shown and all(line.endswith(" more") and line.split()[-2].isdigit() for line in shown)
