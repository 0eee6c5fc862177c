"""Solvers as functions of JAX and PyTorch: every solver's numbers, and its derivatives in every mode. Skipped where the
extras ``jax`` and ``torch`` are not installed."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.solver_zoo import OPTIONS, branched, elastic, solver_classes, state_of

pytestmark = pytest.mark.slow


class Jax:
    def __init__(self):
        self.jax = pytest.importorskip("jax", reason="needs the extra jax")
        self.jax.config.update("jax_enable_x64", True)

    def function(self, solver):
        return gs.jax(solver)

    def array(self, x):
        return self.jax.numpy.asarray(x)

    def modes(self, f):
        return {"forward": self.jax.jacfwd(f), "reverse": self.jax.jacrev(f)}

    def second(self, f):
        jax = self.jax
        return [jax.hessian(f), jax.jacrev(jax.jacrev(f)), jax.jacfwd(jax.jacfwd(f)), jax.jacrev(jax.jacfwd(f))]

    def vmap(self, f, axes):
        return self.jax.vmap(f, axes)


class Torch:
    def __init__(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own deprecations
            self.torch = pytest.importorskip("torch", reason="needs the extra torch")

    def function(self, solver):
        return gs.torch(solver)

    def array(self, x):
        return self.torch.tensor(np.asarray(x))

    def modes(self, f):
        return {"forward": self.torch.func.jacfwd(f), "reverse": self.torch.func.jacrev(f)}

    def second(self, f):
        func = self.torch.func
        return [func.hessian(f), func.jacrev(func.jacrev(f)), func.jacfwd(func.jacfwd(f)), func.jacrev(func.jacfwd(f))]

    def vmap(self, f, axes):
        return self.torch.vmap(f, axes)


@pytest.fixture(params=[Jax, Torch], ids=["jax", "torch"])
def other(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield request.param()


def made(name: str):
    return solver_classes()[name](
        elastic() if name == "ElasticInverseDynamics" else branched(), **OPTIONS.get(name, {})
    )


def outputs(solver, result):
    return [result] if solver.Result is None else list(result)


@pytest.mark.parametrize("name", sorted(solver_classes()))
@pytest.mark.filterwarnings("ignore")
def test_every_solver_gives_its_numbers_and_derivatives(other, name):
    solver, rng = made(name), np.random.default_rng(5)
    f, state = other.function(solver), state_of(solver, rng)
    given = [other.array(x) for x in state]
    for mine, theirs in zip(outputs(solver, solver(*state)), outputs(solver, f(*given)), strict=True):
        assert_close(np.asarray(theirs), mine, 1e-15)
    slots = solver.main_kernel().program.outputs
    k = next(k for k, slot in enumerate(slots) if slot.size <= 250)
    mine = solver.jacobian(slots[k].name, solver.main_kernel().program.inputs[0].name)(*state)
    for mode, jacobian in other.modes(lambda x: outputs(solver, f(x, *given[1:]))[k]).items():
        assert_close(np.asarray(jacobian(given[0])), mine, 1e-12), mode


@pytest.mark.parametrize("robot", ["kuka_lwr4", "panda"])
@pytest.mark.filterwarnings("ignore")
def test_second_derivatives_and_those_by_live_properties_are_ours_in_all_modes(other, robot):
    model = gs.robots.kuka_lwr4() if robot == "kuka_lwr4" else gs.load("panda")
    mass = next(f"{e.name}.mass" for e in model.entities if isinstance(e, gs.RigidBody) and e.mass)
    solver, rng = gs.InverseDynamics(model, live=[mass]), np.random.default_rng(6)
    f, state = other.function(solver), [rng.normal(size=n) for n in (model.nq, model.nv, model.nv)]
    q, v, a = (other.array(x) for x in state)
    for second in other.second(lambda q: f(q, v, a)):
        assert_close(np.asarray(second(q)), solver.hessian("tau", "q")(*state), 1e-12)
    by_mass = lambda m: f(q, v, a, parameters={mass: m})  # noqa: E731
    for jacobian in other.modes(by_mass).values():
        got = jacobian(other.array(model[mass]))
        assert_close(np.asarray(got), solver.jacobian("tau", mass)(*state), 1e-12)


@pytest.mark.filterwarnings("ignore")
def test_batches_broadcast_and_are_mapped_over_any_axes(other):
    model = gs.robots.kuka_lwr4()
    solver, rng = gs.ForwardDynamics(model), np.random.default_rng(7)
    f, n = other.function(solver), model.nv
    q, v, tau = rng.normal(size=(3, 2, n)), rng.normal(size=(2, n)), rng.normal(size=n)
    want = solver(q, v, tau)
    Q, V, T = other.array(q), other.array(v), other.array(tau)
    assert_close(np.asarray(f(Q, V, T)), want, 1e-15)
    twice = other.vmap(other.vmap(f, (0, 0, None)), (0, None, None))
    assert_close(np.asarray(twice(Q, V, T)), want, 1e-15)
    columns = other.vmap(other.vmap(f, (1, 1, None)), (2, None, None))
    moved = other.array(np.moveaxis(q, (0, 1), (2, 1)).copy())
    assert_close(np.asarray(columns(moved, other.array(v.T.copy()), T)), want, 1e-15)
    shared = other.modes(lambda v: (f(Q, v, T) ** 2).sum())["reverse"](V)  # what states share gathers all their weights
    J = solver.jacobian("a", "v")(q, v, tau)
    assert_close(np.asarray(shared), 2 * np.einsum("ijkl,ijk->jl", J, want), 1e-12)


@pytest.mark.filterwarnings("ignore")
def test_mistakes_are_told_in_words(other):
    solver = gs.KineticEnergy(gs.robots.two_link())
    f = other.function(solver)
    assert f.__name__ == solver.name and "two_link" in f.__doc__
    with pytest.raises(gs.ShapeError, match=r"q has shape \(3,\), expected \(\.\.\., 2\)"):
        f(other.array(np.zeros(3)), other.array(np.zeros(2)))
    with pytest.raises(gs.ShapeError, match="leading shapes do not go together"):
        f(other.array(np.zeros((3, 2))), other.array(np.zeros((4, 2))))
    with pytest.raises(gs.GyrostatError, match=r"'lower\.mass' is not live"):
        f(np.zeros(2), np.zeros(2), parameters={"lower.mass": 1.0})
    with pytest.raises(Exception, match=r"finite|nan"):
        np.asarray(f(other.array([0.1, np.nan]), other.array(np.zeros(2))))


@pytest.mark.filterwarnings("ignore")
def test_a_batch_of_10000_states_through_jax_costs_little_more_than_the_bare_call():
    jax = Jax().jax
    model = gs.robots.kuka_lwr4()
    solver, rng = gs.ForwardDynamics(model), np.random.default_rng(8)
    arrays = rng.normal(size=(3, 10_000, model.nv))
    f, given = jax.jit(gs.jax(solver)), [jax.numpy.asarray(x) for x in arrays]
    best = [np.inf, np.inf]
    for _ in range(60):
        for k, call in enumerate((lambda: f(*given).block_until_ready(), lambda: solver(*arrays))):
            start = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - start)
    assert best[0] <= 1.5 * best[1], best


def test_jax_with_32_bits_is_refused_with_the_remedy():
    jax = Jax().jax
    f = gs.jax(gs.KineticEnergy(gs.robots.two_link()))
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(gs.GyrostatError, match="jax_enable_x64"):
            f(np.zeros(2), np.zeros(2))
    finally:
        jax.config.update("jax_enable_x64", True)
