"""The 28 mechanisms of one body whose motion MSC ADAMS has computed, as trees of gyrostat.

Source: unit tests of projectchrono/chrono, commit 7689fbc, data/testing/joints (BSD-3): ADAMS decks (.adm) where there
are any, else the parameters in src/tests/unit_tests/joints/utest_JOINT_*.cpp. The decks of the springs
(test_RotSpring_Case01.adm, test_TransSpring_Case01.adm) have other constants than the histories; those of the .cpp
files are right.

Mass 1 kg, gravity 9.80665 m/s^2 along -z, from rest (the actuator: from its speed), 5 s. World axes throughout;
``turn`` are Euler angles z-x-z [deg], as REULER in ADAMS. Nothing needs a loop:

* distance: universal joint on the ground, massless rod, spherical joint on the body;
* revolute-spherical: the same with a revolute joint on the ground;
* spring between two points: a free body with a PointSpring; where its law is not linear, the rod of the distance joint
  has a prismatic joint, whose effort is the law. Where the two points coincide at the start (rest length 0), a line
  between them has no direction: there a Bushing, of equal stiffness and damping in all directions, is the same law for
  a motion along one line;
* actuator: a prismatic joint under the effort that inverse dynamics finds for zero acceleration.

The universal joints turn about x first: the rods never come closer than 15 deg to x, where their angles would be
undefined (Distance_Case02, the worst).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.geometry.rotation import from_euler
from gyrostat.spec.values import Euler

Vector = tuple[float, float, float]
GRAVITY = 9.80665
UPRIGHT, TURN, LEAN = (0, 0, 0), (180, 90, 180), (180, 45, 180)
LONG, ACROSS, TALL = (0.04, 0.1, 0.1), (0.1, 0.04, 0.1), (0.1, 0.1, 0.04)
HALF = float(np.sqrt(0.5))


@dataclass(frozen=True)
class Law:
    """Force or torque k d + ``square`` |d| d + ``damping`` dd/dt against the stretch d, at rest with the start."""

    stiffness: float
    damping: float
    square: float = 0.0


@dataclass(frozen=True)
class Case:
    """``ground``: the marker's place; ``turn``: its axes. ``centre``, ``body_turn``: centre of mass and axes of the
    body at the start. ``attached``: where on the body the joint or spring ends, if it does not at ``ground``."""

    kind: str
    centre: Vector
    ground: Vector = (0, 0, 0)
    turn: Vector = UPRIGHT
    body_turn: Vector | None = None  # as ``turn``
    inertia: Vector = LONG
    attached: Vector | None = None
    law: Law | None = None
    speed: float = 0.0


SOFT, STIFF, BENT = Law(10.0, 0.5), Law(100.0, 5.0), Law(50.0, 5.0, 10.0)
A, B, END = (1, 2, 3), (3, 2, 3), (0, 2, 0)
CASES = {
    "Revolute_Case01": Case("revolute", (2, 0, 0), turn=TURN),
    "Revolute_Case02": Case("revolute", B, A, LEAN),
    "Spherical_Case01": Case("spherical", (2, 0, 0)),
    "Spherical_Case02": Case("spherical", B, A, LEAN),
    "Universal_Case01": Case("universal", END, turn=(0, 90, 0), inertia=TALL),
    "Universal_Case02": Case("universal", (-2, 0, 0), turn=(90, 90, -90), inertia=TALL),
    "Universal_Case03": Case("universal", (2 * HALF, 2 * HALF, 0), turn=(-45, 90, 45), inertia=TALL),
    "Cylindrical_Case01": Case("cylindrical", (2, 0, 0)),
    "Cylindrical_Case02": Case("cylindrical", (2, 0, 0), turn=TURN),
    "Cylindrical_Case03": Case("cylindrical", B, A, LEAN),
    "Prismatic_Case01": Case("prismatic", (2, 0, 0)),
    "Prismatic_Case02": Case("prismatic", B, A, LEAN),
    "Prismatic_Case03": Case("prismatic", B, A, TURN),
    "Distance_Case01": Case("distance", END, attached=END),
    "Distance_Case02": Case("distance", (-1, 4, 3), A, attached=(1, 4, 3)),
    "Distance_Case03": Case("distance", (0, 4, 0), body_turn=(-90, 0, 0), attached=END),
    "RevSpherical_Case01": Case("revolute-spherical", (2, 2, 0), body_turn=UPRIGHT, inertia=ACROSS, attached=(2, 0, 0)),
    "RevSpherical_Case02": Case("revolute-spherical", (3, 4, 3), A, LEAN, UPRIGHT, ACROSS, B),
    "LinActuator_Case01": Case("actuator", (0, 0, 0), inertia=(1, 1, 1), speed=1.0),
    "LinActuator_Case02": Case("actuator", (0, 0, 0), turn=(90, 45, -90), inertia=(1, 1, 1), speed=0.5),
    "RotSpring_Case01": Case("revolute", (2, 0, 0), turn=TURN, law=Law(200.0, 10.0)),
    "RotSpring_Case02": Case("revolute", (2, 0, 0), turn=TURN, law=Law(50.0, 10.0, 10.0)),
    "TranSpring_Case01": Case("bushing", (0, 0, 0), attached=(0, 0, 0), law=SOFT),
    "TranSpring_Case02": Case("spring", END, attached=END, law=STIFF),
    "TranSpringCB_Case01": Case("bushing", (0, 0, 0), attached=(0, 0, 0), law=SOFT),
    "TranSpringCB_Case02": Case("spring", END, attached=END, law=STIFF),
    "TranSpringCB_Case03": Case("strut", (-1, 4, 3), A, attached=(1, 4, 3), law=BENT),
    "TranSpringCB_Case04": Case("strut", (0, 4, 0), body_turn=(-90, 0, 0), attached=END, law=BENT),
}


@dataclass(frozen=True)
class Mechanism:
    """A model and what it takes to let it go. Frame ``body``: centre of mass and axes of the body; the port ``post.b``:
    the marker on the ground, in the world's axes; ``end``: where on the body the joint ends."""

    case: Case
    model: gs.Model
    axes: np.ndarray  # of the marker on the ground, in the world
    v0: np.ndarray
    effort: Callable[[Any, Any, Any], Any] | None = None


