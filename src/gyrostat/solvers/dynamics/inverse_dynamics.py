"""Inverse dynamics: the generalised forces, and the spatial force at every port, for a given motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import cut_loads, cut_wrenches, loop_equations
from gyrostat.algorithms.matrices.single_joint_forces import single_joint_forces
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.configuration.packing import names_of, packed, real_array
from gyrostat.engine.kernel import Kernel
from gyrostat.errors import FrameError, RecordError, ShapeError, StateError, nearest
from gyrostat.graph.loops.explain import refuse_unsolved
from gyrostat.graph.network import Network, network
from gyrostat.graph.rewrite import DEFAULT, RULES
from gyrostat.solvers.dynamics.actuator_efforts import loop_multipliers
from gyrostat.solvers.dynamics.solved_loop_forces import lifted, tree_multipliers, tree_state
from gyrostat.solvers.machinery.call_signatures import of_acceleration
from gyrostat.solvers.machinery.interpreter import expect_finite, read_states
from gyrostat.solvers.machinery.loop_treatment import refuse_open
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.solvers.machinery.wrench import Application, loads, read_wrenches
from gyrostat.spatial.gravity import gravity
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray


class PortForces(dict[str, Array]):
    """Forces by port; an entity's name alone stands for its origin, frame or port b."""

    def __init__(self, net: Network, forces: dict[str, Array]):
        super().__init__(forces)
        self._network = net

    def __missing__(self, name: str) -> Array:
        full = self._network.port(name)
        if full not in self:
            raise FrameError(f"port '{full}' was not asked for. Hint: {nearest(full, self)}")
        return self[full]


