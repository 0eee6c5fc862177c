"""Robots of every kind with frames in contact, and what must hold of their accelerations, forces and impulses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import gyrostat as gs
from tests.support import cam_models, loop_models
from tests.support.drive_models import driven_tree
from tests.support.foreign_kinds import in_own_kinds
from tests.support.random_models import random_state, various_tree

KINDS = ("fixed", "point", "normal", ((0.0, 0.5, 0.2, 1.0, 0.3, -0.4), (0.1, 0.0, 0.0, 0.0, 1.0, 0.0)))


class Scene(NamedTuple):
    """A model with contacts and a state; ``options`` of every call."""

    model: gs.Model
    contacts: list[gs.FrameContact]
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    options: dict[str, Any]


def _bodies(model: gs.Model) -> list[str]:
    return [f"{name}.origin" for name, e in model.wiring.entities.items() if isinstance(e, gs.RigidBody)]


def scene(model: gs.Model, seed: int, rows: int | None = None, **options: Any) -> Scene:
    """Contacts of random kinds at random bodies, independent of each other: no more than the robot can move."""
    rng = np.random.default_rng([seed, 71])
    if model.wiring.tree.loops:
        q = gs.random_configuration(model, rng) if model.context.loops != "constraints" else gs.neutral(model)
        v, tau = rng.normal(size=(2, model.nv))
        if model.context.loops == "constraints":
            q, v = gs.close(model, q, v)
    else:
        q, v, tau = random_state(model, rng)
    frames, chosen, J = rng.permutation(_bodies(model)), [], np.zeros((0, model.nv))
    P = motions_left(model, q)
    for k, frame in enumerate(frames):
        contact = gs.FrameContact(str(frame), KINDS[(seed + k) % 4], normal=rng.normal(size=3))
        more = np.concatenate([J, jacobian(model, q, contact, options.get("t")) @ P])
        if len(more) <= 12 and np.linalg.svd(more)[1][: len(more)].min(initial=1.0) > 1e-2 and len(more) <= model.nv:
            chosen, J = [*chosen, contact], more
        if rows and len(J) >= rows:
            break
    if not chosen:  # a robot with few rates: one row of the last body
        chosen = [gs.FrameContact(str(frames[-1]), [0.2, 0.7, 0.4, 1.0, 0.8, 0.6])]
    return Scene(model, chosen, q, v, tau, options)


def motions_left(model: gs.Model, q: np.ndarray) -> np.ndarray:
    """Projection (nv, nv) to the rates that loops which are constraints leave."""
    from gyrostat.algorithms.constrained.loop_equations import loop_equations

    net = gs.network(model)
    if not net.closures:
        return np.eye(model.nv)
    J = np.asarray(loop_equations(net, q).J, dtype=float)
    return np.eye(model.nv) - np.linalg.pinv(J, rcond=1e-9) @ J


def jacobian(model: gs.Model, q: np.ndarray, contact: gs.FrameContact, t: Any = None) -> np.ndarray:
    """Rows (m, nv) of a contact, from the Jacobian of its frame."""
    options = {} if t is None else {"t": t}
    if contact.kind == "normal":
        J = gs.Jacobian(model, contact.frame, "aligned", mode="interpret")(q, **options)
        return np.array(contact.normal)[None] @ J[3:]
    return contact.selector @ gs.Jacobian(model, contact.frame, "local", mode="interpret")(q, **options)


def held(s: Scene, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w and dw/dt (m,) of all contacts, by forward kinematics."""
    names = [c.frame for c in s.contacts]
    frames = gs.ForwardKinematics(s.model, names, mode="interpret")(s.q, v, a, **s.options)
    w, rate = [], []
    for c in s.contacts:
        frame = frames[c.frame]
        if c.kind == "normal":
            n = np.array(c.normal)
            w.append([n @ frame.velocity("aligned")[3:]])
            rate.append([n @ frame.acceleration("aligned")[3:]])
        else:
            w.append(c.selector @ frame.V)
            point = isinstance(c.kind, str) and c.kind == "point"
            rate.append(frame.acceleration("local")[3:] if point else c.selector @ frame.A)
    return np.concatenate(w), np.concatenate(rate)


def moving_base(seed: int) -> gs.Model:
    base = gs.HarmonicMotion(amplitude=(0.1, 0.2, 0.05), frequency=1.3, axis=(0.48, 0.6, 0.64), swing=0.4)
    tree = various_tree(seed, 6)
    return gs.Model(tree.name, tree.entities, tree.connections, gs.Context(gravity=tree.context.gravity, base=base))


def in_a_field(seed: int) -> gs.Model:
    tree = various_tree(seed, 5)
    field = gs.CentralGravity(mu=50.0, centre=(9.0, 0.0, 1.0))
    return gs.Model(tree.name, tree.entities, tree.connections, gs.Context(gravity=field, base=tree.context.base))


def sprung(seed: int) -> gs.Model:
    """Springs between frames, dampers on shafts."""
    tree = gs.robots.tree(seed, 6, base="free")
    ends = _bodies(tree)
    spring = gs.PointSpring("tendon", stiffness=120.0, rest_length=0.2, damping=3.0)
    model = gs.Model(
        tree.name,
        (*tree.entities, spring),
        (*tree.connections, ("tendon.a", ends[0]), ("tendon.b", ends[-1])),
        tree.context,
    )
    joint = next(e.name for e in tree.entities if isinstance(e, gs.Joint) and e.kind in ("revolute", "prismatic"))
    return model.with_drive(joint, viscous=0.3)


MADE: dict[str, Callable[[], Scene]] = {
    **{f"tree {k}": lambda k=k: scene(various_tree(k, 3 + k, momentum=k % 2 == 0), k) for k in range(8)},
    **{f"plain tree {k}": lambda k=k: scene(gs.robots.tree(k, 3 + k, base="free"), k) for k in range(5)},
    **{f"weight as a field {k}": lambda k=k: scene(various_tree(k, 5, treat_as="field"), k) for k in (20, 21)},
    **{f"drives {k}": lambda k=k: scene(driven_tree(k).model, k) for k in range(6)},
    **{f"elastic drives {k}": lambda k=k: scene(driven_tree(k, elastic=True).model, k) for k in range(3)},
    **{f"couplings {k}": lambda k=k: scene(driven_tree(k, couplings=2).model, k) for k in range(2)},
    **{f"moving base {k}": lambda k=k: scene(moving_base(k), k, t=0.37) for k in range(2)},
    "gravity of a centre": lambda: scene(in_a_field(3), 3),
    "springs": lambda: scene(sprung(2), 2),
    "own kinds": lambda: scene(in_own_kinds(various_tree(4, 5), np.random.default_rng(4)), 4),
    "cam": lambda: scene(cam_models.branched("free"), 1),
    **{f"{name}, minimal": lambda f=f: scene(f(loops="minimal"), 2, 1) for name, f in loop_models.LOOPS.items()},
    **{
        f"{name}, constraints": lambda f=f: scene(f(loops="constraints"), 2, 1) for name, f in loop_models.LOOPS.items()
    },
}
ZOO = tuple(MADE)


@cache
def in_contact(name: str) -> Scene:
    """The robot of this name; one for all tests."""
    return MADE[name]()
