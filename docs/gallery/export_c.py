"""Export C to a microcontroller

Inverse dynamics as C99: one function without loops, memory or libraries but `math.h`, and a test with vectors. How
long it is grows with the robot; what is fixed in the model is folded into its numbers. See [export
C](../howto/export_c.md).
"""

from pathlib import Path

import matplotlib.pyplot as plt

import gyrostat as gs

arm = gs.robots.two_link().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=100, viscous=0.5)
files = gs.InverseDynamics(arm).export_c("firmware", name="arm_torque")
print([file.name for file in files])  # ['arm_torque.h', 'arm_torque.c', 'arm_torque_test.c']

sizes = {}
for name, robot in (("two links", arm), ("arm6", gs.robots.arm6()), ("KUKA LWR 4+", gs.robots.kuka_lwr4())):
    source = gs.InverseDynamics(robot).export_c("firmware", name="torque")[1].read_text()
    sizes[name] = source.count("=")
print(Path("firmware/torque.c").is_file(), sizes["two links"] < sizes["arm6"])  # True True

figure, axes = plt.subplots(figsize=(6.4, 2.8))
bars = axes.barh(list(sizes), list(sizes.values()))
axes.bar_label(bars, padding=4)
axes.set(xlabel="assignments in the C function")
axes.invert_yaxis()
