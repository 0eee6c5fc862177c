"""The variational method: energies and momenta over long runs; drives, springs, efforts, samples, stops; refusals."""

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.test_energy_drift import double_pendulum, trend

STEPS = 100_000


def long_run(model, q0, v0, dt, method="variational", steps=STEPS):
    t_end = steps * dt
    return gs.simulate(model, None, q0, v0, t_end, method, dt=dt, t_eval=np.linspace(0.0, t_end, 1001))


def about_vertical(model, run):
    """Angular momentum about the vertical through the origin."""
    h, c = gs.centroidal_momentum(model, run.q, run.v), gs.center_of_mass(model, run.q)
    return h[:, 2] + np.cross(c, h[:, 3:])[:, 2]


SPEEDS = {"spherical": np.array([1.6, 1.0, 0.6, -0.8, 1.8, 0.4]), "universal": np.array([1.6, -1.0, 1.2, 0.8])}


@pytest.mark.parametrize("kind", SPEEDS)
def test_energy_stays_in_bounds_for_a_hundred_thousand_steps(kind):
    """500 s, where the mass matrix depends on q."""
    model = double_pendulum(kind)
    run = long_run(model, gs.neutral(model), SPEEDS[kind], 5e-3)
    change = run.energy - run.energy[0]
    assert np.abs(change).max() < 2e-3
    assert abs(trend(change)) < 0.2 * np.abs(change).max()


def test_where_semi_implicit_euler_drifts_by_joules():
    model = double_pendulum("spherical")
    start = gs.neutral(model), SPEEDS["spherical"]
    euler, ours = (long_run(model, *start, 2e-3, method) for method in ("semi-implicit-euler", "variational"))
    assert trend(euler.energy) > 1.0 and np.abs(ours.energy - ours.energy[0]).max() < 1e-3


def test_the_bound_is_of_second_order():
    model = double_pendulum("universal")
    sizes = [
        np.ptp(long_run(model, gs.neutral(model), 0.3 * SPEEDS["universal"], dt, steps=round(20.0 / dt)).energy)
        for dt in (0.02, 0.01)
    ]
    assert sizes[0] / sizes[1] == pytest.approx(4.0, rel=0.15)


def test_momentum_about_the_vertical_is_conserved_to_rounding():
    model = double_pendulum("spherical")
    run = long_run(model, gs.neutral(model), SPEEDS["spherical"], 5e-3)
    L = about_vertical(model, run)
    assert abs(L[0]) > 0.01
    np.testing.assert_allclose(L, L[0], rtol=0, atol=1e-10)


def test_momenta_of_a_free_flying_tree_are_conserved_to_rounding():
    hub = gs.RigidBody("hub", mass=2.0, inertia=(0.2, 0.3, 0.4), frames={"left": (0.3, 0, 0)})
    bob = gs.RigidBody("bob", mass=0.5, com=(0, 0.1, -0.4), inertia=(0.02, 0.03, 0.01))
    parts = gs.chain("world", gs.Joint("base", "free"), hub), gs.chain("hub.left", gs.Joint("ball", "spherical"), bob)
    model = gs.assemble("tree", *parts, gravity=(0, 0, 0))
    v0 = np.random.default_rng(0).normal(size=model.nv)
    run = long_run(model, gs.random_configuration(model, 1), v0, 0.01, steps=20_000)
    h, c = gs.centroidal_momentum(model, run.q, run.v), gs.center_of_mass(model, run.q)
    h[:, :3] += np.cross(c, h[:, 3:])  # about the origin: the symmetry of the discrete action
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), rtol=0, atol=1e-10)
    assert abs(trend(run.kinetic_energy)) < 1e-3 * run.kinetic_energy[0]


def test_forwards_and_backwards_lead_to_the_start():
    """Symmetric in time: with the rates turned round the motion runs back."""
    model = double_pendulum("spherical")
    out = gs.simulate(model, None, gs.neutral(model), SPEEDS["spherical"], 1.0, "variational", dt=0.01)
    back = gs.simulate(model, None, out.q[-1], -out.v[-1], 1.0, "variational", dt=0.01)
    assert np.abs(gs.difference(model, gs.neutral(model), back.q[-1])).max() < 1e-9
    np.testing.assert_allclose(back.v[-1], -SPEEDS["spherical"], atol=1e-9)


