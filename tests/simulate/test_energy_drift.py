"""Energy over 10^5 steps, as theory says: by ``gs.rollout``, in machine code; generalised-alpha by ``gs.simulate``.

rk4: a loss of one sign, per step of order dt^6. Semi-implicit Euler: bounded and proportional to dt where it is
symplectic, that is with a constant mass matrix; with one that depends on q it is not, as forces depend on v [Hairer,
Lubich, Wanner, Geometric Numerical Integration, VI.3]: then energy drifts, with a rate of order dt. Generalised-alpha
without damping: bounded, of order dt^2."""

import numpy as np
import pytest

import gyrostat as gs

STEPS = 100_000


def double_pendulum(kind):
    """Two rods on spherical or universal joints: mass matrix and centrifugal forces depend on q."""
    rods = [
        gs.RigidBody(name, mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01), frames={"tip": (0, 0, -1)})
        for name in ("upper", "lower")
    ]
    axes = {"axis": "x", "second_axis": "y"} if kind == "universal" else {}
    joints = [gs.Joint(f"ball{k}", kind, **axes) for k in (1, 2)]
    return gs.assemble("double", gs.chain("world", joints[0], rods[0], "tip", joints[1], rods[1]))


CASES = {
    "pendulum": (gs.robots.pendulum(), [1.0], [0.0], 0.02),
    "double": (double_pendulum("spherical"), None, [0.8, 0.5, 0.3, -0.4, 0.9, 0.2], 0.005),
}


def change(name, method, dt, steps=STEPS):
    """Of the energy [J] since the start, at every 32nd step."""
    model, q0, v0, _ = CASES[name]
    q0 = gs.neutral(model) if q0 is None else np.array(q0)
    run = gs.rollout(model, None, q0, np.array(v0), dt=dt, steps=steps, method=method, every=32)
    energy = gs.kinetic_energy(model, run.q, run.v) + gs.potential_energy(model, run.q)
    return energy - energy[0]


def trend(found):
    """Change of the mean from the first to the last fifth."""
    return float(np.mean(found[-len(found) // 5 :]) - np.mean(found[: len(found) // 5]))


@pytest.mark.parametrize("name", CASES)
def test_rk4_loses_energy_in_one_direction_by_dt_to_the_sixth_a_step(name):
    dt = CASES[name][-1]
    long, short = (change(name, "rk4", x) for x in (dt, dt / 2))
    fifths = np.array([np.mean(x) for x in np.array_split(long, 5)])
    assert np.all(np.diff(fifths) < 0.0) and fifths[0] < 0.0
    np.testing.assert_allclose(np.diff(fifths), np.mean(np.diff(fifths)), rtol=0.05)  # at an even pace
    assert np.log2(trend(long) / trend(short)) == pytest.approx(6.0, abs=0.2)


def test_semi_implicit_euler_keeps_the_energy_of_a_pendulum_in_bounds_of_order_dt():
    long, short = (change("pendulum", "semi-implicit", x) for x in (0.02, 0.01))
    for found in (long, short):
        assert abs(trend(found)) < 2e-3 * np.abs(found).max()
    assert np.abs(long).max() / np.abs(short).max() == pytest.approx(2.0, rel=0.05)


def test_semi_implicit_euler_is_not_symplectic_where_the_mass_matrix_changes():
    """A drift of order dt: twice as slow with half of the step, over the same 125 s."""
    long, short = (change("double", "semi-implicit", dt, steps) for dt, steps in ((1e-3, 128_000), (5e-4, 256_000)))
    assert trend(long) > 0.0 and trend(short) > 0.0
    assert trend(long) / trend(short) == pytest.approx(2.0, rel=0.2)


def bounded(model, q0, v0, dt, steps):
    run = gs.simulate(model, None, q0, v0, steps * dt, "generalised-alpha", dt=dt, rho_inf=1.0)
    found = run.energy - run.energy[0]
    assert abs(trend(found)) < 0.1 * np.abs(found).max()
    return np.abs(found).max()


def test_generalised_alpha_without_damping_keeps_the_energy_in_bounds_of_order_dt_squared():
    sizes = [bounded(gs.robots.pendulum(), [1.0], [0.0], dt, round(40.0 / dt)) for dt in (0.04, 0.02)]
    assert sizes[0] / sizes[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.slow
def test_generalised_alpha_keeps_energies_in_bounds_for_a_hundred_thousand_steps():
    assert bounded(gs.robots.pendulum(), [1.0], [0.0], 0.02, STEPS) < 1e-3
    bounded(double_pendulum("universal"), [0.3, 0.2, -0.2, 0.4], [0.0] * 4, 0.005, STEPS)