def rotation(angles: Vector) -> np.ndarray:
    """R = Rz Rx Rz of angles [deg]."""
    return from_euler(np.deg2rad(angles), "ZXZ")


def _turned(name: str, angles: Vector, back: bool = False) -> gs.Displacement:
    """A change of axes; ``back``: from those axes to the world's."""
    z, x, w = np.deg2rad(angles)
    return gs.Displacement(name, rotation=Euler(euler=(-w, -x, -z) if back else (z, x, w), axes="ZXZ"))


def vector(x: np.ndarray) -> Vector:
    a, b, c = (float(k) for k in x)
    return a, b, c


def joints(case: Case) -> list[Any]:
    """From the marker on the ground to the point ``end`` of the body, in the marker's axes."""
    end = case.centre if case.attached is None else case.attached
    rod = vector(rotation(case.turn).T @ np.subtract(end, case.ground))
    if case.kind in ("distance", "strut"):
        slide = [gs.Joint("slide", "prismatic", axis="y")] if case.kind == "strut" else []
        swing = gs.Joint("swing", "universal", axis="x", second_axis="z")
        return [swing, *slide, gs.Displacement("rod", translation=rod), gs.Joint("ball", "spherical")]
    if case.kind == "revolute-spherical":
        hinge = gs.Joint("joint", "revolute", axis="z")
        return [hinge, gs.Displacement("rod", translation=rod), gs.Joint("ball", "spherical")]
    if case.kind in ("spring", "bushing"):
        return [gs.Joint("joint", "free"), gs.Displacement("rod", translation=rod)]
    kind = {"actuator": "prismatic"}.get(case.kind, case.kind)
    axes = {"spherical": {}, "universal": {"axis": "x", "second_axis": "y"}}.get(kind, {"axis": "z"})
    return [gs.Joint("joint", kind, **axes), gs.Displacement("rod", translation=rod)]


def build(name: str) -> Mechanism:
    """The mechanism of a case."""
    case = CASES[name]
    body_turn = case.turn if case.body_turn is None else case.body_turn
    arm = np.subtract(case.centre, case.centre if case.attached is None else case.attached)
    links = gs.chain(
        "world",
        gs.Displacement("post", translation=case.ground),
        _turned("marker", case.turn),
        *joints(case),
        gs.Displacement("end"),
        _turned("upright", case.turn, back=True),
        gs.Displacement("arm", translation=vector(arm)),
        _turned("axes", body_turn),
        gs.RigidBody("body", mass=1.0, inertia=case.inertia),
    )
    model = gs.assemble(name, links, *_elements(case), gravity=(0, 0, -GRAVITY))
    v0 = np.full(model.nv, case.speed)
    return Mechanism(case, model, rotation(case.turn), v0, _effort(case, model))


def _elements(case: Case) -> list[Any]:
    """Springs and dampers, and what they are connected to."""
    law, found = case.law, []
    if law is None:
        return []
    if case.kind == "spring":
        length = float(np.linalg.norm(np.subtract(case.centre, case.ground)))
        found.append(gs.PointSpring("spring", stiffness=law.stiffness, damping=law.damping, rest_length=length))
    elif case.kind == "bushing":
        six = [(0, 0, 0, x, x, x) for x in (law.stiffness, law.damping)]
        found.append(gs.Bushing("spring", stiffness=six[0], damping=six[1]))
    if found:
        return [*found, gs.connect("post.b", "spring.a"), gs.connect("end.b", "spring.b")]
    shaft = "slide.shaft" if case.kind == "strut" else "joint.shaft"
    return [
        gs.Spring("spring", stiffness=law.stiffness, ground=True),
        gs.Damper("damper", damping=law.damping, ground=True),
        gs.connect(shaft, "spring.a", "damper.a"),
    ]


def _effort(case: Case, model: gs.Model) -> Callable[[Any, Any, Any], Any] | None:
    """What is not linear in a law; for the actuator what holds its speed."""
    if case.kind == "actuator":
        weight = gs.rnea(model, np.zeros(1), np.zeros(1), np.zeros(1))
        return lambda t, q, v: weight
    if case.law is None or not case.law.square:
        return None
    square, k = case.law.square, model.dofs.index("slide" if case.kind == "strut" else "joint")
    row = np.eye(model.nv)[k]
    return lambda t, q, v: row * (-square * q[k] * np.sqrt(q[k] * q[k]))
