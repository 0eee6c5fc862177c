"""Several functions with conditions as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gyrostat.studies.study_data import StudyData


@dataclass(frozen=True, eq=False)
class JoinedConditions(StudyData):
    """What all of ``functions`` ask for; names are numbered by function."""

    functions: tuple[Any, ...]

    def __call__(self, s: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for k, function in enumerate(self.functions):
            given = function(s)
            if isinstance(given, Mapping):
                found |= {f"{k}: {name}": x for name, x in given.items()}
            elif isinstance(given, list | tuple):
                found |= {f"{k}: {type(function).__name__} {i}": x for i, x in enumerate(given)}
            elif given is not None:
                found[f"{k}: {type(function).__name__}"] = given
        return found


def joined_conditions(given: Any) -> Any:
    """A list of functions as one function; all else as it is."""
    if isinstance(given, list | tuple) and given and all(callable(f) for f in given):
        return JoinedConditions(tuple(given))
    return given
