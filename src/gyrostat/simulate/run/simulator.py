"""A model step by step: for hardware in the loop, learning, ROS, and whatever else brings its own loop.

A step is the same machine code as in ``gs.simulate``, on the same memory, without recording anything: what is held,
gains and physical properties are its inputs."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.packing import rates, real_array
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError, StateError, clipped, nearest
from gyrostat.simulate.kernels.sampling import END, NEXT_LIMIT, PERIOD
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.methods.compiled import FULL, REACHED
from gyrostat.simulate.plant.held_efforts import HeldEfforts
from gyrostat.simulate.plant.parameters import Parameters, given_parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.torque_source import filled
from gyrostat.simulate.plant.wrench_source import LoadedSource
from gyrostat.simulate.results.files import place_of, written
from gyrostat.simulate.run.failure import failed
from gyrostat.simulate.run.rolled import rolled
from gyrostat.simulate.run.settings import given_events, number, spelt
from gyrostat.simulate.run.simulator_memory import given_back, saved_bytes, settings_of
from gyrostat.simulate.run.step_export import exported
from gyrostat.simulate.run.task import Task, with_held
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "Simulator"
BUDGET = 4096
"""Steps of one call into machine code: between two calls Python listens to Ctrl-C."""
STOPPED = "; the simulator stands at the last state that it has reached"


class State(NamedTuple):
    """Time t [s], coordinates q (nq,), rates v (nv,), own states p (np,) of what drives the model."""

    t: float
    q: Array
    v: Array
    p: Array


class Simulator:
    """A model from (q0, v0) at the time ``t`` [s], step by step.

    ``torque``, ``wrenches``, ``parameters``, ``compiled``, ``forward_dynamics``, the methods and their ``options`` are
    those of :func:`gyrostat.simulate`. ``dt`` [s]: time that one :meth:`step` takes; for methods with fixed steps, the
    step. ``constraints``: :class:`JointLimits` and others of its kind. Events of users belong to ``gs.simulate``: here
    the caller looks at the state after each step.

    >>> import gyrostat as gs
    >>> sim = gs.Simulator(gs.robots.pendulum(), q0=[0.1], dt=1e-3)
    >>> sim.step([0.2]).t
    0.001
    """

    def __init__(
        self,
        model: Model,
        torque: Any = None,
        q0: Any = None,
        v0: Any = None,
        method: str = "rk4",
        dt: float = 1e-3,
        *,
        t: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        wrenches: Any = None,
        constraints: Any = (),
        rtol: float = 1e-6,
        atol: float = 1e-9,
        max_step: float = np.inf,
        compiled: bool | None = None,
        forward_dynamics: Any = None,
        **options: Any,
    ):
        expect_model(model, WHO)
        model, constraints = rolled(model, constraints)
        users, rows = given_events(constraints)
        if users:
            raise StateError(
                f"{WHO}: event '{users[0].name}' is watched by gs.simulate only. Hint: look at sim.state after each "
                "step; constraints=gs.JointLimits() holds joints at their limits"
            )
        self._dt, name = number(dt, "dt", 0.0, "dt=0.001"), spelt(method)
        fixed = isinstance(name, str) and name in METHODS and not METHODS[name].adaptive
        how = name, rtol, atol, max_step, self.dt if fixed else None
        none = np.zeros(0)
        t0 = number(t, "t", -np.inf, "t=0.0")
        given = rows, compiled, wrenches, forward_dynamics, options
        self._task = Task(model, torque, t0, np.inf, none, *how, *given, held=True)
        self._numbers = given_parameters(model, torque, parameters, WHO)
        self._told = self._numbers.replaced(model)
        self._plant = self._task.plant(self._numbers, self._told)
        self._zero = np.zeros(model.nv)
        self._start = self._state_of(q0, v0)
        self._restart(t0)

    # ------------------------------------------------------------------ steps
    def step(self, tau: Any = None, steps: int = 1, *, duration: float | None = None) -> State:
        """The state after ``steps`` times dt, or after ``duration`` [s], with the efforts ``tau`` (nv,), or by joint
        name, held until there beside those of the torque source; None: no others than those.

        Raises :class:`SimulationError` where it cannot go on, :class:`NonFiniteError` for efforts that are none."""
        self._hold(tau)
        t_end = self._until(steps, duration)
        if not self._quick or not self._jumped(t_end):
            self._go_on(t_end)
        return self.state

    def _until(self, steps: Any, duration: Any) -> float:
        """The time at which the step ends: a multiple of dt since the start, or since another duration."""
        if duration is not None:
            if steps != 1:
                raise StateError(
                    f"{WHO}: step takes steps or a duration, got {steps} and {duration}. Hint: one of them"
                )
            self._origin, self._count = self.t + number(duration, "duration", 0.0, "duration=0.02"), 0
            return self._origin
        if steps.__class__ is not int or steps < 1:
            steps = _whole(steps)
        self._count += steps
        return self._origin + self._count * self.dt

    def _jumped(self, t_end: float) -> bool:
        """Steps of machine code alone to t_end; False if Python must look at something."""
        method, clock = self._method, self._clock
        clock[PERIOD] = 0.0
        clock[END] = clock[NEXT_LIMIT] = t_end
        status = method.run(self._machine, self._harvest, BUDGET)
        self._run.state = method.end()[:4]
        if status in (REACHED, FULL):
            return status == REACHED
        try:
            self._machine.expect_no_abort()
            raise method.failure(status)
        except Exception as error:
            raise self._stopped(error, t_end) from error

    def _go_on(self, t_end: float) -> None:
        try:
            self._run.go_on(t_end)
        except Exception as error:
            raise self._stopped(error, t_end) from error

    def _stopped(self, error: Exception, t_end: float) -> GyrostatError:
        """What is said of a step that cannot be done; the next one begins where this one has come to."""
        self._origin, self._count = self.t, 0
        plant, state = self._run.plant, self._run.state
        return failed(error, plant, state, t_end, self._task.dt, lambda message: None, STOPPED)

    def _hold(self, tau: Any) -> None:
        """Efforts of the next step."""
        if tau is None:
            tau = self._zero
        elif tau.__class__ is not np.ndarray or tau.dtype != np.float64 or tau.shape != self._zero.shape:
            tau = self._efforts(tau)
        data = tau.tobytes()
        if data == self._held:
            return
        if not all(map(isfinite, tau.tolist())):
            k = int(np.flatnonzero(~np.isfinite(tau))[0])
            error = NonFiniteError(f"{WHO}: tau of '{self.model.dofs[k]}' is {tau[k]}, not a finite number")
            error.dof = k
            raise error
        self._held = data
        self._source.held[:] = self._machine.parameters[self._place] = self._run.plant.parameters[self._place] = tau
        self._run.method.start(*self._run.state)

    def _efforts(self, tau: Any) -> Array:
        model = self.model
        array = rates(model, filled(model, tau) if isinstance(tau, Mapping) else tau, WHO, "tau")
        if array.shape != (model.nv,):
            raise ShapeError(f"{WHO}: tau has shape {array.shape}, expected ({model.nv},) = nv of '{model.name}'")
        return np.array(array, dtype=float)

    # ------------------------------------------------------------------ where it stands
    @property
    def model(self) -> Model:
        """The model, with the physical properties among the parameters."""
        return self._told

    @property
    def dt(self) -> float:
        """Time [s] that a step advances; another one needs another simulator, or ``step(duration=...)``."""
        return self._dt

    @property
    def method(self) -> str:
        """Name of the method."""
        return self._run.method.name

    @property
    def state(self) -> State:
        """t, q, v, p; arrays that belong to the simulator, and cannot be written to."""
        t, q, v, p = self._run.state
        q.flags.writeable = v.flags.writeable = p.flags.writeable = False
        return State(t, q, v, p)

    @property
    def t(self) -> float:
        """[s]."""
        return self._run.state[0]

    @property
    def q(self) -> Array:
        """(nq,)."""
        return self._run.state[1].copy()

    @property
    def v(self) -> Array:
        """(nv,)."""
        return self._run.state[2].copy()

    @property
    def a(self) -> Array:
        """Accelerations (nv,) at the state, with the efforts that were held last."""
        return self._run.plant.observe(*self._run.state)[0]

    @property
    def tau(self) -> Array:
        """Efforts (nv,) at the state, those that were held last included, without external wrenches."""
        return np.array(self._run.plant.applied(*self._run.state)[1])

    # ------------------------------------------------------------------ from the start
    def reset(
        self, q0: Any = None, v0: Any = None, t: float = 0.0, parameters: Mapping[str, Any] | None = None
    ) -> State:
        """Begin anew at the time t [s], at (q0, v0) or where it began before, with other values of some parameters.
        Nothing is recorded or compiled, unless parameters are new, or constraints and blocks read them."""
        task, t0 = self._task, number(t, "t", -np.inf, "t=0.0")
        if parameters:
            old = {self._numbers.spelt[name]: x for name, x in (self._numbers.gains | self._numbers.live).items()}
            numbers = given_parameters(task.model, task.torque, old | dict(parameters), WHO)
            told = numbers.replaced(task.model)
            if not self._serves(numbers):
                self._plant = task.plant(numbers, told)
            self._numbers, self._told = numbers, told
        if q0 is not None or v0 is not None:
            q, v = self._start
            self._start = self._state_of(q if q0 is None else q0, v if v0 is None else v0)
        self._restart(t0)
        return self.state

    def _serves(self, numbers: Parameters) -> bool:
        """Whether the plant can have these numbers."""
        shapes = ({name: np.shape(x) for name, x in (n.gains | n.live).items()} for n in (self._numbers, numbers))
        return not (numbers.live and self._task.needs_numbers) and len({tuple(x.items()) for x in shapes}) == 1

    def _state_of(self, q0: Any, v0: Any) -> tuple[Array, Array]:
        q, v = self._task.state(q0, v0)
        model = self._task.model
        if q.shape != (model.nq,) or v.shape != (model.nv,):
            hint = "gs.simulate and gs.rollout take many states"
            raise ShapeError(f"{WHO}: q0 and v0 have shapes {q.shape} and {v.shape}, expected one state. Hint: {hint}")
        return np.array(q), np.array(v)

    def _restart(self, t: float) -> None:
        """A run in memory of its own."""
        plant = self._plant.twin(with_held(self._numbers, np.zeros(self._task.model.nv)))
        run = self._run = replace(self._task, t0=t).run(plant, self._told, self._numbers)
        run.begin(*(x.copy() for x in self._start))
        self._origin, self._count = t, 0
        self._machine, self._harvest = plant.machine, run.recorder.harvest
        self._source, self._place = _held_of(plant), slice(len(plant.parameters) - plant.nv, len(plant.parameters))
        self._held = self._zero.tobytes()
        self._method: Any = run.method
        self._clock: Any = getattr(run.method, "clock", None)
        self._quick = run.method.compiled and not run.watches.all and not run.instants
        if self._quick:
            plant.machine.need(*self._method.kernels)
            self._harvest.always = False

    # ------------------------------------------------------------------ parameters
    @property
    def parameters(self) -> SimulatorParameters:
        """By name; ``sim.parameters["kp"] = 30.0`` between two steps compiles nothing."""
        return SimulatorParameters(self)

    @parameters.setter
    def parameters(self, values: Mapping[str, Any]) -> None:
        self.parameters.update(values)

    # ------------------------------------------------------------------ files
    def save(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Everything that the next steps depend on, without pickles: as bytes, or in an .npz file, whose path it
        returns. :meth:`restore` goes on from there with the same bits as if nothing had been."""
        data = saved_bytes(self)
        return data if path is None else written(place_of(path, ".npz"), data)

    def restore(self, saved: bytes | str | os.PathLike[str], trust: bool = False) -> State:
        """Go on from what :meth:`save` has returned or written, by a simulator of the same model, torque, method.

        Machine code reads these numbers. What this process has saved is known by a seal; ``trust=True`` takes what
        another one has written, and is for files of your own."""
        given_back(self, saved, trust)
        return self.state

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | bytes,
        model: Model,
        torque: Any = None,
        *,
        trust: bool = False,
        **arguments: Any,
    ) -> Simulator:
        """A new simulator that stands where the one stood that has saved itself. Method, dt, tolerances and parameters
        come from the file; model, torque and the other ``arguments`` are given again, as functions are in no file.
        ``trust``: see :meth:`restore`."""
        sim = cls(model, torque, **(settings_of(path, trust) | arguments))
        sim.restore(path, trust)
        return sim

    def export_c(self, folder: str | Path, name: str | None = None, vectors: int = 16) -> list[Path]:
        """One step as C99 that allocates nothing, with a header, test vectors and a ``main`` that checks them; returns
        the files. For ``"rk4"`` and ``"semi-implicit-euler"``, without constraints; the function is

            name(t, q, v, p, m, tau, parameters, dt, sample, q1, v1, p1, m1, a, tau_law),

        without the arguments that have no entries: p and p1, m, m1 and sample, parameters (gains, then properties, in
        the order of :attr:`parameters`). A step goes from t to t + dt [s]; tau is held. Where sample is one, digital
        parts read the state at the start of the step, and m1 is what they hold from there on, else m1 = m. a and
        tau_law, which includes tau and wrenches, are those at the start of the step, too."""
        return exported(self._run, self._numbers, self.model, self.dt, folder, name, vectors)

    def __repr__(self) -> str:
        return f"<Simulator of '{self.model.name}': {self.method}, steps of {self.dt:g} s, at t = {self.t:g} s>"


