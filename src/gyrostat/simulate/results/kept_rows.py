"""The rows of a run as machine code has left them, from which its arrays are made when somebody asks for one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.simulate.plant.later_outputs import LaterOutputs

Array = np.ndarray


class KeptRows(NamedTuple):
    """``rows`` (T, width) of (t, q, v, a, tau, work), in memory that nobody else writes. ``later``: who finds a and
    tau, if the rows do not hold them."""

    rows: Array
    nq: int
    nv: int
    later: LaterOutputs | None

    def arrays(self) -> dict[str, Any]:
        """t, q, v, p, work, and a, tau as far as they are known."""
        rows, nq, n = self.rows, self.nq, self.nv
        a = 1 + nq + n
        found: dict[str, Any] = {
            "t": rows[:, 0].copy(),
            "q": rows[:, 1 : 1 + nq].copy(),
            "v": rows[:, 1 + nq : a].copy(),
            "p": np.zeros((len(rows), 0)),
            "work": rows[:, -1].copy(),
        }
        if self.later is not None:
            return found | {"_later": self.later.of(rows)}
        return found | {"a": rows[:, a : a + n].copy(), "tau": rows[:, a + n : -1].copy()}
