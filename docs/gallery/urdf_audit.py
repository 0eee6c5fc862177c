"""What is wrong with a URDF file: an audit

An inertia that no body can have, an axis of length 2. `gs.audit` says everything at once, by file
and line; `policy="repair"` mends what can be mended, and the torques change. See [read an
audit](../howto/read_an_audit.md).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import gyrostat as gs

TEXT = """<robot name="gripper">
  <link name="palm"/>
  <link name="finger"><inertial><mass value="2"/><origin xyz="0 0.05 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="palm"/><child link="finger"/><axis xyz="2 0 0"/>
    <limit lower="0" upper="1.5" effort="10" velocity="1"/></joint>
</robot>"""
audit = gs.audit_string(TEXT)
print([(finding.line, finding.rule) for finding in audit.errors])
# [(4, 'inertia-triangle'), (5, 'axis')]

with warnings.catch_warnings():
    warnings.simplefilter("ignore", gs.ModelWarning)
    taken = gs.load_string(TEXT)  # as it stands
mended = gs.load_string(TEXT, policy="repair")

t = np.linspace(0, 1, 201)
q, v, a = np.moveaxis(gs.trajectories.quintic([0.0], [1.5], 1.0).derivatives(t, 2), 1, 0)
as_it_stands, repaired = gs.rnea(taken, q, v, a), gs.rnea(mended, q, v, a)
print(np.abs(repaired - as_it_stands).max() > 0.2)  # True

figure, axes = plt.subplots()
axes.plot(t, as_it_stands, label="as it stands")
axes.plot(t, repaired, label="repaired")
axes.set(xlabel="t [s]", ylabel="torque of the joint [N m]", xlim=(0, 1))
axes.legend()
