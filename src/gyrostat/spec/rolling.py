"""Rolling without slipping: a disc or a sphere on a plane (nonholonomic; Meijaard and others 2007, AS 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import axis_problems, not_finite, shown
from gyrostat.spec.values import Axis, Number


class Rolling(Entity):
    """A wheel rolls on a plane without slipping; ports ``ground`` and ``wheel``.

    The plane is z = 0 of the frame at ``ground``, which may move; the wheel's centre is the origin of the frame at
    ``wheel``. ``kind``: ``"disc"``, about ``axis`` in the frame of the wheel, touches with the lowest point of its rim,
    whatever its camber and heading; ``"sphere"`` has no axis. ``radius`` [m] of the wheel. ``crown`` [m]: radius of the
    section of a round tyre, included in ``radius``; 0 is a knife edge.

    Three equations: the wheel touches the plane (holonomic), and its material point there has no velocity against that
    of the plane, along x and y of ``ground`` (two on velocities alone). They hold always: a wheel that lifts off or
    slides needs contact by :class:`ContactPoint`. No coordinates, no mass; it carries nothing."""

    tells_mass: ClassVar[bool] = True
    since: ClassVar[int] = 4

    radius: Number
    kind: Literal["disc", "sphere"] = "disc"
    axis: Axis = (0.0, 1.0, 0.0)
    crown: Number = 0.0

    def __init__(self, name: str, radius: Any = None, **properties: Any):
        super().__init__(name, **({} if radius is None else {"radius": radius}), **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("ground"), Port("wheel")

    def on(self, wheel: str, ground: str | None = None) -> RollingOn:
        """The same for a frame ``wheel`` of a model, on the plane of a frame ``ground``, by default the world's: for
        ``model.with_rolling(...)`` and ``gs.simulate(..., events=[...])``."""
        return RollingOn(self, wheel, ground)

    @property
    def closes(self) -> bool:
        return True

    @property
    def carries_nothing(self) -> bool:
        return True

    def problems(self) -> list[Problem]:
        problems = not_finite(self) + axis_problems(self, "axis", self.axis)
        if self.radius <= 0.0:
            message = f"'radius' must be positive, got {shown(self.radius)}"
            problems.append(self.problem("rolling-radius", message, "give metres", ("radius",)))
        if not 0.0 <= self.crown <= self.radius:
            message = f"'crown' must be from 0 to the radius {shown(self.radius)}, got {shown(self.crown)}"
            remedy = "0 is a knife edge, 0.05 a round tyre of 10 cm width"
            problems.append(self.problem("rolling-radius", message, remedy, ("crown",)))
        return problems


@dataclass(frozen=True)
class RollingOn:
    """What rolls, at which frame ``wheel`` of a model, and on which ``ground``; None is the world's frame."""

    rolling: Rolling
    wheel: str
    ground: str | None = None
