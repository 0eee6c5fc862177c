"""A hydraulic cylinder with two chambers behind a valve, between two frames of a robot or at a joint.

    V_a = V_0 + A x,    V_b = V_0 + A_b (s - x),    A_b = rod_ratio A,    x = l - closed_length,    0 <= x <= s
    (V_a / beta + C) dp_a/dt = Q_a - A   dx/dt - c (p_a - p_b)
    (V_b / beta + C) dp_b/dt = Q_b + A_b dx/dt + c (p_a - p_b)
    F = A p_a - A_b p_b - d dx/dt - F_c tanh(dx/dt / v_s)

F pushes the ends apart. The valve has four edges: opened by u > 0 it lets oil from the supply into a and out of b into
the tank, u < 0 the other way round [Merritt 1967, 5 and 6; Jelali, Kroll 2003, 4]:

    Q_a = K   (u+ f(P_s - p_a) - u- f(p_a - P_t)),    Q_b = K_b (u- f(P_s - p_b) - u+ f(p_b - P_t)),
    f(D) = D / (D^2 + D_0^2)^(1/4),

the square root of a turbulent orifice, smooth where the flow turns: D_0 = ``transition``; f is sqrt(D) but for one part
in 4 (D / D_0)^2."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.line import Line
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.errors import StateError, clipped
from gyrostat.graph.network import network
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import Numbers, above_zero, at_least_zero, numbers, refuse, same_size, spread

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

ABOVE = {"area": "m^2", "stroke": "m", "dead_volume": "m^3", "supply": "Pa", "flow": "m^3/s/sqrt(Pa)",
         "bulk_modulus": "Pa", "rod_ratio": "A_b / A", "smooth": "m/s", "transition": "Pa"}  # fmt: skip
NOT_BELOW = {"compliance": "m^3/Pa", "leakage": "m^3/s/Pa", "drain": "m^3/s/Pa", "viscous": "N s/m", "coulomb": "N",
             "end_stiffness": "N/m", "end_damping": "s/m", "suction": "m^3/s/sqrt(Pa)"}  # fmt: skip
ENDS = 1e-9
"""Part of the stroke by which rounding may lead beyond it."""


class Steady(NamedTuple):
    """A cylinder that moves with constant speed: opening u of the valve, pressures p_a, p_b [Pa]."""

    opening: float
    p_a: float
    p_b: float


class Moving(NamedTuple):
    """Length l [m] of the cylinders (n,), its rate [m/s], and G (nv,) of a line between frames, see ``Line``."""

    length: Any
    rate: Any
    G: Any = None


@dataclass(frozen=True)
class HydraulicCylinder(Block):
    """A cylinder behind a valve; its states are the pressures p_a, p_b [Pa] of its two chambers.

    ``between=(a, b)``: two ports of the robot. The cylinder pushes their origins apart; its length is their distance.
    Reads the valve's opening u in -1 ... 1 (signal ``opening``, fully open beyond) and the robot's q and v; gives the
    efforts (nv,) of all joints. Without ``between`` it acts on a joint, see ``at_joints``: its length is ``lever`` q,
    1 for a sliding joint, the radius of the pinion [m/rad] for a rack.

    Geometry: ``area`` A [m^2], ``stroke`` s [m], ``closed_length`` [m] with the piston at its inner end, ``rod_ratio``
    A_b / A, 1 for a rod on both sides; ``dead_volume`` V_0 [m^3] of each chamber with its pipe. Oil: ``bulk_modulus``
    beta [Pa], ``compliance`` C [m^3/Pa] of the hose of each chamber. Valve: ``flow`` K and ``rod_flow`` K_b, K if left
    out [m^3/s/sqrt(Pa)], ``supply`` P_s, ``tank`` P_t, ``transition`` D_0 [Pa]. ``leakage`` c past the piston and
    ``drain`` from each chamber to the tank [m^3/s/Pa]. Check valves ``suction`` [m^3/s/sqrt(Pa)] let oil in
    from the tank below its pressure. Friction: ``viscous`` d [N s/m], ``coulomb`` F_c [N], ``smooth`` v_s [m/s]. At the
    ends of the stroke k e (1 + ``end_damping`` de/dt), k = ``end_stiffness`` [N/m], pushes back a piston that is e too
    far; without it a run stops there. It stops, too, where a pressure falls below ``lowest``: the oil would boil.

    Pressures are above that of the surroundings. ``initial``: p_a, p_b at the start [Pa], (P_s + P_t) / 2 if left out;
    see :meth:`steady`. Gives the signals ``target``, pressure_a, pressure_b, force [N], length [m], speed [m/s], with
    the name of the block and a point in front if it has one. ``size``: several cylinders alike at as many joints;
    numbers may then be lists, ``initial`` all p_a, then all p_b."""

    kind: ClassVar[str] = "hydraulic cylinder"
    area: Any
    stroke: Any
    dead_volume: Any
    supply: Any
    flow: Any
    rod_ratio: Any = 1.0
    rod_flow: Any = None
    tank: Any = 0.0
    closed_length: Any = 0.0
    bulk_modulus: Any = 1.4e9
    compliance: Any = 0.0
    leakage: Any = 0.0
    drain: Any = 0.0
    suction: Any = 0.0
    viscous: Any = 0.0
    coulomb: Any = 0.0
    smooth: Any = 1e-3
    end_stiffness: Any = 0.0
    end_damping: Any = 0.0
    transition: Any = 1e4
    lowest: Any = -101325.0
    lever: Any = 1.0
    initial: Any = None
    between: Any = None
    size: int | None = None
    opening: str = "u"
    position: str = "q"
    rate: str = "v"
    target: str = "tau"
    name: str = ""
    line: Line | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        who = self.who
        given = {key: above_zero(getattr(self, key), who, key, f"in {unit}") for key, unit in ABOVE.items()}
        given |= {key: at_least_zero(getattr(self, key), who, key, f"in {unit}") for key, unit in NOT_BELOW.items()}
        given |= {key: numbers(getattr(self, key), who, key) for key in ("tank", "closed_length", "lowest", "lever")}
        given["rod_flow"] = given["flow"] if self.rod_flow is None else above_zero(
            self.rod_flow, who, "rod_flow", "in m^3/s/sqrt(Pa), for the full opening"
        )  # fmt: skip
        n = same_size(who, self.size, **given)
        for key, value in given.items():
            object.__setattr__(self, key, spread(value, n))
        object.__setattr__(self, "size", n)
        self._expect_order()
        if self.between is not None:
            self._expect_ends()
        object.__setattr__(self, "initial", self._start())

    def _expect_order(self) -> None:
        if max(self.rod_ratio) > 1.0:
            message = f"rod_ratio must be at most 1, got {max(self.rod_ratio):g}"
            raise refuse(self.who, "rod_ratio", message, "side a is the one without a rod", self.rod_ratio)
        if 0.0 in self.lever:
            raise refuse(self.who, "lever", "lever must not be zero, got 0", "1 for a sliding joint", self.lever)
        for tank, supply, lowest in zip(self.tank, self.supply, self.lowest, strict=True):
            if not lowest <= tank < supply:
                message = f"tank must be between lowest, {lowest:g} Pa, and supply, {supply:g} Pa, got {tank:g}"
                raise refuse(self.who, "tank", message, "pressures are above that of the surroundings", tank)

    def _expect_ends(self) -> None:
        ends = tuple(self.between) if isinstance(self.between, tuple | list) else ()
        if len(ends) != 2 or not all(isinstance(x, str) for x in ends) or ends[0] == ends[1]:
            message = f"between must name two ports of the robot, got {clipped(self.between)}"
            raise refuse(self.who, "between", message, "between=('mast.pin', 'boom.pin')", self.between)
        object.__setattr__(self, "between", ends)
        if self.size != 1 or self.lever != (1.0,):
            message = "a cylinder between two frames is one, and has no lever but the one of its place"
            raise refuse(self.who, "between", message, "leave size and lever out; a block for each cylinder", self.size)
        if self.closed_length[0] <= 0.0:
            message = f"closed_length must be above zero, got {self.closed_length[0]:g}"
            raise refuse(self.who, "closed_length", message, "the distance of the two ports with the piston in, in m")

    def _start(self) -> Numbers:
        if self.initial is None:
            middle = tuple(0.5 * (a + b) for a, b in zip(self.supply, self.tank, strict=True))
            return middle + middle
        start = numbers(self.initial, self.who, "initial")
        if len(start) != 2 * len(self.area):
            message = f"initial must hold {2 * len(self.area)} pressures, p_a before p_b, got {len(start)}"
            raise refuse(self.who, "initial", message, "initial=(8e6, 5e6)", self.initial)
        low = min(p - x for p, x in zip(start, self.lowest * 2, strict=True))
        if low < 0.0:
            message = f"initial must not be below lowest, {min(self.lowest):g} Pa, got {min(start):g}"
            raise refuse(self.who, "initial", message, "pressures are above that of the surroundings", self.initial)
        return start

    # ------------------------------------------------------------------ what blocks have
    @property
    def inputs(self) -> tuple[str, ...]:
        return self.opening, self.position, self.rate

    @property
    def direct(self) -> tuple[str, ...]:
        """The valve's opening changes pressures, which are states; the rest acts at once."""
        return self.position, self.rate

    @property
    def outputs(self) -> tuple[str, ...]:
        before = f"{self.name}." if self.name else ""
        return self.target, *(before + x for x in ("pressure_a", "pressure_b", "force", "length", "speed"))

    @property
    def states(self) -> Numbers:
        return self.initial

    @property
    def sizes(self) -> Numbers:
        return self.supply * 2

    def within(self, model: Model) -> Block:
        if self.between is None:
            return self
        net = network(model)
        a, b = (net.port(port) for port in self.between)
        if a == b:
            message = f"between names the same port twice, '{a}'"
            raise refuse(self.who, "between", message, "give the ports of its two ends", self.between)
        line = Line(net, a, b)
        if not line.moves:
            message = f"no joint lies between '{a}' and '{b}'"
            raise refuse(self.who, "between", message, "its ends are on two bodies that move apart", self.between)
        placed = replace(self)
        object.__setattr__(placed, "line", line)
        return placed

    # ------------------------------------------------------------------ equations
    @cached_property
    def _of(self) -> Any:
        """Properties as arrays (n,)."""
        return {key: np.array(getattr(self, key)) for key in (*ABOVE, *NOT_BELOW, "rod_flow", "tank", "closed_length",
                                                              "lowest", "lever")}  # fmt: skip

    def moving(self, x: Signals) -> Moving:
        """Length and speed of the cylinders."""
        if self.between is None:
            lever = self._of["lever"]
            q, v = (self.take(x, name, self.size) for name in (self.position, self.rate))
            return Moving(lever * q, lever * v)
        if self.line is None:
            raise StateError(
                f"{self.who}: where '{self.between[0]}' and '{self.between[1]}' are is not known without a robot. "
                "Hint: runs find them; elsewhere take block.within(model)"
            )
        model = self.line.network.model
        q, v = self.take(x, self.position, model.nq), self.take(x, self.rate, model.nv)
        length, G = self.line(q)
        return Moving(np.atleast_1d(np.asarray(length)), np.atleast_1d(np.asarray(G @ v)), G)

    def force(self, at: Moving, p_a: Any, p_b: Any) -> Any:
        """F (n,) [N] that pushes the ends apart."""
        c = self._of
        k, damping, too_short, too_long = c["end_stiffness"], c["end_damping"], *self._beyond(at.length)
        ends = k * (
            too_short * maximum(1.0 - damping * at.rate, 0.0) - too_long * maximum(1.0 + damping * at.rate, 0.0)
        )
        rubs = c["viscous"] * at.rate + c["coulomb"] * np.tanh(at.rate / c["smooth"])
        return c["area"] * p_a - c["area"] * c["rod_ratio"] * p_b - rubs + (ends if any(self.end_stiffness) else 0.0)

    def _beyond(self, length: Any) -> tuple[Any, Any]:
        """How far (n,) [m] the piston is beyond its inner and its outer end, not below zero."""
        x = length - self._of["closed_length"]
        return maximum(-x, 0.0), maximum(x - self._of["stroke"], 0.0)

    def inflow(self, u: Any, p_a: Any, p_b: Any) -> tuple[Any, Any]:
        """Oil (n,) [m^3/s] that comes into chambers a and b from outside: through valve, suction and drain."""
        c = self._of
        u = minimum(maximum(u, -1.0), 1.0)
        out, back, D_0 = maximum(u, 0.0), maximum(-u, 0.0), c["transition"]
        flows = []
        for K, fill, empty, p in ((c["flow"], out, back, p_a), (c["rod_flow"], back, out, p_b)):
            through = K * (fill * orifice(c["supply"] - p, D_0) - empty * orifice(p - c["tank"], D_0))
            low = maximum(c["tank"] - p, 0.0)
            through = through + (c["suction"] * orifice(low, D_0) if any(self.suction) else 0.0)
            flows.append(through - c["drain"] * (p - c["tank"]))
        return flows[0], flows[1]

    def capacities(self, length: Any) -> tuple[Any, Any]:
        """V / beta + C (n,) [m^3/Pa] of chambers a and b."""
        c = self._of
        x = length - c["closed_length"]
        V_a, V_b = c["dead_volume"] + c["area"] * x, c["dead_volume"] + c["area"] * c["rod_ratio"] * (c["stroke"] - x)
        return V_a / c["bulk_modulus"] + c["compliance"], V_b / c["bulk_modulus"] + c["compliance"]

    def _room(self, at: Moving, p_a: Any, p_b: Any) -> Any:
        """(n,) not below zero where the equations hold: within the stroke, or half of the dead volume beyond a stop,
        and above the lowest pressure."""
        c = self._of
        soft = np.where(c["end_stiffness"] > 0.0, 0.5 * c["dead_volume"] / c["area"], ENDS * c["stroke"])
        too_short, too_long = self._beyond(at.length)
        return minimum(soft - too_short - too_long, minimum(p_a, p_b) - c["lowest"])

    def _parted(self, x: Signals, p: Any) -> tuple[Moving, Any, Any, Any]:
        """Motion, p_a, p_b, and zeros (n,), NaN where the equations do not hold."""
        at, n = self.moving(x), len(self.area)
        p_a, p_b = p[:n], p[n:]
        return at, p_a, p_b, where(maximum(-self._room(at, p_a, p_b), 0.0), np.nan, 0.0)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        at, p_a, p_b, holds = self._parted(x, p)
        force = self.force(at, p_a, p_b) + holds
        effort = self._of["lever"] * force if self.line is None else self.line.effort(at.G, force[0])
        return dict(zip(self.outputs, (effort, p_a, p_b, force, at.length, at.rate), strict=True))

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        at, p_a, p_b, holds = self._parted(x, p)
        c = self._of
        Q_a, Q_b = self.inflow(self.take(x, self.opening, self.size), p_a, p_b)
        across = c["leakage"] * (p_a - p_b)
        capacity_a, capacity_b = self.capacities(at.length)
        rate_a = (Q_a - across - c["area"] * at.rate) / capacity_a
        rate_b = (Q_b + across + c["area"] * c["rod_ratio"] * at.rate) / capacity_b
        return np.concatenate([rate_a + holds, rate_b + holds])

    def trouble(self, t: Any, x: Signals, p: Any, m: Any) -> str:
        at, p_a, p_b, holds = self._parted(x, np.asarray(p))
        for k in np.flatnonzero(np.isnan(np.asarray(holds, dtype=float))):
            which = f"{self.who}, number {k}" if len(self.area) > 1 else self.who
            low, high = self.closed_length[k], self.closed_length[k] + self.stroke[k]
            if min(p_a[k], p_b[k]) >= self.lowest[k]:
                remedy = "check closed_length, stroke and q0; end_stiffness=1e8 lets it rest at its ends"
                return f"{which}: it is {at.length[k]:.9g} m long, expected {low:g} m to {high:g} m. Hint: {remedy}"
            chamber, pressure = ("a", p_a[k]) if p_a[k] < self.lowest[k] else ("b", p_b[k])
            return (
                f"{which}: the pressure of chamber {chamber} is {pressure:.9g} Pa, below {self.lowest[k]:g} Pa, where "
                "oil boils. Hint: start with higher pressures (initial), or let oil in from the tank by suction valves"
            )
        return ""

    # ------------------------------------------------------------------ by hand
    def steady(self, force: float, speed: float = 0.0) -> Steady:
        """Opening and pressures with which one cylinder pushes with ``force`` [N] while it moves with ``speed`` [m/s]:
        both edges pass what the chambers take and give. Friction comes on top of the force, leakage is left out. At
        speed zero it is the limit of slow motions against the force."""
        if len(self.area) != 1:
            raise StateError(f"{self.who}: steady is for one cylinder, got {len(self.area)}. Hint: a block for each")
        A, K, K_b, P_s, P_t = self.area[0], self.flow[0], self.rod_flow[0], self.supply[0], self.tank[0]
        A_b = A * self.rod_ratio[0]
        drops = (A * K_b / (A_b * K)) ** 2  # at the edge of a over that at the edge of b
        F = force + self.viscous[0] * speed + self.coulomb[0] * float(np.tanh(speed / self.smooth[0]))
        if speed > 0.0 or (speed == 0.0 and F >= 0.0):  # P_s - p_a = drops (p_b - P_t)
            over = (A * P_s - A_b * P_t - F) / (A * drops + A_b)
            p_a, p_b, drop = P_s - drops * over, P_t + over, drops * over
        else:  # p_a - P_t = drops (P_s - p_b)
            over = (F - A * P_t + A_b * P_s) / (A * drops + A_b)
            p_a, p_b, drop = P_t + drops * over, P_s - over, drops * over
        opening = 0.0 if speed == 0.0 else A * speed / (K * np.sqrt(drop)) if drop > 0.0 else np.inf
        if not abs(opening) <= 1.0 or drop < 0.0:
            raise StateError(
                f"{self.who}: no opening of its valve moves it with {speed:g} m/s against {F:.6g} N, "
                f"at rest it has {A * P_s - A_b * P_t:.6g} N. Hint: a larger area, flow or supply"
            )
        if min(p_a, p_b) < self.lowest[0]:
            raise StateError(
                f"{self.who}: moved with {speed:g} m/s by {F:.6g} N its pressures would be {p_a:.6g} and {p_b:.6g} Pa, "
                f"below {self.lowest[0]:g} Pa. Hint: narrower edges where oil leaves, see flow and rod_flow"
            )
        return Steady(float(opening), float(p_a), float(p_b))


def orifice(drop: Any, transition: Any) -> Any:
    """f(D) = D / (D^2 + D_0^2)^(1/4) [sqrt(Pa)]."""
    return drop / np.sqrt(np.sqrt(drop * drop + transition * transition))
