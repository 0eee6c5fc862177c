"""JSON Schema of the YAML form, for editors and other programs: ``python -m gyrostat.io.yaml.schema`` prints it."""

from __future__ import annotations

import json
import sys
from typing import Any

from gyrostat.io.yaml.read import VERSION
from gyrostat.io.yaml.solvers import solvers_schema
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.context import Context
from gyrostat.spec.entity import Entity

NAME = {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[^\\s.'\"\\[\\]{},|]+$"}
_PORT = {"type": "string", "description": "entity.port, or the entity alone where it has one frame only"}
_CONNECTIONS = {"type": "array", "items": {"type": "array", "items": _PORT, "minItems": 2}}
_ENTITIES = {"type": "array", "items": {"$ref": "#/$defs/entity"}}


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a model in YAML; what it cannot say (units, wiring, physics) ``check`` says."""
    kinds = {name: cls for name, cls in sorted(Entity.registry.items()) if cls.__module__.startswith("gyrostat.")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gyrostat model",
        "type": "object",
        "required": ["gyrostat", "name", "entities"],
        "additionalProperties": False,
        "properties": {
            "gyrostat": {"const": VERSION, "description": "version of the format"},
            "name": {"type": "string"},
            "context": {"$ref": "#/$defs/context"},
            "entities": _ENTITIES,
            "connections": _CONNECTIONS,
            "solvers": solvers_schema(),
        },
        "$defs": {"context": _untitled(Context.model_json_schema()), "entity": _one_of(kinds)}
        | {name: _kind(name, cls) for name, cls in kinds.items()},
    }


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


if __name__ == "__main__":
    json.dump(json_schema(), sys.stdout, indent=2, ensure_ascii=False)
    print()
