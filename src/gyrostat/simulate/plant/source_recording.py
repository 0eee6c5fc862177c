"""A torque source as a program: its numbers, its machine code, and its exact derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.derivative import jacobian
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError, RecordError
from gyrostat.simulate.plant.torque_source import TorqueSource
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"


class SourceRecording:
    """(t, q, v, p, m) -> tau (nv,), dp/dt (np,) of a source for a model. What has been recorded stays: a change of the
    model, or of what users' functions read, needs a new one."""

    def __init__(self, model: Model, source: TorqueSource):
        self.model, self.source = model, source
        self._jacobians: dict[tuple[str, str], Kernel] = {}

    def numbers(self, t: float, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        """tau and dp/dt on numbers. What a user's function raises comes through as it is."""
        tau, p_rate = self.source.evaluate(float(t), q, v, p, m)
        if not np.isfinite(tau).all():
            raise self._not_finite(tau, self.source.trouble(float(t), q, v, p, m))
        if p_rate.shape != self.source.p0.shape or not np.isfinite(p_rate).all():
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
        """Inputs and outputs without entries are left out."""
        sizes = {"t": 1, "q": self.model.nq, "v": self.model.nv, "p": len(self.source.p0), "m": len(self.source.m0)}

        def function(**x: Any) -> Mapping[str, Any]:
            p, m = x.get("p", self.source.p0), x.get("m", self.source.m0)
            tau, p_rate = self.source.evaluate(x["t"][0], x["q"], x["v"], p, m)
            return {"tau": tau} | ({"p_rate": p_rate} if sizes["p"] else {})

        return record(function, {k: (n,) for k, n in sizes.items() if n}, f"{self.model.name}_torque")

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
        return [np.array([t]), q, v, *([p] if len(p) else []), *([m] if len(m) else [])]

    def jacobian(self, of: str, wrt: str) -> Kernel:
        """The derivative of one output by one input."""
        if (of, wrt) not in self._jacobians:
            self._jacobians[of, wrt] = Kernel(jacobian(self.program, of, wrt)[0], WHO)
        return self._jacobians[of, wrt]
