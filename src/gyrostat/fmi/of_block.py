"""A block as the equations of an FMU: a controller for other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, RecordError, StateError, clipped
from gyrostat.fmi.system import System, Variable
from gyrostat.simulate.blocks.block import Block
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "export_fmu"


def block_system(block: Block, signals: Any) -> System:
    """The equations of a block; ``signals``: sizes of its inputs by name, or a model that has q and v."""
    model = signals if isinstance(signals, Model) else None
    if model is not None:
        block = block.within(model).sized(tuple(model.dofs))
        signals = {"q": model.nq, "v": model.nv}
    sizes = _sizes(block, signals)
    inputs = [Variable(f"{name}[{k}]") for name, n in sizes.items() for k in range(n)]
    memory, p0 = np.array(block.memory, dtype=float), np.array(block.states, dtype=float)

    def split(u: Array) -> dict[str, Array]:
        ends = np.cumsum(list(sizes.values())).tolist()
        return {name: u[end - n : end].copy() for (name, n), end in zip(sizes.items(), ends, strict=True)}

    def given(t: Any, x: Array, m: Array, u: Array) -> dict[str, Array]:
        outputs = block.output(t, split(u), x.copy(), m.copy())
        return {name: np.atleast_1d(np.asarray(outputs[name])) for name in block.outputs}

    def equations(t: Any, x: Array, m: Array, u: Array, p: Array) -> Array:
        rates = np.asarray(block.derivative(t, split(u), x.copy(), m.copy()))
        return np.concatenate([rates, *given(t, x, m, u).values()])

    def sample(t: Any, x: Array, m: Array, u: Array, p: Array) -> Array:
        return np.asarray(block.update(t, split(u), x.copy(), m.copy()))

    try:
        with np.errstate(all="ignore"):
            shapes = given(0.0, p0, memory, np.zeros(len(inputs)))
    except (GyrostatError, KeyError, ValueError, IndexError) as error:
        raise StateError(f"{WHO}: {block.who} does not take signals of these sizes: {error}") from error
    outputs = [Variable(f"{name}[{k}]") for name, y in shapes.items() for k in range(len(y))]
    rates = [Variable(f"der(p[{k}])") for k in range(len(p0))]
    states = [
        Variable(f"p[{k}]", "", float(x), "state", float(size))
        for k, (x, size) in enumerate(zip(p0, block.sizes, strict=True))
    ]
    system = System(
        block.name or block.kind.replace(" ", "_"), str(block).splitlines()[0], tuple(states), tuple(rates),
        tuple(inputs), (), tuple(outputs), tuple(memory.tolist()), block.sample_time or 0.0, equations,
        sample if len(memory) else None,
    )  # fmt: skip
    try:
        _ = system.program, system.update
    except RecordError as error:
        raise RecordError(f"{WHO}: {block.who} cannot be compiled: {error}") from error
    except GyrostatError:
        raise
    except Exception as error:  # a function of the user's may fail in any way on recorded values
        raise RecordError(
            f"{WHO}: {block.who} cannot be compiled, {type(error).__name__}: {error}. Hint: NumPy without 'if'"
        ) from error
    return system


def _sizes(block: Block, signals: Any) -> dict[str, int]:
    if not isinstance(signals, Mapping):
        example = ", ".join(f"'{name}': 2" for name in block.inputs)
        raise StateError(
            f"{WHO}: sizes of the signals of {block.who} are not known, got {clipped(signals)}. "
            f"Hint: signals={{{example}}}, or a model"
        )
    sizes: dict[str, int] = {}
    for name in block.inputs:
        if name not in signals:
            raise StateError(
                f"{WHO}: {block.who} reads '{name}', whose size is not given. Hint: signals={{'{name}': 2}}"
            )
        n = signals[name]
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= 10_000:
            raise StateError(f"{WHO}: signal '{name}' has the size {clipped(n)}, expected 1 to 10000. Hint: 2")
        sizes[name] = int(n)
    return sizes
