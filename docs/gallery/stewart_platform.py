"""Parallel robot: forces in the legs of a Stewart platform

The pose of the plate is the coordinate; its six legs follow in closed form, with their masses. Inverse dynamics of a
motion of the plate, and the forces of its six actuators. See [closed loops](../reference/loops.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

robot = gs.robots.stewart()
t = np.linspace(0, 2, 201)
v = np.zeros((201, 6))  # spin and velocity of the plate, in its own axes
v[:, 0], v[:, 5] = 0.6 * np.sin(np.pi * t), 0.3 * np.sin(2 * np.pi * t)
a = np.zeros((201, 6))
a[:, 0], a[:, 5] = 0.6 * np.pi * np.cos(np.pi * t), 0.6 * np.pi * np.cos(2 * np.pi * t)
q = [gs.neutral(robot)]
for k in range(200):
    q.append(gs.integrate(robot, q[-1], 0.005 * (v[k] + v[k + 1])))
q = np.array(q)

tau = gs.rnea(robot, q, v, a)
legs = gs.actuator_efforts(robot, q, tau)
work = np.trapezoid(np.sum(tau * v, axis=1), t)
energy = gs.kinetic_energy(robot, q, v) + gs.potential_energy(robot, q)
print(abs(work - (energy[-1] - energy[0])) < 1e-3 * np.ptp(energy))  # True

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, energy)
above.set_ylabel("energy [J]")
below.plot(t, legs.array, label=legs.names)
below.set(xlabel="t [s]", ylabel="force of the actuators [N]", xlim=(0, 2))
below.legend(ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=1)
# picture: robot, q[50], turn=-30, tilt=14
