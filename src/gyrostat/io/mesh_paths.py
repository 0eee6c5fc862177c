"""Where the meshes of a URDF are: inside allowed folders, or nowhere. Nothing is opened."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

TEXT = "<text>"
"""What messages call a text that came without a file; the name may go on with a suffix."""

REFERENCE = "is a mere reference: the text came without a folder"
"""What is said about names in such a text."""


@dataclass(frozen=True)
class Roots:
    """``folder``: that of the file, in which relative names are looked up; ``roots``: where packages are.

    A text without a file has no folder: then names are followed in ``roots`` alone.
    """

    folder: Path | None
    roots: tuple[Path, ...] = ()

    @classmethod
    def of(cls, file: Path, roots: Sequence[str | os.PathLike[str]]) -> Roots:
        alone = str(file).startswith(TEXT)
        return cls(None if alone else file.parent, tuple(Path(os.fsdecode(root)) for root in roots))

    @property
    def places(self) -> tuple[Path, ...]:
        """Every folder in which files may be."""
        return self.roots if self.folder is None else (self.folder, *self.roots)

    def around(self, package: str) -> list[Path]:
        """The nearest folder of this name that holds the file."""
        if self.folder is None:
            return []
        here = self.folder.absolute()
        return [self.folder] if here.name == package else [p for p in here.parents if p.name == package][:1]

    def resolve(self, name: str) -> tuple[Path | None, str]:
        """The file that a mesh name means, or None; and what is to be said about it, empty if all is well.

        ``package://p/x`` is ``x`` in the folder ``p`` of one of the roots, or in the nearest folder called ``p`` that
        holds the URDF; ``file:///x`` is a file inside the URDF's folder or a root; other names are relative to the URDF
        or to a root. A name that leads out of these folders is refused.
        """
        if not self.places:
            return None, REFERENCE
        try:
            if name.startswith("package://"):
                package, _, inside = name.removeprefix("package://").partition("/")
                if package in ("", ".", ".."):
                    return None, "names no package"
                places = [*(root / package for root in self.roots), *self.around(package)]
                if not places:
                    return None, f"the package '{package}' is not known; name the folder that holds it in roots=[...]"
                return _first(places, inside)
            if name.startswith("file:///"):
                return self.inside(unquote(name.removeprefix("file://")))
            if "://" in name or os.path.isabs(name) or name[1:2] == ":":
                return None, "is refused: only package://, file:// and relative names are followed"
            return self.inside(name)
        except (OSError, ValueError) as error:
            return None, f"is no usable name: {error}"

    def inside(self, name: str) -> tuple[Path | None, str]:
        """A file with a path, or a name relative to one of the allowed folders, that is inside one of them."""
        allowed = [Path(os.path.realpath(place)) for place in self.places]
        targets = [Path(os.path.realpath(place / name)) for place in allowed]
        kept = [target for target in targets if any(target.is_relative_to(place) for place in allowed)]
        if not kept:
            return None, "is refused: it leads out of the allowed folders"
        return next(((target, "") for target in kept if target.is_file()), (None, "is not there"))


def _first(places: list[Path], inside: str) -> tuple[Path | None, str]:
    for place in places:
        root, target = Path(os.path.realpath(place)), Path(os.path.realpath(place / inside))
        if not target.is_relative_to(root):
            return None, "is refused: it leads out of the allowed folders"
        if target.is_file():
            return target, ""
    return None, "is not there"
