"""Tasks that are ready: observations, rewards and ends as Gymnasium defines them for the robots of the same names."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.environments.planar_robots import CHEETAH, HOPPER, gears, half_cheetah, hopper
from gyrostat.environments.task import GymTask, Moment
from gyrostat.robots.humanoid import humanoid
from gyrostat.spec.model import Model

Array = np.ndarray
STANDING = 0.77
"""Height of the hips of the humanoid that stands [m]."""


def _efforts_squared(moment: Moment) -> Array:
    return np.sum(np.square(moment.action), axis=-1)


def _speed(moment: Moment) -> Array:
    return (moment.q[:, 0] - moment.q0[:, 0]) / moment.dt


# ------------------------------------------------------------------------------------------------ hopper
def hopper_task() -> GymTask:
    """Hopper-v5: (q without x, v within 10); 1 for being healthy + speed - 0.001 |a|^2; ends where z <= 0.7 m, |angle|
    >= 0.2 rad or a number of the state leaves 100."""

    def healthy(q: Array, v: Array) -> Array:
        within = np.all(np.abs(np.concatenate([q[:, 2:], v], axis=-1)) < 100.0, axis=-1)
        return within & (q[:, 1] > 0.7) & (np.abs(q[:, 2]) < 0.2)

    def reward(moment: Moment) -> dict[str, Array]:
        alive = healthy(moment.q, moment.v).astype(float)
        return {"survive": alive, "forward": _speed(moment), "ctrl": -1e-3 * _efforts_squared(moment)}

    def start(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        q = np.array([0.0, 1.25, 0.0, 0.0, 0.0, 0.0]) + rng.uniform(-5e-3, 5e-3, (n, 6))
        return q, rng.uniform(-5e-3, 5e-3, (n, 6))

    return GymTask(
        "hopper", reward, lambda q, v: np.concatenate([q[:, 1:], np.clip(v, -10.0, 10.0)], axis=-1),
        lambda q, v: ~healthy(q, v), [f"{x.name}_joint" for x in HOPPER], gears(HOPPER).tolist(), start, dt=2e-3,
        frame_skip=4,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ half-cheetah
def half_cheetah_task() -> GymTask:
    """HalfCheetah-v5: (q without x, v); speed - 0.1 |a|^2; it never ends."""

    def reward(moment: Moment) -> dict[str, Array]:
        return {"forward": _speed(moment), "ctrl": -0.1 * _efforts_squared(moment)}

    def start(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return rng.uniform(-0.1, 0.1, (n, 9)), 0.1 * rng.standard_normal((n, 9))

    return GymTask(
        "half-cheetah", reward, lambda q, v: np.concatenate([q[:, 1:], v], axis=-1),
        actions=[f"{x.name}_joint" for x in CHEETAH], efforts=gears(CHEETAH).tolist(), start=start, dt=1e-2,
        frame_skip=5,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ humanoid
def humanoid_stand_task() -> GymTask:
    """Humanoid-v5 without a reward for walking: (q without x and y, v); 5 for being healthy - 0.1 |a|^2; ends where the
    hips leave 0.71 to 1.43 of their height (there 1.0 to 2.0 m of 1.4). Its inertias, actuator forces and contact
    forces are not observed, and contact forces cost nothing. Efforts for an action of one are those of the joints."""

    def healthy(q: Array, v: Array) -> Array:
        return (q[:, 2] > STANDING / 1.4) & (q[:, 2] < 2.0 * STANDING / 1.4)

    def reward(moment: Moment) -> dict[str, Array]:
        alive = 5.0 * healthy(moment.q, moment.v)
        return {"survive": alive, "ctrl": -0.1 * _efforts_squared(moment)}

    def start(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        model = standing_humanoid()
        q = np.repeat(neutral(model)[None], n, axis=0)
        q[:, 2] = STANDING
        q[:, 7:] += rng.uniform(-1e-2, 1e-2, (n, model.nq - 7))
        return q, rng.uniform(-1e-2, 1e-2, (n, model.nv))

    return GymTask(
        "humanoid-stand", reward, lambda q, v: np.concatenate([q[:, 2:], v], axis=-1), lambda q, v: ~healthy(q, v),
        start=start, dt=3e-3, frame_skip=5,
    )  # fmt: skip


@cache
def standing_humanoid() -> Model:
    """``gs.robots.humanoid()`` on the ground."""
    return humanoid().with_ground(friction=1.0)


TASKS: dict[str, tuple[Callable[[], Model], Callable[[], GymTask]]] = {
    "hopper": (cache(hopper), hopper_task),
    "half-cheetah": (cache(half_cheetah), half_cheetah_task),
    "humanoid-stand": (standing_humanoid, humanoid_stand_task),
}
"""Robot and task by name."""
