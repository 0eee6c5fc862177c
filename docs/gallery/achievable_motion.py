"""Motors too weak: the motion that can be achieved

A programme of positions, motors with a torque limit. Where a limit is met, the other joints go on as they should, and
the motion is the one nearest to the programme; the report says who met which limit when. See [achievable
motion](../reference/achievable_motion.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.two_link()
for joint, torque in zip(arm.dofs, (0.26, 0.08), strict=True):
    arm = arm.with_drive(joint, gear_ratio=50.0, rotor_inertia=1e-4, viscous=0.2, torque_limit=torque)
t = np.arange(0, 2.0, 0.005)
programme = np.stack([0.9 * (1 - np.cos(4 * t)), 0.6 * np.sin(5 * t)], axis=1)
motion = gs.AchievableMotion(arm, dt=0.005)
found = motion(programme)
print(found)
# 399 cycles, 1.995 s: limits are met in 66 of them
#   shoulder: torque limit from 0 s to 0.045 s; up to 0.000102 from the programme
#   elbow: torque limit from 0.885 s to 1.17 s; up to 0.0245 from the programme
print(f"{motion.slow_down(programme):.4f}")  # 1.0799

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(found.t, found.q, label=arm.dofs)
above.plot(t, programme, "k:", linewidth=1)
above.set_ylabel("angle [rad]; dotted: programme")
above.legend()
below.plot(found.t[: len(found.u)], found.u)
for limit in (-0.08, 0.08, -0.26, 0.26):
    below.axhline(limit, color="black", linewidth=0.6, linestyle="--")
below.set(xlabel="t [s]", ylabel="torque of the motors [N m]", xlim=(0, 2))
