"""What drives the robots of a rollout as programs: the controller's efforts and the wrenches' J^T w together, and what
digital parts hold after a sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.engine.tracing.lifted_constants import Lifted, lifted_constants
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.graph.network import kept_network, network
from gyrostat.simulate.plant.trusted_laws import known, made_of, trust, trusted
from gyrostat.simulate.plant.wrench_source import generalised_forces, setting
from gyrostat.simulate.rollout.control_law import Law, parts
from gyrostat.simulate.rollout.wrenches import RolloutWrenches
from gyrostat.spec.model import Model

Array = np.ndarray
Shapes = Mapping[str, tuple[int, ...]]


class RolloutSource:
    """Of a law (None: a constant effort ``tau``) and wrenches. ``slots``: what may differ from robot to robot, in the
    order of the input ``parameters``: gains or tau, wrenches, and live properties where wrenches act."""

    def __init__(self, model: Model, law: Law | None, wrenches: RolloutWrenches, live: Shapes):
        self.model, self.law, self.wrenches, self.live = model, law, wrenches, dict(live)
        self.p0 = wrenches.p0 if law is None else np.concatenate([law.p0, wrenches.p0])
        self.m0 = wrenches.m0 if law is None else np.concatenate([law.m0, wrenches.m0])
        own: Shapes = {"tau": (model.nv,)} if law is None else law.gains
        self.slots = {**own, **wrenches.shapes, **(self.live if wrenches else {})}

    @property
    def size(self) -> int:
        """Of the parameters."""
        return sum(math.prod(shape) for shape in self.slots.values())

    # ------------------------------------------------------------------ programs
    @cached_property
    def program(self) -> Program:
        """tau (nv,) and p_rate (np,), of t (1,), q, v, p, m, parameters."""
        if self.wrenches:
            return self._record(self._efforts, "rollout")
        return _constant(self.model).program if self.law is None else self.law.program

    @cached_property
    def lifted(self) -> Lifted:
        """The program with its constants as a further input."""
        if self.law is None and not self.wrenches:
            return _constant(self.model)
        return lifted_constants(self.program)

    @cached_property
    def update(self) -> Lifted | None:
        """m (nm,) after a sample, of the same inputs; None where nothing is sampled."""
        if not len(self.m0):
            return None
        return lifted_constants(self._record(self._memory, "rollout_update"))

    def _record(self, function: Any, name: str) -> Program:
        model = self.model
        shapes = {"t": (1,), "q": (model.nq,), "v": (model.nv,), "p": self.p0.shape, "m": self.m0.shape}
        with np.errstate(all="ignore"):
            return record(function, shapes | {"parameters": (self.size,)}, f"{model.name}_{name}")

    def _efforts(self, t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
        x, law = parts(parameters, self.slots), self.law
        np_, nm = (0, 0) if law is None else (len(law.p0), len(law.m0))
        tau, rate = (x["tau"], p[:0]) if law is None else law.recorded(t[0], q, v, p[:np_], m[:nm], x)
        wrenches, further = self.wrenches.evaluate(t[0], q, v, p[np_:], m[nm:], x)
        net = network(self.model, live={name: x[name] for name in self.live}) if self.live else kept_network(self.model)
        W = np.concatenate(wrenches)
        tau = tau + generalised_forces(net, setting(self.model, t[0]), q, self.wrenches.places, W)
        return {"tau": tau, "p_rate": np.concatenate([rate, further]), "guard": W}

    def _memory(self, t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
        law = self.law
        np_, nm = (0, 0) if law is None else (len(law.p0), len(law.m0))
        own = law.update(t[0], q, v, p[:np_], m[:nm]) if law is not None and nm else m[:0]
        return {"m": np.concatenate([own, self.wrenches.update(t[0], q, v, p[np_:], m[nm:])])}

    # ------------------------------------------------------------------ trust
    def looked_at(self) -> RolloutSource:
        """Refuse functions that remember, or that do not do on numbers what was recorded; those that were looked at
        before are trusted."""
        law, wrenches = self.law, self.wrenches
        users = (() if law is None else law.users) + tuple(user for x in wrenches.laws for user in x.users)
        if not users:
            return self
        code = None if len(self.m0) else made_of(users)
        if known(code) and trusted(code, self.lifted.program):
            return self
        if law is not None:
            law.recorded_safely()
        if wrenches.laws:
            wrenches.expect_no_memory()
        seen = cached_on(self.model).setdefault("rollouts looked at", {})
        key = self.program.digest, None if self.update is None else self.update.program.digest
        if key not in seen:
            if law is not None:
                law.expect_same_on_numbers()
            while len(seen) >= MOST:
                seen.pop(next(iter(seen)))
            seen[key] = True
        trust(code, self.lifted.program)
        return self


MOST = 64
"""Programs that hang on one model object as looked at."""


def _constant(model: Model) -> Lifted:
    """tau is the parameter; made once for a model object."""
    kept = cached_on(model)
    if "constant effort" not in kept:
        shapes = {"t": (1,), "q": (model.nq,), "v": (model.nv,), "p": (0,), "m": (0,), "parameters": (model.nv,)}

        def function(parameters: Array, **_: Array) -> Mapping[str, Any]:
            return {"tau": parameters, "p_rate": np.zeros(0)}

        kept["constant effort"] = lifted_constants(record(function, shapes, "constant_effort"))
    return kept["constant effort"]
