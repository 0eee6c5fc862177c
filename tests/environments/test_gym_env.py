"""Environments of Gymnasium: its own checks, seeds, rewards as defined, many robots as one."""

import builtins
import re
import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.environments.planar_robots import half_cheetah, hopper
from gyrostat.environments.tasks import TASKS

gymnasium = pytest.importorskip("gymnasium")
PLANAR = "hopper", "half-cheetah"


def lander(**more):
    """A body that a thruster holds above the ground."""
    body = gs.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    parts = gs.chain("world", gs.Joint("z", "prismatic", axis="z", effort_limit=20.0), body), gs.ContactPoint("tip")
    model = gs.assemble("lander", *parts, gs.connect("body", "tip"), gs.Ground("floor", friction=0.5))
    task = gs.GymTask("land", reward=lambda m: -np.abs(m.v[:, 0]), dt=1e-2, frame_skip=1, **more)
    return model, task


@pytest.mark.by_default(1)
@pytest.mark.parametrize("name", [*PLANAR, pytest.param("humanoid-stand", marks=pytest.mark.slow)])
def test_gymnasium_has_nothing_to_say_against_an_environment(name):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gs.gym_env(name))


@pytest.mark.by_default(1)
@pytest.mark.parametrize("name", PLANAR)
def test_many_robots_do_what_each_of_them_does_alone(name):
    rng = np.random.default_rng(0)
    many, one = gs.gym_env(name, num_envs=3), gs.gym_env(name)
    seen, _ = many.reset(seed=[4, 5, 6])
    one.robots.begin([0], many.robots.stepper.q[1:2].copy(), many.robots.stepper.v[1:2].copy())
    assert np.array_equal(one.robots.observe()[0], seen[1])
    for _ in range(5):
        actions = rng.uniform(-1, 1, many.action_space.shape).astype(np.float32)
        observations, rewards, *_ = many.step(actions)
        observation, reward, *_ = one.step(actions[1])
        assert np.abs(observation - observations[1]).max() < 1e-6
        assert abs(reward - rewards[1]) < 1e-6


@pytest.mark.parametrize("seed", [3, [1, 2, 3, 4]])
def test_a_seed_gives_the_same_episodes(seed):
    def history():
        env, rng = gs.gym_env("hopper", num_envs=4), np.random.default_rng(0)
        rows = [env.reset(seed=seed)[0]]
        rows += [env.step(rng.uniform(-1, 1, env.action_space.shape))[0] for _ in range(60)]
        return np.array(rows)

    first = history()
    assert np.array_equal(first, history())
    assert np.ptp(first[0], axis=0).max() > 0.0  # robots begin differently


def test_rewards_and_ends_of_the_hopper_are_those_of_hopper_v5():
    env = gs.gym_env("hopper")
    env.reset(seed=1)
    action = np.array([0.5, -1.0, 2.0])  # beyond 1 it is cut
    x = env.robots.stepper.q[0, 0]
    observation, reward, terminated, _, info = env.step(action)
    q, v = env.robots.stepper.q[0], env.robots.stepper.v[0]
    speed = (q[0] - x) / 0.008
    assert reward == pytest.approx(1.0 + speed - 1e-3 * (0.25 + 1.0 + 1.0))
    assert info["reward_forward"] == pytest.approx(speed)
    assert np.array_equal(observation, np.concatenate([q[1:], np.clip(v, -10, 10)]))
    assert not terminated
    env.robots.begin([0], np.array([[0, 1.4, 0.3, 0, 0, 0.0]]), np.zeros((1, 6)))
    assert env.step(np.zeros(3))[2]


def test_the_robots_are_those_of_gymnasium():
    """Mass matrix and inverse dynamics of its files; contacts of the same capsules."""
    pytest.importorskip("mujoco")
    from pathlib import Path

    from gyrostat.graph.contacts import contact_candidates

    folder = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
    for ours, name in ((hopper(), "hopper"), (half_cheetah(), "half_cheetah")):
        theirs = gs.load(folder / f"{name}.xml", policy="repair")
        q, v, a = np.random.default_rng(2).uniform(-0.3, 0.3, (3, ours.nv))
        assert np.abs(gs.crba(ours, q) - gs.crba(theirs, q)).max() < 1e-9
        assert np.abs(gs.rnea(ours, q, v, a) - gs.rnea(theirs, q, v, a)).max() < 1e-9
        on_the_floor = [c for c in contact_candidates(theirs) if c.b.kind == "plane"]
        assert len(contact_candidates(ours)) == len(on_the_floor)


