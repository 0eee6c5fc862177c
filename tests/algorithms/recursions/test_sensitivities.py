"""Derivatives of the dynamics: closed forms against numbers with a rate, and both against differences on the manifold.

Wide sweeps run the plain NumPy code; compiled code has a few cases of its own.
"""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, central
from tests.support.examples import few
from tests.support.random_models import random_state, random_wrenches, spatial_ports, various_tree

SEEDS = st.integers(0, 2**32 - 1)
MOVING = [kind for kind in gs.JOINT_KINDS if kind != "fixed"]
SAME = 1e-10
DIFFERENCES = 1e-6
SWINGING = gs.HarmonicMotion(
    offset=(0.1, 0.2, 0.3),
    velocity=(0.3, -0.2, 0.1),
    amplitude=(0.2, -0.1, 0.3),
    frequency=0.7,
    phase=0.3,
    axis=(0.6, 0.0, 0.8),
    angle=0.4,
    rate=0.9,
    swing=0.5,
    swing_frequency=0.6,
    swing_phase=0.2,
)
PLANET = gs.CentralGravity(mu=40.0, centre=(0.5, -3.0, 6.0))
BASES = {"fixed": "fixed", "free": "free", "driven": SWINGING}


def some(examples):
    """The same examples every time; a smaller seed is no simpler tree, so nothing is shrunk."""
    return settings(
        max_examples=few(examples), deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate)
    )


# ------------------------------------------------------------------------------------------------ models and states
def placed_on(model, base):
    """The same mechanism on another base; a free one gets a body, so that joint and base can be told apart."""
    entities, wires = list(model.entities), list(model.connections)
    if base == "free":
        entities.append(gs.RigidBody("base", mass=1.3, com=(0.1, -0.05, 0.02), inertia=(0.03, 0.04, 0.05)))
        wires.append(("world.frame", "base.origin"))
    context = gs.Context(gravity=model.context.gravity, base=base)
    return gs.Model(model.name, entities, wires, context)


def with_local_wrenches(model):
    """Force elements that turn with their body, which closed forms know."""
    entities = [
        gs.ForceElement(e.name, wrench=e.wrench, expressed_in="local") if isinstance(e, gs.ForceElement) else e
        for e in model.entities
    ]
    return gs.Model(model.name, entities, model.connections, model.context)


def tree(seed, bodies, base="fixed", local=True):
    """Gyrostats on joints of every kind, from both sides, with force elements."""
    model = placed_on(various_tree(seed, bodies, momentum=True), base)
    return with_local_wrenches(model) if local else model


def single(kind, near="a", base="fixed", gravity=(1.0, -2.0, -9.0)):
    """A gyrostat on one joint, behind a displacement, met at a frame that is not its origin."""
    given = {"axis": (0.48, 0.6, 0.64), "second_axis": (0.8, 0.0, -0.6), "pitch": 0.2}
    needs = {key: given[key] for key in gs.JOINT_KINDS[kind].needs}
    body = gs.RigidBody(
        "body",
        mass=1.7,
        com=(0.1, -0.2, 0.3),
        inertia=[[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.35]],
        momentum=(0.3, -0.5, 0.7),
        frames={"grip": ((0.2, 0.1, -0.3), gs.rpy(0.3, -0.4, 0.5))},
    )
    far = {"a": "b", "b": "a"}[near]
    model = gs.assemble(
        kind,
        gs.Displacement("place", translation=(0.1, 0.2, -0.1), rotation=gs.rpy(0.2, 0.7, -0.4)),
        gs.Joint("joint", kind, **needs),
        body,
        gs.ForceElement("push", wrench=(0.1, -0.2, 0.3, 0.4, 0.5, -0.6)),
        gs.connect("world.frame", "place.a"),
        gs.connect("place.b", f"joint.{near}"),
        gs.connect(f"joint.{far}", "body.grip"),
        gs.connect("push.frame", "body.origin"),
        gravity=gravity,
    )
    return placed_on(model, base)


