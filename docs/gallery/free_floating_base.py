"""A robot in orbit: the satellite turns when its arm moves

An arm on a free satellite, without gravity: nothing acts from outside, momentum stays zero, and the satellite turns
against the motion of its arm. See [dynamics](../reference/dynamics.md), [a space
manipulator](../experiments/space_manipulator.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs


def rod(name):
    side = gs.rpy(0, np.pi / 2, 0)
    shape = gs.Shape(
        kind="capsule", size=(0.07, 0.8), rotation=side, translation=(0.5, 0, 0), color=(0.85, 0.5, 0.2, 1)
    )
    frames = {"end": (1, 0, 0)}
    return gs.RigidBody(name, mass=20.0, com=(0.5, 0, 0), inertia=(0.1, 1.7, 1.7), frames=frames, shapes=[shape])


cube = gs.Shape(kind="box", size=(1, 1, 1), color=(0.6, 0.65, 0.7, 1))
bus = gs.RigidBody("bus", mass=200.0, inertia=(33, 33, 33), shapes=[cube], frames={"mount": (0.5, 0, 0)})
free, shoulder, elbow = gs.Joint("base", "free"), *(gs.Joint(x, "revolute", axis="z") for x in ("shoulder", "elbow"))
robot = gs.assemble(
    "satellite",
    gs.chain("world", free, bus, "mount", shoulder, rod("upper"), elbow, rod("lower")),
    gravity=(0, 0, 0),
)
begin, end = np.array([0.2, -0.3]), np.array([2.0, 1.2])


def law(t, q, v):
    """Motors at the joints alone."""
    s = np.clip(t / 4.0, 0.0, 1.0)
    goal = begin + (end - begin) * s**3 * (10 - 15 * s + 6 * s * s)
    return np.concatenate([np.zeros(6), 4000.0 * (goal - q[7:]) - 800.0 * v[6:]])


q0 = np.concatenate([gs.neutral(robot)[:7], begin])
t = np.linspace(0, 5, 251)
run = gs.simulate(robot, law, q0=q0, t_eval=t, method="radau", rtol=1e-8, progress=False)
momentum = gs.centroidal_momentum(robot, run.q, run.v)
turn = 2 * np.degrees(np.arctan2(run.q[:, 5], run.q[:, 6]))
print(np.abs(momentum).max() < 1e-6, f"{turn[-1]:.0f} deg")  # True -64 deg

figure, axes = plt.subplots()
axes.plot(t, np.degrees(run.q[:, 7:]), label=["shoulder", "elbow"])
axes.plot(t, turn, label="satellite")
axes.set(xlabel="t [s]", ylabel="angle [deg]", xlim=(0, 5))
axes.legend()
# picture: robot, run.q[-1], ghosts=[run.q[0]], turn=-20, tilt=40
