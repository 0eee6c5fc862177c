"""What a result tells of an event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Happened:
    """An event of a run at the time ``t`` [s]: ``name`` of the event or joint; ``kind`` "event", "lower" or "upper"
    (a limit was hit), "release" (a joint left its stop), "stick" or "slip" (of a friction), "structure" (another model
    goes on with other coordinates or constraints), "impact", "stick", "slide" or "lift-off" (of a contact, by name);
    state ``q``, ``v`` before it, ``v_after``."""

    t: float
    name: str
    kind: str
    q: Array
    v: Array
    v_after: Array
