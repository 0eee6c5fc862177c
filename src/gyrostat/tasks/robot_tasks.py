"""Tasks of the whole robot: its centre of mass, its posture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.configuration.block import Block
from gyrostat.configuration.floating import floats
from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, names_of, packed, real_array
from gyrostat.errors import SpecError
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.joint_order import read_joints
from gyrostat.spatial.se3_recorded import log_rate, rotation_log
from gyrostat.spec.model import Model
from gyrostat.tasks.scene import Scene
from gyrostat.tasks.targets import point
from gyrostat.tasks.task import Task, weights

Array = np.ndarray


@dataclass(frozen=True)
class CenterOfMass(Task):
    """The centre of mass at ``target`` (3,) [m] in the world; e = p - target. ``weight``: one number, or three along
    the world's axes: (1, 1, 0) leaves the height free."""

    target: Any = None
    weight: Any = 1.0

    @property
    def target_size(self) -> int:
        return 3

    @property
    def given(self) -> Any:
        return self.target

    @property
    def usual_name(self) -> str:
        return "center_of_mass"

    def bound(self, net: Network) -> Task:
        self._expect_numbers()
        self.row_weights()
        return replace(self, name=self.called)

    def row_weights(self) -> Array:
        return weights(self.weight, 3, self.who, "weight")

    def target_numbers(self, value: Any) -> Array:
        return point(value, self.who)

    def target_here(self, at: Scene) -> Array:
        return at.centre_of_mass()[0]

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        p, J = at.centre_of_mass()
        return p - target, J


@dataclass(frozen=True)
class Posture(Task):
    """Joints at their coordinates in ``target``: (nq,), those of ``joints`` only, or by name; e = q - target, of
    quaternions log(conj(target) (x) q), one row for each rate. ``joints``: names, by default all that have coordinates
    but a free base, free joints and deflections.
    ``weight``: one number, or one for each row: a small one makes a redundant robot's motion unique."""

    target: Any = None
    weight: Any = 1.0
    joints: Sequence[str] | None = None
    model: Model | None = field(default=None, repr=False)

    @property
    def target_size(self) -> int:
        assert self.model is not None  # a bound task
        return self.model.nq

    @property
    def given(self) -> Any:
        return self.target

    @property
    def usual_name(self) -> str:
        return "posture"

    def bound(self, net: Network) -> Task:
        self._expect_numbers()
        model = net.model
        entities = model.wiring.entities
        if self.joints is None:
            chosen = [n for n in model.layout.entities if not floats(model, n) and not entities[n].deforms]
        else:
            chosen = list(read_joints(model, names_of(self.joints, self.who, "joints"), self.who))
            for name in chosen:
                if floats(model, name):
                    message = f"'{name}' floats: it has a pose, no posture"
                    raise SpecError.one(self.who, "joints", message, "gs.tasks.Frame of what it carries", name)
        bound = replace(self, joints=tuple(chosen), model=model, name=self.called)
        bound.row_weights()
        return bound

    def _blocks(self) -> list[Block]:
        assert self.model is not None and self.joints is not None  # a bound task
        return [self.model.layout.of[name] for name in self.joints]

    def row_weights(self) -> Array:
        return weights(self.weight, sum(block.nv for block in self._blocks()), self.who, "weight")

    def target_numbers(self, value: Any) -> Array:
        assert self.model is not None and self.joints is not None
        model, who, blocks = self.model, f"{self.who}(target)", self._blocks()
        if isinstance(value, Mapping):
            some = not any(block.entity in value for block in model.layout if block.entity not in self.joints)
        else:
            value = real_array(value, who, "q")
            some = value.shape[-1:] == (sum(block.nq for block in blocks),)
        if not some or len(blocks) == len(model.layout.entities):
            return coordinates(model, value, who)
        part = packed(model, value, "q", who, self.joints)
        q = np.broadcast_to(neutral(model), (*part.shape[:-1], model.nq)).copy()
        q[..., np.concatenate([np.arange(model.nq)[block.q] for block in blocks])] = part
        return coordinates(model, q, who)

    def target_here(self, at: Scene) -> Array:
        return at.q

    def rows(self, at: Scene, target: Array) -> tuple[Array, Array]:
        e: list[Array] = []
        J: list[Array] = []
        every = np.eye(at.net.model.nv)
        for block in self._blocks():
            if not block.turns:
                e.append(at.q[block.q] - target[block.q])
                J.append(every[block.v])
                continue
            D = from_quaternion(target[block.quaternion]).T @ from_quaternion(at.q[block.quaternion])
            x = rotation_log(D)
            e.append(x)
            J.append(log_rate(x) @ every[block.angular])
        if not e:
            return np.zeros(0), np.zeros((0, at.net.model.nv))
        return np.concatenate(e), np.concatenate(J)
