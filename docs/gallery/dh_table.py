"""From a table of Denavit-Hartenberg parameters to dynamics: the Puma 560

The classic robot with its motors and friction, as in the Robotics Toolbox: gravity load, in its nominal pose and over
the workspace. See [DH tables](../reference/dh.md), [robots](../reference/robots.md#puma-560).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs
from gyrostat.robots.puma560 import NOMINAL

puma = gs.robots.puma560()
print((gs.gravity(puma, NOMINAL).round(4) + 0.0).tolist())
# [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0]

angles = np.radians(np.linspace(-180, 180, 91))
two, three = np.meshgrid(angles, angles, indexing="ij")
q = np.tile(NOMINAL, (91, 91, 1))
q[..., 1], q[..., 2] = two, three
load = gs.gravity(puma, q)[..., 1]

figure, axes = plt.subplots()
shown = axes.contourf(np.degrees(two), np.degrees(three), load, levels=15, cmap="RdBu_r")
figure.colorbar(shown, label="gravity torque of joint 2 [N m]")
axes.set(xlabel="joint 2 [deg]", ylabel="joint 3 [deg]")
