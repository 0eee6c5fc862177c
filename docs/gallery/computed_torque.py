"""Track a motion: PD and computed torque

The same gains twice: a PD law, and inverse dynamics with feedback, `gs.blocks.computed_torque`. Both are compiled
together with the robot, so that a run takes milliseconds. See [blocks](../reference/blocks.md),
[simulation](../reference/simulate.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.arm6(drives=False)
move = gs.trajectories.quintic([-1.2, 0.9, 0.5, 0, 0.4, 0], [1.2, 0.3, 1.2, 0, 0.2, 0], duration=1.2)
pd = gs.blocks.pd(kp=2000.0, kd=200.0, reference=move)
model_based = gs.blocks.computed_torque(arm, kp=400.0, kd=40.0, reference=move)

t = np.linspace(0, 1.6, 401)
figure, axes = plt.subplots()
worst = []
for name, law in (("PD", pd), ("computed torque", model_based)):
    run = gs.simulate(arm, law, q0=move(0.0) + 0.02, t_eval=t, progress=False)
    error = np.linalg.norm(run.q - move(t), axis=1)
    axes.semilogy(t, error, label=name)
    worst.append(error[-1])
print(worst[1] < 1e-4 < worst[0])  # True
axes.set(xlabel="t [s]", ylabel="error of all joints [rad]", xlim=(0, 1.6))
axes.legend()
# picture: arm, move(1.2), ghosts=[move(0.0), move(0.6)], turn=-8, tilt=22
