"""Where the mesh of a shape is: only from where it may be. What it holds, ``geometry.mesh_file`` reads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gyrostat.errors import MeshError as MeshError
from gyrostat.geometry.mesh_file import LARGEST as LARGEST
from gyrostat.geometry.mesh_file import read_mesh as read_mesh
from gyrostat.io.mesh_paths import Roots
from gyrostat.spec.model import Model

PLAIN = (0.72, 0.74, 0.78, 1.0)
"""What materials without a colour of their own look like."""


def find_mesh(
    model: Model, body: str, name: str, roots: Sequence[str | os.PathLike[str]] = ()
) -> tuple[Path | None, str]:
    """The file that a shape of a body names, or None and the reason.

    A path that was found when a URDF was read, or that was written in Python, is taken as it is. Names in a text form
    of the model are followed inside the folder of that file and inside ``roots`` only.
    """
    source = (model.source(body) or "").rpartition(":")[0]
    trusted = not source.lower().endswith((".yaml", ".yml"))  # names in a URDF are found or marked as mere references
    allowed = Roots.of(Path(source) if source else Path("model"), roots)
    if os.path.isabs(name):
        if not trusted:
            return allowed.inside(name)
        return (Path(name), "") if os.path.isfile(name) else (None, "is not there")
    return allowed.resolve(name)
