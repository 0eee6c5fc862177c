"""Keywords of one-line functions that only go together with another one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from gyrostat.errors import ShapeError

CALL = {"model", "q", "v", "a", "wrenches", "t"}
"""What calls of solvers take by themselves."""


def refuse_companions(who: str, name: str, other: Callable[..., Any], usual: Mapping[str, Any], given: Any) -> None:
    """Refuse keywords that only go together with the one which calls another function."""
    for alone in set(given) - set(usual) - CALL:
        if alone in inspect.signature(other).parameters:
            raise ShapeError(f"{who}: {alone}= goes with {name}=, which is not given. Hint: {name}=[...]")
