"""External wrenches of a run: numbers, functions and blocks at ports, as generalised forces J^T w beside the efforts.

By the principle of virtual power a wrench at a port gives each rate the power that it has at unit rate: this is all
that a method of time integration, its Jacobians and the work of a run need to know of it [WM15 F_Q, G13 N_Q, KV k_e].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest, pseudo_velocities
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import is_recorded, record
from gyrostat.errors import FrameError, GyrostatError, NonFiniteError, ShapeError
from gyrostat.graph.network import Network, kept_network
from gyrostat.simulate.blocks.samples import Samples
from gyrostat.simulate.plant.torque_source import (
    WHO,
    BlockSource,
    ConstantSource,
    FunctionSource,
    TorqueSource,
    expect_arguments,
)
from gyrostat.solvers.machinery.solver import LARGE
from gyrostat.solvers.machinery.wrench import Application, Wrench, pose_of, read_wrenches
from gyrostat.spatial.algebra import force_to_parent
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import HarmonicMotion
from gyrostat.spec.model import Model

Array = np.ndarray
WRENCH = "lambda t, q, v: [0, 0, 0, 0, 0, -9.81]"
PARTS = ("torque_x", "torque_y", "torque_z", "force_x", "force_y", "force_z")


class WrenchFunction(FunctionSource):
    """A function f(t, q, v) that returns a wrench (6,)."""

    def __init__(self, model: Model, function: Any, port: str):
        self.model, self.function, self.users = model, function, (function,)
        self.told = f"the wrench {getattr(function, '__name__', type(function).__name__)} at '{port}'"
        expect_arguments(function, f"{WHO}: {self.told}", WRENCH)

    def checked(self, given: Any) -> Array:
        return six(given, self.told)


class WrenchBlock(BlockSource):
    """A block whose output "wrench", or only output, is a wrench (6,)."""

    signal, rates = "wrench", PARTS

    def __init__(self, model: Model, block: Any, port: str):
        super().__init__(model, block)
        self.told = f"the wrench block {type(block).__name__} at '{port}'"

    def checked(self, given: Any) -> Array:
        return six(given, self.told)


def six(given: Any, told: str) -> Array:
    """A wrench (6,) that a function or block returned; its numbers may be recorded ones."""
    array = np.asarray(given)
    if array.shape != (6,) or array.dtype.kind not in "fiuO":
        raise ShapeError(
            f"{WHO}: {told} returned {array.dtype} of shape {array.shape}, expected (6,): torque, then force"
        )
    return np.array(array, dtype=object if array.dtype == object else float)


def wrench_source(model: Model, port: str, given: Any, times: Array | None) -> TorqueSource:
    """What gives one wrench (6,)."""
    if callable(getattr(given, "output", None)):
        return WrenchBlock(model, given, port)
    if callable(given):
        return WrenchFunction(model, given, port)
    rows = np.ndim(given) == 2 and times is not None and len(times) > 1 and np.shape(given) == (len(times), 6)
    if rows:
        return WrenchBlock(model, Samples(times, given, target="wrench", name=port), port)
    (_, [w]) = read_wrenches(kept_network(model), {port: given}, WHO)
    if w.shape != (6,):
        raise ShapeError(
            f"{WHO}: wrench at '{port}' has shape {w.shape}, expected (6,), or a row for each of t_eval. "
            "Hint: one that changes is a function f(t, q, v)"
        )
    return ConstantSource(w)


def applied_at(net: Network, wrenches: Any, who: str) -> tuple[list[Application], list[Any]]:
    """Places of wrenches, and what was given there."""
    zeros: Any = wrenches
    if isinstance(wrenches, Mapping):
        zeros = {
            port: Wrench(np.zeros(6), w.expressed_in if isinstance(w, Wrench) else "local")
            for port, w in wrenches.items()
        }
    places, _ = read_wrenches(net, zeros, who)
    given = [w.value if isinstance(w, Wrench) else w for w in (wrenches or {}).values()]
    for place, w in zip(places, given, strict=True):
        if isinstance(w, type):
            raise GyrostatError(f"{who}: wrench at '{place.port}' is the class {w.__name__}. Hint: {w.__name__}(...)")
    return places, given


def with_wrenches(model: Model, inner: TorqueSource, wrenches: Any, times: Array | None) -> TorqueSource:
    """The source of the efforts, with external wrenches beside it if there are any."""
    if wrenches is None or (isinstance(wrenches, Mapping) and not wrenches):
        return inner
    places, given = applied_at(kept_network(model), wrenches, WHO)
    twice = [place.port for k, place in enumerate(places) if place.port in [x.port for x in places[:k]]]
    if twice:
        raise FrameError(f"{WHO}: port '{twice[0]}' is named twice among wrenches. Hint: give their sum")
    parts = [wrench_source(model, p.port, w, times) for p, w in zip(places, given, strict=True)]
    return LoadedSource(model, inner, places, parts)


class LoadedSource(TorqueSource):
    """Efforts and wrenches together: tau + J^T w. ``places``: where the wrenches act."""

    def __init__(
        self, model: Model, inner: TorqueSource, places: Sequence[Application], wrenches: Sequence[TorqueSource]
    ):
        self.inner, self.places, self.parts = inner, tuple(places), (inner, *wrenches)
        self.gains = inner.gains
        self.told = inner.told if inner.users else next((x.told for x in wrenches if x.users), "a constant wrench")
        self.users = tuple(user for part in self.parts for user in part.users)
        self.sample_times = tuple(sorted({T for part in self.parts for T in part.sample_times}))
        self.p0, self.m0, self.sizes = (
            np.concatenate([getattr(part, name) for part in self.parts]) for name in ("p0", "m0", "sizes")
        )
        self.change_model(model)

    def change_model(self, model: Model) -> None:
        self.model, self.network = model, kept_network(model)
        for part in self.parts:
            part.change_model(model)
        for place in self.places:
            self.network.port(place.port)
        self.__dict__.pop("_kernel", None)

    def _split(self, x: Array, name: str) -> list[Array]:
        ends = np.cumsum([len(getattr(part, name)) for part in self.parts])
        return [x[end - len(getattr(part, name)) : end] for part, end in zip(self.parts, ends, strict=True)]

    def _each(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> list[tuple[Array, Array]]:
        states = zip(self.parts, self._split(p, "p0"), self._split(m, "m0"), strict=True)
        return [part.evaluate(t, q, v, p_k, m_k) for part, p_k, m_k in states]

    @contextmanager
    def with_gains(self, values: Array) -> Iterator[None]:
        with self.inner.with_gains(values):  # of the efforts beside the wrenches
            yield

    def twin(self, gains: Mapping[str, Any]) -> LoadedSource:
        twin = copy(self)
        twin.parts = (self.inner.twin(gains), *(part.twin({}) for part in self.parts[1:]))
        twin.inner = twin.parts[0]
        twin.gains = twin.inner.gains
        return twin

    def give(self, gains: Mapping[str, Any]) -> None:
        self.inner.give(gains)
        self.gains = self.inner.gains

    def next_memory(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> Array:
        states = zip(self.parts, self._split(p, "p0"), self._split(m, "m0"), strict=True)
        return np.concatenate([part.next_memory(t, q, v, p_k, m_k) for part, p_k, m_k in states])

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        (tau, _), *wrenches = each = self._each(t, q, v, p, m)
        W = np.concatenate([w for w, _ in wrenches])
        if not is_recorded(W):
            self._expect_finite(t, W.reshape(-1, 6))
        return tau + self.efforts(t, q, W), np.concatenate([rate for _, rate in each])

    def recorded(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array, Any]:
        W = np.concatenate([w for w, _ in self._each(t, q, v, p, m)[1:]])
        return *self.evaluate(t, q, v, p, m), W  # a wrench that does no work must be a number, too

    def recorded_apart(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        """:meth:`apart` on recorded values: wrenches (6 k,), and the efforts (nv,) beside them."""
        (tau, _), *wrenches = self._each(t, q, v, p, m)
        return np.concatenate([w for w, _ in wrenches]), tau

    def apart(self, t: float, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        """The wrenches (k, 6), and tau (nv,) without them."""
        (tau, _), *wrenches = self._each(t, q, v, p, m)
        W = np.array([w for w, _ in wrenches], dtype=float)
        self._expect_finite(t, W)
        return W, tau

    def _expect_finite(self, t: float, W: Array) -> None:
        """Refuse wrenches (k, 6) that are not numbers, also where they do no work."""
        for part, w, told in zip(self.parts[1:], W, self.places, strict=True):
            if not np.isfinite(w.astype(float)).all():
                who = part.told if part.users else f"the wrench at '{told.port}'"
                raise NonFiniteError(f"{WHO}: {who} is {w} at t = {float(t):.9g} s, expected finite numbers")

    def update(self, t: float, q: Array, v: Array, p: Array, m: Array, due: Sequence[float] | None = None) -> Array:
        states = zip(self.parts, self._split(p, "p0"), self._split(m, "m0"), strict=True)
        return np.concatenate(
            [
                part.update(t, q, v, p_k, m_k, due) if due is None or set(due) & set(part.sample_times) else m_k
                for part, p_k, m_k in states
            ]
        )

    def trouble(self, t: float, q: Array, v: Array, p: Array, m: Array) -> str:
        states = zip(self.parts, self._split(p, "p0"), self._split(m, "m0"), strict=True)
        return next(filter(None, (part.trouble(t, q, v, p_k, m_k) for part, p_k, m_k in states)), "")

    def efforts(self, t: Any, q: Array, W: Array) -> Array:
        """J^T w (nv,) of wrenches (6 k,)."""
        if is_recorded(q) or is_recorded(W) or self._kernel is None:
            return generalised_forces(self.network, setting(self.model, t), q, self.places, W)
        return self._kernel.call(np.array([t]), q, W)["tau"]

    @cached_property
    def _kernel(self) -> Kernel | None:
        return efforts_kernel(self.model, self.places)


def setting(model: Model, t: Any) -> Setting:
    """World axes and origin, at a time."""
    return Setting(representation("absolute"), gravity(model.context.gravity), t)


def efforts_kernel(model: Model, places: Sequence[Application]) -> Kernel | None:
    """J^T w as machine code of t (1,), q, w (6 k,); None for what is not compiled."""
    if model.nv > LARGE or not isinstance(model.context.base, str | HarmonicMotion):
        return None
    net = kept_network(model)

    def function(t: Array, q: Array, w: Array) -> Mapping[str, Any]:
        return {"tau": generalised_forces(net, setting(model, t[0]), q, places, w)}

    shapes = {"t": (1,), "q": (model.nq,), "w": (6 * len(places),)}
    return Kernel(record(function, shapes, f"{model.name}_wrenches"), WHO)


def applied_efforts(model: Model, places: Sequence[Application], t: Array, q: Array, W: Array) -> Array:
    """J^T w (T, nv) at instants t (T,), for q (T, nq) and w (T, 6 k)."""
    kernel = efforts_kernel(model, places)
    if kernel is not None:
        return kernel.call(t[:, None], q, W)["tau"]
    net = kept_network(model)
    return np.array([generalised_forces(net, setting(model, x), y, places, z) for x, y, z in zip(t, q, W, strict=True)])


def generalised_forces(net: Network, on: Setting, q: Array, places: Sequence[Application], W: Array) -> Array:
    """J^T w (nv,): the power of wrenches (6 k,) at unit rates; numbers, or recorded ones."""
    n, still = net.model.nv, at_rest(net, on)
    rest = np.zeros(n)
    frames = [place.expressed_in for place in places if place.expressed_in not in ("local", "aligned", "world")]
    names = [*(place.port for place in places), *frames]
    needed = {c.name for name in names for c, _ in net.path(net.located[name][0])}
    way = replace(net, components=tuple(c for c in net.components if c.name in needed))
    poses = sweep_motion(way, still, q, rest, rest)
    forces = [in_world(net, poses, place, W[6 * k : 6 * k + 6]) for k, place in enumerate(places)]
    rates = sorted({k for c in way.components for ties in c.ties for k, _ in ties})

    def power(chosen: Array) -> Array:
        motions = sweep_motion(way, still, q, np.eye(n)[:, rates] @ chosen, rest)
        return np.array([sum(f @ motions[net.located[p.port][0]].V for f, p in zip(forces, places, strict=True))])

    tau = np.zeros(n, dtype=object if is_recorded(q) or is_recorded(W) else float)
    if rates:
        tau[rates] = pseudo_velocities(power, len(rates))[0]
    return tau


def in_world(net: Network, motions: Mapping[int, Any], place: Application, w: Array) -> Array:
    """A wrench in the world's axes, its torque about the world's origin."""
    if place.expressed_in == "world":
        return w
    frame = pose_of(net, motions, place.port if place.expressed_in in ("local", "aligned") else place.expressed_in)
    return force_to_parent(np.eye(3) if place.expressed_in == "aligned" else frame.R, frame.p, w)
