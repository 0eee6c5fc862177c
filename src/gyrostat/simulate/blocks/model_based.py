"""Blocks that know a model of the robot: computed torque, feedforward, gravity compensation.

The model need not be that of the plant: a lighter load or no friction shows what wrong parameters do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.algorithms.recursions.rne import no_loads
from gyrostat.engine.tracing.record import is_recorded
from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.errors import RecordError
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import at_least_zero, refuse, same_size, spread
from gyrostat.solvers.dynamics.bias_forces import GravityForces
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.functions import gravity, rnea
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import MovingBase
from gyrostat.spec.model import Model


def _solved(model: Model, solver: Any, function: Any, result: str, t: Any, **state: Any) -> Any:
    """By the compiled function on numbers, by the equations themselves on recorded values."""
    time = t[()] if isinstance(t, np.ndarray) else t
    if isinstance(time, Recorded) or any(is_recorded(x) for x in state.values()):
        if isinstance(model.context.base, MovingBase):
            raise RecordError(
                f"the base of '{model.name}' moves by a Python function, which cannot be recorded. "
                "Hint: HarmonicMotion can, or run it uncompiled"
            )
        made = cached_solver(model, solver, **({"representation": "body"} if solver is InverseDynamics else {}))
        return made.compute(made.network, made.setting(time), state, no_loads)[result]
    options = {} if isinstance(model.context.base, str) else {"t": float(time)}
    return function(model, *state.values(), **options)


def torques(model: Model, t: Any, q: Any, v: Any, a: Any) -> Any:
    """tau (nv,) of inverse dynamics, on numbers and on recorded values."""
    return _solved(model, InverseDynamics, rnea, "tau", t, q=q, v=v, a=a)


def expect_plain(model: Any, who: str) -> None:
    """Errors q_ref - q are differences of numbers: not of quaternions."""
    expect_model(model, who)
    if model.nq != model.nv:
        message = f"'{model.name}' has {model.nq} coordinates for {model.nv} rates: quaternions cannot be subtracted"
        raise refuse(who, "model", message, "control joints of one degree of freedom, see at_joints", model.name)


@dataclass(frozen=True)
class ComputedTorque(Block):
    """tau = ID(q, v, a_ref + kd (v_ref - v) + kp (q_ref - q)), ID the inverse dynamics of ``model``.

    If the plant is this model, the error e = q_ref - q obeys e'' + kd e' + kp e = 0. Units of kp: 1/s^2, of kd: 1/s.
    Friction, drives and force elements of the model count."""

    kind: ClassVar[str] = "computed torque"
    model: Model
    kp: Any
    kd: Any
    position: str = "q"
    velocity: str = "v"
    target: str = "tau"
    name: str = ""

    def __post_init__(self) -> None:
        who = self.who
        expect_plain(self.model, who)
        for key in ("kp", "kd"):
            gain = at_least_zero(getattr(self, key), who, key, "1/s^2 for kp and 1/s for kd, both not negative")
            same_size(who, self.model.nv, **{key: gain})
            object.__setattr__(self, key, spread(gain, self.model.nv))

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.position, self.velocity, "q_ref", "v_ref", "a_ref"

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        q, v, q_ref, v_ref, a_ref = (self.take(x, name, self.model.nv) for name in self.inputs)
        a = a_ref + np.array(self.kd) * (v_ref - v) + np.array(self.kp) * (q_ref - q)
        return {self.target: torques(self.model, t, q, v, a)}


@dataclass(frozen=True)
class InverseDynamicsFeedforward(Block):
    """tau = ID(q_ref, v_ref, a_ref): what the motion takes if the robot is where it should be."""

    kind: ClassVar[str] = "inverse dynamics feedforward"
    model: Model
    target: str = "tau_ff"
    name: str = ""

    def __post_init__(self) -> None:
        expect_plain(self.model, self.who)

    @property
    def inputs(self) -> tuple[str, ...]:
        return "q_ref", "v_ref", "a_ref"

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        q, v, a = (self.take(x, name, self.model.nv) for name in self.inputs)
        return {self.target: torques(self.model, t, q, v, a)}


@dataclass(frozen=True)
class GravityCompensation(Block):
    """tau = G(q): holds the robot of ``model`` against its weight. Reads the signal ``position``, any model's q."""

    kind: ClassVar[str] = "gravity compensation"
    model: Model
    position: str = "q"
    target: str = "tau_g"
    name: str = ""

    def __post_init__(self) -> None:
        expect_model(self.model, self.who)

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.position,)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        q = self.take(x, self.position, self.model.nq)
        return {self.target: _solved(self.model, GravityForces, gravity, "G", t, q=q)}
