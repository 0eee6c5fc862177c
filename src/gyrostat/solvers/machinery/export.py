"""Where a solver is exported: as a CasADi function, as C99 with test vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gyrostat.configuration.closed_configurations import closed_example
from gyrostat.engine.export_c import export_c
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


def c_files(solver: StateSolver, folder: str | Path, name: str | None, vectors: int) -> list[Path]:
    """The files of the main program in C99, with ``vectors`` examples to check it by."""
    kernel = solver.main_kernel()
    program = kernel.program
    rng = np.random.default_rng(0)
    examples = []
    for _ in range(vectors):
        inputs = [solver._example(slot.name, slot.shape, rng) for slot in program.inputs]
        outputs = kernel.call(*inputs)
        examples.append((inputs, [outputs[slot.name] for slot in program.outputs]))
    return export_c(program, folder, name or f"{solver.model.name}_{solver.name}", solver._entries(), examples)


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