def state(model, seed=0):
    return random_state(model, np.random.default_rng([seed, 23]))


def differences(function, n):
    """Column by column, by central differences of sixth order along the unit vectors."""
    return np.stack([central(lambda h, e=e: function(h * e), 0.0) for e in np.eye(n)], axis=-1)


def interpreted(cls, model, *args, **options):
    return cls(model, *args, mode="interpret", **options)


# ------------------------------------------------------------------------------------------------ both methods
def assert_both_methods_agree(model, seed, representation="body", mode="interpret"):
    q, v, a = state(model, seed)
    t = None if isinstance(model.context.base, str) else 0.37
    for cls in (gs.InverseDynamicsDerivatives, gs.ForwardDynamicsDerivatives):
        closed, forward = (
            cls(model, method, representation, mode=mode)(q, v, a, t=t) for method in ("closed-form", "forward-mode")
        )
        for got, expected in zip(closed, forward, strict=True):
            assert_close(got, expected, SAME)


@some(12)
@given(
    seed=SEEDS,
    bodies=st.integers(1, 4),
    base=st.sampled_from(sorted(BASES)),
    representation=st.sampled_from(REPRESENTATIONS),
)
def test_closed_forms_equal_numbers_with_a_rate(seed, bodies, base, representation):
    assert_both_methods_agree(tree(seed, bodies, BASES[base]), seed, representation)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", MOVING)
def test_closed_forms_equal_numbers_with_a_rate_on_a_single_joint(kind, near, base):
    assert_both_methods_agree(single(kind, near, BASES[base]), 1)


@pytest.mark.parametrize("base", BASES)
def test_closed_forms_equal_numbers_with_a_rate_in_compiled_code(base):
    assert_both_methods_agree(tree(5, 1, BASES[base]), 5, mode="compile")


# ------------------------------------------------------------------------------------------------ differences
def assert_equal_to_differences(model, seed, wrenches=None, method="auto", mode="interpret"):
    """d tau and da by central differences along the joints' own motions."""
    q, v, a = state(model, seed)
    n, t = model.nv, None if isinstance(model.context.base, str) else 0.37
    inverse, forward = interpreted(gs.InverseDynamics, model), interpreted(gs.ForwardDynamics, model)
    tau = inverse(q, v, a, wrenches, t=t)
    found = gs.InverseDynamicsDerivatives(model, method, mode=mode)(q, v, a, wrenches, t=t)
    along = lambda x: gs.integrate(model, q, x)  # noqa: E731
    assert_close(found.dtau_dq, differences(lambda x: inverse(along(x), v, a, wrenches, t=t), n), DIFFERENCES)
    assert_close(found.dtau_dv, differences(lambda x: inverse(q, v + x, a, wrenches, t=t), n), DIFFERENCES)
    assert_close(found.dtau_da, differences(lambda x: inverse(q, v, a + x, wrenches, t=t), n), DIFFERENCES)
    found = gs.ForwardDynamicsDerivatives(model, method, mode=mode)(q, v, tau, wrenches, t=t)
    assert_close(found.da_dq, differences(lambda x: forward(along(x), v, tau, wrenches, t=t), n), DIFFERENCES)
    assert_close(found.da_dv, differences(lambda x: forward(q, v + x, tau, wrenches, t=t), n), DIFFERENCES)
    assert_close(found.da_dtau, differences(lambda x: forward(q, v, tau + x, wrenches, t=t), n), DIFFERENCES)


@some(3)
@given(seed=SEEDS, bodies=st.integers(1, 2), base=st.sampled_from(sorted(BASES)))
def test_derivatives_equal_differences_with_wrenches_in_all_kinds_of_frames(seed, bodies, base):
    model = tree(seed, bodies, BASES[base], local=False)
    assert_equal_to_differences(model, seed, random_wrenches(model, np.random.default_rng(seed), 4))


