"""What came out of a simulation: the motion by array and by joint, energies, events, cost; and where it can go."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrostat.errors import StateError, nearest
from gyrostat.graph.network import kept_network, network
from gyrostat.simulate.constraints.contact_transitions import ContactPhase, Impulse
from gyrostat.simulate.events.event_record import Happened
from gyrostat.simulate.plant.later_outputs import LaterOutputs
from gyrostat.simulate.plant.wrench_source import applied_efforts
from gyrostat.simulate.results.contact_wrenches import with_contacts
from gyrostat.simulate.results.drawn_forces import drawn_forces
from gyrostat.simulate.results.kept_rows import KeptRows
from gyrostat.simulate.results.loop_history import (
    ClosureHistory,
    closure_history,
    loop_multipliers,
    rolling_forces,
)
from gyrostat.simulate.results.sensitivity import Sensitivity
from gyrostat.simulate.results.sensor_history import sensor_history
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics, PortForces
from gyrostat.solvers.functions import fk, kinetic_energy, potential_energy
from gyrostat.solvers.kinematics.forward_kinematics import Motions
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.wrench import Application, Wrench
from gyrostat.solvers.sensors.measured import SensorValues
from gyrostat.spec.facts import facts_html
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
MADE_LATER = frozenset({"t", "q", "v", "a", "tau", "p", "work"})
"""What a result may make of its rows."""


@dataclass(frozen=True)
class Counted:
    """What a run has cost.

    ``rhs_evaluations`` of forward dynamics with its torque source, by the integration (rejected steps included);
    ``residual_evaluations`` of inverse dynamics in implicit methods; ``jacobian_evaluations``; ``output_evaluations``
    for a and tau of samples, which the integration does not need. ``steps`` accepted, ``rejected`` ones; ``wall_time``
    [s] without compiling; ``build_time`` [s] for recording and compiling; ``statistics`` of the method. ``in_python``:
    what was called in Python during the run, why, and what that cost; "" if nothing was. ``python``: part, such as
    "law" or "constrain" -> (calls, seconds) of what machine code has called in Python."""

    rhs_evaluations: int = 0
    residual_evaluations: int = 0
    jacobian_evaluations: int = 0
    output_evaluations: int = 0
    steps: int = 0
    rejected: int = 0
    wall_time: float = 0.0
    build_time: float = 0.0
    simulated_time: float = 0.0
    compiled: bool = True
    in_python: str = ""
    statistics: Mapping[str, Any] = field(default_factory=dict)
    python: Mapping[str, tuple[int, float]] = field(default_factory=dict)

    @property
    def real_time_factor(self) -> float:
        """Simulated time over wall time: above one is faster than reality."""
        return self.simulated_time / self.wall_time if self.wall_time > 0.0 else float("inf")


class JointHistory(NamedTuple):
    """One joint over t (T,): q, v, a, tau (T,), or (T, k) for joints with several coordinates or rates."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array


