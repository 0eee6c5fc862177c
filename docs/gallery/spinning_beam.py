"""Flexible link: a beam is spun up on a hinge

An arm of 8 m is brought to 4 rad/s within 15 s: Kane's classic test. It bends back while it accelerates, and is
straight again in the end, because the centrifugal force stiffens it; models without that effect fail here. See
[flexible beams](../reference/flexible_beams.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

section = {"area": 7.2968e-5, "I_y": 8.2181e-9, "I_z": 8.2181e-9, "J": 1.6e-8}
material = {"E": 6.8952e10, "G": 2.65e10, "density": 2766.67}
beam = gs.FlexibleBeam("beam", length=8.0, **section, **material, modes=(3, 0), modes_x=0)
hinge = gs.Joint("hinge", "revolute", axis="z")
arm = gs.assemble("arm", gs.chain("world", hinge, beam), gravity=(0, 0, 0))
w = 2 * np.pi / 15


def law(t, q, v):
    """A stiff controller at the hinge alone."""
    late = t > 15.0
    angle = np.where(late, 4 * t - 30.0, 4 / 15 * (t * t / 2 + (np.cos(w * t) - 1) / w**2))
    speed = np.where(late, 4.0, 4 / 15 * (t - np.sin(w * t) / w))
    return np.array([1e6, 0, 0, 0]) * (angle - q[0]) + np.array([1e5, 0, 0, 0]) * (speed - v[0])


t = np.linspace(0, 20, 801)
run = gs.simulate(arm, law, t_eval=t, method="radau", rtol=1e-6, progress=False)
tip = gs.fk(arm, run.q)["beam.b"].p
across = tip[:, 1] * np.cos(run.q[:, 0]) - tip[:, 0] * np.sin(run.q[:, 0])
print(f"bent by {-across.min():.2f} m")  # bent by 0.54 m
print(np.abs(across[-100:]).max() < 0.01)  # True

figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, across)
above.set_ylabel("tip, across the arm [m]")
below.plot(t, run.v[:, 0], color="C1")
below.set(xlabel="t [s]", ylabel="speed [rad/s]", xlim=(0, 20))