@pytest.mark.parametrize("axes", ["local", "aligned", "world", "place.a"])
@pytest.mark.parametrize("kind", ["revolute", "universal", "spherical", "free"])
def test_a_wrench_that_does_not_turn_with_its_body_is_in_the_derivative(kind, axes):
    model = single(kind)
    push = {"body.grip": gs.Wrench((1.0, -2.0, 3.0, 4.0, 5.0, -6.0), axes)}
    assert_equal_to_differences(model, 2, push)


def test_axes_of_a_wrench_make_a_difference():
    model = single("spherical")
    q, v, a = state(model)
    solver = interpreted(gs.InverseDynamicsDerivatives, model)
    found = [solver(q, v, a, {"body": gs.Wrench((0, 0, 0, 0, 0, 5.0), axes)}).dtau_dq for axes in ("local", "aligned")]
    assert_differs(found[0], found[1])
    assert_close(found[0], solver(q, v, a).dtau_dq, 1e-14)


def test_derivatives_with_wrenches_equal_differences_in_compiled_code():
    model = single("universal", "b", SWINGING)
    push = {"body.grip": gs.Wrench((1.0, -2.0, 3.0, 4.0, 5.0, -6.0), "world"), "body": (1.0, 0, 0, 0, 2.0, 0)}
    assert_equal_to_differences(model, 3, push, mode="compile")


# ------------------------------------------------------------------------------------------------ fields of gravity
def saddle(p):
    return np.array([p[0] - 0.3 * p[1], p[2] * p[0], -9.0 - p[1]])


FIELDS = {
    "uniform": gs.UniformGravity(g=(1.0, -2.0, -9.0), treat_as="field"),
    "central": PLANET,
    "function": saddle,
}


def in_field(model, field):
    return model.replace({"context.gravity": FIELDS[field]})


@pytest.mark.parametrize("field", FIELDS)
def test_in_fields_of_gravity_numbers_with_a_rate_are_chosen_and_closed_forms_refused(field):
    model = in_field(single("universal"), field)
    for cls in (gs.InverseDynamicsDerivatives, gs.ForwardDynamicsDerivatives, gs.InverseDynamicsSecondDerivatives):
        assert "gravity is a field" in cls(model).reason
        with pytest.raises(gs.GyrostatError, match=r"closed form does not hold, gravity is a field\. Hint: method="):
            cls(model, "closed-form")


def test_closed_forms_are_refused_for_force_elements_in_the_world_s_axes():
    model = gs.assemble(
        "pushed",
        gs.chain("world", gs.Joint("q", "revolute", axis="z"), gs.RigidBody("body", mass=1, inertia=(1, 1, 1))),
        gs.ForceElement("wind", wrench=(0, 0, 0, 1, 0, 0), expressed_in="aligned"),
        gs.connect("wind.frame", "body.origin"),
    )
    with pytest.raises(gs.GyrostatError, match=r"the wrench of 'wind' is not carried along"):
        gs.InverseDynamicsDerivatives(model, "closed-form")


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("field", FIELDS)
def test_derivatives_in_fields_of_gravity_equal_differences(field, base):
    assert_equal_to_differences(in_field(tree(4, 1, BASES[base], local=False), field), 4)


def test_derivatives_in_a_field_of_gravity_equal_differences_in_compiled_code():
    assert_equal_to_differences(in_field(single("spherical"), "central"), 4, mode="compile")


def test_a_uniform_field_and_an_accelerated_world_have_the_same_derivatives():
    model = tree(6, 4, "free")
    g = model.context.gravity.g
    q, v, a = state(model)
    for cls in (gs.InverseDynamicsDerivatives, gs.ForwardDynamicsDerivatives):
        field = model.replace({"context.gravity": gs.UniformGravity(g=g, treat_as="field")})
        for got, expected in zip(interpreted(cls, field)(q, v, a), interpreted(cls, model)(q, v, a), strict=True):
            assert_close(got, expected, SAME)