def test_an_episode_that_is_over_begins_again_with_the_next_step():
    model, task = lander(max_steps=3)
    env = gs.gym_env(model, task, num_envs=2)
    env.reset(seed=0)
    ends = [env.step(np.zeros((2, 1)))[3].all() for _ in range(8)]
    assert ends == [False, False, True, False, False, False, True, False]


def test_a_task_of_ones_own_lands():
    model, task = lander(noise=0.5)
    env = gs.gym_env(model, task)
    env.reset(seed=2)
    for _ in range(200):
        observation, reward, *_ = env.step(np.zeros(1, dtype=np.float32))
    assert np.abs(observation).max() < 1e-6
    assert reward == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gs.gym_env("hoper"), r"gym_env: there is no task 'hoper'. Hint: did you mean 'hopper'"),
        (lambda: gs.gym_env("hopper", "half-cheetah"), r"gym_env: the robot of a task that is ready has that task"),
        (
            lambda: gs.gym_env(lander()[0], None),
            r"gym_env: task is nothing, expected a name or a gs.GymTask. Hint: hopper",
        ),
        (lambda: gs.gym_env("hopper", num_envs=0), r"gym_env: num_envs must be a whole number from 1 on, got 0"),
        (lambda: gs.gym_env(*lander(actions=["x"])), r"gym_env: 'x' is no joint with one rate of 'lander'"),
        (lambda: gs.gym_env(*lander(efforts=[1.0, 2.0])), r"gym_env: efforts of 'land' are .*, expected 1 numbers"),
        (
            lambda: gs.gym_env(*lander(observation=lambda q, v: q[:, 0])),
            r"gym_env: observation of 'land' has shape \(1,\), expected \(1, size\)",
        ),
    ],
)
def test_mistakes_are_told(call, message):
    with pytest.raises(gs.GyrostatError, match=message):
        call()


@pytest.mark.parametrize(("many", "shape"), [(None, (1,)), (2, (2, 1)), (1, (1, 1))])
def test_actions_are_examined(many, shape):
    model, task = lander()
    env = gs.gym_env(model, task, num_envs=many)
    with pytest.raises(gs.StateError, match=r"gym_env: no episode of 'land' has begun. Hint: env.reset\(\)"):
        env.step(np.zeros(shape))
    seen, _ = env.reset(seed=0)
    for wrong in ((3,), (*shape, 1), (1, *shape), shape[:-1], (*shape[:-1], 2)):
        with pytest.raises(
            gs.ShapeError, match=r"gym_env: the action has shape \(.*, expected " + re.escape(str(shape))
        ):
            env.step(np.zeros(wrong))
    for number in (np.nan, np.inf):
        with pytest.raises(gs.NonFiniteError, match=r"gym_env: the action is not finite, got .*(nan|inf)"):
            env.step(np.full(shape, number))
    with pytest.raises(gs.GyrostatError, match=r"gym_env: the action"):
        env.step("left")
    np.testing.assert_array_equal(env.robots.observe().reshape(seen.shape), seen)  # nothing has moved
    assert np.isfinite(env.step(np.zeros(shape).tolist())[1]).all()


def test_without_gymnasium_one_sentence_says_so(monkeypatch):
    import sys

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "gymnasium":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "gyrostat.environments.gym_classes", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(gs.GyrostatError, match=r"gym_env needs gymnasium. Hint: pip install 'gyrostat\[gym\]'"):
        gs.gym_env("hopper")


def test_every_ready_task_has_a_robot():
    for robot, task in TASKS.values():
        assert set(task().actions or ()) <= {block.entity for block in robot().layout}
