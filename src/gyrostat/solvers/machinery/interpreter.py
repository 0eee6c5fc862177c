"""A solver without machine code: its algorithm in plain NumPy, one state of a batch after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.configuration.packing import together
from gyrostat.errors import NonFiniteError
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.export import example_input
from gyrostat.solvers.machinery.wrench import Application, read_wrenches

if TYPE_CHECKING:
    from gyrostat.solvers.machinery.state_solver import StateSolver

Array = np.ndarray


def read_states(
    solver: StateSolver, net: Network, state: Sequence[Any], wrenches: Any, t: Any, nonfinite: str = "raise"
) -> tuple[list[Application], tuple[int, ...], list[Array]]:
    """Places of the wrenches; leading shape; arrays of the state, of t and of the wrenches, one row a state."""
    solver.expect(state)
    places, values = read_wrenches(net, wrenches, solver.name)
    arrays = {
        name: (solver._read(solver._by_model(x, name), name, nonfinite), 1)
        for x, name in zip(state, solver.state, strict=True)
    }
    arrays["t"] = (solver.times(t), 0)
    for name, value in zip(wrenches or (), values, strict=True):
        arrays[f"wrench at '{name}'"] = (value, 1)
    shape, states = together(solver.name, **arrays)
    return places, shape, states


def interpreted(
    solver: StateSolver, state: Sequence[Any], wrenches: Any, t: Any, nonfinite: str
) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Outputs (*shape, ...) by name, not yet looked at, and the leading shape."""
    places, shape, states = read_states(solver, solver.network, state, wrenches, t, nonfinite)
    solver._expect_inertia()

    if solver.network.closures and solver.state[:1] == ("q",):
        _look_at_loops(solver, states)

    def one(row: Sequence[Array]) -> Mapping[str, Any]:
        return _one_state(solver, row, places)

    with np.errstate(all="ignore"):  # what is not finite is found afterwards
        rows = [one(row) for row in zip(*states, strict=True)]
        example = rows[0] if rows else one(_example_row(solver, states))
    return {
        name: np.array([row[name] for row in rows], dtype=float).reshape((*shape, *np.shape(example[name])))
        for name in example
    }, shape


def _look_at_loops(solver: StateSolver, states: Sequence[Array]) -> None:
    """What the guards of compiled programs do."""
    with np.errstate(all="ignore"):
        for q, t in zip(states[0], states[len(solver.state)], strict=True):
            guards = solver.loop_guards(solver.network, solver.setting(t), q)
            if np.isfinite(q).all() and not np.isfinite(np.asarray(guards, dtype=float)).all():
                solver.examine_loops(q)


def _one_state(solver: StateSolver, row: Sequence[Array], places: Sequence[Application]) -> Mapping[str, Any]:
    """Outputs for one row of :func:`read_states`, which is in the order of the model."""
    n = len(solver.state)
    x = dict(zip(solver.state, row[:n], strict=True))
    if solver._joints is not None:
        x = {name: np.take(value, solver._joints.of(name)) for name, value in x.items()}
    return solver._evaluated(solver.network, solver.setting(row[n]), x, places, row[n + 1 :])


def _example_row(solver: StateSolver, states: Sequence[Array]) -> list[Array]:
    """A state for finding out shapes."""
    row = [np.zeros(x.shape[1:]) for x in states]
    if solver.state[:1] == ("q",):
        row[0] = example_input(solver.model, "q", (solver.model.nq,), np.random.default_rng(0))
    return row


def expect_finite(array: Array, shape: tuple[int, ...], who: str, name: str = "result") -> Array:
    """The array, if all of it is finite; else the first state (of the leading ``shape``) that is not is named."""
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = tuple(int(i) for i in bad[0][: len(shape)])
        state = f" in state {where}" if where else ""
        raise NonFiniteError(
            f"{who}: the {name}{state} is not finite. Hint: the numbers of the state or model are too large, "
            "or something without inertia can move"
        )
    return array
