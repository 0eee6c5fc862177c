"""Files of heights: ``.npy`` (without objects), or text with one row a line, numbers apart by spaces or commas."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.geometry.height_field import MOST

Array = np.ndarray
LARGEST = 32 * MOST
"""Bytes of a file at most."""
FORMATS = (".npy", ".txt", ".csv")


def read_heights(folder: Path, name: str) -> Array:
    """Heights (rows, columns) [m] of a file inside a folder; :class:`MeshError` says why they cannot be read."""
    home = Path(os.path.realpath(folder))
    file = Path(os.path.realpath(home / name))
    if not file.is_relative_to(home):
        raise MeshError("is refused: it leads out of the folder of the model")
    if file.suffix.lower() not in FORMATS:
        raise MeshError(f"the format '{file.suffix}' is not read. Hint: convert it to one of {', '.join(FORMATS)}")
    try:
        if file.stat().st_size > LARGEST:
            raise MeshError(f"is larger than {LARGEST // 2**20} MiB. Hint: take fewer samples")
        heights = _array(file) if file.suffix.lower() == ".npy" else _text(file)
    except OSError as error:
        raise MeshError(f"cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, OverflowError, EOFError) as error:
        raise MeshError(f"cannot be read: {error}") from None
    if heights.ndim != 2 or heights.size > MOST:
        raise MeshError(f"has the shape {heights.shape}, not rows and columns of at most {MOST} numbers")
    return heights


def _array(file: Path) -> Array:
    mapped = np.load(file, mmap_mode="r", allow_pickle=False)  # as long as the file is, whatever its head says
    if not isinstance(mapped, np.ndarray) or mapped.dtype.kind not in "fiu" or mapped.size > MOST:
        raise MeshError(f"holds no array of at most {MOST} numbers")
    return np.array(mapped, dtype=float)


def _text(file: Path) -> Array:
    lines = [line for line in file.read_text("utf-8").splitlines() if line.strip()]
    rows = [[float(x) for x in line.replace(",", " ").split()] for line in lines]
    if len({len(row) for row in rows}) > 1:
        raise MeshError("has rows of different lengths")
    return np.array(rows, dtype=float)
