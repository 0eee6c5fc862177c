"""What MuJoCo does not get to see of an MJCF file: what the model has no use for, what could open files or run away.

Everything that is taken out is told: ``ignored`` where it concerns pictures, sensors, contact or simulation; an error
where the motion would be another one without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.numbers import LARGEST, number
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.xml_elements import shown

MAX_COPIES = 3000
"""How many elements all ``<replicate>`` of a file may make."""

MAX_BODIES, MAX_ELEMENTS = 3000, 20_000
"""How many there may be: the time that MuJoCo takes grows with the square of it, 3 s for so many bodies."""

SECTIONS = {
    "visual": "settings of MuJoCo's viewer are not in the model",
    "statistic": "statistics for MuJoCo's viewer are not in the model",
    "size": "memory sizes are not in the model",
    "custom": "custom data are not in the model",
    "keyframe": "stored states are not in the model",
    "extension": "extension libraries are never loaded",
}
"""Parts of the file that are passed over as a whole."""

PICTURES = {
    "texture": "textures are not in the model",
    "skin": "skins are not in the model",
    "camera": "cameras are not in the model",
    "light": "lights are not in the model",
}
"""Elements that are passed over wherever they stand, but for ``<default>``."""

FORCES = {
    "flexcomp": "flexible bodies are not treated",
    "composite": "composite bodies are not treated",
    "flex": "flexible bodies are not treated",
}
"""Elements without which the motion is another one."""

FILES = ("meshdir", "texturedir", "assetdir", "strippath")
OTHERS = ("fusestatic", "discardvisual", "savecompiled", "savecanonical", "saveinertial", "usethread", "passthrough")
"""Attributes of ``<compiler>`` that say where files are, or how MuJoCo stores what it made."""

WORDS = frozenset(
    (
        *("name", "class", "childclass", "file", "model", "type", "content_type", "target", "prefix", "suffix", "sep"),
        *("body", "body1", "body2", "joint", "joint1", "joint2", "jointinparent", "geom", "geom1", "geom2", "frame"),
        *("site", "site1", "site2", "sidesite", "cranksite", "slidersite", "refsite", "camera", "actuator"),
        *(
            "tendon",
            "tendon1",
            "tendon2",
            "mesh",
            "hfield",
            "material",
            "texture",
            "plugin",
            "instance",
            "key",
            "value",
        ),
    )
)
"""Attributes that hold names, not numbers."""

_INFINITE = re.compile(r"[-+]?(nan|inf|infinity)(\(.*\))?", re.IGNORECASE)
_NUMERIC = re.compile(r"[-+]?\.?[0-9]")
_HEX = re.compile(r"[-+]?0[xX]")


def take_sensors(reader: MjcfReader) -> list[Element]:
    """The sensors of the file, which MuJoCo does not get to see; numbers in them are not read."""
    root, found = reader.source.root, list[Element]()
    for section in list(root.iterchildren("sensor")):
        found += [element for element in section if isinstance(element.tag, str)]
        root.remove(section)
    return found


def strip(reader: MjcfReader) -> None:
    """Take out of the tree what MuJoCo must not see."""
    root = reader.source.root
    for section in list(root):
        if section.tag in SECTIONS:
            if section.tag == "extension" and len(section):
                reader.wrong(
                    section, "plugin", SECTIONS["extension"], "<extension>", "take its plugins out", left_out=True
                )
            elif len(section) or section.attrib:
                reader.ignore(section, f"unused-{section.tag}", SECTIONS[section.tag], shown(section))
            root.remove(section)
    for element in [e for e in root.iter() if e.getparent() is not None]:
        if not _inside(element, root):
            continue
        _look_at(reader, element)
    _bound_size(reader, root)
    _bound_copies(reader, root)
    _check_numbers(reader, root)


def _inside(element: Element, root: Element) -> bool:
    """Whether it, and what it is in, has not been taken out meanwhile."""
    while element is not None:
        if element is root:
            return True
        element = element.getparent()
    return False


def refuse_foreign(reader: MjcfReader, root: Element) -> None:
    """Names that are no part of MJCF, and text."""
    for element in root.iter():
        odd = [key for key in (element.tag, *element.attrib) if short(key) != key or ":" in key]
        if odd:
            what = "names with a prefix or a namespace are no part of MJCF"
            reader.error(element, "unknown-tag", what, repr(short(odd[0])), "take it out")
        text = [t.strip() for t in (element.text, *(child.tail for child in element)) if t and t.strip()]
        if text:
            what = f"there is text in <{short(element.tag)}>, which was passed over"
            reader.warn(element, "text", what, repr(text[0][:40]), "values go into attributes")


def _look_at(reader: MjcfReader, element: Element) -> None:
    tag = element.tag
    in_default = any(a.tag == "default" for a in element.iterancestors())
    if tag in PICTURES and not in_default:
        reader.ignore(element, f"unused-{tag}", PICTURES[tag], shown(element, "file", "type", "mode"))
        element.getparent().remove(element)
    elif tag in FORCES:
        reader.wrong(element, "flexible", FORCES[tag], shown(element, "type"), "take it out", left_out=True)
        element.getparent().remove(element)
    elif tag in ("attach", "model"):
        fix = "write the parts into one file, for example with MjSpec.to_xml()"
        reader.error(element, "attach", "other models are not attached", shown(element), fix)
        element.getparent().remove(element)
    elif tag == "plugin":
        _plugin(reader, element)
    else:
        _SPECIAL.get(tag, _nothing)(reader, element)


def _nothing(reader: MjcfReader, element: Element) -> None:
    pass


def _plugin(reader: MjcfReader, element: Element) -> None:
    parent = element.getparent()
    if parent.tag == "actuator":
        what = "an actuator by a plugin is not in the model: tau is the generalised force of all of them"
        reader.ignore(element, "unused-actuator", what, shown(element))
    else:
        reader.wrong(element, "plugin", "plugins are never loaded", shown(element), "take it out", left_out=True)
    parent.remove(element)


def _compiler(reader: MjcfReader, element: Element) -> None:
    for key in (*FILES, *OTHERS):
        element.attrib.pop(key, None)
    for child in list(element):  # lengthrange: how muscles are measured
        element.remove(child)
    if element.get("coordinate") == "global":
        fix = "let an old MuJoCo (2.x) write the file anew, with local coordinates"
        reader.error(element, "coordinate", "global coordinates are not read", 'coordinate="global"', fix)


def _texture_of(reader: MjcfReader, element: Element) -> None:
    element.attrib.pop("texture", None)
    for layer in list(element):
        element.remove(layer)


def _mesh(reader: MjcfReader, element: Element) -> None:
    builtin = element.get("builtin")
    if builtin is None:
        return
    given = [number(part) for part in (element.get("params") or "").split()]
    counts = [x for x in given if isinstance(x, float)]
    limit = 5 if builtin == "sphere" else 300  # a sphere is subdivided: four times the faces each time
    if len(counts) != len(given) or any(abs(x) > limit for x in counts):
        what = f"'params' of a builtin mesh must be numbers of at most {limit}"
        reader.error(element, "number", what, shown(element, "params"), "make the mesh coarser")


_SPECIAL: dict[str, Callable[[MjcfReader, Element], None]] = {
    "compiler": _compiler,
    "material": _texture_of,
    "mesh": _mesh,
}


def _bound_size(reader: MjcfReader, root: Element) -> None:
    for sort, most, there in (
        ("bodies", MAX_BODIES, sum(1 for _ in root.iter("body"))),
        ("elements", MAX_ELEMENTS, sum(1 for _ in root.iter())),
    ):
        if there > most:
            reader.error(
                root, "size", f"there are more than {most} {sort}", f"{there} {sort}", "is this the right file?"
            )


def _bound_copies(reader: MjcfReader, root: Element) -> None:
    """The elements that ``<replicate>`` makes, one within the other, are counted before they are made."""
    made = 0
    for element in root.iter("replicate"):
        factor = 1.0
        for outer in [element, *element.iterancestors("replicate")]:
            count = number((outer.get("count") or "").strip())
            factor *= abs(count) if isinstance(count, float) else math.inf
        made += factor * sum(1 for _ in element.iter()) if factor <= MAX_COPIES else math.inf
        if made > MAX_COPIES:
            what = f"'count' must be a whole number; all copies together have at most {MAX_COPIES} elements"
            reader.error(element, "replicate", what, shown(element, "count"), "make fewer copies")
            return


def _check_numbers(reader: MjcfReader, root: Element) -> None:
    """Rule ``number``: every number is finite and decimal; MuJoCo takes NaN, infinite and hexadecimal ones."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if key in WORDS:
                continue
            bad = next((why for part in value.split() if (why := _wrong_number(part)) is not None), None)
            if bad is not None:
                reader.error(element, "number", f"'{key}' of <{element.tag}> must hold finite numbers", value[:60], bad)


def _wrong_number(part: str) -> str | None:
    if _INFINITE.fullmatch(part):
        return "give a finite number"
    if not _NUMERIC.match(part):
        return None  # a keyword
    value = number(part, LARGEST)
    return value if isinstance(value, str) else None
