"""A motion in viser's recording, all samples at once."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from gyrostat.view.viewer.robot_nodes import wxyz
from gyrostat.view.viewer.stage import Stage

Array = np.ndarray


def record_motion(record: Any, stage: Stage, R: Array, p: Array, step: float, scales: Array | None = None) -> None:
    """Write placements R (T, nodes, 3, 3), p (T, nodes, 3) and ``scales`` (T, arrows, 3), one each ``step`` [s], into a
    recording.

    viser sends every pose by itself, with checks and locks that take a thousand times longer than the numbers; the same
    messages are appended to the recording here. Where a version of viser keeps it otherwise, they are sent."""
    from viser._messages import SceneNodeUpdateMessage, SetOrientationMessage, SetPositionMessage

    long = np.zeros((len(R), 0, 3)) if scales is None else scales
    kept = getattr(record, "_messages", None)
    if not isinstance(kept, list) or not hasattr(record, "_time"):
        for one, two, three in zip(R, p, long, strict=True):
            stage.place(one, two, three)
            record.insert_sleep(step)
        return
    times = record._time + step * np.arange(len(R))
    turned, moved = cast(Any, SetOrientationMessage), cast(Any, SetPositionMessage)
    for x, kind, key in ((wxyz(R), turned, "wxyz"), (p, moved, "position")):
        plain = [kind(name, tuple(map(float, x[0, k]))).as_serializable_dict([]) for k, name in enumerate(stage.names)]
        _append(kept, times, x, plain, lambda value, key=key: {key: tuple(value)})
    meshes = [] if stage.arrows is None or not long.size else stage.arrows.meshes
    plain = [SceneNodeUpdateMessage(mesh.name, {"scale": (1.0, 1.0, 1.0)}).as_serializable_dict([]) for mesh in meshes]
    _append(kept, times, long, plain, lambda value: {"updates": {"scale": tuple(value)}})
    kept.sort(key=lambda message: message[0])  # stable: what was there at a time stays in order
    record.insert_sleep(step * len(R))


def _append(kept: list[Any], times: Array, x: Array, plain: list[Any], changed_part: Any) -> None:
    """Messages (time, message) for those of x (T, nodes, k) that differ from the sample before."""
    changed = np.any(x != np.concatenate([x[:1], x[:-1]]), axis=2)
    changed[0] = True
    rows, nodes = np.nonzero(changed)
    for n, k, value in zip(rows.tolist(), nodes.tolist(), x[rows, nodes].tolist(), strict=True):
        kept.append((float(times[n]), plain[k] | changed_part(value)))
