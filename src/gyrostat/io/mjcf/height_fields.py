"""The height fields of an MJCF: ``elevation`` in the text, or a file (PNG, MuJoCo's binary form) in an allowed folder.

MuJoCo scales heights so that they go from 0 to the third number of ``size``; rows of a text begin at the far end of y,
rows of its binary form at the near one. PNG files are decoded by MuJoCo, from memory, once their head says that they
are small."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.geometry.height_field import MOST
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.numbers import number
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown

Array = np.ndarray
MAX_FILE = 8 * MOST
"""Bytes of a file."""
PNG = b"\x89PNG\r\n\x1a\n"


class _UnreadError(Exception):
    """Why a height field is not read."""


@dataclass(frozen=True)
class FieldAsset:
    """``size``: lengths along x and y, depth of the base [m]; ``heights`` (rows, columns) [m]."""

    size: tuple[float, float, float]
    heights: Array


def take_height_fields(
    reader: MjcfReader, mujoco: Any, roots: Roots, folder: str, bare: bool
) -> dict[str, FieldAsset | None]:
    """The height fields of the file by name, which MuJoCo does not get to see; None for those that cannot be read, as
    is told. ``folder``, ``bare``: where files are, as of meshes."""
    found: dict[str, FieldAsset | None] = {}
    for element in list(reader.source.root.iter("hfield")):
        if any(a.tag == "default" for a in element.iterancestors()):
            continue
        file = element.get("file")
        name = element.get("name") or (Path(file).stem if file else "")
        try:
            found[name] = _asset(element, mujoco, roots, folder, bare)
        except _UnreadError as why:
            found[name] = None
            reader.ignore(element, "unused-hfield", f"a height field {why} is not in the model", shown(element, "file"))
        element.getparent().remove(element)
    return found


def _asset(element: Element, mujoco: Any, roots: Roots, folder: str, bare: bool) -> FieldAsset:
    x, y, top, depth = _numbers(element, "size", 4)
    if min(x, y, top, depth) <= 0.0:
        raise _UnreadError("whose size is not above zero")
    file = element.get("file")
    if file:
        data = _from_file(_read(file, roots, folder, bare), mujoco)
    elif element.get("elevation"):
        rows, columns = (int(_numbers(element, key, 1)[0]) for key in ("nrow", "ncol"))
        _expect_small(rows, columns)
        data = np.array(_numbers(element, "elevation", rows * columns)).reshape(rows, columns)[::-1]
    else:
        raise _UnreadError("whose heights are only known at run time")
    low, high = float(data.min()), float(data.max())
    heights = (data - low) * (top / (high - low)) if high > low else np.zeros(data.shape)
    return FieldAsset((2.0 * x, 2.0 * y, depth), heights)


def _numbers(element: Element, key: str, count: int) -> list[float]:
    given = [number(part) for part in (element.get(key) or "").split()]
    found = [x for x in given if isinstance(x, float)]
    if len(found) != len(given) or len(found) != count:
        raise _UnreadError(f"whose '{key}' is not {count} finite number{'s' if count > 1 else ''}")
    return found


def _expect_small(rows: int, columns: int) -> None:
    if rows < 2 or columns < 2 or rows * columns > MOST:
        raise _UnreadError(f"of {rows} x {columns} samples (from 2 x 2 to {MOST} in all are read)")


def _read(file: str, roots: Roots, folder: str, bare: bool) -> bytes:
    file = Path(file).name if bare else file
    whole = not folder or "://" in file or os.path.isabs(file) or file[1:2] == ":"
    path, why = roots.resolve(file if whole else f"{folder}/{file}")
    if path is None:
        raise _UnreadError(f"whose file {why}")
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise _UnreadError(f"whose file cannot be read: {error.strerror}") from None
    if len(data) > MAX_FILE:
        raise _UnreadError(f"whose file is larger than {MAX_FILE // 2**20} MiB")
    return data


def _from_file(data: bytes, mujoco: Any) -> Array:
    if data[:8] == PNG and len(data) > 24:
        columns, rows = struct.unpack(">II", data[16:24])
        _expect_small(rows, columns)
        return _from_png(data, mujoco)
    if len(data) < 8:
        raise _UnreadError("whose file is too short")
    rows, columns = struct.unpack("<ii", data[:8])
    _expect_small(rows, columns)
    if len(data) != 8 + 4 * rows * columns:
        raise _UnreadError(f"whose file does not hold the {rows} x {columns} numbers that it says")
    heights = np.frombuffer(data, "<f4", offset=8).reshape(rows, columns).astype(float)
    if not np.isfinite(heights).all():
        raise _UnreadError("whose heights are not finite")
    return heights


def _from_png(data: bytes, mujoco: Any) -> Array:
    text = (
        '<mujoco><asset><hfield name="h" file="h.png" size="1 1 1 1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
    )
    try:
        model = mujoco.MjModel.from_xml_string(text, {"h.png": data})
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise _UnreadError(f"whose PNG file MuJoCo refuses: {' '.join(str(error).split())[:80]}") from None
    return np.array(model.hfield_data, dtype=float).reshape(int(model.hfield_nrow[0]), int(model.hfield_ncol[0]))
