"""Results as MCAP files for viewers of robot logs: messages in JSON, with the names of schemas that Foxglove knows.

``/joint_states`` (foxglove.JointStates), ``/tf`` (foxglove.FrameTransforms) at every sample, ``/events`` (foxglove.Log)
at every event. Times are those of the run, in ns; a quaternion is x, y, z, w, of unit length, and turns the axes of the
child frame into those of the parent, here always the world."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.simulate.results.files import place_of, written
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.results.tables import needed
from gyrostat.solvers.functions import fk
from gyrostat.spec.rigid_body import RigidBody

Array = np.ndarray
WHO = "to_mcap"
INFO = 2
"""Level of a message in a log."""


def _object(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def _array(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_NUMBER, _TEXT, _WHOLE = {"type": "number"}, {"type": "string"}, {"type": "integer"}
_TIME = _object(sec=_WHOLE, nsec=_WHOLE)
_VECTOR = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER)
_QUATERNION = _object(x=_NUMBER, y=_NUMBER, z=_NUMBER, w=_NUMBER)
_JOINT = _object(["name"], name=_TEXT, position=_NUMBER, velocity=_NUMBER, acceleration=_NUMBER, effort=_NUMBER)
_TRANSFORM = _object(
    timestamp=_TIME, parent_frame_id=_TEXT, child_frame_id=_TEXT, translation=_VECTOR, rotation=_QUATERNION
)
SCHEMAS = {
    "/joint_states": ("foxglove.JointStates", _object(timestamp=_TIME, joints=_array(_JOINT))),
    "/tf": ("foxglove.FrameTransforms", _object(transforms=_array(_TRANSFORM))),
    "/events": (
        "foxglove.Log",
        _object(timestamp=_TIME, level=_WHOLE, message=_TEXT, name=_TEXT, file=_TEXT, line=_WHOLE),
    ),
}


def write_mcap(result: Result, path: str | os.PathLike[str]) -> Path:
    """The file, complete or untouched."""
    needed("mcap", WHO)
    writer_of = needed("mcap.writer", WHO)
    if len(result.t) and result.t[0] < 0.0:
        raise GyrostatError(f"{WHO}: the run begins at t = {result.t[0]:g} s, and MCAP has no times below zero")
    data = io.BytesIO()
    writer = writer_of.Writer(data, compression=writer_of.CompressionType.NONE)
    writer.start(library="gyrostat")
    told = {"model": result.model.name, "method": result.method, "status": result.status, "message": result.message}
    writer.add_metadata("gyrostat", told)
    channels: dict[str, int] = {}
    for topic, (name, schema) in SCHEMAS.items():
        known = writer.register_schema(name, "jsonschema", json.dumps(schema | {"title": name}).encode())
        channels[topic] = writer.register_channel(topic, "json", known)
    for sequence, (t, topic, message) in enumerate(_messages(result)):
        text = json.dumps(message, allow_nan=False).encode()
        writer.add_message(channels[topic], t, text, t, sequence)
    writer.finish()
    return written(place_of(path, ".mcap"), data.getvalue())


def _messages(result: Result) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(time [ns], topic, message) in order of time; what happens at a sample comes before it."""
    samples = [round(t * 1e9) for t in result.t.tolist()]
    events = sorted(result.events, key=lambda event: event.t)
    joints, transforms = _joints(result), _transforms(result)
    next_event = 0
    for k, t in enumerate(samples):
        while next_event < len(events) and round(float(events[next_event].t) * 1e9) <= t:
            yield _log(result, events[next_event])
            next_event += 1
        yield t, "/joint_states", {"timestamp": _stamp(t), "joints": joints(k)}
        yield t, "/tf", {"transforms": transforms(k, _stamp(t))}
    for event in events[next_event:]:
        yield _log(result, event)


def _stamp(t: int) -> dict[str, int]:
    return {"sec": t // 1_000_000_000, "nsec": t % 1_000_000_000}


def _log(result: Result, event: Any) -> tuple[int, str, dict[str, Any]]:
    t = round(float(event.t) * 1e9)
    message = f"{event.kind}: {event.name} at t = {float(event.t):.12g} s"
    log = {"timestamp": _stamp(t), "level": INFO, "message": message, "name": result.model.name, "file": "", "line": 0}
    return t, "/events", log


def _joints(result: Result) -> Any:
    """What is known at each sample by the names of coordinates and rates; a quaternion has four positions, and three
    velocities, accelerations and efforts of its own."""
    model = result.model
    columns: dict[str, dict[str, list[float]]] = {}
    for key, names, x in (
        ("position", model.coordinates, result.q),
        ("velocity", model.dofs, result.v),
        ("acceleration", model.dofs, result.a),
        ("effort", model.dofs, result.tau),
    ):
        for name, column in zip(names, x.T.tolist(), strict=True):
            columns.setdefault(name, {})[key] = column

    def at(k: int) -> list[dict[str, Any]]:
        return [{"name": name} | {key: x[k] for key, x in values.items()} for name, values in columns.items()]

    return at


def _transforms(result: Result) -> Any:
    """Places of all bodies in the world at each sample."""
    model = result.model
    bodies = [name for name, entity in model.wiring.entities.items() if isinstance(entity, RigidBody)]
    at_time = None if isinstance(model.context.base, str) else result.t
    motions = fk(model, result.q, t=at_time) if len(result.t) else {}
    placed = {name: (motions[name].p.tolist(), quaternions(motions[name].R).tolist()) for name in bodies if motions}

    def at(k: int, stamp: Mapping[str, int]) -> list[dict[str, Any]]:
        return [
            {
                "timestamp": stamp,
                "parent_frame_id": "world",
                "child_frame_id": name,
                "translation": dict(zip("xyz", p[k], strict=True)),
                "rotation": dict(zip("xyzw", turn[k], strict=True)),
            }
            for name, (p, turn) in placed.items()
        ]

    return at


def quaternions(R: Array) -> Array:
    """x, y, z, w (T, 4) of rotation matrices (T, 3, 3), without changes of sign from one to the next."""
    turn = quaternion_of(R)
    flips = np.where(np.einsum("ti,ti->t", turn[1:], turn[:-1]) < 0.0, -1.0, 1.0)
    return turn * np.concatenate([[1.0], np.cumprod(flips)])[: len(R), None]
