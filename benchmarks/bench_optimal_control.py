"""Optimal control: functions and derivatives of a collocation problem, and of one node, next to the same programs in
CasADi's virtual machine and to crocoddyl's calcDiff.

What is timed is one iteration of a solver: values, Jacobian and Hessian of the Lagrangian of the whole problem,
as Ipopt gets them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.bench_simulate import check, in_turns
from benchmarks.harness import Effort, Row
from benchmarks.robots import from_pinocchio, pinocchio_model
from gyrostat.engine.tracing.casadi_functions import to_casadi

Array = np.ndarray
ROOM = "gyrostat.studies.optimal_control"

NOTES = (
    "Panda, 7 axes, rest to rest in 1 s with the least integral of u.u, Hermite-Simpson: values, Jacobian and Hessian.",
    "CasADi: the very same programs, mapped over the grid, in its virtual machine, called on buffers; without the work "
    "between them. Aim: 40.",
    "Node: accelerations and their first derivatives; crocoddyl: calc and calcDiff of one node with a cost of the "
    "control (DifferentialActionModelFreeFwdDynamics), called from Python. Aim: 5.",
    "Solve: the whole problem by Ipopt to 1e-8, from a straight line; 'functions' is what it spends in ours.",
)


def measure(effort: Effort) -> list[Row]:
    nodes = 11 if effort.number is not None else 101
    phase = reach(seven_axes(), nodes)
    return [*iteration(phase, nodes, effort), *node(phase, effort), *solve(phase)]


def seven_axes() -> gs.Model:
    """The Panda with its fingers fixed."""
    pin: Any = import_module("pinocchio")
    whole = pinocchio_model("panda")
    fingers = [whole.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    return from_pinocchio(pin.buildReducedModel(whole, fingers, pin.neutral(whole)), "panda")


def reach(model: gs.Model, nodes: int) -> gs.studies.Phase:
    start = np.array([0, -0.3, 0, -1.8, 0, 1.5, 0.7])
    end = start + np.array([0.9, 0.7, -0.5, 0.6, 0.7, -0.4, 0.8])
    limits = {"q": (np.full(7, -6.0), np.full(7, 6.0)), "v": 8.0, "u": np.array([87.0] * 4 + [12.0] * 3)}
    return gs.studies.Phase(
        model,
        duration=1.0,
        nodes=nodes,
        cost="torque",
        start={"q": start, "v": 0},
        end={"q": end, "v": 0},
        limits=limits,
    )


def program_of(phase: gs.studies.Phase, nodes: int) -> Any:
    steps = import_module(f"{ROOM}.transcription")
    known = steps.recorded((phase,), {}, None, None)
    return steps.transcribed(known, [np.linspace(0.0, 1.0, nodes)], "hermite-simpson", 3)


def iteration(phase: gs.studies.Phase, nodes: int, effort: Effort) -> list[Row]:
    """All functions of an iteration, and the programs that they are made of in CasADi."""
    begun = perf_counter()
    problem = program_of(phase, nodes)
    problem.hessian(np.zeros(problem.n), 1.0, np.ones(problem.m))  # recorded and compiled when first asked for
    built = perf_counter() - begun
    rng = np.random.default_rng(1)
    weights, points = rng.normal(size=problem.m), [0.3 * rng.normal(size=problem.n) for _ in range(8)]
    count = iter(range(10**9))

    def ours() -> None:
        x = points[next(count) % len(points)]  # another x each time: nothing is kept
        problem.constraints(x)
        problem.jacobian(x)
        problem.hessian(x, 0.7, weights)

    calls, worst = in_casadi(reach(seven_axes(), nodes), nodes, points[0], weights)  # a model that has nothing compiled
    check("programs in CasADi", np.array([worst]), 1e-9)

    def theirs() -> None:
        for call in calls:
            call()

    best = in_turns(effort, {"gyrostat": ours, "CasADi": theirs})
    case = f"iteration, Panda, N = {nodes - 1}"
    rows = [Row("run", case, name, s, peer=name == "CasADi") for name, s in best.items()]
    return [Row("build", case, "gyrostat", built), *rows]


def in_casadi(phase: gs.studies.Phase, nodes: int, x: Array, weights: Array) -> tuple[list[Callable[[], None]], float]:
    """Calls of the programs in CasADi, on the numbers that they get in one iteration, and how far results differ."""
    used: list[tuple[Any, tuple[Array, ...], Any]] = []
    rooms = [import_module(f"{ROOM}.{name}") for name in ("compiled_dynamics", "compiled_phase", "smooth_function")]
    original = rooms[0].batch_call  # type: ignore[attr-defined]

    def watched(program: Any, name: str, *more: int) -> Callable[..., Any]:
        function = original(program, name, *more)

        def call(*inputs: Array) -> Any:
            found = function(*inputs)
            used.append((program, inputs, found))
            return found

        return call

    try:
        for room in rooms:
            room.batch_call = watched  # type: ignore[attr-defined]
        problem = program_of(phase, nodes)
        problem.constraints(x)
        problem.jacobian(x)
        problem.hessian(x, 0.7, weights)
    finally:
        for room in rooms:
            room.batch_call = original  # type: ignore[attr-defined]
    largest = max(len(program.nodes) for program, _, _ in used)
    if largest < 10_000:  # kernels that were made before are not seen: second derivatives have more operations
        raise ArithmeticError(
            f"of the programs of an iteration only some were seen, the largest of {largest} operations"
        )
    calls, worst = [], 0.0
    for program, inputs, found in used:
        call, outputs = on_buffers(program, inputs)
        call()
        for mine, other in zip(found if isinstance(found, tuple) else (found,), outputs, strict=True):
            worst = max(worst, float(np.abs(mine.ravel() - other).max(initial=0.0)) / (1 + float(np.abs(mine).max())))
        calls.append(call)
    return calls, worst


def on_buffers(program: Any, inputs: tuple[Array, ...]) -> tuple[Callable[[], None], list[Array]]:
    """A mapped function of CasADi on arrays of its own; each output lies densely, point by point."""
    import casadi as ca

    n = len(inputs[0])
    plain = to_casadi(program)
    symbols = plain.sx_in()
    dense = [ca.densify(ca.vec(y.T)) for y in plain.call(symbols)]
    mapped = ca.Function("mapped", symbols, dense).map(n)
    buffer, call = mapped.buffer()
    given = [columns(np.asarray(x, dtype=float), slot.shape) for x, slot in zip(inputs, program.inputs, strict=True)]
    results = [np.zeros(mapped.nnz_out(k)) for k in range(mapped.n_out())]
    for k, x in enumerate(given):
        buffer.set_arg(k, memoryview(x))
    for k, y in enumerate(results):
        buffer.set_res(k, memoryview(y))
    KEPT.append((buffer, given, results, mapped))
    return call, results


KEPT: list[Any] = []
"""Buffers live as long as the functions that read them."""


def columns(x: Array, shape: tuple[int, ...]) -> Array:
    """Numbers in CasADi's order: matrices by columns."""
    if len(shape) == 2:
        x = np.swapaxes(x, -1, -2)
    return np.ascontiguousarray(x).ravel()


