"""Every way to reach a pose: eight branches of inverse kinematics

Shoulder left or right, elbow up or down, wrist turned or not: `inverse_kinematics_branches` finds them all, here of
an industrial arm with six axes. They differ in the torque that holds them. See
[trajectories](../reference/trajectories.md#inverse-kinematics).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.arm6()
target = gs.fk(arm, [0.4, 0.9, 0.6, 0.4, 0.7, -0.2])["link6.flange"]
found = gs.inverse_kinematics_branches(arm, "link6.flange", target)
places = gs.fk(arm, found.q)["link6.flange"].p
print(len(found.q), np.abs(places - target.p).max() < 1e-9)  # 8 True

holding = np.abs(gs.gravity(arm, found.q))
figure, axes = plt.subplots()
bottom = np.zeros(len(found.q))
for k in range(1, 5):
    axes.bar(np.arange(len(found.q)) + 1, holding[:, k], bottom=bottom, label=arm.dofs[k])
    bottom += holding[:, k]
axes.set(xlabel="branch", ylabel="torques that hold it [N m]")
axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
# picture: arm, found.q[0], ghosts=found.q[1:], tilt=22
