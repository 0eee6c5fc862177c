"""Flexible beams as they are drawn: a row of short solids, each on a frame of its own along the bent axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.model import Model
from gyrostat.spec.sections import Section
from gyrostat.view.scene.solid import Solid

PIECES = 16
BENT = (0.35, 0.60, 0.80, 1.0)


def with_stations(model: Model) -> tuple[Model, Mapping[str, Solid]]:
    """The model with frames along its beams, which change none of its coordinates; and the solid at each of them."""
    solids: dict[str, Solid] = {}
    for name, beam in model.wiring.entities.items():
        if not isinstance(beam, FlexibleBeam):
            continue
        taken = {port.name for port in beam.ports}
        places = [beam.length * (k + 0.5) / PIECES for k in range(PIECES)]
        names = [next(n for n in _names(k) if n not in taken) for k in range(PIECES)]
        given = {frame.name: (frame.translation, frame.rotation) for frame in beam.frames}
        properties = {key: getattr(beam, key) for key in type(beam).model_fields if key != "frames"}
        new = type(beam)(**properties, frames=given | dict(zip(names, places, strict=True)))
        model = model.replace({name: new})
        for port, x in zip(names, places, strict=True):
            solids[f"{name}.{port}"] = _piece(f"{name}/{port}", beam, x)
    return model, solids


def _names(k: int) -> Any:
    name = f"axis{k + 1}"
    while True:
        yield name
        name += "_"


def _piece(name: str, beam: FlexibleBeam, x: float) -> Solid:
    """A box along x, or a cylinder if the section is round; without outer measures, a box with its moments."""
    table = beam.section if isinstance(beam.section, tuple) else ((0.0, beam.section), (beam.length, beam.section))
    places = [at for at, _ in table]

    def measure(key: str, other: float) -> float:
        known = [getattr(section, key) if isinstance(section, Section) else 0.0 for _, section in table]
        return float(np.interp(x, places, known)) or other

    y = measure("c_y", float(np.sqrt(3.0 * beam.I_z / beam.area)))
    z = measure("c_z", float(np.sqrt(3.0 * beam.I_y / beam.area)))
    length = 1.02 * beam.length / PIECES
    if isinstance(table[0][1], Section) and table[0][1].round:
        turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # its axis is z
        return Solid(name, "cylinder", (y, length), turned, np.zeros(3), BENT, "visual")
    return Solid(name, "box", (length, 2 * y, 2 * z), np.eye(3), np.zeros(3), BENT, "visual")