@dataclass(frozen=True, eq=False)
class Result:
    """A run: ``t`` (T,) [s]; ``q`` (T, nq), ``v``, ``a``, ``tau`` (T, nv) in the order of the model; ``p`` (T, np) own
    states of the torque source; ``work`` (T,) [J] that the efforts have done since the start; ``wall`` (T,) [s] of the
    clock on the wall when a sample was reached [WM15 Fig. 12].

    ``result["elbow"].q`` is one joint. ``status``: "finished", "event" (a terminal event ended it), "interrupted"
    (Ctrl-C) or "failed"; ``message`` says more. ``events``; ``counters``; ``method`` and its ``settings``. Where an
    event makes the state jump, the same t is there twice, before and after it. There is no NaN in a result.
    ``wrenches``: the external ones by port, each (T, 6) in its frame; ``tau`` is without them, ``work`` with them.
    ``sensitivities``: derivatives by the names that were asked for, each with q, v (T, nv, k) and p (T, np, k).

    Of rigid contacts: ``contact_forces`` by name, each (T, 3) [N] on a in contact axes (normal, t1, t2);
    ``contact_moments``, each (T, 3) [N m], of torsional (about the normal) and rolling friction, where there is any;
    ``impulses``: records (t, name, impulse (3,) [N s]); ``contact_phases``: records (t_start, t_end, name, phase).

    A method may need neither ``a`` nor ``tau`` at the ends of its steps (``bdf``): then they are computed when they are
    asked for the first time, from what the run read, whatever has changed since."""

    model: Model
    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    p: Array
    work: Array
    wall: Array
    events: tuple[Happened, ...] = ()
    counters: Counted = field(default_factory=Counted)
    status: str = "finished"
    message: str = ""
    method: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    phases: tuple[tuple[int, Model], ...] = ()
    wrenches: Mapping[str, Wrench] = field(default_factory=dict)
    sensitivities: Mapping[str, Sensitivity] = field(default_factory=dict)
    contact_forces: Mapping[str, Array] = field(default_factory=dict)
    contact_moments: Mapping[str, Array] = field(default_factory=dict)
    impulses: tuple[Impulse, ...] = ()
    contact_phases: tuple[ContactPhase, ...] = ()

    # ------------------------------------------------------------------ what is made when it is asked for
    @classmethod
    def of_rows(cls, rows: KeptRows, counted: tuple[Any, ...], rest: dict[str, Any]) -> Result:
        """The same as ``Result(...)``, whose arrays and counters (:class:`Counted` of ``counted``) are made when they
        are asked for the first time. ``rest``: fields with other values than by default."""
        result = cls.__new__(cls)
        own = result.__dict__
        own.update(rest)
        own["_kept"], own["_counted"] = rows, counted
        return result

    def __post_init__(self) -> None:
        if isinstance(self.a, LaterOutputs):
            own = self.__dict__
            own["_later"] = own.pop("a")
            del own["tau"]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            own = self.__dict__
            kept = own.get("_kept") if name in MADE_LATER else None
            if kept is not None:
                for key, x in kept.arrays().items():
                    own.setdefault(key, x)
                own.pop("_kept", None)
            if name in ("counters", "wall") and "_counted" in own:
                counted = Counted(*own["_counted"])
                own.setdefault("counters", counted)
                own.setdefault("wall", np.linspace(0.0, counted.wall_time, len(self.t)))
            later = own.get("_later") if name in ("a", "tau") else None
            if later is not None:
                own["a"], own["tau"] = later()
                own.pop("_later", None)
            if name in own:  # perhaps by another thread
                return own[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __getstate__(self) -> dict[str, Any]:
        _ = self.t, self.a, self.counters  # addresses stay here
        return {name: x for name, x in self.__dict__.items() if name not in ("_kept", "_counted", "_later")}

    @property
    def parts(self) -> tuple[Result, ...]:
        """One result for each structure: this one, unless coordinates change on the way."""
        return (self,)

    # ------------------------------------------------------------------ by joint, by frame
    def __getitem__(self, joint: str) -> JointHistory:
        block = self.model.layout.of.get(joint)
        if block is None:
            known = self.model.layout.entities
            raise StateError(f"result: there is no joint '{joint}'. Hint: {nearest(str(joint), known)}")
        at_q = block.q.start if block.nq == 1 else block.q
        at_v = block.v.start if block.nv == 1 else block.v
        return JointHistory(self.t, self.q[:, at_q], self.v[:, at_v], self.a[:, at_v], self.tau[:, at_v])

    def frames(self) -> Motions:
        """Places, velocities and accelerations of all frames: ``result.frames()["tool.tip"].p`` (T, 3)."""
        return fk(self.model, self.q, self.v, self.a, t=self._times(self.t))

    def port_forces(self, ports: Any = None) -> dict[str, Array]:
        """The cut force (T, 6) at every port, or at some ``ports``, of every sample: torque [N m] about the port's
        origin, then force [N], in the port's axes; what the side of the base exerts on the far side [AS 4.2, KV (32)].

        It is that of Newton and Euler for the motion as it was, so that friction, stops, springs, efforts, external
        wrenches and contacts are all in it, a joint that sticks or rests at its stop included."""
        parts: list[dict[str, Array]] = []
        for model, at in self._spans():
            wrenches = self._wrenches(model, at)
            options = {} if isinstance(model.context.base, str) else {"t": self.t[at]}
            solver = cached_solver(model, InverseDynamics, representation="body")
            motion = self.q[at], self.v[at], self.a[at]
            loops: dict[str, Any] = {}
            if kept_network(model).closures:
                loops = {"multipliers": self._of_loops(model, at)}
            parts.append(solver.port_forces(*motion, wrenches or None, ports=ports, **options, **loops))
        if not parts:
            raise StateError("result: there are no samples. Hint: a run of more than no time")
        joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return PortForces(network(self.model), joined)

    def _wrenches(self, model: Model, at: slice) -> dict[str, Wrench]:
        """Of samples with one model: those of the user, and those of rigid contacts."""
        wrenches = {port: Wrench(w.value[at], w.expressed_in) for port, w in self.wrenches.items()}
        forces, moments = ({name: f[at] for name, f in x.items()} for x in (self.contact_forces, self.contact_moments))
        return with_contacts(model, self.q[at], forces, wrenches, moments)

    @cached_property
    def sensors(self) -> SensorValues:
        """Values (T, n) of the sensors of the model by name, see :class:`~gyrostat.spec.sensor.Sensor`; one that only
        some phases of the run have is not among them."""
        return sensor_history(self)

    def _spans(self) -> Iterator[tuple[Model, slice]]:
        """The model in force, and its samples."""
        phases = self.phases or ((0, self.model),)
        ends = [*(start for start, _ in phases[1:]), len(self.t)]
        for (start, model), end in zip(phases, ends, strict=True):
            if end > start:
                yield model, slice(start, end)

    def _times(self, t: Array) -> Any:
        return None if isinstance(self.model.context.base, str) else t

    # ------------------------------------------------------------------ loops
    @cached_property
    def closure(self) -> dict[str, ClosureHistory]:
        """How far every loop that is a constraint was open, and how fast it opened, by what closes it:
        ``result.closure["coupler"].distance`` (T,). Empty where there are none; loops in closed form never open."""
        parts = [closure_history(model, self.q[at], self.v[at]) for model, at in self._spans()]
        names = parts[0] if parts else {}
        return {
            name: ClosureHistory(*(np.concatenate([p[name][k] for p in parts]) for k in range(2)))
            for name in names
            if all(name in part for part in parts)
        }

    @cached_property
    def rolling_forces(self) -> dict[str, Array]:
        """Forces (T, 3) [N] of the ground on every wheel that rolls, by the name of its :class:`Rolling`: along z (the
        normal), x and y of the frame of the ground, at the point of contact; zero while a structure without it is in
        force. Empty where nothing rolls."""
        spans = list(self._spans())
        parts = [rolling_forces(model, self._of_loops(model, at)) for model, at in spans]
        names = dict.fromkeys(name for part in parts for name in part)
        sizes = [at.stop - at.start for _, at in spans]
        pairs = [*zip(parts, sizes, strict=True)]
        return {name: np.concatenate([x.get(name, np.zeros((n, 3))) for x, n in pairs]) for name in names}

    def _of_loops(self, model: Model, at: slice) -> Array:
        """Multipliers (T, m) of the model in force at some samples."""
        if not kept_network(model).closures:
            return np.zeros((at.stop - at.start, 0))
        options = {} if isinstance(model.context.base, str) else {"t": self.t[at]}
        tree = cached_solver(model, InverseDynamics, representation="body")(
            self.q[at], self.v[at], self.a[at], **options
        )
        return loop_multipliers(model, self.q[at], tree - self.tau[at] - self._applied[at], self.t[at])

    # ------------------------------------------------------------------ energy
    def _piecewise(self, of: Any, *arrays: Array) -> Array:
        """A function of the model in force at each sample."""
        energies = np.zeros(len(self.t))
        for model, at in self._spans():
            options = {} if isinstance(model.context.base, str) else {"t": self.t[at]}
            energies[at] = of(model, *(x[at] for x in arrays), **options)
        return energies

    @cached_property
    def kinetic_energy(self) -> Array:
        """T (T,) [J]."""
        return self._piecewise(kinetic_energy, self.q, self.v)

    @cached_property
    def potential_energy(self) -> Array:
        """U (T,) [J] of gravity and springs."""
        return self._piecewise(potential_energy, self.q)

    @property
    def energy(self) -> Array:
        """T + U (T,) [J]."""
        return self.kinetic_energy + self.potential_energy

    @property
    def power(self) -> Array:
        """Power (T,) [W] of the efforts and of external wrenches, tau . v + w . V."""
        return np.einsum("ij,ij->i", self.tau + self._applied, self.v)

    @cached_property
    def _applied(self) -> Array:
        """J^T w (T, nv) of the external wrenches."""
        efforts = np.zeros(self.tau.shape)
        for model, at in self._spans() if self.wrenches else ():
            places = [Application(port, w.expressed_in) for port, w in self.wrenches.items()]
            W = np.concatenate([w.value[at] for w in self.wrenches.values()], axis=1)
            efforts[at] = applied_efforts(model, places, self.t[at], self.q[at], W)
        return efforts

    @property
    def energy_residual(self) -> Array:
        """(T + U) - (T + U at the first sample) - work (T,) [J]: what is not the work of the efforts and wrenches.
        Friction, dampers and impacts make it negative, a driven base changes it; without them it is the error of the
        integration."""
        if not len(self.t):
            return np.zeros(0)
        return self.energy - self.energy[0] - (self.work - self.work[0])

    # ------------------------------------------------------------------ pictures
    def plot(
        self, joints: Any = None, *, reference: Any = None, title: str | None = None, figure: Any = None
    ) -> Figure:
        """A figure of q, v, a and tau over time, with limits, events and a ``reference``; see
        :func:`gyrostat.plot_motion`."""
        from gyrostat.view.plots import plot_motion

        motion = self.model, self.t, self.q, self.v, self.a, self.tau
        return plot_motion(*motion, joints, reference=reference, events=self.events, title=title, figure=figure)

    def plot_phase(self, joints: Any = None, **options: Any) -> Figure:
        """Rates over coordinates; see :func:`gyrostat.plot_phase`."""
        from gyrostat.view.phase import plot_phase

        return plot_phase(self.model, self.q, self.v, joints, **options)

    def plot_energy(self, **options: Any) -> Figure:
        """Energies, work and what is lost [J]; see :func:`gyrostat.plot_energy`."""
        from gyrostat.view.run_figures import plot_energy

        return plot_energy(self, **options)

    def plot_forces(self, ports: Any = None, **options: Any) -> Figure:
        """Forces of contacts or at ports over time; see :func:`gyrostat.plot_forces`."""
        from gyrostat.view.run_figures import plot_forces

        return plot_forces(self, ports, **options)

    def view(self, *, forces: Any = "contacts", **options: Any) -> Any:
        """Replay in the browser, with arrows for ``forces``: "contacts" (rigid ones), "cuts" (at the far side of every
        joint), True (contacts, or cuts where there are none), False, names of contacts and ports, or a mapping as of
        :func:`gyrostat.view`, which says the rest. ``run.view(ghost=reference, beside=[other_run])``."""
        from gyrostat.view.viewer.viewer import view

        _, once = np.unique(self.t, return_index=True)  # events have two samples at one time
        if forces is None or forces is False:
            options["forces"] = None
        elif isinstance(forces, Mapping):
            options["forces"] = forces
        else:
            drawn = drawn_forces(self, forces)
            options["forces"] = {name: (points[once], force[once]) for name, (points, force) in drawn.items()}
        return view(
            self.model,
            self.q[once],
            self.t[once],
            v=self.v[once],
            a=self.a[once],
            tau=self.tau[once],
            **options,
        )

    # ------------------------------------------------------------------ files and tables
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Store the run with its model in an .npz file, without pickles; :func:`gyrostat.load_result` reads it."""
        from gyrostat.simulate.results.files import save_result

        return save_result(self, path)

    def to_csv(self, path: str | os.PathLike[str]) -> Path:
        """A text table with one row for each sample, all digits."""
        from gyrostat.simulate.results.tables import write_csv

        return write_csv(self, path)

    def to_pandas(self) -> Any:
        """A DataFrame with the index t and columns (quantity, name)."""
        from gyrostat.simulate.results.tables import to_pandas

        return to_pandas(self)

    def to_xarray(self) -> Any:
        """A Dataset with q over (t, coordinate) and v, a, tau over (t, rate)."""
        from gyrostat.simulate.results.tables import to_xarray

        return to_xarray(self)

    def to_parquet(self, path: str | os.PathLike[str]) -> Path:
        """A Parquet file with the columns of :meth:`to_csv`."""
        from gyrostat.simulate.results.tables import write_parquet

        return write_parquet(self, path)

    def to_mcap(self, path: str | os.PathLike[str]) -> Path:
        """An MCAP file for Foxglove and the like: joint states, places of all bodies, and events; quaternions are
        x, y, z, w."""
        from gyrostat.simulate.results.mcap import write_mcap

        return write_mcap(self, path)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else "no samples"
        c = self.counters
        return (
            f"<Result of '{self.model.name}': {span}, {len(self.t)} samples, {self.status}; {self.method}, {c.steps} "
            f"steps, {c.rhs_evaluations} evaluations, {c.wall_time:.3g} s, {len(self.events)} events>"
        )

    def _repr_html_(self) -> str:
        c = self.counters
        rows: list[tuple[str, str]] = [
            ("time", f"{self.t[0]:g} to {self.t[-1]:g} s, {len(self.t)} samples" if len(self.t) else "no samples"),
            ("status", f"{self.status}: {self.message}" if self.message else self.status),
            ("method", f"{self.method}, {c.steps} steps, {c.rejected} rejected, {c.rhs_evaluations} evaluations"),
            ("cost", f"{c.wall_time:.3g} s, {c.real_time_factor:.3g} times real time"),
            ("events", ", ".join(f"{e.name} at {e.t:.4g} s" for e in self.events[:8]) or "none"),
        ]
        if len(self.events) > 8:
            rows[-1] = ("events", f"{rows[-1][1]} and {len(self.events) - 8} more")
        return facts_html(f"Result of '{self.model.name}'", rows)
