"""Closed loops in minimal coordinates and as constraints, next to Pinocchio's constraint dynamics, its derivatives and
loop-constrained articulated bodies."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of

NOTES = (
    "One call from Python, one state. Pinocchio: constraintDynamics with mu = 1e-8, without which plane loops are NaN;",
    "its derivatives alone, after the dynamics that they need; lcaba with mu = 1e-4. Everything is measured in turns.",
    "Answers agree before times are taken: see the assertions in this file. four_bars(40): rods of 1 m and 1 kg [A02].",
    "build: from the model to the first derivatives of the Stewart platform as constraints, with an empty cache.",
)


@dataclass(frozen=True)
class Link:
    """A body on a joint: R x y z or P x y z about or along an axis, or free."""

    name: str
    parent: str | None
    joint: str
    place: tuple[float, ...]
    mass: float
    com: tuple[float, ...]
    moments: tuple[float, ...]


@dataclass(frozen=True)
class Mechanism:
    """``cuts``: two points (body, point), which a hinge about y or a ball closes; ``keep``: coordinates to keep."""

    name: str
    links: tuple[Link, ...]
    cuts: tuple[tuple[tuple[str, tuple[float, ...]], tuple[str, tuple[float, ...]]], ...]
    closer: str
    keep: tuple[str, ...]
    reference: dict[str, Any]

    def model(self, loops: str) -> gs.Model:
        frames: dict[str, dict[str, tuple[float, ...]]] = {link.name: {} for link in self.links}
        parts: list[Any] = []
        for k, cut in enumerate(self.cuts):
            axis = {"axis": "y"} if self.closer == "revolute" else {}
            parts.append(gs.Joint(f"closer{k}", self.closer, **axis))
            for port, (body, point) in zip("ab", cut, strict=True):
                frames[body][f"cut{k}"] = point
                parts.append(gs.connect(f"{body}.cut{k}", f"closer{k}.{port}"))
        for link in self.links:
            kind = {"R": "revolute", "P": "prismatic", "f": "free"}[link.joint[0]]
            axis: dict[str, Any] = {} if kind == "free" else {"axis": link.joint[1].lower()}
            axis |= {"passive": False} if loops == "constraints" and kind != "free" else {}  # cut at the closers
            body = gs.RigidBody(link.name, mass=link.mass, com=link.com, inertia=link.moments, frames=frames[link.name])
            place = [gs.Displacement(f"d_{link.name}", translation=link.place)] if any(link.place) else []
            before = "world" if link.parent is None else f"{link.parent}.origin"
            parts.append(gs.chain(before, *place, gs.Joint(f"j_{link.name}", kind, **axis), body))
        independent = list(self.keep) if loops == "minimal" else []
        return gs.assemble(self.name, *parts, reference=self.reference, independent=independent, loops=loops)

    def pinocchio(self) -> tuple[Any, Any, Any, Any]:
        """Model, data, constraints and their data."""
        ids: dict[str | None, int] = {None: 0}
        model = pin.Model()
        kinds = {f"R{x}": getattr(pin, f"JointModelR{x}") for x in "XYZ"} | {"PZ": pin.JointModelPZ}
        kinds["free"] = pin.JointModelFreeFlyer
        for link in self.links:
            at = pin.SE3(np.eye(3), np.array(link.place, float))
            ids[link.name] = model.addJoint(ids[link.parent], kinds[link.joint](), at, f"j_{link.name}")
            inertia = pin.Inertia(link.mass, np.array(link.com, float), np.diag(link.moments))
            model.appendBodyToJoint(ids[link.name], inertia, pin.SE3.Identity())
        cuts, datas, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData(), model.createData()
        for (a, p), (b, r) in self.cuts:
            at = [pin.SE3(np.eye(3), np.array(x, float)) for x in (p, r)]
            cuts.append(
                pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, ids[a], at[0], ids[b], at[1], pin.LOCAL)
            )
        for cut in cuts:
            datas.append(cut.createData())
        pin.initConstraintDynamics(model, data, cuts, datas)
        return model, data, cuts, datas


# ------------------------------------------------------------------------------------------------ mechanisms
def _rod(name: str, parent: str | None, place: tuple[float, ...], length: float) -> Link:
    moments = length * 2e-4, length**3 / 12, length**3 / 12
    return Link(name, parent, "RY", place, length, (length / 2, 0, 0), moments)


def four_bar() -> Mechanism:
    links = (
        _rod("crank", None, (0, 0, 0), 0.3),
        _rod("coupler", "crank", (0.3, 0, 0), 0.9),
        _rod("rocker", None, (1.0, 0, 0), 0.7),
    )
    cut = ("coupler", (0.9, 0, 0)), ("rocker", (0.7, 0, 0))
    return Mechanism(
        "four-bar", links, (cut,), "revolute", ("j_crank",), {"j_crank": -1.0, "j_coupler": 0.6, "j_rocker": -1.5}
    )


def five_bar() -> Mechanism:
    links = (
        _rod("a1", None, (-0.2, 0, 0), 0.5),
        _rod("p1", "a1", (0.5, 0, 0), 0.8),
        _rod("a2", None, (0.2, 0, 0), 0.5),
        _rod("p2", "a2", (0.5, 0, 0), 0.8),
    )
    reference = {"j_a1": -2.0, "j_p1": 1.2, "j_a2": -1.0, "j_p2": -1.2}
    return Mechanism(
        "five-bar", links, ((("p1", (0.8, 0, 0)), ("p2", (0.8, 0, 0))),), "revolute", ("j_a1", "j_a2"), reference
    )


def stewart() -> Mechanism:
    """6-UPS: 24 rates of the tree, 18 equations."""
    links = [Link("plate", None, "free", (0, 0, 0), 10.0, (0, 0, 0), (0.4, 0.4, 0.8))]
    cuts, reference = [], {"j_plate": [0, 0, 0.8, 0, 0, 0, 1]}
    for k in range(6):
        side, at = (1 if k % 2 else -1), (k // 2) * 2 * np.pi / 3
        foot, ball = (
            r * np.array([np.cos(x), np.sin(x), 0.0])
            for r, x in ((0.8, at + 0.2 * side), (0.5, at + (np.pi / 3 - 0.2) * side))
        )
        links.append(Link(f"x{k}", None, "RX", tuple(foot), 0.1, (0, 0, 0), (1e-3,) * 3))
        links.append(Link(f"y{k}", f"x{k}", "RY", (0, 0, 0), 1.0, (0, 0, 0.2), (0.02, 0.02, 1e-3)))
        links.append(Link(f"p{k}", f"y{k}", "PZ", (0, 0, 0), 0.6, (0, 0, -0.2), (0.01, 0.01, 5e-4)))
        cuts.append(((f"p{k}", (0, 0, 0)), ("plate", tuple(ball))))
        d = np.array([0, 0, 0.8]) + ball - foot
        reference |= {
            f"j_x{k}": np.arctan2(-d[1], d[2]),
            f"j_y{k}": np.arcsin(d[0] / np.linalg.norm(d)),
            f"j_p{k}": np.linalg.norm(d),
        }
    return Mechanism("Stewart", tuple(links), tuple(cuts), "spherical", ("j_plate",), reference)


def four_bars(count: int) -> Mechanism:
    moments, links, cuts, reference = (1e-6, 1 / 12, 1 / 12), [], [], {}
    for i in range(count + 1):
        links.append(Link(f"v{i}", None, "RY", (float(i), 0, 0), 1.0, (0.5, 0, 0), moments))
        reference[f"j_v{i}"] = 0.3 - np.pi / 2
    for i in range(count):
        links.append(Link(f"h{i}", f"v{i}", "RY", (1.0, 0, 0), 1.0, (0.5, 0, 0), moments))
        cuts.append(((f"h{i}", (1.0, 0, 0)), (f"v{i + 1}", (1.0, 0, 0))))
        reference[f"j_h{i}"] = np.pi / 2 - 0.3
    return Mechanism(f"four_bars({count})", tuple(links), tuple(cuts), "revolute", ("j_v0",), reference)


# ------------------------------------------------------------------------------------------------ measurement
def measure(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    for mechanism in (four_bar(), five_bar(), stewart()):
        rows += _dynamics(mechanism, effort, ("minimal", "constraints"))
    rows += _chain(four_bars(40), effort)
    rows += _derivatives(stewart(), effort)
    rows.append(_build(stewart()))
    return rows


def _in_turns(calls: dict[str, Callable[[], Any]], effort: Effort) -> dict[str, float]:
    """Seconds of one call of each, measured in turns."""
    rounds = 1 if effort.number is not None else 6
    repeat = max(1, effort.repeat // rounds)
    times = [{name: best_of(call, repeat, effort.number) for name, call in calls.items()} for _ in range(rounds)]
    return {name: min(x[name] for x in times) for name in calls}


class _State:
    """A closed motion of a mechanism, for both."""

    def __init__(self, mechanism: Mechanism):
        self.model = mechanism.model("constraints")
        self.theirs, self.data, self.cuts, self.datas = mechanism.pinocchio()
        rng = np.random.default_rng(0)
        n = self.model.nv
        self.q, self.v = gs.close(self.model, gs.neutral(self.model), 0.3 * rng.standard_normal(n))
        self.tau = rng.standard_normal(n)
        self.to_q, self.to_v = self._places()

    def _places(self) -> tuple[list[int], list[int]]:
        """Where their coordinates and rates are in ours."""
        q, v = [], []
        for name in list(self.theirs.names)[1:]:
            block = self.model.layout.of[name]
            q += range(block.q.start, block.q.stop)
            own = list(range(block.v.start, block.v.stop))
            v += [*own[3:], *own[:3]] if block.moves else own  # linear before angular
        return q, v

    def pinocchio(self, settings: Any) -> tuple[Any, ...]:
        return (
            self.theirs,
            self.data,
            self.q[self.to_q],
            self.v[self.to_v],
            self.tau[self.to_v],
            self.cuts,
            self.datas,
            settings,
        )

    def ours(self, theirs: np.ndarray) -> np.ndarray:
        a = np.zeros(self.model.nv)
        a[self.to_v] = theirs
        return a


def _dynamics(mechanism: Mechanism, effort: Effort, treatments: tuple[str, ...]) -> list[Row]:
    state, settings = _State(mechanism), pin.ProximalSettings(1e-12, 1e-8, 10)
    given = state.pinocchio(settings)
    expected = state.ours(pin.constraintDynamics(*given))
    calls: dict[str, Callable[[], Any]] = {}
    for loops in treatments:
        model = state.model if loops == "constraints" else mechanism.model(loops)
        at = [list(state.model.coordinates).index(x) for x in model.coordinates]
        places = [list(state.model.dofs).index(x) for x in model.dofs]
        q, v = state.q[at].copy(), state.v[places].copy()
        tau = state.tau if loops == "constraints" else _reduced(state, model, q)
        solver = gs.ForwardDynamics(model)
        assert np.abs(solver(q, v, tau) - expected[places]).max() < 1e-6 * max(1.0, np.abs(expected).max())
        calls[f"gyrostat, {loops}"] = lambda solver=solver, q=q, v=v, tau=tau: solver(q, v, tau)
    calls["pinocchio, constraintDynamics"] = lambda: pin.constraintDynamics(*given)
    times = _in_turns(calls, effort)
    return [
        Row("run", f"{mechanism.name}, forward dynamics", name, x, peer=name.startswith("pin"))
        for name, x in times.items()
    ]


def _reduced(state: _State, model: gs.Model, q: np.ndarray) -> np.ndarray:
    """tau (nv,) in minimal coordinates with the power of the tree's."""
    tau = np.zeros(model.nv)
    for k, unit in enumerate(np.eye(model.nv)):
        names = {name: x for name, x in zip(model.dofs, unit, strict=True)}
        start = np.array([names.get(name, 0.0) for name in state.model.dofs])
        keep = [b.entity for b in model.layout]
        tau[k] = state.tau @ gs.close(state.model, state.q, start, keep=keep)[1]
    return tau


