"""Beams in a row inside one entity: each has a floating frame of its own, so that the whole may turn far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.graph.inside import BeamFrame, Inside
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.values import Frame, RotationMatrix


def beam_in_segments(entity: FlexibleBeam, numbers: Mapping[str, Any], frames: Mapping[str, BeamFrame]) -> Inside:
    """``entity.segments`` beams of equal length, clamped to each other; ``numbers``: its properties, live ones too."""
    n, step = entity.segments, entity.length / entity.segments
    beams: list[FlexibleBeam] = []
    values: dict[str, Any] = {}
    ports = {"a": "segment1.a", "b": f"segment{n}.b"}
    for k in range(n):
        name = f"segment{k + 1}"
        values |= {f"{name}.{key}": x for key, x in numbers.items()} | {f"{name}.length": numbers["length"] / n}
        own: list[Frame] = []
        for frame in entity.frames:
            fraction, R, p = frames[frame.name]
            if min(int(fraction * n), n - 1) == k:
                place = ((fraction * n - k) * step, *frame.translation[1:])
                matrix = np.eye(3) if R.dtype == object else R
                own.append(Frame(name=frame.name, translation=place, rotation=RotationMatrix(matrix=matrix)))
                inner = ports[frame.name] = f"{name}.{frame.name}"
                values |= {f"{inner}.translation": p, f"{inner}.rotation.matrix": R}
        beams.append(entity.model_copy(update={"name": name, "segments": 1, "length": step, "frames": tuple(own)}))
    joined = tuple((f"segment{k}.b", f"segment{k + 1}.a") for k in range(1, n))
    return Inside(tuple(beams), joined, ports, values)
