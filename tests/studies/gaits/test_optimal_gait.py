"""Gaits that cost least: exact derivatives, and what holds along them, looked at by other means."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gyrostat as gs
from gyrostat.studies.gaits.guess import first_guess
from gyrostat.studies.gaits.problem import gait_problem

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


def trot(**more):
    asked = {"stride": 0.08, "period": 0.8, "nodes": 15, "clearance": 0.01, "highest": 0.03}
    cost = {"torque": 1.0, "velocity": 0.01}
    return gs.studies.Gait(gs.robots.aibo(), "trot", **(asked | {"cost": cost} | more))


def walk(**more):
    asked = {"stride": 0.3, "period": 4.0, "stability": "static", "nodes": 9}
    return gs.studies.Gait(gs.robots.humanoid(), "biped walk", **(asked | more))


@pytest.mark.parametrize(
    "gait",
    [
        trot,
        walk,
        lambda: trot(landing="impact", period=(0.3, 1.0)),
        lambda: walk(landing="impact", period=(2.0, 4.0)),
    ],
    ids=["trot", "walk", "trot with impacts, free period", "walk with impacts, free period"],
)
def test_first_and_second_derivatives_of_the_programme_are_exact(gait):
    problem = gait_problem(gait())
    P, x = problem.programme, first_guess(problem)
    if P.stretch is not None:
        x[-1] = 1.1
    rng = np.random.default_rng(0)
    d, w, e = rng.normal(size=P.n), rng.normal(size=P.m), 1e-6

    def J(x):
        return sp.coo_matrix((P.jacobian(x), P.jacobian_pattern), shape=(P.m, P.n)).tocsr()

    slope = (P.cost(x + e * d) - P.cost(x - e * d)) / (2 * e)
    assert abs(P.gradient(x) @ d - slope) < 1e-6 * abs(slope)
    numeric = (P.constraints(x + e * d) - P.constraints(x - e * d)) / (2 * e)
    assert np.abs(J(x) @ d - numeric).max() < 1e-6 * np.abs(numeric).max()
    H = sp.coo_matrix((P.hessian(x, 0.7, w), P.hessian_pattern), shape=(P.n, P.n)).tocsr()
    H = H + sp.tril(H, -1).T
    slope = [0.7 * P.gradient(y) + J(y).T @ w for y in (x + e * d, x - e * d)]
    numeric = (slope[0] - slope[1]) / (2 * e)
    assert np.abs(H @ d - numeric).max() < 1e-6 * np.abs(numeric).max()


def test_a_trot_obeys_the_equations_of_motion_with_contacts_and_stays_in_its_cones():
    gait = trot()
    motion = gs.studies.optimal_gait(gait, refinements=0)
    assert motion.converged and motion.violation < 1e-6
    frames = [f"{foot}_lower.foot" for foot in gait.phases[0].feet]
    contacts = [gs.FrameContact(frame, "point") for frame in frames]
    truth = gs.ContactDynamics(gait.model, contacts)(motion.q, motion.v, motion.tau)
    assert np.abs(truth.a - motion.a).max() < 1e-7 * np.abs(motion.a).max()  # of the legs that stand, too
    for foot in gait.phases[0].feet:
        f = motion.forces[foot]
        assert f[:, 2].min() > -1e-6 and np.all(np.hypot(f[:, 0], f[:, 1]) <= gait.friction * f[:, 2] + 1e-6)
        assert np.abs(gs.fk(gait.model, motion.q)[f"{foot}_lower.foot"].p - gait.place(foot, 0.25)).max() < 1e-9
    heights = [gs.fk(gait.model, motion.q)[f"{foot}_lower.foot"].p[1:-1, 2] for foot in ("front_right", "rear_left")]
    assert min(h.min() for h in heights) > 0.0

    t, q = motion.stride(2)
    assert np.all(np.diff(t) > 0.0) and abs(t[-1] - 1.6) < 1e-9
    step = np.abs(gs.difference(gait.model, q[:-1], q[1:])).max(axis=1) / np.diff(t)
    assert step.max() < 1.5 * np.abs(motion.v).max()  # halves fit together
    again = type(motion).from_dict(motion.to_dict())
    assert np.array_equal(again.q, motion.q) and "trot of aibo" in str(motion.report())
    warm = gs.studies.optimal_gait(gait, refinements=0, start=again)
    assert warm.cost < motion.cost * (1 + 1e-6) and warm.figures["iterations"] < motion.figures["iterations"]


def test_the_humanoid_walks_with_its_mass_over_its_feet():
    """A coarser grid than that of the experiment, which has H04's 63 points."""
    gait = gs.studies.Gait(
        gs.robots.humanoid(), "biped walk", stride=0.36, period=6.0, stability="static", nodes=31,
        cost={"torque": 0.01, "velocity": 1.0},
    )  # fmt: skip
    motion = gs.studies.optimal_gait(gait, refinements=1)
    assert motion.converged and motion.violation < 1e-6 and motion.error < 0.05
    single = motion.phase == 1
    corners = gait.robot.foot("left").corners
    margins = gs.stability_margin(gait.model, motion.q[single], points=corners)
    assert margins.min() > gait.margin - 1e-6
    assert np.abs(motion.forces["right"][~single][-1]).max() < 1e-4 and abs(motion.speed - 0.06) < 1e-12
    total = motion.forces["left"] + motion.forces["right"]
    rate = gs.centroidal_momentum_rate(gait.model, motion.q[single], motion.v[single], motion.a[single])[..., 3:]
    mass = np.linalg.norm(gs.centroidal_momentum(gait.model, motion.q[:1], np.eye(18)[5][None])[0, 3:])
    weight = np.array([0.0, 0.0, 9.81 * mass])
    assert np.abs(total[single] - rate - weight).max() < 1e-9 * weight[2]


