"""The tags and attributes of URDF; what is in a file beyond them, and what of them is not used."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.errors import near
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.xml_elements import Reader

Grammar = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]

_ORIGIN = ("xyz", "rpy")
_GEOMETRY = ("box", "cylinder", "sphere", "mesh", "capsule")
_SHAPES: Grammar = {
    "origin": (_ORIGIN, ()),
    "geometry": ((), _GEOMETRY),
    "box": (("size",), ()),
    "cylinder": (("radius", "length"), ()),
    "capsule": (("radius", "length"), ()),
    "sphere": (("radius",), ()),
    "mesh": (("filename", "scale"), ()),
    "material": (("name",), ("color", "texture")),
    "color": (("rgba",), ()),
    "texture": (("filename",), ()),
}
GRAMMAR: dict[str, Grammar] = {
    "robot": {
        "robot": (
            ("name", "version"),
            ("link", "joint", "material", "transmission", "gazebo", "sensor", "ros2_control"),
        )
    },
    "link": _SHAPES
    | {
        "link": (("name",), ("inertial", "visual", "collision")),
        "inertial": ((), ("origin", "mass", "inertia")),
        "mass": (("value",), ()),
        "inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ()),
        "visual": (("name",), ("origin", "geometry", "material")),
        "collision": (("name",), ("origin", "geometry", "contact_coefficients")),
        "contact_coefficients": (("mu", "kp", "kd"), ()),
    },
    "joint": {
        "joint": (
            ("name", "type"),
            ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
        ),
        "origin": (_ORIGIN, ()),
        "parent": (("link",), ()),
        "child": (("link",), ()),
        "axis": (("xyz",), ()),
        "limit": (("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"), ()),
        "dynamics": (("damping", "friction"), ()),
        "mimic": (("joint", "multiplier", "offset"), ()),
        "calibration": (("rising", "falling"), ()),
        "safety_controller": (("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"), ()),
    },
    "material": _SHAPES,
}
"""For each part of a robot: tag -> its attributes and the tags inside it."""

UNUSED = {
    "sensor": "sensors are not in the model",
    "ros2_control": "settings for ros2_control are not in the model",
}
"""Parts of a robot that are passed over."""

CLOSE = 0.75
"""How alike an unknown name and a known one are, if the known one was probably meant."""

CLOSE_SHORT = 0.6
"""The same for names of up to four letters: one letter may differ."""

ALWAYS = {"link", "joint"}
"""Tags of a robot that are meant by near ones, however many there are already."""

PLACED = {"link", "joint", "inertial", "mass", "inertia", "axis", "parent", "child", "dynamics", "mimic"}
"""Tags that change the dynamics: what they say is lost where they have no place. An <origin> in a link is harmless."""

MANY = 50
"""Unknown attributes of one element that are told one by one."""

GUESSES = 500
"""How many unknown names are compared with the known ones."""


@dataclass
class Unknowns:
    """Finds what is no URDF."""

    reader: Reader
    guessed: dict[tuple[str, tuple[str, ...]], list[str]] = field(default_factory=dict)
    parent: Element = None  # the one whose tags are
    there: set[object] = field(default_factory=set)

    def robot(self, root: Element) -> None:
        """Attributes and tags of the robot, then of each part."""
        self._attributes(root, GRAMMAR["robot"]["robot"][0])
        self._text(root)
        for part in _elements(root):
            tag = part.tag
            if tag not in GRAMMAR["robot"]["robot"][1]:
                self._tag(part, root, GRAMMAR["robot"]["robot"][1])
            elif tag in UNUSED:
                self.reader.ignore(part, f"unused-{tag}", UNUSED[tag])
            if tag in ("link", "joint", "material"):
                self._inside(part, GRAMMAR[tag])

    def _inside(self, part: Element, grammar: Grammar) -> None:
        todo = [part]
        while todo:
            element = todo.pop()
            attributes, tags = grammar[element.tag]
            self._attributes(element, attributes)
            self._text(element)
            for child in _elements(element):
                if child.tag in tags:
                    todo.append(child)
                else:
                    self._tag(child, element, tags)

    def _tag(self, child: Element, parent: Element, known: tuple[str, ...]) -> None:
        name = short(child.tag)
        if child.tag != name or ":" in name:
            what = f"<{child.prefix or ''}{':' if child.prefix else ''}{name}> is no tag of URDF"
            if "xacro" in str(child.tag) or child.prefix == "xacro":
                self.reader.error(child, "xacro", what, "", "name the file .xacro; gs.load expands it")
            else:
                self.reader.warn(child, "unknown-tag", f"{what} and was passed over")
            return
        if self.parent is not parent:
            self.parent, self.there = parent, {c.tag for c in parent} - ALWAYS
        place = f"<{name}> in <{short(parent.tag)}>"
        if name in PLACED:
            fix = f"put <{name}> where it belongs"
            self.reader.wrong(
                child, "misplaced-tag", f"{place} has no meaning", "", fix, "it was passed over", left_out=True
            )
            return
        if "origin" in known and "origin" not in self.there and {"xyz", "rpy"} & set(child.attrib):
            self.reader.wrong(child, "misspelt-tag", f"{place} is unknown", "", "did you mean 'origin'?", left_out=True)
            return
        self._unknown(child, "tag", f"<{name}> in <{short(parent.tag)}>", name, known, self.there)

    def _attributes(self, element: Element, known: tuple[str, ...]) -> None:
        there = set(element.attrib)
        unknown = [key for key in element.attrib if key not in known]
        if len(unknown) > MANY:
            what = f"{len(unknown) - MANY} more attributes of <{short(element.tag)}> are unknown and were passed over"
            self.reader.warn(element, "unknown-attribute", what)
        if element.tag == "origin" and unknown and not there & set(known) and "quat_xyzw" not in there:
            what = f"<origin> has neither xyz nor rpy, but '{short(unknown[0])}'"
            self.reader.wrong(element, "misspelt-attribute", what, "", "write xyz and rpy", left_out=True)
            return
        for key in unknown[:MANY]:
            if element.tag == "origin" and key == "quat_xyzw":
                what = "orientations as quaternions are not read"
                self.reader.error(element, "quaternion", what, repr(element.get(key)), "write rpy")
                continue
            label = f"attribute '{short(key)}' of <{short(element.tag)}>"
            self._unknown(element, "attribute", label, short(key), known, there)

    def _unknown(
        self, element: Element, sort: str, label: str, name: str, known: tuple[str, ...], there: set[object]
    ) -> None:
        close = self._near(name, known)
        meant = [k for k in close if k not in there]
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known) or 'none'}"
        if meant:  # without it something is missing that the author thinks is there
            self.reader.wrong(
                element, f"misspelt-{sort}", f"{label} is unknown", "", f"did you mean '{meant[0]}'?", left_out=True
            )
        else:
            self.reader.warn(element, f"unknown-{sort}", f"{label} is unknown and was passed over", "", hint)

    def _near(self, name: str, known: tuple[str, ...]) -> list[str]:
        key = name, known
        if key not in self.guessed:
            if len(self.guessed) >= GUESSES:
                return []
            self.guessed[key] = near(name.lower(), known, 2, CLOSE if len(name) > 4 else CLOSE_SHORT)
        return self.guessed[key]

    def _text(self, element: Element) -> None:
        texts = [element.text, *(child.tail for child in element)]
        stray = next((t.strip() for t in texts if t and t.strip()), None)
        if stray is not None:
            what = f"there is text in <{short(element.tag)}>, which was passed over"
            self.reader.warn(element, "text", what, repr(stray[:40]), "values go into attributes")


def _elements(element: Element) -> list[Element]:
    return [child for child in element if isinstance(child.tag, str)]
