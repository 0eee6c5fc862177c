"""Elastic joints: torques of the motors, without a simulation

Two joints driven through springs. For a motion of the links, motor torques follow from its derivatives up to the
sixth in one call, rotors and their gyroscopic coupling included. A simulation with these torques gives the motion
back. See [drives](../reference/drives.md), [elastic joints](../theory/elastic_joints.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.two_link()
arm = arm.with_drive("shoulder", rotor_inertia=1e-3, gear_ratio=50, stiffness=900.0)
arm = arm.with_drive("elbow", rotor_inertia=5e-4, gear_ratio=-40, stiffness=700.0)
solver = gs.ElasticInverseDynamics(arm)
move = gs.trajectories.point_to_point([0.0, 0.3], [1.0, -0.6], 0.8, order=solver.order)
t = np.linspace(0, 0.8, 801)
found = solver(move.derivatives(t, solver.order))

start = np.concatenate([move(0.0), found.theta[0]])
efforts = np.concatenate([np.zeros((801, 2)), found.tau_motor], axis=1)
run = gs.simulate(arm, efforts, q0=start, t_eval=t, rtol=1e-8, progress=False)
print(solver.order, np.abs(run.q[:, :2] - move(t)).max() < 1e-3)  # 6 True

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, found.tau_motor, label=["shoulder", "elbow"])
above.set_ylabel("torque of the motor [N m]")
above.legend()
bent = move(t) - found.theta / np.array([50, -40])
below.plot(t, 1e3 * bent)
below.set(xlabel="t [s]", ylabel="link minus motor [mrad]", xlim=(0, 0.8))
