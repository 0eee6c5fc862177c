"""``gs.grasp`` and ``gs.release``: a body that moved freely is held by a frame where it is, and let go again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates
from gyrostat.errors import StateError, nearest
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.edits.scope import checked
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import first_of_each
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import RotationMatrix

Array = np.ndarray
GRIP, POSE = "_grip", "_pose"
"""Behind the name of a body: the displacement that holds it, the free joint that lets it go."""


def grasp(model: Model, q: Any, body: str, by: str, *, t: Any = None) -> Model:
    """A new model in which ``body`` is fixed to the frame ``by`` as it lies there at q (nq,): the joint by which it was
    on its own is gone, and a displacement ``<body>_grip`` holds it.

    For the reset of an event: ``return gs.grasp(model, q, "box", "gripper.tip")``; rates follow from the impact. The
    place is made of numbers, so that another place is another model, with machine code of its own; whoever grasps at
    the same place again and again returns one and the same model object."""
    who = f"grasp '{body}'"
    joint = _holder(model, body, who, Joint)
    if body in _outboard(model, by.partition(".")[0]):
        raise StateError(f"{who}: '{by}' is carried by it. Hint: by= is a frame of the robot that grasps")
    R, p = _relative(model, q, by, f"{body}.origin", t)
    left = rebuilt(model, Changes(drop={joint}))
    return checked(
        _with_link(
            left,
            who,
            Displacement(f"{body}{GRIP}", translation=p.tolist(), rotation=_rotation(R)),
            ("a", by),
            ("b", body),
        ),
        True,
    )


def release(model: Model, body: str) -> Model:
    """A new model in which a body that was grasped moves freely, on a joint ``<body>_pose`` from the reference frame.
    In the reset of an event it goes on with the velocity that it has."""
    who = f"release '{body}'"
    link = _holder(model, body, who, Displacement)
    if model.context.base != "fixed":
        raise StateError(f"{who}: the reference frame of '{model.name}' moves with its base. Hint: Joint(..., 'free')")
    left = rebuilt(model, Changes(drop={link}))
    root = f"{model.wiring.root}.frame"
    return checked(_with_link(left, who, Joint(f"{body}{POSE}", "free"), ("a", root), ("b", body)), True)


def _holder(model: Model, body: str, who: str, kind: type[Joint] | type[Displacement]) -> str:
    """The entity by which a body is connected with the rest."""
    bodies = [name for name, entity in model.wiring.entities.items() if isinstance(entity, RigidBody)]
    if body not in bodies:
        raise StateError(f"{who}: '{model.name}' has no body '{body}'. Hint: {nearest(str(body), bodies)}")
    parent = model.wiring.tree.parent.get(body, "")
    entity = model.wiring.entities.get(parent)
    if "." in body or not isinstance(entity, kind) or parent not in first_of_each(model.entities):
        wanted = "a joint, such as Joint(..., 'free')," if kind is Joint else f"a displacement, such as '{body}{GRIP}',"
        raise StateError(
            f"{who}: it is on '{parent}', expected {wanted} that holds it alone, outside of assemblies. Hint: "
            "model.detach and model.attach change any structure"
        )
    return parent


def _outboard(model: Model, name: str) -> list[str]:
    """Entities from one inwards."""
    found, parent = [name], model.wiring.tree.parent
    while found[-1] in parent and parent[found[-1]] != found[-1]:
        found.append(parent[found[-1]])
    return found


def _relative(model: Model, q: Any, one: str, two: str, t: Any) -> tuple[Array, Array]:
    """Place of the frame ``two`` in ``one``."""
    at = cached_solver(model, ForwardKinematics, representation="body")(coordinates(model, q, "grasp"), t=t)
    a, b = at[one], at[two]
    return a.R.T @ b.R, a.R.T @ (b.p - a.p)


def _rotation(R: Array) -> RotationMatrix:
    return RotationMatrix(matrix=R.tolist())


def _with_link(model: Model, who: str, link: Any, one: tuple[str, str], two: tuple[str, str]) -> Model:
    """With an entity between a frame and the origin of a body."""
    if link.name in first_of_each(model.entities):
        raise StateError(f"{who}: the name '{link.name}' is in use already. Hint: model.rename")
    (port, frame), (other, body) = one, two
    links = (frame, f"{link.name}.{port}"), (f"{link.name}.{other}", f"{body}.origin")
    return replace(model, entities=(*model.entities, link), connections=(*model.connections, *links))