def _chain(mechanism: Mechanism, effort: Effort) -> list[Row]:
    state, settings = _State(mechanism), pin.ProximalSettings(1e-10, 1e-4, 20)
    datas = pin.StdVec_RigidConstraintData()
    for cut in state.cuts:
        datas.append(cut.createData())
    data = state.theirs.createData()
    pin.computeJointMinimalOrdering(state.theirs, data, state.cuts)
    solver, count = gs.ForwardDynamics(state.model), len(mechanism.cuts)
    rest = np.zeros(state.model.nv)
    a = solver(state.q, rest, rest)
    angle = -state.q[list(state.model.coordinates).index("j_v0")]
    one = ((count + 1) / 2 + count) * 9.81 * np.cos(angle) / ((count + 1) / 3 + count)  # a pendulum
    assert np.abs(np.abs(a) - abs(one)).max() < 1e-10
    given = state.theirs, data, state.q[state.to_q], rest, rest, state.cuts, datas, settings
    times = _in_turns(
        {"gyrostat, constraints": lambda: solver(state.q, rest, rest), "pinocchio, lcaba": lambda: pin.lcaba(*given)},
        effort,
    )
    return [
        Row("run", f"{mechanism.name}, forward dynamics", name, x, peer=name.startswith("pin"))
        for name, x in times.items()
    ]


