"""FMUs as archives with the same bytes for the same content: entries in order, one date, no owner."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

DATE = (1980, 1, 1, 0, 0, 0)


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """The archive; its description comes first."""
    buffer = io.BytesIO()
    order = sorted(entries, key=lambda name: (name != "modelDescription.xml", name))
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in order:
            info = zipfile.ZipInfo(name, DATE)
            info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
            info.external_attr = (0o100755 if name.startswith("binaries/") else 0o100644) << 16
            archive.writestr(info, entries[name])
    return buffer.getvalue()
