"""What solvers need of components from elsewhere, and the refusal of those that cannot give it, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.frame_forces import MovingFrame, frame_forces
from gyrostat.algorithms.recursions.rne import rne
from gyrostat.algorithms.shafts.elements import shafts
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.algorithms.user_components.component_equations import foreign
from gyrostat.algorithms.user_components.row_examination import TOLERANCE, Character, Examination, unit_vector
from gyrostat.errors import RowError
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.graph.network import Network, Pair
from gyrostat.graph.transmission import ShaftComponent
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Pose


def examined(network: Network) -> dict[str, Character]:
    """Components from elsewhere by name, each looked at once per model."""
    known: dict[Any, Character] = network.model.__dict__.setdefault("_examined", {})
    characters: dict[str, Character] = {}
    for c in foreign(network):
        key = c.name, c.met
        if not rne.serves(c):
            continue  # kinematics alone may serve; everything else tells what is missing
        if key not in known:
            known[key] = Examination(network, c).character()
        characters[c.name] = known[key]
    return characters


WHY = {
    "rigid": "has inertia, but not that of rigid bodies: {0} does not know its mass and centre",
    "inertial": "has quadratic velocity forces that are not those of its inertia: {0} would not be what it claims",
    "light": "has an inertia of its own: {0} knows rigid bodies only, by their ten parameters",
    "energy": "exerts forces at rest, whose energy is not known to {0}",
    "weighs": "has another weight in this field than one rigid body of its inertia: {0} does not know its energy",
}
HINTS = {
    "rigid": "leave it out, or write it as RigidBody and a component without mass",
    "inertial": "use bias, or write the forces that drive it with abs",
    "light": "write it as a RigidBody",
    "energy": "register a row with gs.stored_energy.row({1})",
    "weighs": "write it as several components with one body each",
}


def refuse(network: Network, who: str, needs: Iterable[str]) -> None:
    """Components from elsewhere that cannot give what a solver needs, by name: ``"rigid"``, ``"inertial"``,
    ``"light"``, ``"energy"`` or ``"weighs"``, see :data:`WHY`."""
    for name, kind, lacks in _lacking(network):
        for need in needs:
            if need in lacks:
                told, hint = WHY[need].format(who), HINTS[need].format(who, kind.__name__)
                raise RowError(f"{who}: '{name}' of kind {kind.__name__} {told}. Hint: {hint}")


def _lacking(network: Network) -> Iterator[tuple[str, type, set[str]]]:
    characters = examined(network)
    for c in network.components:
        if c.name in characters:
            it = characters[c.name]
            energy = it.pushes and not _stores(c.kind)
            flaws = {"rigid": not it.rigid, "inertial": not it.inertial, "light": it.massive, "energy": energy}
            flaws["weighs"] = not it.weighs
            yield c.name, c.kind, {need for need, lacks in flaws.items() if lacks}
    rng = np.random.default_rng(7)
    for element in network.transmission.elements:
        if not _stores(element.kind) and any(abs(float(x)) > TOLERANCE for x in _at_rest(element, rng)):
            yield element.name, element.kind, {"energy"}
    for pair in network.pairs:
        if not _stores(pair.kind) and np.abs(np.concatenate(_between(pair, rng))).max() > TOLERANCE:
            yield pair.name, pair.kind, {"energy"}


def _stores(kind: type) -> bool:
    return any(base in stored_energy.rows for base in kind.__mro__)


def _at_rest(element: ShaftComponent, rng: np.random.Generator) -> list[Any]:
    """Torques of an element whose shafts stand still somewhere."""
    angle = {port: float(rng.normal()) for port in element.shafts}
    still = dict.fromkeys(element.shafts, 0.0)
    return list(shafts.of(element)(element, angle, still, still).values())  # type: ignore[arg-type]


def _between(pair: Pair, rng: np.random.Generator) -> tuple[Array, Array]:
    """Force and torque between two frames that stand still somewhere."""
    a, b = (
        MovingFrame(
            Pose(from_quaternion(unit_vector(rng.normal(size=4))), rng.normal(size=3)), np.zeros(3), np.zeros(3)
        )
        for _ in range(2)
    )
    force, torque = frame_forces.of(pair)(pair, a, b)  # type: ignore[arg-type]
    return np.asarray(force, dtype=float), np.asarray(torque, dtype=float)
