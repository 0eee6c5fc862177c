"""Distances between shapes: an arm comes near the floor

`gs.distances` gives, for each pair of shapes, how far they are apart, where, and how that changes with the joints;
here along a motion. A task with `CollisionAvoidance` keeps them apart. See [collision](../reference/collision.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs


def link(name):
    shape = gs.Shape(kind="capsule", size=(0.05, 0.3), translation=(0, 0, 0.2), role="collision")
    seen = gs.Shape(kind="capsule", size=(0.05, 0.3), translation=(0, 0, 0.2), color=(0.35, 0.55, 0.75, 1))
    return gs.RigidBody(name, mass=1, inertia=(0.02, 0.02, 0.002), shapes=[shape, seen], frames={"end": (0, 0, 0.4)})


parts = [part for k in range(4) for part in (gs.Joint(f"j{k}", "revolute", axis="y"), link(f"l{k}"))]
arm = gs.assemble("arm", gs.chain("world", *parts), gs.Ground("floor"))
move = gs.trajectories.quintic([-0.3, 0.4, 0.5, 0.4], [-0.3, 1.2, 1.3, 0.8], 1.0)
t = np.linspace(0, 1, 101)
pairs = [pair for pair in gs.collision_pairs(arm) if pair != ("l0", "floor")]  # that link stands on it
found = gs.distances(arm, move(t), pairs)

stack = gs.tasks.Stack(arm, gs.tasks.Posture(move(1.0)), limits=[gs.tasks.CollisionAvoidance(pairs, 0.05)])
kept = stack.solve(move(0.0)).q
print(gs.distances(arm, kept, pairs).distance.min().round(4))
# 0.05

figure, axes = plt.subplots()
for k, pair in enumerate(found.pairs):
    axes.plot(t, found.distance[:, k], label=" - ".join(pair))
axes.axhline(0, color="black", linewidth=1)
axes.set(xlabel="t [s]", ylabel="distance [m]", xlim=(0, 1))
axes.legend(fontsize=8, ncols=2)
# picture: arm, kept, ghosts=[move(0.0), move(0.5)], turn=-12, tilt=8
