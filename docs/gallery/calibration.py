"""Calibrate a robot: lengths, zero of an encoder, elasticity

A robot that was built a little differently from its drawing, and whose elbow bends under its load. From 40 measured
positions of the hand follow its real numbers, with deviations. See [calibration](../reference/calibration.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

shoulder = gs.Joint("shoulder", "revolute", axis="z", lower=-2.5, upper=2.5)
elbow = gs.Joint("elbow", "revolute", axis="y", lower=-2.0, upper=2.0)
column = gs.RigidBody("column", mass=60.0, inertia=(2.0, 2.0, 1.0))
foot = gs.Displacement("foot", translation=(0, 0, 0.6))
frames = {"tip": {"translation": (1.2, 0, 0.1)}}
arm = gs.RigidBody("arm", mass=90.0, com=(0.6, 0, 0), inertia=(1.0, 6.0, 6.0), frames=frames)
reach = gs.Displacement("reach", translation=(0.2, 0, 0))
drawn = gs.assemble("robot", gs.chain("world", foot, shoulder, column, reach, elbow, arm))
drawn = drawn.with_drive("elbow", gear_ratio=120.0, rotor_inertia=1e-3, stiffness=1.0e5)
real = drawn.replace({"reach.translation": (0.2012, 0.0, 0.0), "elbow_drive.spring.stiffness": 8.0e4})

rng = np.random.default_rng(0)
q = rng.uniform(-1.5, 1.5, (40, 2))
placed, _ = gs.studies.StaticPoses(real, ["arm.tip"]).rest(
    np.add(q, [0.0, 0.003])
)  # the encoder reads 3 mrad too little
seen = placed.p[:, 0] + 5e-5 * rng.normal(size=(40, 3))

unknown = ["elbow.offset", "reach.translation.x", "elbow_drive.spring.stiffness"]
found = gs.studies.calibrate(drawn, gs.studies.Points("arm.tip", q, seen, std=5e-5), unknown)
print(f"{1e3 * found['elbow.offset']:.1f} mrad, {1e3 * found['reach.translation.x']:.1f} mm")  # 3.0 mrad, 201.2 mm

before, _ = gs.studies.StaticPoses(drawn, ["arm.tip"]).rest(q)
after, _ = gs.studies.StaticPoses(found.model, ["arm.tip"]).rest(q)
figure, axes = plt.subplots()
for name, poses in (("as drawn", before), ("calibrated", after)):
    axes.semilogy(np.sort(1e3 * np.linalg.norm(poses.p[:, 0] - seen, axis=1)), "o-", markersize=3, label=name)
axes.set(xlabel="poses, sorted", ylabel="error of the hand [mm]")
axes.legend()
