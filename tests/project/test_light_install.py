"""What is no requirement is not needed: derivatives, simulation and export work without CasADi, and who asks for CasADi
is told what to install."""

import subprocess
import sys

CORE = """
import sys
sys.modules["casadi"] = None  # as if it were not installed
import numpy as np
import gyrostat as gs
arm = gs.robots.two_link().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=50.0, stiffness=300.0)
state = [np.full(n, 0.3) for n in (arm.nq, arm.nv, arm.nv)]
solver = gs.InverseDynamics(arm, live=["lower.mass"])
print(solver.jacobian("tau", "q")(*state).shape, solver.jacobian("tau", "lower.mass")(*state).shape)
print(gs.aba_derivatives(arm, *state).da_dq.shape)
run = gs.simulate(arm, lambda t, q, v: -np.tanh(q) - v, q0=state[0], t_end=0.1, method="bdf")
print(len(run.t) > 1)
try:
    solver.casadi()
except gs.GyrostatError as error:
    print(error)
"""


def test_derivatives_and_implicit_runs_need_no_casadi_and_its_functions_say_what_to_install():
    answer = subprocess.run([sys.executable, "-c", CORE], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.splitlines()
    assert lines[0] == "(3, 3) (3,)" and lines[1] == "(3, 3)"
    assert lines[2] == "True"
    assert lines[-1].startswith("CasADi is not installed") and "pip install 'gyrostat[casadi]'" in lines[-1]
