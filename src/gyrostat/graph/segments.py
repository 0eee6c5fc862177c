"""Beams in a row inside one entity: each has a floating frame of its own, so that the whole may turn far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.graph.inside import BeamFrame, Inside
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.sections import Section
from gyrostat.spec.values import Frame, RotationMatrix

OF_SECTION = ("area", "I_y", "I_z", "J")


def beam_in_segments(
    entity: FlexibleBeam, numbers: Mapping[str, Any], damping: tuple[str, Any], frames: Mapping[str, BeamFrame]
) -> Inside:
    """``entity.segments`` beams of equal length, clamped to each other; ``numbers``: its properties, live ones too."""
    n, step = entity.segments, entity.length / entity.segments
    beams: list[FlexibleBeam] = []
    values: dict[str, Any] = {}
    ports = {"a": "segment1.a", "b": f"segment{n}.b"}
    for k in range(n):
        name = f"segment{k + 1}"
        first, table = _sections(entity, k * step, (k + 1) * step)
        values |= {f"{name}.{key}": x * first.get(key, 1.0) for key, x in numbers.items()}
        values |= {f"{name}.length": numbers["length"] / n} | _damping(name, damping)
        own: list[Frame] = []
        for frame in entity.frames:
            fraction, R, p = frames[frame.name]
            if min(int(fraction * n), n - 1) == k:
                place = ((fraction * n - k) * step, *frame.translation[1:])
                matrix = np.eye(3) if R.dtype == object else R
                own.append(Frame(name=frame.name, translation=place, rotation=RotationMatrix(matrix=matrix)))
                inner = ports[frame.name] = f"{name}.{frame.name}"
                values |= {f"{inner}.translation": p, f"{inner}.rotation.matrix": R}
        here = {key: getattr(entity, key) * ratio for key, ratio in first.items()}
        changes = {"name": name, "segments": 1, "length": step, "frames": tuple(own), "section": table}
        beams.append(entity.model_copy(update=changes | here))
    joined = tuple((f"segment{k}.b", f"segment{k + 1}.a") for k in range(1, n))
    return Inside(tuple(beams), joined, ports, values)


def _damping(name: str, damping: tuple[str, Any]) -> dict[str, Any]:
    """Numbers of the law by path."""
    law, given = damping
    if law == "rayleigh":
        return {f"{name}.damping.alpha": given[0], f"{name}.damping.beta": given[1]}
    return {f"{name}.damping.ratios" if law == "modal" else f"{name}.damping": given}


def _sections(entity: FlexibleBeam, start: float, end: float) -> tuple[dict[str, float], Any]:
    """Ratios of the section at the start of a segment to that at x = 0, and its table of sections."""
    if not isinstance(entity.section, tuple):
        return {}, entity.section
    places = [x for x, _ in entity.section]
    inside = [start, *(x for x in places if start < x < end), end]
    fields = [key for key, field in Section.model_fields.items() if field.annotation is not bool]
    columns = {key: np.interp(inside, places, [getattr(s, key) for _, s in entity.section]) for key in fields}
    rows = [
        Section(**{key: float(columns[key][i]) for key in fields}, round=entity.section[0][1].round)
        for i in range(len(inside))
    ]
    first = {key: float(columns[key][0]) / getattr(entity.section[0][1], key) for key in OF_SECTION}
    local = [0.0, *(x - start for x in inside[1:-1]), entity.length / entity.segments]
    return first, tuple(zip(local, rows, strict=True))
