"""Sliders for the coordinates of a model: one for each angle or shift, three for a rotation in space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.spec.model import Model
from gyrostat.view.channels import Channel, channels

Array = np.ndarray
TURN = 3.142
STEP = 1e-3


@dataclass(frozen=True)
class Range:
    """One slider: its label, and where it ends."""

    label: str
    low: float
    high: float


def ranges(channel: Channel, extent: float) -> list[Range]:
    """The sliders of a channel. Without limits an angle goes half a turn each way, a shift as far as the robot."""
    if channel.sort == "turn":
        return [Range(f"{channel.name} {name} [rad]", -TURN, TURN) for name in ("roll", "pitch", "yaw")]
    unit, reach = channel.unit("q"), TURN if channel.sort == "angle" else round(max(extent, 0.1), 2)
    lower, upper = channel.limits.get("q", (None, None))
    low = lower if lower is not None and np.isfinite(lower) else -reach
    high = upper if upper is not None and np.isfinite(upper) else reach
    low, high = (low, high) if low <= high else (high, low)
    names = [channel.name] if len(channel.q_at) == 1 else [f"{channel.name}.{n}" for n in channel.q_names]
    return [Range(f"{name} [{unit}]" if unit else name, float(low), float(high)) for name in names]


def to_numbers(channel: Channel, q: Array) -> Array:
    """What the sliders show: the coordinates, or roll, pitch, yaw of a quaternion x y z w."""
    own = q[list(channel.q_at)]
    if channel.sort != "turn":
        return own
    x, y, z, w = own / np.linalg.norm(own)
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return np.array([roll, pitch, yaw])


def from_numbers(channel: Channel, numbers: Array) -> Array:
    """The coordinates that the sliders mean; a rotation is Rz(yaw) Ry(pitch) Rx(roll)."""
    if channel.sort != "turn":
        return np.asarray(numbers, dtype=float)
    (cr, cp, cy), (sr, sp, sy) = np.cos(np.asarray(numbers) / 2.0), np.sin(np.asarray(numbers) / 2.0)
    return np.array(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )


class Sliders:
    """The sliders of a model in a viser server. ``moved(places, values)``: coordinates that somebody changed."""

    def __init__(self, server: Any, model: Model, q: Array, extent: float, moved: Callable[[list[int], Array], None]):
        self._quiet = False
        self._rows: list[tuple[Channel, list[Any]]] = []
        for channel in channels(model):
            numbers = to_numbers(channel, q)
            handles = [
                server.gui.add_slider(r.label, r.low, max(r.high, r.low + STEP), STEP, float(np.clip(x, r.low, r.high)))
                for r, x in zip(ranges(channel, extent), numbers, strict=True)
            ]
            self._rows.append((channel, handles))
            for handle in handles:
                handle.on_update(self._callback(channel, handles, moved))

    def _callback(self, channel: Channel, handles: list[Any], moved: Callable[[list[int], Array], None]) -> Any:
        def changed(event: Any) -> None:
            if self._quiet or event.client is None:  # set by the program, not by hand
                return
            numbers = np.array([float(handle.value) for handle in handles])
            moved(list(channel.q_at), from_numbers(channel, numbers))

        return changed

    def set(self, q: Array) -> None:
        """Show a configuration; what is beyond a slider's end is shown at its end."""
        self._quiet = True
        try:
            for channel, handles in self._rows:
                for handle, x in zip(handles, to_numbers(channel, q), strict=True):
                    value = float(np.clip(x, handle.min, handle.max))
                    if abs(float(handle.value) - value) > 0.5 * STEP:
                        handle.value = value
        finally:
            self._quiet = False
