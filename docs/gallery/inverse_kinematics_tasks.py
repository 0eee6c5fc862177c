"""Inverse kinematics as tasks: a humanoid squats and keeps its balance

Feet stay where they are, the centre of mass stays above them, the torso goes down: tasks with weights, joint limits
as constraints. Joints that no task needs keep still. See [tasks](../reference/tasks.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

robot = gs.robots.humanoid()
q = gs.neutral(robot)
q[7:] = [0, 0, -0.3, 0.6, -0.3, 0] * 2
feet = [gs.tasks.Frame(f"{side}_foot.sole", name=side, position=10, orientation=10) for side in ("left", "right")]
torso = gs.tasks.Frame("torso.origin", name="torso", position=[0, 0, 1], orientation=0.1)
balance = gs.tasks.CenterOfMass(name="balance", weight=[1, 1, 0])
stack = gs.tasks.Stack(robot, [*feet, torso, balance])
stack.aim_here(q)

poses, heights = [], np.linspace(0, -0.22, 23)
low = gs.fk(robot, q)["torso.origin"].matrix
start = gs.center_of_mass(robot, q)
for height in heights:
    target = low.copy()
    target[2, 3] += height
    found = stack.solve(q, {"torso": target})
    q = found.q
    poses.append(q)
poses = np.array(poses)
away = gs.center_of_mass(robot, poses) - start
print(np.abs(away[:, :2]).max() < 1e-3, found.reached["left"])  # True True

figure, axes = plt.subplots()
for k, joint in ((9, "hip"), (10, "knee"), (11, "ankle")):
    axes.plot(100 * heights, np.degrees(poses[:, k]), label=joint)
axes.set(xlabel="height of the torso [cm]", ylabel="angle of the left leg [deg]")
axes.invert_xaxis()
axes.legend()
# picture: robot, poses[-1], ghosts=poses[:1], turn=-25
