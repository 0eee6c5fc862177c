"""<equality> of an MJCF: joints that follow others or are held, and bodies that are tied to each other.

=========================== ========================================================================================
MJCF                        model
=========================== ========================================================================================
joint, linear               a ``Gear``: q1 = ref1 + c0 + c1 (q2 - ref2); likewise a fixed tendon of joints that is held
                            at its length
joint, up to degree four    a ``PolynomialCoupling``
joint, alone                no joint: the body stands at q1 = ref1 + c0
connect                     a passive spherical joint that closes the loop
weld                        a fixed joint that closes the loop; a spherical one where its torquescale is 0
=========================== ========================================================================================

All of them are rigid here: ``solref`` and ``solimp``, the softness that MuJoCo gives them, are passed over, and told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.io.mjcf.build import BALL, FREE, Parts
from gyrostat.io.mjcf.compile import Compiled
from gyrostat.io.mjcf.shapes import Pose, after, inverse, pose
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.numbers import number
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.polynomial_coupling import PolynomialCoupling

FIX = "take it out, or load without equalities by mimic=False"

Tie = tuple[Any, Element]
"""MuJoCo's equality and its element."""


def fixed_tendons(root: Element) -> dict[str, list[tuple[str, float]]]:
    """Joints and coefficients of the tendons that are sums of joint angles, by name."""
    tendons: dict[str, list[tuple[str, float]]] = {}
    for tendon in root.iterfind("tendon/fixed"):
        terms = [(joint.get("joint") or "", number((joint.get("coef") or "0").strip())) for joint in tendon]
        if tendon.get("name") and all(isinstance(coef, float) for _, coef in terms):
            tendons[tendon.get("name")] = [(joint, coef) for joint, coef in terms if isinstance(coef, float)]
    return tendons


def used(reader: MjcfReader, done: Compiled, ties: list[Tie], off: bool) -> list[Tie]:
    """The equalities that are switched on; what is said about them, and not done, is told. ``off``: all are out."""
    kept: list[Tie] = []
    for equality, element in ties:
        if off or not equality.active:
            reader.ignore(element, "unused-equality", "an equality that is switched off is not in the model")
            continue
        kept += [(equality, element)] if _known(reader, done, equality, element) else []
        soft = [key for key in ("solref", "solimp") if key in element.attrib]
        if soft:
            what = "equalities are rigid here: how soft MuJoCo makes them is not in the model"
            reader.ignore(element, "unused-softness", what, shown(element, *soft))
    return kept


def _known(reader: MjcfReader, done: Compiled, equality: Any, element: Element) -> bool:
    """Whether the joints, bodies or sites that are tied exist."""
    m, kinds, sites = done.model, done.mujoco.mjtEq, done.mujoco.mjtObj.mjOBJ_SITE
    if equality.type == kinds.mjEQ_JOINT:
        sort, names = "joint", {m.joint(j).name for j in range(m.njnt)}
    elif equality.type not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
        return True
    elif equality.objtype == sites:
        sort, names = "site", {m.site(k).name for k in range(m.nsite)}
    else:
        sort, names = "body", {m.body(b).name for b in range(m.nbody)}
    optional = sort != "site"  # without a second name: one joint alone, or the world
    given = [equality.name1, *([equality.name2] if equality.name2 or not optional else [])]
    for name in given:
        if not name or name not in names:
            what = f"ties a {sort} that does not exist"
            near = reader.nearest(name, sorted(names - {""}))
            reader.error(element, f"unknown-{sort}", what, repr(name[:60]), near)
            return False
    return True


def held(done: Compiled, ties: list[Tie]) -> dict[int, float]:
    """Joint -> the coordinate at which an equality without a second joint holds it."""
    m, values = done.model, dict[int, float]()
    for equality, _ in ties:
        if equality.type == done.mujoco.mjtEq.mjEQ_JOINT and not equality.name2:
            j = int(m.joint(equality.name1).id)
            values[j] = float(m.qpos0[m.jnt_qposadr[j]]) + float(equality.data[0])
    return values


