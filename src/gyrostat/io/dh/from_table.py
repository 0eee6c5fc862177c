"""Denavit-Hartenberg tables to models: links, joints and the motors of the Robotics Toolbox."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from gyrostat.errors import SpecError, clipped
from gyrostat.io.accept_policy import AcceptedBody, AcceptedPlace
from gyrostat.io.dh.table import DHRow, to_rows
from gyrostat.spec.assemble import Link, assemble, chain
from gyrostat.spec.check import check
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import RotationMatrix, to_rotation, to_vector

Convention = Literal["standard", "modified"]
_log = logging.getLogger("gyrostat")


def from_dh(
    table: Iterable[DHRow | Mapping[str, Any]],
    convention: Convention = "standard",
    *,
    name: str = "arm",
    base: Any = None,
    tool: Any = None,
    gravity: Any = (0.0, 0.0, -9.81),
    policy: Literal["strict", "accept"] = "strict",
) -> Model:
    """A serial arm from its Denavit-Hartenberg table; rows are mappings or :class:`DHRow`, one for each joint.

    ``standard``: Rz(theta) Tz(d) Tx(a) Rx(alpha), the joint before the shift, the frame of link i at the joint i + 1.
    ``modified`` (Craig): Rx(alpha) Tx(a) Rz(theta) Tz(d), the frame of link i at joint i. Joints are called ``q1``,
    ``q2``, ..., links ``link1``, ... unless rows say ``name`` and ``link``.

    ``base``: where frame 0 is in the world, ``tool``: where the tool is in the last link's frame, each as 4x4 matrix,
    translation [m], or (translation, rotation); they become ``base`` and ``tool``. ``gravity`` [m/s^2] is the
    acceleration itself, in the world: the toolbox for MATLAB writes its opposite.

    Motors, as in the Robotics Toolbox: G^2 Jm is added to the joint's inertia, and nothing else of the rotor; friction
    on the joint is G^2 B v + abs(G) Tc, Tc by the sign of the joint's rate.

    ``policy="accept"`` takes masses and inertias that no body has, and links without mass, and tells them in the log
    ``gyrostat``. Raises :class:`SpecError` that names every row and field that is wrong.
    """
    rows = to_rows(table)
    _expect(convention, ("standard", "modified"), "convention")
    _expect(policy, ("strict", "accept"), "policy")
    links: list[Link] = [] if base is None else [_place("base", base)]
    for k, row in enumerate(rows):
        beyond = any(other.m for other in rows[k:])
        links += _row(row, convention, _link(row, policy == "accept", beyond))
    if tool is not None:
        links.append(_place("tool", tool))
    model = assemble(name, chain("world", *links), gravity=gravity)
    check(model)
    for row in rows:
        model = _with_motor(model, row)
    return model


def _expect(value: object, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        message = f"{what} must be one of {', '.join(known)}, got {clipped(value)}"
        raise SpecError.one("from_dh", "property-value", message, f"write {what}='{known[0]}'", value)


def _row(row: DHRow, convention: Convention, link: list[Link]) -> list[Link]:
    """Joint, shift and link in the order of the convention."""
    turns = row.kind == "revolute"
    theta, d = row.theta + row.offset * turns, row.d + row.offset * (not turns)
    shift = DHDisplacement(f"{row.name}_shift", a=row.a, alpha=row.alpha, d=d, theta=theta, convention=convention)
    limits = {} if row.qlim is None else {"lower": row.qlim[0], "upper": row.qlim[1]}
    joint = Joint(row.name, row.kind, axis="-z" if row.flip else "z", **limits)
    return [joint, shift, *link] if convention == "standard" else [shift, joint, *link]


def _link(row: DHRow, accept: bool, beyond: bool) -> list[Link]:
    """The body; a place where there is neither mass nor inertia, which only ``accept`` lets move nothing."""
    if row.m == 0.0 and not np.any(row.I):
        return [AcceptedPlace(row.link) if accept and not beyond else Displacement(row.link)]
    values: dict[str, Any] = {"mass": row.m, "com": row.r, "inertia": row.I}
    body = RigidBody(row.link, **values)
    problems = body.problems() if accept else []
    if not problems:
        return [body]
    _log.warning("%s", "\n".join(str(problem) for problem in problems))
    moving = [AcceptedPlace(f"{row.link}_accepted")] if row.m == 0.0 else []
    return [AcceptedBody(row.link, **values), *moving]


def _place(name: str, given: Any) -> Displacement:
    """A placement as a displacement."""
    try:
        translation, rotation = _placement(given)
        return Displacement(name, translation=translation, **({} if rotation is None else {"rotation": rotation}))
    except RefusedError as refused:
        raise SpecError.one("from_dh", "placement", f"'{name}' {refused}", refused.remedy, given) from None


def _placement(given: Any) -> tuple[Any, Any]:
    if isinstance(given, tuple) and len(given) == 2:
        return to_vector(given[0]), to_rotation(given[1])
    try:
        T = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        T = np.zeros(0)
    if T.shape == (3,):
        return to_vector(T), None
    if T.shape != (4, 4) or not np.array_equal(T[3], (0.0, 0.0, 0.0, 1.0)):
        remedy = "write (x, y, z), ((x, y, z), rotation), or a 4x4 matrix with the last row 0 0 0 1"
        raise RefusedError("must be a placement", given, remedy)
    return to_vector(T[:3, 3]), RotationMatrix(matrix=T[:3, :3].tolist())


def _with_motor(model: Model, row: DHRow) -> Model:
    """Inertia and friction of a motor, brought to the joint: with a negative G the motor turns against the joint,
    while ``Tc`` goes by the joint's rate."""
    if not row.has_motor:
        return model
    values: dict[str, Any] = {"gear_ratio": row.G}
    if row.Jm:
        values |= {"rotor_inertia": row.Jm, "reflected_inertia_only": True}
    if row.B:
        values["viscous"] = row.G**2 * row.B
    if any(row.Tc):
        values["coulomb"] = (abs(row.G) * row.Tc[0], abs(row.G) * -row.Tc[1])
    return model.with_drive(row.name, **values)
