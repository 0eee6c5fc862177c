"""Closed loops in minimal coordinates, in every public solver: against the same mechanism with its loops open, whose
motion is put together here by Newton's method and from Jacobians of the frames that close them."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.solvers import test_followers_in_every_solver as followers
from tests.support.comparing import assert_close
from tests.support.loop_models import LOOPS
from tests.support.solver_zoo import solver_classes

H = 1e-5
SPATIAL = ("rod, turning", "rod, sliding", "two rods")
MODELS = ("four-bar", "parallelogram", "five-bar", "slider-crank", "cylinder", *SPATIAL, "universal rod", "stewart")
FRAME = {
    "four-bar": "coupler.tip",
    "parallelogram": "coupler.tip",
    "five-bar": "p1.tip",
    "slider-crank": "conrod.tip",
    "cylinder": "boom.eye",
    "rod, turning": "second.ball",
    "rod, sliding": "second.ball",
    "two rods": "hand.ear",
    "universal rod": "link.ball",
    "stewart": "upper2.origin",
}


class Opened:
    """A mechanism, and ``free``: the same without the joints and rods that close its loops."""

    def __init__(self, name, **options):
        self.model = LOOPS[name](loops="minimal", **options)
        self.closers = [(loop.closer, loop.frames) for loop in self.model.wiring.tree.loops]
        gone = {closer for closer, _ in self.closers}
        kept = tuple(e for e in self.model.entities if e.name not in gone)
        ends = {f"{closer}.{port}" for closer in gone for port in "ab"}
        links = [tuple(p for p in c if p not in ends) for c in self.model.connections]
        context = self.model.context.model_copy(update={"independent": (), "reference": {}})
        self.free = gs.Model(self.model.name, kept, [c for c in links if len(c) > 1], context)
        self.unknown = [k for k, name in enumerate(self.free.dofs) if name not in self.model.dofs]
        self.known = [self.free.dofs.index(name) for name in self.model.dofs]
        self.places = [self.free.coordinates.index(self.free.dofs[k]) for k in self.unknown]
        reference = self.model.layout.plan
        self.start = dict(zip(reference.tree.coordinates, reference.reference, strict=True))

    def _rows(self, q, v):
        """Residuals, J and dJ/dt of all loops, over the rates of the free mechanism."""
        frames = gs.fk(self.free, q)
        g, J, J_rate = [], [], []
        for closer, (a, b) in self.closers:
            r = frames[b].p - frames[a].p
            Jr = (
                gs.jacobian(self.free, q, b, expressed_in="aligned")
                - gs.jacobian(self.free, q, a, expressed_in="aligned")
            )[3:]
            Jt = (
                gs.jacobian_rate(self.free, q, v, b, expressed_in="aligned")
                - gs.jacobian_rate(self.free, q, v, a, expressed_in="aligned")
            )[3:]
            entity = self.model.wiring.entities[closer]
            if isinstance(entity, gs.ConnectingRod):
                g.append([(r @ r - entity.length**2) / 2.0])
                J.append(r[None] @ Jr)
                J_rate.append((Jr @ v)[None] @ Jr + r[None] @ Jt)
            else:
                g, J, J_rate = [*g, r], [*J, Jr], [*J_rate, Jt]
        return np.concatenate(g), np.concatenate(J), np.concatenate(J_rate)

    def q(self, q):
        own = self.start | dict(zip(self.model.coordinates, q, strict=True))
        x = np.array([own[name] for name in self.free.coordinates])
        rest = np.zeros(self.free.nv)
        for _ in range(50):
            g, J, _ = self._rows(x, rest)
            x[self.places] -= np.linalg.lstsq(J[:, self.unknown], g, rcond=1e-10)[0]
            if np.abs(g).max() < 1e-14:
                break
        assert np.abs(g).max() < 1e-12
        return x

    def G(self, q):
        _, J, _ = self._rows(self.q(q), np.zeros(self.free.nv))
        G = np.zeros((self.free.nv, self.model.nv))
        G[self.known] = np.eye(self.model.nv)
        G[self.unknown] = -np.linalg.lstsq(J[:, self.unknown], J[:, self.known], rcond=1e-10)[0]
        return G

    def G_rate(self, q, v):
        G = self.G(q)
        _, J, J_rate = self._rows(self.q(q), G @ v)
        rate = np.zeros_like(G)
        rate[self.unknown] = -np.linalg.lstsq(J[:, self.unknown], J_rate @ G, rcond=1e-10)[0]
        return rate

    motion, tau, M = followers.Reduced.motion, followers.Reduced.tau, followers.Reduced.M


def ask_parameter_derivatives(r, name, q, v, a):
    """By the mass of a body, and by a length in a loop."""
    body = FRAME[name].partition(".")[0]
    mine = gs.ParameterDerivatives(r.model, [f"{body}.mass"], mode="interpret")(q, v, a)[:, 0]
    free = gs.ParameterDerivatives(r.free, [f"{body}.mass"])(*r.motion(q, v, a))[:, 0]
    assert_close(mine, r.G(q).T @ free, 1e-10)


def ask_elastic_inverse_dynamics(r, name, q, v, a):
    if name == "stewart":
        with pytest.raises(gs.SpecError, match=r"quaternion|free"):
            gs.ElasticInverseDynamics(r.model)
        return
    assert_close(gs.ElasticInverseDynamics(r.model, mode="interpret")([q, v, a]).tau_motor, r.tau(q, v, a), 1e-10)


def ask_parameter_jacobian(r, name, q, v, a):
    """A frame that closes no loop moves as it does in the open mechanism."""
    model = r.model
    body = FRAME[name].partition(".")[0]
    path = [f"{body}.com"]
    assert_close(gs.ParameterJacobian(model, FRAME[name], path, mode="interpret")(q), np.zeros((6, 3)), 1e-12)


OWN = {
    "ParameterDerivatives": ask_parameter_derivatives,
    "ElasticInverseDynamics": ask_elastic_inverse_dynamics,
    "ParameterJacobian": ask_parameter_jacobian,
}


# a platform on six legs takes seconds in each: few of its solvers run by default
OFTEN = ("ForwardDynamics", "InverseDynamics", "MassMatrix", "Jacobian")


@pytest.mark.by_default(19)
@pytest.mark.parametrize(
    ("solver", "name"),
    [
        pytest.param(solver, name, marks=[pytest.mark.slow] if name == "stewart" and solver not in OFTEN else [])
        for solver in solver_classes()
        for name in MODELS
    ],
)
def test_every_solver_moves_closed_loops(solver, name, monkeypatch):
    monkeypatch.setitem(followers.FRAME, name, FRAME[name])
    monkeypatch.setitem(followers.BODY, name, FRAME[name].partition(".")[0])
    r = Opened(name)
    rng = np.random.default_rng(11)
    q = gs.integrate(r.model, gs.neutral(r.model), 0.05 * rng.normal(size=r.model.nv))
    v, a = rng.normal(size=r.model.nv), rng.normal(size=r.model.nv)
    ask = OWN[solver] if solver in OWN else followers.question(solver)
    ask(r, name, q, v, a)
