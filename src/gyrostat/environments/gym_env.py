"""``gs.gym_env``: a robot and a task as an environment of Gymnasium."""

from __future__ import annotations

import operator
from typing import Any

from gyrostat.environments.robots_at_work import WHO
from gyrostat.environments.task import GymTask
from gyrostat.environments.tasks import TASKS
from gyrostat.errors import GyrostatError, StateError, clipped, nearest
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


def gym_env(
    model: Model | str, task: GymTask | str | None = None, num_envs: int | None = None, threads: int = 1
) -> Any:
    """An environment of Gymnasium: a ``gymnasium.Env``, with ``num_envs`` a ``gymnasium.vector.VectorEnv`` whose robots
    run in the lanes of one compiled rollout (method ``"moreau"``), on ``threads``.

    ``gym_env("hopper")``, ``gym_env("half-cheetah")``, ``gym_env("humanoid-stand")``: robots and tasks that are ready,
    with the observations, rewards and ends that Gymnasium gives them. ``gym_env(model, "hopper")``: the task with
    another robot that has the same coordinates and joints; ``gym_env(model, task)``: a :class:`GymTask` of your own.
    Actions are from -1 to 1. Needs ``gymnasium`` (extra ``gym``)."""
    if isinstance(model, str):
        if task is not None:
            raise StateError(
                f"{WHO}: the robot of a task that is ready has that task, got {clipped(task)} for '{model}'"
            )
        made, chosen = _ready(model)
        model, task = made(), chosen()
    if isinstance(task, str):
        task = _ready(task)[1]()
    expect_model(model, WHO)
    if not isinstance(task, GymTask):
        raise StateError(f"{WHO}: task is {clipped(task)}, expected a name or a gs.GymTask. Hint: {', '.join(TASKS)}")
    try:
        from gyrostat.environments.gym_classes import RobotEnv, RobotVectorEnv
    except ImportError as error:
        raise GyrostatError(f"{WHO} needs gymnasium. Hint: pip install 'gyrostat[gym]'") from error
    if num_envs is None:
        return RobotEnv(model, task)  # type: ignore[arg-type]
    try:
        count = operator.index(num_envs)
    except TypeError:
        count = 0
    if count < 1:
        raise StateError(f"{WHO}: num_envs must be a whole number from 1 on, got {clipped(num_envs)}")
    return RobotVectorEnv(model, task, count, threads)  # type: ignore[arg-type]


def _ready(name: str) -> Any:
    key = name.lower().replace("_", "-")
    if key not in TASKS:
        raise StateError(f"{WHO}: there is no task '{name}'. Hint: {nearest(key, TASKS)}")
    return TASKS[key]
