"""Names in the model: those of the file where they are usable and unique, else near ones, with a warning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import Reader
from gyrostat.spec.wiring import RESERVED, is_name


@dataclass
class Names:
    """Bodies, joints and the rest share one space of names; who comes first keeps its name."""

    reader: Reader
    taken: set[str] = field(default_factory=lambda: {"world", *RESERVED})
    again: Counter[str] = field(default_factory=Counter)

    def give(self, wanted: str, sort: str, element: Element, fallback: str) -> str:
        """A free name for what is called ``wanted`` in the file, or not at all: then ``fallback``."""
        given = self.free(wanted or fallback, sort)
        if wanted and given != wanted:
            why = "is taken or reserved" if is_name(wanted) else "holds signs that names cannot have"
            what = f"the name {why}; it is called '{given}' in the model"
            self.reader.warn(element, "name", what, repr(wanted), "rename it in the file")
        return given

    def free(self, wanted: str, sort: str) -> str:
        """A name that nobody has, and nobody will get."""
        name = wanted if is_name(wanted) else "".join(c if is_name(c) else "_" for c in wanted)[:110] or sort
        if name in self.taken:
            name = f"{name[:110]}_{sort}"
        tried = name
        while tried in self.taken:
            self.again[name] += 1
            tried = f"{name}{self.again[name] + 1}"
        self.taken.add(tried)
        return tried