# ------------------------------------------------------------------------------------------------ second derivatives
def assert_second_equal_to_differences(model, seed, mode="interpret"):
    q, v, a = state(model, seed)
    n, t = model.nv, None if isinstance(model.context.base, str) else 0.37
    first = interpreted(gs.InverseDynamicsDerivatives, model)
    found = gs.InverseDynamicsSecondDerivatives(model, mode=mode)(q, v, a, t=t)
    along_q = [differences(lambda x, k=k: first(gs.integrate(model, q, x), v, a, t=t)[k], n) for k in range(3)]
    assert_close(found.d2tau_dqdq, along_q[0], DIFFERENCES)
    assert_close(found.d2tau_dvdq, along_q[1], DIFFERENCES)
    assert_close(found.d2tau_dadq, along_q[2], DIFFERENCES)
    assert_close(found.d2tau_dvdv, differences(lambda x: first(q, v + x, a, t=t).dtau_dv, n), DIFFERENCES)
    assert_close(found.d2tau_dvdv, np.swapaxes(found.d2tau_dvdv, 1, 2), SAME)
    assert_close(found.d2tau_dadq, np.swapaxes(found.d2tau_dadq, 0, 1), SAME)


@some(4)
@given(seed=SEEDS, bodies=st.integers(1, 2), base=st.sampled_from(["fixed", "driven"]))
def test_second_derivatives_equal_differences_of_the_first(seed, bodies, base):
    assert_second_equal_to_differences(tree(seed, bodies, BASES[base]), seed)


@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", MOVING)
def test_second_derivatives_on_a_single_joint_equal_differences(kind, near):
    assert_second_equal_to_differences(single(kind, near), 1)


@pytest.mark.parametrize("field", FIELDS)
def test_second_derivatives_in_fields_of_gravity_equal_differences(field):
    assert_second_equal_to_differences(in_field(single("universal"), field), 1)


def test_second_derivatives_equal_differences_in_compiled_code():
    assert_second_equal_to_differences(single("planar", "b", SWINGING), 1, mode="compile")


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("kind", ["revolute", "universal", "spherical"])
def test_second_derivatives_are_the_same_by_both_methods(kind, mode):
    model = single(kind)
    q, v, a = state(model)
    closed, forward = (
        gs.InverseDynamicsSecondDerivatives(model, method, mode=mode)(q, v, a)
        for method in ("closed-form", "forward-mode")
    )
    for got, expected in zip(forward, closed, strict=True):
        assert_close(got, expected, SAME)


def test_second_derivatives_with_force_elements_in_the_world_s_axes_equal_differences():
    model = single("universal")
    push = gs.ForceElement("push", wrench=(0.1, -0.2, 0.3, 0.4, 0.5, -0.6), expressed_in="world")
    entities = [push if e.name == "push" else e for e in model.entities]
    assert_second_equal_to_differences(gs.Model("pushed", entities, model.connections, model.context), 1)


def test_the_order_of_two_turns_matters_in_second_derivatives():
    """Two displacements e_j, e_k of a quaternion differ by their bracket: d2[j, k] - d2[k, j] = dtau_dq [e_j x e_k]."""
    model = single("spherical")
    q, v, a = state(model)
    second = interpreted(gs.InverseDynamicsSecondDerivatives, model)(q, v, a).d2tau_dqdq
    first = interpreted(gs.InverseDynamicsDerivatives, model)(q, v, a).dtau_dq
    assert_differs(second, np.swapaxes(second, 1, 2))
    for j, k, bracket in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        assert_close(second[:, j, k] - second[:, k, j], -first[:, bracket], SAME)


# ------------------------------------------------------------------------------------------------ parameters
ARM = ("revolute", "universal", "helical", "planar")


