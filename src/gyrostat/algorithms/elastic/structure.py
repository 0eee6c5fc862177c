"""Which rotors act on which joints, and how often what must be differentiated (H04 3.2.1.2, 3.2.1.6, (5.1)).

In the equation of a joint k stand the accelerations of the rotors r that are carried outboard of it, times S_kr(q), and
their rates, times what the gyroscopic torques give. Many of these factors are zero in every state: a rotor whose axis
is perpendicular to the joint's, for example. They are found by evaluating them in a few random states.

The torque of an elastic joint k is needed with alpha_k derivatives: two, because the motor accelerates its rotor; and
two more than alpha_j if the equation of joint j contains the acceleration of the rotor of k, one more if it contains
only its rate. The longest way through this graph gives the order; if there is a closed one, the torques are solutions
of differential equations, and there is no inverse by differentiation (H04: S(q) must be upper triangular)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gyrostat.algorithms.algorithm import Setting, defined_by
from gyrostat.algorithms.elastic.drives import ElasticDrive, expect_undamped, refused
from gyrostat.algorithms.elastic.drives import drives as elastic_drives
from gyrostat.algorithms.recursions.affine_number import Affine
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.configuration.deflections import flexible_links
from gyrostat.errors import SpecError
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.context import MovingBase
from gyrostat.spec.model import Model
from gyrostat.spec.rotor import RotorInertia

STATES = 4
"""Random states in which factors are evaluated."""
NEGLIGIBLE = 1e-10
"""Factors below this share of the rotor's inertia are zero, unless asked for otherwise."""
RATE, ACCELERATION = 1, 2


@dataclass(frozen=True)
class Structure:
    """``joints``: number of rates that belong to joints, those of rotors follow; ``drives`` by rate of the joint;
    ``acts[k, r]``: RATE or ACCELERATION, what of rotor r is in the equation of joint k; ``alpha``: how often the torque
    of each joint is differentiated."""

    joints: int
    drives: Mapping[int, ElasticDrive]
    acts: Mapping[tuple[int, int], int]
    alpha: tuple[int, ...]

    @property
    def order(self) -> int:
        """Highest derivative of the joint coordinates that is needed."""
        return 2 + max(self.alpha, default=0)

    @property
    def driver(self) -> dict[int, ElasticDrive]:
        """Drives by rate of the rotor."""
        return {drive.rotor: drive for drive in self.drives.values()}


def structure(nets: Sequence[Network], on: Setting, negligible: float = NEGLIGIBLE) -> Structure:
    """Of a network; the others have different live numbers: what is zero must be zero in all of them."""
    model = nets[0].model
    _expect_driven(model)
    joints = model.nv - len(model.shafts.rotors)
    drives = elastic_drives(nets[0], joints)
    for net in nets[1:]:
        expect_undamped(net, joints)
    acts: dict[tuple[int, int], int] = {}
    rng = np.random.default_rng(20)
    for _ in range(STATES if model.nv > joints else 0):
        state = rng.uniform(-3.0, 3.0, joints), rng.uniform(0.5, 1.5, joints), rng.uniform(0.5, 1.5, joints)
        then = replace(on, t=float(rng.uniform(0.5, 1.5)))
        for net in nets:
            for key, what in _acting(net, then, joints, *state, negligible).items():
                acts[key] = max(acts.get(key, 0), what)
    return Structure(joints, drives, acts, _alpha(model, joints, drives, acts))


def _expect_driven(model: Model) -> None:
    """Every coordinate must be one that can be prescribed."""
    if model.context.base == "free":
        message = "the base is free: its six coordinates have no motor, so that they cannot be prescribed"
        raise refused(f"model '{model.name}'", "elastic-base", message, "load it with base='fixed'")
    if isinstance(model.context.base, MovingBase):
        message = "the base is moved by a function, which gives its motion to second order only"
        raise refused(f"model '{model.name}'", "elastic-base", message, "take a fixed base, or a HarmonicMotion")
    for name in flexible_links(model):
        message = "its deflections have no motor: they follow from the motion, and cannot be prescribed"
        remedy = "gs.flexible.inverse_dynamics takes the motion of the joints; gs.flexible.rigid stiffens links"
        raise refused(f"flexible link '{name}'", "elastic-link", message, remedy)
    for block in model.layout.turning:
        message = "its coordinates are a quaternion, whose derivatives are no rates"
        remedy = "use joints with one rate for each coordinate"
        raise refused(f"joint '{block.entity}'", "elastic-joint", message, remedy)


