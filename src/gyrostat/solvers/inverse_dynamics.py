"""Inverse dynamics: the generalised forces, and the spatial force at every port, for a given motion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.algorithms.rne import sweep_forces
from gyrostat.errors import GyrostatError, NonFiniteError, nearest
from gyrostat.graph.network import Network, network
from gyrostat.solvers.solver import Solver
from gyrostat.solvers.state import coordinates, rates, together
from gyrostat.solvers.wrench import Application, loads, read_wrenches
from gyrostat.spec.model import Model

Array = np.ndarray


class InverseDynamics(Solver):
    """tau = M(q) a + C(q, v) + G(q) - J^T w, by recursive Newton-Euler [H04 (3.1), Table 3.8]. Cost O(n).

    Called with q (..., nq), v and a (..., nv), as arrays, lists or dicts by joint name; returns tau (..., nv) [N m, N], in the order of
    ``model.dofs``. ``wrenches`` maps ports to external wrenches (..., 6), see :class:`Wrench`. ``t`` is the time [s] where the base is driven.
    """

    name = "rnea"

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        algorithm: str = "rne",
        rules: Iterable[str] | None = None,
    ):
        if algorithm != "rne":
            raise GyrostatError(f"InverseDynamics: there is no algorithm '{algorithm}'. Hint: {nearest(algorithm, ['rne'])}")
        super().__init__(model, representation, rules)
        self.algorithm = algorithm

    def __call__(self, q: Any, v: Any, a: Any, wrenches: Any = None, *, t: Any = None) -> Array:
        places, shape, states = self._states(self.network, q, v, a, wrenches, t)
        tau = np.empty((len(states[0]), self.model.nv))
        for k, (q_k, v_k, a_k, t_k, *w_k) in enumerate(zip(*states, strict=True)):
            on = self.setting(t_k)
            tau[k], _, _ = sweep_forces(self.network, on, q_k, v_k, a_k, loads(self.network, on, places, w_k))
        return self._finite(tau, shape).reshape((*shape, self.model.nv))

    def port_forces(
        self, q: Any, v: Any, a: Any, wrenches: Any = None, *, t: Any = None, ports: Iterable[str] | None = None
    ) -> dict[str, Array]:
        """Spatial force (..., 6) at ports, torque [N m] then force [N], in the port's own axes, about its origin.

        It is the cut force [KV (32)]: what the side of the base exerts on the far side through the port. All spatial ports of the
        specification by default, ``ports`` selects some. Nothing is merged for this: the forces inside rigid groups are there too.
        """
        whole = self._whole
        names = [whole.port(name) for name in ports] if ports is not None else list(whole.ports)
        number = {name: k for k, name in enumerate(whole.ports)}
        places, shape, states = self._states(whole, q, v, a, wrenches, t)
        found = {name: np.empty((len(states[0]), 6)) for name in names}
        for k, (q_k, v_k, a_k, t_k, *w_k) in enumerate(zip(*states, strict=True)):
            on = self.setting(t_k)
            _, forces, motions = sweep_forces(whole, on, q_k, v_k, a_k, loads(whole, on, places, w_k))
            for name in names:
                at = number[name]
                found[name][k] = on.representation.force_local(motions[at].pose, forces[at])
        return {name: self._finite(f, shape).reshape((*shape, 6)) for name, f in found.items()}

    @property
    def _whole(self) -> Network:
        if not hasattr(self, "_unmerged"):
            self._unmerged = network(self.model, rules=())
        return self._unmerged

    def _states(
        self, net: Network, q: Any, v: Any, a: Any, wrenches: Any, t: Any
    ) -> tuple[list[Application], tuple[int, ...], list[Array]]:
        model = self.model
        places, values = read_wrenches(net, wrenches, self.name)
        shape, states = together(
            self.name,
            q=(coordinates(model, q, self.name), 1),
            v=(rates(model, v, self.name, "v"), 1),
            a=(rates(model, a, self.name, "a"), 1),
            t=(self.times(t), 0),
            **{f"wrench at '{place.port}'": (value, 1) for place, value in zip(places, values, strict=True)},
        )
        return places, shape, states

    def _finite(self, result: Array, shape: tuple[int, ...]) -> Array:
        bad = np.argwhere(~np.isfinite(result))
        if len(bad):
            where = tuple(int(i) for i in np.unravel_index(bad[0][0], shape)) if shape else ()
            state = f" in state {where}" if where else ""
            raise NonFiniteError(f"{self.name}: the result{state} is not finite. Hint: the numbers of the state or model are too large")
        return result
