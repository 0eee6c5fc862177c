"""A motion in viser's recording, all samples at once."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from gyrostat.view.viewer.stage import Stage, wxyz

Array = np.ndarray


def record_motion(record: Any, stage: Stage, R: Array, p: Array, step: float) -> None:
    """Write placements R (T, links, 3, 3), p (T, links, 3), one each ``step`` [s], into a recording.

    viser sends every pose by itself, with checks and locks that take a thousand times longer than the numbers; the same
    messages are appended to the recording here. Where a version of viser keeps it otherwise, they are sent."""
    from viser._messages import SetOrientationMessage, SetPositionMessage

    kept = getattr(record, "_messages", None)
    if not isinstance(kept, list) or not hasattr(record, "_time"):
        for one, two in zip(R, p, strict=True):
            stage.place(one, two)
            record.insert_sleep(step)
        return
    names = stage.names
    turned, moved = cast(Any, SetOrientationMessage), cast(Any, SetPositionMessage)
    for x, kind, key in ((wxyz(R), turned, "wxyz"), (p, moved, "position")):
        changed = np.any(x != np.concatenate([x[:1], x[:-1]]), axis=2)
        changed[0] = True
        plain = [kind(name, tuple(map(float, x[0, k]))).as_serializable_dict([]) for k, name in enumerate(names)]
        times = record._time + step * np.arange(len(x))
        rows, links = np.nonzero(changed)
        values = x[rows, links].tolist()
        for n, k, value in zip(rows.tolist(), links.tolist(), values, strict=True):
            kept.append((float(times[n]), plain[k] | {key: tuple(value)}))
    kept.sort(key=lambda message: message[0])  # stable: what was there at a time stays in order
    record.insert_sleep(step * len(R))
