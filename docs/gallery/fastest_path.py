"""The fastest motion along a path, within torques and speeds

A path says where, not how fast. `time_optimal` finds the motion of least time under the limits of the motors, and
tells what bounds it where: at every instant one joint is at its limit. See [fastest
paths](../reference/time_optimal.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.arm6()
waypoints = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [0.4, -0.3, 0.5, 0.2, 0.3, 0.1],
        [0.9, 0.2, 0.1, -0.2, 0.5, 0.4],
        [1.2, 0.4, -0.3, 0.1, 0.2, 0.6],
    ]
)
found = gs.studies.time_optimal(arm, waypoints, velocity_limits=3.0)
print(found.check(20) <= 0)  # True
t = np.linspace(0, found.duration, 400)
v = found.trajectory.derivatives(t, 1)[:, 1]

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, v, label=arm.dofs)
above.axhline(3.0, color="black", linestyle=":")
above.set_ylabel("joint speed [rad/s]")
below.plot(t, found.torques(t))
below.set(xlabel="t [s]", ylabel="torque [N m]", xlim=(0, found.duration))
above.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=1)
# picture: arm, waypoints[-1], ghosts=waypoints[:-1], turn=-30, tilt=22
