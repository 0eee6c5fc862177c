"""One step of a fixed-step method, recorded: forward dynamics, the controller, and the step on the manifold.

* ``rk4``: four runs of one program, a stage each. q' = T(q) v [coordinate_rates], v' = aba(q, v, tau); with the table
  (c, b, a) of the method and h = dt,

      s += b k,   x = x_0 + h a k,   and in the last stage x_0 = x = x_0 + h s,  s = 0.

  Quaternions are integrated as numbers and get their unit length at the end of the step; q' = q (x) (w, 0) / 2 keeps
  it, so the order stays four.
* ``semi-implicit``: v += h aba(q, v, tau), then q is moved by the new v for h, as ``gs.integrate`` does.

A digital controller is sampled at the beginning of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.configuration.chart import along, moved, unit
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.llvm.wide_loop import WideLoop
from gyrostat.engine.tracing.choose import where
from gyrostat.engine.tracing.record import record
from gyrostat.errors import StateError
from gyrostat.simulate.rollout.control_law import WHO, Law
from gyrostat.simulate.rollout.wrenches import RolloutWrenches
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.spatial.algebra import Array
from gyrostat.spec.context import MovingBase
from gyrostat.spec.model import Model

PHASES = {
    "rk4": np.array(  # c, b, a of the next stage, 1 in the last one, 1 in the first one
        [[0, 1 / 6, 1 / 2, 0, 1], [1 / 2, 1 / 3, 1 / 2, 0, 0], [1 / 2, 1 / 3, 1, 0, 0], [1, 1 / 6, 0, 1, 0]]
    ),
    "semi-implicit": np.array([[0.0, 1.0, 0.0, 1.0, 1.0]]),
}


class RolloutKernel:
    """The compiled loop of a model with one method and law; without a law tau is an input, constant.

    ``live``: paths of properties that are inputs."""

    def __init__(
        self,
        model: Model,
        method: str,
        law: Law | None,
        live: Sequence[str],
        wrenches: RolloutWrenches | None = None,
    ):
        if isinstance(model.context.base, MovingBase):
            raise StateError(
                f"{WHO}: the base of '{model.name}' moves by a Python function, which cannot be compiled. "
                "Hint: gs.HarmonicMotion can; gs.simulate takes any function"
            )
        wrenches = RolloutWrenches(model, None) if wrenches is None else wrenches
        self.model, self.method, self.law, self.wrenches = model, method, law, wrenches
        own = np.zeros(0)
        self.p0 = np.concatenate([own if law is None else law.p0, wrenches.p0])
        self.m0 = np.concatenate([own if law is None else law.m0, wrenches.m0])
        self.solver = ForwardDynamics(model, live=live)
        self.solver._expect_inertia()

    @property
    def live(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the live properties."""
        return {path: value.shape for path, value in self.solver._live.items()}

    @property
    def states(self) -> dict[str, int]:
        """Sizes of q, v and, if the law has such things, its states p and memory m."""
        sizes = {"q": self.model.nq, "v": self.model.nv}
        return sizes | {name: len(x) for name, x in (("p", self.p0), ("m", self.m0)) if len(x)}

    @cached_property
    def loop(self) -> WideLoop:
        """The machine code."""
        start: dict[str, str | None] = {name: name for name in self.states}
        if self.method == "rk4":
            for name in self.states.keys() - {"m"}:
                start |= {f"{name}_0": name, f"s_{name}": None}
        start = dict(sorted(start.items()))
        inputs = {name: (self.states[name.removesuffix("_0").removeprefix("s_")],) for name in start}
        inputs |= {"table": (5,), "step": (), "t0": (), "dt": (), "sample": ()}
        inputs |= self.live | self.wrenches.shapes | ({"tau": (self.model.nv,)} if self.law is None else self.law.gains)
        with np.errstate(all="ignore"):
            program = record(self._stage, inputs, f"{self.model.name}_{self.method}")
        return WideLoop(program, {f"{name}_next": name for name in start}, start, "table", "step")

    def _stage(self, **x: Any) -> Mapping[str, Any]:
        h, (c, b, a, last, first) = x["dt"][()], x["table"]
        t = x["t0"][()] + (x["step"][()] + c) * h
        q, v, p = x["q"], x["v"], x.get("p", np.zeros(0))
        m = self._memory(x, t, first)
        np_, nm = (0, 0) if self.law is None else (len(self.law.p0), len(self.law.m0))
        if self.law is None:
            tau, p_dot = x["tau"], p[:0]
        else:
            gains = {name: x[name] for name in self.law.gains}
            tau, p_dot = self.law.recorded(t, q, v, p[:np_], m[:nm], gains)
        applied, p_dot_applied = self.wrenches.evaluate(t, q, v, p[np_:], m[nm:], x)
        p_dot = np.concatenate([p_dot, p_dot_applied])
        net, on = self.solver._scene(x | {"t": np.array(t, dtype=object)})
        given = self.wrenches.loads(net, on, applied)
        v_dot = self.solver.compute(net, on, {"q": q, "v": v, "tau": tau}, given)["a"]
        outputs: dict[str, Any] = {"m_next": m} if "m" in x else {}
        if self.method == "semi-implicit":
            v = v + h * v_dot
            outputs |= {"q_next": moved(self.model, q, along(self.model, v * h)), "v_next": v}
            return outputs | ({"p_next": p + h * p_dot} if "p" in x else {})
        rates = {"q": coordinate_rates(self.model, q, v), "v": v_dot, "p": p_dot}
        for name in self.states.keys() - {"m"}:
            s = x[f"s_{name}"] + b * rates[name]
            base = x[f"{name}_0"] + (last * h) * s
            base = unit(self.model, base) if name == "q" else base
            outputs[f"{name}_next"] = base + (a * h) * rates[name]
            outputs[f"{name}_0_next"] = base
            outputs[f"s_{name}_next"] = s * (1.0 - last)
        return dict(sorted(outputs.items()))

    def _memory(self, x: Mapping[str, Any], t: Any, first: Any) -> Array:
        """What digital parts hold in this stage."""
        if "m" not in x:
            return np.zeros(0)
        law, q, v, p, m = self.law, x["q"], x["v"], x.get("p", np.zeros(0)), x["m"]
        np_, nm = (0, 0) if law is None else (len(law.p0), len(law.m0))
        own = law.update(t, q, v, p[:np_], m[:nm]) if law is not None and nm else m[:0]
        fresh = np.concatenate([own, self.wrenches.update(t, q, v, p[np_:], m[nm:])])
        now = first * where(x["step"][()] % x["sample"][()] == 0.0, 1.0, 0.0)
        return where(now > 0.0, fresh, x["m"])