class SimulatorParameters(MutableMapping[str, Any]):
    """The parameters of a simulator by name, in the order of their inputs: gains, then physical properties."""

    def __init__(self, sim: Simulator):
        self._sim = sim

    def _known(self) -> dict[str, str]:
        """Names as they were given -> as they are known."""
        numbers = self._sim._numbers
        return {numbers.spelt[name]: name for name in numbers.gains | numbers.live}

    def __getitem__(self, name: str) -> Any:
        numbers = self._sim._numbers
        x = (numbers.gains | numbers.live)[self._named(name)]
        return float(x) if x.ndim == 0 else x.copy()

    def _named(self, name: Any) -> str:
        known = self._known()
        if name not in known:
            hint = nearest(str(name), known) if known else "Simulator(..., parameters={...}) says which there are"
            raise StateError(f"{WHO}: there is no parameter '{name}'. Hint: {hint}")
        return known[name]

    def __setitem__(self, name: str, value: Any) -> None:
        sim, key = self._sim, self._named(name)
        old = (sim._numbers.gains | sim._numbers.live)[key]
        new = np.array(real_array(value, WHO, f"parameters['{name}']"), dtype=float)
        if new.shape != old.shape:
            raise ShapeError(f"{WHO}: parameters['{name}'] has shape {new.shape}, expected {old.shape}")
        if not np.isfinite(new).all():
            raise NonFiniteError(f"{WHO}: parameters['{name}'] is not finite everywhere")
        if key in sim._numbers.live and sim._task.needs_numbers:
            raise StateError(
                f"{WHO}: parameters['{name}'] is read by constraints, blocks or wrenches, not by machine code alone. "
                f"Hint: sim.reset(sim.q, sim.v, sim.t, parameters={{'{name}': ...}})"
            )
        give(sim, replaced(sim._numbers, key, new))

    def __delitem__(self, name: str) -> None:
        raise StateError(f"{WHO}: parameters stay, '{name}' too. Hint: another value, or another Simulator")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __repr__(self) -> str:
        return repr(dict(self))


def replaced(numbers: Parameters, key: str, value: Array) -> Parameters:
    """Numbers with another value of one."""
    live, gains = (
        {name: value if name == key else x for name, x in part.items()} for part in (numbers.live, numbers.gains)
    )
    return replace(numbers, live=live, gains=gains)


def give(sim: Simulator, numbers: Parameters) -> None:
    """Other parameters from the next step on."""
    told = numbers.replaced(sim._task.model)
    sim._numbers, sim._told = numbers, told
    plant = sim._run.plant
    plant.numbered(with_held(numbers, sim._source.held))
    sim._run.method.start(*sim._run.state)


def _held_of(plant: Plant) -> HeldEfforts:
    source: Any = plant.source.inner if isinstance(plant.source, LoadedSource) else plant.source
    return source


def _whole(steps: Any) -> int:
    try:
        count = operator.index(steps)
    except TypeError:
        count = 0
    if count < 1:
        raise StateError(
            f"{WHO}: steps must be a whole number from 1 on, got {clipped(steps)}. Hint: duration=0.02 [s]"
        )
    return count
