"""What rotors and links do to each other: S(q), C_rotor and C_carrier of H04 (3.15)-(3.18), (3.41)-(3.47)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.elastic.structure import rotor_factors
from gyrostat.algorithms.matrices.body_jacobians import weightless
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.configuration.packing import real_array
from gyrostat.errors import ShapeError, SpecError
from gyrostat.graph.network import Network
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


class RotorCoupling(NamedTuple):
    """n rates of joints, m rotors with a coordinate of their own, in the order of the model.

    ``S`` (..., n, m) [kg m^2]: block of the mass matrix between joints and rotors (3.41). For given rates, ``C_rotor``
    (..., n) [N m] is the gyroscopic torque of the spinning rotors on the joints (3.42), and ``C_carrier`` (..., m)
    [N m] what the motion of the links does to the rotors beside S^T q'' (3.46). Without rates both are coefficients of
    products of rates: C_rotor_i = sum of ``C_rotor[i, j, r]`` q'_j theta'_r (..., n, n, m), C_carrier_r = sum of
    ``C_carrier[r, j, k]`` q'_j q'_k (..., m, n, n)."""

    S: Array
    C_rotor: Array
    C_carrier: Array


def _count(net: Network) -> tuple[int, int]:
    m = len(net.model.shafts.rotors)
    return net.model.nv - m, m


def _carried(net: Network, on: Setting, q: Array, v: Array) -> Array:
    """(m,): torques that the rotors need because their carriers move so, rotors and accelerations at zero."""
    n, m = _count(net)
    zero = np.zeros(m)
    with_elements = sweep_forces(net, on, q, np.concatenate([v, zero]), np.zeros(n + m))[0]
    at_rest = sweep_forces(net, on, q, np.zeros(n + m), np.zeros(n + m))[0]
    return with_elements[n:] - at_rest[n:]


class RotorCouplingSolver(StateSolver):
    """Abstract: what both solvers share."""

    loops_hint = "elastic joints in loops need minimal coordinates"
    Result = RotorCoupling
    rate_axes = (("S", ()), ("C_rotor", ()), ("C_carrier", ()))

    def __init__(self, model: Model, **options: Any):
        expect_model(model, self.name)
        if not model.shafts.rotors:
            message = "has no rotor with a coordinate of its own; rotors of stiff drives are part of the mass matrix"
            remedy = "give a drive a stiffness: with_drive(..., stiffness=...)"
            raise SpecError.one(f"model '{model.name}'", "rotor-coupling", message, remedy)
        super().__init__(model, **options)


class RotorCouplingAt(RotorCouplingSolver):
    """S(q), C_rotor and C_carrier for the rates of the whole model; see :func:`rotor_coupling`."""

    name = "rotor_coupling"
    state = ("q", "v")
    __call__ = of_motion

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        n, _ = _count(net)
        on, q, v = weightless(on, on.representation), x["q"], x["v"]
        S, G = rotor_factors(net, on, q[: len(q) - len(v[n:])], v[:n], np.zeros(n))
        return {"S": S, "C_rotor": G @ v[n:], "C_carrier": _carried(_bare(net), on, q, v[:n])}


class RotorCouplingTerms(RotorCouplingSolver):
    """S(q) and the coefficients of C_rotor and C_carrier; see :func:`rotor_coupling`."""

    name = "rotor_coupling"
    state = ("q",)
    __call__ = of_configuration

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        n, m = _count(net)
        on, q = weightless(on, on.representation), x["q"]
        joints, bare = q[: len(q) - m], _bare(net)
        units, rest = np.eye(n), np.zeros(n)
        S, _ = rotor_factors(net, on, joints, rest, rest)
        C_rotor = np.stack([rotor_factors(net, on, joints, unit, rest)[1] for unit in units], axis=1)
        single = [_carried(bare, on, q, unit) for unit in units]
        C_carrier = np.zeros((m, n, n), dtype=np.result_type(np.asarray(q), np.float64))
        for j in range(n):
            C_carrier[:, j, j] = single[j]
            for k in range(j):
                both = _carried(bare, on, q, units[j] + units[k]) - single[j] - single[k]
                C_carrier[:, j, k] = C_carrier[:, k, j] = both * 0.5
        return {"S": S, "C_rotor": C_rotor, "C_carrier": C_carrier}


def _bare(net: Network) -> Network:
    """Without springs, friction and the like."""
    return replace(net, transmission=replace(net.transmission, elements=()))


def rotor_coupling(model: Model, q: Any, v: Any = None, **options: Any) -> RotorCoupling:
    """S(q), C_rotor and C_carrier of the rotors with a coordinate of their own; see :class:`RotorCoupling`.

    ``q`` (..., nq) of the whole model, or (..., n) of the joints: the angles of rotors do not matter. ``v`` (..., nv)
    of the whole model: without it, coefficients of the products of rates are returned."""
    solver = cached_solver(model, RotorCouplingTerms if v is None else RotorCouplingAt)
    if not isinstance(q, Mapping):
        q = _whole(model, q)
    return solver(q, **options) if v is None else solver(q, v, **options)


def _whole(model: Model, q: Any) -> Array:
    """q with zeros for the angles of rotors, where these are left out."""
    array, m = real_array(q, "rotor_coupling", "q"), len(model.shafts.rotors)
    if array.ndim == 0 or array.shape[-1] not in (model.nq, model.nq - m):
        raise ShapeError(
            f"rotor_coupling: q has shape {array.shape}, expected (..., {model.nq}), nq of '{model.name}', or "
            f"(..., {model.nq - m}) without the angles of rotors"
        )
    if array.shape[-1] == model.nq:
        return array
    return np.concatenate([array, np.zeros((*array.shape[:-1], m))], axis=-1)
