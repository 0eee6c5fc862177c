"""What happens at an event of the user: the run ends, or goes on from the state of its reset, maybe with another
model."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from gyrostat.configuration.packing import coordinates, rates
from gyrostat.simulate.events.event import Event, event_value, reset_state
from gyrostat.simulate.events.run_event import Outcome, RunEvent, RunState
from gyrostat.simulate.events.structure_change import another_structure, changed
from gyrostat.simulate.methods.method import StepFailure
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"

COMING, SOON = 9, 1e-6
"""So many intervals between events, each shorter than the one before, the last one below [s], are a sequence that has
no end."""


class UserRun(RunState, Protocol):
    """What a user's event may do with a run besides."""

    def expect_no_memory(self) -> None:
        """Refuse functions that have remembered something."""
        ...

    def renew(self) -> None:
        """What functions read may have changed."""
        ...

    def change_model(self, model: Model) -> None:
        """Another model from here on."""
        ...

    def go_on_with(self, model: Model, q: Array, v: Array) -> None:
        """Another run goes on from here with a model of another structure."""
        ...

    def expect_still_inside(self, q: Array, who: str) -> None:
        """Refuse a reset to q that leads beyond a constraint."""
        ...


class UserEvent(RunEvent):
    """An :class:`Event` along a run."""

    by_user = True

    def __init__(self, event: Event):
        self.event, self.name, self.direction = event, event.name, event.direction
        self.cuts, self.ends = event.terminal or event.reset is not None, event.terminal
        self.calls, self.seconds = 0, 0.0
        self._times: list[float] = []  # the last ones, if it changes the state

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        began = time.perf_counter()
        value = event_value(self.event, t, q, v)
        self.calls, self.seconds = self.calls + 1, self.seconds + time.perf_counter() - began
        return value

    def guard(self, t: Any, q: Array, v: Array, shared: dict[str, Any]) -> Any:
        """The function itself."""
        return self.event.function(t, q, v)

    def happens(self, run: UserRun) -> Outcome:  # type: ignore[override]
        event, plant = self.event, run.plant
        self._expect_an_end(run.t)
        run.keep(run.q, run.v)
        run.expect_no_memory()
        model, q_given, v_given = reset_state(event, plant.model, run.t, run.q, run.v)
        run.renew()
        if model is not plant.model and another_structure(plant.model, model):
            return self._another_run(run, model, (q_given, v_given))
        q_given, v_given = (run.q if q_given is None else q_given), (run.v if v_given is None else v_given)
        q = np.array(coordinates(model, q_given, f"{WHO}: reset of '{event.name}'"))
        v = np.array(rates(model, v_given, f"{WHO}: reset of '{event.name}'", "v"))
        run.tell(event.name, "event", run.q, run.v, v)
        if model is not plant.model:
            run.change_model(model)
        run.expect_still_inside(q, f"reset of '{event.name}'")
        if event.terminal:
            return Outcome(q, v, f"ended by event '{event.name}' at t = {run.t:.9g} s")
        return Outcome(q, run.settle(q, v))

    def _another_run(self, run: UserRun, model: Model, given: tuple[Any, Any]) -> Outcome:
        """The run ends here, and another one goes on with the new structure."""
        who = f"reset of '{self.name}'"
        q, v = changed(run.plant.model, run.q, run.v, model, given, who, run.t)
        run.tell(self.name, "structure", run.q, run.v, run.v)
        if self.event.terminal:
            return Outcome(run.q, run.v, f"ended by event '{self.name}' at t = {run.t:.9g} s")
        run.go_on_with(model, q, v)
        return Outcome(run.q, run.v, f"event '{self.name}' at t = {run.t:.9g} s changes the structure")

    def _expect_an_end(self, t: float) -> None:
        """Refuse events that come ever faster: a ball that bounces by resets does so without end in a finite time."""
        if self.event.reset is None:
            return
        self._times = [*self._times[-COMING:], t]
        gaps = np.diff(self._times)
        if len(gaps) == COMING and np.all(np.diff(gaps) < 0.0) and gaps[-1] < SOON:
            raise StepFailure(
                f"event '{self.name}' comes ever faster, the last two within {gaps[-1]:.1e} s: there is no end of it",
                hint="let reset end the motion when it is slow, terminal=True, or gs.JointLimits(rest=...)",
            )
