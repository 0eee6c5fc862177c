"""<include> of an SDF: the model of another file in its place, from allowed folders alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gyrostat.io.mesh_paths import Roots
from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.source import SdfReader, parse_sdf
from gyrostat.io.sdf.versions import read_version
from gyrostat.io.text_files import read_text

MAX_FILES = 200
"""How many files one model may include, each time counted."""

NESTED = 16
"""How deep files may include each other."""

SCHEMES = ("model://", "package://", "file://")


@dataclass
class Includes:
    """Puts included models in the place of ``<include>``: each is a nested model with a scope of its own."""

    reader: SdfReader
    roots: Roots
    file: str
    count: int = 0

    def expand(self, root: Element) -> None:
        """All of them, also those within included files."""
        todo = [(element, (Path(self.file).resolve(),), self.file) for element in list(root.iter("include"))]
        while todo:
            element, chain, including = todo.pop(0)
            parent = element.getparent()
            found = self._read(element, chain, including)
            if found is not None:
                model, path, shown = found
                self._override(element, model)
                parent.insert(parent.index(element), model)
                todo += [(inner, (*chain, path), shown) for inner in list(model.iter("include"))]
            parent.remove(element)

    def _read(self, element: Element, chain: tuple[Path, ...], including: str) -> tuple[Element, Path, str] | None:
        reader, uri = self.reader, self.reader.inner(element, "uri")
        fix = "include models from the folder of the file, or name their folder in roots=[...]"
        if not uri:
            reader.error(element, "include", "<include> needs a <uri>", "nothing", "write <uri>model://name</uri>")
            return None
        if reader.truth_of(element, element.get("merge", "false"), False):
            what = "merging an included model into the one around it is not read"
            reader.error(element, "include", what, 'merge="true"', "include it as a nested model")
            return None
        path, why, shown = self._find(uri, including)
        if path is None:
            reader.wrong(element, "include", f"the included model {why}", repr(uri[:80]), fix, left_out=True)
            return None
        self.count += 1
        if path in chain or len(chain) > NESTED or self.count > MAX_FILES:
            what = (
                "a file includes itself"
                if path in chain
                else f"more than {MAX_FILES} files, or {NESTED} levels of them, are included"
            )
            reader.error(element, "include", what, repr(uri[:80]), "take the <include> out")
            return None
        text = read_text(path, shown, "XML")
        root = parse_sdf(text, shown)
        reader.source.grow(root, shown, text)
        read_version(reader, root, shown)
        models = list(root.iterchildren("model")) if root.tag == "sdf" else []
        if len(models) == 1:
            return models[0], path, shown
        what = "an included file must be <sdf> with one <model>"
        if root.tag == "sdf" and not models and len(root):
            reader.ignore(element, "unused-include", f"{what}; it holds <{root[0].tag}>", repr(uri[:80]))
        else:
            reader.error(element, "include", what, f"{len(models)} models", "include a file with one model")
        return None

    def _override(self, element: Element, model: Element) -> None:
        """Name, pose and more that the include gives the model."""
        reader = self.reader
        if name := reader.inner(element, "name"):
            model.set("name", name)
        for tag in ("pose", "static"):
            given = reader.child(element, tag)
            if given is not None:
                for old in list(model.iterchildren(tag)):
                    model.remove(old)
                model.insert(0, given)
        if placed := reader.inner(element, "placement_frame"):
            model.set("placement_frame", placed)
        for plugin in list(element.iterchildren("plugin")):
            model.append(plugin)

    def _find(self, uri: str, including: str) -> tuple[Path | None, str, str]:
        """The file that a URI means, or None and what is to be said; and how messages call it."""
        name = uri
        for scheme in SCHEMES:
            name = name.removeprefix(scheme)
        if "://" in name or name.startswith("/") or name[1:2] == ":":
            return None, "is refused: only model://, package://, file:// and relative names are followed", uri
        here = Path(including).parent
        roots = self.roots if including == self.file else Roots(here, self.roots.places)
        why = "is not there"
        for inside in _files(roots, name):
            path, told = (
                roots.inside(inside) if roots.places else (None, "is a mere reference: the text came without a folder")
            )
            if path is not None and not any(path.is_relative_to(Path(p).resolve()) for p in self.roots.places):
                path, told = None, "is refused: it leads out of the allowed folders"
            if path is not None:
                return path, "", str(here / inside)
            why = told if "refused" in told or "reference" in told else why
        return None, why, uri


def _files(roots: Roots, name: str) -> list[str]:
    """Names to try: the file itself; in a folder, the one that its model.config names, or model.sdf."""
    if name.lower().endswith((".sdf", ".world", ".xml")):
        return [name]
    names = [f"{name}/model.sdf"]
    try:
        config, _ = roots.inside(f"{name}/model.config") if roots.places else (None, "")
        if config is not None:
            listed = parse_sdf(read_text(config, str(config), "XML"), str(config)).findall("sdf")
            names[:0] = [f"{name}/{(e.text or '').strip()}" for e in reversed(listed[:20]) if (e.text or "").strip()]
    except (OSError, ValueError):
        pass
    return names
