"""Inverse dynamics: the generalised forces, and the spatial force at every port, for a given motion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.rne import Loads, sweep_forces
from gyrostat.engine.kernel import Kernel, check_nonfinite, check_out, check_threads
from gyrostat.errors import FrameError, GyrostatError, NonFiniteError, RecordError, nearest
from gyrostat.graph.network import Network, network
from gyrostat.graph.rewrite import DEFAULT, RULES
from gyrostat.solvers.differentiable import Differentiable
from gyrostat.solvers.fast import install, usual
from gyrostat.solvers.state import coordinates, packed, rates, together
from gyrostat.solvers.wrench import Application, loads, read_wrenches
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


class InverseDynamics(Differentiable):
    """tau = M(q) a + C(q, v) + G(q) - J^T w, by recursive Newton-Euler [H04 (3.1), Table 3.8]. Cost O(n).

    Called with q (..., nq), v and a (..., nv), as arrays, lists or dicts by joint name; returns tau (..., nv) [N m,
    N], in the order of ``model.dofs``. ``wrenches`` maps ports to external wrenches (..., 6), see :class:`Wrench`.
    ``t`` is the time [s] where the base is driven. ``out`` takes the result, ``threads`` share a batch,
    ``nonfinite="return"`` lets NaN and infinity through."""

    name = "rnea"
    result = "tau"

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        algorithm: str = "rne",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "compile",
    ):
        if algorithm != "rne":
            raise GyrostatError(
                f"InverseDynamics: there is no algorithm '{algorithm}'. Hint: {nearest(algorithm, ['rne'])}"
            )
        super().__init__(model, representation, self._economical(model) if rules is None else rules, live, mode)
        self.algorithm = algorithm

    def options(self) -> dict[str, Any]:
        return super().options() | {"algorithm": self.algorithm}

    @staticmethod
    def _economical(model: Model) -> Iterable[str]:
        """All rules, regrouping too: torques do not depend on it. In a field each body must be where it is."""
        expect_model(model, "rnea")
        return RULES if np.any(gravity(model.context.gravity).acceleration) else DEFAULT

    def __call__(
        self,
        q: Any,
        v: Any,
        a: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Array:
        """tau for q, v, a."""
        plain = wrenches is None and t is None and out is None and usual(threads, nonfinite)
        if plain and isinstance(q, np.ndarray) and q.ndim in (1, 2) and self._fast():
            return self(q, v, a)  # by the builtin, now and from now on
        return self._general(q, v, a, wrenches, t=t, out=out, threads=threads, nonfinite=nonfinite)

    def _fast(self) -> bool:
        """Make single calls go straight into machine code, if that is possible."""
        if not self._compiled() or not isinstance(self.model.context.base, str):
            return False
        try:
            return install(self, self.main_kernel(), list(self._live.values()), self._general)
        except RecordError as error:
            self._fall_back(error)
            return False

    def _general(
        self,
        q: Any,
        v: Any,
        a: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> Array:
        if self._compiled():
            try:
                places, values = read_wrenches(self.network, wrenches, self.name)
                kernel = self._for_wrenches(tuple(places))
            except RecordError as error:
                self._fall_back(error)
            else:
                state = [packed(self.model, x, n, self.name) for x, n in ((q, "q"), (v, "v"), (a, "a"))]
                return kernel.call(
                    *state,
                    *values,
                    *self._base_inputs(t),
                    *self._live.values(),
                    out=None if out is None else {"tau": out},
                    threads=threads,
                    nonfinite=nonfinite,
                    explain=lambda: self.examine((q, v, a), nonfinite),
                )["tau"]
        check_threads(threads, self.name)
        check_nonfinite(nonfinite, self.name)
        return self._interpreted(q, v, a, wrenches, t, out, nonfinite)

    # ------------------------------------------------------------------ compiled
    def main_kernel(self) -> Kernel:
        return self._for_wrenches(())

    def _for_wrenches(self, places: tuple[Application, ...]) -> Kernel:
        """Code for wrenches at these places."""
        key = ("rne", places)
        if key in self._kernels:
            return self._kernels[key]

        def function(**x: Any) -> dict[str, Any]:
            net, on = self._scene(x)
            w = [x[f"wrench{k}"] for k in range(len(places))]
            return {"tau": sweep_forces(net, on, x["q"], x["v"], x["a"], loads(net, on, places, w))[0]}

        return self._kernel(key, function, self._inputs(places))

    def arguments(self, state: Sequence[Any], t: Any) -> list[Array]:
        """Inputs of the main program for q, v, a."""
        names = ("q", "v", "a")
        self.expect(state, names)
        arrays = [packed(self.model, x, n, self.name) for x, n in zip(state, names, strict=True)]
        return [*arrays, *self._base_inputs(t), *self._live.values()]

    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        """Raise what is wrong with a state, in the words of the model."""
        coordinates(self.model, state[0], self.name, nonfinite)
        for x, name in zip(state[1:], ("v", "a"), strict=False):
            rates(self.model, x, self.name, name, nonfinite)

    # ------------------------------------------------------------------ interpreted
    def _interpreted(self, q: Any, v: Any, a: Any, wrenches: Any, t: Any, out: Any, nonfinite: str) -> Array:
        places, shape, states = self._states(self.network, q, v, a, wrenches, t, nonfinite)
        if out is not None:
            check_out(out, (*shape, self.model.nv), self.name)
        tau = np.empty((len(states[0]), self.model.nv))
        with np.errstate(all="ignore"):  # what is not finite is found below
            for k, (q_k, v_k, a_k, t_k, *w_k) in enumerate(zip(*states, strict=True)):
                on = self.setting(t_k)
                tau[k], _, _ = sweep_forces(self.network, on, q_k, v_k, a_k, loads(self.network, on, places, w_k))
        result = (tau if nonfinite == "return" else self._finite(tau, shape)).reshape((*shape, self.model.nv))
        if out is None:
            return result
        out[...] = result
        return out

    def port_forces(
        self, q: Any, v: Any, a: Any, wrenches: Any = None, *, t: Any = None, ports: Iterable[str] | None = None
    ) -> dict[str, Array]:
        """Spatial force (..., 6) at ports, torque [N m] then force [N], in the port's own axes, about its origin.

        It is the cut force [KV (32)]: what the side of the base exerts on the far side through the port. All spatial
        ports of the specification by default, ``ports`` selects some. Nothing is merged for this: the forces inside
        rigid groups are there too."""
        whole = self._whole
        names = (
            list(whole.ports)
            if ports is None
            else [whole.port(x) for x in ([ports] if isinstance(ports, str) else ports)]
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
        _, shape, states = self._states(whole, q, v, a, wrenches, t)
        F = np.empty((len(states[0]), len(whole.ports), 6))
        for k, (q_k, v_k, a_k, t_k, *w_k) in enumerate(zip(*states, strict=True)):
            on = self.setting(t_k)
            F[k] = self._local_forces(whole, on, q_k, v_k, a_k, loads(whole, on, places, w_k))
        F = self._finite(F, shape).reshape((*shape, len(whole.ports), 6))
        return PortForces(whole, {name: F[..., whole.ports.index(name), :] for name in names})

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

        return self._kernel(("ports", places), function, self._inputs(places))

    def _inputs(self, places: tuple[Application, ...]) -> dict[str, tuple[int, ...]]:
        n = self.model.nv
        return {"q": (self.model.nq,), "v": (n,), "a": (n,)} | {f"wrench{k}": (6,) for k in range(len(places))}

    @cached_property
    def _whole(self) -> Network:
        return network(self.model, rules=())

    def _states(
        self, net: Network, q: Any, v: Any, a: Any, wrenches: Any, t: Any, nonfinite: str = "raise"
    ) -> tuple[list[Application], tuple[int, ...], list[Array]]:
        model = self.model
        places, values = read_wrenches(net, wrenches, self.name)
        shape, states = together(
            self.name,
            q=(coordinates(model, q, self.name, nonfinite), 1),
            v=(rates(model, v, self.name, "v", nonfinite), 1),
            a=(rates(model, a, self.name, "a", nonfinite), 1),
            t=(self.times(t), 0),
            **{f"wrench at '{name}'": (value, 1) for name, value in zip(wrenches or (), values, strict=True)},
        )
        return places, shape, states

    def _finite(self, result: Array, shape: tuple[int, ...]) -> Array:
        bad = np.argwhere(~np.isfinite(result))
        if len(bad):
            where = tuple(int(i) for i in np.unravel_index(bad[0][0], shape)) if shape else ()
            state = f" in state {where}" if where else ""
            raise NonFiniteError(
                f"{self.name}: the result{state} is not finite. Hint: the numbers of the state or model are too large"
            )
        return result


InverseDynamics._general.__qualname__ = "InverseDynamics"  # Python names it when arguments are missing
