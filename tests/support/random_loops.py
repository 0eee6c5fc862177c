"""Random mechanisms whose loops are closed by construction: what closes them is placed where the tree happens to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import gyrostat as gs
from tests.support.pinocchio_oracle import Oracle, joint_row, random_state

pin = pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")

CLOSERS = ("revolute", "continuous", "prismatic", "cylindrical", "universal", "planar", "spherical", "fixed", "rod")
"""Everything that can close a loop; ``fixed``: two ports of bodies are simply connected."""
RATES = {"revolute": 1, "continuous": 1, "prismatic": 1, "cylindrical": 2, "universal": 2, "planar": 3, "spherical": 3}
RATES |= {"fixed": 0, "rod": 5}


@dataclass(frozen=True)
class Closer:
    """A joint or rod between two frames of the tree, by the ports that its a and b are connected with; ``entity`` is
    None where the frames coincide."""

    name: str
    kind: str
    a: str
    b: str
    entity: gs.Entity | None


@dataclass(frozen=True)
class RandomLoop:
    """``model`` has loops that stay constraints, ``tree`` is the same without what closes them; q (nq,) is closed.

    Where bodies are simply connected, one of them may hang on the other: then the trees differ, and the order of
    coordinates too."""

    model: gs.Model
    tree: gs.Model
    closers: tuple[Closer, ...]
    q: np.ndarray

    def of_tree(self, x: np.ndarray) -> np.ndarray:
        """q or a vector of rates, in the order of the tree."""
        return x[self._places(self.tree, self.model, len(x))]

    def of_model(self, x: np.ndarray) -> np.ndarray:
        """The same back."""
        return x[self._places(self.model, self.tree, len(x))]

    @staticmethod
    def _places(to: gs.Model, of: gs.Model, count: int) -> list[int]:
        names, known = (to.coordinates, of.coordinates) if count != to.nv else (to.dofs, of.dofs)
        if to.nq == to.nv:
            names, known = to.dofs, of.dofs
        return [known.index(name) for name in names]


def random_loop(seed: int, kind: str, planar: bool = False, base: str = "fixed", loops: int = 1) -> RandomLoop:
    """Two chains on a common trunk, tied by ``loops`` closers of a kind, each in either direction."""
    rng = np.random.default_rng([seed, CLOSERS.index(kind), planar, loops])
    needed = loops * ((3 if kind == "fixed" else 2) if planar else 6 - RATES[kind]) + 1
    lengths = (needed + 1) // 2, needed // 2 + 1 - (needed > 3 and not planar)
    bodies = [[f"{side}{k}" for k in range(n)] for side, n in zip("lr", lengths, strict=True)]
    joints = {name: _tree_joint(f"j_{name}", rng, planar) for names in bodies for name in names}
    moments = {name: rng.uniform(0.03, 0.05, 3) for name in joints}
    offsets = {name: _vector(rng, planar) for name in joints}
    coms = {name: 0.3 * _vector(rng, planar) for name in joints}
    reversed_ = {name: rng.random() < 0.3 for name in joints}
    frames: dict[str, dict[str, pin.SE3]] = {name: {} for name in joints} | {"trunk": {}}

    def parts():
        trunk = gs.RigidBody(
            "trunk", mass=3.0, com=(0, 0, 0.1), inertia=(0.2, 0.3, 0.25), frames=_frames(frames["trunk"])
        )
        yield gs.chain("world", *([] if base == "free" else [joint_y]), trunk)
        for names in bodies:
            before = "trunk.origin"
            for name in names:
                body = gs.RigidBody(
                    name,
                    mass=1.0 + 0.1 * len(name),
                    com=coms[name],
                    inertia=moments[name],
                    frames=_frames(frames[name]),
                )
                place = gs.Displacement(f"d_{name}", translation=offsets[name])
                joint = joints[name]
                yield from (place, joint, body, gs.connect(before, f"d_{name}.a"))
                near, far = ("b", "a") if reversed_[name] else ("a", "b")
                yield from (
                    gs.connect(f"d_{name}.b", f"{joint.name}.{near}"),
                    gs.connect(f"{joint.name}.{far}", f"{name}.origin"),
                )
                before = f"{name}.origin"

    joint_y = gs.Joint("j_trunk", "revolute", axis="y", passive=False)
    bare = gs.assemble("tree", *parts(), base=base)
    q, v, a = random_state(bare, rng)
    oracle = Oracle(bare).move(q, v, a)
    closers: list[Closer] = []
    for k in range(loops):
        one, two = bodies[0][-1 - k], bodies[1][-1 - k]
        entity = _closer(f"c{k}", kind, rng, planar)
        across = _random_placement(entity, kind, rng)
        X_one = pin.SE3(*oracle.placement(f"{one}.origin"))
        X_two = pin.SE3(*oracle.placement(f"{two}.origin"))
        X_a = pin.SE3(np.eye(3) if planar else pin.exp3(rng.normal(size=3)), _vector(rng, planar))
        X_b = X_two.inverse() * X_one * X_a * across
        frames[one][f"f{k}"], frames[two][f"f{k}"] = X_a, X_b
        closers.append(Closer(f"c{k}", kind, f"{one}.f{k}", f"{two}.f{k}", entity))
    closing = []
    for closer in closers:
        if closer.entity is None:
            closing.append(gs.connect(closer.a, closer.b))
        else:
            closing += [
                closer.entity,
                gs.connect(closer.a, f"{closer.name}.a"),
                gs.connect(f"{closer.name}.b", closer.b),
            ]
    reference = {block.entity: list(q[block.q]) for block in bare.layout if block.entity != bare.wiring.root}
    free = {"reference": reference, "loops": "constraints", "base": base}
    model = gs.assemble("loop", *parts(), *closing, **free)
    tree = gs.assemble("tree", *parts(), base=base)
    assert sorted(model.dofs) == sorted(tree.dofs), "another joint was cut"
    loop = RandomLoop(model, tree, tuple(closers), q)
    return RandomLoop(model, tree, tuple(closers), loop.of_model(q))


def _tree_joint(name: str, rng: np.random.Generator, planar: bool) -> gs.Joint:
    if planar:
        if rng.random() < 0.25:
            return gs.Joint(name, "prismatic", axis=("x", "z")[rng.integers(2)], passive=False)
        return gs.Joint(name, "revolute", axis="y", passive=False)
    kind = str(rng.choice(["revolute", "revolute", "prismatic", "universal", "cylindrical", "spherical"]))
    if kind == "spherical":
        return gs.Joint(name, kind, passive=False)
    axis = ("x", "y", "z")[rng.integers(3)] if rng.random() < 0.5 else _unit(rng)
    if kind == "universal":
        return gs.Joint(name, kind, axis="x", second_axis="y", passive=False)
    return gs.Joint(name, kind, axis=axis, passive=False)


def _closer(name: str, kind: str, rng: np.random.Generator, planar: bool) -> gs.Entity | None:
    if kind == "fixed":
        return None
    if kind == "rod":
        return gs.ConnectingRod(name, float(rng.uniform(0.3, 0.8)))
    if kind == "spherical":
        return gs.Joint(name, kind)
    axis = "y" if planar and kind not in ("prismatic", "cylindrical") else "x" if planar else _unit(rng)
    if kind in ("universal", "planar"):
        second = np.cross(rng.normal(size=3), (0, 1, 0) if axis == "y" else axis)
        return gs.Joint(name, kind, axis=axis, second_axis=tuple(second / np.linalg.norm(second)))
    return gs.Joint(name, kind, axis=axis)


def _random_placement(entity: gs.Entity | None, kind: str, rng: np.random.Generator) -> pin.SE3:
    """Of port b against port a, at some coordinates of what closes the loop."""
    if entity is None:
        return pin.SE3.Identity()
    if isinstance(entity, gs.ConnectingRod):
        u = rng.normal(size=3)
        return pin.SE3(pin.exp3(rng.normal(size=3)), entity.length * u / np.linalg.norm(u))
    if kind == "spherical":
        return pin.SE3(pin.exp3(rng.normal(size=3)), np.zeros(3))
    model = pin.Model()
    last = 0
    for row in joint_row(entity, False):
        last = model.addJoint(last, row, pin.SE3.Identity(), f"{last}")
    data = model.createData()
    pin.forwardKinematics(model, data, rng.uniform(-1.0, 1.0, model.nq))
    return data.oMi[last].copy()


def _frames(given: dict) -> dict:
    """Frames of a body from placements."""
    return {
        name: {"translation": tuple(X.translation), "rotation": gs.quaternion(*pin.Quaternion(X.rotation).coeffs())}
        for name, X in given.items()
    }


def _unit(rng: np.random.Generator) -> tuple[float, ...]:
    x = rng.normal(size=3)
    return tuple(x / np.linalg.norm(x))


def _vector(rng: np.random.Generator, planar: bool) -> np.ndarray:
    x = rng.uniform(-0.4, 0.4, 3)
    x[np.abs(x) < 0.1] += 0.1
    return x * (1, 0, 1) if planar else x


class LoopOracle:
    """The closed mechanism by Pinocchio's terms of a tree with what closes the loops in it, massless: bodies and frames
    meet, nothing is known here of equations by kinds of joints."""

    def __init__(self, loop: RandomLoop):
        self.loop, self.tree, self.bare = loop, Oracle(loop.tree), Oracle(loop.tree)
        self.model = self.tree.model
        self.n = self.model.nv
        self.ends: list[tuple[int, int, bool]] = []
        for closer in loop.closers:
            carrier, at = self.tree.walk.ports[closer.a]
            inside, rod = self.tree.joint_of[carrier], isinstance(closer.entity, gs.ConnectingRod)
            singles = [] if closer.entity is None else _single_joints(closer.entity)
            for k, single in enumerate(singles):
                inside = self.model.addJoint(inside, single, at, f"{closer.name}:{k}")
                at = pin.SE3.Identity()
            if rod:
                at = pin.SE3(np.eye(3), np.array([closer.entity.length, 0.0, 0.0]))
            end = self.model.addFrame(pin.Frame(f"{closer.name}.end", inside, at, pin.FrameType.OP_FRAME))
            self.ends.append((end, self.tree.frame[closer.b], rod))
        self.data = self.model.createData()

    def _state(self, q, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v of the whole, and T of the tree's rates."""
        model = self.model
        q_tree, v_tree, _, T = self.bare._convert(q, v, np.zeros(self.n))
        whole = pin.neutral(model)
        whole[: len(q_tree)] = q_tree
        for _ in range(200):  # where the closers must be
            g, J = self._gap(whole)
            if np.abs(g).max(initial=0.0) < 1e-13:
                break
            step = np.zeros(model.nv)
            step[self.n :] = -np.linalg.lstsq(J[:, self.n :], g, rcond=1e-10)[0]
            step *= min(1.0, 0.5 / max(np.abs(step).max(initial=0.0), 1e-12))
            whole = pin.integrate(model, whole, step)
        assert np.abs(self._gap(whole)[0]).max(initial=0.0) < 1e-9
        _, J = self._gap(whole)
        rates = np.zeros(model.nv)
        rates[: self.n] = v_tree
        rates[self.n :] = -np.linalg.lstsq(J[:, self.n :], J[:, : self.n] @ v_tree, rcond=1e-10)[0]
        assert np.abs(J @ rates).max(initial=0.0) < 1e-9 * max(1.0, np.abs(rates).max())
        return whole, rates, T

    def _gap(self, q) -> tuple[np.ndarray, np.ndarray]:
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        g, J = [np.zeros(0)], [np.zeros((0, self.model.nv))]
        for end, b, rod in self.ends:
            X, Y = self.data.oMf[end], self.data.oMf[b]
            linear, angular = X.translation - Y.translation, -X.rotation @ pin.log3(X.rotation.T @ Y.rotation)
            one, two = (pin.getFrameJacobian(self.model, self.data, k, aligned) for k in (end, b))
            g.append(linear if rod else np.concatenate([linear, angular]))
            J.append((one - two)[:3] if rod else one - two)
        return np.concatenate(g), np.concatenate(J)

    def solve(self, q, v, tau, M=None, h=None) -> tuple[np.ndarray, dict[str, np.ndarray] | None]:
        """Accelerations, and the wrench of each closer on the body at its b, in the axes of that frame;
        None where these are not determined. ``M``, ``h``: of the tree, by
        default Pinocchio's."""
        q, v, tau = (self.loop.of_tree(x) for x in (q, v, tau))
        whole, rates, T = self._state(q, v)
        model, n = self.model, self.n
        mass = pin.crba(model, self.data, whole).copy()
        mass = np.triu(mass) + np.triu(mass, 1).T
        bias = pin.nonLinearEffects(model, self.data, whole, rates).copy()
        if M is not None:
            back = np.linalg.inv(T)
            mass[:n, :n], bias[:n] = back.T @ M @ back, back.T @ h
        _, J = self._gap(whole)
        pin.forwardKinematics(model, self.data, whole, rates, np.zeros(model.nv))
        pin.updateFramePlacements(model, self.data)
        aligned, gamma = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, [np.zeros(0)]
        for end, b, rod in self.ends:
            one, two = (pin.getFrameClassicalAcceleration(model, self.data, k, aligned).vector for k in (end, b))
            gamma.append((one - two)[:3] if rod else one - two)
        forces = np.zeros(model.nv)
        forces[:n] = np.linalg.solve(T.T, tau)
        _, s, vt = np.linalg.svd(J)
        rank = int((s > 1e-8 * s.max()).sum())
        N = vt[rank:].T
        a = -np.linalg.pinv(J, 1e-9) @ np.concatenate(gamma)
        a = a + N @ np.linalg.pinv(N.T @ mass @ N, 1e-11) @ (N.T @ (forces - bias - mass @ a))
        multipliers = np.linalg.lstsq(J.T, mass @ a + bias - forces, rcond=1e-9)[0]
        wrenches, at = {}, 0
        for closer, (_, b, rod) in zip(self.loop.closers, self.ends, strict=True):
            own = multipliers[at : at + (3 if rod else 6)]
            at += len(own)
            R = self.data.oMf[b].rotation
            wrenches[closer.name] = -np.concatenate([np.zeros(3) if rod else R.T @ own[3:], R.T @ own[:3]])
        return self.loop.of_model(np.linalg.solve(T, a[:n])), wrenches if rank == len(J) else None


def _single_joints(entity: gs.Entity) -> list:
    if isinstance(entity, gs.ConnectingRod) or entity.kind == "spherical":
        return [pin.JointModelSpherical()]
    return joint_row(entity, False)
