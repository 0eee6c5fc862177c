"""A model, with what drives it, as the equations of an FMU.

States are q, v and those of the law. A unit quaternion e is four states with e' = e (x) (w, 0) / 2, linear in e, hence
without drift of its length; everything else sees e / |e|. What an FMU cannot hold is refused by name."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.replay import inlined
from gyrostat.errors import PerformanceWarning, StateError, clipped
from gyrostat.fmi.parameters import asked_parameters, entries
from gyrostat.fmi.system import System, Variable
from gyrostat.fmi.units import property_unit, state_units
from gyrostat.graph.network import Network
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.rigid_contacts import rigid_candidates
from gyrostat.simulate.plant.wrench_source import PARTS, generalised_forces
from gyrostat.simulate.run.simulator import Simulator
from gyrostat.solvers.machinery.wrench import Application, pose_of
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "export_fmu"
QUANTITIES = ("q", "v", "a", "tau")
AXES = ("x", "y", "z")


def model_system(
    model: Model,
    torque: Any,
    q0: Any,
    v0: Any,
    inputs: Any,
    outputs: Any,
    parameters: Any,
    wrenches: Any,
    t: float,
    dt: float = 0.0,
) -> System:
    """The equations of a model; arguments are those of ``export_fmu``. ``dt`` [s] of equal steps, if there are any."""
    given = asked_parameters(model, torque, parameters, WHO)
    if rigid_candidates(model):
        raise StateError(
            f"{WHO}: rigid contacts of '{model.name}' open and close by events, which an FMU of ours does not have. "
            "Hint: give its contacts a stiffness"
        )
    how: dict[str, Any] = {"method": "rk4", "dt": dt} if dt else {"method": "dopri5"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)  # what is slow there is refused here
        sim = Simulator(model, torque, q0, v0, t=t, parameters=given, wrenches=wrenches, **how)
    plant, numbers = sim._run.plant, sim._numbers
    _expect_holdable(plant, model, torque, numbers, sim._task.needs_numbers)
    return _ModelSystem(plant, model, numbers, sim.state, inputs, outputs, torque is not None).system()


def _expect_holdable(plant: Plant, model: Model, torque: Any, numbers: Parameters, reads_numbers: bool) -> None:
    """Refuse, by name, what has no place in an FMU."""
    if plant.loops is not None:
        raise StateError(
            f"{WHO}: loops of '{model.name}' are constraints, to which states are projected; an FMU cannot do that. "
            "Hint: loops='auto' or 'minimal', where they have closed forms"
        )
    why = plant.why_not_compiled or plant.model_in_python
    if why:
        raise StateError(
            f"{WHO}: {plant.source.told} runs in Python: {why}. Hint: plain NumPy without 'if' is recorded"
        )
    if len(plant.constraints):
        raise StateError(
            f"{WHO}: '{plant.constraints.names[0]}' acts and leaves by events (stick and slip), which an FMU of ours "
            "does not have. Hint: Friction(smooth=0.01)"
        )
    if len(plant.source.sample_times) > 1 or (plant.source.sample_times and plant.recording.update is None):
        raise StateError(
            f"{WHO}: {plant.source.told} is sampled in Python, or with several sample times "
            f"{plant.source.sample_times}. Hint: one sample time, blocks of gs.blocks"
        )
    if numbers.live and reads_numbers and not _alone(torque, model, plant):
        raise StateError(
            f"{WHO}: '{next(iter(numbers.live))}' is read by blocks or wrenches, too, which keep its value of now. "
            "Hint: leave it out of parameters, or export without them"
        )


def _alone(torque: Any, model: Model, plant: Plant) -> bool:
    """Whether nobody but the equations of motion reads properties: no wrenches, and a block that knows no robot."""
    if plant.places:
        return False
    within = getattr(torque, "within", None)
    return within is None or within(model) is torque


class _ModelSystem:
    """Names, and equations to record."""

    def __init__(
        self, plant: Plant, model: Model, numbers: Parameters, start: Any, inputs: Any, outputs: Any, driven: bool
    ):
        self.plant, self.model, self.numbers, self.start = plant, model, numbers, start
        self.units = state_units(model)
        self.gains = sum(x.size for x in numbers.gains.values())
        self.efforts, self.ports = self._inputs(inputs, driven)
        self.quantities, self.frames = self._outputs(outputs, driven)
        at = model.layout.quaternions
        self.quaternions = tuple(int(row[0]) for row in at)

    # ------------------------------------------------------------------ names
    def _inputs(self, given: Any, driven: bool) -> tuple[tuple[int, ...], tuple[Application, ...]]:
        """Rates whose efforts are inputs, and ports whose wrenches are."""
        dofs = list(self.model.dofs)
        if given is None:
            return (() if driven else tuple(range(len(dofs)))), ()
        efforts: list[int] = []
        ports: list[Application] = []
        for name in _names(given, "inputs"):
            if name in dofs:
                efforts.append(dofs.index(name))
            elif name in self.model.layout.of:
                places = self.model.layout.of[name].v
                efforts += range(places.start, places.stop)
            else:
                ports.append(Application(self.plant.network.port(name), "local"))
        return tuple(dict.fromkeys(efforts)), tuple(dict.fromkeys(ports))

    def _outputs(self, given: Any, driven: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Quantities, and frames whose positions are outputs."""
        if given is None:
            return QUANTITIES if driven else QUANTITIES[:3], ()
        names = _names(given, "outputs")
        quantities = tuple(name for name in QUANTITIES if name in names)
        ports = [self.plant.network.port(name) for name in names if name not in quantities]
        return quantities, tuple(dict.fromkeys(ports))

    def system(self) -> System:
        """Everything."""
        plant, model, units = self.plant, self.model, self.units
        told = {name: name in self.quantities for name in QUANTITIES}
        q, v = model.coordinates, model.dofs
        sizes, p0 = plant.source.sizes.tolist(), self.start.p.tolist()
        states = [
            Variable(f"q[{n}]", units["q"][k], x, "coordinate", output=told["q"])
            for k, (n, x) in enumerate(zip(q, self.start.q.tolist(), strict=True))
        ]
        states += [
            Variable(f"v[{n}]", units["v"][k], x, "rate", output=told["v"])
            for k, (n, x) in enumerate(zip(v, self.start.v.tolist(), strict=True))
        ]
        states += [
            Variable(f"p[{k}]", "", x, "state of the law", nominal=size)
            for k, (x, size) in enumerate(zip(p0, sizes, strict=True))
        ]
        rates = [Variable(f"der(q[{n}])", _rate(units["q"][k])) for k, n in enumerate(q)]
        rates += [
            Variable(f"a[{n}]", units["a"][k], description="acceleration", output=told["a"]) for k, n in enumerate(v)
        ]
        rates += [Variable(f"der(p[{k}])") for k in range(len(p0))]
        inputs = [Variable(f"tau_in[{v[k]}]", units["tau"][k], 0.0, "effort from outside") for k in self.efforts]
        inputs += [
            Variable(f"wrench_in[{at.port}].{part}", "N.m" if part.startswith("torque") else "N", 0.0, "wrench")
            for at in self.ports
            for part in PARTS
        ]
        outputs = [Variable(f"tau[{n}]", units["tau"][k], description="effort") for k, n in enumerate(v) if told["tau"]]
        outputs += [
            Variable(f"position[{port}].{axis}", "m", description="position in the world")
            for port in self.frames
            for axis in AXES
        ]
        parameters = [
            Variable(name, property_unit(path), x, "gain" if path in self.numbers.gains else "property")
            for path, name, x in entries(self.numbers)
        ]
        memory = tuple(plant.source.m0.tolist())  # that of the plant has been sampled at the start
        times = plant.source.sample_times
        described = f"{model.name}: {model.nv} degrees of freedom"
        return System(
            model.name, described, tuple(states), tuple(rates), tuple(inputs), tuple(parameters), tuple(outputs),
            memory, times[0] if times else 0.0, self.equations, self.sample if len(memory) else None, self.quaternions,
        )  # fmt: skip

    # ------------------------------------------------------------------ equations
    def _parts(self, x: Array, p: Array) -> tuple[Array, Array, Array, Array, Array]:
        """q with unit quaternions, v, states of the law, its parameters, properties."""
        nq, nv = self.model.nq, self.model.nv
        q = x[:nq].copy()
        for at in self.quaternions:
            e = q[at : at + 4]
            q[at : at + 4] = e / np.sqrt(e @ e)
        law = np.concatenate([p[: self.gains], np.zeros(nv)])
        return q, x[nq : nq + nv], x[nq + nv :], law, p[self.gains :]

    def equations(self, t: Any, x: Array, m: Array, u: Array, p: Array) -> Array:
        """(q', v', p', outputs)."""
        plant, model, time = self.plant, self.model, np.array([t])
        q, v, own, law, live = self._parts(x, p)
        source = inlined(plant.recording.program, time, q, v, own, m, law)
        tau = source["tau"] + self._from_outside(t, q, u, live)
        none = np.zeros(len(plant.active.directions))
        a = inlined(plant.kernels.forward, time, q, v, tau, none, live)["a"]
        q_rate = coordinate_rates(model, q, v).astype(object)
        for at in self.quaternions:  # linear in the quaternion as it is
            e = x[at : at + 4]
            q_rate[at : at + 4] = np.sqrt(e @ e) * q_rate[at : at + 4]
        shown = [tau] if "tau" in self.quantities else []
        return np.concatenate([q_rate, a, source["p_rate"], *shown, *self._positions(t, q, live)])

    def sample(self, t: Any, x: Array, m: Array, u: Array, p: Array) -> Array:
        """m after a sample; inputs do not reach it."""
        update: Any = self.plant.recording.update
        q, v, own, law, _ = self._parts(x, p)
        return inlined(update, np.array([t]), q, v, own, m, law)["m"]

    def _from_outside(self, t: Any, q: Array, u: Array, live: Array) -> Array:
        """Efforts (nv,) of the inputs, wrenches included."""
        tau = np.zeros(self.model.nv, dtype=object)
        tau[list(self.efforts)] = u[: len(self.efforts)]
        if self.ports:
            net, on = self._scene(t, live)
            tau = tau + generalised_forces(net, on, q, self.ports, u[len(self.efforts) :])
        return tau

    def _positions(self, t: Any, q: Array, live: Array) -> list[Array]:
        """Positions (3,) of frames in the world."""
        if not self.frames:
            return []
        net, on = self._scene(t, live)
        still = np.zeros(self.model.nv)
        motions = sweep_motion(net, on, q, still, still)
        return [np.asarray(pose_of(net, motions, port).p) for port in self.frames]

    def _scene(self, t: Any, live: Array) -> tuple[Network, Any]:
        """In axes of the world."""
        net, on = self.plant.kernels.scene(t, live)
        absolute = type(on)(representation("absolute"), gravity(self.model.context.gravity), on.t)
        return net, absolute


def _rate(unit: str) -> str:
    return {"rad": "rad/s", "m": "m/s", "1": "1/s"}.get(unit, "")


def _names(given: Any, what: str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else None
    if names is None or not all(isinstance(name, str) for name in names):
        raise StateError(f"{WHO}: {what} must be names, got {clipped(given)}. Hint: {what}=['hand.tip']")
    return names
