"""Derivatives, live properties and refreshing: against complex steps, differences, and solvers made anew."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing import derivative
from gyrostat.engine.tracing.choose import maximum, minimum, sign, where
from gyrostat.engine.tracing.program import run
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError, ShapeError, SpecError, StateError
from gyrostat.spec.joint import JOINT_KINDS
from gyrostat.spec.values import AxisAngle, Quaternion, RotationMatrix
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, central
from tests.support.random_models import random_state

ALL = tuple(JOINT_KINDS)


def every_kind(base: str = "free") -> gs.Model:
    """A tree in which every kind of joint occurs; the bodies alternate between two branches."""
    parts = []
    for k, kind in enumerate(ALL):
        near = "world.frame" if k < 2 else f"body{k - 2}.tip"
        table = JOINT_KINDS[kind]
        given = {"axis": (0.6, 0.0, 0.8), "second_axis": (0.0, 1.0, 0.0), "pitch": 0.1}
        joint = gs.Joint(f"joint{k}", kind, **{name: given[name] for name in table.needs})
        body = gs.RigidBody(
            f"body{k}",
            mass=1.0 + 0.1 * k,
            com=(0.1, 0.02 * k, -0.05),
            inertia=((0.3, 0.01, 0.0), (0.01, 0.2, 0.02), (0.0, 0.02, 0.25)),
            frames={"tip": ((0.2, 0.1, 0.3), gs.euler((0.1 * k, 0.2, 0.3), "xyz"))},
        )
        shift = gs.Displacement(
            f"shift{k}", translation=(0.1, 0.0, 0.05 * k), rotation=gs.euler((0.2, 0.1, 0.0), "zyx")
        )
        parts += [shift, joint, body, gs.connect(near, f"shift{k}.a"), gs.connect(f"shift{k}.b", f"joint{k}.a")]
        parts.append(gs.connect(f"joint{k}.b", f"body{k}.origin"))
    return gs.assemble("every_kind", *parts, gravity=(1.0, -2.0, -9.0), base=base)


MODELS = {
    "chain": lambda: gs.robots.chain(4),
    "every kind, free": every_kind,
    "branched": lambda: gs.robots.tree(2, 7, kinds=("revolute", "prismatic", "universal"), branching=0.8),
}


@pytest.fixture(scope="module", params=list(MODELS))
def solver(request) -> gs.InverseDynamics:
    return gs.InverseDynamics(MODELS[request.param]())


def states(model: gs.Model, n: int = 1, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [np.array(x) for x in zip(*(random_state(model, rng) for _ in range(n)), strict=True)]


def state(model: gs.Model, seed: int = 0) -> list[np.ndarray]:
    return [x[0] for x in states(model, 1, seed)]


def by_complex_step(solver: gs.InverseDynamics, x: list[np.ndarray], which: int) -> np.ndarray:
    """d tau / d (q, v or a) of the plain NumPy algorithm."""
    on = solver.setting(0.0)
    columns = []
    for k in range(len(x[which])):
        given = [np.array(e, dtype=complex) for e in x]
        given[which][k] += 1e-30j
        columns.append(np.imag(sweep_forces(solver.network, on, *given, lambda motions: {})[0]) / 1e-30)
    return np.stack(columns, axis=-1)


# ---------------------------------------------------------------------------------------------- jacobians


@pytest.mark.parametrize("wrt", ["q", "v", "a"])
def test_jacobians_are_those_of_the_interpreter_by_complex_step(solver, wrt):
    x = state(solver.model)
    (found,) = solver.jacobian("tau", wrt)(*(e[None] for e in x))
    assert found.shape == (solver.model.nv, len(x["qva".index(wrt)]))
    assert_close(found, by_complex_step(solver, x, "qva".index(wrt)), 1e-13)


@pytest.mark.parametrize("representation", REPRESENTATIONS[1:])
def test_jacobians_do_not_depend_on_the_representation(representation):
    model = gs.robots.tree(5, 2, kinds=("universal", "planar"))
    x = state(model)
    for wrt in "qv":
        want = gs.InverseDynamics(model).jacobian("tau", wrt)(*x)
        assert_close(gs.InverseDynamics(model, representation).jacobian("tau", wrt)(*x), want, 1e-11)


def test_the_jacobian_of_accelerations_is_the_mass_matrix(solver):
    x = state(solver.model)
    (M,) = solver.jacobian("tau", "a")(*(e[None] for e in x))
    assert_close(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_patterns_hold_all_entries_that_can_be_other_than_zero(solver):
    x = states(solver.model, 20)
    for wrt in "qva":
        J = solver.jacobian("tau", wrt)
        found = J(*x) != 0.0
        assert J.pattern.shape == found.shape[1:] and J.pattern.dtype == bool
        assert not np.any(found & ~J.pattern)
        assert found.any(axis=0)[J.pattern].mean() > 0.9  # and hardly others


def test_patterns_of_branched_robots_are_sparse():
    solver = gs.InverseDynamics(every_kind("fixed"))  # patterns need no code
    branch = {name: int(name.split(".")[0].removeprefix("joint")) % 2 for name in solver.model.dofs}
    apart = np.array([[branch[a] != branch[b] for b in solver.model.dofs] for a in solver.model.dofs])
    for wrt in "va":
        pattern = solver.jacobian("tau", wrt).pattern
        assert not np.any(pattern[apart])
        assert 0.2 < pattern.mean() < 0.6
    assert solver.jacobian("tau", "q").pattern.mean() < 0.6


def test_derivatives_give_the_same_bits_alone_and_in_batches(solver):
    J = solver.jacobian("tau", "q")
    x = states(solver.model, 6)
    batch = J(*x)
    for k in range(6):
        np.testing.assert_array_equal(J(*(e[k].copy() for e in x)), batch[k])
    np.testing.assert_array_equal(J(*x, threads=2), batch)
    out = np.empty_like(batch)
    assert J(*x, out=out) is out
    np.testing.assert_array_equal(out, batch)
    one = np.empty(batch.shape[1:])
    assert J(*(e[2].copy() for e in x), out=one) is one
    np.testing.assert_array_equal(one, batch[2])


def test_a_derivative_is_made_once(solver):
    assert solver.jacobian("tau", "q") is solver.jacobian("tau", "q")
    assert solver.directional("tau", "q") is solver.directional("tau", ["q"])
    assert repr(solver.jacobian("tau", "v")).startswith("<derivative jacobian(tau, v) of <InverseDynamics of ")


def test_the_time_of_a_driven_base_can_be_differentiated():
    base = gs.HarmonicMotion(amplitude=(0.1, 0.0, 0.2), frequency=1.5, axis=(0, 1, 0), swing=0.3, swing_frequency=0.7)
    solver = gs.InverseDynamics(gs.robots.tree(5, 3, base=base))
    x = state(solver.model)
    found = solver.jacobian("tau", "t")(*x, t=0.3)
    assert_close(found, central(lambda t: solver(*x, t=t), 0.3), 1e-10)
    many = solver.jacobian("tau", "t")(*x, t=[0.1, 0.3])
    np.testing.assert_array_equal(many[1], found)


# ---------------------------------------------------------------------------------------------- further derivatives


@pytest.mark.parametrize(("one", "two"), [("q", "q"), ("q", "v"), ("v", "v"), ("q", "a")])
def test_hessians_are_differences_of_jacobians(one, two):
    solver = gs.InverseDynamics(gs.robots.tree(6, 2, kinds=("revolute", "prismatic", "spherical")))
    x = state(solver.model)
    J = gs.InverseDynamics(solver.model, rules=()).jacobian("tau", one).kernel
    H = solver.hessian("tau", one, two)
    which = "qva".index(two)

    def shifted(h: float, k: int) -> np.ndarray:
        y = [e.copy() for e in x]
        y[which][k] += h
        return J.call(*y, nonfinite="return")[f"dtau_d{one}"]  # the kernel itself: quaternions off unit length are fine

    want = np.stack([central(lambda h, k=k: shifted(h, k), 0.0) for k in range(len(x[which]))], axis=-1)
    found = H(*x)
    assert found.shape == want.shape == H.pattern.shape
    assert_close(found, want, 1e-9)
    assert not np.any((found != 0.0) & ~H.pattern)
    if one == two:
        assert_close(found, found.swapaxes(-1, -2), 1e-12)


def test_a_hessian_is_of_one_input_unless_said_otherwise():
    solver = gs.InverseDynamics(gs.robots.pendulum(mass=2.0, length=0.5))
    found = solver.hessian("tau", "q")([0.4], [0.1], [0.2])
    assert_close(found, [[[-2.0 * 9.81 * 0.25 * np.sin(0.4)]]], 1e-14)


@pytest.mark.parametrize("names", [["q"], ["v"], ["a", "q", "v"]])
def test_directional_derivatives_are_jacobians_times_directions(solver, names):
    x = states(solver.model, 5)
    rng = np.random.default_rng(1)
    along = [rng.normal(size=x["qva".index(n)].shape) for n in names]
    want = sum(np.einsum("nij,nj->ni", solver.jacobian("tau", n)(*x), d) for n, d in zip(names, along, strict=True))
    found = solver.directional("tau", names)
    assert_close(found(*x, *along), want, 1e-12)
    assert_close(found(*(e[0] for e in x), *(d[0] for d in along)), want[0], 1e-12)
    out = np.empty_like(want)
    assert found(*x, *along, out=out, threads=2) is out
    assert_close(found(*(e[0] for e in x), *along)[0], want[0], 1e-12)


# ---------------------------------------------------------------------------------------------- every operation

# functions of two numbers, at places where they are smooth
SMOOTH = {
    "add": (lambda x, y: x + y, (0.7, 0.4)),
    "sub": (lambda x, y: x - y, (0.7, 0.4)),
    "mul": (lambda x, y: x * y, (0.7, 0.4)),
    "div": (lambda x, y: x / y, (0.7, 0.4)),
    "neg": (lambda x, y: -x, (0.7, 0.4)),
    "sqrt": (lambda x, y: np.sqrt(x * y), (0.7, 0.4)),
    "abs": (lambda x, y: abs(x) * y, (-0.7, 0.4)),
    "floor": (lambda x, y: np.floor(x * 5.0) * y, (0.7, 0.4)),
    "ceil": (lambda x, y: np.ceil(x * 3.1) * y, (0.7, 0.4)),
    "sin": (lambda x, y: np.sin(x * y), (0.7, 0.4)),
    "cos": (lambda x, y: np.cos(x * y), (0.7, 0.4)),
    "tan": (lambda x, y: np.tan(x * y), (0.7, 0.4)),
    "asin": (lambda x, y: np.arcsin(x * y), (0.7, 0.4)),
    "acos": (lambda x, y: np.arccos(x * y), (0.7, 0.4)),
    "atan": (lambda x, y: np.arctan(x * y), (0.7, 0.4)),
    "atan2": (lambda x, y: np.arctan2(x, y), (0.7, -0.4)),
    "sinh": (lambda x, y: np.sinh(x * y), (0.7, 0.4)),
    "cosh": (lambda x, y: np.cosh(x * y), (0.7, 0.4)),
    "tanh": (lambda x, y: np.tanh(x * y), (0.7, 0.4)),
    "exp": (lambda x, y: np.exp(x * y), (0.7, 0.4)),
    "log": (lambda x, y: np.log(x * y), (0.7, 0.4)),
    "pow": (lambda x, y: x**y, (0.7, 0.4)),
    "power of a constant": (lambda x, y: x**-2.5 * y**3, (0.7, 0.4)),
    "pow with a constant": (lambda x, y: x**0.3 + 1.7**y, (0.7, 0.4)),
    "fmod": (lambda x, y: np.fmod(x, y), (0.7, 0.4)),
    "remainder": (lambda x, y: (-x) % y, (0.7, 0.4)),
    "select": (lambda x, y: where(x < y, x * y, x - y * y), (0.7, 0.4)),
    "select the other": (lambda x, y: where((x > y) & (y > 0.0), x * y, x - y * y), (0.7, 0.4)),
    "select, one side undefined": (lambda x, y: where(x > 0.0, np.sqrt(x), y * y), (-0.7, 0.4)),
    "not, or": (lambda x, y: where(~(x > y) | (y < 0.0), x * y, x - y), (0.7, 0.4)),
    "eq, ne": (lambda x, y: where(x == y, 1.0, x) + where(x != y, y, 1.0), (0.7, 0.4)),
    "le": (lambda x, y: where(x <= y, x, 2.0 * y), (0.7, 0.4)),
    "min": (lambda x, y: minimum(x, y) * x, (0.7, 0.4)),
    "max": (lambda x, y: maximum(x, y) * y, (0.7, 0.4)),
    "sign": (lambda x, y: sign(x) * y + sign(-y) * x, (0.7, 0.4)),
}


@pytest.mark.parametrize("name", list(SMOOTH))
def test_derivatives_of_every_operation_are_differences(name):
    function, at = SMOOTH[name]
    program = record(lambda x: {"y": [function(x[0], x[1])]}, {"x": (2,)})
    J, _ = derivative.jacobian(program, "y", "x")
    along = derivative.directional(program, "y", ["x"])
    x, h = np.array(at), np.eye(2)
    with np.errstate(all="ignore"):
        want = [float(central(lambda t, k=k: function(*(x + t * h[k])), 0.0, 1e-4)) for k in range(2)]
    assert_close(run(J, at)[0], want, 1e-9)
    assert_close(run(along, at, (0.3, -2.0))[0], [0.3 * want[0] - 2.0 * want[1]], 1e-9)
    assert_close(Kernel(J).call(at)["dy_dx"], [want], 1e-9)
    H, _ = derivative.jacobian(J, "dy_dx", "x")
    assert np.all(np.isfinite(run(H, at)[0]))


def test_derivatives_of_empty_inputs_and_outputs_are_empty():
    program = record(lambda x, e: {"y": x * 2.0, "n": np.zeros(0)}, {"x": (2,), "e": (0,)})
    assert derivative.jacobian(program, "y", "e")[1].shape == (2, 0)
    assert derivative.jacobian(program, "n", "x")[1].shape == (0, 2)
    J, pattern = derivative.jacobian(program, "y", "x")
    np.testing.assert_array_equal(Kernel(J).call([1.0, 2.0], [])["dy_dx"], 2.0 * np.eye(2))
    np.testing.assert_array_equal(pattern, np.eye(2, dtype=bool))


def test_derivatives_of_matrices_have_the_shapes_of_both():
    program = record(lambda A, x: {"B": A * x[0] + x[1]}, {"A": (2, 3), "x": (2,)})
    J, pattern = derivative.jacobian(program, "B", "A")
    assert J.outputs[0].shape == pattern.shape == (2, 3, 2, 3)
    found = Kernel(J).call(np.ones((2, 3)), [5.0, 0.0])["dB_dA"]
    np.testing.assert_array_equal(found.reshape(6, 6), 5.0 * np.eye(6))


# ---------------------------------------------------------------------------------------------- what is refused


def test_unknown_names_are_told_with_the_near_ones(solver):
    with pytest.raises(ShapeError, match=r"there is no output 'tua' to differentiate\. Hint: did you mean 'tau'"):
        solver.jacobian("tua", "q")
    with pytest.raises(ShapeError, match=r"there is no input 'w' to differentiate"):
        solver.jacobian("tau", "w")
    with pytest.raises(ShapeError, match="there is no input 'x'"):
        solver.directional("tau", ["q", "x"])
    with pytest.raises(ShapeError, match="there is no input 'x'"):
        solver.hessian("tau", "q", "x")


def test_states_of_derivatives_are_checked_like_those_of_solvers():
    solver = gs.InverseDynamics(gs.robots.tree(1, 2, kinds=("revolute",), base="free"))
    J, along = solver.jacobian("tau", "q"), solver.directional("tau", "q")
    q, v, a = state(solver.model)
    with pytest.raises(ShapeError, match="rnea: got 2 arguments, expected 3: q, v, a"):
        J(q, v)
    with pytest.raises(ShapeError, match=r"rnea: v has shape \(3,\), expected"):
        J(q, v[:3], a)
    with pytest.raises(ShapeError, match=r"got 1 arguments, expected 4: the state, then 1 direction\(s\)"):
        along(q)
    with pytest.raises(ShapeError, match="got 3 arguments, expected 4"):
        along(q, v, a)
    with pytest.raises(ShapeError, match=r"d_q has shape \(2,\), expected"):
        along(q, v, a, [1.0, 2.0])
    with pytest.raises(NonFiniteError, match=r"rnea: v of .* is nan"):
        J(q, v * np.nan, a)
    stretched = q.copy()
    stretched[3:7] *= 1.1
    for nonfinite in ("raise", "return"):
        with pytest.raises(StateError, match=r"the quaternion of 'world' has length 1\.1"):
            J(stretched, v, a, nonfinite=nonfinite)
        with pytest.raises(StateError, match=r"the quaternion of 'world' has length 1\.1"):
            along(stretched, v, a, q, nonfinite=nonfinite)
    assert np.isnan(J(q, v * np.nan, a, nonfinite="return")).any()


# ---------------------------------------------------------------------------------------------- CasADi


def test_the_casadi_function_is_the_same_function(solver):
    function = solver.casadi()
    assert isinstance(function, ca.Function)
    assert function.name_in() == ["q", "v", "a"] and function.name_out() == ["tau"]
    x = state(solver.model)
    assert_close(np.array(function(*x)).ravel(), solver(*x), 1e-13)
    symbols = [ca.SX.sym(n, len(e)) for n, e in zip("qva", x, strict=True)]
    J = ca.Function("J", symbols, [ca.jacobian(function(*symbols), symbols[1])])
    assert_close(np.array(J(*x)), solver.jacobian("tau", "v")(*x), 1e-12)


def test_live_properties_are_inputs_of_the_casadi_function():
    model = gs.robots.chain(2)
    function = gs.InverseDynamics(model, live=["link2.mass", "joint1.axis"]).casadi()
    assert function.name_in() == ["q", "v", "a", "link2_mass", "joint1_axis"]
    x = state(model)
    heavier = gs.InverseDynamics(model.replace({"link2.mass": 3.0}))
    assert_close(np.array(function(*x, 3.0, model["joint1.axis"])).ravel(), heavier(*x), 1e-13)


# ---------------------------------------------------------------------------------------------- live properties

# kind of joint, property
LIVE = [
    ("revolute", "body.mass"),
    ("spherical", "body.com"),
    ("free", "body.inertia"),
    ("spherical", "body.momentum"),
    ("prismatic", "body.tip.translation"),
    ("universal", "body.tip.rotation.euler"),
    ("revolute", "shift.translation"),
    ("planar", "shift.rotation.euler"),
    ("revolute", "joint.axis"),
    ("continuous", "joint.axis"),
    ("prismatic", "joint.axis"),
    ("helical", "joint.axis"),
    ("helical", "joint.pitch"),
    ("cylindrical", "joint.axis"),
    ("universal", "joint.axis"),
    ("universal", "joint.second_axis"),
    ("planar", "joint.axis"),
    ("fixed", "context.gravity"),
]
live_properties = pytest.mark.parametrize(("kind", "path"), LIVE, ids=[f"{path} {kind}" for kind, path in LIVE])


def small(kind: str) -> gs.Model:
    """One joint of a kind between others."""
    given = {"axis": (0.6, 0.0, 0.8), "second_axis": (0.0, 1.0, 0.0), "pitch": 0.1}
    joint = gs.Joint("joint", kind, **{name: given[name] for name in JOINT_KINDS[kind].needs})
    tip = {"tip": ((0.2, 0.1, 0.3), gs.euler((0.1, 0.2, 0.3), "xyz"))}
    inertia = ((0.3, 0.01, 0.0), (0.01, 0.2, 0.02), (0.0, 0.02, 0.25))
    body = gs.RigidBody("body", mass=1.5, com=(0.1, 0.2, -0.05), inertia=inertia, frames=tip)
    shift = gs.Displacement("shift", translation=(0.1, 0.0, 0.2), rotation=gs.euler((0.2, 0.1, 0.0), "zyx"))
    last = gs.RigidBody("last", mass=0.7, com=(0.1, 0.0, 0.2), inertia=(0.1, 0.1, 0.1))
    parts = [
        gs.Joint("first", "revolute", axis="y"),
        shift,
        joint,
        body,
        gs.Joint("second", "revolute", axis="x"),
        last,
    ]
    return gs.assemble(f"small_{kind}", gs.chain("world", *parts), gravity=(1.0, -2.0, -9.0))


OTHER_FORMS = {
    "turned.rotation.quaternion": Quaternion(quaternion=(0.5, 0.5, 0.5, 0.5)),
    "turned.rotation.matrix": RotationMatrix(matrix=((0, 1, 0), (0, 0, 1), (1, 0, 0))),
    "turned.rotation.angle": AxisAngle(axis=(0, 0.6, 0.8), angle=0.5),
    "turned.rotation.axis": AxisAngle(axis=(0, 0.6, 0.8), angle=0.5),
}


def changed(model: gs.Model, path: str, rng: np.random.Generator, amount: float = 0.2) -> gs.Model:
    """The same model with another, equally sensible value."""
    if path == "context.gravity":
        return model.replace({path: tuple(rng.normal(size=3) * 5.0)})
    old = np.array(model[path])
    new = old + amount * rng.normal(size=old.shape)
    if path.endswith(("axis", "quaternion")):
        new /= np.linalg.norm(new)
    if path.endswith(("mass", "inertia")):
        new = old * (1.0 + amount * rng.random())
    if path.endswith("matrix"):
        new = np.linalg.qr(new)[0]
        new *= np.sign(np.linalg.det(new))
    return model.replace({path: float(new) if new.ndim == 0 else new.tolist()})


def with_form(form: Quaternion | RotationMatrix | AxisAngle) -> gs.Model:
    body = gs.RigidBody("body", mass=1.5, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    turned = gs.Displacement("turned", translation=(0.1, 0.2, 0.3), rotation=form)
    joints = [gs.Joint("one", "revolute", axis="y"), turned, gs.Joint("two", "revolute", axis="x")]
    return gs.assemble("turned", gs.chain("world", *joints, body))


def check_refresh(model: gs.Model, paths: list[str], derivatives: tuple[str, ...] = ("q",)) -> None:
    rng = np.random.default_rng(len(paths))
    solver = gs.InverseDynamics(model, live=paths)
    x = states(model, 3)
    one = [e[0].copy() for e in x]
    assert_close(solver(*x), gs.InverseDynamics(model)(*x), 1e-12)
    solver(*one)  # single calls are machine code from here on
    kernels = dict(solver._kernels)
    for _ in range(2):
        for path in paths:
            model = changed(model, path, rng, 0.1)
        before = solver(*x)
        solver.refresh(model)
        fresh = gs.InverseDynamics(model)
        assert_close(solver(*x), fresh(*x), 1e-12)
        assert_close(solver(*one), fresh(*one), 1e-12)
        np.testing.assert_array_equal(solver(*one), solver(*x)[0])
        assert_differs(solver(*x), before, 1e-6)
        for wrt in derivatives:
            assert_close(solver.jacobian("tau", wrt)(*x), fresh.jacobian("tau", wrt)(*x), 1e-11)
        assert solver.model is model
    for key, kernel in kernels.items():
        assert solver._kernels[key] is kernel  # nothing was rebuilt


def test_many_live_properties_of_all_kinds_can_be_refreshed_together():
    paths = [f"joint{k}.axis" for k, kind in enumerate(ALL) if "axis" in JOINT_KINDS[kind].needs]
    paths += ["joint4.pitch", "joint6.second_axis", "body3.mass", "body4.com", "body5.inertia", "body6.momentum"]
    paths += ["body2.tip.translation", "body2.tip.rotation.euler", "shift3.translation", "shift4.rotation.euler"]
    check_refresh(every_kind(), [*paths, "context.gravity"], ())


@live_properties
def test_every_kind_of_live_property_can_be_refreshed_alone(kind, path):
    model = small(kind)
    solver = gs.InverseDynamics(model, live=[path])
    x = states(model, 3)
    new = changed(model, path, np.random.default_rng(1))
    before = solver(*x)
    solver.refresh(new)
    assert_close(solver(*x), gs.InverseDynamics(new)(*x), 1e-12)
    assert_differs(solver(*x), before, 1e-6)
    solver.refresh(model)
    np.testing.assert_array_equal(solver(*x), before)


@pytest.mark.parametrize("path", list(OTHER_FORMS))
def test_every_form_of_rotation_can_be_live(path):
    check_refresh(with_form(OTHER_FORMS[path]), [path])


@live_properties
def test_derivatives_with_respect_to_live_properties_are_differences(kind, path):
    model = small(kind)
    solver = gs.InverseDynamics(model, live=[path])
    x = state(model)
    found = solver.jacobian("tau", path)(*x)
    value = np.array(model[path].g if path == "context.gravity" else model[path])
    assert found.shape == (model.nv, *value.shape)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=value.shape)
    if path.endswith("axis"):
        direction -= value * (value @ direction)  # axes are scaled to unit length

    def along(h: float) -> np.ndarray:
        new = value + h * direction
        if path.endswith("axis"):
            new = new / np.linalg.norm(new)
        solver.refresh(model.replace({path: float(new) if new.ndim == 0 else new.tolist()}))
        return solver(*x)

    if path.endswith("inertia"):
        direction = direction + direction.T
    want = central(along, 0.0, 1e-3)
    axes = "xyz"[: value.ndim]
    assert_close(np.einsum(f"i{axes},{axes}->i", found, direction), want, 1e-9)
    solver.refresh(model)
    assert_close(solver.directional("tau", [path])(*x, direction), want, 1e-9)


def test_other_solvers_and_the_forces_at_ports_are_refreshed_too():
    model = small("universal")
    paths = ["body.mass", "body.tip.translation", "joint.axis"]
    rng = np.random.default_rng(3)
    new = model
    for path in paths:
        new = changed(new, path, rng)
    x = state(model)
    kinematics = gs.ForwardKinematics(model, frames=["last", "body.tip"], live=paths)
    dynamics = gs.InverseDynamics(model, live=paths)
    kinematics(*x), dynamics.port_forces(*x)
    kinematics.refresh(new), dynamics.refresh(new)
    want = gs.ForwardKinematics(new, frames=["last", "body.tip"])(*x)
    for name in want:
        assert_close(kinematics(*x)[name].p, want[name].p, 1e-12)
        assert_close(kinematics(*x)[name].A, want[name].A, 1e-12)
    plain = gs.InverseDynamics(model, live=paths, mode="interpret")
    plain.port_forces(*x)
    plain.refresh(new)
    want = gs.InverseDynamics(new).port_forces(*x)
    for found in (dynamics.port_forces(*x), plain.port_forces(*x)):
        for name in want:
            assert_close(found[name], want[name], 1e-11)


def test_wrench_variants_see_refreshed_properties():
    model = gs.robots.chain(3)
    solver = gs.InverseDynamics(model, live=["link3.mass"])
    x, wrench = state(model), {"link3": gs.Wrench(np.arange(6.0), "world")}
    solver(*x, wrench)
    new = model.replace({"link3.mass": 4.0})
    solver.refresh(new)
    assert_close(solver(*x, wrench), gs.InverseDynamics(new)(*x, wrench), 1e-12)


def test_interpreted_solvers_can_be_refreshed():
    model = gs.robots.chain(3)
    solver = gs.InverseDynamics(model, live=["link3.mass"], mode="interpret")
    x = state(model)
    solver.refresh(model.replace({"link3.mass": 4.0}))
    assert_close(solver(*x), gs.InverseDynamics(model.replace({"link3.mass": 4.0}))(*x), 1e-13)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.replace({"body1.mass": 2.0}), "'body1.mass' differs but is not live"),
        (lambda m: m.replace({"body3.mass": 2.0, "body1.com": (0, 0, 0.5)}), "'body1.com' differs but is not live"),
        (lambda m: m.replace({"body1.mass": 2.0, "body1.com": (0, 0, 0.5)}), r"differs but is not live \(and 1 more\)"),
        (lambda m: m.replace({"context.base": "fixed"}), "'context.base' differs but is not live"),
        (lambda m: gs.robots.chain(3), "the model is made of other parts. Hint: build a new solver"),
        (
            lambda m: gs.Model(m.name, m.entities[:-1], m.connections[:-1], m.context),
            "the model is made of other parts. Hint: build a new solver",
        ),
        (
            lambda m: m.replace({"shift3.rotation": Quaternion(quaternion=(0, 0, 0, 1))}),
            "'shift3.rotation' differs but is not live",
        ),
        (
            lambda m: m.replace({"shift4.rotation": gs.euler((0.2, 0.1, 0.0), "xyz")}),
            "'shift4.rotation' differs but is not live",
        ),
        (
            lambda m: m.replace({"context.gravity": gs.UniformGravity(g=(0, 0, -9.81), treat_as="field")}),
            "'context.gravity' differs in its kind, not only in its numbers",
        ),
        (lambda m: m.replace({"context.gravity": gs.CentralGravity(mu=1.0)}), "'context.gravity' differs"),
        (lambda m: m.replace({"context.gravity": lambda p: p}), "'context.gravity' differs"),
        (
            lambda m: m.replace({"joint7.axis": (0.8, 0.6, 0.0)}),
            "'joint7.axis' differs",
        ),  # its first direction would turn
    ],
)
def test_refreshing_refuses_what_is_not_live_and_leaves_all_as_it_was(change, message):
    model = every_kind()
    live = ["body3.mass", "shift4.rotation.euler", "context.gravity", "joint7.axis", "body4.com"]
    solver = gs.InverseDynamics(model, live=live)
    x = state(model)
    before = solver(*x)
    with pytest.raises(SpecError, match=message):
        solver.refresh(change(model))
    np.testing.assert_array_equal(solver(*x), before)
    assert solver.model is model


def test_refreshing_checks_the_new_model():
    model = gs.robots.chain(2)
    solver = gs.InverseDynamics(model, live=["joint1.axis", "link1.mass"])
    x = state(model)
    before = solver(*x)
    with pytest.raises(SpecError, match="unit length"):
        solver.refresh(model.replace({"joint1.axis": (0.0, 0.0, 2.0), "link1.mass": 3.0}))
    with pytest.raises(SpecError, match="mass"):
        solver.refresh(model.replace({"link1.mass": -3.0}))
    np.testing.assert_array_equal(solver(*x), before)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("link1.masss", "there is no 'masss'"),
        ("joint1.kind", "'joint1.kind' is 'revolute', which is no number, vector or matrix"),
        ("context.base", "which is no number, vector or matrix"),
        ("context.gravity.g", "which is no number, vector or matrix"),
        ("joint1.pitch", "'joint1.pitch' is None, which is no number"),
        ("link1", "which is no number"),
    ],
)
def test_what_cannot_be_live_is_refused(path, message):
    with pytest.raises(SpecError, match=message):
        gs.InverseDynamics(gs.robots.chain(2), live=[path])


def test_a_gravity_that_is_no_vector_cannot_be_live():
    model = gs.robots.tree(1, 2, gravity=gs.CentralGravity(mu=1.0, centre=(5, 0, 0)))
    with pytest.raises(SpecError, match="which is no number, vector or matrix"):
        gs.InverseDynamics(model, live=["context.gravity"])


def test_one_live_path_may_be_given_as_text_and_is_explained():
    solver = gs.InverseDynamics(gs.robots.chain(2), live="link2.mass")
    assert solver.live == ("link2.mass",) and "live inputs: link2.mass" in solver.explain()
    assert "folded into the code" in gs.InverseDynamics(gs.robots.chain(2)).explain()


def test_identities_that_are_live_are_not_simplified_away():
    """Numbers of today that would vanish (no shift, no turn, axis along z, no mass) count tomorrow."""
    body = gs.RigidBody("body", mass=1.0, com=(0, 0, 0), inertia=(0, 0, 0), frames={"tip": (0, 0, 0)})
    end = gs.RigidBody("end", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    shift = gs.Displacement("shift", translation=(0, 0, 0), rotation=Quaternion(quaternion=(0, 0, 0, 1)))
    parts = ["world", shift, gs.Joint("one", "revolute", axis="z"), body, gs.Joint("two", "revolute", axis="z"), end]
    model = gs.assemble("still", gs.chain(*parts), gravity=(0.0, 0.0, 0.0))
    live = [
        "shift.translation",
        "shift.rotation.quaternion",
        "one.axis",
        "body.com",
        "body.inertia",
        "body.tip.translation",
    ]
    check_refresh(model, [*live, "context.gravity"])
