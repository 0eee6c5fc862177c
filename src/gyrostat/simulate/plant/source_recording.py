"""A torque source as a program: its numbers, its machine code, and its exact derivatives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.tracing.lifted_constants import Lifted, lifted_constants
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError, RecordError
from gyrostat.simulate.kernels.law_kernels import LawKernels
from gyrostat.simulate.plant.torque_source import TorqueSource
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"


class SourceRecording:
    """(t, q, v, p, m) -> tau (nv,), dp/dt (np,) of a source for a model. What has been recorded stays: a change of the
    model, or of what users' functions read, needs a new one."""

    def __init__(self, model: Model, source: TorqueSource):
        self.model, self.source = model, source

    def of(self, source: TorqueSource) -> SourceRecording:
        """For a twin of the source: what has been recorded serves it, too."""
        twin = copy(self)
        twin.source = source
        return twin

    def numbers(self, t: float, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        """tau and dp/dt on numbers. What a user's function raises comes through as it is."""
        tau, p_rate = self.source.evaluate(float(t), q, v, p, m)
        if not math.isfinite(tau.dot(tau)) and not np.isfinite(tau).all():
            raise self._not_finite(tau, self.source.trouble(float(t), q, v, p, m))
        if p_rate.shape != self.source.p0.shape or (len(p_rate) and not np.isfinite(p_rate).all()):
            raise NonFiniteError(
                f"{WHO}: {self.source.told} has rates of its states that are not {len(self.source.p0)} finite numbers"
            )
        return tau, p_rate

    def _not_finite(self, tau: Array, words: str) -> NonFiniteError:
        if words:
            return NonFiniteError(f"{WHO}: {words}")
        k = int(np.flatnonzero(~np.isfinite(tau))[0])
        error = NonFiniteError(f"{WHO}: {self.source.told} returned {tau[k]} for '{self.model.dofs[k]}'")
        error.dof = k
        return error

    @cached_property
    def program(self) -> Program:
        """Of t (1,), q, v, p, m and the parameters, one behind the other."""
        source = self.source
        sizes = {"t": 1, "q": self.model.nq, "v": self.model.nv, "p": len(source.p0), "m": len(source.m0)}
        sizes["parameters"] = sum(x.size for x in source.gains.values())

        def function(t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
            with source.with_gains(parameters):
                tau, p_rate, guard = source.recorded(t[0], q, v, p, m)
            return {"tau": tau, "p_rate": p_rate, "guard": guard}

        return record(function, {k: (n,) for k, n in sizes.items()}, f"{self.model.name}_torque")

    @cached_property
    def apart(self) -> Lifted:
        """Wrenches (6 k,) and the efforts (nv,) beside them, of the same inputs, constants last."""
        source: Any = self.source
        shapes = {slot.name: slot.shape for slot in self.program.inputs}

        def function(t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
            with source.with_gains(parameters):
                W, tau = source.recorded_apart(t[0], q, v, p, m)
            return {"W": W, "tau": tau}

        return lifted_constants(record(function, shapes, f"{self.model.name}_wrenches"))

    @cached_property
    def update(self) -> Program | None:
        """The memory (nm,) after a sampling instant, of the same inputs; None where it cannot be recorded."""
        source, model = self.source, self.model
        shapes = {"t": (1,), "q": (model.nq,), "v": (model.nv,), "p": source.p0.shape, "m": source.m0.shape}
        shapes["parameters"] = (sum(x.size for x in source.gains.values()),)

        def function(t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
            with source.with_gains(parameters):
                return {"m": source.next_memory(t[0], q, v, p, m)}

        try:
            with np.errstate(all="ignore"):
                program = record(function, shapes, f"{model.name}_update")
        except Exception:  # the user's block may fail in any way on recorded values; it is called instead
            return None
        return program if program.outputs[0].shape == source.m0.shape else None

    @property
    def lifted_update(self) -> Lifted | None:
        """:attr:`update` with its constants last; it stays with the machine code of the law."""
        kernels = self.kernels
        if kernels.update is None:
            program = self.update
            kernels.update = () if program is None else (lifted_constants(program),)
        return kernels.update[0] if kernels.update else None

    def problem(self) -> str:
        """Why the source cannot be recorded, or ""."""
        try:
            _ = self.program
        except RecordError as error:
            return str(error)
        except Exception as error:  # the user's function may fail in any way on recorded values; it is called instead
            return f"it cannot be recorded, {type(error).__name__}: {error}"
        return ""

    def inputs(self, t: float, q: Array, v: Array, p: Array, m: Array) -> list[Array]:
        """Of the program."""
        gains = [np.ravel(x) for x in self.source.gains.values()]
        return [np.array([t]), q, v, p, m, np.concatenate([np.zeros(0), *gains])]

    @cached_property
    def kernels(self) -> LawKernels:
        """Machine code."""
        return LawKernels(self.model, self.program)
