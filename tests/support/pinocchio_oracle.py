"""Pinocchio's answers for a gyrostat model: the one place where the conventions of the two are converted.

The mechanism is walked here once more, from the bare connections, so that nothing of ``gyrostat.graph`` and
``gyrostat.spatial`` takes part.

| | gyrostat | Pinocchio |
|---|---|---|
| motions, forces | angular part first | linear part first |
| q of ``free`` | position, quaternion x y z w | the same |
| v of ``free`` | angular, linear, in b | linear, angular, in b |
| ``cylindrical``, ``universal``, ``planar`` | one joint | single degrees of freedom in a row, massless |

A joint that is entered at its port b is written as the inverse motion: the axes are negated and the row is reversed.
For ``spherical`` and ``free`` the state is converted. With X_ab, which takes motions from b to a, the motion of a
against b, seen from a, is V' = -X_ab V. Its derivative is A' = -X_ab (A + V~ V) = -X_ab A, and equal power,
tau . V = tau' . V', gives tau = -X_ab^T tau'.

So v' = T(q) v and tau = T^T tau' with a matrix T of blocks. Along the twist e_k of such a joint, dT = T ad(e_k): hence
dT/dt = T ad(v), the change of v' at constant v is -T ad(v) e_k, and that of tau at constant tau' is ad(e_k)^T tau.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spec.values import AxisAngle, Euler, Quaternion, RotationMatrix
from tests.support.random_models import random_state

pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")

__all__ = ["Moved", "Oracle", "Walk", "place", "random_state", "walk"]

# names of the coordinates, as the documentation of Joint has them
ROW = {
    "revolute": ("",),
    "continuous": ("",),
    "prismatic": ("",),
    "helical": ("",),
    "cylindrical": ("angle", "shift"),
    "universal": ("angle1", "angle2"),
    "planar": ("x", "y", "angle"),
}
POSITION, QUATERNION = ("x", "y", "z"), ("qx", "qy", "qz", "qw")
ANGULAR, LINEAR = ("wx", "wy", "wz"), ("vx", "vy", "vz")
BRACKETS = {  # ad(e_k), by number of rates: linear part first, as in Pinocchio
    3: np.array([pin.skew(e) for e in np.eye(3)]),
    6: np.array([pin.Motion(e).action for e in np.eye(6)]),
}


# ------------------------------------------------------------------------------------------------ geometry
def turn(axis, angle: float) -> pin.SE3:
    """Rotation about a unit vector, or about a coordinate axis by its letter."""
    u = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}.get(axis, axis)
    return pin.SE3(pin.AngleAxis(float(angle), np.array(u, dtype=float)).toRotationMatrix(), np.zeros(3))


def shift(vector) -> pin.SE3:
    return pin.SE3(np.eye(3), np.array(vector, dtype=float))


def rotation(form) -> pin.SE3:
    """Any of the forms in which a rotation can be specified."""
    if isinstance(form, Quaternion):
        return pin.SE3(pin.Quaternion(np.array(form.quaternion)).normalized().toRotationMatrix(), np.zeros(3))
    if isinstance(form, AxisAngle):
        return turn(form.axis, form.angle)
    if isinstance(form, Euler):
        first, second, third = (turn(x.lower(), angle) for x, angle in zip(form.axes, form.euler, strict=True))
        return third * second * first if form.axes.islower() else first * second * third
    assert isinstance(form, RotationMatrix)
    return pin.SE3(np.array(form.matrix), np.zeros(3))


def place(entity) -> pin.SE3:
    """Placement of b in a of a displacement, or of a frame on its body."""
    if isinstance(entity, gs.DHDisplacement):
        about_z, along_z = turn("z", entity.theta), shift((0, 0, entity.d))
        along_x, about_x = shift((entity.a, 0, 0)), turn("x", entity.alpha)
        if entity.convention == "standard":
            return about_z * along_z * along_x * about_x
        return about_x * along_x * about_z * along_z
    return shift(entity.translation) * rotation(entity.rotation)


# ------------------------------------------------------------------------------------------------ the walk
@dataclass(frozen=True)
class Moved:
    """What moves against ``carrier`` (a number in Walk.moved, 0 is the world), on which the joint begins at ``at``.

    Its own frame is the port ``far`` of the joint; the joint is met at its port b if ``backward``.
    """

    name: str
    carrier: int
    at: pin.SE3
    joint: gs.Joint
    far: str

    @property
    def backward(self) -> bool:
        return self.far == "a"


@dataclass
class Walk:
    """The tree of moving parts: what sits where on which of them. ``moved[0]`` is the world and means nothing."""

    moved: list[Moved | None] = field(default_factory=lambda: [None])
    bodies: list[tuple[int, pin.SE3, gs.RigidBody]] = field(default_factory=list)
    forces: list[tuple[str, gs.ForceElement]] = field(default_factory=list)
    ports: dict[str, tuple[int, pin.SE3]] = field(default_factory=dict)

    def move(self, name: str, carrier: int, at: pin.SE3, joint: gs.Joint, far: str) -> tuple[int, pin.SE3]:
        self.moved.append(Moved(name, carrier, at, joint, far))
        return len(self.moved) - 1, pin.SE3.Identity()


def walk(model: gs.Model) -> Walk:
    """Depth first over connections, from the reference frame: Pinocchio wants the joints of a subtree in a row."""
    entities, groups = model.wiring.entities, model.wiring.groups
    met: dict[tuple[str, str], list[tuple[str, str]]] = {port: list(group) for group in groups for port in group}
    (root,) = (name for name, entity in entities.items() if isinstance(entity, gs.ReferenceFrame))
    found, world = Walk(), (0, pin.SE3.Identity())
    if model.context.base == "free":
        world = found.move(root, *world, gs.Joint(root, "free"), "frame")
    elif model.context.base != "fixed":
        raise ValueError(f"the oracle knows fixed and free bases, got {model.context.base!r}")
    stack, seen = [(root, "frame", *world)], {root}
    while stack:
        name, inport, carrier, at = stack.pop()
        for port, where in _enter(found, name, entities[name], inport, carrier, at).items():
            found.ports[f"{name}.{port}"] = where
            for other, other_port in met.get((name, port), []):
                if other not in seen:
                    seen.add(other)
                    stack.append((other, other_port, *where))
    return found


def _enter(found: Walk, name: str, entity, inport: str, carrier: int, at: pin.SE3) -> dict[str, tuple[int, pin.SE3]]:
    """All spatial ports of an entity whose port ``inport`` sits at ``at`` on ``carrier``."""
    here = {inport: (carrier, at)}
    if isinstance(entity, gs.RigidBody):
        places = {"origin": pin.SE3.Identity()} | {frame.name: place(frame) for frame in entity.frames}
        origin = at * places[inport].inverse()
        found.bodies.append((carrier, origin, entity))
        return {port: (carrier, origin * X) for port, X in places.items()}
    if isinstance(entity, gs.Displacement | gs.DHDisplacement):
        X = place(entity)
        return here | ({"b": (carrier, at * X)} if inport == "a" else {"a": (carrier, at * X.inverse())})
    if isinstance(entity, gs.Joint):
        far = "a" if inport == "b" else "b"
        return here | {far: (carrier, at) if entity.kind == "fixed" else found.move(name, carrier, at, entity, far)}
    if isinstance(entity, gs.ForceElement):
        found.forces.append((f"{name}.{inport}", entity))
    elif not isinstance(entity, gs.ReferenceFrame):
        raise ValueError(f"the oracle does not know {entity!r}")
    return here


# ------------------------------------------------------------------------------------------------ Pinocchio
def _direction(u) -> np.ndarray:
    return np.array(u) / np.linalg.norm(u)


def joint_row(joint: gs.Joint, backward: bool) -> list:
    """Pinocchio's joints for a kind that is a row of single degrees of freedom, in the order from inside to outside."""
    sign = -1.0 if backward else 1.0
    u = sign * _direction(joint.axis)
    about, along = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
    if joint.kind in ("revolute", "continuous"):
        return [about(u)]
    if joint.kind == "prismatic":
        return [along(u)]
    if joint.kind == "helical":
        return [pin.JointModelHelicalUnaligned(u, joint.pitch)]
    if joint.kind == "cylindrical":
        row = [about(u), along(u)]
    elif joint.kind == "universal":
        row = [about(u), about(sign * _direction(joint.second_axis))]
    else:
        assert joint.kind == "planar"
        n = _direction(joint.axis)
        e1 = joint.second_axis or np.eye(3)[(int(np.argmax(np.abs(n))) + 1) % 3]
        e1 = _direction(e1 - n * (n @ e1))
        row = [along(sign * e1), along(sign * np.cross(n, e1)), about(u)]
    return row[::-1] if backward else row


