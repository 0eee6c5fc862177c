"""From a YAML text to a model, through any number of mistakes: version, then sections, then entities and properties.

A mistake is reported with its line; then the property is given a harmless stand-in, so that the entity exists for the
checks of the whole, and what was guessed is noted down as a doubt: nothing that may follow from a guess is reported.
"""

from __future__ import annotations

from gyrostat.errors import Problem, SpecError, clipped
from gyrostat.io.yaml.entities import read_connections, read_entities
from gyrostat.io.yaml.migrations import MIGRATIONS, Migrations, migrate
from gyrostat.io.yaml.parse import Node, read, refusal
from gyrostat.io.yaml.properties import build, known_properties
from gyrostat.io.yaml.reading import Reading
from gyrostat.io.yaml.solvers import read_solvers
from gyrostat.io.yaml.versions import read_version, refuse_later_properties
from gyrostat.spec.check import problems
from gyrostat.spec.context import Context
from gyrostat.spec.model import Model

SECTIONS = ("gyrostat", "name", "context", "entities", "connections", "solvers")


def from_text(text: str, file: str = "<text>", migrations: Migrations = MIGRATIONS) -> Model:
    """The model that a YAML text describes; one :class:`SpecError` lists every mistake, in order of lines.

    ``file`` is the name that messages give to the text. A text in an older version is migrated to the newest first.
    """
    root = read(text, file)
    if not isinstance(root.value, dict):
        message = f"a model is a mapping, got {clipped(root.plain())}"
        raise refusal(file, root.line, "yaml-form", message, "start with 'gyrostat: 1' and 'name: ...'")
    reading = Reading(file)
    reading.version = read_version(reading, root, migrations)
    model = _model(reading, migrate(root, reading.version, migrations))
    told = [*reading.problems, *problems(model, reading.doubts)]
    mistakes = {(p.where, p.entity, p.rule, p.message): p for p in told}
    if mistakes:
        raise SpecError(sorted(mistakes.values(), key=_line))
    return model


def _line(problem: Problem) -> int:
    return int((problem.where or "0").rpartition(":")[2])


def _model(reading: Reading, root: Node) -> Model:
    """The model, as far as it can be made out."""
    sections = root.value if isinstance(root.value, dict) else {}
    reading.note("model", sections.get("entities", root).line)
    given = known_properties(reading, SECTIONS, sections, "model")
    name = _name(reading, given.get("name"), root.line)
    context = _context(reading, given.get("context"))
    entities = read_entities(reading, given.get("entities"), "", "model")
    connections = read_connections(reading, given.get("connections"), "", "")
    solvers, wrong = read_solvers(given.get("solvers"), reading.note_all, reading.sources)
    reading.problems += wrong
    return Model(name, entities, connections, context, reading.sources, solvers)


def _name(reading: Reading, node: Node | None, top: int) -> str:
    if node is None:
        reading.add("model", "missing-property", "needs the property 'name'", "add 'name'", None, top)
    elif isinstance(node.value, str):
        reading.note("model.name", node.line)
        return node.value
    else:
        message = f"'name' must be a text, got {clipped(node.plain())}"
        reading.add("model", "property-type", message, "put the name in quotes", node.plain(), node.line)
    return ""


def _context(reading: Reading, node: Node | None) -> Context:
    if node is None or node.value is None:
        return Context()
    reading.note_all("context", node)
    if not isinstance(node.value, dict):
        message = f"must be a mapping, got {clipped(node.plain())}"
        remedy = "write {gravity: [0, 0, -9.81], base: fixed}"
        reading.add("context", "property-type", message, remedy, node.plain(), node.line)
        return Context()
    refuse_later_properties(reading, "context", "context", node.value)
    given = known_properties(reading, tuple(Context.model_fields), node.value, "context")
    return build(reading, Context, "context", "context", given, lambda data: Context(**data)) or Context()
