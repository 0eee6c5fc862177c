"""The tags and attributes of SDF; what is in a file beyond them, and what of them is not used."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.errors import near
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.sdf.source import SdfReader
from gyrostat.io.xml_elements import shown

LEAF: tuple[str, ...] = ()
_POSE = ("relative_to", "rotation_format", "degrees", "frame")
_MODEL = ("pose", "static", "self_collide", "allow_auto_disable", "enable_wind", "frame", "link", "joint", "model")
_SOLIDS = ("box", "cylinder", "sphere", "capsule", "ellipsoid", "mesh", "plane", "cone", "polyline", "heightmap")
_AXIS = ("xyz", "use_parent_model_frame", "initial_position", "dynamics", "limit", "mimic")

GRAMMAR: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sdf": (("version",), ("world", "model", "actor", "light")),
    "world": (
        ("name",),
        (
            *("gravity", "frame", "joint", "model", "include", "physics", "wind", "magnetic_field", "atmosphere"),
            *("gui", "scene", "light", "actor", "plugin", "road", "spherical_coordinates", "state", "population"),
            "audio",
        ),
    ),
    "include": (("merge",), ("uri", "name", "pose", "static", "placement_frame", "namespace", "plugin")),
    "model": (
        ("name", "canonical_link", "placement_frame", "namespace"),
        (*_MODEL, "include", "plugin", "gripper"),
    ),
    "frame": (("name", "attached_to"), ("pose",)),
    "pose": (_POSE, LEAF),
    "link": (
        ("name", "type"),
        (
            *("pose", "inertial", "collision", "visual", "gravity", "enable_wind", "self_collide", "kinematic"),
            *("must_be_base_link", "velocity_decay", "sensor", "projector", "audio_sink", "audio_source", "battery"),
            *("light", "particle_emitter", "plugin"),
        ),
    ),
    "velocity_decay": (LEAF, ("linear", "angular")),
    "inertial": (
        ("auto",),
        ("pose", "mass", "inertia", "density", "auto_inertia_params", "fluid_added_mass"),
    ),
    "inertia": (LEAF, ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "visual": (
        ("name",),
        (
            *("pose", "geometry", "material", "cast_shadows", "laser_retro", "transparency", "visibility_flags"),
            *("meta", "plugin"),
        ),
    ),
    "collision": (
        ("name",),
        ("pose", "geometry", "surface", "laser_retro", "max_contacts", "density", "auto_inertia_params"),
    ),
    "geometry": (LEAF, (*_SOLIDS, "image", "empty")),
    "box": (LEAF, ("size",)),
    "cylinder": (LEAF, ("radius", "length")),
    "capsule": (LEAF, ("radius", "length")),
    "cone": (LEAF, ("radius", "length")),
    "sphere": (LEAF, ("radius",)),
    "ellipsoid": (LEAF, ("radii",)),
    "plane": (LEAF, ("normal", "size")),
    "mesh": (("optimization",), ("uri", "scale", "submesh", "convex_decomposition")),
    "joint": (
        ("name", "type"),
        (
            *("pose", "parent", "child", "axis", "axis2", "gearbox_ratio", "gearbox_reference_body", "thread_pitch"),
            *("screw_thread_pitch", "physics", "sensor"),
        ),
    ),
    "axis": (LEAF, _AXIS),
    "axis2": (LEAF, _AXIS),
    "xyz": (("expressed_in",), LEAF),
    "dynamics": (LEAF, ("damping", "friction", "spring_reference", "spring_stiffness")),
    "limit": (LEAF, ("lower", "upper", "effort", "velocity", "stiffness", "dissipation")),
    "mimic": (("joint", "axis"), ("multiplier", "offset", "reference")),
}
"""Tag -> its attributes and the tags inside it. Tags that are not here hold a value, and nothing else."""

UNUSED = {
    "sensor": "sensors are not in the model",
    "plugin": "plugins are never loaded",
    "gripper": "grippers are not in the model",
    "light": "lights are not in the model",
    "actor": "animated actors are not in the model",
    "gui": "settings of the user interface are not in the model",
    "scene": "settings of the picture are not in the model",
    "physics": "settings of a simulator are not in the model",
    "atmosphere": "the atmosphere is not in the model",
    "magnetic_field": "magnetic fields are not in the model",
    "audio": "sounds are not in the model",
    "audio_sink": "sounds are not in the model",
    "audio_source": "sounds are not in the model",
    "road": "roads are not in the model",
    "spherical_coordinates": "places on the earth are not in the model",
    "state": "stored states are not in the model",
    "projector": "projectors are not in the model",
    "battery": "batteries are not in the model",
    "particle_emitter": "particles are not in the model",
    "max_contacts": "how many contacts a simulator looks for is not in the model",
    "self_collide": "contact of bodies with each other is asked for by contacts=True",
    "laser_retro": "reflections are not in the model",
    "cast_shadows": "shadows are not in the model",
    "transparency": "transparency is not in the model",
    "visibility_flags": "flags for cameras are not in the model",
    "meta": "layers are not in the model",
    "allow_auto_disable": "when a simulator may rest is not in the model",
    "must_be_base_link": "which link a simulator begins with is not in the model",
    "auto_inertia_params": "parameters of a calculator of inertias are not in the model",
    "namespace": "names of topics are not in the model",
    "enable_wind": "which links feel the wind is not in the model",
    "initial_position": "where a joint starts is not in the model: give it in q",
}
"""Tags that are passed over with everything inside, and what is said about them."""

MOTION = {
    "wind": "forces of the wind are not in the model",
    "kinematic": "that a link moves without forces is not in the model",
    "population": "crowds of models are not in the model",
    "fluid_added_mass": "the mass of the fluid around a link is not in the model",
}
"""Tags without which the motion is another one; an error unless they say false, zero or nothing."""

CLOSE, CLOSE_SHORT = 0.75, 0.6
"""How alike an unknown name and a known one are, if the known one was meant; the latter for up to four letters."""

MANY, GUESSES = 50, 500
"""Unknown attributes of one element that are told one by one; unknown names that are compared with known ones."""


@dataclass
class Unknowns:
    """Finds what is no SDF, and what of SDF is passed over."""

    reader: SdfReader
    guessed: dict[tuple[str, tuple[str, ...]], list[str]] = field(default_factory=dict)
    parent: Element = None  # the one whose tags are
    there: set[object] = field(default_factory=set)

    def look_through(self, root: Element) -> None:
        """Every element below ``root``, from the top."""
        todo = [root]
        while todo:
            element = todo.pop()
            attributes, tags = GRAMMAR.get(element.tag, (LEAF, LEAF))
            self._attributes(element, attributes)
            if tags:
                self._stray_text(element)
            for child in [c for c in element if isinstance(c.tag, str)]:
                if child.tag not in tags:
                    self._tag(child, element, tags)
                elif not self._passed_over(child):
                    todo.append(child)

    def _passed_over(self, child: Element) -> bool:
        reader, tag = self.reader, child.tag
        if tag in MOTION:
            if not _says_nothing(reader, child):
                found = reader.text(child) or shown(child)
                reader.wrong(
                    child, f"unused-{tag.replace('_', '-')}", MOTION[tag], found[:60], "take it out", left_out=True
                )
            return True
        if tag in UNUSED and not (tag == "physics" and child.getparent().tag == "world"):
            if not (tag == "self_collide" and _says_nothing(reader, child)):
                reader.ignore(
                    child, f"unused-{tag.replace('_', '-')}", UNUSED[tag], shown(child, "name", "filename", "type")
                )
            return True
        return tag in (
            "surface",
            "material",
            "heightmap",
            "polyline",
            "image",
            "plane",
            "submesh",
            "convex_decomposition",
        )

    def _tag(self, child: Element, parent: Element, known: tuple[str, ...]) -> None:
        name = short(child.tag)
        place = f"<{name}> in <{short(parent.tag)}>"
        if child.tag != name or ":" in name:
            prefixed = f"<{child.prefix or ''}{':' if child.prefix else ''}{name}> is no tag of SDF"
            if child.prefix == "drake":
                fix = "take it out, or add what it means yourself"
                self.reader.wrong(
                    child, "drake", f"{prefixed}; what Drake does there is not in the model", "", fix, left_out=True
                )
            else:
                self.reader.warn(child, "unknown-tag", f"{prefixed} and was passed over")
            return
        if self.parent is not parent:
            self.parent, self.there = parent, {c.tag for c in parent} - {"link", "joint"}
        if name in GRAMMAR and not known:
            self.reader.wrong(
                child, "misplaced-tag", f"{place} has no meaning", "", f"put <{name}> where it belongs", left_out=True
            )
            return
        self._unknown(child, "tag", place, name, known, self.there)

    def _attributes(self, element: Element, known: tuple[str, ...]) -> None:
        unknown = [key for key in element.attrib if key not in known and "{" not in key and not key.startswith("xmlns")]
        if len(unknown) > MANY:
            what = f"{len(unknown) - MANY} more attributes of <{short(element.tag)}> are unknown and were passed over"
            self.reader.warn(element, "unknown-attribute", what)
        foreign = next((key for key in element.attrib if "{" in key), None)
        if foreign is not None:
            what = (
                f"attribute '{short(foreign)}' of <{short(element.tag)}> belongs to another program and was passed over"
            )
            self.reader.warn(element, "unknown-attribute", what)
        for key in unknown[:MANY]:
            label = f"attribute '{key}' of <{short(element.tag)}>"
            self._unknown(element, "attribute", label, key, known, set(element.attrib))

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

    def _stray_text(self, element: Element) -> None:
        texts = [element.text, *(child.tail for child in element)]
        stray = next((t.strip() for t in texts if t and t.strip()), None)
        if stray is not None:
            what = f"there is text in <{short(element.tag)}>, which was passed over"
            self.reader.warn(element, "text", what, repr(stray[:40]), "values go between tags of their own")


def _says_nothing(reader: SdfReader, element: Element) -> bool:
    """Whether it says false, or nothing but zeros."""
    texts = [reader.text(e) for e in element.iter() if not len(e)]
    return all(part.lower() in ("false", "") or not part.strip("0.+- ") for text in texts for part in text.split())
