"""The same tasks with Pinocchio or the Robotics Toolbox, as short as they can be written, for counting lines.

Those of Pinocchio alone are run, too: their numbers are ours. What the library itself lacks (a linear program for foot
forces, a controller's loop, a transcription of optimal control) is written out in NumPy, SciPy or CasADi, as its users
do."""

from __future__ import annotations

TALOS = """
model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
data = model.createData()
q = pin.neutral(model)
g = pin.computeGeneralizedGravity(model, data, q)
pin.computeJointJacobians(model, data, q)
pin.updateFramePlacements(model, data)
J = np.vstack([pin.getFrameJacobian(model, data, model.getFrameId(f), pin.LOCAL) for f in feet])
f = np.linalg.pinv(J[:, :6].T) @ g[:6]
tau = g[6:] - J[:, 6:].T @ f
"""

PAYLOAD = """
model = pin.buildModelFromUrdf(path)
hand = model.frames[model.getFrameId("panda_hand_tcp")]
load = pin.Inertia(2.0, np.array([0, 0, 0.05]), np.diag([0.01] * 3))
model.appendBodyToJoint(hand.parentJoint, load, hand.placement)
data = model.createData()
tau = pin.computeGeneralizedGravity(model, data, q)
"""

LOCKED = """
model = pin.buildModelFromUrdf(path)
joints = [model.getJointId(name) for name in ("panda_joint6", "panda_joint7")]
reduced = pin.buildReducedModel(model, joints, q)
data = reduced.createData()
M = pin.crba(reduced, data, q_reduced)
"""

LINE = """
panda = rtb.models.URDF.Panda()
start = panda.fkine(q)
target = start * SE3(0, 0.2, 0.1)
path = rtb.ctraj(start, target, 100)
motion = [q]
for T in path:
    motion.append(panda.ikine_LM(T, q0=motion[-1]).q)
"""

DRIVES = """
model = pin.buildModelFromUrdf(path)
hand = model.frames[model.getFrameId("panda_hand_tcp")]
load = pin.Inertia(2.0, np.array([0, 0, 0.05]), np.diag([0.01] * 3))
model.appendBodyToJoint(hand.parentJoint, load, hand.placement)
model.rotorInertia[:7], model.rotorGearRatio[:7] = 5e-5, 100.0
model.armature[:7] = model.rotorInertia[:7] * model.rotorGearRatio[:7] ** 2
data = model.createData()
motor = pin.rnea(model, data, q, v, a)[:7] / model.rotorGearRatio[:7]
"""

PD = """
model = pin.buildModelFromUrdf(path)
data = model.createData()
def reference(t):
    s = min(max(t, 0.0), 1.0)
    return q0 + d * (10 * s**3 - 15 * s**4 + 6 * s**5), d * (30 * s**2 - 60 * s**3 + 30 * s**4)
def slope(t, x):
    q, v = x[:9], x[9:]
    q_ref, v_ref = reference(t)
    tau = 200 * (q_ref - q) + 30 * (v_ref - v) + pin.computeGeneralizedGravity(model, data, q)
    return np.concatenate([v, pin.aba(model, data, q, v, tau)])
run = scipy.integrate.solve_ivp(slope, (0, 1.5), x0)
plt.plot(run.t, run.y[:9].T)
plt.plot(run.t, [reference(t)[0] for t in run.t], "--")
"""

IDENTIFICATION = """
model = pin.buildModelFromUrdf(path)
hand = model.frames[model.getFrameId("panda_hand_tcp")]
data = model.createData()
rows, rest = [], []
for q, v, a, tau in zip(Q, V, A, TAU):
    rest.append(tau - pin.rnea(model, data, q, v, a))
    rows.append(pin.computeJointTorqueRegressor(model, data, q, v, a)[:, 10 * (hand.parentJoint - 1):][:, :10])
p, *_ = np.linalg.lstsq(np.vstack(rows), np.concatenate(rest), rcond=None)
load = hand.placement.actInv(pin.Inertia.FromDynamicParameters(p))
"""

MONTE_CARLO = """
model = mujoco.MjModel.from_xml_path(path)
body = model.body("load").id
runs = []
for mass in masses:
    model.body_mass[body] = mass
    data = mujoco.MjData(model)
    data.qpos[:] = q0
    way = []
    for _ in range(500):
        data.ctrl[:] = 400 * (q0 - data.qpos) - 40 * data.qvel
        mujoco.mj_step(model, data)
        way.append(data.qpos.copy())
    runs.append(way)
low, mid, high = np.percentile(runs, [5, 50, 95], axis=0)
plt.fill_between(t, low[:, 0], high[:, 0])
plt.plot(t, mid[:, 0])
"""

C_CODE = """
model = cpin.Model(pin.buildModelFromUrdf(path))
data = model.createData()
q, v, a = (casadi.SX.sym(x, model.nv) for x in "qva")
code = casadi.CodeGenerator("panda.c", {"main": True, "with_header": True})
code.add(casadi.Function("rnea", [q, v, a], [cpin.rnea(model, data, q, v, a)]))
code.add(casadi.Function("crba", [q], [cpin.crba(model, data, q)]))
code.generate(folder)
Path(folder, "Makefile").write_text("libpanda.so: panda.c; $(CC) -O2 -shared -fPIC -o $@ $<")
"""

OPTIMAL = """
model = cpin.Model(pin.buildModelFromUrdf(path))
data = model.createData()
x, u = casadi.SX.sym("x", 4), casadi.SX.sym("u", 2)
f = casadi.Function("f", [x, u], [casadi.vertcat(x[2:], cpin.aba(model, data, x[:2], x[2:], u))])
cpin.framesForwardKinematics(model, data, x[:2])
tip = casadi.Function("tip", [x], [data.oMf[model.getFrameId("tip")].translation])
opti, N, h = casadi.Opti(), 20, 1.0 / 20
X, U = opti.variable(4, N + 1), opti.variable(2, N + 1)
for k in range(N):
    a, b = f(X[:, k], U[:, k]), f(X[:, k + 1], U[:, k + 1])
    m = f((X[:, k] + X[:, k + 1]) / 2 + h * (a - b) / 8, (U[:, k] + U[:, k + 1]) / 2)
    opti.subject_to(X[:, k + 1] == X[:, k] + h / 6 * (a + 4 * m + b))
    opti.subject_to(tip(X[:, k])[0] <= -0.3)
opti.subject_to(X[:, 0] == x0)
opti.subject_to(X[:, N] == x1)
opti.minimize(h * casadi.sumsqr(U))
opti.solver("ipopt")
found = opti.solve()
"""

PEERS = {
    "talos_gravity_compensation_with_foot_wrenches": ("Pinocchio", TALOS),
    "payload_on_a_panda_hand": ("Pinocchio", PAYLOAD),
    "locked_wrist": ("Pinocchio", LOCKED),
    "panda_along_a_line": ("Robotics Toolbox", LINE),
    "drives_on_a_loaded_panda": ("Pinocchio", DRIVES),
    "pd_control_with_a_plot": ("Pinocchio, SciPy", PD),
    "payload_identification": ("Pinocchio", IDENTIFICATION),
    "monte_carlo_with_a_plot": ("MuJoCo", MONTE_CARLO),
    "c_code_of_two_functions": ("Pinocchio, CasADi", C_CODE),
    "optimal_control_with_an_end_effector_constraint": ("Pinocchio, CasADi", OPTIMAL),
}
