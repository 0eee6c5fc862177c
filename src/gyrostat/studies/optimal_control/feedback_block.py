"""State feedback on the tangent as a block: about a state, or along a motion, with gains that may change in time.

    tau = T^T (u_0(t) - K(t) x),     x = (difference(q_0(t), q), v - v_0(t))

Along a motion the rows of the table hold at instants t_k; between them everything is interpolated linearly, quaternions
along the chord, or held (``form="hold"``) as a digital controller does. Before the first and after the last instant
their rows hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.errors import ShapeError
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import choice, period, refuse
from gyrostat.spatial.so3_recorded import normalised, right_jacobian_inverse, smooth_log
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
FORMS = ("linear", "hold")


@dataclass(frozen=True, eq=False)
class StateFeedback(Block):
    """``q`` (n, nq), ``v`` (n, nv), ``u`` (n, m), ``K`` (n, m, 2 nv) at ``t`` (n,) [s], n = 1 for constant ones; ``T``
    (m, nv) takes u to the efforts of the model. ``limit`` (2, m): least and greatest u. With ``sample_time`` it is
    digital: u is computed at samples and held."""

    kind: ClassVar[str] = "state feedback"
    model: Model
    t: Any
    q: Any
    v: Any
    u: Any
    K: Any
    T: Any
    limit: Any = None
    form: str = "linear"
    sample_time: float | None = None
    target: str = "tau"
    name: str = ""

    def __post_init__(self) -> None:
        expect_model(self.model, self.who)
        nq, nv = self.model.nq, self.model.nv
        n, m = np.shape(self.u)
        shapes = {"t": (n,), "q": (n, nq), "v": (n, nv), "u": (n, m), "K": (n, m, 2 * nv), "T": (m, nv)}
        for key, shape in shapes.items():
            array = np.array(getattr(self, key), dtype=float)
            if array.shape != shape:
                raise ShapeError(f"{self.who}: {key} has shape {array.shape}, expected {shape}")
            if not np.isfinite(array).all():
                raise refuse(self.who, key, f"{key} must be finite", "give numbers")
            object.__setattr__(self, key, array)
        if n > 1 and np.diff(self.t).min() <= 0.0:
            raise refuse(self.who, "t", "instants must grow", "sort them")
        choice(self.form, self.who, "form", FORMS)
        object.__setattr__(self, "sample_time", period(self.sample_time, self.who))
        if self.limit is not None:
            limit = np.array(self.limit, dtype=float)
            if limit.shape != (2, m) or not np.all(limit[0] <= limit[1]):
                raise ShapeError(f"{self.who}: limit has shape {limit.shape}, expected (2, {m}), the lower ones first")
            object.__setattr__(self, "limit", limit)

    @property
    def inputs(self) -> tuple[str, ...]:
        return "q", "v"

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    @property
    def feedthrough(self) -> bool:
        return self.sample_time is None

    @property
    def memory(self) -> tuple[float, ...]:
        """The efforts (nv,) that are held."""
        return () if self.sample_time is None else tuple((self.T.T @ self.u[0]).tolist())

    def unknown(self) -> dict[str, Array]:
        return {"q": self.q[0], "v": self.v[0]}

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: m if self.sample_time is not None else self._efforts(t, x)}

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        return m if self.sample_time is None else self._efforts(t, x)

    def _efforts(self, t: Any, x: Signals) -> Any:
        q, v = self.take(x, "q", self.model.nq), self.take(x, "v", self.model.nv)
        (q0, v0, u0, K) = self._row(t[()] if isinstance(t, np.ndarray) else t)
        off = np.concatenate([displacement(self.model, q0, q), v - v0])
        u = u0 - K @ off
        if self.limit is not None:
            u = maximum(minimum(u, self.limit[1]), self.limit[0])
        return self.T.T @ u

    def _row(self, t: Any) -> tuple[Any, ...]:
        tables = (self.q, self.v, self.u, self.K)
        n = len(self.t)
        if n == 1:
            return tuple(table[0] for table in tables)
        last = [table[-1] for table in tables]
        if self.form == "hold":
            for k in range(n - 2, -1, -1):
                early = t < self.t[k + 1]
                last = [where(early, table[k], row) for table, row in zip(tables, last, strict=True)]
            return tuple(last)
        start, width = self.t[-2], self.t[-1] - self.t[-2]
        ends, rows = last, [table[-2] for table in tables]
        for k in range(n - 3, -1, -1):
            early = t < self.t[k + 1]
            start, width = where(early, self.t[k], start), where(early, self.t[k + 1] - self.t[k], width)
            rows = [where(early, table[k], row) for table, row in zip(tables, rows, strict=True)]
            ends = [where(early, table[k + 1], row) for table, row in zip(tables, ends, strict=True)]
        s = minimum(maximum((t - start) / width, 0.0), 1.0)
        mixed = [row + s * (end - row) for row, end in zip(rows, ends, strict=True)]
        return (_unit(self.model, mixed[0]), *mixed[1:])


def _unit(model: Model, q: Any) -> Any:
    parts: list[Any] = []
    for block in model.layout:
        x = q[block.q]
        if block.turns:
            at = block.quaternion
            x = np.concatenate([q[block.position] if block.moves else q[:0], normalised(q[at])])
        parts.append(x)
    return np.concatenate(parts) if parts else q


def displacement(model: Model, q0: Any, q: Any) -> Any:
    """``gs.difference(model, q0, q)`` (nv,) in arithmetic that can be recorded, for turns of less than half a turn."""
    parts: list[Any] = []
    for block in model.layout:
        if not block.turns:
            parts.append(q[block.q] - q0[block.q])
            continue
        R0, R = from_quaternion(q0[block.quaternion]), from_quaternion(q[block.quaternion])
        turn = smooth_log(R0.T @ R)
        parts.append(turn)
        if block.moves:
            parts.append(right_jacobian_inverse(-turn, R0.T @ (q[block.position] - q0[block.position])))
    return np.concatenate(parts) if parts else np.zeros(0)
