"""<include> of an MJCF: the content of other files in its place, from allowed folders alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gyrostat.io.mesh_paths import Roots
from gyrostat.io.mjcf.source import MAX_DEPTH, MjcfReader, grow, parse_mjcf
from gyrostat.io.safe_xml import Element, bound_depth
from gyrostat.io.text_files import read_text

MAX_FILES = 200
"""How many files one model may include."""


@dataclass
class Includes:
    """Puts the content of included files in the place of ``<include>``."""

    reader: MjcfReader
    roots: Roots
    file: str
    done: set[Path] = field(default_factory=set)

    def expand(self) -> None:
        """All of them, also those within included files; each file once, as MuJoCo has it."""
        source = self.reader.source
        self.done.add(Path(self.file).resolve())
        todo = [e for e in source.root.iter("include")]
        while todo:
            element = todo.pop(0)
            inside = self._read(element)
            parent = element.getparent()
            at = parent.index(element)
            for k, child in enumerate(list(inside) if inside is not None else []):
                parent.insert(at + 1 + k, child)
                todo += list(child.iter("include"))
            parent.remove(element)
        bound_depth(source.root, self.file, MAX_DEPTH)

    def _read(self, element: Element) -> Element | None:
        name = self.reader.need(element, "file")
        if name is None:
            return None
        path, why, folder = self._find(name, self.reader.source.file_of[element])
        if path is None:
            fix = "include files from the folder of the model, or name their folder in roots=[...]"
            self.reader.error(element, "include", f"the included file {why}", repr(name), fix)
            return None
        if path in self.done or len(self.done) > MAX_FILES:
            again = "the file is included already" if path in self.done else f"more than {MAX_FILES} files are included"
            self.reader.error(element, "include", again, repr(name), "include each file once")
            return None
        self.done.add(path)
        shown = str(folder / name)
        text = read_text(path, shown, "XML")
        root = parse_mjcf(text, shown)
        grow(self.reader.source, root, shown, text)
        return root

    def _find(self, name: str, including: str) -> tuple[Path | None, str, Path]:
        """The file, what is to be said, and the folder that its name is relative to: the model's, or the including
        file's."""
        path, why = self.roots.resolve(name)
        if path is None and "refused" not in why and including != self.file:
            here = Path(including).parent
            path, _ = Roots(here, self.roots.places).resolve(name)
            allowed = [Path(p).resolve() for p in self.roots.places]
            if path is not None and not any(path.is_relative_to(p) for p in allowed):
                return None, "is refused: it leads out of the allowed folders", here
            return path, why, here
        return path, why, Path(self.file).parent
