"""Many contacts by time steps: a box tumbles to rest

Moreau's time stepping takes contacts, impacts and friction as impulses of steps with one length, however many there
are: the eight corners of a box that is thrown. Energy never grows. See [time
stepping](../reference/contact_simulate.md#time-stepping).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

size = (0.4, 0.25, 0.15)
inertia = [(size[1] ** 2 + size[2] ** 2) / 12, (size[0] ** 2 + size[2] ** 2) / 12, (size[0] ** 2 + size[1] ** 2) / 12]
solid = gs.Shape(kind="box", size=size, role="collision")
seen = gs.Shape(kind="box", size=size, color=(0.80, 0.55, 0.25, 1))
box = gs.RigidBody("box", mass=1.0, inertia=inertia, shapes=[solid, seen])
scene = gs.assemble("thrown", gs.chain("world", gs.Joint("flight", "free"), box), gs.Ground("floor", friction=0.5))
q0 = gs.neutral(scene)
q0[2] = 0.5
t = np.linspace(0, 2, 501)
throw = [4.0, 6.0, 1.0, 2.0, 0.0, 0.0]
run = gs.simulate(scene, q0=q0, v0=throw, t_eval=t, method="moreau", dt=1e-3, progress=False)
energy = gs.kinetic_energy(scene, run.q, run.v) + gs.potential_energy(scene, run.q)
forces = sum(force[:, 0] for force in run.contact_forces.values())
print((np.diff(energy) < 1e-9).all(), f"{forces[-1]:.3f}")  # True 9.810

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, energy)
above.set_ylabel("energy [J]")
below.plot(t, run.q[:, 2], color="C1")
below.set(xlabel="t [s]", ylabel="height of the middle [m]", xlim=(0, 2))
# picture: scene, run.q[-1], ghosts=run.q[:250:45], turn=-70, tilt=14
