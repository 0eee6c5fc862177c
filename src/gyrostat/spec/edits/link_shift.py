"""A link behind a displacement of its own, as Denavit-Hartenberg tables make them: joint, shift, body at the next one.
Where the link is met is then where it ends; its extent is the shift, which becomes part of the body."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.rotation import denavit_hartenberg
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.edits.link_ends import attachments, frames_of
from gyrostat.spec.edits.scope import find_port, scope_of, with_scope
from gyrostat.spec.model import Model
from gyrostat.spec.orientation import matrix_of
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import RotationMatrix

Array = np.ndarray
NEAR = 1e-6
"""Points [m] that are the same."""


def shift_absorbed(model: Model, full: str, body: RigidBody, start: str | None, who: str) -> tuple[Model, RigidBody]:
    """The model and its link ``full`` with the displacement before it as a frame of the link, where every joint that
    the link carries is at the place where it is met; else as they are."""
    visit = next((v for v in model.wiring.tree.visits if v.entity == full), None)
    if start is not None or visit is None or visit.source is None:
        return model, body
    shift, _, far = visit.source.rpartition(".")
    placed = model.wiring.entities.get(shift)
    if not isinstance(placed, Displacement | DHDisplacement) or shift.rpartition(".")[0] != full.rpartition(".")[0]:
        return model, body
    places = frames_of(body)
    met = places[str(visit.inport)][1]
    joints = [a.p for a in attachments(model, full, body) if a.joint is not None]
    if not joints or any(np.linalg.norm(p - met) > NEAR for p in joints):
        return model, body
    R, p = _place(placed)
    if far == "b":  # seen from the link
        R, p = R.T, -R.T @ p
    R_met, p_met = places[str(visit.inport)]
    R, p = R_met @ R, p_met + R_met @ p
    near = next(name for name in ("a", "b") if name != far)
    return _replaced(model, full, body, shift.rpartition(".")[2], (near, far), (R, p), who)


def _place(shift: Displacement | DHDisplacement) -> tuple[Array, Array]:
    """R (3, 3) and p (3,) of b seen from a."""
    if isinstance(shift, Displacement):
        return matrix_of(shift.rotation), np.array(shift.translation)
    R, p = denavit_hartenberg(shift.a, shift.alpha, shift.d, shift.theta, shift.convention)
    return np.array(R, dtype=float), np.array(p, dtype=float)


def _replaced(
    model: Model, full: str, body: RigidBody, shift: str, ports: tuple[str, str], place: tuple[Array, Array], who: str
) -> tuple[Model, RigidBody]:
    near, far = ports
    taken = {"origin", *(frame.name for frame in body.frames)}
    name = "base" if "base" not in taken else f"{shift}_{near}"
    frames = {f.name: (f.translation, f.rotation) for f in body.frames}
    frames[name] = tuple(place[1].tolist()), RotationMatrix(matrix=place[0])  # type: ignore[assignment]
    given = {key: getattr(body, key) for key in body.model_fields_set - {"frames"}}
    made = RigidBody(**given, frames=frames)
    scope = find_port(model, f"{full}.origin", who).scope
    entities, connections = scope_of(model, scope)
    links = []
    for group in connections:
        moved = [f"{body.name}.{name}" if text == f"{shift}.{near}" else text for text in group]
        kept = tuple(text for text in moved if text != f"{shift}.{far}")
        if len(kept) > 1:
            links.append(kept)
    changed = tuple(made if e.name == body.name else e for e in entities if e.name != shift)
    return with_scope(model, scope, changed, links), made
