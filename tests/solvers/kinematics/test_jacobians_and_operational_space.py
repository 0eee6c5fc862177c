"""Jacobians by kinematic properties and on moving bases, and the inertia that is felt at contacts."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.algorithms.matrices.body_jacobians import pseudo_velocities
from gyrostat.spatial.base_motion import base_state
from tests.algorithms.recursions.test_sensitivities import (
    SEEDS,
    SWINGING,
    arm,
    batch,
    placed_on,
    replaced,
    single,
    some,
    state,
    tree,
)
from tests.support.comparing import assert_close, assert_differs, central
from tests.support.random_models import various_tree

EXPRESSIONS = ("local", "aligned", "world")
DIFFERENCES = 1e-6
SOLVED = 1e-8  # M of random trees has condition numbers up to 1e6


# ------------------------------------------------------------------------------------------------ kinematic properties
def frame_at(model, q, frame, t=None):
    return gs.ForwardKinematics(model, mode="interpret")(q, t=t)[frame]


def twist(placement, expressed_in):
    """Of a frame whose placement is a function of h, at h = 0, by differences."""
    R, p = placement(0.0).R, placement(0.0).p
    W = central(lambda h: placement(h).R, 0.0) @ R.T
    w, u = np.array([W[2, 1], W[0, 2], W[1, 0]]), central(lambda h: placement(h).p, 0.0)
    if expressed_in == "local":
        return np.concatenate([R.T @ w, R.T @ u])
    return np.concatenate([w, u if expressed_in == "aligned" else u - np.cross(w, p)])


LENGTHS = (
    "offset.translation",
    "offset.rotation.euler",
    "body0.tip.translation",
    "body3.tip.translation",
    "joint2.pitch",
    "dh.a",
    "dh.alpha",
    "dh.d",
    "dh.theta",
)


@pytest.mark.parametrize("expressed_in", EXPRESSIONS)
@pytest.mark.parametrize("path", LENGTHS)
def test_jacobians_by_lengths_and_angles_equal_differences_of_placements(path, expressed_in):
    model, frame = arm(), "body3.tip"
    q, _, _ = state(model, 8)
    solver = gs.ParameterJacobian(model, frame, [path], expressed_in, mode="interpret")
    J = solver(q)
    places = list(np.ndindex(np.shape(model[path])))
    assert J.shape == (6, len(places)) and len(solver.columns) == len(places)
    for k, index in enumerate(places):
        moved = lambda h, index=index: frame_at(replaced(model, path, index, h), q, frame)  # noqa: E731
        assert_close(J[:, k], twist(moved, expressed_in), DIFFERENCES)


@pytest.mark.parametrize("expressed_in", EXPRESSIONS)
@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "cylindrical", "universal", "planar"])
def test_jacobians_by_axes_equal_differences_of_tilted_axes(kind, near, expressed_in):
    """A tilt by a small angle about n changes the axis by n x axis."""
    model, path, frame = single(kind, near), "joint.axis", "body.origin"
    q, _, _ = state(model, 8)
    axis = np.array(model[path])
    J = gs.ParameterJacobian(model, frame, [path], expressed_in, mode="interpret")(q)
    for n in np.linalg.svd(axis[None])[2][1:]:
        across = np.cross(n, axis)

        def tilted(h, across=across):
            return frame_at(model.replace({path: tuple(np.cos(h) * axis + np.sin(h) * across)}), q, frame)

        assert_close(J @ across, twist(tilted, expressed_in), DIFFERENCES)


@some(5)
@given(seed=SEEDS, bodies=st.integers(2, 5), expressed_in=st.sampled_from(EXPRESSIONS))
def test_jacobians_by_translations_of_random_trees_equal_differences(seed, bodies, expressed_in):
    model = tree(seed, bodies)
    q, _, _ = state(model, seed)
    paths = [f"{e.name}.tip.translation" for e in model.entities if isinstance(e, gs.RigidBody) and e.frames][:2]
    J = gs.ParameterJacobian(model, "end", paths, expressed_in, mode="interpret")(q)
    assert J.shape == (6, 3 * len(paths))
    for k, (path, index) in enumerate((path, i) for path in paths for i in range(3)):
        moved = lambda h, path=path, index=index: frame_at(replaced(model, path, index, h), q, "end.origin")  # noqa: E731
        assert_close(J[:, k], twist(moved, expressed_in), DIFFERENCES)


def test_jacobians_by_properties_in_compiled_code_in_batches_and_into_arrays():
    model, paths = arm(), ["offset.translation", "joint2.pitch", "joint1.axis", "dh.alpha"]
    q, _, _ = batch(model, (2, 3))
    solver = gs.ParameterJacobian(model, "body3.tip", paths, "aligned")
    assert solver.columns == (
        *(f"offset.translation[{k}]" for k in range(3)),
        "joint2.pitch",
        *(f"joint1.axis[{k}]" for k in range(3)),
        "dh.alpha",
    )
    J = solver(q)
    assert J.shape == (2, 3, 6, 8)
    assert_close(J, gs.ParameterJacobian(model, "body3.tip", paths, "aligned", mode="interpret")(q))
    assert_close(J[1, 2], solver(q[1, 2]), 1e-13)
    out = np.full(J.shape, np.nan)
    assert solver(q, out=out) is out
    np.testing.assert_array_equal(out, J)
    for other in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        assert (other.columns, other.frame, other.expressed_in) == (solver.columns, "body3.tip", "aligned")
        np.testing.assert_array_equal(other(q), J)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_properties_of_a_parameter_jacobian_can_be_refreshed(mode):
    model, path = arm(), "offset.rotation.euler"
    q, _, _ = state(model)
    solver = gs.ParameterJacobian(model, "body3", [path], mode=mode)
    before = solver(q)
    changed = model.replace({path: (0.5, -0.2, 0.9)})
    solver.refresh(changed)
    assert_close(solver(q), gs.ParameterJacobian(changed, "body3", [path], mode="interpret")(q))
    assert_differs(solver(q), before)


def test_what_lies_behind_a_frame_or_has_only_mass_does_not_move_it():
    model = arm()
    q, _, _ = state(model)
    paths = ["dh.a", "body3.tip.translation", "joint3.axis"]
    np.testing.assert_array_equal(
        gs.ParameterJacobian(model, "body0.tip", paths, mode="interpret")(q), np.zeros((6, 7))
    )
    masses = gs.ParameterJacobian(model, "body3.tip", ["body0.com"], mode="interpret")(q)
    np.testing.assert_array_equal(masses, np.zeros((6, 3)))


def test_a_parameter_jacobian_of_a_moving_base_is_that_at_rest_in_the_same_place():
    model, t = arm(SWINGING), 0.4
    q, _, _ = state(model, 8)
    for expressed_in in EXPRESSIONS:
        J = gs.ParameterJacobian(model, "body3.tip", ["offset.translation"], expressed_in, mode="interpret")(q, t=t)
        for k in range(3):
            moved = lambda h, k=k: frame_at(replaced(model, "offset.translation", k, h), q, "body3.tip", t)  # noqa: E731
            assert_close(J[:, k], twist(moved, expressed_in), DIFFERENCES)


def test_frames_and_properties_that_are_none_are_refused_in_words():
    model = arm()
    with pytest.raises(gs.SpecError, match=r"no parameters are named\. Hint: name one, such as 'elbow\.axis'"):
        gs.ParameterJacobian(model, "body3", [])
    with pytest.raises(gs.SpecError, match=r"there is no 'ofset'.*did you mean 'offset'"):
        gs.ParameterJacobian(model, "body3", ["ofset.translation"])
    with pytest.raises(gs.SpecError, match="no number, vector or matrix"):
        gs.ParameterJacobian(model, "body3", ["joint0.kind"])
    for build in (
        lambda **options: gs.Jacobian(model, **options),
        lambda **options: gs.JacobianRate(model, **options),
        lambda **options: gs.ParameterJacobian(model, parameters=["dh.a"], **options),
    ):
        with pytest.raises(gs.FrameError, match=r"there is no frame or port 'body33'.*did you mean 'body3'"):
            build(frame="body33")
        with pytest.raises(gs.FrameError, match=r"expressed_in must be one of local, aligned, world, got 'wrold'"):
            build(frame="body3", expressed_in="wrold")
    with pytest.raises(gs.ShapeError, match=r"jacobian: q has shape \(3,\), expected \(\.\.\., 7\), nq of 'arm'"):
        gs.jacobian(model, np.zeros(3), "body3")


# ------------------------------------------------------------------------------------------------ moving base
def at_rest(model, t):
    """The same mechanism with its base held where it is at time t."""
    R, p, _, _ = base_state(model.context.base, t)
    return placed_on(model, lambda _: (R, p, np.zeros(6), np.zeros(6)))


@pytest.mark.parametrize("expressed_in", EXPRESSIONS)
@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_a_base_that_moves_by_itself_is_not_in_the_jacobian(mode, expressed_in):
    model, t = tree(7, 3, SWINGING), 0.6
    q, v, a = state(model, 3)
    J = gs.Jacobian(model, "end", expressed_in, mode=mode)(q, t=t)
    still = at_rest(model, t)
    assert_close(J, gs.Jacobian(still, "end", expressed_in, mode="interpret")(q, t=t))
    motions = gs.ForwardKinematics(model, mode="interpret")
    moving, carried = (motions(q, x, a, t=t)["end"].velocity(expressed_in) for x in (v, np.zeros_like(v)))
    assert_differs(carried, np.zeros(6))
    assert_close(J @ v, moving - carried)


def test_the_rate_of_a_local_jacobian_is_that_at_rest_whatever_the_base_does():
    model, t = tree(7, 3, SWINGING), 0.6
    q, v, _ = state(model, 3)
    found = gs.JacobianRate(model, "end", "local")(q, v, t=t)
    along = lambda h: gs.Jacobian(model, "end", "local", mode="interpret")(gs.integrate(model, q, h * v), t=t + h)  # noqa: E731
    assert_close(found, central(along, 0.0), DIFFERENCES)


def test_a_moving_base_needs_the_time():
    model = tree(7, 3, SWINGING)
    q, _, _ = state(model, 3)
    with pytest.raises(gs.StateError, match=r"jacobian: the base of 'tree7' moves with time\. Hint: give t="):
        gs.jacobian(model, q, "end")
    times = np.linspace(0.0, 1.0, 4)
    J = gs.jacobian(model, q, "end", t=times)
    assert J.shape == (4, 6, model.nv)
    assert_close(J[2], gs.jacobian(model, q, "end", t=times[2]), 1e-13)


# ------------------------------------------------------------------------------------------------ pseudo-velocities
@some(5)
@given(seed=SEEDS, bodies=st.integers(1, 8))
def test_unit_velocities_through_any_velocity_kinematics_give_its_jacobian(seed, bodies):
    model = tree(seed, bodies, "free")
    q, _, _ = state(model, seed)
    motions = gs.ForwardKinematics(model, mode="interpret")
    for expressed_in in EXPRESSIONS:
        J = pseudo_velocities(lambda v, axes=expressed_in: motions(q, v)["end"].velocity(axes), model.nv)
        assert_close(gs.Jacobian(model, "end", expressed_in, mode="interpret")(q), J)


def test_velocity_kinematics_can_be_composed():
    """Coupled rates v = B u, a difference of two frames, and the centre of mass: each is a function of the rates."""
    model = arm()
    q, _, _ = state(model)
    B = np.random.default_rng(4).normal(size=(model.nv, 3))
    J = gs.jacobian(model, q, "body3.tip", "aligned")
    tip = lambda v: gs.fk(model, q, v)["body3.tip"].velocity("aligned")  # noqa: E731
    assert_close(pseudo_velocities(lambda u: tip(B @ u), 3), J @ B)
    other = lambda v: gs.fk(model, q, v)["body1"].velocity("aligned")  # noqa: E731
    between = pseudo_velocities(lambda v: tip(v) - other(v), model.nv)
    assert_close(between, J - gs.jacobian(model, q, "body1", "aligned"))
    centre = pseudo_velocities(lambda v: gs.center_of_mass(model, q, v).v, model.nv)
    assert_close(centre * gs.total_inertia(model, q).m, gs.centroidal_matrix(model, q)[3:])
    assert pseudo_velocities(tip, 0).shape == (6, 0)


# ------------------------------------------------------------------------------------------------ contacts
MATRIX = np.array([[1.0, 0.5, 0.0, 0.0, 0.3, 0.0], [0.0, 0.0, 0.2, 1.0, 0.0, -0.4]])
SELECTORS = {"fixed": np.eye(6), "point": np.eye(6)[3:], "matrix": MATRIX}


def stacked_jacobian(model, q, contacts, t=None):
    rows = []
    for frame, Q in contacts.items():
        J = gs.Jacobian(model, frame, "local", mode="interpret")(q, t=t)
        rows.append((SELECTORS[Q] if isinstance(Q, str) else Q) @ J)
    return np.concatenate(rows)


def expected_inverse(model, q, contacts, t=None):
    J = stacked_jacobian(model, q, contacts, t)
    return J @ np.linalg.solve(gs.MassMatrix(model, mode="interpret")(q, t=t), J.T)


def legged(seed, bodies):
    """A free tree without fixed joints at its contacts, and two different bodies to stand on."""
    return placed_on(various_tree(seed, bodies, momentum=True), "free")


@some(25)
@given(
    seed=SEEDS,
    bodies=st.integers(2, 10),
    kinds=st.tuples(st.sampled_from(sorted(SELECTORS)), st.sampled_from(sorted(SELECTORS))),
)
def test_inertia_at_two_feet_of_a_free_tree_is_that_of_its_jacobians(seed, bodies, kinds):
    model = legged(seed, bodies)
    q, _, _ = state(model, seed)
    one, two = np.random.default_rng(seed).permutation(bodies)[:2]
    feet = dict(zip((f"body{one}.tip", f"body{two}.side"), kinds, strict=True))
    given_ = {frame: MATRIX if kind == "matrix" else kind for frame, kind in feet.items()}
    found = gs.InverseOperationalInertia(model, given_, mode="interpret")(q)
    assert_close(found, expected_inverse(model, q, given_), SOLVED)
    assert_close(found, found.T, 1e-9)


def spider():
    """A free trunk with two legs of six joints each."""
    legs = []
    for side in "lr":
        links = []
        for k, axis in enumerate("xyzxyz"):
            shin = gs.RigidBody(
                f"{side}{k}", mass=1.0 + 0.1 * k, com=(0.02, 0.01, -0.1), inertia=(0.02, 0.03, 0.01),
                frames={"next": ((0.01, 0.0, -0.25), gs.rpy(0.1, 0.2 * k, 0.3))},
            )  # fmt: skip
            links += [gs.Joint(f"q{side}{k}", "revolute", axis=axis), shin]
        legs.append(gs.chain(f"trunk.{side}", *links))
    frames = {"l": (0.0, 0.1, 0.0), "r": (0.0, -0.1, 0.0)}
    trunk = gs.RigidBody("trunk", mass=8.0, com=(0.0, 0.0, 0.2), inertia=(0.5, 0.4, 0.3), frames=frames)
    return trunk, legs


def biped(base="free"):
    trunk, legs = spider()
    return gs.assemble("biped", gs.chain("world", trunk), *legs, base=base)


CONTACTS = {
    "different branches": {"l5.next": "fixed", "r5.next": "fixed"},
    "one branch": {"l5.next": "point", "l2.origin": "fixed"},
    "one branch, inner first": {"l2.origin": "fixed", "l5.next": MATRIX},
    "the trunk and a foot": {"trunk": "fixed", "r5": "point"},
    "three": {"l5.next": "point", "r5.next": "point", "trunk": MATRIX},
}


@pytest.mark.parametrize("case", CONTACTS)
def test_inertia_at_the_contacts_of_a_biped(case):
    """Lambda^-1, its inverse, and the accelerations that wrenches at the contacts cause; two cases are compiled."""
    model, contacts = biped(), CONTACTS[case]
    q, v, tau = state(model, 5)
    mode = "compile" if case in ("different branches", "one branch") else "interpret"
    found = gs.InverseOperationalInertia(model, contacts, mode=mode).inertia(q)
    J = stacked_jacobian(model, q, contacts)
    assert_close(found.Lambda_inverse, expected_inverse(model, q, contacts), SOLVED)
    assert_close(found.Lambda @ found.Lambda_inverse, np.eye(len(J)), SOLVED)
    assert_close(found.Lambda, found.Lambda.T, 1e-12)
    f = np.random.default_rng(6).normal(size=len(J))
    wrenches, at = {}, 0
    for frame, Q in contacts.items():
        Q = SELECTORS[Q] if isinstance(Q, str) else Q
        wrenches[frame] = Q.T @ f[at : at + len(Q)]
        at += len(Q)
    forward = gs.ForwardDynamics(model, mode="interpret")
    change = forward(q, v, tau, wrenches) - forward(q, v, tau)
    assert_close(J @ change, found.Lambda_inverse @ f, SOLVED)


def test_contacts_in_separate_trees_on_a_fixed_base_do_not_feel_each_other():
    model = biped("fixed")
    q, _, _ = state(model, 5)
    found = gs.operational_inertia(model, q, {"l5.next": "fixed", "r5.next": "fixed"})
    np.testing.assert_array_equal(found.Lambda_inverse[:6, 6:], np.zeros((6, 6)))
    np.testing.assert_array_equal(found.Lambda_inverse[6:, :6], np.zeros((6, 6)))
    assert_close(found.Lambda_inverse, expected_inverse(model, q, {"l5.next": "fixed", "r5.next": "fixed"}), SOLVED)
    alone = gs.operational_inertia(model, q, ["l5.next"])
    assert_close(found.Lambda_inverse[:6, :6], alone.Lambda_inverse, 1e-12)
    assert_close(found.Lambda[:6, :6], alone.Lambda, 1e-9)


def test_inertia_at_contacts_does_not_depend_on_how_the_base_moves():
    trunk, legs = spider()
    model = gs.assemble("driven", gs.chain("world", trunk), *legs, base=SWINGING)
    q, _, _ = state(model, 5)
    contacts = {"l5.next": "fixed", "l3.next": "point"}
    for mode in ("compile", "interpret"):
        found = gs.InverseOperationalInertia(model, contacts, mode=mode)(q, t=0.3)
        assert_close(found, expected_inverse(model, q, contacts, 0.3), SOLVED)
    assert_close(found, gs.InverseOperationalInertia(biped("fixed"), contacts, mode="interpret")(q), 1e-9)


def test_every_kind_of_joint_between_two_contacts():
    for kind in gs.JOINT_KINDS:
        for near in "ab":
            model = single(kind, near, "free")
            q, _, _ = state(model, 2)
            contacts = {"body.origin": "point", "base.origin": "fixed"}
            found = gs.InverseOperationalInertia(model, contacts, mode="interpret")(q)
            assert_close(found, expected_inverse(model, q, contacts), SOLVED)


def test_redundant_contacts_are_refused_with_their_names_and_rank():
    model = biped()
    q, _, _ = state(model, 5)
    message = (
        r"operational_inertia: the contacts l5\.next, l5\.origin hold 12 components, but the robot can move only 6 of "
        r"them independently\. Hint: leave out what other contacts hold already, or work with Lambda_inverse"
    )
    with pytest.raises(gs.StateError, match=message):
        gs.operational_inertia(model, q, ["l5.next", "l5"])
    with pytest.raises(gs.StateError, match=r"hold 6 components, but the robot can move only 5 of them"):
        gs.InverseOperationalInertia(model, {"l5": "point", "l5.next": "point"}, mode="interpret").inertia(q)
    twice = np.array([[0.0, 0, 0, 1, 0, 0], [0.0, 0, 0, 2, 0, 0]])
    with pytest.raises(gs.StateError, match=r"hold 2 components, but the robot can move only 1 of them"):
        gs.InverseOperationalInertia(model, {"l5": twice}, mode="interpret").inertia(q)
    with pytest.raises(gs.StateError, match=r"contacts hand.origin hold 6 components, .* only 2 of them"):
        gs.operational_inertia(elbow(), [0.3, 0.4], ["hand"])
    inverse = gs.InverseOperationalInertia(model, ["l5.next", "l5"], mode="interpret")(q)
    assert np.linalg.matrix_rank(inverse, hermitian=True, tol=1e-9 * np.linalg.norm(inverse)) == 6


def elbow():
    link = {"inertia": (0.1, 0.1, 0.1), "com": (0.2, 0, 0), "frames": {"end": (0.5, 0, 0)}}
    return gs.assemble(
        "elbow",
        gs.chain(
            "world",
            gs.Joint("q0", "revolute", axis="z"),
            gs.RigidBody("upper", mass=1.0, **link),
            gs.Joint("q1", "revolute", axis="z"),
            gs.RigidBody("hand", mass=0.5, **link),
        ),
    )


def test_in_a_batch_the_state_with_redundant_contacts_is_named():
    """Straight, the elbow cannot move its end along itself."""
    model, across = elbow(), np.eye(6)[3:5]
    q = np.array([[[0.1, 0.5], [0.2, 0.6]], [[0.3, 0.7], [0.4, 0.0]]])
    with pytest.raises(gs.StateError, match=r"contacts hand\.end in state \(1, 1\) hold 2 components, .* only 1 of"):
        gs.operational_inertia(model, q, {"hand.end": across})
    found = gs.operational_inertia(model, q[0], {"hand.end": across})
    assert found.Lambda.shape == found.Lambda_inverse.shape == (2, 2, 2)
    for k in range(2):
        alone = gs.operational_inertia(model, q[0, k], {"hand.end": across})
        assert_close(found.Lambda[k], alone.Lambda, 1e-12)
        assert_close(found.Lambda_inverse[k], alone.Lambda_inverse, 1e-13)


def test_a_batch_gives_what_its_states_give_alone():
    model, contacts = biped(), CONTACTS["different branches"]
    q, _, _ = batch(model, (2, 3))
    for mode in ("compile", "interpret"):
        solver = gs.InverseOperationalInertia(model, contacts, mode=mode)
        found = solver(q)
        assert found.shape == (2, 3, 12, 12)
        assert_close(found[1, 2], expected_inverse(model, q[1, 2], contacts), SOLVED)
        out = np.full(found.shape, np.nan)
        assert solver(q, out=out) is out
        np.testing.assert_array_equal(out, found)
    Lambda = solver.inertia(q).Lambda
    assert_close(Lambda @ found, np.broadcast_to(np.eye(12), (2, 3, 12, 12)), SOLVED)
    assert solver(q[:0, 0]).shape == (0, 12, 12)


def test_a_solver_for_contacts_can_be_copied_and_refreshed():
    model, path = biped(), "l5.mass"
    q, _, _ = state(model, 5)
    solver = gs.InverseOperationalInertia(model, CONTACTS["one branch"], live=[path])
    before = solver(q)
    for other in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        np.testing.assert_array_equal(other(q), before)
    changed = model.replace({path: 5.0})
    solver.refresh(changed)
    assert_close(solver(q), expected_inverse(changed, q, CONTACTS["one branch"]), SOLVED)
    assert_differs(solver(q), before)


def test_selectors_that_hardly_differ_are_told_apart():
    """Also where NumPy prints few digits."""
    model = elbow()
    row = np.array([0.0, 0, 0, 0, 1.0, 0])
    with np.printoptions(precision=2):
        first = gs.operational_inertia(model, [0.1, 0.5], {"hand.end": row}).Lambda_inverse
        second = gs.operational_inertia(model, [0.1, 0.5], {"hand.end": 1.001 * row}).Lambda_inverse
    assert_close(second, 1.001**2 * first, 1e-12)


@pytest.mark.parametrize(
    ("contacts", "error", "pattern"),
    [
        ([], gs.FrameError, r"no contacts are named\. Hint: contacts=\{'foot': 'point'\}"),
        ({}, gs.FrameError, "no contacts are named"),
        (["hnad"], gs.FrameError, r"there is no frame or port 'hnad'.*did you mean 'hand'"),
        (
            {"hand": "hinge"},
            gs.ShapeError,
            r"contact 'hand' is 'hinge'\. Hint: 'fixed', 'point', 'normal' or a matrix",
        ),
        ({"hand": np.eye(5)}, gs.ShapeError, r"the selector of 'hand' has shape \(5, 5\), expected \(m, 6\)"),
        ({"hand": np.zeros((0, 6))}, gs.ShapeError, r"has shape \(0, 6\), expected \(m, 6\)"),
        ({"hand": [[np.inf, 0, 0, 0, 0, 0]]}, gs.ShapeError, "expected .m, 6., finite"),
        ({"hand": [["x", 0, 0, 0, 0, 0]]}, gs.ShapeError, "the selector of 'hand' is no matrix of numbers"),
        ({"hand": "point", "hand.origin": "fixed"}, gs.FrameError, "a frame is named twice"),
    ],
)
def test_contacts_that_are_none_are_refused_in_words(contacts, error, pattern):
    with pytest.raises(error, match=pattern):
        gs.operational_inertia(elbow(), [0.1, 0.5], contacts)


def test_states_that_are_none_are_refused_at_contacts_too():
    with pytest.raises(gs.ShapeError, match=r"operational_inertia: q has shape \(3,\), expected \(\.\.\., 2\)"):
        gs.operational_inertia(elbow(), np.zeros(3), {"hand": "point"})
    with pytest.raises(gs.NonFiniteError):
        gs.operational_inertia(elbow(), [np.nan, 0.0], {"hand": np.eye(6)[3:5]})
