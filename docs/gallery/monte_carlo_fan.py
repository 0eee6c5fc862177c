"""Monte-Carlo: fans of 500 runs with uncertain payload and friction

How far does a controller that was tuned for one robot bear others? Physical properties are given by their paths, one
number for each run; `plot` draws bands that hold 90 % and 50 % of them. See
[rollouts](../reference/rollout.md#figures-tables-files).
"""

import numpy as np

import gyrostat as gs

arm = gs.robots.two_link().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=50.0, viscous=0.5)
rng = np.random.default_rng(1)
uncertain = {"lower.mass": rng.normal(1.5, 0.6, 500).clip(0.3), "elbow.friction.viscous": rng.uniform(0.1, 6.0, 500)}


def law(t, q, v):
    return 30.0 * (np.array([0.8, -0.5]) - q) - 4.0 * v


many = gs.rollout(arm, law, [0.0, 0.0], dt=1e-3, steps=2000, every=20, parameters=uncertain)
sag = many.q[-1, :, 0] - 0.8
print(np.corrcoef(uncertain["lower.mass"], sag)[0, 1] < -0.9)  # True
figure = many.plot(quantities=("q", "tau"), bands=(90, 50), lanes=3)
