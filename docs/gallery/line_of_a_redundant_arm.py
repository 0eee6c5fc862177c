"""A redundant arm along a straight line

Seven joints, six conditions: of all motions that take the hand along the line, joints take the one of least norm. A
posture pulls at what is left. See [trajectories](../reference/trajectories.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.kuka_lwr4()
hand = "link7.origin"
q0 = np.array([0.3, 0.6, 0.0, -1.4, 0.0, 0.9, 0.0])
target = gs.fk(arm, q0)[hand].matrix.copy()
target[:3, 3] += [-0.1, -0.35, 0.15]

line = gs.trajectories.cartesian_line(arm, hand, q0, target, duration=2.0)
bent = np.add(q0, [0, 0, 0.8, 0, 0, 0, 0])
pulled = gs.trajectories.cartesian_line(arm, hand, q0, target, duration=2.0, posture=bent)
t = np.linspace(0, 2, 101)
q = line(t)
p = gs.fk(arm, q)[hand].p
along = (target[:3, 3] - p[0]) / np.linalg.norm(target[:3, 3] - p[0])
off = p - p[0] - np.outer((p - p[0]) @ along, along)
print(np.abs(off).max() < 1e-9, np.allclose(p[-1], target[:3, 3], atol=1e-9))  # True True

figure, axes = plt.subplots()
for k, joint in enumerate(arm.dofs):
    (curve,) = axes.plot(t, q[:, k], label=joint)
    axes.plot(t, pulled(t)[:, k], "--", color=curve.get_color(), linewidth=1)
axes.set(xlabel="t [s]", ylabel="joint angle [rad]; dashed: with a posture", xlim=(0, 2))
axes.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
# picture: arm, q[-1], ghosts=q[:80:35]
