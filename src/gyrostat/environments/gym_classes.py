"""Environments of Gymnasium: one robot, and many at once."""

from __future__ import annotations

import re
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from gyrostat.environments.robots_at_work import BOUND, RobotsAtWork
from gyrostat.environments.task import GymTask
from gyrostat.spec.model import Model

Array = np.ndarray


def spaces(robots: RobotsAtWork) -> tuple[Box, Box]:
    """Of one robot: observations, actions from -1 to 1."""
    seen = Box(-BOUND, BOUND, (robots.size,), np.float64)
    return seen, Box(-1.0, 1.0, (len(robots.rates),), np.float32)


def spelt(name: str) -> str:
    """A name as Gymnasium allows it: letters, digits, and - _ . : between them."""
    return re.sub(r"[^\w:.-]", "_", name) or "task"


def _made(**given: Any) -> RobotEnv:
    return RobotEnv(**given)


class RobotEnv(gymnasium.Env[Array, Array]):
    """One robot with a task. ``robots.stepper`` has its q and v."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, model: Model, task: GymTask):
        self.robots = RobotsAtWork(model, task, 1, alone=True)
        self.spec = EnvSpec(f"gyrostat/{spelt(task.name)}-v0", _made, kwargs={"model": model, "task": task})
        self.observation_space, self.action_space = spaces(self.robots)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode; the same seed begins the same."""
        super().reset(seed=seed)
        self.robots.begin([0], *self.robots.starts(self.np_random, 1))
        return self.robots.observe()[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        reward, terminated, truncated, parts = self.robots.act(action)
        told = {key: float(x[0]) for key, x in parts.items()}
        return self.robots.observe()[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), told


class RobotVectorEnv(VectorEnv[Array, Array, Array]):
    """Robots side by side in the lanes of one rollout; episodes that are over begin again with the next step."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, model: Model, task: GymTask, num_envs: int, threads: int = 1):
        self.robots = RobotsAtWork(model, task, num_envs, threads)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces(self.robots)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """New episodes; an int seeds all robots together, a list each robot by itself."""
        seeds = seed if isinstance(seed, list | tuple) else None
        super().reset(seed=seed if seeds is None else seeds[0])  # type: ignore[arg-type]
        if seeds is None:
            q, v = self.robots.starts(self.np_random, self.num_envs)
        else:
            each = [self.robots.starts(np.random.default_rng(one), 1) for one in seeds]
            q, v = (np.concatenate([pair[k] for pair in each]) for k in (0, 1))
        self.robots.begin(slice(None), q, v)
        self._over[:] = False
        return self.robots.observe(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        again = np.flatnonzero(self._over)
        reward, terminated, truncated, parts = self.robots.act(actions)
        if len(again):
            self.robots.begin(again, *self.robots.starts(self.np_random, len(again)))
            reward[again], terminated[again], truncated[again] = 0.0, False, False
        self._over = terminated | truncated
        told: dict[str, Any] = dict(parts)
        for key in parts:
            told[f"_{key}"] = ~np.isin(np.arange(self.num_envs), again)
        return self.robots.observe(), reward, terminated, truncated, told