def arm(base="fixed"):
    """Joints of several kinds in a row, with bodies that are merged and displacements of two forms."""
    links = []
    for k, kind in enumerate(ARM):
        given = {"axis": (0.48, 0.6, 0.64), "second_axis": (0.8, 0.0, -0.6), "pitch": 0.2}
        needs = {key: given[key] for key in gs.JOINT_KINDS[kind].needs}
        J = np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.35]]) * (k + 1)
        tip = {"tip": ((0.2, 0.1 * k, -0.3), gs.rpy(0.3, -0.4, 0.5))}
        links += [
            gs.Joint(f"joint{k}", kind, **needs),
            gs.RigidBody(f"body{k}", mass=1.0 + k, com=(0.1, -0.2, 0.3), inertia=J, momentum=(0.1, 0.2, k), frames=tip),
        ]
    links.insert(2, gs.Displacement("offset", translation=(0.1, 0.2, 0.3), rotation=gs.euler((0.1, 0.2, 0.3), "xyz")))
    links.insert(5, gs.DHDisplacement("dh", a=0.3, alpha=0.4, d=0.5, theta=0.6))
    load = gs.RigidBody("load", mass=0.6, com=(0.05, 0.02, 0.1), inertia=(0.1, 0.2, 0.15))
    return gs.assemble(
        "arm",
        gs.chain("world", *links),
        load,
        gs.connect("body2.tip", "load.origin"),
        gravity=(1.0, 2.0, -9.0),
        base=base,
    )


def replaced(model, path, index, h):
    """One number of a property changed by h."""
    value = np.array(model[path], dtype=float)
    value[index] += h
    return model.replace({path: float(value) if value.ndim == 0 else value.tolist()})


def assert_parameter_derivative(model, path, mode="interpret"):
    q, v, a = state(model, 7)
    solver = gs.ParameterDerivatives(model, [path], mode=mode)
    found = solver(q, v, a)
    places = list(np.ndindex(np.shape(model[path])))
    assert found.shape == (model.nv, len(places)) and len(solver.columns) == len(places)
    for k, index in enumerate(places):
        torque = lambda h, index=index: interpreted(gs.InverseDynamics, replaced(model, path, index, h))(q, v, a)  # noqa: E731
        assert_close(found[:, k], central(torque, 0.0), DIFFERENCES)


NUMBERS = (
    "body0.mass",
    "body1.mass",
    "load.mass",
    "body3.com",
    "load.com",
    "body2.momentum",
    "joint2.pitch",
    "offset.translation",
    "offset.rotation.euler",
    "body0.tip.translation",
    "dh.a",
    "dh.alpha",
    "dh.d",
    "dh.theta",
    "context.gravity",
)


@pytest.mark.parametrize("path", NUMBERS)
def test_derivatives_by_properties_equal_differences(path):
    model = arm()
    if path == "context.gravity":
        q, v, a = state(model, 7)
        found = interpreted(gs.ParameterDerivatives, model, [path])(q, v, a)
        torque = lambda g: interpreted(gs.InverseDynamics, model.replace({path: g.tolist()}))(q, v, a)  # noqa: E731
        g = np.array(model.context.gravity.g)
        assert_close(found, differences(lambda x: torque(g + x), 3), DIFFERENCES)
        return
    assert_parameter_derivative(model, path)


@pytest.mark.parametrize("path", ["body1.inertia", "load.inertia"])
def test_derivatives_by_moments_of_inertia_equal_differences(path):
    """Both halves of the matrix are numbers of their own; a specification changes them together."""
    model = arm()
    q, v, a = state(model, 7)
    found = interpreted(gs.ParameterDerivatives, model, [path])(q, v, a).reshape(-1, 3, 3)
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):

        def torque(h, i=i, j=j):
            J = np.array(model[path])
            J[i, j] = J[j, i] = J[i, j] + h
            return interpreted(gs.InverseDynamics, model.replace({path: J.tolist()}))(q, v, a)

        expected = found[:, i, j] if i == j else found[:, i, j] + found[:, j, i]
        assert_close(expected, central(torque, 0.0), DIFFERENCES)


