"""Optimal control of your own with CasADi and Ipopt

`solver.casadi()` is the robot as a function of CasADi, with exact derivatives: here inside a programme written by
hand, that takes an arm from rest to rest with the least integral of the squared torques. See [solvers inside
CasADi](../howto/casadi.md).
"""

import casadi as ca
import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.two_link()
torque = gs.InverseDynamics(arm).casadi()
n, h = 40, 1.0 / 40
opti = ca.Opti()
q, v, a = opti.variable(2, n + 1), opti.variable(2, n + 1), opti.variable(2, n + 1)
tau = torque.map(n + 1)(q, v, a)
opti.minimize(h * ca.sumsqr(tau))
opti.subject_to(v[:, 1:] == v[:, :-1] + h / 2 * (a[:, 1:] + a[:, :-1]))
opti.subject_to(q[:, 1:] == q[:, :-1] + h * v[:, :-1] + h * h / 6 * (2 * a[:, :-1] + a[:, 1:]))
for node, angles in ((0, [0.0, 0.0]), (n, [2.0, -1.0])):
    opti.subject_to(q[:, node] == angles)
    opti.subject_to(v[:, node] == 0)
opti.subject_to(opti.bounded(-20, ca.vec(tau), 20))
opti.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
found = opti.solve()
Q, V, A = (found.value(x).T for x in (q, v, a))
print(found.stats()["return_status"], np.abs(gs.rnea(arm, Q, V, A)).max() < 20.001)  # Solve_Succeeded True

t = np.linspace(0, 1, n + 1)
figure, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(t, Q, label=arm.dofs)
above.set_ylabel("angle [rad]")
above.legend()
below.plot(t, gs.rnea(arm, Q, V, A))
below.set(xlabel="t [s]", ylabel="torque [N m]", xlim=(0, 1))
# picture: arm, Q[-1], ghosts=Q[:-5:12], turn=-8, tilt=6
