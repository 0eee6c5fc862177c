"""Export an FMU for Simulink and Modelica tools

A controlled arm as a Functional Mock-up Unit: equations in C, units, tunable parameters, exact directional
derivatives. Driven by FMPy it moves as in `gs.simulate`. See [FMUs](../reference/fmi.md).
"""

import matplotlib.pyplot as plt
import numpy as np
from fmpy import simulate_fmu

import gyrostat as gs

arm = gs.robots.two_link().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=50.0, viscous=0.1)


def law(t, q, v, kp=20.0):
    return kp * (0.3 * np.sin(3.0 * t) - q) - 2.0 * v


made = gs.export_fmu(arm, "arm.fmu", torque=law, q0=[0.3, -0.4], outputs=["q", "tau"], parameters=["kp"])
print(made.states)  # ('q[shoulder]', 'q[elbow]', 'v[shoulder]', 'v[elbow]')

figure, axes = plt.subplots()
apart = []
for k, kp in enumerate((20.0, 60.0)):
    rows = simulate_fmu("arm.fmu", stop_time=2.0, output_interval=0.01, start_values={"kp": kp})
    run = gs.simulate(arm, law, q0=[0.3, -0.4], t_eval=rows["time"], parameters={"kp": kp}, rtol=1e-10, progress=False)
    axes.plot(rows["time"], rows["q[elbow]"], f"C{k}", label=f"FMU, kp = {kp:.0f}")
    axes.plot(run.t[::10], run.q[::10, 1], f"C{k}o", markersize=4, label="gs.simulate")
    apart.append(np.abs(run.q[:, 1] - rows["q[elbow]"]).max())
print(max(apart) < 1e-6)  # True
axes.set(xlabel="t [s]", ylabel="angle of the elbow [rad]", xlim=(0, 2))
axes.legend(ncols=2)
