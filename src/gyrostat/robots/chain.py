"""Chains of any length."""

from __future__ import annotations

from collections.abc import Sequence

from gyrostat.errors import SpecError
from gyrostat.spec.assemble import Link, assemble
from gyrostat.spec.assemble import chain as in_a_row
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody


def chain(n: int, axes: Sequence[str] = ("z", "y"), length: float = 0.3, mass: float = 1.0) -> Model:
    """A chain of ``n`` equal links along z with revolute joints ``joint1`` ..., whose axes repeat ``axes``.

    Each link is a rod of ``mass`` [kg] and ``length`` [m] with the radius ``length / 10``.
    """
    if n < 1:
        raise SpecError.one("chain", "length", f"needs at least one link, got n = {n}", "give n >= 1", n)
    radius = length / 10.0
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    moments = (across, across, mass * radius**2 / 2.0)
    links: list[Link] = []
    for k in range(1, n + 1):
        links.append(Joint(f"joint{k}", "revolute", axis=axes[(k - 1) % len(axes)]))
        links.append(
            RigidBody(f"link{k}", mass=mass, com=(0, 0, length / 2), inertia=moments, frames={"tip": (0, 0, length)})
        )
    return assemble(f"chain{n}", in_a_row("world", *links))