class InverseDynamics(StateSolver):
    """tau = M(q) a + C(q, v) + G(q) - J^T w. Cost O(n).

    ``algorithm``: ``"rne"``, recursive Newton-Euler [H04 (3.1), Table 3.8], or ``"newton-euler"``, every torque by
    itself [G13 (12)]. ``only``: names of rates (or joints) whose forces are wanted, in that order; what the others
    need is not computed.

    Called with q (..., nq), v and a (..., nv), as arrays, lists or dicts by joint name; returns tau (..., nv) [N m,
    N], in the order of ``model.dofs``. ``wrenches`` maps ports to external wrenches (..., 6), see :class:`Wrench`.
    ``t`` is the time [s] where the base is driven. ``out`` takes the result, ``threads`` share a batch,
    ``nonfinite="return"`` lets NaN and infinity through."""

    loops = "closed"
    name = "rnea"
    state = ("q", "v", "a")
    __call__ = of_acceleration
    result = "tau"
    takes_wrenches = True
    algorithms = ("rne", "newton-euler")

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        algorithm: str = "rne",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
        only: Sequence[str] | None = None,
    ):
        expect_model(model, self.name)
        self.algorithm = algorithm
        super().__init__(
            model, representation, self._rules_for(model) if rules is None else rules, live, mode, algorithm
        )
        self.only = None if only is None else names_of(only, self.name, "only")
        self.rates = chosen_rates(model, self.only, self.name)
        if only is not None:
            self.rate_axes = (("tau", ()),)

    def options(self) -> dict[str, Any]:
        return super().options() | {"only": self.only}

    def _usual_rules(self) -> Iterable[str]:
        return self._rules_for(self.model)

    def _rules_for(self, model: Model) -> Iterable[str]:
        return economical_rules(model) if self.algorithm == "rne" else DEFAULT

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, a = x["q"], x["v"], x["a"]
        if self.algorithm == "newton-euler":
            return {"tau": single_joint_forces(net, on, q, v, a, self.rates, given)}
        return {"tau": sweep_forces(net, on, q, v, a, given)[0][list(self.rates)]}

    def port_forces(
        self,
        q: Any,
        v: Any,
        a: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        ports: Iterable[str] | None = None,
        multipliers: Any = None,
    ) -> dict[str, Array]:
        """Spatial force (..., 6) at ports, torque [N m] then force [N], in the port's own axes, about its origin.

        It is the cut force [KV (32)]: what the side of the base exerts on the far side through the port. All spatial
        ports of the specification by default, ``ports`` selects some. Nothing is merged for this: the forces inside
        rigid groups are there too.

        Where loops stay constraints, they depend on what closes these: on ``multipliers`` (..., m) as
        :meth:`ForwardDynamics.multipliers` gives them; by default on those with which the actuated joints alone move
        the robot so (:func:`~gyrostat.solvers.dynamics.actuator_efforts.actuator_efforts`). The ports a and b of a
        joint or rod that was cut have the force which the side of a exerts on that of b. The same holds in loops that
        are solved in closed form, where joints whose coordinates are kept count as actuated if no others can move the
        robot."""
        plan = self.model.layout.plan
        if plan is not None and plan.solved:
            if multipliers is not None:
                raise StateError(
                    f"{self.name}: loops of '{self.model.name}' are solved in closed form, and have forces that no "
                    "multipliers tell. Hint: leave them out, or loops='constraints'"
                )
            return self.solved_port_forces(plan.tree, q, v, a, wrenches, t, ports)
        if self.network.closures:
            return self._loop_port_forces(q, v, a, wrenches, t, ports, multipliers)
        if multipliers is not None:
            raise StateError(f"{self.name}: '{self.model.name}' has no loops with multipliers. Hint: leave them out")
        whole = self._whole
        names = (
            list(whole.ports)
            if ports is None
            else [whole.port(x) for x in ([ports] if isinstance(ports, str | int) else ports)]
        )
        places, values = read_wrenches(whole, wrenches, self.name)
        if self._compiled():
            try:
                kernel = self._for_ports(tuple(places))
            except RecordError as error:
                self._fall_back(error)
            else:
                state = [packed(self.model, x, n, self.name) for x, n in ((q, "q"), (v, "v"), (a, "a"))]
                inputs = (*state, *values, *self._base_inputs(t), *self._live.values())
                F = kernel.call(*inputs, explain=lambda: self.examine((q, v, a)))["F"]
                return PortForces(whole, {name: F[..., whole.ports.index(name), :] for name in names})
        _, shape, states = read_states(self, whole, (q, v, a), wrenches, t)
        F = np.empty((len(states[0]), len(whole.ports), 6))
        for k, (q_k, v_k, a_k, t_k, *w_k) in enumerate(zip(*states, strict=True)):
            on = self.setting(t_k)
            F[k] = self._local_forces(whole, on, q_k, v_k, a_k, loads(whole, on, places, w_k))
        F = expect_finite(F.reshape((*shape, len(whole.ports), 6)), shape, self.name, "force")
        return PortForces(whole, {name: F[..., whole.ports.index(name), :] for name in names})

    def solved_port_forces(
        self, tree: Model, q: Any, v: Any, a: Any, wrenches: Any, t: Any, ports: Iterable[str] | None, tau: Any = None
    ) -> dict[str, Array]:
        """Forces at ports of a robot with solved loops: by the coordinates of its whole tree. ``tau`` (..., nv): what
        the joints exert whose coordinates are kept, if that is known."""
        if self._live:
            tree = tree.replace({path: np.asarray(x).tolist() for path, x in self._live.items()})
        solver = InverseDynamics(tree, self.representation, mode=self.mode)
        places, shape, states = read_states(self, self.network, (q, v, a), wrenches, t)
        rows = [
            tree_state(self.network, tree, *(np.asarray(x, dtype=float) for x in row[:3]))
            for row in zip(*states, strict=True)
        ]
        given = None if tau is None else np.broadcast_to(tau, (*shape, self.model.nv)).reshape(-1, self.model.nv)
        refuse_unsolved(self.network, np.array(states[0]), self.name)
        f = []
        for k, (row, (_, _, _, t_k, *w_k)) in enumerate(zip(rows, zip(*states, strict=True), strict=True)):
            on = solver.setting(t_k)
            needed = sweep_forces(solver.network, on, row.q, row.v, row.a, loads(solver.network, on, places, w_k))[0]
            J = np.asarray(loop_equations(solver.network, row.q).J, dtype=float)
            exerted = None if given is None else lifted(self.model, tree, given[k])
            f.append(tree_multipliers(tree, J, row, np.asarray(needed, dtype=float), exerted))
        q, v, a = (np.array([getattr(row, key) for row in rows]).reshape(*shape, -1) for key in "qva")
        return solver.port_forces(q, v, a, wrenches, t=t, ports=ports, multipliers=np.array(f).reshape(*shape, -1))

    def _loop_port_forces(
        self, q: Any, v: Any, a: Any, wrenches: Any, t: Any, ports: Iterable[str] | None, multipliers: Any
    ) -> dict[str, Array]:
        """Forces at all ports with those that keep loops closed, one state after the other."""
        whole = self._whole
        places, shape, states = read_states(self, whole, (q, v, a), wrenches, t)
        refuse_open(self.network, np.asarray(self._read(q, "q", "raise")), self.name)
        known = None if multipliers is None else real_array(multipliers, self.name, "multipliers")
        count = sum(len(closure.equations) for closure in whole.closures)
        if known is not None and known.shape != (*shape, count):
            raise ShapeError(f"{self.name}: multipliers have shape {known.shape}, expected {(*shape, count)}")
        closing = closing_ports(whole)
        every = [*whole.ports, *closing]
        names = every if ports is None else [self._port(x) for x in ([ports] if isinstance(ports, str) else ports)]
        F = np.empty((len(states[0]), len(every), 6))
        for k, (q_k, v_k, a_k, t_k, *w_k) in enumerate(zip(*states, strict=True)):
            on = self.setting(t_k)
            given = loads(whole, on, places, w_k)
            if known is None:
                tau = sweep_forces(self.network, on, q_k, v_k, a_k, loads(self.network, on, places, w_k))[0]
                f = loop_multipliers(self.model, q_k, np.asarray(tau, dtype=float))
            else:
                f = known.reshape((-1, count))[k]
            F[k, : len(whole.ports)] = self._local_forces(whole, on, q_k, v_k, a_k, cut_loads(whole, on, q_k, f, given))
            for i, wrench in enumerate(cut_wrenches(whole, q_k, f)):
                for port, w in ((0, -wrench.on_a), (1, wrench.on_b)):
                    if (i, port) in closing.values():
                        F[k, len(whole.ports) + list(closing.values()).index((i, port))] = w
        F = expect_finite(F.reshape((*shape, len(every), 6)), shape, self.name, "force")
        return PortForces(whole, {name: F[..., every.index(name), :] for name in names})

    def _port(self, name: str) -> str:
        """The full name of a port, those of joints and rods that close loops too."""
        closing = closing_ports(self._whole)
        return name if name in closing else f"{name}.b" if f"{name}.b" in closing else self._whole.port(name)

    @staticmethod
    def _local_forces(net: Network, on: Setting, q: Array, v: Array, a: Array, given: Loads) -> Array:
        """Forces at all ports, each in its own axes."""
        _, forces, motions = sweep_forces(net, on, q, v, a, given)
        return np.array([on.representation.force_local(motions[k].pose, forces[k]) for k in range(len(net.ports))])

    def _for_ports(self, places: tuple[Application, ...]) -> Kernel:
        """Code for the forces at all ports, with wrenches at these places."""

        def function(**x: Any) -> dict[str, Any]:
            _, on = self._scene(x)
            net = network(self.model, (), live={path: x[path] for path in self.live})
            w = [x[f"wrench{k}"] for k in range(len(places))]
            return {"F": self._local_forces(net, on, x["q"], x["v"], x["a"], loads(net, on, places, w))}

        return self._kernel(
            ("ports", places), function, self.inputs() | {f"wrench{k}": (6,) for k in range(len(places))}
        )

    @cached_property
    def _whole(self) -> Network:
        return network(self.model, rules=())


