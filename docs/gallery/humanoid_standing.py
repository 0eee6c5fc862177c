"""A humanoid shifts its weight: torques, foot forces, balance

Feet stay, the centre of mass moves to the left, by tasks. Inverse dynamics with contacts gives torques of the joints
and forces of the feet; the centre of pressure tells how far the robot is from tipping over. See
[contact](../reference/contact.md), [robots on legs](../reference/legs.md).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

robot = gs.robots.humanoid()
soles = ["left_foot.sole", "right_foot.sole"]
q = gs.neutral(robot)
q[7:] = [0, 0, -0.3, 0.6, -0.3, 0] * 2
feet = [gs.tasks.Frame(sole, name=sole, position=10, orientation=10) for sole in soles]
stack = gs.tasks.Stack(robot, [*feet, gs.tasks.CenterOfMass(name="mass"), gs.tasks.Posture(name="rest", weight=1e-3)])
stack.aim_here(q)
middle = gs.center_of_mass(robot, q)
grip = [gs.FrameContact(sole, "fixed") for sole in soles]

share, pressure, poses = [], [], []
for shift in np.linspace(0, 0.08, 9):
    q = stack.solve(q, {"mass": np.add(middle, [0, shift, 0])}).q
    found = gs.rnea(robot, q, np.zeros(18), np.zeros(18), contacts=grip)
    place = gs.center_of_pressure(robot, q, {sole: found.forces[sole] for sole in soles})
    share.append([found.forces[sole][5] for sole in soles])
    pressure.append(place[1] - gs.center_of_mass(robot, q)[1])
    poses.append(q)
print(np.abs(pressure).max() < 1e-6, np.ptp(np.sum(share, axis=1)) < 1e-6)  # True True

figure, axes = plt.subplots()
axes.plot(np.linspace(0, 8, 9), share, "o-", label=["left foot", "right foot"])
axes.set(xlabel="centre of mass to the left [cm]", ylabel="force of the ground [N]", ylim=(0, None))
axes.legend()
# picture: robot, poses[-1], ghosts=poses[:1], turn=60
