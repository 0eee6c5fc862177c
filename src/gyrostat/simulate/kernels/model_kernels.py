"""Machine code of a model alone, which stays with it: forward and inverse dynamics, derivatives, charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.constraint_set import ConstraintSet
from gyrostat.algorithms.constrained.loop_dynamics import constrained_accelerations
from gyrostat.algorithms.forward_dynamics import FORWARD
from gyrostat.algorithms.matrices.ltdl import factorise, inboard_rates
from gyrostat.algorithms.recursions.aba import aba
from gyrostat.algorithms.recursions.articulated_dynamics import sweep_articulated
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.inverse_dynamics_derivatives import rnea_derivatives
from gyrostat.algorithms.recursions.rne import no_loads, sweep_forces
from gyrostat.algorithms.recursions.sensitivity import uncovered
from gyrostat.configuration.chart import along, local_rates, moved
from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.tracing.derivative import pullback
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.replay import inlined
from gyrostat.graph.network import Network, network
from gyrostat.graph.rewrite import DEFAULT, RULES
from gyrostat.simulate.kernels import discrete_mechanics as discrete
from gyrostat.simulate.kernels import loop_programs
from gyrostat.solvers.dynamics.derivatives import forward_mode
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import HarmonicMotion, UniformGravity
from gyrostat.spec.model import Model

Array = np.ndarray
FEW = 10
"""Rates up to which accelerations are those of composite bodies and L^T D L: about as many operations as articulated
bodies, but fewer of them wait for each other (measured, one state, inertias regrouped: Panda 186 ns against 219; Talos
with 38 rates 1570 against 980)."""


def kept_kernels(
    keeper: Model,
    model: Model,
    net: Network,
    live: Mapping[str, tuple[int, ...]],
    sliding: ConstraintSet | None = None,
    forward: Any = None,
) -> ModelKernels:
    """Kernels of a model that stay with ``keeper``, the model object that a user has in hand."""
    sliding = ConstraintSet((), model.nv) if sliding is None else sliding
    kept, key = cached_on(keeper), ("kernels", tuple(live.items()), forward, len(sliding.on_speed))
    if key not in kept:
        kept[key] = ModelKernels(model, net, sliding, live, forward)
    return kept[key]


class ModelKernels:
    """Programs and machine code of ``model``; ``net`` its network, ``sliding`` the friction rows beside it, ``live``
    the shapes of properties that are inputs, by path. ``forward``: a block in the place of articulated bodies."""

    def __init__(
        self,
        model: Model,
        net: Network,
        sliding: ConstraintSet,
        live: Mapping[str, tuple[int, ...]] | None = None,
        forward: Any = None,
    ):
        self.model, self.net, self.sliding, self.live, self.block = model, net, sliding, dict(live or {}), forward
        self._codes: dict[tuple[str, int], KernelCode] = {}

    @property
    def live_size(self) -> int:
        return sum(int(np.prod(shape, dtype=int)) for shape in self.live.values())

    def code(self, name: str, lanes: int = 1) -> KernelCode:
        """Machine code of a program by its name here."""
        key = name, lanes
        known = self._codes.get(key)
        return self._codes.setdefault(key, KernelCode(getattr(self, name), lanes)) if known is None else known

    # ------------------------------------------------------------------ recording
    def _scene(self, t: Any, live: Array, regrouped: bool = False) -> tuple[Network, Setting]:
        """Network and setting for recorded values of the live properties. ``regrouped``: inertias as accelerations
        alone may have them (:func:`~gyrostat.graph.joint_rules.regroup_inertia`); in a field each body stays where it
        is."""
        given, context = self.named(live), self.model.context
        regrouped = regrouped and isinstance(context.gravity, UniformGravity)
        rules = RULES if regrouped else DEFAULT
        net = network(self.model, rules, live=given) if given or regrouped else self.net
        law = gravity(context.gravity, given.get("context.gravity"))
        return net, Setting(representation("body"), law, t if isinstance(context.base, HarmonicMotion) else 0.0)

    def _record(self, function: Callable[..., Mapping[str, Any]], third: str, name: str) -> Program:
        n, live, directions = self.model.nv, self.live_size, len(self.sliding.on_speed)
        shapes = {
            "t": (1,),
            "q": (self.model.nq,),
            "v": (n,),
            third: (n,),
            "directions": (directions,),
            "live": (live,),
        }
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_{name}")

    @cached_property
    def forward(self) -> Program:
        """a (nv,) of tau (nv,)."""

        def function(t: Array, q: Array, v: Array, tau: Array, directions: Array, live: Array) -> Mapping[str, Any]:
            net, on = self._scene(t[0], live, self.block is None)
            if self.block is not None:
                return {"a": self.block.compute(net, on, {"q": q, "v": v, "tau": tau}, no_loads)["a"]}
            if net.closures:
                efforts = tau + self.sliding.sliding_efforts(v, directions)
                return {"a": constrained_accelerations(net, on, q, v, efforts, no_loads, safe=True).a}
            algorithm = FORWARD["crba" if self.model.nv <= FEW else "aba"]
            return {"a": algorithm(net, on, q, v, tau + self.sliding.sliding_efforts(v, directions), no_loads)}

        return self._record(function, "tau", "forward")

    @cached_property
    def inverse(self) -> Program:
        """f (nv,) = rnea(q, v, a) less the efforts of sliding friction."""

        def function(t: Array, q: Array, v: Array, a: Array, directions: Array, live: Array) -> Mapping[str, Any]:
            net, on = self._scene(t[0], live)
            return {"f": sweep_forces(net, on, q, v, a)[0] - self.sliding.sliding_efforts(v, directions)}

        return self._record(function, "a", "inverse")

    @cached_property
    def slopes(self) -> Program:
        """Derivatives (nv, nv) of f along the rates, by v, and by a: M."""

        def function(t: Array, q: Array, v: Array, a: Array, directions: Array, live: Array) -> Mapping[str, Any]:
            net, on = self._scene(t[0], live)
            closed = not uncovered(net, on)  # the closed form holds not in fields, nor for components of others
            f_q, f_v, M = rnea_derivatives(net, on, q, v, a) if closed else forward_mode(net, on, q, v, a, no_loads)
            return {"f_q": f_q, "f_v": f_v - self.sliding.sliding_slopes(v, directions), "M": M}

        return self._record(function, "a", "slopes")

    @cached_property
    def mass(self) -> Program:
        """M (nv, nv)."""

        def function(t: Array, q: Array, live: Array) -> Mapping[str, Any]:
            net, on = self._scene(t[0], live)
            return {"M": composite_mass_matrix(net, on, q)}

        shapes = {"t": (1,), "q": (self.model.nq,), "live": (self.live_size,)}
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_mass")

    @cached_property
    def chart(self) -> Program:
        """q (nq,) at the local coordinates x (nv,) around q0, and dx/dt."""

        def function(q0: Array, x: Array, v: Array) -> Mapping[str, Any]:
            return {"q": moved(self.model, q0, x), "x_rate": local_rates(self.model, x, v)}

        n = self.model.nv
        return record(function, {"q0": (self.model.nq,), "x": (n,), "v": (n,)}, f"{self.model.name}_chart")

    @cached_property
    def retract(self) -> Program:
        """q (nq,) reached from q0 along d (nv,)."""

        def function(q0: Array, d: Array) -> Mapping[str, Any]:
            return {"q": moved(self.model, q0, along(self.model, d))}

        return record(function, {"q0": (self.model.nq,), "d": (self.model.nv,)}, f"{self.model.name}_retract")

    # ------------------------------------------------------------------ loops that are constraints
    def named(self, live: Array) -> dict[str, Any]:
        """Live properties by path, from their numbers one behind the other."""
        given: dict[str, Any] = {}
        start = 0
        for path, shape in self.live.items():
            size = int(np.prod(shape, dtype=int))
            given[path] = live[start : start + size].reshape(shape)
            start += size
        return given

    def scene(self, t: Any, live: Array) -> tuple[Network, Setting]:
        """Network and setting for recorded values of the live properties."""
        return self._scene(t, live)

    @cached_property
    def close(self) -> Program:
        """d (nv,), see :func:`~gyrostat.simulate.kernels.loop_programs.close`."""
        return loop_programs.close(self)

    @cached_property
    def closed_rates(self) -> Program:
        """v (nv,) without what opens loops."""
        return loop_programs.closed_rates(self)

    @cached_property
    def loop_rows(self) -> Program:
        """g (m,), J (m, nv), b (m,)."""
        return loop_programs.loop_rows(self)

    @cached_property
    def margins(self) -> Program:
        """Margins (k,) of loops in closed form, and their rates."""
        return loop_programs.margins(self)

    # ------------------------------------------------------------------ discrete mechanics
    @cached_property
    def momentum(self) -> Program:
        """p = M v and the forces g (nv,) that change it, M and its rate (nv, nv)."""

        def function(t: Array, q: Array, v: Array, directions: Array, live: Array) -> Mapping[str, Any]:
            net, on = self._scene(t[0], live)
            f = sweep_forces(net, on, q, v, np.zeros(len(v)))[0] - self.sliding.sliding_efforts(v, directions)
            return discrete.momentum(self.model, *discrete.matrices(net, on, q, v), f, v)._asdict()

        n, directions = self.model.nv, len(self.sliding.on_speed)
        shapes = {"t": (1,), "q": (self.model.nq,), "v": (n,), "directions": (directions,), "live": (self.live_size,)}
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_momentum")

    @cached_property
    def rates(self) -> Program:
        """v (nv,) of the momenta p (nv,)."""

        def function(t: Array, q: Array, p: Array, live: Array) -> Mapping[str, Any]:
            return {"v": discrete.rates(*self._scene(t[0], live), q, p)}

        shapes = {"t": (1,), "q": (self.model.nq,), "p": (self.model.nv,), "live": (self.live_size,)}
        return record(function, shapes, f"{self.model.name}_rates")

    @cached_property
    def carried(self) -> Program:
        """Momenta (nv,) at both ends of the displacement d (nv,)."""

        def function(d: Array, p: Array, half: Array) -> Mapping[str, Any]:
            p0, p1 = discrete.carried(self.model, d, p, half)
            return {"p0": p0, "p1": p1}

        n = self.model.nv
        return record(function, {"d": (n,), "p": (n,), "half": (n,)}, f"{self.model.name}_carried")

    @cached_property
    def arrival(self) -> Program:
        """Rate (nv,) of the displacement d (nv,) for the rates v (nv,) at its end."""

        def function(d: Array, v: Array) -> Mapping[str, Any]:
            return {"d_rate": discrete.arrival(self.model, d, v)}

        return record(function, {"d": (self.model.nv,), "v": (self.model.nv,)}, f"{self.model.name}_arrival")

    # ------------------------------------------------------------------ adjoints: weights of results to those of inputs
    @cached_property
    def forward_adjoint(self) -> Program:
        """Weights bar_tau, bar_q, bar_v, bar_live for the weights bar_a (nv,) of the accelerations a (nv,).

        From f(q, v, a, live) = tau follows da = M^-1 (dtau - df), so that

            bar_tau = M^-1 bar_a,   bar_x = -(df/dx)^T bar_tau   for x = q, v, live:

        one elimination of articulated bodies, and the reverse mode of inverse dynamics, which is half as long as that
        of forward dynamics. Components that have no row in the recursion may have equations of any kind: there it is
        the reverse mode of forward dynamics itself."""
        if all(aba.serves(c) for c in self.net.components):
            return self._by_inverse_dynamics()
        pulled = pullback(self.forward, ["a"], ["tau", "q", "v", "live"])

        def function(a: Array, bar_a: Array, **x: Array) -> Mapping[str, Any]:
            f = inlined(self.inverse, x["t"], x["q"], x["v"], a, x["directions"], x["live"])["f"]
            return inlined(pulled, x["t"], x["q"], x["v"], f, x["directions"], x["live"], bar_a)

        return self._record_adjoint(function)

    def _by_inverse_dynamics(self) -> Program:
        pulled = pullback(self.inverse, ["f"], ["q", "v", "live"])

        def function(a: Array, bar_a: Array, **x: Array) -> Mapping[str, Any]:
            net, on = self._scene(x["t"][0], x["live"])
            rest = np.zeros(len(bar_a))  # the first column has the bias forces, the others have none
            if len(bar_a) <= FEW:
                mu = factorise(inboard_rates(net), composite_mass_matrix(net, on, x["q"])).solve(bar_a)
            else:
                mu = sweep_articulated(net, on, x["q"], rest, np.stack([rest, bar_a], axis=1)).a[:, 1]
            return {"bar_tau": mu} | inlined(pulled, x["t"], x["q"], x["v"], a, x["directions"], x["live"], -mu)

        return self._record_adjoint(function)

    def _record_adjoint(self, function: Callable[..., Mapping[str, Any]]) -> Program:
        n, directions = self.model.nv, len(self.sliding.on_speed)
        shapes = {"t": (1,), "q": (self.model.nq,), "v": (n,), "a": (n,), "directions": (directions,)}
        shapes |= {"live": (self.live_size,), "bar_a": (n,)}
        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_forward_adjoint")

    @cached_property
    def chart_adjoint(self) -> Program:
        """bar_q0 (nq,), bar_x (nv,), bar_v (nv,) for the weights bar_q (nq,) and bar_x_rate (nv,) of the chart."""
        return pullback(self.chart, ["q", "x_rate"], ["q0", "x", "v"])

    @cached_property
    def retract_adjoint(self) -> Program:
        """bar_q0 (nq,), bar_d (nv,) for the weights bar_q (nq,)."""
        return pullback(self.retract, ["q"], ["q0", "d"])
