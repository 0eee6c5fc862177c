"""Which coordinates of a robot in contact are independent, and which follow: those of the legs that stand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.contact_rows import Held
from gyrostat.algorithms.contact.reduced_dynamics import Partition
from gyrostat.configuration.floating import floats
from gyrostat.configuration.manifold import random_configuration
from gyrostat.errors import GyrostatError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian
from gyrostat.solvers.machinery.joint_order import read_joints
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model

WHO = "reduced_dynamics"
SINGULAR = 1e-9
"""Smallest singular value of J_D over its largest, in the best of some random configurations, below which the joints
cannot follow."""


def dependent_joints(
    model: Model, net: Network, held: Sequence[Held], independent: Any, legs: Any, who: str = WHO
) -> tuple[str, ...]:
    """Names of the joints that follow: the rest of ``independent``; those of closed forms; else, for every contact, the
    nearest ones to the frame that carry no other contact, as many as there are rows."""
    owners = model.layout.entities
    kept = None if independent is None else read_joints(model, independent, who)
    if legs:
        found = [name for h in held for name in legs[h.contact.frame].joints]
        both = [name for name in found if kept is not None and name in kept]
        if both:
            raise GyrostatError(f"{who}: '{both[0]}' is independent, but a leg in closed form. Hint: leave one out")
        return tuple(name for name in owners if name in found)
    if kept is not None:
        return tuple(name for name in owners if name not in kept)
    paths = [_joints_of(model, net, h) for h in held]
    near: list[str] = []
    for k, (h, path) in enumerate(zip(held, paths, strict=True)):
        shared = {name for j, other in enumerate(paths) if j != k for name in other}
        near += _nearest(model, h, list(takewhile(lambda name, shared=shared: name not in shared, path)), who)
    return tuple(name for name in owners if name in near)


def _nearest(model: Model, held: Held, path: Sequence[str], who: str) -> list[str]:
    """The first joints of a path, with as many rates together as the contact has rows."""
    near: list[str] = []
    frame, rows, count = held.contact.frame, held.contact.rows, 0
    for name in path:
        if count == rows:
            break
        rates = len(model.layout.places([name])[1])
        if count + rates > rows:
            raise GyrostatError(
                f"{who}: the contact '{frame}' holds {rows} components, but the joints nearest to it, "
                f"{', '.join([*near, name])}, have {count + rates} rates. Hint: name the joints that stay independent"
            )
        near.append(name)
        count += rates
    if count < rows:
        raise GyrostatError(
            f"{who}: the contact '{frame}' holds {rows} components, but joints that move it alone have {count} rates. "
            "Hint: name the joints that stay independent, or a contact with fewer rows"
        )
    return near


def _joints_of(model: Model, net: Network, held: Held) -> list[str]:
    """Joints with coordinates between the world and a frame, the nearest first; a free base or joint is not one of
    them."""
    names = [c.name for c, _ in net.path(held.port)]
    return [name for name in reversed(names) if name in model.layout.entities and not floats(model, name)]


def partition(model: Model, net: Network, held: Sequence[Held], dependent: Sequence[str]) -> Partition:
    """Numbers of the rates, and which rows of contacts decide which of them."""
    _, follow = model.layout.places(dependent)
    own = tuple(k for k in range(model.nv) if k not in set(follow.tolist()))
    rows = sum(h.contact.rows for h in held)
    if len(follow) != rows:
        raise GyrostatError(
            f"{WHO}: {rows} components are held by contacts, but {len(follow)} rates are to follow, of "
            f"{', '.join(dependent) or 'no joint'}. Hint: as many of one as of the other"
        )
    parts = Partition(own, tuple(int(k) for k in follow), _groups(net, held, follow.tolist()))
    _expect_regular(model, held, parts, dependent)
    return parts


def _groups(net: Network, held: Sequence[Held], follow: Sequence[int]) -> tuple[Any, ...]:
    """Rows and dependent rates that belong together: contacts that share no dependent rate are solved apart."""
    groups: list[tuple[set[int], set[int]]] = []
    for h in held:
        rows = set(range(h.at.start, h.at.stop))
        on_path = {k for c, _ in net.path(h.port) for ties in c.ties for k, _ in ties}
        rates = {place for place, k in enumerate(follow) if k in on_path}
        for other in [g for g in groups if g[1] & rates]:
            groups.remove(other)
            rows, rates = rows | other[0], rates | other[1]
        groups.append((rows, rates))
    return tuple((tuple(sorted(rows)), tuple(sorted(rates))) for rows, rates in groups)


def contact_rows(model: Model, held: Sequence[Held], q: Any) -> np.ndarray:
    """J_c (..., rows, nv) of the contacts as numbers."""
    parts = [
        h.contact.selector @ cached_solver(model, Jacobian, frame=h.contact.frame, expressed_in="local")(q)
        for h in held
    ]
    return np.concatenate(parts, axis=-2)


def _expect_regular(model: Model, held: Sequence[Held], parts: Partition, dependent: Sequence[str]) -> None:
    """Refuse joints that do not decide the contacts, wherever the robot stands."""
    for rows, rates in parts.groups:
        names = ", ".join(dict.fromkeys(model.dofs[parts.dependent[k]] for k in rates)) or "no joint"
        if len(rows) == len(rates):
            q = random_configuration(model, np.random.default_rng(0), (8,))
            J = contact_rows(model, held, q)[:, list(rows)][:, :, [parts.dependent[k] for k in rates]]
            values = np.linalg.svd(J, compute_uv=False)
            if np.max(values[:, -1] / values[:, 0]) > SINGULAR:
                continue
        frames = ", ".join(h.contact.frame for h in held if h.at.start in rows)
        raise StateError(
            f"{WHO}: the contacts {frames} hold {len(rows)} components, which {names} cannot follow in any position. "
            "Hint: name other independent joints, or contacts that hold what these joints move"
        )