# ------------------------------------------------------------------------------------------------ zeros
def rotor_factors(net: Network, on: Setting, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
    """d u / d theta'' = S (n, m) and d u / d theta' (n, m): factors of the accelerations and of the rates of the m
    rotors in the equations of the n joints, for q, v, a (n,) of the joints: H04 (3.41), and (3.42) without theta'."""
    n, m = len(v), net.model.nv - len(v)
    bare = replace(net, transmission=replace(net.transmission, elements=()))
    rates = np.array([*v, *(Affine(0.0, {k: 1.0}) for k in range(m))], dtype=object)
    changes = np.array([*a, *(Affine(0.0, {m + k: 1.0}) for k in range(m))], dtype=object)
    u = sweep_forces(bare, on, np.concatenate([q, np.zeros(m)]), rates, changes)[0][:n]
    terms = [x.terms if isinstance(x, Affine) else {} for x in u]
    both = [[[t.get(k, 0.0) for k in range(start, start + m)] for t in terms] for start in (m, 0)]
    S, G = (np.array(x).reshape(n, m) for x in both)
    return S, G


def _acting(
    net: Network, on: Setting, joints: int, q: Array, v: Array, a: Array, negligible: float
) -> dict[tuple[int, int], int]:
    """What of which rotor is in which equation, in one state."""
    S, G = rotor_factors(net, on, q, v, a)
    size = _inertias(net, joints) * negligible
    return {
        (k, joints + r): ACCELERATION if abs(S[k, r]) > size[r] else RATE
        for k, r in np.ndindex(S.shape)
        if abs(S[k, r]) > size[r] or abs(G[k, r]) > size[r]
    }


def _inertias(net: Network, joints: int) -> Array:
    """Inertia that turns with each rotor's rate."""
    inertias = np.full(net.model.nv - joints, 1e-300)
    for c in net.components:
        for ties in c.ties if defined_by(c) is RotorInertia else ():
            for k, factor in ties:
                if k >= joints:
                    inertias[k - joints] += abs(float(c["inertia"]) * float(factor))
    return inertias


# ------------------------------------------------------------------------------------------------ orders
def _alpha(
    model: Model, joints: int, drives: Mapping[int, ElasticDrive], acts: Mapping[tuple[int, int], int]
) -> tuple[int, ...]:
    """Derivatives of each joint's torque; the longest ways through the graph."""
    joint_of = {drive.rotor: drive.joint for drive in drives.values()}
    alpha = [2 if k in drives else 0 for k in range(joints)]
    for _ in range(joints + 1):
        changed = None
        for (k, r), what in acts.items():
            j = joint_of[r]
            if alpha[j] < alpha[k] + what:
                changed = k, j
                for other in drives[j].together:
                    alpha[other] = alpha[k] + what
        if changed is None:
            return tuple(alpha)
    raise _closed(model, joints, {(k, j) for k, r in acts for j in drives[joint_of[r]].together})


def _closed(model: Model, joints: int, edges: set[tuple[int, int]]) -> SpecError:
    """The error for rotors and joints that act on each other."""
    reach = {k: {j for i, j in edges if i == k} for k in range(joints)}
    for _ in range(joints):
        reach = {k: x.union(*(reach[j] for j in x)) for k, x in reach.items()}
    who = [model.dofs[k] for k in range(joints) if k in reach[k]]
    if len(who) == 1:
        message = f"the rotor of '{who[0]}' acts on the equation of its own joint, because that joint moves its carrier"
    else:
        message = f"the rotors of {', '.join(repr(x) for x in who)} act on each other's joints in a circle"
    message += ": the torques then solve differential equations, and no number of derivatives gives them"
    remedy = "mount rotors inboard of their joints, or neglect the coupling with reflected_inertia_only=True"
    return refused(f"model '{model.name}'", "elastic-order", message, remedy)
