"""Torques of a Panda

The torques that hold an arm still, and those that move it along a smooth path: inverse dynamics of 400 states in one
call. `gs.load("panda")` finds the robot by name where the package `example-robot-data` is installed; without it, the
KUKA LWR 4+ that comes with gyrostat takes its place. See [dynamics](../reference/dynamics.md), [robots by
name](../reference/robots.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

try:
    arm = gs.load("panda")
except gs.LoadError:
    arm = gs.robots.kuka_lwr4()
start, end = gs.neutral(arm), gs.neutral(arm)
start[:7] = [-0.8, -0.6, 0.2, -2.2, 0.1, 1.8, 0.3]
end[:7] = [0.9, 0.5, -0.3, -1.2, 0.4, 1.2, -0.5]
move = gs.trajectories.quintic(start, end, duration=1.2)

t = np.linspace(0, 1.2, 400)
q, v, a = np.moveaxis(move.derivatives(t, 2), 1, 0)
tau = gs.rnea(arm, q, v, a)  # (400, nv)
still = gs.gravity(arm, q)
print(np.allclose(tau[[0, -1]], still[[0, -1]]))  # True

figure, axes = plt.subplots()
for k, joint in enumerate(arm.dofs[:7]):
    (line,) = axes.plot(t, tau[:, k], label=joint)
    axes.plot(t, still[:, k], ":", color=line.get_color())
axes.set(xlabel="t [s]", ylabel="torque [N m]; dotted: gravity alone", xlim=(0, 1.2))
axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
# picture: arm, q[-1], ghosts=q[:250:120]