@dataclass
class Equalities:
    """Puts ties into the parts of a model; ``reference``: where joints are in the file, if it closes loops."""

    parts: Parts
    tendons: dict[str, list[tuple[str, float]]]  # fixed tendons: joints and coefficients
    closes: bool = False

    def add(self, ties: list[Tie]) -> None:
        """An entity for each equality."""
        reader, kinds = self.parts.reader, self.parts.done.mujoco.mjtEq
        for equality, element in ties:
            if equality.type in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD):
                self._closure(equality, element, equality.type == kinds.mjEQ_WELD)
            elif equality.type not in (kinds.mjEQ_JOINT, kinds.mjEQ_TENDON):
                what = f"<{element.tag}> ties flexible bodies, which are not treated"
                reader.error(element, "flexible", what, shown(element), FIX)
            elif equality.type == kinds.mjEQ_JOINT and not equality.name2:
                self._expect_held(equality, element)
            elif (terms := self._terms(equality)) is not None and self._single(terms[0]):
                self._gear(equality.name, element, *terms)
            elif equality.type == kinds.mjEQ_JOINT and self._single([equality.name1, equality.name2]):
                self._polynomial(equality, element)
            else:
                what = "only different hinges and slides that move are coupled, or fixed tendons of them held"
                reader.wrong(element, "coupling", what, shown(element), FIX, left_out=True)

    def reference(self) -> dict[str, float]:
        """Coordinates of hinges and slides in the configuration of the file, where loops are closed by it."""
        m = self.parts.done.model
        if not self.closes:
            return {}
        values = {name: (j, float(m.qpos0[m.jnt_qposadr[j]])) for j, name in self.parts.joint.items()}
        return {name: q for name, (j, q) in values.items() if q and m.jnt_type[j] not in (FREE, BALL)}

    # ------------------------------------------------------------------ couplings of joints
    def _expect_held(self, equality: Any, element: Element) -> None:
        """A joint that is held is told if another equality holds it elsewhere."""
        m, parts = self.parts.done.model, self.parts
        j = int(m.joint(equality.name1).id)
        value = float(m.qpos0[m.jnt_qposadr[j]]) + float(equality.data[0])
        if parts.held[j] != value:
            what = "another equality holds the joint elsewhere"
            parts.reader.error(element, "coupling", what, shown(element), "keep one of them")

    def _single(self, joints: list[str]) -> bool:
        """Whether all of them are hinges and slides of the model."""
        m = self.parts.done.model
        kinds = {m.joint(j).name: m.jnt_type[j] for j in self.parts.joint}
        return len(set(joints)) == len(joints) and all(kinds.get(name, FREE) not in (FREE, BALL) for name in joints)

    def _terms(self, equality: Any) -> tuple[list[str], list[float], float] | None:
        """(joints, ratios, shift): q0 - ref0 = shift + sum of ratio_k (q_k - ref_k); None if it is not of that kind."""
        c = [float(x) for x in equality.data[:5]]
        if equality.type == self.parts.done.mujoco.mjtEq.mjEQ_JOINT:
            return ([equality.name1, equality.name2], [c[1]], c[0]) if c[1] and not any(c[2:]) else None
        path = [(joint, coef) for joint, coef in self.tendons.get(equality.name1, []) if coef]
        names = [joint for joint, _ in path]
        if equality.name2 or len(path) < 2 or len(set(names)) < len(path):
            return None
        first = path[0][1]
        return names, [-coef / first for _, coef in path[1:]], c[0] / first

    def _ends(self, joints: list[str]) -> tuple[list[str], list[float]]:
        """Names in the model, and coordinates in the configuration of the file."""
        m = self.parts.done.model
        numbers = [int(m.joint(name).id) for name in joints]
        return [self.parts.joint[j] for j in numbers], [float(m.qpos0[m.jnt_qposadr[j]]) for j in numbers]

    def _name(self, wanted: str, first: str, sort: str) -> str:
        return self.parts.names.free(wanted or f"{first[:100]}_{sort}", sort)

    def _gear(self, wanted: str, element: Element, joints: list[str], ratios: list[float], shift: float) -> None:
        (first, *others), ref = self._ends(joints)
        own = self._name(wanted, first, "coupling")
        offset = ref[0] + shift - sum(ratio * x for ratio, x in zip(ratios, ref[1:], strict=True))
        gear = Gear(own, ratios[0] if len(ratios) == 1 else [ratios], offset=offset)
        self.parts.add(gear, element)
        ends = [(f"{own}.{p}", f"{other}.shaft") for p, other in zip(gear.joints, others, strict=True)]
        self.parts.connections += [(f"{own}.motor", f"{first}.shaft"), *ends]

    def _polynomial(self, equality: Any, element: Element) -> None:
        """q1 = ref1 + c0 + c1 x + ... + c4 x^4, x = q2 - ref2."""
        (first, second), ref = self._ends([equality.name1, equality.name2])
        c = [float(x) for x in equality.data[:5]]
        if not any(c[1:]):
            what = "a joint that follows another by a constant is held; leave the other joint out"
            self.parts.reader.error(element, "coupling", what, shown(element), "take joint2 out")
            return
        while not c[-1]:
            c.pop()
        own = self._name(equality.name, first, "coupling")
        self.parts.add(PolynomialCoupling(own, [ref[0] + c[0], *c[1:]], reference=ref[1]), element)
        self.parts.connections += [(f"{own}.driver", f"{second}.shaft"), (f"{own}.follower", f"{first}.shaft")]

    # ------------------------------------------------------------------ loops
    def _closure(self, equality: Any, element: Element, weld: bool) -> None:
        """A joint between the two bodies: point on point, or frame on frame."""
        sites = equality.objtype == self.parts.done.mujoco.mjtObj.mjOBJ_SITE
        (body1, X1), (body2, X2) = self._sites(equality) if sites else self._bodies(equality, weld)
        turns = weld and float(equality.data[10]) == 0.0
        if body1 == body2:
            what = "ties a body to itself"
            self.parts.reader.error(element, "loop", what, shown(element), "name two different bodies")
            return
        kind = "spherical" if turns or not weld else "fixed"
        if kind == "spherical":  # its quaternion is one in the configuration of the file
            X2 = (self._place(body2)[0].T @ self._place(body1)[0] @ X1[0], X2[1])
        own = self._name(equality.name, self._label(body1), element.tag)
        ports = [self._port(body, X, own, element) for body, X in ((body1, X1), (body2, X2))]
        self.parts.add(Joint(own, kind, **({"passive": True} if kind == "spherical" else {})), element)
        self.parts.connections += [(ports[0], f"{own}.a"), (f"{own}.b", ports[1])]
        self.closes = True

    def _label(self, body: int) -> str:
        return self.parts.body[body] if body else "world"

    def _port(self, body: int, X: Pose, own: str, element: Element) -> str:
        return self.parts.displaced(f"{self._label(body)}.{'origin' if body else 'frame'}", X, own, element)

    def _place(self, body: int) -> Pose:
        """A body in the world, in the configuration of the file."""
        return self.parts.places[body]

    def _bodies(self, equality: Any, weld: bool) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
        """(body, frame in it) of both sides: x1 + R1 p = x2 + R2 anchor, and R1 R = R2 where (R, p) is the relpose of a
        weld; without one, and for connect, they meet where the bodies are in the file."""
        m = self.parts.done.model
        bodies = [int(m.body(name).id) if name else 0 for name in (equality.name1, equality.name2)]
        one, two = (self._place(body) for body in bodies)
        anchor, data = np.array(equality.data[:3], float), np.array(equality.data, float)
        if not weld:
            there = one[1] + one[0] @ anchor
            return (bodies[0], (np.eye(3), anchor)), (bodies[1], (np.eye(3), two[0].T @ (there - two[1])))
        here: Pose = (np.eye(3), anchor)
        if data[6:10].any():
            return (bodies[0], pose(data[3:6], data[6:10])), (bodies[1], here)
        return (bodies[0], after(inverse(one), after(two, here))), (bodies[1], here)

    def _sites(self, equality: Any) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
        m = self.parts.done.model
        numbers = [int(m.site(name).id) for name in (equality.name1, equality.name2)]
        one, two = ((int(m.site_bodyid[k]), pose(m.site_pos[k], m.site_quat[k])) for k in numbers)
        return one, two
