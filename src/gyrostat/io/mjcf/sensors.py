"""Sensors of an MJCF file to those of a model; what is not taken is told, each with its line."""

from __future__ import annotations

from typing import Any

from gyrostat.io.mjcf.build import WORLD, Parts
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown
from gyrostat.spec.sensor import Sensor

AT_SITES = {"accelerometer": "accelerometer", "gyro": "gyro", "velocimeter": "velocimeter"}
THROUGH = {"force": "force", "torque": "torque"}
OF_JOINTS = {
    "jointpos": "joint_position",
    "jointvel": "joint_velocity",
    "ballquat": "joint_position",
    "ballangvel": "joint_velocity",
}
OF_FRAMES = {
    "framepos": "position",
    "framequat": "quaternion",
    "framexaxis": "x_axis",
    "frameyaxis": "y_axis",
    "framezaxis": "z_axis",
    "framelinvel": "linear_velocity",
    "frameangvel": "angular_velocity",
    "framelinacc": "linear_acceleration",
    "frameangacc": "angular_acceleration",
}


def add_sensors(parts: Parts, elements: list[Element]) -> None:
    """Entities for the sensors of a file."""
    for element in elements:
        data = _data(parts, element)
        if isinstance(data, str):
            parts.reader.ignore(element, "unused-sensor", data, shown(element, "name"))
            continue
        for key in ("noise", "cutoff"):
            if element.get(key):
                what = f"'{key}' of a sensor is not in the model: values are exact"
                parts.reader.ignore(element, "unused-sensor", what, shown(element, key))
        usual = f"{data['at'].replace('.', '_')}_{element.tag}"
        name = parts.names.give(element.get("name") or "", "sensor", element, usual)
        parts.add(Sensor(name, **data), element)


def _data(parts: Parts, element: Element) -> dict[str, Any] | str:
    """Properties of the sensor, or why it is not taken."""
    tag = str(element.tag)
    if tag in AT_SITES or tag in THROUGH:
        site = _site(parts, element.get("site"))
        if site is None:
            return "the sensor is at a site that is not in the file"
        if tag in AT_SITES:
            return {"measures": AT_SITES[tag], "at": site}
        port = parts.held_at.get(site.rpartition(".")[0])
        told = "the body of the sensor is fixed to another one at the same place"
        return told if port is None else {"measures": THROUGH[tag], "at": port, "reference": site}
    if tag in OF_JOINTS:
        joint = _joint(parts, element.get("joint"))
        told = "the sensor is at a joint that is held, or not in the file"
        return told if joint is None else {"measures": OF_JOINTS[tag], "at": joint}
    if tag in OF_FRAMES:
        return _of_frame(parts, element, OF_FRAMES[tag])
    return f"a sensor <{tag}> is not in the model"


def _of_frame(parts: Parts, element: Element, measures: str) -> dict[str, Any] | str:
    at = _object(parts, element.get("objtype"), element.get("objname"))
    if at is None:
        return "frames of sensors are those of sites and of bodies (xbody)"
    if element.get("reftype") is None:
        return {"measures": measures, "at": at}
    reference = _object(parts, element.get("reftype"), element.get("refname"))
    if reference is None or measures.endswith("acceleration"):
        return "references of sensors are sites and bodies (xbody), for places and velocities"
    return {"measures": measures, "at": at, "reference": reference}


def _object(parts: Parts, kind: str | None, name: str | None) -> str | None:
    if kind == "site":
        return _site(parts, name)
    if kind != "xbody":
        return None
    m = parts.done.model
    numbers = [b for b in range(m.nbody) if m.body(b).name == name]
    if not numbers:
        return None
    return f"{parts.body[numbers[0]]}.origin" if numbers[0] else f"{WORLD}.frame"


def _site(parts: Parts, name: str | None) -> str | None:
    return parts.site_frames.get(name or "")


def _joint(parts: Parts, name: str | None) -> str | None:
    m = parts.done.model
    return next((own for j, own in parts.joint.items() if m.joint(j).name == name), None)
