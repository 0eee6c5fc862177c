"""Efforts of the drives, F(q + mu, q' + mu', p, p') of [AS (19)]: for all cases at once, with their slopes.

A law is one of the rigid robot, f(t, q, v), as ``gs.simulate(rigid, f)`` takes it. It is recorded and compiled, and
sees the recorded motion with the vibration of the joints on top; states p of its own (an integral, a motor current) are
those of the drives in AS."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.lifted_constants import lifted_constants
from gyrostat.engine.tracing.operations import INPUT
from gyrostat.engine.tracing.program import Program, prune, run
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError, RecordError, StateError
from gyrostat.flexible.superposed_nominal import Nominal
from gyrostat.simulate.kernels.law_kernels import law_slopes
from gyrostat.simulate.plant.torque_source import TorqueSource, torque_source

Array = np.ndarray
STATE = (1, 2, 3)
"""Numbers of the inputs q, v, p of a recorded law: slopes that do not read them are constant."""
ALIKE = 1e-9
"""A law on numbers may differ from its recording by this share."""


class Slopes(NamedTuple):
    """Of tau and dp/dt along the rates of the rigid model, by v and by p; each (C, rows, columns)."""

    tau_q: Array
    tau_v: Array
    tau_p: Array
    p_q: Array
    p_v: Array
    p_p: Array


class GivenEfforts:
    """tau (T, n) of the rigid model's rates, whatever the joints do beside their recorded motion."""

    p0 = np.zeros(0)
    linear = True
    shared = True

    def __init__(self, tau: Array):
        self.tau = tau

    def efforts(self, k: int | slice, mu: Array, rate: Array, p: Array) -> tuple[Array, Array]:
        return np.broadcast_to(self.tau[k], np.broadcast_shapes(self.tau[k].shape, mu.shape)), p

    def slopes(self, k: int | slice, mu: Array, rate: Array, p: Array) -> Slopes | None:
        return None

    def of_cases(self, cases: slice) -> GivenEfforts:
        return self


class Law:
    """A function f(t, q, v), with further arguments by name in ``gains`` (C, ...), or a block with continuous states.

    ``linear``: its slopes depend on time alone. ``mu``, ``rate`` (N, n): what the joints have turned beside the
    recorded motion, and how fast; ``p`` (N, m)."""

    def __init__(self, given: Nominal, torque: Any, gains: Mapping[str, Array], who: str):
        self.given, self.who = given, who
        self.gains = {name: np.array(x, dtype=float) for name, x in gains.items()}
        one = {name: x[0] for name, x in self.gains.items()}
        self.source = torque_source(given.rigid, torque, one)
        if self.source.sample_times or len(self.source.m0):
            raise StateError(
                f"{who}: {self.source.told} is digital, and vibrations are integrated without its sampling. "
                "Hint: gs.simulate takes it; give its continuous form here"
            )
        self.p0, self.shared = self.source.p0, not self.gains
        recorded = _recorded(given, self.source, one, who)
        program, self._constants = lifted_constants(recorded)
        slopes = law_slopes(given.rigid, program)
        self._kernel, self._slopes = Kernel(program, who), Kernel(slopes, who)
        bare = prune(replace(slopes, guards=()))
        self.linear = not any(code == INPUT and which in STATE for code, which, *_ in bare.nodes)
        flat = [x.reshape(len(x), -1) for x in self.gains.values()]
        self._parameters = np.concatenate(flat, axis=1) if flat else np.zeros((1, 0))

    def of_cases(self, cases: slice) -> Law:
        """The same for some of the cases."""
        twin = copy(self)
        twin._parameters = self._parameters if len(self._parameters) == 1 else self._parameters[cases]
        return twin

    def efforts(self, k: int | slice, mu: Array, rate: Array, p: Array) -> tuple[Array, Array]:
        """tau (N, n) and dp/dt (N, m) at the instant t[k]; or at some instants, one after the other."""
        outputs = self._kernel.call(*self._inputs(k, mu, rate, p))
        return outputs["tau"], outputs["p_rate"]

    def slopes(self, k: int | slice, mu: Array, rate: Array, p: Array) -> Slopes:
        return Slopes(**self._slopes.call(*self._inputs(k, mu, rate, p)))

    def _inputs(self, k: int | slice, mu: Array, rate: Array, p: Array) -> tuple[Array, ...]:
        given = self.given
        q, rigid = given.rigid_q[k], given.rigid
        q = q + mu if rigid.nq == rigid.nv else integrate(rigid, q, mu)
        v = given.rigid_v[k] + rate
        return given.t[k, None], q, v, p, np.zeros(0), self._parameters, self._constants


def _recorded(given: Nominal, source: TorqueSource, gains: Mapping[str, Array], who: str) -> Program:
    """tau and p_rate of t (1,), q, v, p, m (0,), parameters; compared with the law itself at the first instant."""
    model = given.rigid
    sizes = {name: math.prod(x.shape) for name, x in gains.items()}
    shapes = {"t": (1,), "q": (model.nq,), "v": (model.nv,), "p": source.p0.shape, "m": (0,)}

    def function(t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
        with source.with_gains(parameters):
            tau, rate = source.evaluate(t[0], q, v, p, m)
        return {"tau": tau, "p_rate": rate}

    try:
        program = record(function, shapes | {"parameters": (sum(sizes.values()),)}, f"{model.name}_drives")
    except GyrostatError as error:
        raise RecordError(f"{who}: {source.told} cannot be compiled: {error}") from error
    except Exception as error:  # a function of the user's may fail in any way on recorded values
        raise RecordError(
            f"{who}: {source.told} cannot be compiled, {type(error).__name__}: {error}. "
            "Hint: it must be arithmetic and NumPy functions of t, q, v of one robot"
        ) from error
    state = given.rigid_q[0], given.rigid_v[0], source.p0
    numbers = np.concatenate([np.zeros(0), *(np.ravel(x) for x in gains.values())])
    want = np.array(source.evaluate(float(given.t[0]), *state, np.zeros(0))[0], dtype=float)
    tau = np.array(run(program, given.t[:1], *state, np.zeros(0), numbers)[0], dtype=float)
    if not np.allclose(tau, want, rtol=ALIKE, atol=ALIKE):
        raise RecordError(
            f"{who}: {source.told} does not return the same when it is recorded, {tau} against {want}. "
            "Hint: it must depend on its arguments alone"
        )
    return program
