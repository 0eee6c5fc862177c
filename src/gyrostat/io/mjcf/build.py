"""A compiled MJCF to a model: frames, joints, inertias, sites and shapes.

Each body is placed in its parent, then moved by its joints one after the other, each about or along its own axis
through its own point, as MuJoCo does it: X_(k+1) = X_k T(pos) joint(q - ref) T(-pos).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import about_axis
from gyrostat.io.accept_policy import AcceptedBody
from gyrostat.io.mjcf.compile import Compiled
from gyrostat.io.mjcf.inertias import Inertial
from gyrostat.io.mjcf.shapes import Pose, after, pose, shapes_of, xyzw
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.names import Names
from gyrostat.io.safe_xml import Element
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.values import Frame, Quaternion, RotationMatrix

WORLD = "world"
FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
FRAME = "gyrostat frame "
"""How the sites are called that stand for named frames of the file."""

NOWHERE: Pose = (np.eye(3), np.zeros(3))


@dataclass
class Parts:
    """What a model is made of; ``joint``, ``body``: names by MuJoCo's numbers."""

    reader: MjcfReader
    done: Compiled
    base: str | None
    changed: dict[int, Inertial]
    limits: dict[int, float]  # joint -> effort limit [N m or N]
    held: dict[int, float] = field(default_factory=dict)  # joint that does not move -> its coordinate
    names: Names = field(init=False)
    entities: list[Entity] = field(default_factory=list)
    connections: list[tuple[str, ...]] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    joint: dict[int, str] = field(default_factory=dict)
    body: dict[int, str] = field(default_factory=dict)
    sites: dict[int, list[int]] = field(default_factory=dict)  # body -> its sites
    held_at: dict[str, str] = field(default_factory=dict)  # body -> the port that it, and all behind it, hangs on
    site_frames: dict[str, str] = field(default_factory=dict)  # site -> frame of the model

    def __post_init__(self) -> None:
        self.names = Names(self.reader)
        m = self.done.model
        for j in range(m.njnt):
            element, owner = self.done.elements["joint"][j], m.body(int(m.jnt_bodyid[j])).name
            fallback = f"{owner or 'body' + str(int(m.jnt_bodyid[j]))}_joint"
            if not self._left_out(j):
                self.joint[j] = self.names.give(m.joint(j).name, "joint", element, fallback)
        self.names.taken |= {f"{name}_drive" for name in self.joint.values()}
        for k, b in enumerate(m.site_bodyid):
            self.sites.setdefault(int(b), []).append(k)
        for b in range(1, m.nbody):
            self.body[b] = self.names.give(m.body(b).name, "body", self.done.elements["body"][b], f"body{b}")

    def _left_out(self, j: int) -> bool:
        return j in self.held or (self.base == "fixed" and self.done.model.jnt_type[j] == FREE)

    @cached_property
    def places(self) -> list[Pose]:
        """Bodies in the world, in the configuration of the file."""
        m, mujoco = self.done.model, self.done.mujoco
        data = mujoco.MjData(m)
        data.qpos[:] = m.qpos0
        mujoco.mj_kinematics(m, data)
        return [(np.array(R).reshape(3, 3), np.array(p)) for R, p in zip(data.xmat, data.xpos, strict=True)]

    def entity_of(self, b: int) -> RigidBody | None:
        """The entity of a body by its number; of the world, that which has its shapes."""
        name = self.body.get(b, "worldbody")
        found = next((e for e in self.entities if e.name == name), None)
        return found if isinstance(found, RigidBody) else None

    # ------------------------------------------------------------------ entities
    def add(self, entity: Entity, element: Element) -> None:
        self.entities.append(entity)
        source = self.reader.source.file_of[element]
        self.sources[entity.name] = f"{source}:{self.reader.line(element)}"

    def displaced(self, port: str, X: Pose, name: str, element: Element) -> str:
        """The port beyond a displacement; the same one if there is none."""
        R, p = X
        if np.array_equal(R, np.eye(3)) and not p.any():
            return port
        own = self.names.free(f"{name[:110]}_origin", "origin")
        self.add(Displacement(own, translation=(p[0], p[1], p[2]), rotation=RotationMatrix(matrix=R.tolist())), element)
        self.connections.append((port, f"{own}.a"))
        return f"{own}.b"

    def build(self) -> None:
        """Everything that moves or stands, parents first."""
        self._world()
        for b in range(1, self.done.model.nbody):
            self._moved(b)

    def _world(self) -> None:
        """The reference frame, and what the file fixes to it."""
        root = self.reader.source.root
        element = next(root.iterchildren("worldbody"), root)
        self.add(ReferenceFrame(WORLD), element)
        shapes = shapes_of(self.reader, self.done, 0)
        if shapes or any(self.done.model.site(k).name for k in self.sites.get(0, ())):
            name = self.names.free("worldbody", "body")
            frames = self._frames(0, name)
            self.add(RigidBody(name, mass=0.0, frames=frames, shapes=shapes), element)
            self.connections.append((f"{WORLD}.frame", f"{name}.origin"))

    def _moved(self, b: int) -> None:
        """One body with its joints."""
        m, element = self.done.model, self.done.elements["body"][b]
        parent = int(m.body_parentid[b])
        port = f"{self.body[parent]}.origin" if parent else f"{WORLD}.frame"
        X = pose(m.body_pos[b], m.body_quat[b])
        first = int(m.body_jntadr[b])
        for j in range(first, first + int(m.body_jntnum[b])):
            at = self.done.elements["joint"][j]
            if j in self.held:
                X = self._at_rest(j, X)
                continue
            if self._left_out(j):
                what = "the free joint is left out, since base is 'fixed'; the body stands where the file puts it"
                self.reader.ignore(at, "free-joint", what, m.joint(j).name)
                continue
            joint = self._joint(j)
            free = m.jnt_type[j] == FREE  # its coordinates are those in the world
            X = NOWHERE if free else after(X, (np.eye(3), np.array(m.jnt_pos[j])))
            port = self.displaced(port, X, joint.name, at)
            self.add(joint, at)
            self.connections.append((port, f"{joint.name}.a"))
            port, X = f"{joint.name}.b", self._behind(j)
        body = self._body(b)
        port = self.displaced(port, X, body.name, element)
        self.add(body, element)
        self.connections.append((port, f"{body.name}.origin"))
        if not port.endswith((".origin", ".frame")):  # others hang there, too
            self.held_at[body.name] = port

    def _at_rest(self, j: int, X: Pose) -> Pose:
        """The frame behind a hinge or slide that an equality holds, from that before it."""
        m = self.done.model
        there, axis, q = np.array(m.jnt_pos[j]), np.array(m.jnt_axis[j]), self.held[j]
        X = after(X, (np.eye(3), there))
        moved = (about_axis(axis, q), np.zeros(3)) if m.jnt_type[j] == HINGE else (np.eye(3), axis * q)
        return after(after(X, moved), self._behind(j))

    def _behind(self, j: int) -> Pose:
        """From the joint's frame at q = ref back to that of the body."""
        m = self.done.model
        kind, back = m.jnt_type[j], -np.array(m.jnt_pos[j])
        if kind == FREE:
            return NOWHERE
        ref, axis = float(m.qpos0[m.jnt_qposadr[j]]), np.array(m.jnt_axis[j])
        if kind == HINGE and ref:
            R = about_axis(axis, -ref)
            return R, R @ back
        return np.eye(3), back - axis * ref if kind == SLIDE else back

    def _joint(self, j: int) -> Joint:
        m, name = self.done.model, self.joint[j]
        kind = int(m.jnt_type[j])
        if kind in (FREE, BALL):
            if m.jnt_limited[j]:
                what = "limits of ball joints are not in the model"
                self.reader.ignore(self.done.elements["joint"][j], "unused-limit", what)
            return Joint(name, "free" if kind == FREE else "spherical")
        axis = np.array(m.jnt_axis[j])
        limits: dict[str, Any] = {}
        if m.jnt_limited[j]:
            limits = {"lower": float(m.jnt_range[j, 0]), "upper": float(m.jnt_range[j, 1])}
        if j in self.limits:
            limits["effort_limit"] = self.limits[j]
        turning = "revolute" if m.jnt_limited[j] else "continuous"
        return Joint(name, "prismatic" if kind == SLIDE else turning, axis=axis / np.linalg.norm(axis), **limits)

    def _body(self, b: int) -> RigidBody:
        m = self.done.model
        R = pose(m.body_ipos[b], m.body_iquat[b])[0]
        mass, I = float(m.body_mass[b]), np.diag(m.body_inertia[b])
        given = self.changed.get(b)
        unphysical = given is not None and given.unphysical
        if given is not None and unphysical:
            xx, xy, xz, yy, yz, zz = given.moments
            mass, I = given.mass, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        I = R @ I @ R.T if not np.array_equal(R, np.eye(3)) else I
        I = (I + I.T) / 2.0
        values: dict[str, Any] = {"mass": mass, "com": m.body_ipos[b], "inertia": I if mass or unphysical else I * 0.0}
        values |= {"frames": self._frames(b, self.body[b]), "shapes": shapes_of(self.reader, self.done, b)}
        return (AcceptedBody if unphysical else RigidBody)(self.body[b], **values)

    def _frames(self, b: int, owner: str) -> tuple[Frame, ...]:
        """Named sites and named frames of a body; those of ``<frame>`` come as sites with a name of our own."""
        m = self.done.model
        names = Names(self.reader, {"origin", *RigidBody.model_fields})
        frames: list[Frame] = []
        for k in self.sites.get(b, ()):
            wanted = m.site(k).name
            if not wanted:
                continue
            sort = "frame" if wanted.startswith(FRAME) else "site"
            name = names.give(wanted.removeprefix(FRAME), sort, self.done.elements["site"][k], sort)
            self.site_frames[wanted] = f"{owner}.{name}"
            rotation = Quaternion(quaternion=xyzw(m.site_quat[k]))
            frames.append(Frame(name=name, translation=m.site_pos[k], rotation=rotation))
        return tuple(frames)
