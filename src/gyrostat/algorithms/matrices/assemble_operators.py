"""The stacked operators of a model at a state, assembled from the rows of its components.

Nothing here knows a component: the blocks are read off the rows of kinematics and Newton-Euler, by sending unit
messages through them (:mod:`~gyrostat.algorithms.matrices.operator_blocks`). So the identities of H04 test the
recursions, and a new component is in the operators as soon as it has its rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.operator_blocks import add_elements, read_blocks, rotor_axes, ties
from gyrostat.algorithms.matrices.operators import Operators
from gyrostat.graph.network import Network, network
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation as known_representation
from gyrostat.spec.model import Model


def assemble_operators(
    model: Model, q: Array, v: Array, *, representation: str, t: float, rules: Iterable[str]
) -> Operators:
    """Operators of a model at the state q (nq,), v (nv,)."""
    net = network(model, rules)
    net.refuse_loops("operators")
    on = Setting(known_representation(representation), gravity(model.context.gravity), t)
    b, T = read_blocks(net, on, q, v), ties(net)
    H, torques = add_elements(b, b.H @ T, q, v, model.dofs)
    rotors, H_r, moments = rotor_axes(b)
    T_r = T[[c.v_at.start for c, *_ in b.rotors]]
    operators = Operators(
        tuple(b.ports),
        model.dofs,
        representation,
        *_topology(net, len(b.ports)),
        T_phi=b.T_phi,
        H=H,
        M=b.M,
        V=b.V,
        v=v,
        **(b.stacks | {"A_gravity": np.zeros(len(b.V))}),
        parent=tuple(b.parent),
        rotors=rotors,
        H_r=H_r,
        I_r=np.diag(moments),
        T_r=T_r,
        u_given=T.T @ b.u_given + torques,
    )
    return replace(operators, A_gravity=operators.Phi @ b.stacks["A_gravity"])


def _topology(net: Network, N: int) -> tuple[Array, Array, Array, Array]:
    """C, PE, O, I over N ports; those beyond the network's are shafts."""
    C, unit = np.zeros((N, N)), np.eye(N)
    for source, fed in net.feeds.items():
        group = [source, *fed]
        for i in group:
            for j in group:
                C[i, j] = float(i != j)
    PE = np.zeros((N, len(net.components)))
    PE[np.arange(len(net.ports)), list(net.owner)] = 1.0
    inports = sorted(net.source)
    outports = [k for k in range(N) if k not in net.source]
    return C, PE, unit[:, outports], unit[:, inports]