def closing_ports(net: Network) -> dict[str, tuple[int, int]]:
    """Ports of joints and rods that close loops and are not in the tree: number of the loop, and 0 for a, 1 for b (of a
    wheel that rolls: ground, wheel)."""
    return {
        f"{closure.loop.closer}.{port.name}": (i, side)
        for i, closure in enumerate(net.closures)
        if closure.loop.closer is not None
        for side, port in enumerate(net.model.wiring.entities[closure.loop.closer].ports[:2])
    }


def economical_rules(model: Model) -> Iterable[str]:
    """All rules, regrouping too: torques do not depend on it. In a field each body must be where it is."""
    return RULES if np.any(gravity(model.context.gravity).acceleration) else DEFAULT


def chosen_rates(model: Model, only: Sequence[str] | None, who: str) -> tuple[int, ...]:
    """Numbers of rates by the names of rates or joints; all by default."""
    if only is None:
        return tuple(range(model.nv))
    rates: list[int] = []
    for name in only:
        joints = [k for k, rate in enumerate(model.dofs) if rate == name or rate.startswith(f"{name}.")]
        if not joints:
            raise StateError(f"{who}: only names '{name}', which is no rate. Hint: {nearest(str(name), model.dofs)}")
        rates += joints
    twice = [model.dofs[k] for k in rates if rates.count(k) > 1]
    if twice:
        raise StateError(f"{who}: only names '{twice[0]}' twice. Hint: name every rate once")
    return tuple(rates)
