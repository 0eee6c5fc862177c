"""One robot in two programs: the largest difference of every quantity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import gyrostat as gs

QUANTITIES = ("torques", "accelerations", "mass matrix", "placements", "Jacobians")
TOLERANCE = 1e-9
"""Relative difference that is allowed; accelerations may also differ by rounding times the condition number of M."""
LINKS = 4
"""Jacobians are compared at so many links, spread over those that many rates move."""


@dataclass(frozen=True)
class Difference:
    """A relative difference, and how large it may be."""

    error: float
    allowed: float = TOLERANCE

    @property
    def failed(self) -> bool:
        return not self.error <= self.allowed  # NaN fails too


class Dynamics(Protocol):
    """Another program with the same robot, answering in gyrostat's conventions."""

    def torques(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray: ...
    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray: ...
    def mass_matrix(self, q: np.ndarray) -> np.ndarray: ...


class Peer(Dynamics, Protocol):
    """The same, with its kinematics."""

    def placements(self, q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]: ...
    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray: ...


def off(got: Any, expected: Any, least: float = 0.0) -> float:
    """Largest difference, relative to the largest expected entry, or to ``least`` where that is larger."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        raise ValueError(f"shapes {got.shape} and {expected.shape}")
    if expected.size == 0:
        return 0.0
    worst, size = float(np.abs(got - expected).max()), max(float(np.abs(expected).max()), least)
    return worst / size if size else worst


def random_state(model: gs.Model, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a: angles within 1.5 rad, any orientation of a free base, rates of size one."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, model.nq)
    for start in [k for k, name in enumerate(model.coordinates) if name.endswith(".qx")]:
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, *rng.normal(size=(2, model.nv))


def compare_dynamics(model: gs.Model, peer: Dynamics, forward: bool, mode: str = "interpret") -> dict[str, Difference]:
    """Differences by quantity; ``forward``: accelerations exist."""
    q, v, a = random_state(model)
    tau, M = peer.torques(q, v, a), peer.mass_matrix(q)
    differences = {"torques": Difference(off(gs.InverseDynamics(model, mode=mode)(q, v, a), tau))}
    if forward:
        got, want = gs.ForwardDynamics(model, mode=mode)(q, v, tau), peer.accelerations(q, v, tau)
        rounding = float(np.finfo(float).eps * np.linalg.cond(M)) if model.nv else 0.0
        differences["accelerations"] = Difference(off(got, want), max(TOLERANCE, rounding))
    return differences | {"mass matrix": Difference(off(gs.MassMatrix(model, mode=mode)(q), M))}


def compare(model: gs.Model, peer: Peer, forward: bool = True, mode: str = "interpret") -> dict[str, Difference]:
    """Differences of dynamics and kinematics."""
    differences, (q, _, _) = compare_dynamics(model, peer, forward, mode), random_state(model)
    places, motions = peer.placements(q), gs.ForwardKinematics(model, mode=mode)(q)
    pairs = [pair for link, (R, p) in places.items() for pair in ((motions[link].R, R), (motions[link].p, p))]
    differences["placements"] = Difference(max((off(got, want, 1.0) for got, want in pairs), default=0.0))
    links = evenly(moved(peer, q, list(places))) if model.nv else []
    differences["Jacobians"] = Difference(max((_jacobian(model, peer, q, link, mode) for link in links), default=0.0))
    return differences


def moved(peer: Peer, q: np.ndarray, links: list[str]) -> list[str]:
    """Those that at least half as many rates move as move the link with most of them."""
    count = {link: np.abs(peer.jacobian(q, link)).any(axis=0).sum() for link in links}
    return [link for link, rates in count.items() if 2 * rates >= max(count.values())]


def evenly(links: list[str]) -> list[str]:
    """A few of them, evenly, with the last."""
    return links[:: -max(1, len(links) // LINKS)][:LINKS]


def _jacobian(model: gs.Model, peer: Peer, q: np.ndarray, link: str, mode: str) -> float:
    return off(gs.Jacobian(model, link, "aligned", mode=mode)(q), peer.jacobian(q, link), 1.0)
