"""What the runs of one call have in common: a model, what drives it, a method and its settings; and each run of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates, rates
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.methods import METHODS, Method
from gyrostat.simulate.plant.held_efforts import HELD, HeldEfforts
from gyrostat.simulate.plant.loop_settings import NAMES as LOOP_OPTIONS
from gyrostat.simulate.plant.loop_settings import LoopSettings, loop_settings
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.rigid_contacts import rigid_candidates
from gyrostat.simulate.plant.torque_source import torque_source
from gyrostat.simulate.plant.user_dynamics import refuse_by_residual
from gyrostat.simulate.results.recorder import Recorder
from gyrostat.simulate.run.contact_settings import NAMES as CONTACT_OPTIONS
from gyrostat.simulate.run.contact_settings import by_events, expect_impact
from gyrostat.simulate.run.contact_settings import expect_method as expect_contact_method
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.settings import made_method, sampled, spelt
from gyrostat.simulate.run.start_configuration import start_configuration
from gyrostat.simulate.sensitivity.asked import asked_for
from gyrostat.simulate.sensitivity.refusals import expect_method
from gyrostat.simulate.sensitivity.tangents import Tangents
from gyrostat.solvers.machinery.solver import LARGE
from gyrostat.spec.context import HarmonicMotion
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"


@dataclass(frozen=True)
class Task:
    """``times``: instants to keep, None for the end of every step; ``dt`` [s] of fixed steps; ``held``: efforts from
    outside are held beside the torque. The other fields are arguments of ``gs.simulate``."""

    model: Model
    torque: Any
    t0: float
    t1: float
    times: Array | None
    method: Any
    rtol: Any
    atol: Any
    max_step: Any
    dt: Any
    events: Any
    compiled: bool | None
    wrenches: Any
    forward: Any
    options: Mapping[str, Any]
    held: bool = False
    sensitivities: Sequence[str] | None = None

    @property
    def needs_numbers(self) -> bool:
        """Whether somebody but machine code reads the numbers of the model: constraints, blocks, wrenches."""
        model = self.model
        others = self.watched or self.wrenches is not None or callable(getattr(self.torque, "output", None))
        in_python = model.nv > LARGE or not isinstance(model.context.base, str | HarmonicMotion)
        return others or in_python or DryFriction.of(model) is not None

    @property
    def stabilisation(self) -> LoopSettings:
        """How loops that are constraints are kept closed."""
        return loop_settings(self.model, self.method, self.options)

    @property
    def watched(self) -> bool:
        """Whether events or constraints were given, or the model has rigid contacts."""
        given = self.events is not None and (not isinstance(self.events, list | tuple) or len(self.events) > 0)
        return given or bool(rigid_candidates(self.model))

    def plant(self, numbers: Parameters, told: Model) -> Plant:
        """``told``: the model with the properties among ``numbers``."""
        model, torque = told if self.needs_numbers else self.model, sampled(self.torque, self.times)
        if self.held:
            torque = HeldEfforts(model, torque_source(model, torque, numbers.gains))
            numbers = with_held(numbers, np.zeros(model.nv))
        given = torque, self.compiled, self.wrenches, self.times, self.forward
        return Plant(model, *given, parameters=numbers, base=self.model, stabilisation=self.stabilisation)

    def state(self, q0: Any, v0: Any) -> tuple[Array, Array]:
        """q (..., nq) and v (..., nv) at the start, by default at rest in the neutral configuration."""
        model = self.model
        q = coordinates(model, start_configuration(model) if q0 is None else q0, WHO)
        return q, rates(model, np.zeros(model.nv) if v0 is None else v0, WHO, "v")

    def made(self, plant: Plant) -> Method:
        """The method of a run."""
        refuse_by_residual(self.forward, spelt(self.method))
        others = (*LOOP_OPTIONS, *(CONTACT_OPTIONS if by_events(self.method) else ()))
        options = {name: x for name, x in self.options.items() if name not in others}
        expect_impact(self.model, self.options, by_events(self.method))
        expect_contact_method(self.model, self.method)
        return made_method(METHODS, self.method, plant, self.rtol, self.atol, self.max_step, self.dt, options)

    def run(self, plant: Plant, told: Model, numbers: Parameters) -> Run:
        """A run of a plant, which nobody else runs."""
        method = self.made(plant)
        recorder = Recorder(plant, self.times, method.name, told, self._tangents(plant, method, numbers))
        return Run(plant, method, recorder, self.events, self.settings, self.t1)

    @property
    def settings(self) -> dict[str, Any]:
        """What a result says of them."""
        given = {"rtol": self.rtol, "atol": self.atol, "dt": self.dt, "max_step": self.max_step}
        return {**given, "t_start": self.t0, "t_end": self.t1, **self.options}

    def _tangents(self, plant: Plant, method: Method, numbers: Parameters) -> Tangents | None:
        """Derivatives along the run, if they are asked for."""
        asked = asked_for(self.model, self.torque, numbers, self.sensitivities)
        if asked is None:
            return None
        expect_method(method, METHODS)
        return Tangents(plant, method, asked, self.times, self.dt)


def with_held(numbers: Parameters, held: Array) -> Parameters:
    """Parameters with efforts (nv,) that are held."""
    return replace(numbers, gains=dict(numbers.gains) | {HELD: held})