def test_a_trot_with_impacts_jumps_as_the_law_of_impacts_says():
    """Full coordinates, no closed forms: gs.impact between the halves, ContactDynamics in between."""
    from scipy.integrate import solve_ivp

    gait = trot(landing="impact", nodes=21, cost={"torque": 100.0, "velocity": 1.0})
    motion = gs.studies.optimal_gait(gait, refinements=0)
    assert motion.converged and motion.violation < 1e-6
    stand = gait.phases[0].feet
    contacts = [gs.FrameContact(f"{foot}_lower.foot", "point") for foot in stand]
    q, v = motion.q[0], gait.mirror(motion.v[-1])  # the end, seen in the mirror
    struck = gs.impact(gait.model, q, v, contacts)
    assert np.abs(struck.v - motion.v[0]).max() < 1e-5 < 0.1 < np.abs(v - motion.v[0]).max()
    pose, after = gs.fk(gait.model, q), motion.v[0]
    for foot in stand:
        P = motion.impulses["0"][foot]
        frame = f"{foot}_lower.foot"
        assert np.abs(pose[frame].R @ struck.impulses[frame][3:] - P).max() < 1e-6
        assert P[2] > 1e-3 and np.hypot(*P[:2]) <= gait.friction * P[2] + 1e-8
        assert (gs.jacobian(gait.model, q, frame, expressed_in="aligned") @ v)[5] < 1e-6  # it comes down
    for foot in set(gait.home) - set(stand):
        rows = gs.jacobian(gait.model, q, f"{foot}_lower.foot", expressed_in="aligned")
        assert (rows @ after)[5] > -1e-6  # it does not go down

    dynamics = gs.ContactDynamics(gait.model, contacts)
    for k in (0, 7, 19):
        t0, t1 = motion.t[k], motion.t[k + 1]

        def rate(t, y, k=k, t0=t0, t1=t1):
            q = gs.integrate(gait.model, motion.q[k], y[:18])
            u = motion.tau[k] + (t - t0) / (t1 - t0) * (motion.tau[k + 1] - motion.tau[k])
            ahead = gs.difference(gait.model, motion.q[k], gs.integrate(gait.model, q, 1e-6 * y[18:]))
            return np.concatenate([(ahead - y[:18]) / 1e-6, dynamics(q, y[18:], u).a])

        end = solve_ivp(rate, (t0, t1), np.concatenate([np.zeros(18), motion.v[k]]), rtol=1e-7, atol=1e-9).y[:, -1]
        off = gs.difference(gait.model, motion.q[k + 1], gs.integrate(gait.model, motion.q[k], end[:18]))
        assert max(np.abs(off).max(), np.abs(end[18:] - motion.v[k + 1]).max()) < 2.0 * motion.error + 1e-5


def test_a_free_period_is_the_one_that_costs_least():
    options = {"nodes": 15, "cost": {"torque": 3000.0, "velocity": 1.0}}
    sharp = {"refinements": 0, "tolerance": 1e-8}
    free = gs.studies.optimal_gait(trot(period=(0.1, 2.5), **options), **sharp)
    assert free.converged and 0.3 < free.period < 1.2 and abs(free.t[-1] - 0.5 * free.period) < 1e-12
    again = type(free).from_dict(free.to_dict())
    assert again.period == free.period and again.gait.period == (0.1, 2.5)
    costs = []
    for part in (0.93, 1.0, 1.07):
        fixed = trot(period=free.period * part, **options)
        costs.append(gs.studies.optimal_gait(fixed, start=again, **sharp).cost)
    assert abs(costs[1] - free.cost) < 2e-5 * free.cost
    assert min(costs[0], costs[2]) > costs[1] * (1 + 1e-4)


def test_a_humanoid_runs_with_flight_and_lands_with_an_impact():
    cost = {"torque": 0.01, "velocity": 1.0}
    run = {"stride": 0.6, "period": (0.4, 1.2), "landing": "impact", "nodes": 25, "cost": cost}
    gait = gs.studies.Gait(gs.robots.humanoid(), "biped run", **run)
    motion = gs.studies.optimal_gait(gait, refinements=0)
    assert motion.converged and motion.violation < 1e-5 and 0.4 < motion.period < 1.2
    flight = motion.phase == 1
    c = motion.masses[flight]
    t = motion.t[flight] - motion.t[flight][0]
    fall = np.polyfit(t, c[:, 2], 2)  # thrown: a parabola
    assert abs(2.0 * fall[0] + 9.81) < 1e-2 and np.abs(np.polyval(fall, t) - c[:, 2]).max() < 1e-5
    before = gait.mirror(motion.v[-1])
    struck = gs.impact(gait.model, motion.q[0], before, [gs.FrameContact("left_foot.sole", "fixed")])
    assert np.abs(struck.v - motion.v[0]).max() < 1e-5 * np.abs(struck.v).max() + 1e-6
    P = motion.impulses["0"]["left"]
    assert P[2] > 1.0 and np.hypot(*P[:2]) <= gait.friction * P[2] + 1e-6
    assert np.abs(struck.impulses["left_foot.sole"][3:] - P).max() < 1e-4
