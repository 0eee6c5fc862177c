"""A gait as data: robot, pattern, length and time of a stride, cost, and what must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates
from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.solvers.functions import fk
from gyrostat.spec.model import Model
from gyrostat.studies.gaits.legged_robot import LeggedRobot, Mirror, legged, mirror
from gyrostat.studies.gaits.patterns import StancePhase, gait_pattern
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
TERMS = ("torque", "velocity", "power")
STABILITY = ("static", "dynamic")
LANDING = ("rest", "impact")
BENT = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}


@dataclass(frozen=True, eq=False)
class Gait(StudyData):
    """What is asked for.

    ``robot``: a model whose legs are known (humanoid, Aibo), or a :class:`LeggedRobot`. ``pattern``: a name of
    ``gs.studies.PATTERNS`` or a :class:`GaitPattern`. ``stride``: length [m] of a whole stride, in
    ``period`` [s], or between (shortest, longest): the one that costs least; parts of phases stay.
    ``nodes``: grid points of what is computed, half a stride where the gait is its own mirror image (``symmetric``).

    ``cost``: weights of the integrals of "torque" u.u [N^2 m^2 s], "velocity" v.v of all joints [rad^2 / s], "power" (u
    . v)^2 by joint [W^2 s]; "effort" is H04 (5.4), torque and velocity with weight 1.

    ``stability``: ``"static"``, the centre of mass stays over the support polygon, ``margin`` [m] inside; or
    ``"dynamic"``, forces of every contact lie in its cone and, of flat feet, in its sole, which is the condition on the
    zero-moment point. ``friction``: greatest ratio of horizontal to vertical force, in a pyramid inside the cone.
    ``clearance`` [m]: height of the sine that swinging feet stay above, ``highest`` [m]: how
    high the frame of a swinging foot may be above its home. ``tilt`` [rad]: how far the
    base may turn about each axis.
    ``lift_off``: whether a foot that leaves bears no force at last, where others stand on. ``landing``: ``"rest"``,
    feet touch down without velocity, so that there is no impact, or ``"impact"``: feet that touch down, and those that
    stand on, come to rest at once, by impulses that push and lie in their cones and soles. ``q0`` (nq,): how
    the robot stands; a foot's home is where it is then."""

    robot: Any
    pattern: Any
    stride: float
    period: Any
    nodes: int = 63
    cost: Any = "effort"
    stability: str = "dynamic"
    friction: float = 0.6
    margin: float = 0.005
    clearance: float = 0.03
    highest: float = 0.1
    tilt: float = 0.3
    lift_off: bool = True
    landing: str = "rest"
    symmetric: bool | None = None
    q0: Any = None
    name: str = ""

    def __post_init__(self) -> None:
        who = f"gait '{self.name}'" if self.name else "gait"
        object.__setattr__(self, "robot", legged(self.robot))
        object.__setattr__(self, "pattern", gait_pattern(self.pattern))
        object.__setattr__(self, "period", read_period(self.period, who))
        for what, least in (
            ("friction", 0.0),
            ("tilt", 0.0),
            ("highest", 0.0),
            ("clearance", -1e-12),
            ("margin", -1e-12),
        ):
            value = getattr(self, what)
            if not isinstance(value, int | float) or not least < value < np.inf:
                raise GyrostatError(f"{who}: {what} must be above zero, got {clipped(value)}")
        if not isinstance(self.stride, int | float) or not np.isfinite(self.stride):
            raise GyrostatError(f"{who}: stride must be a length [m], got {clipped(self.stride)}")
        if isinstance(self.nodes, bool) or not isinstance(self.nodes, int) or not 5 <= self.nodes <= 5000:
            raise GyrostatError(f"{who}: nodes must be a whole number from 5 to 5000, got {clipped(self.nodes)}")
        for what, known in (("stability", STABILITY), ("landing", LANDING)):
            if getattr(self, what) not in known:
                raise GyrostatError(
                    f"{who}: {what} is {clipped(getattr(self, what))}. Hint: {nearest(str(getattr(self, what)), known)}"
                )
        object.__setattr__(self, "cost", read_cost(self.cost, who))
        for foot in self.pattern.feet:
            self.robot.foot(foot)
        q0 = standing(self.robot) if self.q0 is None else coordinates(self.model, self.q0, who)
        object.__setattr__(self, "q0", np.array(q0))
        if self.symmetric is None:
            object.__setattr__(self, "symmetric", self.pattern.mirrored(self._exchange()))
        if self.stability == "static":
            self._expect_areas(who)

    def _exchange(self) -> dict[str, str]:
        try:
            found = self.mirror.feet
        except GyrostatError:
            return {self.pattern.feet[0]: self.pattern.feet[0]}
        return {a: b for a, b in found.items() if a in self.pattern.feet and a < b}

    def _expect_areas(self, who: str) -> None:
        for phase in self.phases:
            corners = sum(max(1, len(self.robot.foot(f).corners)) for f in phase.feet)
            if corners < 3:
                raise GyrostatError(
                    f"{who}: static stability needs an area to stand on, and {' and '.join(phase.feet) or 'no foot'} "
                    "is none. Hint: stability='dynamic', or a pattern with more feet on the ground"
                )

    # ------------------------------------------------------------------ what follows
    @property
    def model(self) -> Model:
        """The model of the robot."""
        return self.robot.model

    @cached_property
    def mirror(self) -> Mirror:
        """The mirror image of the robot."""
        return mirror(self.robot)

    @cached_property
    def phases(self) -> tuple[StancePhase, ...]:
        """Those that are computed."""
        return self.pattern.half(self._exchange()) if self.symmetric else self.pattern.phases

    @property
    def weights(self) -> Array:
        """(3,) of ``TERMS``."""
        return np.array([self.cost.get(word, 0.0) for word in TERMS])

    @property
    def periods(self) -> tuple[float, float]:
        """Shortest and longest [s]."""
        return self.period if isinstance(self.period, tuple) else (self.period, self.period)

    @property
    def usual_period(self) -> float:
        """With which the search begins [s]."""
        return float(np.sqrt(self.periods[0] * self.periods[1]))

    @property
    def part(self) -> float:
        """Which part of a stride is computed."""
        return 0.5 if self.symmetric else 1.0

    @cached_property
    def intervals(self) -> tuple[int, ...]:
        """Of each phase; all phases together have ``nodes`` points."""
        lengths = np.array([p.end - p.start for p in self.phases])
        wanted = np.maximum(2, np.round(lengths / lengths.sum() * (self.nodes - len(lengths)))).astype(int)
        wanted[int(np.argmax(wanted))] += self.nodes - len(lengths) - int(wanted.sum())
        if wanted.min() < 1:
            raise GyrostatError(f"gait: {self.nodes} nodes are too few for {len(lengths)} phases. Hint: more nodes")
        return tuple(int(x) for x in wanted)

    @cached_property
    def home(self) -> dict[str, Array]:
        """Where each foot is (3,) in ``q0``."""
        pose = fk(self.model, self.q0)
        return {foot.name: np.asarray(pose[foot.frame].p) for foot in self.robot.feet}

    def place(self, foot: str, s: float) -> Array:
        """Where a foot stands (3,) in the world during the part s of a stride, counted from the first touch-down of the
        first foot: its home is under the hip in the middle of each stance."""
        k = self.pattern.feet.index(foot)
        beta, phi, first = self.pattern.duty[k], self.pattern.phase[k], self.pattern.phase[0]
        number = np.floor(s + first - phi + 1e-9)
        forward = self.stride * (phi + 0.5 * beta + number - first)
        return self.home[foot] + np.array([forward, 0.0, 0.0])

    def swing(self, foot: str, s: float) -> tuple[float, float]:
        """Lift-off and touch-down, as parts of a stride, between which a foot is in the air at s."""
        k = self.pattern.feet.index(foot)
        beta, phi, first = self.pattern.duty[k], self.pattern.phase[k] - self.pattern.phase[0], s
        number = np.floor(first - phi + 1e-9)
        return phi + beta + number, phi + 1.0 + number


