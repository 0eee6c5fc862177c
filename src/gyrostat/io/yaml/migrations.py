"""Old versions of the text form to the newest one, step by step, before anything of a file is read.

A migration takes the tree of one version to the next: kinds, properties and sections get the names and forms of today,
and every value keeps the line it stands in, so that messages point into the file as it is. A version that only adds
kinds and properties needs no change (:func:`unchanged`): such a kind says ``since``, see
:class:`~gyrostat.spec.entity.Entity`, such a property stands in :data:`LATER`.

======= ===========================================================================================
version what came with it
======= ===========================================================================================
1       the first one
2       kinds whose motion is a curve of another joint's (cam, scotch_yoke); nothing else changed
3       closed loops: connecting_rod, passive of a joint, reference, independent and loops of the context; and
        polynomial_coupling; nothing else changed
4       contact: ground, contact_point, contact_pair; name and contact of shapes; sensor; nothing else changed
5       flexible links: flexible_beam, flexible_body; height-field among shapes; nothing else changed
======= ===========================================================================================

A new version is a line in this table and in :data:`MIGRATIONS`, files of the old one among those that tests keep byte
for byte, and a row in ``docs/reference/yaml.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gyrostat.io.yaml.parse import Node
from gyrostat.spec.entity import Entity

VERSION = "gyrostat"
"""The section that holds the version."""

Fields = dict[str, Node]
Migration = Callable[[Node], Node]
Migrations = Mapping[int, Migration]
"""Version -> the step from it to the next one."""


def unchanged(root: Node) -> Node:
    """The step to a version that adds kinds or properties and changes nothing else."""
    return root


MIGRATIONS: Migrations = {1: unchanged, 2: unchanged, 3: unchanged, 4: unchanged}

LATER: Mapping[str, Mapping[str, int]] = {
    "joint": {"passive": 3},
    "context": {"reference": 3, "independent": 3, "loops": 3},
}
"""Kind, or the context -> properties that came later than it did, and the version they came with. They have defaults,
and are not written where they have them."""

LATER_IN_SHAPES: Mapping[str, int] = {"name": 4, "contact": 4, "heights": 5}
"""The same of the shapes of bodies."""

LATER_SHAPES: Mapping[str, int] = {"height-field": 5}
"""Kinds of shapes that came later than the first ones."""


def newest(migrations: Migrations = MIGRATIONS) -> int:
    """The newest version that can be read."""
    return max(migrations, default=0) + 1


def oldest_alike(migrations: Migrations = MIGRATIONS) -> int:
    """The oldest version in which today's data are written as today."""
    return max((old + 1 for old, step in migrations.items() if step is not unchanged), default=1)


def migrate(root: Node, version: int, migrations: Migrations = MIGRATIONS) -> Node:
    """The tree of a file in the newest version. ``root`` is a mapping; it is not changed."""
    for old in range(version, newest(migrations)):
        root = _versioned(migrations[old](root), old + 1)
    return root


def _versioned(root: Node, version: int) -> Node:
    fields = _fields(root)
    line = fields[VERSION].line if VERSION in fields else root.line
    return Node(fields | {VERSION: Node(version, line, str(version))}, root.line)


# ---------------------------------------------------------------------- steps to make migrations of
def in_order(*steps: Migration) -> Migration:
    """One step after the other."""

    def migration(root: Node) -> Node:
        for step in steps:
            root = step(root)
        return root

    return migration


def renamed_section(old: str, new: str) -> Migration:
    """A section of the model with another name."""
    return lambda root: Node(_renamed(_fields(root), old, new), root.line)


def renamed_kind(old: str, new: str) -> Migration:
    """A kind of entity with another name, inside assemblies, too."""
    return each_entity(lambda kind, fields: _renamed(fields, old, new) if kind == old else fields, old)


def renamed_property(kind: str, old: str, new: str) -> Migration:
    """A property of one kind with another name, inside assemblies, too."""
    return each_entity(lambda own, fields: _renamed(fields, old, new) if own == kind else fields, kind)


def changed_property(kind: str, name: str, change: Callable[[Node], Node]) -> Migration:
    """A property of one kind in another form; ``change`` gives the new value the line of the old one."""

    def entity(own: str, fields: Fields) -> Fields:
        return fields | {name: change(fields[name])} if own == kind and name in fields else fields

    return each_entity(entity, kind)


def each_entity(change: Callable[[str, Fields], Fields], *kinds: str) -> Migration:
    """``change(kind, fields)`` of every entity; ``kinds``: names that are kinds in the old version."""
    return lambda root: _inside(root, change, frozenset(kinds))


def _inside(owner: Node, change: Callable[[str, Fields], Fields], kinds: frozenset[str]) -> Node:
    """A mapping whose section ``entities`` is changed; what is no such mapping is for the reader to refuse."""
    fields = _fields(owner)
    entities = fields.get("entities")
    if entities is None or not isinstance(entities.value, list):
        return owner
    items = [_entity(item, change, kinds) for item in entities.value]
    return Node(fields | {"entities": Node(items, entities.line)}, owner.line)


def _entity(item: Node, change: Callable[[str, Fields], Fields], kinds: frozenset[str]) -> Node:
    inner = _inside(item, change, kinds)
    fields = _fields(inner)
    kind = next((key for key in fields if key in kinds or key in Entity.registry), None)
    return inner if kind is None else Node(change(kind, fields), inner.line)


def _fields(node: Node) -> Fields:
    return node.value if isinstance(node.value, dict) else {}


def _renamed(fields: Fields, old: str, new: str) -> Fields:
    """In its place among the others; where both names are there, the old one stays, to be refused."""
    return fields if new in fields else {new if key == old else key: node for key, node in fields.items()}
