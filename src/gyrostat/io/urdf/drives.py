"""What a URDF says about the drive of a joint, gathered; here damping and friction of <dynamics>."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.limits import SINGLE, read_limits
from gyrostat.io.xml_elements import Reader, shown


@dataclass(frozen=True)
class Mimic:
    """angle = multiplier x angle of the leader + offset."""

    leader: str
    multiplier: float
    offset: float
    element: Element


@dataclass
class UrdfDrive:
    """Limits as properties of :class:`Joint`; damping and friction at the joint; reduction and rotor of a
    transmission."""

    limits: dict[str, float] = field(default_factory=dict)
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    reduction: float | None = None
    rotor: float | None = None
    reflected: bool = False
    transmission: Element | None = None
    motor: dict[str, float] = field(default_factory=dict)


def read_drive(reader: Reader, joint: Element, kind: str, friction: bool) -> UrdfDrive:
    """Limits, damping and friction of a joint; ``friction=False`` leaves the latter two out, and tells it."""
    drive = UrdfDrive(read_limits(reader, joint, kind))
    element = reader.child(joint, "dynamics")
    if element is None:
        return drive
    used = kind in SINGLE and friction
    values = {k: reader.scalar(element, k, used) or 0.0 for k in ("damping", "friction") if k in element.attrib}
    if not any(values.values()):
        return drive
    if not used:
        why = "left out, as asked for" if kind in SINGLE else f"a {kind} joint has none"
        reader.ignore(element, "unused-dynamics", f"damping and friction: {why}", shown(element))
        return drive
    for key, value in values.items():
        if value < 0.0:
            what = f"'{key}' is negative: it would drive the joint"
            fix = "give its magnitude"
            values[key] = 0.0 if reader.wrong(element, "dynamics", what, f"{value:g}", fix, "taken as zero") else value
    drive.damping, drive.friction = (values.get(key, 0.0) for key in ("damping", "friction"))
    return drive
