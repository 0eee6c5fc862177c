"""4096 robots at once

Arms that differ in payload and start, under one PD law: `gs.rollout` steps them side by side in the registers of the
processor. The whole loop is machine code. See [rollouts](../reference/rollout.md).
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.two_link()
rng = np.random.default_rng(0)
q0 = rng.uniform(-1.5, 1.5, (4096, 2))
masses = rng.uniform(0.5, 3.0, 4096)


def law(t, q, v):
    return 60.0 * (np.array([1.0, -0.6]) - q) - 8.0 * v


def run():
    return gs.rollout(arm, law, q0, dt=2e-3, steps=1000, every=20, parameters={"lower.mass": masses})


run()  # compiles
begin = time.perf_counter()
many = run()
seconds = time.perf_counter() - begin
print(many.q.shape, np.isfinite(many.q).all())  # (51, 4096, 2) True

figure, axes = plt.subplots()
shown = axes.scatter(*many.q[-1].T, c=masses, s=3, cmap="viridis")
figure.colorbar(shown, label="mass of the lower link [kg]")
axes.set(xlabel="shoulder after 2 s [rad]", ylabel="elbow after 2 s [rad]")
axes.set_title(f"4.1 million steps in {seconds:.1f} s", fontsize=10)
