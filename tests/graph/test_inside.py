"""Entities that are made of others: one entity, several components, against the same mechanism written out by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.graph.rewrite import DEFAULT, RULES
from tests.support.comparing import assert_close
from tests.support.inside_models import arm, in_cut

BEAM = in_cut()
PORTS = {"boom.a": "piece0.origin", "boom.mid": "piece1.mid", "boom.b": "piece2.b"}
ENTERED = ["a", "b", "mid"]


@cache
def pair(by: str = "a", base: str = "fixed") -> tuple[gs.Model, gs.Model]:
    return arm(BEAM, by, base=base), arm(BEAM, by, out=True, base=base)


def order(names: tuple[str, ...], others: tuple[str, ...]) -> list[int]:
    """Where the coordinates of one model are in the other."""
    return [others.index(name.removeprefix("boom.")) for name in names]


def states(model: gs.Model, by_hand: gs.Model, seed: int = 1) -> tuple[list[np.ndarray], list[np.ndarray], list[int]]:
    rng = np.random.default_rng(seed)
    q, v, a = gs.random_configuration(model, rng), *rng.normal(size=(2, model.nv))
    iq, iv = order(model.coordinates, by_hand.coordinates), order(model.dofs, by_hand.dofs)
    there = []
    for x, at in ((q, iq), (v, iv), (a, iv)):
        y = np.empty_like(x)
        y[at] = x
        there.append(y)
    return [q, v, a], there, iv


def test_the_state_is_that_of_the_entity():
    model, _ = pair()
    names = [f"boom.r{x}" for x in ("z1", "y1", "x1", "x2", "y2", "z2")]  # in turns: the order cancels
    assert list(model.coordinates) == ["shoulder", *names, "wrist"]
    assert gs.network(model).transmission.slices["boom"] == (slice(1, 7), slice(1, 7))


@pytest.mark.by_default(1)
@pytest.mark.parametrize("by", ENTERED)
def test_ports_of_the_entity_and_no_others_are_located(by):
    model, by_hand = pair(by)
    net = gs.network(model)
    assert {name for name in net.located if name.startswith("boom.")} == {"boom.a", "boom.mid", "boom.b"}
    (q, *_), (there, *_), _ = states(model, by_hand)
    here, other = gs.ForwardKinematics(model)(q), gs.ForwardKinematics(by_hand)(there)
    for port, inner in (*PORTS.items(), ("hand.tip", "hand.tip")):
        assert_close(here[port].p, other[inner].p, 1e-13)
        assert_close(here[port].R, other[inner].R, 1e-13)


def test_parts_are_told_by_names_that_begin_with_that_of_the_entity():
    net = gs.network(pair()[0])
    assert [c.name for c in net.components if c.name.startswith("boom.")][:5] == [
        "boom.rz1", "boom.ry1", "boom.rx1", "boom.piece1", "boom.rx2"
    ]  # fmt: skip
    assert "body 'boom.piece0' merged into 'hub'" in net.explain()
    assert "boom.rz1 -> boom.ry1" in net.explain()


@pytest.mark.by_default(1)
@pytest.mark.parametrize("base", ["fixed", pytest.param("free", marks=pytest.mark.slow)])
@pytest.mark.parametrize("by", ENTERED)
def test_every_dynamics_algorithm_is_that_of_the_mechanism_written_out(by, base):
    model, by_hand = pair(by, base)
    (q, v, a), (q_, v_, a_), at = states(model, by_hand)
    tau = gs.rnea(model, q, v, a)
    assert_close(tau, gs.rnea(by_hand, q_, v_, a_)[at], 1e-12)
    M = gs.crba(by_hand, q_)[np.ix_(at, at)]
    for algorithm in gs.MassMatrix.algorithms:
        assert_close(gs.MassMatrix(model, algorithm)(q), M, 1e-12)
    for algorithm in gs.ForwardDynamics.algorithms:
        got = gs.ForwardDynamics(model, algorithm)(q, v, tau)
        assert_close(got, gs.ForwardDynamics(by_hand, algorithm)(q_, v_, tau[np.argsort(at)])[at], 1e-12)
        assert_close(got, a, 1e-9)  # the mass matrix loses five digits


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules", [(), DEFAULT, tuple(RULES), *[tuple(r for r in DEFAULT if r != left) for left in DEFAULT]]
)
def test_every_rule_may_be_left_out(rules):
    model, by_hand = pair()
    (q, v, a), (q_, v_, a_), at = states(model, by_hand)
    assert_close(gs.InverseDynamics(model, rules=rules)(q, v, a), gs.rnea(by_hand, q_, v_, a_)[at], 1e-12)


@pytest.mark.parametrize("representation", ["body", "inertial", "absolute"])
def test_every_representation(representation):
    model, by_hand = pair("b")
    (q, v, a), (q_, v_, a_), at = states(model, by_hand)
    assert_close(gs.InverseDynamics(model, representation)(q, v, a), gs.rnea(by_hand, q_, v_, a_)[at], 1e-12)


def flat(x: Any) -> np.ndarray:
    if isinstance(x, dict):
        return np.concatenate([flat(y) for y in x.values()] or [np.zeros(0)])
    if isinstance(x, tuple | list):
        return np.concatenate([flat(y) for y in x] or [np.zeros(0)])
    if hasattr(x, "__dataclass_fields__"):
        return flat([getattr(x, key) for key in x.__dataclass_fields__])
    return np.ravel(np.asarray(x, dtype=float)) if x is not None and not isinstance(x, str) else np.zeros(0)


SOLVERS: dict[str, dict[str, Any]] = {
    "KineticEnergy": {},
    "PotentialEnergy": {},
    "Coriolis": {},
    "EquationsOfMotion": {},
    "InverseMassMatrix": {},
    "TotalInertia": {},
    "CentroidalMomentumRate": {},
    "CenterOfMass": {},
    "InverseDynamicsDerivatives": {},
    "ForwardDynamicsDerivatives": {},
    "Jacobian": {"frame": "hand.tip"},
    "JacobianRate": {"frame": "hand.tip"},
    "GravityForces": {},
    "Bias": {},
    "CentroidalMomentum": {},
    "InverseOperationalInertia": {"contacts": {"hand.tip": "point"}},
}


@pytest.mark.by_default(8)
@pytest.mark.parametrize("name", SOLVERS)
def test_other_solvers_are_those_of_the_mechanism_written_out(name):
    model, by_hand = pair()  # entered by a: coordinates in the same order
    (q, v, a), *_ = states(model, by_hand)
    here, there = (getattr(gs, name)(m, **SOLVERS[name]) for m in (model, by_hand))
    state = [{"q": q, "v": v, "a": a, "tau": a}[key] for key in here.state]
    assert_close(flat(here(*state)), flat(there(*state)), 1e-11)


def test_port_forces_have_those_of_the_entity_and_of_what_is_inside():
    model, by_hand = pair()
    (q, v, a), (q_, v_, a_), _ = states(model, by_hand)
    here, there = gs.InverseDynamics(model).port_forces(q, v, a), gs.InverseDynamics(by_hand).port_forces(q_, v_, a_)
    for port, inner in (*PORTS.items(), ("boom.rz2.a", "rz2.a")):
        assert_close(here[port], there[inner], 1e-12)


def test_wrenches_at_its_ports_act():
    model, by_hand = pair("b")
    (q, v, a), (q_, v_, a_), at = states(model, by_hand)
    w = np.arange(1.0, 7.0)
    for port, inner in PORTS.items():
        tau = gs.rnea(by_hand, q_, v_, a_, wrenches={inner: w})[at]
        assert_close(gs.rnea(model, q, v, a, wrenches={port: w}), tau, 1e-12)


LIVE = {"boom.E": 5e6, "boom.length": 0.9, "boom.density": 3000.0, "boom.I_z": 7e-5, "boom.damping": 1e-3}


def test_properties_are_live():
    model, by_hand = pair()
    changed = BEAM.model_copy(update={path.removeprefix("boom."): x for path, x in LIVE.items()})
    (q, v, a), *_ = states(model, by_hand)
    solver = gs.InverseDynamics(model, live=list(LIVE))
    solver.refresh(model.replace(LIVE))
    assert_close(solver(q, v, a), gs.rnea(arm(changed, "a", out=True), q, v, a), 1e-12)


def test_forces_by_properties_are_those_of_differences():
    model, by_hand = pair()
    (q, v, a), *_ = states(model, by_hand)
    J = gs.ParameterDerivatives(model, parameters=["boom.E", "boom.length"])(q, v, a)
    for k, (key, h) in enumerate((("E", 1e3), ("length", 1e-6))):
        x = getattr(BEAM, key)
        plus, minus = (gs.rnea(arm(BEAM.model_copy(update={key: x + s * h})), q, v, a) for s in (1, -1))
        assert_close(J[:, k] * x, (plus - minus) * x / (2 * h), 1e-8)


def test_a_motion_is_that_of_the_mechanism_written_out():
    model, by_hand = pair()
    q, *_ = states(model, by_hand)[0]
    q = 0.1 * q
    runs = [
        gs.simulate(m, None, q, np.zeros(m.nv), 0.05, method="radau", rtol=1e-9, progress=False)
        for m in (model, by_hand)
    ]
    assert_close(runs[0].q[-1], runs[1].q[-1], 1e-8)


def test_what_does_not_fit_is_told():
    class Miscounted(gs.FlexibleBeam):
        coordinates = property(lambda self: ("one",))  # type: ignore[assignment]
        rates = coordinates  # type: ignore[assignment]

    model = arm(Miscounted(**{key: getattr(BEAM, key) for key in BEAM.model_fields_set}))
    with pytest.raises(gs.SpecError, match="miscounted 'boom': has 1 coordinates and 1 rates, what is inside 6 and 6"):
        gs.network(model)
