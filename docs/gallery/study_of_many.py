"""A study of many: which mass makes the robot sag?

A job says what to compute about which robot, as data; a study does it at many points, here 400 of a Latin hypercube,
side by side in machine code. With a store it goes on where it was interrupted. See [studies of
many](../reference/studies_of_many.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

law = {"kind": "pd", "kp": 50, "kd": 5, "reference": [0.5, -0.5]}
job = gs.Job(
    gs.robots.two_link(),
    "rollout",
    inputs={"torque": law, "steps": 400, "dt": 2e-3, "q0": [0, 0]},
    outputs={"dip": "min q.elbow", "end": "final q.shoulder"},
)
ranges = {"upper.mass": (1.0, 3.0), "lower.mass": (0.5, 2.0)}
result = gs.studies.Study(job, lhs=ranges, count=400).run()
print(result)  # <study of 'two_link': 400 points, 0 failed>
masses = {path: np.array([run.inputs[path] for run in result.runs]) for path in ranges}
end, dip = result.values("end"), result.values("dip")
print(abs(np.corrcoef(masses["lower.mass"], end)[0, 1]) > 0.9)  # True

figure, panels = plt.subplots(1, 2, sharey=True)
for axes, path in zip(panels, ranges, strict=True):
    shown = axes.scatter(masses[path], end, c=dip, s=8)
    axes.set_xlabel(f"{path} [kg]")
panels[0].set_ylabel("shoulder after 0.8 s [rad]")
figure.colorbar(shown, label="lowest angle of the elbow [rad]")
