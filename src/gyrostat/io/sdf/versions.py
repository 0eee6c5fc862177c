"""Which version of SDF a file says it is in."""

from __future__ import annotations

import re

from gyrostat.io.safe_xml import Element, short
from gyrostat.io.sdf.source import NEWEST, OLDEST, SdfReader, Version

_NUMBER = re.compile(r"(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?")


def said(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def read_version(reader: SdfReader, root: Element, file: str) -> bool:
    """Note the version of a file; False if its outermost tag is not <sdf>, or it is too old to be read."""
    known = f"{said(OLDEST)} to {said(NEWEST)}"
    reader.source.version[file] = NEWEST
    if root.tag != "sdf":
        reader.error(
            root,
            "root-tag",
            "the outermost tag must be <sdf>",
            f"<{short(root.tag)[:80]}>",
            'write <sdf version="1.11">',
        )
        return False
    text = (root.get("version") or "").strip()
    match = _NUMBER.fullmatch(text)
    if match is None:
        what = f"<sdf> must say its version; it is read as {said(NEWEST)}"
        reader.wrong(root, "version", what, repr(text[:20]) if text else "nothing", 'write <sdf version="1.11">')
        return True
    version = int(match[1]), int(match[2])
    if version < OLDEST:
        what = f"versions {known} are read"
        reader.error(root, "version", what, text, "let 'gz sdf -p' or 'ign sdf -p' write it in a newer version")
        return False
    if version > NEWEST:
        reader.wrong(
            root,
            "version",
            f"versions {known} are known; it is read as {said(NEWEST)}",
            text,
            "check what is new in it",
        )
        version = NEWEST
    reader.source.version[file] = version
    return True
