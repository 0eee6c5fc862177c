"""Where a solver is exported: as a CasADi function, as C99 or WebAssembly with test vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gyrostat.configuration.closed_configurations import closed_example
from gyrostat.engine.export_c import export_c
from gyrostat.engine.export_wasm import export_wasm
from gyrostat.engine.tracing.casadi_functions import to_casadi
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    import casadi as ca

    from gyrostat.solvers.machinery.state_solver import StateSolver

Array = np.ndarray
RATES = ("v", "a", "tau", "v_r", "a_r", "dq", "dv", "dtau", "da")
"""Inputs and outputs with one entry for each rate of the model."""


def casadi_function(solver: StateSolver) -> ca.Function:
    """The main program for CasADi, with matrices as matrices."""
    return to_casadi(solver.main_kernel().program)


def c_files(
    solver: StateSolver, folder: str | Path, name: str | None, vectors: int, makefile: bool, simulink: bool
) -> list[Path]:
    """The files of the main program in C99, with ``vectors`` examples to check it by."""
    program, title = solver.main_kernel().program, name or f"{solver.model.name}_{solver.name}"
    return export_c(program, folder, title, solver._entries(), examples(solver, vectors), makefile, simulink)


def wasm_files(solver: StateSolver, folder: str | Path, name: str | None, vectors: int) -> list[Path]:
    """The files of the main program in WebAssembly, with ``vectors`` examples to check it by."""
    program, title = solver.main_kernel().program, name or f"{solver.model.name}_{solver.name}"
    return export_wasm(program, folder, title, solver._entries(), examples(solver, vectors))


def examples(solver: StateSolver, count: int) -> list[tuple[list[Array], list[Array]]]:
    """Inputs and outputs of the main program at ``count`` states."""
    kernel, rng = solver.main_kernel(), np.random.default_rng(0)
    program, found = kernel.program, []
    for _ in range(count):
        inputs = [solver._example(slot.name, slot.shape, rng) for slot in program.inputs]
        outputs = kernel.call(*inputs)
        found.append((inputs, [outputs[slot.name] for slot in program.outputs]))
    return found


def entry_names(model: Model) -> dict[str, Sequence[str]]:
    """Names of the entries of inputs and outputs, for comments."""
    return {"q": model.coordinates, **dict.fromkeys(RATES, model.dofs)}


def example_input(model: Model, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Random numbers between -1 and 1, with unit quaternions; a base that is driven stands upright, loops are
    closed."""
    if name == "base_R":
        return np.eye(3)
    if name == "q" and model.wiring.tree.loops and shape == (model.nq,):
        return closed_example(model, rng)
    value = rng.uniform(-1.0, 1.0, shape)
    if name == "q":
        for block in model.layout.turning:
            part = value[block.quaternion]
            part /= np.sqrt(part @ part)
    return value
