"""Sensitivities: how a motion changes with gains, masses and its start

Derivatives of the whole motion, exact for the steps that were taken, beside the run itself. They predict what another
gain would do. See [simulation](../reference/simulate.md#sensitivities).
"""

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

arm = gs.robots.two_link()


def law(t, q, v, k):
    return k * (np.array([0.8, -0.5]) - q) - 4.0 * v


t = np.linspace(0, 2, 201)
wanted = ["k", "lower.mass", "q0"]
run = gs.simulate(arm, law, t_eval=t, parameters={"k": 40.0}, sensitivities=wanted, rtol=1e-9, progress=False)
by_k, by_mass = run.sensitivities["k"].q, run.sensitivities["lower.mass"].q
again = gs.simulate(arm, law, t_eval=t, parameters={"k": 40.04}, rtol=1e-9, progress=False)
print(np.abs(again.q - run.q - 0.04 * by_k[:, :, 0]).max() < 1e-6)  # True

figure, axes = plt.subplots()
for k, joint in enumerate(arm.dofs):
    axes.plot(t, 40.0 * by_k[:, k, 0], label=f"{joint}, gain + 100 %")
    axes.plot(t, by_mass[:, k, 0], "--", label=f"{joint}, lower mass + 1 kg")
axes.set(xlabel="t [s]", ylabel="change of the angle, to first order [rad]", xlim=(0, 2))
axes.legend()