def node(phase: gs.studies.Phase, effort: Effort) -> list[Row]:
    """a and da/d(q, v, u) of many nodes, and calcDiff of crocoddyl."""
    if find_spec("crocoddyl") is None:
        return []
    pin, crocoddyl = import_module("pinocchio"), import_module("crocoddyl")
    problem = program_of(phase, 101)
    flow = problem.phases[0].flow
    rng = np.random.default_rng(0)
    z = 0.5 * rng.normal(size=(4096, 21))
    data = (np.zeros((len(z), 2)), np.zeros((len(z), 0)))
    whole = pinocchio_model("panda")
    fingers = [whole.getJointId(f"panda_finger_joint{k}") for k in (1, 2)]
    state = crocoddyl.StateMultibody(pin.buildReducedModel(whole, fingers, pin.neutral(whole)))
    actuation = crocoddyl.ActuationModelFull(state)
    costs = crocoddyl.CostModelSum(state, actuation.nu)
    costs.addCost("u", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, actuation.nu)), 1.0)
    action = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
    memory = action.createData()
    x, u = z[0, :14].copy(), z[0, 14:].copy()

    def theirs() -> None:
        for _ in range(100):
            action.calc(memory, x, u)
            action.calcDiff(memory, x, u)

    theirs()
    slopes = flow.dynamics.slopes(z, *data)
    check("da/dx", slopes.Y[0, :, :14] - memory.Fx, 1e-8)  # its xout differs from its own pin.aba in these versions
    best = in_turns(effort, {"gyrostat": lambda: flow.dynamics.slopes(z, *data), "crocoddyl": theirs})
    return [
        Row("run", "node, Panda, a and derivatives", "gyrostat", best["gyrostat"], states=len(z)),
        Row("run", "node, Panda, a and derivatives", "crocoddyl", best["crocoddyl"], states=100, peer=True),
    ]


def solve(phase: gs.studies.Phase) -> list[Row]:
    """The whole solution: all told, and what of it our functions take."""
    study = gs.studies.OptimalControl((phase,))
    study.run()
    best = min((study.run() for _ in range(3)), key=lambda m: m.seconds)
    if not best.converged:
        raise ArithmeticError(best.message)
    case = f"Panda, {best.iterations} iterations"
    return [
        Row("solve", case, "Ipopt, an iteration", best.seconds / best.iterations),
        Row("solve", case, "functions of it", best.seconds_in_functions / best.iterations),
    ]
