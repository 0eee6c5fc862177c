"""The robots of an environment: states, efforts from actions, rewards, ends; one or many."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import real_array
from gyrostat.environments.task import GymTask, Moment
from gyrostat.errors import NonFiniteError, ShapeError, StateError, clipped, nearest
from gyrostat.simulate.rollout.stepper import Stepper
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "gym_env"
BOUND = 1e6
"""Largest number that is observed: a robot with a larger one has diverged, and is terminated."""


class RobotsAtWork:
    """``count`` robots with one task; actions have the shape (count, rates), of one ``alone`` (rates,)."""

    def __init__(self, model: Model, task: GymTask, count: int, threads: int = 1, alone: bool = False):
        self.model, self.task, self.count = model, task, count
        self.rates, self.efforts = driven_rates(model, task)
        self.shape = (len(self.rates),) if alone else (count, len(self.rates))
        self.stepper = Stepper(model, count, task.dt, task.frame_skip, "moreau", threads)
        self.steps, self.begun = np.zeros(count, dtype=np.int64), False
        q, v = self.starts(np.random.default_rng(0), 1)
        seen = np.asarray(task.observation(q, v), dtype=float)
        if seen.ndim != 2 or len(seen) != 1:
            raise ShapeError(
                f"{WHO}: observation of '{task.name}' has shape {seen.shape}, expected (1, size) of one robot"
            )
        self.size = seen.shape[1]

    def starts(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """States q (n, nq), v (n, nv) at the beginning of episodes."""
        model, task = self.model, self.task
        if task.start is not None:
            q, v = (np.asarray(x, dtype=float) for x in task.start(rng, n))
            if q.shape != (n, model.nq) or v.shape != (n, model.nv):
                raise ShapeError(
                    f"{WHO}: start of '{task.name}' gives shapes {q.shape} and {v.shape}, expected {(n, model.nq)} and "
                    f"{(n, model.nv)}"
                )
            return q, v
        q = np.repeat(neutral(model)[None], n, axis=0)
        for block in model.layout:
            if not block.turns:
                q[:, block.q] += rng.uniform(-task.noise, task.noise, q[:, block.q].shape)
        return q, rng.uniform(-task.noise, task.noise, (n, model.nv))

    def begin(self, which: Any, q: Array, v: Array) -> None:
        """New episodes of some of the robots."""
        self.stepper.put(which, q, v)
        self.steps[which] = 0
        self.begun = True

    def observe(self) -> Array:
        """(count, size)."""
        return np.clip(self._seen(), -BOUND, BOUND)

    def _seen(self) -> Array:
        return np.asarray(self.task.observation(self.stepper.q, self.stepper.v), dtype=float)

    def _read(self, action: Any) -> Array:
        """An action as numbers, or an error that says what is wrong with it."""
        if not self.begun:
            raise StateError(f"{WHO}: no episode of '{self.task.name}' has begun. Hint: env.reset() before env.step()")
        given = real_array(action, WHO, "the action")
        if given.shape != self.shape:
            raise ShapeError(f"{WHO}: the action has shape {given.shape}, expected {self.shape}")
        if not np.isfinite(given).all():
            raise NonFiniteError(f"{WHO}: the action is not finite, got {clipped(given.tolist())}")
        return given

    def act(self, action: Any) -> tuple[Array, Array, Array, dict[str, Array]]:
        """Reward, terminated, truncated (count,), and the parts of the reward. A robot whose state is not finite any
        more is terminated where it was."""
        a = np.clip(self._read(action).reshape(self.count, len(self.rates)), -1.0, 1.0)
        q0, v0 = self.stepper.q.copy(), self.stepper.v.copy()
        tau = np.zeros((self.count, self.model.nv))
        tau[:, self.rates] = a * self.efforts
        fine = self.stepper.advance(tau)
        self.steps += 1
        task = self.task
        moment = Moment(q0, v0, self.stepper.q.copy(), self.stepper.v.copy(), a, task.dt * task.frame_skip)
        given = task.reward(moment)
        parts = {key: np.asarray(x, dtype=float) for key, x in given.items()} if isinstance(given, dict) else {}
        reward = np.sum(list(parts.values()), axis=0) if parts else np.asarray(given, dtype=float)
        if reward.shape != (self.count,):
            raise ShapeError(f"{WHO}: reward of '{task.name}' has shape {reward.shape}, expected ({self.count},)")
        terminated = np.asarray(task.terminated(moment.q, moment.v), dtype=bool) | ~fine
        terminated |= np.any(np.abs(self._seen()) >= BOUND, axis=-1)
        limit = task.max_steps
        truncated = np.zeros(self.count, dtype=bool) if limit is None else (self.steps >= limit) & ~terminated
        return reward, terminated, truncated, {f"reward_{key}": x for key, x in parts.items()}


def driven_rates(model: Model, task: GymTask) -> tuple[Array, Array]:
    """Rates (k,) that actions drive, and efforts (k,) for an action of one."""
    names = {block.entity: block for block in model.layout if block.nv == 1}
    limits = {name: getattr(model.wiring.entities[name], "effort_limit", None) for name in names}
    chosen = [name for name in names if limits[name]] if task.actions is None else list(task.actions)
    for name in chosen:
        if name not in names:
            raise StateError(
                f"{WHO}: '{name}' is no joint with one rate of '{model.name}'. Hint: {nearest(name, names)}"
            )
    if not chosen:
        raise StateError(f"{WHO}: nothing drives '{model.name}'. Hint: GymTask(actions=[...], efforts=[...])")
    efforts = [limits[name] for name in chosen] if task.efforts is None else list(task.efforts)
    if len(efforts) != len(chosen) or any(not x or not np.isfinite(x) for x in efforts):
        raise StateError(
            f"{WHO}: efforts of '{task.name}' are {clipped(efforts)}, expected {len(chosen)} numbers other than zero. "
            "Hint: joints without an effort_limit need one"
        )
    return np.array([names[name].v.start for name in chosen]), np.array(efforts, dtype=float)
