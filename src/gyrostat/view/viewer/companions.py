"""Other robots in the picture: the ghost of a reference, and robots or runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates
from gyrostat.errors import ShapeError, StateError, clipped
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.view.reference import reference_of
from gyrostat.view.scene.scene import Scene, scene
from gyrostat.view.viewer.actor import Actor
from gyrostat.view.viewer.force_arrows import Forces
from gyrostat.view.viewer.given_motion import given_motion
from gyrostat.view.viewer.stage import Stage

Array = np.ndarray


@dataclass(frozen=True)
class Cast:
    """Who is in the picture: the robot of ``scene``; ``others``; ``forces``. ``spacing`` [m] side by side."""

    scene: Scene
    others: tuple[Actor, ...] = ()
    forces: Forces | None = None
    spacing: float | None = None

    def stage(self, server: Any) -> Stage:
        """All of them, drawn into a viser server."""
        return Stage(server, self.scene, self.others, self.forces, self.spacing)


def given_spacing(given: Any) -> float | None:
    """Metres, or None."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not np.isfinite(given):
        raise StateError(f"view: spacing must be a number [m], got {clipped(given)}. Hint: 0 for one in another")
    return float(given)


def ghost_of(drawn: Scene, given: Any, t: Array | None) -> tuple[Actor, ...]:
    """The robot again, translucent: at q (nq,), or along a run, a trajectory or a mapping with "q" and perhaps "t"."""
    if given is None:
        return ()
    model = drawn.model
    if not (isinstance(given, Mapping) and "q" in given) and not hasattr(given, "derivatives") and not _is_run(given):
        q = coordinates(model, given, "view: ghost", "raise")
        if q.ndim == 1:
            return (Actor(drawn, q, ghost=True, name="reference"),)
        given = {"q": q}
    if t is None:
        told = "the robot rests, and its ghost moves"
        raise StateError(f"view: ghost: {told}. Hint: give one q (nq,), or a motion t, q of the robot")
    times, arrays = reference_of(model, given, t, "view: ghost")
    if "q" not in arrays:
        raise ShapeError("view: ghost: the reference has no q. Hint: {'t': t, 'q': q}")
    if len(times) == 1:
        return (Actor(drawn, arrays["q"][0], ghost=True, name="reference"),)
    times, once = np.unique(times, return_index=True)
    first, at, data = given_motion(model, arrays["q"][once], times, {}, "view: ghost")
    return (Actor(drawn, data.get("q", first), at, ghost=True, name="reference"),)


def robots_beside(given: Any, t: Array | None, roots: Sequence[Any]) -> tuple[Actor, ...]:
    """Robots and runs: a model, (model, q), (model, q, t) or a result; several as a list, or a mapping by name."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        listed = [(str(name), one) for name, one in given.items()]
    elif isinstance(given, Model | tuple) or _is_run(given):
        listed = [("", given)]
    elif isinstance(given, Sequence) and not isinstance(given, str):
        listed = [("", one) for one in given]
    else:
        listed = [("", given)]
    kept: dict[int, Scene] = {}
    return tuple(_one(name, one, t, roots, kept) for name, one in listed)


def _one(name: str, given: Any, t: Array | None, roots: Sequence[Any], kept: dict[int, Scene]) -> Actor:
    if _is_run(given):
        times, once = np.unique(np.asarray(given.t, dtype=float), return_index=True)
        parts: tuple[Any, ...] = (given.model, np.asarray(given.q)[once], times)
    else:
        parts = tuple(given) if isinstance(given, tuple) else (given,)
    if len(parts) < 1 or len(parts) > 3 or not isinstance(parts[0], Model):
        told = "expected models, (model, q), (model, q, t) or results"
        raise StateError(f"view: beside has {clipped(given)}, {told}. Hint: beside=[other_run]")
    model: Any = parts[0]
    expect_model(model, "view: beside")
    first, at, data = given_motion(
        model, parts[1] if len(parts) > 1 else None, parts[2] if len(parts) > 2 else None, {}, "view: beside"
    )
    if at is not None and t is None:
        raise StateError(
            f"view: beside: the robot rests, and '{model.name}' beside it moves. Hint: run.view(beside=[other_run])"
        )
    if id(model) not in kept:
        kept[id(model)] = scene(model, roots)
    drawn = kept[id(model)]
    return Actor(drawn, data.get("q", first), at, name or model.name)


def _is_run(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("model", "t", "q"))
