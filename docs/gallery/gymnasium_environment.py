"""Reinforcement learning: a Gymnasium environment with 256 hoppers

Robots with contact run in the lanes of one compiled rollout, behind the interface of Gymnasium. A little random
search improves a linear policy that keeps the hopper from falling. See [contact in
time](../reference/contact_simulate.md#rollouts-and-learning).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

count = 256
envs = gs.gym_env("hopper", num_envs=count)
rng = np.random.default_rng(0)
seen, _ = envs.reset(seed=0)
print(envs.single_observation_space.shape, envs.single_action_space.shape)  # (11,) (3,)


def returns(policies):
    """Sum of rewards until the first fall, of one policy (3, 11) for each robot."""
    seen, _ = envs.reset(seed=1)
    alive, total = np.ones(count, bool), np.zeros(count)
    for _ in range(120):
        seen, reward, ended, cut, _ = envs.step(np.tanh(np.einsum("nij,nj->ni", policies, seen)))
        total += reward * alive
        alive &= ~(ended | cut)
    return total


best, curve = np.zeros((3, 11)), []
for _ in range(12):
    tried = best + 0.3 * rng.normal(size=(count, 3, 11))
    score = returns(tried)
    best = tried[np.argsort(score)[-10:]].mean(axis=0)
    curve.append(np.percentile(score, [5, 50, 95]))
curve = np.array(curve)
print(curve[-1, 1] > 1.5 * curve[0, 1])  # True

figure, axes = plt.subplots()
axes.fill_between(range(12), curve[:, 0], curve[:, 2], alpha=0.25, label="90 % of the robots")
axes.plot(curve[:, 1], label="median")
axes.set(xlabel="generation", ylabel="return", xlim=(0, 11))
axes.legend()