def read_period(given: Any, who: str) -> float | tuple[float, float]:
    """A duration, or two, the shorter one first [s]."""

    def good(x: Any) -> bool:
        return isinstance(x, int | float) and not isinstance(x, bool) and 0.0 < x < np.inf

    if good(given):
        return float(given)
    if isinstance(given, list | tuple) and len(given) == 2 and all(good(x) for x in given) and given[0] < given[1]:
        return float(given[0]), float(given[1])
    raise GyrostatError(
        f"{who}: period must be above zero, or (shortest, longest), got {clipped(given)}. Hint: seconds, (0.5, 1.5)"
    )


def read_cost(given: Any, who: str) -> dict[str, float]:
    """Weights by word."""
    if isinstance(given, str):
        given = {given: 1.0}
    if not isinstance(given, Mapping):
        raise GyrostatError(f"{who}: cost must be a word or weights by word, got {clipped(given)}. Hint: 'effort'")
    weights: dict[str, float] = {}
    for word, weight in given.items():
        if word not in (*TERMS, "effort"):
            raise GyrostatError(
                f"{who}: there is no cost {clipped(word)}. Hint: {nearest(str(word), (*TERMS, 'effort'))}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0.0 <= weight < np.inf:
            raise GyrostatError(f"{who}: the weight of '{word}' is {clipped(weight)}, expected a number from 0 on")
        for one in ("torque", "velocity") if word == "effort" else (word,):
            weights[one] = weights.get(one, 0.0) + float(weight)
    if not any(weights.values()):
        raise GyrostatError(f"{who}: nothing costs anything. Hint: cost='effort'")
    return weights


def standing(robot: LeggedRobot) -> Array:
    """A usual way to stand: knees bent, soles on the ground."""
    model = robot.model
    q = np.array(neutral(model))
    for joint in [j for foot in robot.feet for j in foot.joints]:
        at = model.layout.of[joint].q
        for ending, angle in BENT.items():
            if joint.endswith(ending) and not joint.startswith(("front", "rear")):
                q[at] = angle
        if joint.endswith("_rotator"):
            q[at] = -0.5 if joint.startswith("front") else 0.5
        if joint.endswith("_knee") and joint.startswith(("front", "rear")):
            q[at] = 1.0 if joint.startswith("front") else -1.0
    low = min(float(fk(model, q)[foot.frame].p[2]) for foot in robot.feet)
    q[model.layout.blocks[0].position.start + 2] -= low
    return q
