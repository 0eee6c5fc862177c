"""The decisive oracle for drives: every rotor is a body on a joint of its own, in Pinocchio, and gears are eliminated.

The explicit model has more rates than the driven one: v_full = G v, because a gear makes theta = N q. Then

    M = G^T M_full G,    tau = G^T tau_full,    d tau / d q = G^T (d tau_full / d q_full) G,

and springs, dampers and friction of shafts are added by their formulas. Of the driven model only the names of its
rates are used; nothing of ``gyrostat.graph`` and ``gyrostat.algorithms`` takes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import gyrostat as gs
from tests.support.pinocchio_oracle import Oracle, pin, walk

Sum = Mapping[str, float]
"""A sum of rates: name -> factor."""


@dataclass(frozen=True)
class Rotor:
    """A rotor: its ``axis`` in the axes of the port ``carrier``, and the body that it really is.

    ``lumped``: the carrier contains it already; then ``position`` may be anywhere on the carrier, seen from the port,
    because only the direction of the axis matters."""

    name: str
    inertia: float
    carrier: str
    axis: Sequence[float]
    turns: Sum  # of the driven model's rates: angle of the rotor
    offset: float = 0.0
    lumped: bool = True
    mass: float = 0.0
    position: Sequence[float] = (0.0, 0.0, 0.0)
    transverse: float = 0.0


@dataclass(frozen=True)
class Law:
    """Torque k d + damping d' + coulomb sign(d') against the deflection d = sum of factors x coordinates - rest."""

    of: Sum
    stiffness: float = 0.0
    damping: float = 0.0
    coulomb: float = 0.0
    rest: float = 0.0


def explicit(plain: gs.Model, rotors: Sequence[Rotor]) -> gs.Model:
    """The plain model, with every rotor as a body ``wheel`` on a joint ``spin``; lumped ones are taken out of their
    carriers."""
    found, entities, wires = walk(plain), {e.name: e for e in plain.entities}, list(plain.connections)
    for r in rotors:
        z = np.array(r.axis) / np.linalg.norm(r.axis)
        inertia = r.transverse * (np.eye(3) - np.outer(z, z)) + r.inertia * np.outer(z, z)
        if r.lumped:
            carrier, at = found.ports[r.carrier]
            X, host = next((X, b.name) for k, X, b in found.bodies if k == carrier)
            entities[host] = _without(entities[host], X.inverse() * at, r, inertia)
        entities[f"seat_{r.name}"] = gs.Displacement(f"seat_{r.name}", translation=tuple(r.position))
        entities[f"spin_{r.name}"] = gs.Joint(f"spin_{r.name}", "revolute", axis=tuple(z))
        entities[f"wheel_{r.name}"] = gs.RigidBody(f"wheel_{r.name}", mass=r.mass, inertia=inertia.tolist())
        ports = [("a", "b"), ("a", "b"), ("origin",)]
        last = r.carrier
        for kind, (near, *far) in zip(("seat", "spin", "wheel"), ports, strict=True):
            wires.append((last, f"{kind}_{r.name}.{near}"))
            last = f"{kind}_{r.name}.{''.join(far)}"
    return gs.Model(f"{plain.name}, explicit", tuple(entities.values()), tuple(wires), plain.context)


def _without(body: gs.RigidBody, at: pin.SE3, r: Rotor, inertia: np.ndarray) -> gs.RigidBody:
    """A body from which the rotor, which sits at ``at`` in its frame, was taken out."""
    whole = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
    rotor = at.act(pin.Inertia(r.mass, np.array(r.position), inertia))
    left = pin.Inertia.FromDynamicParameters(whole.toDynamicParameters() - rotor.toDynamicParameters())
    J = (left.inertia + left.inertia.T) / 2
    return body.model_copy(update={"mass": left.mass, "com": tuple(left.lever), "inertia": tuple(map(tuple, J))})


@dataclass
class Explicit:
    """``full``: a model with all rates; ``ties``: those that are sums of rates of ``driven``, with offsets; all
    others have the same name there."""

    driven: gs.Model
    full: gs.Model
    ties: Mapping[str, tuple[Sum, float]]
    laws: Sequence[Law] = ()
    oracle: Oracle = field(init=False)
    G: np.ndarray = field(init=False)

    def __post_init__(self):
        self.oracle = Oracle(self.full)
        self.G = np.zeros((self.full.nv, self.driven.nv))
        for i, name in enumerate(self.full.dofs):
            for other, factor in self.ties[name][0].items() if name in self.ties else [(name, 1.0)]:
                self.G[i, self.driven.dofs.index(other)] += factor

    def q(self, q) -> np.ndarray:
        """Coordinates of the explicit model."""
        by_name = dict(zip(self.driven.coordinates, q, strict=True))
        tied = {name: sum(f * by_name[n] for n, f in of.items()) + offset for name, (of, offset) in self.ties.items()}
        return np.array([tied[name] if name in tied else by_name[name] for name in self.full.coordinates])

    def _vector(self, law: Law) -> np.ndarray:
        c = np.zeros(self.driven.nv)
        for name, factor in law.of.items():
            c[self.driven.dofs.index(name)] += factor
        return c

    def _deflection(self, law: Law, q) -> float:
        return sum(f * q[self.driven.coordinates.index(name)] for name, f in law.of.items()) - law.rest

    def torques(self, q, v) -> np.ndarray:
        """What springs, dampers and friction take."""
        total = np.zeros(self.driven.nv)
        for law in self.laws:
            c = self._vector(law)
            w = c @ v
            total += c * (law.stiffness * self._deflection(law, q) + law.damping * w + law.coulomb * np.sign(w))
        return total

    def _slopes(self, kind: str) -> np.ndarray:
        found = np.zeros((self.driven.nv, self.driven.nv))
        for law in self.laws:
            c = self._vector(law)
            found += getattr(law, kind) * np.outer(c, c)
        return found

    def rnea(self, q, v, a, wrenches=None) -> np.ndarray:
        tau = self.oracle.rnea(self.q(q), self.G @ v, self.G @ a, wrenches)
        return self.G.T @ tau + self.torques(q, v)

    def crba(self, q) -> np.ndarray:
        return self.G.T @ self.oracle.crba(self.q(q)) @ self.G

    def aba(self, q, v, tau) -> np.ndarray:
        return np.linalg.solve(self.crba(q), tau - self.rnea(q, v, np.zeros(self.driven.nv)))

    def rnea_derivatives(self, q, v, a) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dq, dv, da = self.oracle.rnea_derivatives(self.q(q), self.G @ v, self.G @ a)
        dq, dv, da = (self.G.T @ x @ self.G for x in (dq, dv, da))
        return dq + self._slopes("stiffness"), dv + self._slopes("damping"), da

    def aba_derivatives(self, q, v, tau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        dq, dv, M = self.rnea_derivatives(q, v, self.aba(q, v, tau))
        return -np.linalg.solve(M, dq), -np.linalg.solve(M, dv), np.linalg.inv(M)

    def kinetic_energy(self, q, v) -> float:
        return self.oracle.kinetic_energy(self.q(q), self.G @ v)

    def potential_energy(self, q) -> float:
        springs = sum(law.stiffness * self._deflection(law, q) ** 2 / 2 for law in self.laws)
        return self.oracle.potential_energy(self.q(q)) + springs

    def centroidal_momentum(self, q, v) -> np.ndarray:
        return self.oracle.centroidal_momentum(self.q(q), self.G @ v)

    def centroidal_matrix(self, q) -> np.ndarray:
        return self.oracle.centroidal_matrix(self.q(q)) @ self.G

    def center_of_mass(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        return self.oracle.center_of_mass(self.q(q), self.G @ v)

    def jacobian(self, q, port: str, expressed_in: str = "world") -> np.ndarray:
        return self.oracle.jacobian(self.q(q), port, expressed_in) @ self.G

    def mass_rate(self, q, v) -> np.ndarray:
        return self.G.T @ self.oracle.mass_rate(self.q(q), self.G @ v) @ self.G