@pytest.mark.parametrize("name", ["joint0", "joint1", "joint2", "joint3"])
def test_derivatives_by_axes_equal_differences_of_tilted_axes(name):
    """A tilt by a small angle about n changes the axis by n x axis."""
    model, path = arm(), f"{name}.axis"
    q, v, a = state(model, 7)
    axis = np.array(model[path])
    found = interpreted(gs.ParameterDerivatives, model, [path])(q, v, a)
    for n in np.linalg.svd(axis[None])[2][1:]:
        across = np.cross(n, axis)
        tilted = lambda h, across=across: model.replace({path: tuple(np.cos(h) * axis + np.sin(h) * across)})  # noqa: E731
        torque = central(lambda h, tilted=tilted: interpreted(gs.InverseDynamics, tilted(h))(q, v, a), 0.0)
        assert_close(found @ across, torque, DIFFERENCES)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_derivatives_by_wrenches_are_what_unit_wrenches_change(mode):
    """Torques are linear in wrenches."""
    model = arm()
    q, v, a = state(model, 7)
    solver = gs.ParameterDerivatives(model, "offset.translation", ["body1", "body3.tip"], mode=mode)
    found = solver(q, v, a)
    assert solver.columns[:4] == (*(f"offset.translation[{k}]" for k in range(3)), "body1.origin.nx")
    assert solver.columns[-1] == "body3.tip.fz"
    still = gs.rnea(model, q, v, a)
    for first, port in ((3, "body1.origin"), (9, "body3.tip")):
        for k, unit in enumerate(np.eye(6)):
            assert_close(found[:, first + k], gs.rnea(model, q, v, a, {port: unit}) - still)
        J = gs.jacobian(model, q, port, "local")
        assert_close(found[:, first : first + 6], -J.T)


def test_derivatives_by_several_properties_stand_side_by_side_in_compiled_code():
    model = arm()
    q, v, a = state(model, 7)
    paths = ["body2.inertia", "offset.translation", "joint2.pitch", "joint0.axis"]
    solver = gs.ParameterDerivatives(model, paths, ["load"])
    assert_close(solver(q, v, a), interpreted(gs.ParameterDerivatives, model, paths, ["load"])(q, v, a))
    alone = [gs.ParameterDerivatives(model, [path], mode="interpret")(q, v, a) for path in paths]
    assert_close(solver(q, v, a)[:, :-6], np.concatenate(alone, axis=1))


def test_derivatives_by_mass_are_those_of_compiled_code_too():
    assert_parameter_derivative(arm(), "load.mass", "compile")
    assert_parameter_derivative(arm(), "body3.com", "compile")


def test_derivatives_by_parameters_on_a_base_that_moves_by_itself():
    model, path = arm(SWINGING), "offset.translation"
    q, v, a = state(model, 7)
    found = interpreted(gs.ParameterDerivatives, model, [path])(q, v, a, t=0.4)
    for k in range(3):
        torque = lambda h, k=k: interpreted(gs.InverseDynamics, replaced(model, path, k, h))(q, v, a, t=0.4)  # noqa: E731
        assert_close(found[:, k], central(torque, 0.0), DIFFERENCES)


# ------------------------------------------------------------------------------------------------ calls
def two_joints():
    return gs.assemble(
        "two",
        gs.chain(
            "world",
            gs.Joint("hip", "universal", axis="x", second_axis="y"),
            gs.RigidBody("thigh", mass=1.5, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25), frames={"knee": (0, 0, 1)}),
            gs.Joint("ball", "spherical"),
            gs.RigidBody("shin", mass=0.7, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.1, 0.05), momentum=(0.1, 0.2, 0.3)),
        ),
    )


SOLVERS = {
    "inverse": lambda model, **options: gs.InverseDynamicsDerivatives(model, **options),
    "forward": lambda model, **options: gs.ForwardDynamicsDerivatives(model, **options),
    "second": lambda model, **options: gs.InverseDynamicsSecondDerivatives(model, **options),
    "parameters": lambda model, **options: gs.ParameterDerivatives(model, ["thigh.knee.translation"], **options),
}


def as_list(found):
    return list(found) if isinstance(found, tuple) else [found]


