"""Inverse dynamics of elastic joints (H04 3.2.1, Algorithm 1, Tables 3.12-3.14), for trees and any joint.

H04 differentiates the recursive Newton-Euler equations symbolically and sends V^(alpha), f^(alpha) through the ports,
(3.26)-(3.37). Here the numbers themselves are Taylor series in time, and the rows of kinematics and Newton-Euler are
run once on them (:mod:`gyrostat.algorithms.elastic.forces`): the coefficient of order alpha of a message is H04's
derivative over alpha!. Then, from the outermost joints inward,

    joint:   u = S^T f + friction                      (3.24)
    spring:  u = T(theta / N - q)                      (3.16), solved for theta, a series of order alpha
    rotor:   tau = u / N + I (theta'' + z . dw/dt)     (3.18), (3.45)

Orders that no result needs are recorded, but never reach the program: it is pruned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting, defined_by
from gyrostat.algorithms.elastic.drives import ElasticDrive
from gyrostat.algorithms.elastic.forces import ElasticForces
from gyrostat.algorithms.elastic.springs import deflection
from gyrostat.algorithms.elastic.structure import Structure
from gyrostat.algorithms.shafts.elements import shafts
from gyrostat.engine.tracing.taylor import Taylor
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import Shaft, ShaftComponent
from gyrostat.spatial.algebra import Array
from gyrostat.spec.motor import Motor
from gyrostat.spec.rotor import RotorInertia


class ElasticSweep(ElasticForces):
    """The equations of joints, springs and rotors; each is evaluated when it is first asked for."""

    def __init__(self, net: Network, on: Setting, plan: Structure, q: list[Taylor]):
        super().__init__(net, on, plan, q)
        self.spring_of = {c.name: c for c in net.transmission.elements}

    def motion(self, rate: int) -> tuple[Taylor, Taylor, Taylor]:
        """Coordinate, rate and acceleration of a joint or of a rotor."""
        if rate < self.plan.joints:
            return self.q[rate], self.v[rate], self.a[rate]

        def make() -> tuple[Taylor, Taylor, Taylor]:
            angle = self._angle(rate)
            return angle, angle.rate(), angle.rate().rate()

        return self.once(("motion", rate), make)

    def _angle(self, rotor: int) -> Taylor:
        """theta of a rotor from the torque of its spring."""
        drive = self.plan.driver[rotor]
        c, (near, far), away = self._spring(drive)
        d = deflection(c, self._spring_torque(drive)) + c["rest"]
        joints: Any = far.offset
        for k, factor in far.ties:
            joints = joints + self.q[k].cut(self.plan.alpha[k]) * factor
        ((_, ratio),) = near.ties
        return (d * away + joints - near.offset) * (1.0 / ratio)

    def _spring(self, drive: ElasticDrive) -> tuple[ShaftComponent, tuple[Shaft, Shaft], float]:
        """The spring of a drive, its shafts at the rotor and at the joint, and 1 if the rotor is at a, else -1."""
        c = self.spring_of[drive.spring]
        far = "b" if drive.flank == "a" else "a"
        return c, (c.shafts[drive.flank], c.shafts[far]), 1.0 if drive.flank == "a" else -1.0

    def _spring_torque(self, drive: ElasticDrive) -> Taylor:
        """Torque from a to b of a spring: those of the joints, u_k = sum of C_sk T_s, solved for T."""
        return self.once(("springs", drive.together), lambda: self._solved(drive.together))[drive.spring]

    def _solved(self, together: tuple[int, ...]) -> dict[str, Taylor]:
        group = [self.plan.drives[k] for k in together]
        C = []
        for drive in group:
            _, (_, far), away = self._spring(drive)
            ties = dict(far.ties)
            C.append([ties[k] * away if k in ties else 0.0 for k in together])
        u = [self.torque(k) for k in together]
        solution = [_combined(row, u) for row in _inverse(list(zip(*C, strict=True)))]
        return {drive.spring: T for drive, T in zip(group, solution, strict=True)}

    # ------------------------------------------------------------------ equations
    def torque(self, joint: int) -> Taylor:
        """u of a joint (3.24): what the drive must exert on the link, with friction at the joint."""
        return self.once(("torque", joint), lambda: _series(self._torque(joint), self.plan.alpha[joint]))

    def _torque(self, joint: int, at_link: bool = False) -> Any:
        """``at_link``: without what turns behind a gear."""
        total: Any = 0.0
        for c in self.net.components:
            for k, ties in enumerate(c.ties):
                for rate, factor in ties:
                    if rate == joint and not (at_link and defined_by(c) is RotorInertia):
                        total = total + self.force(c)[k] * factor
        for c in self.net.transmission.elements:
            for port, shaft in c.shafts.items():
                direct = len(shaft.ties) == 1 and isinstance(shaft.ties[0][1], float) and shaft.ties[0][1] == 1.0
                for rate, factor in shaft.ties if direct or not at_link else ():
                    if rate == joint and not self._joins(c):
                        total = total + self._element(c)[port] * factor
        return total

    def _joins(self, c: ShaftComponent) -> bool:
        """Whether an element connects a rotor with its joint: its torque is the unknown."""
        rates = {k for shaft in c.shafts.values() for k, _ in shaft.ties}
        return len(c.shafts) > 1 and any(k < self.plan.joints for k in rates) and len(self._rotors_of(rates)) > 0

    def _rotors_of(self, rates: set[int]) -> list[int]:
        return [k for k in rates if k >= self.plan.joints]

    def _element(self, c: ShaftComponent) -> Mapping[str, Any]:
        """Torques of an element on shafts of joints, or of a rotor."""
        return self.once(("element", c.name), lambda: self._element_row(c))

    def _element_row(self, c: ShaftComponent) -> Mapping[str, Any]:
        angle, rate, change = {}, {}, {}
        for port, shaft in c.shafts.items():
            angle[port], rate[port], change[port] = shaft.offset, 0.0, 0.0
            for k, factor in shaft.ties:
                q, v, a = self.motion(k)
                angle[port], rate[port] = angle[port] + q * factor, rate[port] + v * factor
                change[port] = change[port] + a * factor
        return shafts.of(c)(c, angle, rate, change)  # type: ignore[arg-type]

    def motor(self, rotor: int) -> Any:
        """tau of a motor (3.18): its rotor, friction on its shaft, and the spring."""
        drive = self.plan.driver[rotor]
        _, (near, _), away = self._spring(drive)
        ((_, ratio),) = near.ties
        return self._torque(rotor) + self._spring_torque(drive) * (ratio * away)

    # ------------------------------------------------------------------ results
    def results(self) -> dict[str, Array]:
        """Of every joint, see :class:`gyrostat.solvers.dynamics.elastic_inverse_dynamics.ElasticResult`."""
        rows = [self._elastic(k) if k in self.plan.drives else self._rigid(k) for k in range(self.plan.joints)]
        names = ("tau_motor", "theta", "theta_dot", "theta_ddot", "tau_spring")
        return {name: np.array([row[i] for row in rows]) for i, name in enumerate(names)}

    def _elastic(self, joint: int) -> tuple[Any, ...]:
        rotor = self.plan.drives[joint].rotor
        angle = self.motion(rotor)[0].derivatives()
        return _value(self.motor(rotor)), angle[0], angle[1], angle[2], _value(self.torque(joint))

    def _rigid(self, joint: int) -> tuple[Any, ...]:
        """A stiff drive, or none: the motor turns with the joint."""
        ratio, offset = self._ratio(joint)
        q = self.q[joint].derivatives()
        motor = _value(self.torque(joint)) * (1.0 / ratio)
        return motor, q[0] * ratio + offset, q[1] * ratio, q[2] * ratio, _value(self._torque(joint, at_link=True))

    def _ratio(self, joint: int) -> tuple[Any, Any]:
        """Turns of the one motor that turns with a joint alone, and its angle at q = 0."""
        motors = [c.shafts["shaft"] for c in self.net.transmission.elements if issubclass(c.kind, Motor)]
        mine = [shaft for shaft in motors if any(k == joint for k, _ in shaft.ties)]
        if len(mine) == 1 and len(mine[0].ties) == 1:
            return mine[0].ties[0][1], mine[0].offset
        return 1.0, 0.0


def _series(x: Any, order: int) -> Taylor:
    return x.cut(order) if isinstance(x, Taylor) else Taylor([x, *[0.0] * order])


def _combined(factors: Sequence[Any], terms: Sequence[Taylor]) -> Taylor:
    products = [term * factor for factor, term in zip(factors, terms, strict=True) if not _is_zero(factor)]
    total = products[0]
    for term in products[1:]:
        total = total + term
    return total


def _inverse(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Of a small matrix, by its minors: no choice of pivots, which recorded numbers would not allow."""
    n = len(rows)

    def without(i: int, j: int) -> list[list[Any]]:
        return [[x for l, x in enumerate(row) if l != j] for k, row in enumerate(rows) if k != i]

    scale = 1.0 / _determinant(rows)
    return [[_determinant(without(j, i)) * ((-1.0) ** (i + j) * scale) for j in range(n)] for i in range(n)]


def _determinant(rows: Sequence[Sequence[Any]]) -> Any:
    total: Any = 0.0
    for j, x in enumerate(rows[0] if rows else ()):
        if not _is_zero(x):
            total = total + x * ((-1.0) ** j * _determinant([[*row[:j], *row[j + 1 :]] for row in rows[1:]]))
    return total if rows else 1.0


def _is_zero(x: Any) -> bool:
    return isinstance(x, float) and x == 0.0


def _value(x: Any) -> Any:
    return x.c[0] if isinstance(x, Taylor) else x


def elastic_inverse(net: Network, on: Setting, plan: Structure, q: list[Taylor]) -> dict[str, Array]:
    """Results by name, each (n,), for the series of the joint coordinates."""
    return ElasticSweep(net, on, plan, q).results()