def robots_with_drives():
    geared = gs.robots.two_link().with_drive("shoulder", gear_ratio=50.0, rotor_inertia=1e-4)
    return {"geared rotor": geared, "elastic joint": gs.robots.elastic_knee(damping=0.0)}


@pytest.mark.parametrize("name", ["geared rotor", "elastic joint"])
def test_drives_have_order_two_and_bounded_energies(name):
    model = robots_with_drives()[name]
    q0, v0 = np.full(model.nq, 0.4), np.full(model.nv, 0.3)
    exact = gs.simulate(model, None, q0, v0, 0.5, "dop853", rtol=1e-12, atol=1e-13, t_eval=[0.5])
    errors = []
    for dt in (1 / 1024, 1 / 2048):
        run = gs.simulate(model, None, q0, v0, 0.5, "variational", dt=dt, t_eval=[0.5])
        errors.append(np.abs(run.q - exact.q).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15), errors
    run = long_run(model, q0, v0, 1e-3, steps=50_000)
    change = run.energy - run.energy[0]
    assert np.abs(change).max() < 0.01 * (np.ptp(run.potential_energy) + run.kinetic_energy.max())
    early, late = np.array_split(np.abs(change), 2)
    assert late.max() < 2.0 * early.max()


def test_efforts_and_states_of_blocks_have_order_two():
    model = gs.robots.two_link()
    law = gs.blocks.pid(kp=20.0, ki=5.0, kd=2.0, reference=np.array([0.3, -0.2]))
    exact = gs.simulate(model, law, [1.0, 0.5], t_end=1.0, method="dop853", rtol=1e-12, atol=1e-13, t_eval=[0.55, 1.0])
    errors, works = [], []
    for dt in (1 / 256, 1 / 512):
        run = gs.simulate(model, law, [1.0, 0.5], t_end=1.0, method="variational", dt=dt, t_eval=[0.55, 1.0])
        errors.append(max(np.abs(run.q - exact.q).max(), np.abs(run.p - exact.p).max()))
        works.append(np.abs(run.work - exact.work).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15), errors
    assert np.log2(works[0] / works[1]) > 1.8, works


def test_a_joint_at_its_stop_stays_there():
    ball = gs.chain("world", gs.Joint("z", "prismatic", axis="z", lower=0.0), gs.RigidBody("ball", mass=1))
    run = gs.simulate(
        gs.assemble("ball", ball), q0=[0.1], t_end=1.0, events=gs.JointLimits(), method="variational", dt=1e-3
    )
    assert run.events[0].t == pytest.approx(np.sqrt(0.2 / 9.81), abs=1e-6)
    np.testing.assert_allclose(run.q[run.t > 0.2], 0.0, atol=1e-12)


def test_what_comes_to_rest_under_its_weight_is_held():
    """Weights and efforts balance to rounding, and nothing moves: the equations are as solved as they can be."""
    model = gs.robots.puma560()
    hold = lambda t, q, v: 400.0 * (0.5 - q) - 60.0 * v  # noqa: E731
    run = gs.simulate(model, hold, np.full(6, 0.6), t_end=20.0, method="variational", dt=5e-3)
    assert np.abs(run.v[-1]).max() < 1e-6 and run.status == "finished"


def test_digital_parts_are_sampled_on_the_way():
    model = gs.robots.two_link()
    law = gs.blocks.pd(30.0, 3.0, reference=np.zeros(2), sample_time=0.01)
    found, exact = (
        gs.simulate(model, law, [0.5, 0.2], t_end=0.5, t_eval=[0.5], **how)
        for how in ({"method": "variational", "dt": 1e-3}, {"method": "dop853", "rtol": 1e-10})
    )
    assert np.abs(found.q - exact.q).max() < 1e-3


def test_what_turns_too_far_in_a_step_is_told():
    with pytest.raises(gs.SimulationError, match=r"more than 1 rad in one step.*smaller dt"):
        gs.simulate(double_pendulum("spherical"), v0=[0, 0, 200.0, 0, 0, 0], t_end=1.0, method="variational", dt=0.01)


def test_a_forward_dynamics_of_the_users_is_refused():
    model = gs.robots.pendulum()
    block = gs.BlockSolver(model, lambda q, v, tau: tau, like=gs.ForwardDynamics, check=False)
    with pytest.raises(gs.GyrostatError, match="'variational' solves the inverse dynamics"):
        gs.simulate(model, t_end=0.1, method="variational", dt=0.01, forward_dynamics=block)
