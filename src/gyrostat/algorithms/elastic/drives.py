"""Which rotor drives which joint through which spring, and what of it cannot be inverted (H04 3.2.1.3).

A spring has a rotor on one side. On the other there is a joint, or, behind a differential or another coupling, a shaft
that turns with several joints; as many springs as joints then belong together, and their torques follow from those of
the joints by a constant matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gyrostat.algorithms.elastic.springs import increasing
from gyrostat.errors import SpecError
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import ShaftComponent
from gyrostat.spec.motor import Motor
from gyrostat.spec.shaft_elements import Backlash, Damper, Spring


@dataclass(frozen=True)
class ElasticDrive:
    """Rates of a rotor and of the joint that it drives through a spring; ``flank``: the spring's port on the rotor's
    side; ``together``: rates of all joints that are coupled, this one among them, in the order of the model. Where
    there are several, the first rotor is counted as that of the first joint, and so on."""

    joint: int
    rotor: int
    spring: str
    flank: str
    together: tuple[int, ...]


@dataclass(frozen=True)
class _RotorSpring:
    rotor: int
    joints: frozenset[int]
    spring: str
    flank: str


def refused(who: str, rule: str, message: str, remedy: str) -> SpecError:
    return SpecError.one(who, rule, message, remedy)


def drives(net: Network, joints: int) -> dict[int, ElasticDrive]:
    """Elastic drives by the rate of the joint; rates from ``joints`` on are those of rotors."""
    _expect_followed_joints(net, joints)
    springs: list[_RotorSpring] = []
    names = net.model.dofs
    for c in net.transmission.elements:
        sides = {port: {k for k, _ in shaft.ties} for port, shaft in c.shafts.items()}
        rates = set().union(*sides.values())
        if not any(k >= joints for k in rates) or len(c.shafts) == 1:
            continue  # at joints only, or on the shaft of one rotor
        spring = _spring(c, sides, joints)
        if spring is None:
            continue
        twice = next((old for old in springs if old.rotor == spring.rotor), None)
        if twice is not None:
            message = f"acts beside '{twice.spring}' on '{names[spring.rotor]}'"
            raise refused(f"spring '{c.name}'", "elastic-joint", message, "give each rotor one spring")
        springs.append(spring)
    for r in range(joints, net.model.nv):
        if not any(spring.rotor == r for spring in springs):
            message = "no spring connects it with a joint, so that nothing prescribes its motion"
            remedy = "connect it with a spring or a gear, or take it out"
            raise refused(f"rotor '{names[r]}'", "elastic-joint", message, remedy)
    drives_by_joint: dict[int, ElasticDrive] = {}
    for group in _groups(springs):
        together = tuple(sorted(frozenset().union(*(spring.joints for spring in group))))
        if len(together) != len(group):
            raise _unequal(names, group, together)
        for joint, s in zip(together, sorted(group, key=lambda s: s.rotor), strict=True):
            drives_by_joint[joint] = ElasticDrive(joint, s.rotor, s.spring, s.flank, together)
    return drives_by_joint


def _expect_followed_joints(net: Network, joints: int) -> None:
    """Curves are followed by joints and what turns with them: never through a spring."""
    for curve in net.transmission.curves:
        if any(k >= joints for k, _ in curve.ties):
            message = "its driver turns with a rotor behind a spring: its follower has no motion before that is known"
            raise refused(f"'{curve.name}'", "elastic-curve", message, "drive it from the joint's side of the spring")
    for c in net.transmission.elements:
        bent = any(not shaft.is_linear for shaft in c.shafts.values())
        if bent and any(k >= joints for shaft in c.shafts.values() for k, _ in shaft.ties):
            message = "is between a rotor and a shaft that follows by a curve: its ratio may be zero"
            raise refused(f"'{c.name}'", "elastic-curve", message, "make this drive stiff")
    for motor in net.transmission.elements:
        if issubclass(motor.kind, Motor) and not motor.shafts["shaft"].is_linear:
            message = "drives a joint through a curve: where that is flat, no torque of it does"
            raise refused(f"motor '{motor.name}'", "elastic-curve", message, "put it at the driver of the curve")


def _groups(springs: Iterable[_RotorSpring]) -> list[list[_RotorSpring]]:
    """Springs that act on common joints."""
    groups: list[list[_RotorSpring]] = []
    for spring in springs:
        met = [group for group in groups if any(spring.joints & other.joints for other in group)]
        groups = [group for group in groups if group not in met] + [[spring, *(s for group in met for s in group)]]
    return groups


def _unequal(names: Sequence[str], group: Sequence[_RotorSpring], together: Sequence[int]) -> SpecError:
    joints = ", ".join(f"'{names[k]}'" for k in together)
    springs = " and ".join(f"'{s.spring}'" for s in group)
    more = len(group) > len(together)
    message = f"{springs} act on {joints}: " + (
        "the torque is not determined for each of them" if more else "one spring cannot give each joint its own torque"
    )
    remedy = "make one spring of them" if more else "give as many elastic drives as there are joints"
    return refused(f"spring '{group[0].spring}'", "elastic-joint", message, remedy)


def expect_undamped(net: Network, joints: int) -> None:
    """Damping that is live may become more than zero."""
    for c in net.transmission.elements:
        rates = {k for shaft in c.shafts.values() for k, _ in shaft.ties}
        if issubclass(c.kind, Damper) and len(c.shafts) > 1 and max(rates) >= joints:
            _undamped(c)


def _undamped(c: ShaftComponent) -> None:
    if not (isinstance(c["damping"], float) and c["damping"] == 0.0):
        message = (
            "damps the elasticity: the angle of the rotor then solves the differential equation "
            "D theta'/N + K theta/N = u + K q + D q', which prescribed joints do not determine at an instant"
        )
        raise refused(f"damper '{c.name}'", "elastic-damping", message, "set its damping to zero, or take it out")


def _spring(c: ShaftComponent, sides: Mapping[str, set[int]], joints: int) -> _RotorSpring | None:
    """What connects a rotor with a joint must be a spring that can be turned round."""
    if issubclass(c.kind, Damper):
        _undamped(c)
        return None
    if issubclass(c.kind, Backlash):
        message = "is between rotor and joint: while there is no contact, no motion of the rotor gives the torque"
        raise refused(f"backlash '{c.name}'", "elastic-joint", message, "take it out for inverse dynamics")
    if not issubclass(c.kind, Spring):
        message = f"of kind {c.kind.__name__} is between a rotor and a joint, and only springs can be turned round"
        raise refused(f"'{c.name}'", "elastic-joint", message, "take it out for inverse dynamics")
    near = [port for port, rates in sides.items() if len(rates) == 1 and min(rates) >= joints]
    far = [port for port, rates in sides.items() if rates and max(rates) < joints]
    if len(near) != 1 or len(far) != 1:
        message = "does not connect one rotor with joints: on each of its sides something else turns"
        raise refused(f"spring '{c.name}'", "elastic-joint", message, "put springs between a rotor and its joint only")
    if not increasing(c):
        message = "its torque does not increase with the deflection, so that a torque has several deflections"
        raise refused(f"spring '{c.name}'", "elastic-joint", message, "give an increasing curve")
    return _RotorSpring(min(sides[near[0]]), frozenset(sides[far[0]]), c.name, near[0])