def batch(model, shape, seed=0):
    rng = np.random.default_rng(seed)
    q = gs.random_configuration(model, rng, shape)
    return q, *rng.normal(size=(2, *shape, model.nv))


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("which", SOLVERS)
def test_a_batch_gives_what_its_states_give_alone(which, mode):
    model = two_joints()
    solver = SOLVERS[which](model, mode=mode)
    q, v, a = batch(model, (2, 3))
    found = as_list(solver(q, v, a))
    for k in np.ndindex(2, 3):
        for whole, alone in zip(found, as_list(solver(q[k], v[k], a[k])), strict=True):
            assert_close(whole[k], alone, 1e-13)
    spread, alone = solver(q[0, 0], v, a[0, 0]), solver(q[0, 0], v[1, 2], a[0, 0])
    for whole, one in zip(as_list(spread), as_list(alone), strict=True):
        assert_close(whole[1, 2], one, 1e-13)
    empty = as_list(solver(*(x[:0, 0] for x in (q, v, a))))
    assert [x.shape for x in empty] == [(0, *x.shape[2:]) for x in found]


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("which", SOLVERS)
def test_results_can_be_written_into_arrays_of_the_caller(which, mode):
    model = two_joints()
    solver = SOLVERS[which](model, mode=mode)
    state_ = batch(model, (3,))
    expected = solver(*state_)
    out = [np.full(x.shape, np.nan) for x in as_list(expected)]
    found = solver(*state_, out=tuple(out) if isinstance(expected, tuple) else out[0])
    for target, got, value in zip(out, as_list(found), as_list(expected), strict=True):
        assert got is target
        np.testing.assert_array_equal(target, value)
    assert type(found) is type(expected)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_arrays_of_the_caller_that_do_not_fit_are_refused(mode):
    model = two_joints()
    solver = gs.InverseDynamicsDerivatives(model, mode=mode)
    given, n = state(model), model.nv
    with pytest.raises(gs.ShapeError, match=r"out must be a tuple of 3 arrays: dtau_dq, dtau_dv, dtau_da"):
        solver(*given, out=(np.zeros((n, n)), np.zeros((n, n))))
    with pytest.raises(gs.ShapeError, match=r"out must be a tuple of 3 arrays|out has shape"):
        solver(*given, out=np.zeros((n, n)))
    with pytest.raises(gs.ShapeError, match=rf"out has shape \(1, {n}\), expected \({n}, {n}\)"):
        solver(*given, out=(np.zeros((n, n)), np.zeros((1, n)), np.zeros((n, n))))


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("which", ["inverse", "forward", "second"])
def test_live_properties_can_be_refreshed(which, mode):
    model, path = two_joints(), "shin.mass"
    changed = model.replace({path: 1.9, "thigh.knee.translation": (0.1, 0.0, 0.8)})
    solver = SOLVERS[which](model, live=[path, "thigh.knee.translation"], mode=mode)
    given = state(model)
    before = as_list(solver(*given))
    solver.refresh(changed)
    after = as_list(solver(*given))
    for got, expected, old in zip(after, as_list(SOLVERS[which](changed, mode=mode)(*given)), before, strict=True):
        assert_close(got, expected, SAME)
        assert_differs(got, old)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_parameters_themselves_can_be_refreshed(mode):
    model = two_joints()
    changed = model.replace({"thigh.knee.translation": (0.1, 0.0, 0.8)})
    solver = SOLVERS["parameters"](model, mode=mode)
    given = state(model)
    before = solver(*given)
    solver.refresh(changed)
    assert_close(solver(*given), SOLVERS["parameters"](changed, mode=mode)(*given), SAME)
    assert_differs(solver(*given), before)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda solver: pickle.loads(pickle.dumps(solver))])
