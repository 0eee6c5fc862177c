"""What tables hold, checked: SQLite keeps anything in any column, and a file may come from anywhere."""

from __future__ import annotations

import json
import math
from typing import Any

from gyrostat.errors import StoreError, clipped


def whole(value: Any, who: Any) -> int:
    """A whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _refused(who, f"a number of a task or point is {clipped(value)}")
    return value


def real(value: Any, who: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _refused(who, f"a number of a run is {clipped(value)}")
    return float(value)


def record(text: Any, who: Any) -> dict[str, Any]:
    """Data by name, from their text."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(who, f"data are no JSON ({type(error).__name__})") from None
    if not isinstance(data, dict):
        raise _refused(who, f"data are {clipped(data)}, not by name")
    return data


def _refused(who: Any, what: str) -> StoreError:
    return StoreError(f"{who!r} is damaged: {what}. Hint: take a copy from a backup.")
