"""External wrenches on the robots of a rollout: numbers, which may differ from robot to robot, functions of t, q, v,
and blocks, in a form that is recorded into the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.engine.tracing.record import record
from gyrostat.errors import NonFiniteError, ShapeError
from gyrostat.graph.network import kept_network
from gyrostat.simulate.plant.torque_source import TorqueSource
from gyrostat.simulate.plant.user_memory import LATE, UserMemory, probes
from gyrostat.simulate.plant.wrench_source import WrenchBlock, WrenchFunction, applied_at
from gyrostat.simulate.rollout.control_law import REMEMBERING, WHO, compilable
from gyrostat.spec.model import Model

Array = np.ndarray


class RolloutWrenches:
    """``places`` of the wrenches; ``inputs``: those that are numbers, (6,) or (N, 6), by the name of an input; the
    others are ``sources`` with states p (np,) and memory m (nm,) of their own."""

    def __init__(self, model: Model, wrenches: Any):
        self.model = model
        self.places, given = applied_at(kept_network(model), wrenches, WHO)
        self.inputs: dict[str, Array] = {}
        self.sources: list[TorqueSource | None] = []
        for place, w in zip(self.places, given, strict=True):
            source = None
            if callable(getattr(w, "output", None)):
                source = WrenchBlock(model, w, place.port)
            elif callable(w):
                source = WrenchFunction(model, w, place.port)
            else:
                self.inputs[f"wrench {len(self.sources)}"] = _numbers(w, place.port)
            self.sources.append(source)
        self.laws = [source for source in self.sources if source is not None]
        self.p0, self.m0 = (np.concatenate([np.zeros(0), *(getattr(x, n) for x in self.laws)]) for n in ("p0", "m0"))
        self.sample_times = {T for x in self.laws for T in x.sample_times}

    def __bool__(self) -> bool:
        return bool(self.places)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Inputs of the loop."""
        return dict.fromkeys(self.inputs, (6,))

    def _split(self, x: Array, name: str) -> list[Array]:
        ends = np.cumsum([len(getattr(law, name)) for law in self.laws])
        return [x[end - len(getattr(law, name)) : end] for law, end in zip(self.laws, ends, strict=True)]

    def evaluate(
        self, t: Any, q: Array, v: Array, p: Array, m: Array, x: Mapping[str, Any]
    ) -> tuple[list[Array], Array]:
        """The wrenches (6,) of one robot, and dp/dt."""
        states = zip(self.laws, self._split(p, "p0"), self._split(m, "m0"), strict=True)
        each = iter([compilable(law.told, law.evaluate, t, q, v, p_k, m_k) for law, p_k, m_k in states])
        wrenches: list[Array] = []
        rates: list[Array] = [np.zeros(0)]
        for k, source in enumerate(self.sources):
            w, rate = (x[f"wrench {k}"], np.zeros(0)) if source is None else next(each)
            wrenches.append(w)
            rates.append(rate)
        return wrenches, np.concatenate(rates)

    def update(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> Array:
        """The memory (nm,) after a sample."""
        states = zip(self.laws, self._split(p, "p0"), self._split(m, "m0"), strict=True)
        new = [
            np.asarray(law.block.update(t, {"q": q, "v": v}, p_k, m_k)) if isinstance(law, WrenchBlock) else m_k
            for law, p_k, m_k in states
        ]
        return np.concatenate([np.zeros(0), *new])

    def expect_no_memory(self) -> None:
        """Refuse functions and blocks that remember."""
        model, users = self.model, tuple(user for law in self.laws for user in law.users)
        shapes = {"t": (), "q": (model.nq,), "v": (model.nv,), "p": self.p0.shape, "m": self.m0.shape}
        told = self.laws[0].told if self.laws else "no wrench"

        def function(t: Any, q: Array, v: Array, p: Array, m: Array, **x: Any) -> Mapping[str, Any]:
            wrenches, rate = self.evaluate(t[()], q, v, p, m, x)
            return {"w": np.concatenate(wrenches), "rate": rate, "m": self.update(t[()], q, v, p, m)}

        memory = UserMemory(WHO, told, users, REMEMBERING)
        numbers = {name: np.zeros(6) for name in self.inputs}
        try:
            with np.errstate(all="ignore"):
                record(function, shapes | self.shapes, f"{model.name}_wrenches")
        except Exception:
            memory.recorded(failed=True)
            raise
        memory.recorded()
        with np.errstate(all="ignore"):
            memory.numbers(
                [
                    lambda x=x: np.concatenate(self.evaluate(*x, self.p0, self.m0, numbers)[0])
                    for x in probes(model, LATE[0])
                ]
            )


def _numbers(given: Any, port: str) -> Array:
    w = real_array(given, WHO, f"wrench at '{port}'")
    if w.ndim not in (1, 2) or w.shape[-1] != 6:
        raise ShapeError(
            f"{WHO}: wrench at '{port}' has shape {w.shape}, expected (6,) or (N, 6): torque, then force. "
            "Hint: one that changes is a function f(t, q, v)"
        )
    if not np.isfinite(w).all():
        raise NonFiniteError(f"{WHO}: wrench at '{port}' is not finite, got {w}")
    return w