@pytest.mark.parametrize("which", SOLVERS)
def test_solvers_can_be_copied_and_sent_to_another_process(which, duplicate):
    model = two_joints()
    solver = SOLVERS[which](model)
    given = state(model)
    expected = as_list(solver(*given))
    other = duplicate(solver)
    assert other.options() == solver.options()
    for got, value in zip(as_list(other(*given)), expected, strict=True):
        np.testing.assert_array_equal(got, value)


def test_the_method_goes_along_with_a_copy():
    solver = gs.ForwardDynamicsDerivatives(two_joints(), "forward-mode", "absolute", mode="interpret")
    other = pickle.loads(pickle.dumps(solver))
    assert (other.method, other.representation, other.mode) == ("forward-mode", "absolute", "interpret")


def test_the_short_functions_are_the_solvers():
    model = two_joints()
    given = state(model)
    push = {"shin": gs.Wrench((1, 2, 3, 4, 5, 6), "aligned")}
    for function, cls in (
        (gs.rnea_derivatives, gs.InverseDynamicsDerivatives),
        (gs.aba_derivatives, gs.ForwardDynamicsDerivatives),
    ):
        for wrenches in (None, push):
            for got, expected in zip(function(model, *given, wrenches), cls(model)(*given, wrenches), strict=True):
                np.testing.assert_array_equal(got, expected)
        for got, expected in zip(function(model, *given, method="forward-mode"), cls(model)(*given), strict=True):
            assert_close(got, expected, SAME)


def test_states_that_are_none_are_refused_in_words():
    model = two_joints()
    q, v, a = state(model)
    for which, build in SOLVERS.items():
        solver = build(model)
        with pytest.raises(gs.ShapeError, match=r"q has shape \(5,\), expected \(\.\.\., 6\), nq of 'two'"):
            solver(v, v, a)
        with pytest.raises(gs.ShapeError, match=r"v has shape \(6,\), expected \(\.\.\., 5\), nv of 'two'"):
            solver(q, q, a)
        with pytest.raises(gs.ShapeError, match="tau has shape" if which == "forward" else "a has shape"):
            solver(q, v, a[:2])
        with pytest.raises(gs.StateError, match="quaternion of 'ball' has length 2"):
            solver(q * [1, 1, 2, 2, 2, 2], v, a)
        with pytest.raises(gs.NonFiniteError):
            solver(q, v * np.nan, a)


def test_what_is_no_method_or_no_parameter_is_refused_in_words():
    model = two_joints()
    for cls in (gs.InverseDynamicsDerivatives, gs.ForwardDynamicsDerivatives, gs.InverseDynamicsSecondDerivatives):
        with pytest.raises(gs.GyrostatError, match=r"no method 'closed-from'\. Hint: did you mean 'closed-form'"):
            cls(model, "closed-from")
    with pytest.raises(gs.GyrostatError, match="there is no method 'reverse'"):
        gs.rnea_derivatives(model, *state(model), method="reverse")
    with pytest.raises(gs.GyrostatError, match="nothing to differentiate by"):
        gs.ParameterDerivatives(model)
    with pytest.raises(gs.SpecError, match="there is no 'thihg'"):
        gs.ParameterDerivatives(model, ["thihg.mass"])
    with pytest.raises(gs.SpecError, match="no number, vector or matrix"):
        gs.ParameterDerivatives(model, ["hip.kind"])
    with pytest.raises(gs.FrameError, match="there is no frame or port 'foot'"):
        gs.ParameterDerivatives(model, wrt_wrenches=["foot"])


def test_columns_are_named_once_for_each_column():
    solver = gs.ParameterDerivatives(two_joints(), ["hip.axis", "hip.axis"], mode="interpret")
    assert solver(*state(two_joints())).shape[1] == len(solver.columns)


def test_the_trees_contain_joints_of_every_kind_and_momentum():
    met = {e.kind for seed in range(40) for e in tree(seed, 4).entities if isinstance(e, gs.Joint)}
    assert met == set(gs.JOINT_KINDS)
    assert any(np.any(e.momentum) for e in tree(1, 4).entities if isinstance(e, gs.RigidBody))
    assert spatial_ports(tree(1, 4))
