"""Design: what more payload costs

Masses and lengths of a robot are unknowns by their paths. Of the designs on a front none is better in both respects:
more payload, less torque to hold it. See [design](../reference/design.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

stretched = [np.pi / 2, 0.0]


def holding(model):
    """Torque that holds the arm stretched out."""
    return abs(gs.gravity(model, stretched)[0])


arm = gs.robots.two_link()
front = gs.studies.pareto(
    arm,
    {"upper.mass": (1.0, 8.0), "lower.mass": (0.5, 4.0)},
    {"holding torque [N m]": holding, "minus payload [kg]": lambda m: -m["lower.mass"]},
    constraints={"stiff enough": lambda m: 2.0 - m["upper.mass"]},
    points=6,
)
torque, payload = front.values[:, 0], -front.values[:, 1]
print(front.finished, (np.diff(torque[np.argsort(payload)]) > 0).all())  # True True

figure, axes = plt.subplots()
axes.plot(payload, torque, "o-")
axes.set(xlabel="mass of the lower link [kg]", ylabel="torque that holds it [N m]")
