"""Derivatives of a plant: of its residual, for implicit methods, and of its right-hand side; and whether its torque
source can be recorded at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.manifold import integrate, tangent
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.derivative import jacobian
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError, RecordError
from gyrostat.simulate.constraints.held import PlantHolds
from gyrostat.simulate.plant.user_memory import LATE, Remembers, UserMemory, alike, probes
from gyrostat.solvers.functions import aba_derivatives, rnea_derivatives

Array = np.ndarray
STEP = 6e-6
"""Relative step of central differences, the cube root of rounding."""


class SourceDerivatives(NamedTuple):
    """Of tau (nv,) and dp/dt (np,) along q (nv columns, on the manifold), v and p."""

    tau_q: Array
    tau_v: Array
    tau_p: Array
    p_q: Array
    p_v: Array
    p_p: Array


class PlantDerivatives(PlantHolds):
    """The part of :class:`Plant` that knows derivatives."""

    counters: Any
    nq: int
    np: int
    why_not_compiled: str
    user_memory: UserMemory | None = None
    _plainly: Callable[[float, Array, Array, Array], tuple[Array, Array]]

    def residual_jacobians(self, t: float, q: Array, v: Array, a: Array, p: Array) -> tuple[Array, Array, Array]:
        """dr/dq (along the rates, on the manifold), dr/dv, dr/da (nv, nv) of the residual r = rnea - tau."""
        self.counters.jacobian_evaluations += 1
        d = rnea_derivatives(self.moving, q, v, a, **self._time(t))
        source, hold = self.source_derivatives(t, q, v, p), self.hold
        found = d.dtau_dq - source.tau_q, d.dtau_dv - source.tau_v - self._rubbing_slopes(v), d.dtau_da
        if hold is None:
            return found
        by_q, by_v, by_a = (hold.kept @ x for x in found)
        return by_q, by_v, by_a + np.eye(self.nv) - hold.kept

    def _rubbing_slopes(self, v: Array) -> Any:
        """Derivative (nv, nv) of what slides by v."""
        return 0.0 if self.dry is None else self.dry.slopes(v, self.memory[len(self.memory) - len(self.dry.rubs) :])

    def rhs_jacobian(self, t: float, q: Array, v: Array, p: Array) -> Array:
        """Of (v, a, dp/dt) by (q, v, p), (2 nv + np, 2 nv + np); along the rates on the manifold, where dq/dt = v."""
        self.counters.jacobian_evaluations += 1
        n, source = self.nv, self.source_derivatives(t, q, v, p)
        tau = self._plainly(t, q, v, p)[0] + self.rubbing(v, self.memory)
        d = aba_derivatives(self.moving, q, v, tau, **self._time(t))
        J = np.zeros((2 * n + self.np, 2 * n + self.np))
        J[:n, n : 2 * n] = np.eye(n)
        J[n : 2 * n, :n] = d.da_dq + d.da_dtau @ source.tau_q
        J[n : 2 * n, n : 2 * n] = d.da_dv + d.da_dtau @ (source.tau_v + self._rubbing_slopes(v))
        J[n : 2 * n, 2 * n :] = d.da_dtau @ source.tau_p
        J[2 * n :] = np.concatenate([source.p_q, source.p_v, source.p_p], axis=1)
        if self.hold is not None:  # the change of the direction in which it acts is left out: Newton needs no more
            J[n : 2 * n] = self.hold.accelerations(d.da_dtau, J[n : 2 * n])
        return J

    def _time(self, t: float) -> dict[str, Any]:
        return {} if isinstance(self.model.context.base, str) else {"t": t}

    def source_derivatives(self, t: float, q: Array, v: Array, p: Array) -> SourceDerivatives:
        """Exact where the source is recorded, otherwise by central differences."""
        n, m = self.nv, self.np
        if self.source.constant is not None:
            return SourceDerivatives(*(np.zeros((i, j)) for i in (n, m) for j in (n, n, m)))
        if self.why_not_compiled:
            return self._along_motions(self._differences(t, q, v, p))
        T = np.eye(n) if self.nq == n else tangent(self.model, q)
        given = self._source_inputs(t, q, v, p)
        found: list[Array] = []
        for of, rows in (("tau", n), ("p_rate", m)):
            for wrt, columns in (("q", n), ("v", n), ("p", m)):
                if not rows or not columns:
                    found.append(np.zeros((rows, columns)))
                    continue
                (d,) = self._source_jacobian(of, wrt).call(*given).values()
                found.append(d @ T if wrt == "q" else d)
        return self._along_motions(SourceDerivatives(*found))

    def _along_motions(self, found: SourceDerivatives) -> SourceDerivatives:
        """Efforts on what is held have no effect."""
        if self.hold is None:
            return found
        kept = self.hold.kept
        return found._replace(tau_q=kept @ found.tau_q, tau_v=kept @ found.tau_v, tau_p=kept @ found.tau_p)

    def _source_jacobian(self, of: str, wrt: str) -> Kernel:
        known = self.__dict__.setdefault("_source_jacobians", {})
        if (of, wrt) not in known:
            known[of, wrt] = Kernel(jacobian(self._source_program, of, wrt)[0], "simulate")
        return known[of, wrt]

    def _differences(self, t: float, q: Array, v: Array, p: Array) -> SourceDerivatives:
        def column(moved: Callable[[float], tuple[Array, Array, Array]], size: float) -> tuple[Array, Array]:
            h = STEP * max(1.0, abs(size))
            ahead, behind = self._plainly(t, *moved(h)), self._plainly(t, *moved(-h))
            return (ahead[0] - behind[0]) / (2.0 * h), (ahead[1] - behind[1]) / (2.0 * h)

        units, own = np.eye(self.nv), np.eye(self.np)
        along = [
            [column(lambda h, e=e: (integrate(self.model, q, h * e), v, p), 1.0) for e in units],
            [column(lambda h, e=e: (q, v + h * e, p), float(e @ v)) for e in units],
            [column(lambda h, e=e: (q, v, p + h * e), float(e @ p)) for e in own],
        ]
        stack = lambda k, rows: [  # noqa: E731
            np.stack([c[k] for c in columns], axis=1) if columns else np.zeros((rows, 0)) for columns in along
        ]
        return SourceDerivatives(*stack(0, self.nv), *stack(1, self.np))

    # ------------------------------------------------------------------ recording the torque source
    @cached_property
    def _source_program(self) -> Program:
        """(t, q, v, p, m) -> tau, p_rate; inputs and outputs without entries are left out."""
        sizes = {"t": 1, "q": self.nq, "v": self.nv, "p": self.np, "m": len(self.memory)}

        def function(**x: Any) -> Mapping[str, Any]:
            p, m = x.get("p", self.source.p0), x.get("m", self.source.m0)
            tau, p_rate = self.source.evaluate(x["t"][0], x["q"], x["v"], p, m)
            return {"tau": tau} | ({"p_rate": p_rate} if self.np else {})

        return record(function, {k: (n,) for k, n in sizes.items() if n}, f"{self.model.name}_torque")

    def _source_inputs(self, t: float, q: Array, v: Array, p: Array) -> list[Array]:
        return [np.array([t]), q, v, *([p] if self.np else []), *([self.memory] if len(self.memory) else [])]

    def _source_problem(self, recorded: bool = True) -> str:
        """Why the source cannot be recorded, or "". A source that has a memory is refused; one whose recording does not
        give what it gives itself must be called."""
        self.user_memory = UserMemory("simulate", self.source.told, self.source.users)
        with np.errstate(all="ignore"):
            problem = self._recording_problem() if recorded else "not asked for"
            self.user_memory.recorded()
            said = ""
            for late in LATE:
                points = probes(self.model, late)
                try:
                    self.user_memory.numbers([lambda x=x: self._both(*x) for x in points])
                    return problem or self._recorded_otherwise(points)
                except Remembers:
                    raise
                except Exception as error:  # what is a function of (t, q, v) may still fail at some states
                    self.user_memory.start.restore()
                    said = str(error) if isinstance(error, GyrostatError) else f"{type(error).__name__}: {error}"
        return problem or f"it was tried at another state, {said}"

    def _both(self, t: float, q: Array, v: Array) -> Array:
        """tau and the rates of its states, at the start of these."""
        return np.concatenate(self._tried(t, q, v))

    def _tried(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The source on numbers; NaN where it says that the state is none of its own."""
        p = self.source.p0
        if self.source.trouble(t, q, v, p, self.memory):
            return self.source.evaluate(t, q, v, p, self.memory)
        return self._plainly(t, q, v, p)

    def _recording_problem(self) -> str:
        try:
            _ = self._source_program
        except RecordError as error:
            return str(error)
        except Exception as error:  # the user's function may fail in any way on recorded values; it is called instead
            return f"it cannot be recorded, {type(error).__name__}: {error}"
        return ""

    def _recorded_otherwise(self, points: list[Any]) -> str:
        kernel = Kernel(self._source_program, "simulate")
        for t, q, v in points:
            found = kernel.call(*self._source_inputs(t, q, v, self.source.p0), nonfinite="return")
            recorded = np.concatenate(list(found.values()))
            if not alike(recorded, self._both(t, q, v)):
                return "it does not return the same for the same arguments when it is recorded"
        return ""
