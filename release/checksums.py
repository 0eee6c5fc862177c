"""SHA256SUMS: what ``sha256sum --check`` reads, and what is signed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path


def checksums(folder: Path, files: Sequence[Path]) -> Path:
    """The file with one line for each of the others."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in sorted(files)]
    place = folder / "SHA256SUMS"
    place.write_text("\n".join(lines) + "\n", encoding="ascii")
    return place