@dataclass(frozen=True)
class _Part:
    """Where the coordinates of one joint are: in gyrostat's q and v, and in Pinocchio's."""

    q: list[int]
    v: list[int]
    pin_q: list[int]
    pin_v: list[int]
    kind: str
    backward: bool


class Oracle:
    """A model in Pinocchio. States, forces and motions that go in and come out follow gyrostat's conventions."""

    def __init__(self, model: gs.Model):
        self.source, self.walk = model, walk(model)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(model.context.gravity.g)
        self.parts: list[_Part] = []
        self.joint_of = [0]
        for moved in self.walk.moved[1:]:
            self._add(moved)
        for carrier, at, body in self.walk.bodies:
            if any(body.momentum):
                raise ValueError("Pinocchio knows no internal momentum")
            inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
            self.model.appendBodyToJoint(self.joint_of[carrier], inertia, at)
        self.frame = {}
        for port, (carrier, at) in self.walk.ports.items():
            frame = pin.Frame(port, self.joint_of[carrier], at, pin.FrameType.OP_FRAME)
            self.frame[port] = self.model.addFrame(frame)
        self.data = self.model.createData()

    def _add(self, moved: Moved) -> None:
        joint, inside = moved.joint, self.joint_of[moved.carrier]
        coordinates, dofs = self.source.coordinates.index, self.source.dofs.index
        if joint.kind in ROW:
            names = [f"{moved.name}.{part}".removesuffix(".") for part in ROW[joint.kind]]
            q, v = [coordinates(name) for name in names], [dofs(name) for name in names]
            ids, at = [], moved.at
            for k, single in enumerate(joint_row(joint, moved.backward)):
                inside = self.model.addJoint(inside, single, at, f"{moved.name}:{k}")
                ids.append(inside)
                at = pin.SE3.Identity()
            ids = ids[::-1] if moved.backward else ids
            pin_q, pin_v = [self.model.idx_qs[i] for i in ids], [self.model.idx_vs[i] for i in ids]
        else:
            free = joint.kind == "free"
            single = pin.JointModelFreeFlyer() if free else pin.JointModelSpherical()
            inside = self.model.addJoint(inside, single, moved.at, moved.name)
            q = [coordinates(f"{moved.name}.{part}") for part in (*POSITION * free, *QUATERNION)]
            v = [dofs(f"{moved.name}.{part}") for part in (*LINEAR * free, *ANGULAR)]  # linear first
            pin_q = list(range(self.model.idx_qs[inside], self.model.idx_qs[inside] + len(q)))
            pin_v = list(range(self.model.idx_vs[inside], self.model.idx_vs[inside] + len(v)))
        self.parts.append(_Part(q, v, pin_q, pin_v, joint.kind, moved.backward))
        self.joint_of.append(inside)

    # -------------------------------------------------------------------------------------------- states
    def _convert(self, q, v, a) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pinocchio's q, v, a, and the matrix T of v_pin = T v, which is tau = T^T tau_pin for forces."""
        q_pin, T = np.zeros(self.model.nq), np.zeros((self.model.nv, self.model.nv))
        for part in self.parts:
            q_part, T_part = q[part.q], np.eye(len(part.v))
            if part.backward and part.kind in ("free", "spherical"):
                position = q_part[:3] if part.kind == "free" else np.zeros(3)
                X_ab = pin.SE3(pin.Quaternion(q_part[-4:]).toRotationMatrix(), position)
                X_ba = X_ab.inverse()
                back = pin.Quaternion(q_part[-4:]).conjugate().coeffs()
                q_part = np.concatenate([X_ba.translation, back]) if part.kind == "free" else back
                T_part = -X_ab.toActionMatrix() if part.kind == "free" else -X_ab.rotation
            q_pin[part.pin_q] = q_part
            T[np.ix_(part.pin_v, part.v)] = T_part
        return q_pin, T @ v, T @ a, T

    def _kinematics(self, q, v=None, a=None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        v, a = (np.zeros(self.model.nv) if x is None else np.asarray(x) for x in (v, a))
        q_pin, v_pin, a_pin, T = self._convert(np.asarray(q), v, a)
        pin.forwardKinematics(self.model, self.data, q_pin, v_pin, a_pin)
        pin.updateFramePlacements(self.model, self.data)
        return q_pin, v_pin, a_pin, T

    def _turning(self, rule: str, x) -> np.ndarray:
        """For joints with states that are converted ad(x) ("kij,k->ij") or all ad(e_k)^T x ("kij,i->jk"), else 0."""
        found = np.zeros((self.model.nv, self.model.nv))
        for part in self.parts:
            if part.backward and part.kind in ("free", "spherical"):
                found[np.ix_(part.v, part.v)] = np.einsum(rule, BRACKETS[len(part.v)], np.asarray(x)[part.v])
        return found

    def _ad(self, x) -> np.ndarray:
        return self._turning("kij,k->ij", x)

    def move(self, q, v, a) -> Oracle:
        """Set the state that the questions about ports refer to."""
        self._kinematics(q, v, a)
        return self

    # -------------------------------------------------------------------------------------------- ports
    def placement(self, port: str) -> tuple[np.ndarray, np.ndarray]:
        """R (3, 3) and p (3,) in the world."""
        X = self.data.oMf[self.frame[port]]
        return X.rotation.copy(), X.translation.copy()

    def velocity(self, port: str, expressed_in: str = "local") -> np.ndarray:
        return _angular_first(pin.getFrameVelocity(self.model, self.data, self.frame[port], _REFERENCE[expressed_in]))

    def spatial_acceleration(self, port: str, expressed_in: str = "local") -> np.ndarray:
        return _angular_first(
            pin.getFrameAcceleration(self.model, self.data, self.frame[port], _REFERENCE[expressed_in])
        )

    def acceleration(self, port: str, expressed_in: str = "local") -> np.ndarray:
        """Angular acceleration, and the acceleration of the origin against the world."""
        found = pin.getFrameClassicalAcceleration(self.model, self.data, self.frame[port], _REFERENCE[expressed_in])
        return _angular_first(found)

    # -------------------------------------------------------------------------------------------- forces
    def local_wrench(self, port: str, value, expressed_in: str) -> np.ndarray:
        """A wrench in the coordinates of its port; the state is that of the last call."""
        X = self.data.oMf[self.frame[port]]
        force = _force(value)
        if expressed_in == "local":
            return np.array(value)
        if expressed_in == "aligned":
            return _angular_first(pin.SE3(X.rotation, np.zeros(3)).actInv(force))
        if expressed_in != "world":
            force = self.data.oMf[self.frame[expressed_in]].act(force)
        return _angular_first(X.actInv(force))

    def _external(self, wrenches_local_at_port: dict | None) -> list:
        """Given wrenches and those of force elements, on Pinocchio's joints; the state is that of the last call."""
        acting = list((wrenches_local_at_port or {}).items())
        acting += [(port, self.local_wrench(port, f.wrench, f.expressed_in)) for port, f in self.walk.forces]
        external = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for port, value in acting:
            carrier, at = self.walk.ports[port]
            external[self.joint_of[carrier]] += at.act(_force(value))
        return external

    def rnea(self, q, v, a, wrenches_local_at_port: dict | None = None) -> np.ndarray:
        """tau in the order of ``model.dofs``, with wrenches in the coordinates of the ports they act at."""
        q_pin, v_pin, a_pin, T = self._kinematics(q, v, a)
        external = self._external(wrenches_local_at_port)
        return T.T @ pin.rnea(self.model, self.data, q_pin, v_pin, a_pin, external)

    def aba(self, q, v, tau, wrenches_local_at_port: dict | None = None) -> np.ndarray:
        """a in the order of ``model.dofs``; wrenches as in :meth:`rnea`."""
        q_pin, v_pin, _, T = self._kinematics(q, v)
        external, tau_pin = self._external(wrenches_local_at_port), np.linalg.solve(T.T, tau)
        return np.linalg.solve(T, pin.aba(self.model, self.data, q_pin, v_pin, tau_pin, external))

    def joint_forces(self) -> dict[str, np.ndarray]:
        """Cut forces at the far ports of the joints that move, in their coordinates; after :meth:`rnea`."""
        pairs = zip(self.walk.moved[1:], self.joint_of[1:], strict=True)
        return {f"{moved.name}.{moved.far}": _angular_first(self.data.f[joint]) for moved, joint in pairs}

    # -------------------------------------------------------------------------------------------- matrices
    def crba(self, q) -> np.ndarray:
        q_pin, _, _, T = self._kinematics(q)
        return T.T @ _symmetric(pin.crba(self.model, self.data, q_pin)) @ T

    def inverse_mass_matrix(self, q) -> np.ndarray:
        q_pin, _, _, T = self._kinematics(q)
        back = np.linalg.inv(T)
        return back @ _symmetric(pin.computeMinverse(self.model, self.data, q_pin)) @ back.T

    def bias(self, q, v) -> np.ndarray:
        """C v + G; wrenches of force elements are no part of it."""
        q_pin, v_pin, _, T = self._kinematics(q, v)
        return T.T @ pin.nonLinearEffects(self.model, self.data, q_pin, v_pin)

    def gravity(self, q) -> np.ndarray:
        q_pin, _, _, T = self._kinematics(q)
        return T.T @ pin.computeGeneralizedGravity(self.model, self.data, q_pin)

    def coriolis(self, q, v) -> np.ndarray:
        """One of the matrices C with dM/dt = C + C^T, of which C v is the part of tau that is quadratic in v."""
        q_pin, v_pin, _, T = self._kinematics(q, v)
        C = pin.computeCoriolisMatrix(self.model, self.data, q_pin, v_pin).copy()
        return T.T @ (C @ T + _symmetric(pin.crba(self.model, self.data, q_pin)) @ T @ self._ad(v))

    def mass_rate(self, q, v) -> np.ndarray:
        """dM/dt."""
        C = self.coriolis(q, v)
        return C + C.T

    def jacobian(self, q, port: str, expressed_in: str = "world") -> np.ndarray:
        """(6, nv): times v, the velocity of a port."""
        q_pin, _, _, T = self._kinematics(q)
        pin.computeJointJacobians(self.model, self.data, q_pin)
        return self._frame_matrix(pin.getFrameJacobian, port, expressed_in) @ T

    def jacobian_rate(self, q, v, port: str, expressed_in: str = "world") -> np.ndarray:
        """Time derivative of the entries of :meth:`jacobian`."""
        J = self.jacobian(q, port, expressed_in)
        q_pin, v_pin, _, T = self._kinematics(q, v)
        pin.computeJointJacobiansTimeVariation(self.model, self.data, q_pin, v_pin)
        return self._frame_matrix(pin.getFrameJacobianTimeVariation, port, expressed_in) @ T + J @ self._ad(v)

    def _frame_matrix(self, function, port: str, expressed_in: str) -> np.ndarray:
        found = _six_rows(function(self.model, self.data, self.frame[port], _REFERENCE[expressed_in]))
        return np.vstack([found[3:], found[:3]])

    # -------------------------------------------------------------------------------------------- the whole
    # Pinocchio leaves out what is fixed to the world. Here every body counts.
    def center_of_mass(self, q, v=None) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity, in the world."""
        q_pin, v_pin, _, _ = self._kinematics(q, v)
        pin.centerOfMass(self.model, self.data, q_pin, v_pin)
        moving, standing = self.data.mass[0], self.model.inertias[0]
        mass = moving + standing.mass
        p = (moving * self.data.com[0] + standing.mass * standing.lever) / mass
        return p, moving * self.data.vcom[0] / mass

    def centroidal_matrix(self, q) -> np.ndarray:
        """(6, nv): times v, angular and linear momentum about the centre of mass, in the axes of the world."""
        p, _ = self.center_of_mass(q)
        q_pin, _, _, T = self._kinematics(q)
        pin.ccrba(self.model, self.data, q_pin, np.zeros(self.model.nv))
        linear, angular = np.split(_six_rows(self.data.Ag), 2)
        return np.vstack([angular + pin.skew(self.data.com[0] - p) @ linear, linear]) @ T

    def centroidal_momentum(self, q, v) -> np.ndarray:
        p, _ = self.center_of_mass(q)
        q_pin, v_pin, _, _ = self._kinematics(q, v)
        found = pin.computeCentroidalMomentum(self.model, self.data, q_pin, v_pin)
        return _angular_first(pin.SE3(np.eye(3), self.data.com[0] - p).act(found))

    def kinetic_energy(self, q, v) -> float:
        q_pin, v_pin, _, _ = self._kinematics(q, v)
        return pin.computeKineticEnergy(self.model, self.data, q_pin, v_pin)

    def potential_energy(self, q) -> float:
        """-m g . p, summed over all bodies."""
        q_pin, _, _, _ = self._kinematics(q)
        standing = self.model.inertias[0]
        moving = pin.computePotentialEnergy(self.model, self.data, q_pin)
        return moving - standing.mass * self.model.gravity.linear @ standing.lever

    # -------------------------------------------------------------------------------------------- derivatives
    def rnea_derivatives(self, q, v, a) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """d tau / d q, v, a, each (nv, nv): along the twists of joints."""
        q_pin, v_pin, a_pin, T = self._kinematics(q, v, a)
        external = self._external(None)
        tau = T.T @ pin.rnea(self.model, self.data, q_pin, v_pin, a_pin, external)
        found = pin.computeRNEADerivatives(self.model, self.data, q_pin, v_pin, a_pin, external)
        dq, dv, da = (x.copy() for x in found)
        da = _symmetric(da)
        dq = (dq + self._turning_wrenches(q)) @ T - dv @ T @ self._ad(v) - da @ T @ self._ad(a)
        return T.T @ dq + self._turning("kij,i->jk", tau), T.T @ dv @ T, T.T @ da @ T

    def aba_derivatives(self, q, v, tau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """d a / d q, v, tau, each (nv, nv)."""
        q_pin, v_pin, _, T = self._kinematics(q, v)
        back, external = np.linalg.inv(T), self._external(None)
        a = back @ pin.aba(self.model, self.data, q_pin, v_pin, back.T @ tau, external)
        found = pin.computeABADerivatives(self.model, self.data, q_pin, v_pin, back.T @ tau, external)
        dq, dv, dtau = (x.copy() for x in found)
        dtau = _symmetric(dtau)
        dq = (dq - dtau @ self._turning_wrenches(q)) @ T - dv @ T @ self._ad(v)
        dq -= dtau @ back.T @ self._turning("kij,i->jk", tau)
        return back @ dq + self._ad(a), back @ dv @ T, back @ dtau @ back.T

    def _turning_wrenches(self, q) -> np.ndarray:
        """Change of Pinocchio's tau with its q where wrenches of force elements turn against the bodies they act on.

        At its port a wrench is w = X^* W. With W constant, dw = -V~* w, so -J^T dw = J^T V~* w: V is a column of the
        local Jacobian for axes and origin of the world, its angular part for the world's axes alone.
        """
        q_pin, _, _, _ = self._kinematics(q)
        pin.computeJointJacobians(self.model, self.data, q_pin)
        found = np.zeros((self.model.nv, self.model.nv))
        for port, element in self.walk.forces:
            if element.expressed_in == "local":
                continue
            w = _force(self.local_wrench(port, element.wrench, element.expressed_in))
            J = _six_rows(pin.getFrameJacobian(self.model, self.data, self.frame[port], pin.ReferenceFrame.LOCAL))
            V = J * (1.0 if element.expressed_in == "world" else np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]))
            found += J.T @ np.array([pin.Motion(column).cross(w).vector for column in V.T]).reshape(-1, 6).T
        return found


_REFERENCE = {
    "local": pin.ReferenceFrame.LOCAL,
    "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "world": pin.ReferenceFrame.WORLD,
}


def _six_rows(M: np.ndarray) -> np.ndarray:
    """A single column comes as a vector."""
    return M[:, None] if M.ndim == 1 else M


def _symmetric(M: np.ndarray) -> np.ndarray:
    """Of matrices that Pinocchio may have filled above the diagonal only."""
    return np.triu(M) + np.triu(M, 1).T


def _angular_first(value) -> np.ndarray:
    return np.concatenate([value.angular, value.linear])


def _force(value) -> pin.Force:
    value = np.asarray(value, dtype=float)
    return pin.Force(value[3:], value[:3])
