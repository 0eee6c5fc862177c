"""The models of an SDF: their links, joints and frames by full names, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.frames import WORLD, Frame, Frames, nowhere, read_pose
from gyrostat.io.sdf.source import FRAMES_SINCE, SdfReader

MAX_LINKS = 100_000
STANDARD = (0.0, 0.0, -9.81)
SORTS = ("link", "model", "frame", "joint")
"""What has a frame; where two have one name, the former keeps it."""


@dataclass
class Part:
    """A link, joint or frame of a model; ``scope``: the model's full name, empty for the world."""

    name: str
    scope: str
    element: Element
    static: bool


@dataclass
class Document:
    """What a file holds. ``top``: the models that are in no other one."""

    reader: SdfReader
    frames: Frames
    links: dict[str, Part] = field(default_factory=dict)
    joints: dict[str, Part] = field(default_factory=dict)
    marks: list[Part] = field(default_factory=list)  # <frame> elements
    top: list[str] = field(default_factory=list)
    gravity: tuple[float, ...] = STANDARD
    title: str = ""

    def short(self, full: str) -> str:
        """A full name without the model, if there is one model alone."""
        return full.removeprefix(f"{self.top[0]}::") if len(self.top) == 1 else full


def read_document(reader: SdfReader, root: Element) -> Document | None:
    """Names and frames of everything; None, and an error, if there is nothing."""
    frames = Frames(reader)
    frames.table[WORLD] = Frame(WORLD, root, nowhere(), "", "", root)
    document = Document(reader, frames)
    worlds = list(root.iterchildren("world"))
    for other in worlds[1:]:
        reader.error(other, "worlds", "there is a second <world>", repr(other.get("name")), "keep one of them")
    if worlds:
        document.title = worlds[0].get("name") or ""
        _gravity(document, worlds[0])
        _parts(document, worlds[0], "", static=False)
    _parts(document, root, "", static=False)
    if len(document.top) == 1:
        document.title = document.top[0]
    if not document.links or len(document.links) > MAX_LINKS:
        what = f"a file has models with links, at most {MAX_LINKS}"
        reader.error(root, "links", what, f"{len(document.links)} links", "is this the right file?")
        return None
    _check_references(document)
    return document


def _parts(document: Document, owner: Element, scope: str, static: bool) -> None:
    """Links, nested models, frames and joints of a model or world; in the order that decides who keeps a name."""
    todo = [(owner, scope, static)]
    while todo:
        element, name, fixed = todo.pop(0)
        nested: list[tuple[Element, str, bool]] = []
        for sort in SORTS:
            for child in element.iterchildren(sort) if element.tag != "sdf" or sort == "model" else ():
                full = _register(document, child, sort, name, fixed)
                if full is not None and sort == "model":
                    nested.append((child, full, fixed or document.reader.truth(document.reader.child(child, "static"))))
                    document.top += [full] if not name else []
        todo[:0] = nested


def _register(document: Document, element: Element, sort: str, scope: str, static: bool) -> str | None:
    """The full name of a part that is new; None if it has none, or another part has it."""
    reader, frames = document.reader, document.frames
    name = reader.need(element, "name")
    if name is None or not _usable(reader, element, name, scope):
        return None
    full = frames.full(scope, name)
    pose, relative, at = read_pose(reader, element)
    frame = Frame(full, element, pose, "", "", at if at is not None else element)
    around = scope or WORLD
    part = Part(full, scope, element, static)
    other = frames.table.get(full)
    if other is not None and not _may_share(reader, element, sort, other):
        return None
    if sort == "link":
        document.links[full] = part
    elif sort == "model":
        static = static or reader.truth(reader.child(element, "static"))
        frame.attached_to = WORLD if static else _canonical(frames, full, element)
        frame.placement = (element.get("placement_frame") or "").strip()
    elif sort == "frame":
        attached = (element.get("attached_to") or "").strip()
        frame.attached_to = frames.full(scope, attached) if attached else around
        around = frame.attached_to
        document.marks.append(part)
    else:
        if full in document.joints:
            _twice(reader, element, sort, document.joints[full].element)
            return None
        document.joints[full] = part
        child = reader.text(element.find("child"))
        frame.attached_to = around = frames.full(scope, child) if child else around
    frame.relative_to = frames.full(scope, relative) if relative else around
    if other is None:
        frames.table[full] = frame
    return full


def _usable(reader: SdfReader, element: Element, name: str, scope: str) -> bool:
    reserved = name == WORLD or (name.startswith("__") and name.endswith("__"))
    if not reserved and "::" not in name:
        return True
    if not reserved and reader.version(element) < FRAMES_SINCE:
        return True
    what = "names in SDF must not hold '::', be 'world' or begin and end with '__'"
    reader.error(element, "reserved-name", what, repr(name[:60]), "rename it")
    return False


def _may_share(reader: SdfReader, element: Element, sort: str, other: Frame) -> bool:
    """Whether two parts of a model may have one name: a joint and a link could, up to SDF 1.6."""
    if sort == other.element.tag or "joint" not in (sort, other.element.tag):
        _twice(reader, element, sort, other.element)
        return False
    if reader.version(element) >= FRAMES_SINCE:
        what = f"a {other.element.tag} has the same name, in line {reader.line(other.element)}; names of frames mean it"
        reader.wrong(element, "unique-name", what, repr(element.get("name")), "rename one of them")
    return True


def _twice(reader: SdfReader, element: Element, sort: str, other: Element) -> None:
    what = f"another {other.tag} has the same name, in line {reader.line(other)}"
    reader.error(element, "unique-name", what, repr(element.get("name")), "rename one of them")


def _canonical(frames: Frames, full: str, element: Element) -> str:
    """What the frame of a model is attached to: the link that it names, its first link, or its first model."""
    named = (element.get("canonical_link") or "").strip()
    first = next((c.get("name") for sort in ("link", "model") for c in element.iterchildren(sort)), None)
    name: str = named or first or ""
    return frames.full(full, name) if name else WORLD


def _gravity(document: Document, world: Element) -> None:
    """Gravity of the world; up to SDF 1.5 it stands in <physics>."""
    reader = document.reader
    document.gravity = (0.0, 0.0, -9.8)
    element = reader.child(world, "gravity")
    if element is None and reader.version(world) < (1, 6):
        element = next((g for p in world.iterchildren("physics") for g in p.iterchildren("gravity")), None)
    if element is not None:
        values = reader.values(element, 3)
        document.gravity = values or document.gravity
    else:
        what = "<world> says no gravity; 9.8 m/s^2 along -z is taken, as SDF says"
        reader.warn(world, "gravity-missing", what, "nothing", "add <gravity>0 0 -9.8</gravity>")
    for physics in world.iterchildren("physics"):
        reader.ignore(
            physics, "unused-physics", "settings of a simulator are not in the model", physics.get("type") or ""
        )


def _check_references(document: Document) -> None:
    frames = document.frames
    for frame in list(frames.table.values()):
        for key, name, what in _references(frame):
            if name and name not in frames.table:
                bare = name.rpartition("::")[2]
                scope = name.rpartition("::")[0]
                document.reader.error(frame.at, key, what, repr(bare[:60]), frames.near(scope, bare))


def _references(frame: Frame) -> Iterator[tuple[str, str, str]]:
    if frame.element.tag == "joint" and frame.relative_to == frame.attached_to:
        return  # its child: told with the joint
    yield "unknown-frame", frame.relative_to, "is placed relative to a frame that does not exist"
    if frame.element.tag in ("frame", "model") and frame.attached_to != frame.relative_to:
        yield "unknown-frame", frame.attached_to, "is attached to a frame that does not exist"