def _derivatives(mechanism: Mechanism, effort: Effort) -> list[Row]:
    state, settings = _State(mechanism), pin.ProximalSettings(1e-12, 1e-8, 10)
    given = state.pinocchio(settings)
    pin.constraintDynamics(*given)
    solver, args = gs.ForwardDynamicsDerivatives(state.model), (state.q, state.v, state.tau)
    unit = np.random.default_rng(1).standard_normal(state.model.nv)
    more = gs.aba(state.model, state.q, state.v, state.tau + unit) - gs.aba(state.model, *args)
    assert np.abs(solver(*args).da_dtau @ unit - more).max() < 1e-8 * np.abs(more).max()
    calls = {
        "gyrostat, constraints": lambda: solver(*args),
        "pinocchio, derivatives alone": lambda: pin.computeConstraintDynamicsDerivatives(
            state.theirs, state.data, state.cuts, state.datas, settings
        ),
    }
    times = _in_turns(calls, effort)
    return [
        Row("run", f"{mechanism.name}, derivatives", name, x, peer=name.startswith("pin")) for name, x in times.items()
    ]


def _build(mechanism: Mechanism) -> Row:
    before = os.environ.get("GYROSTAT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GYROSTAT_CACHE"] = folder
        try:
            start = time.perf_counter()
            model = mechanism.model("constraints")
            q = gs.neutral(model)
            gs.ForwardDynamicsDerivatives(model)(q, np.zeros(model.nv), np.zeros(model.nv))
            seconds = time.perf_counter() - start
        finally:
            if before is None:
                del os.environ["GYROSTAT_CACHE"]
            else:
                os.environ["GYROSTAT_CACHE"] = before
    return Row("build", f"{mechanism.name}, derivatives", "gyrostat, constraints", seconds)
