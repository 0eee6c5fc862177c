"""JSON Schema of the YAML form, for editors and other programs.

``python -m gyrostat.io.yaml.schema`` prints the one for files of any version, ``... schema 1`` that of version 1.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from gyrostat.errors import SpecError, clipped
from gyrostat.io.yaml.migrations import LATER, LATER_IN_SHAPES, LATER_SHAPES, VERSION, newest, oldest_alike
from gyrostat.io.yaml.solvers import solvers_schema
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.context import Context
from gyrostat.spec.entity import Entity

NAME = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[^\\s.'\"\\[\\]{},|]+$"}
_PORT = {"type": "string", "description": "entity.port, or the entity alone where it has one frame only"}
_CONNECTIONS = {"type": "array", "items": {"type": "array", "items": _PORT, "minItems": 2}}
_ENTITIES = {"type": "array", "items": {"$ref": "#/$defs/entity"}}


def json_schema(version: int | None = None) -> dict[str, Any]:
    """JSON Schema (2020-12) of a model in YAML; what it cannot say (units, wiring, physics) ``check`` says.

    ``version``: that of the text form, with the kinds that it has; None for all versions that look like the newest.
    """
    versions = _versions(version)
    kinds = {
        name: kind
        for name, kind in sorted(Entity.registry.items())
        if kind.__module__.startswith("gyrostat.") and kind.since <= versions[-1]
    }
    stated = {"const": version} if version is not None else {"enum": versions}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gyrostat model",
        "type": "object",
        "required": [VERSION, "name", "entities"],
        "additionalProperties": False,
        "properties": {
            VERSION: stated | {"description": "version of the format"},
            "name": {"type": "string"},
            "context": {"$ref": "#/$defs/context"},
            "entities": _ENTITIES,
            "connections": _CONNECTIONS,
            "solvers": solvers_schema(),
        },
        "$defs": {"context": _known("context", _untitled(Context.model_json_schema()), versions[-1])}
        | {"entity": _one_of(kinds)}
        | {name: _known(name, _kind(name, cls), versions[-1]) for name, cls in kinds.items()},
    }


def _known(kind: str, schema: dict[str, Any], version: int) -> dict[str, Any]:
    """Without the properties that came later than a version."""
    late = {key for key, since in LATER.get(kind, {}).items() if since > version}
    properties = {key: x for key, x in schema["properties"].items() if key not in late}
    if "shapes" in properties:
        properties["shapes"] = _known_shapes(properties["shapes"], version)
    return schema | {"properties": properties}


def _known_shapes(shapes: dict[str, Any], version: int) -> dict[str, Any]:
    """Shapes without the properties that came later than a version."""
    items = shapes["items"]
    late = {key for key, since in LATER_IN_SHAPES.items() if since > version}
    properties = {k: x for k, x in items["properties"].items() if k not in late}
    kinds = [kind for kind in properties["kind"]["enum"] if LATER_SHAPES.get(kind, 1) <= version]
    properties["kind"] = properties["kind"] | {"enum": kinds}
    return shapes | {"items": items | {"properties": properties}}


def _versions(version: int | None) -> list[int]:
    """The versions that a schema is for."""
    known = list(range(oldest_alike(), newest() + 1))
    if version is None:
        return known
    if version not in known:
        message = f"there is no schema of version {clipped(version)}"
        raise SpecError.one("schema", "schema-version", message, f"known: {', '.join(map(str, known))}", version)
    return [version]


def _one_of(kinds: dict[str, type[Entity]]) -> dict[str, Any]:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]}


def _kind(name: str, cls: type[Entity]) -> dict[str, Any]:
    schema = _untitled(cls.model_json_schema())
    properties = {name: NAME} | {key: value for key, value in schema["properties"].items() if key != "name"}
    if issubclass(cls, Assembly):
        properties |= {
            "entities": _ENTITIES,
            "connections": _CONNECTIONS,
            "exposes": {"type": "object", "propertyNames": NAME, "additionalProperties": _PORT},
        }
    required = [name, *(key for key in schema.get("required", ()) if key != "name")]
    return schema | {"properties": properties, "required": required}


def _untitled(schema: Any) -> Any:
    """Without the titles that pydantic derives from names, and with the first paragraph of descriptions only."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: _untitled(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    if isinstance(kept.get("description"), str):
        kept["description"] = " ".join(kept["description"].split("\n\n")[0].split())
    return kept


def main(arguments: list[str]) -> int:
    """Print a schema; ``arguments``: none, or a version. The exit code."""
    try:
        schema = json_schema(_version(arguments))
    except SpecError as error:
        print(error, file=sys.stderr)
        return 2
    json.dump(schema, sys.stdout, indent=2, ensure_ascii=False)
    print()
    return 0


def _version(arguments: list[str]) -> int | None:
    if not arguments:
        return None
    if len(arguments) == 1 and arguments[0].isdecimal():
        return int(arguments[0])
    message = f"expected at most one version, got {clipped(' '.join(arguments))}"
    raise SpecError.one("schema", "schema-version", message, "leave it out for all versions", arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
