"""Frequencies and Bode plot of a flexible crane

Elastic drive, flexible boom, load: natural frequencies, and the response from the torque of the motor to the load,
with and without a controller. See [frequencies](../reference/frequencies.md).
"""

import numpy as np

import gyrostat as gs

tube = gs.sections.tube(diameter=0.05, thickness=0.002)
boom = gs.FlexibleBeam("boom", length=1.5, section=tube, E=7e10, G=2.7e10, density=2700.0, modes=(2, 2), damping=1e-4)
tilt, load = gs.Joint("tilt", "revolute", axis="y"), gs.RigidBody("load", mass=2.0, inertia=(0.01, 0.01, 0.01))
crane = gs.assemble("crane", gs.chain("world", tilt, boom, load))
crane = crane.with_drive("tilt", rotor_inertia=2e-4, gear_ratio=100, stiffness=8000.0)

held = gs.eigenfrequencies(crane, [0.3], locked=["tilt_drive.rotor"])
print(held.undamped[:3].round(2))
# [ 4.8   7.73 77.15]

kp, kd = np.zeros((2, crane.nv))
kp[-1], kd[-1] = 5.0, 0.1  # at the motor, which is the last coordinate
pd = gs.blocks.pd(kp, kd, np.zeros(crane.nv))
hz = np.geomspace(0.5, 100.0, 600)
response = gs.frequency_response(crane, [0.3], ["tilt_drive.motor"], ["load.z", "tilt"], hz, pd)
print(response.stable)  # True
figure = response.plot()
