"""What a robot on legs is, for gaits: feet, their corners and hips, closed forms of its legs, its mirror image.

The mirror image across the plane y = 0 of the base exchanges left and right: a joint goes to its partner, with the
sign that the mirrored axis asks for. A rotation about x or z changes its sign, a shift along y too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.errors import GyrostatError, nearest
from gyrostat.robots.aibo import LEGS, LOWER, OFFSET, UPPER
from gyrostat.robots.humanoid import SHANK, THIGH
from gyrostat.robots.leg_kinematics import aibo_leg_joints, humanoid_leg_joints, leg_solvers
from gyrostat.solvers.functions import crba, fk
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "legs"
SIDES = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("_l", "_r"), ("_L", "_R"), ("L_", "R_"))


@dataclass(frozen=True)
class Foot(StudyData):
    """A foot: the ``frame`` that stands, ``"fixed"`` (flat) or on a ``"point"``; ``corners``: frames of a flat foot
    that bound its sole; ``hip`` and ``ankle``: frames whose distance is at most ``reach`` [m]; ``joints`` of the leg
    from the hip."""

    name: str
    frame: str
    joints: tuple[str, ...]
    kind: str = "fixed"
    corners: tuple[str, ...] = ()
    hip: str = ""
    ankle: str = ""
    reach: float = np.inf


@dataclass(frozen=True, eq=False)
class LeggedRobot(StudyData):
    """A model with its feet. ``apart``: (frame, frame, least distance [m]) of parts of legs that must not collide."""

    model: Model
    feet: tuple[Foot, ...]
    apart: tuple[tuple[str, str, float], ...] = ()
    closed: bool = field(default=True)

    def __post_init__(self) -> None:
        expect_model(self.model, WHO)
        if not self.feet:
            raise GyrostatError(f"{WHO}: '{self.model.name}' has no feet. Hint: feet=[gs.studies.Foot(...)]")
        first = self.model.layout.blocks[0]
        if not first.moves:
            raise GyrostatError(f"{WHO}: '{self.model.name}' has no free base. Hint: gs.load(..., base='free')")

    def foot(self, name: str) -> Foot:
        """The foot of a name."""
        for foot in self.feet:
            if foot.name == name:
                return foot
        raise GyrostatError(
            f"{WHO}: '{self.model.name}' has no foot '{name}'. Hint: {nearest(name, [f.name for f in self.feet])}"
        )

    def closed_forms(self) -> dict[str, Any]:
        """Blocks of inverse kinematics by frame."""
        return dict(leg_solvers(self.model))


def legged(robot: Model | LeggedRobot) -> LeggedRobot:
    """Feet of the robots that come with gyrostat; others are described as a :class:`LeggedRobot`."""
    if isinstance(robot, LeggedRobot):
        return robot
    expect_model(robot, WHO)
    names = robot.wiring.entities
    if all(f"{side}_foot" in names and f"{side}_hip_yaw" in names for side in ("left", "right")):
        return _humanoid(robot)
    if "front_left_lower" in names and "front_left_rotator" in names:
        return _aibo(robot)
    raise GyrostatError(
        f"{WHO}: the feet of '{robot.name}' are not known. "
        "Hint: gs.studies.LeggedRobot(model, feet=[gs.studies.Foot(...)])"
    )


def _humanoid(model: Model) -> LeggedRobot:
    feet = []
    for side in ("left", "right"):
        corners = tuple(f"{side}_foot.{end}_{way}" for end in ("toe", "heel") for way in ("left", "right"))
        leg = Foot(side, f"{side}_foot.sole", humanoid_leg_joints(side), "fixed", corners, f"torso.{side}_hip",
                   f"{side}_shank.ankle", 0.985 * (THIGH + SHANK))  # fmt: skip
        feet.append(leg)
    apart = (("left_shank.ankle", "right_shank.ankle", 0.13), ("left_thigh.knee", "right_thigh.knee", 0.11))
    return LeggedRobot(model, tuple(feet), apart)


def _aibo(model: Model) -> LeggedRobot:
    reach = 0.985 * float(np.hypot(UPPER + LOWER, OFFSET))
    feet = [
        Foot(leg, f"{leg}_lower.foot", aibo_leg_joints(leg), "point", (), f"torso.{leg}", f"{leg}_lower.foot", reach)
        for leg in LEGS
    ]
    sides = (("front_left", "rear_left"), ("front_right", "rear_right"))
    apart = tuple((f"{a}_lower.foot", f"{b}_lower.foot", 0.03) for a, b in sides)
    return LeggedRobot(model, tuple(feet), apart)


# ------------------------------------------------------------------------------------------------ the mirror image
@dataclass(frozen=True)
class Mirror(StudyData):
    """x* = sign x[partner] for displacements, rates and efforts (nv,); ``feet``: foot -> its partner."""

    partner: tuple[int, ...]
    sign: tuple[float, ...]
    feet: dict[str, str]

    def __call__(self, x: Any) -> Any:
        """The mirror image of rates (..., nv)."""
        return np.asarray(x)[..., list(self.partner)] * np.array(self.sign)


def mirror(robot: Model | LeggedRobot, exchange: Mapping[str, str] | None = None, feet: Sequence[str] = ()) -> Mirror:
    """The mirror map of a model, from its names and its geometry; ``exchange``: left joint -> right joint where names
    do not tell. It is checked: mass matrices of mirrored configurations are each other's images."""
    legs = robot if isinstance(robot, LeggedRobot) else None
    model = legs.model if legs else robot
    assert isinstance(model, Model)
    given = dict(exchange or {})
    given |= {b: a for a, b in given.items()}
    names = model.layout.entities
    pose = fk(model, neutral(model))
    partner, sign = np.arange(model.nv), np.ones(model.nv)
    for block in model.layout:
        other = given.get(block.entity) or other_side(block.entity, names)
        at, to = range(block.v.start, block.v.stop), model.layout.of[other].v
        if block.nv == 6:
            partner[list(at)], sign[list(at)] = range(to.start, to.stop), [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0]
            continue
        if block.nv != 1:
            raise GyrostatError(
                f"mirror: the joint '{block.entity}' has {block.nv} rates. Hint: write it as single joints"
            )
        partner[at.start] = to.start
        one: Any = model.wiring.entities[block.entity]
        two: Any = model.wiring.entities[other]
        kinds = {getattr(x, "kind", "") for x in (one, two)}
        axes = []
        for name, entity in ((block.entity, one), (other, two)):
            axis = np.asarray(entity.axis, dtype=float)
            axes.append(pose[f"{name}.a"].R @ axis)
        image = axes[0] * np.array([1.0, -1.0, 1.0])
        turns = "prismatic" not in kinds
        along = float((-image if turns else image) @ axes[1])
        if len(kinds) != 1 or abs(abs(along) - 1.0) > 1e-6:
            raise GyrostatError(
                f"mirror: '{block.entity}' and '{other}' of '{model.name}' are no mirror images across y = 0. "
                "Hint: exchange={'left_joint': 'right_joint'}"
            )
        sign[at.start] = 1.0 if along > 0.0 else -1.0
    own = [f.name for f in legs.feet] if legs else list(feet)
    found = Mirror(tuple(int(k) for k in partner), tuple(sign.tolist()), {f: other_side(f, own) for f in own})
    _expect_symmetric(model, found)
    return found


def other_side(name: str, names: Any) -> str:
    """The name of the other side, or the same name in the middle."""
    for left, right in SIDES:
        for a, b in ((left, right), (right, left)):
            if a in name and name.replace(a, b) in names and name.replace(a, b) != name:
                return name.replace(a, b)
    return name


def _expect_symmetric(model: Model, found: Mirror) -> None:
    rng = np.random.default_rng(0)
    x = 0.3 * rng.normal(size=model.nv)
    x[:6] = 0.0
    q, image = (np.array(neutral(model)) for _ in range(2))
    at = model.layout
    q[at.number_q] += x[at.number_v]
    image[at.number_q] += found(x)[at.number_v]
    M, W = crba(model, q), crba(model, image)
    p, s = list(found.partner), np.array(found.sign)
    off = float(np.abs(W[np.ix_(p, p)] * np.outer(s, s) - M).max())
    off = min(off, float(np.abs(M[np.ix_(p, p)] * np.outer(s, s) - W).max()))
    if off > 1e-6 * float(np.abs(M).max()):
        raise GyrostatError(
            f"mirror: '{model.name}' is not its own mirror image: mass matrices differ by {off:.3g}. "
            "Hint: a whole stride needs no mirror"
        )
