"""Identify a payload from torques

What does the hand carry? Torques of the same motion, without and with the load, give its mass, centre and moments of
inertia, with standard deviations; what this arm's motion cannot tell is said. See
[identification](../reference/identification.md#payload).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

rng = np.random.default_rng(0)
machine = gs.robots.two_link()  # stands for the real one
for joint in machine.dofs:
    machine = machine.with_drive(joint, viscous=0.4, coulomb=0.6, friction={"smooth": 0.02})
load = gs.RigidBody("load", mass=1.5, com=(0, 0, 0.05), inertia=(0.01, 0.01, 0.01))
carrying = machine.attach(load, to="lower.tip")

plan = gs.studies.exciting_trajectory(gs.robots.two_link(), velocity_limits=2.0, acceleration_limits=8.0, iterations=5)
t = np.arange(0.0, 10.0, 4e-3)
q, v, a = np.moveaxis(plan.trajectory.derivatives(t, 2), 1, 0)
clean = [gs.rnea(model, q, v, a) for model in (machine, carrying)]
without, measured = (tau + 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape) for tau in clean)

robot = gs.studies.identify(gs.robots.two_link(masses=(3.0, 0.7)), t, q, without)
found = gs.studies.identify_payload(robot, t, q, measured, at="lower.tip")
print(f"{found.mass:.1f} kg, {100 * found.com[2]:.0f} cm beyond the tip")  # 1.5 kg, 5 cm beyond the tip

figure, axes = plt.subplots()
axes.plot(t, measured[:, 1], color="0.75", linewidth=0.8, label="measured")
axes.plot(t, gs.rnea(found.model, q, v, a)[:, 1], label="identified, with the load")
axes.plot(t, gs.rnea(robot.model, q, v, a)[:, 1], ":", label="without")
axes.set(xlabel="t [s]", ylabel="torque of the elbow [N m]", xlim=(0, 5))
axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
# picture: carrying, [1.2, 0.9], ghosts=[[0.5, 0.6]], turn=-12
