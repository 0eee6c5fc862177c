"""The bicycle of the benchmark: Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.loop_models import four_bar
from tests.support.rolling_models import MASS, RADIUS, wheel

G = 9.81
# their (5.1) to (5.4) with the parameters of table 1: M q'' + v C1 q' + (g K0 + v^2 K2) q = 0, q = (lean, steer)
M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837
# eigenvalues at 5 m/s of their table 2: weave, capsize, castering
AT_FIVE = (-0.77534188219585 + 4.46486771378823j, -0.32286642900409, -14.07838969279822)


@pytest.fixture(scope="module")
def bicycle():
    return gs.robots.bicycle()


def straight(speed: float) -> dict:
    return {"pose": (0, 0, 0, speed, 0, 0), "rear_spin": speed / 0.3, "steer": 0.0, "front_spin": speed / 0.35}


def published(speed: float) -> np.ndarray:
    inverse = np.linalg.inv(M)
    below = [-inverse @ (G * K0 + speed**2 * K2), -speed * inverse @ C1]
    return np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], below]))


def eigenvalues(model: gs.Model, speed: float) -> np.ndarray:
    return np.linalg.eigvals(gs.linearise(model, gs.neutral(model), straight(speed)).A)


@pytest.mark.parametrize("speed", range(11))
def test_eigenvalues_are_those_of_the_canonical_equations(bicycle, speed):
    found = eigenvalues(bicycle, float(speed))
    assert len(found) == 5  # one is that of the speed, zero
    assert np.abs(found).min() < 1e-10
    for value in published(float(speed)):
        assert np.abs(found - value).min() < 1e-10


def test_eigenvalues_at_five_metres_per_second_are_the_published_ones(bicycle):
    found = eigenvalues(bicycle, 5.0)
    for value in AT_FIVE:
        assert np.abs(found - value).min() < 1e-11


def bisected(function, low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) * function(low) > 0 else (low, middle)
    return 0.5 * (low + high)


def test_weave_and_capsize_speeds_are_the_published_ones(bicycle):
    def weave(v: float) -> float:
        values = eigenvalues(bicycle, v)
        return values[np.abs(values.imag) > 1e-6].real.max()

    def capsize(v: float) -> float:
        """Its sign is that of the determinant without the speed."""
        s = gs.linearise(bicycle, gs.neutral(bicycle), straight(v))
        keep = [k for k, name in enumerate(s.names) if name != "v rear_spin"]
        return np.linalg.det(s.A[np.ix_(keep, keep)])

    assert abs(bisected(weave, 4.0, 4.6) - WEAVE) < 1e-9
    assert abs(bisected(capsize, 5.5, 6.5) - CAPSIZE) < 1e-9


def test_a_steady_motion_has_no_accelerations_and_its_weight_on_two_wheels(bicycle):
    run = gs.simulate(bicycle, q0=gs.neutral(bicycle), v0=straight(5.0), t_end=1.0)
    np.testing.assert_allclose(run.a, 0.0, atol=1e-9)
    np.testing.assert_allclose(run.q[-1, :3], [5.0, 0.0, 0.0], atol=1e-9)
    rear, front = (run.rolling_forces[f"{name}_contact"][-1] for name in ("rear", "front"))
    x = (85.0 * 0.3 + 4.0 * 0.9 + 3.0 * 1.02) / 94.0
    np.testing.assert_allclose(front, [94.0 * G * x / 1.02, 0.0, 0.0], atol=1e-8)
    np.testing.assert_allclose(rear, [94.0 * G * (1.0 - x / 1.02), 0.0, 0.0], atol=1e-8)


def test_a_push_is_recovered_as_the_linear_model_says(bicycle):
    """Nonlinear run at 5 m/s with a small lean rate against exp(A t); energy is kept, the bicycle stands up."""
    push = 1e-4
    pushed = straight(5.0)
    q, v = gs.close(bicycle, gs.neutral(bicycle), {**pushed, "pose": (push, 0, 0, 5, 0, 0)})
    times = np.linspace(0.0, 3.0, 31)
    run = gs.simulate(bicycle, q0=q, v0=v, t_eval=times, rtol=1e-11, atol=1e-13)
    s = gs.linearise(bicycle, gs.neutral(bicycle), pushed)
    steer, lean = s.names.index("d steer"), s.names.index("v pose.wx")
    values, vectors = np.linalg.eig(s.A)
    x0 = np.linalg.solve(vectors, np.eye(5)[lean] * push)
    x = (vectors @ (x0[:, None] * np.exp(values[:, None] * times))).real
    np.testing.assert_allclose(run["steer"].q, x[steer], atol=3e-3 * np.abs(x[steer]).max())
    hard = gs.close(bicycle, gs.neutral(bicycle), {**pushed, "pose": (0.5, 0, 0, 5, 0, 0)})
    run = gs.simulate(bicycle, q0=hard[0], v0=hard[1], t_end=15.0, rtol=1e-10, atol=1e-12)
    assert np.ptp(run.energy) < 1e-7
    assert np.abs(run["steer"].q).max() > 0.1
    assert abs(run["steer"].q[-1]) < 1e-3
    assert np.abs(run.v[-1, :3]).max() < 5e-3


# ------------------------------------------------------------------------------------------------ other steady motions
@pytest.mark.parametrize(("axial", "across"), [(0.5, 0.25), (1.0, 0.5)])  # parts of m r^2: solid disc, hoop
def test_a_disc_is_stable_from_the_closed_form_on(axial, across):
    """Upright rolling is stable for v^2 > A m r^3 g / (C (C + m r^2)): g r / 3 for a solid disc, g r / 4 for a hoop
    (A about a diameter, C about the axis) [Routh 1905, 244; O'Reilly, Nonlinear Dynamics 10 (1996) 287-305]."""
    size = MASS * RADIUS**2
    model = wheel(axial * size, across * size)
    critical = np.sqrt(across * G * RADIUS / (axial * (axial + 1.0)))

    def growth(v: float) -> float:
        s = gs.linearise(model, gs.neutral(model), {"x": v, "y": 0, "z": 0, "yaw": 0, "lean": 0, "spin": v / RADIUS})
        values = np.linalg.eigvals(s.A)
        return float(np.max(values.real))

    assert growth(0.999 * critical) > 1e-3 and growth(1.001 * critical) < 1e-6


def test_basis_and_names_tell_what_a_state_is(bicycle):
    q, v = gs.neutral(bicycle), gs.close(bicycle, gs.neutral(bicycle), straight(4.0))[1]
    s = gs.linearise(bicycle, q, v)
    assert s.names == ("d pose.wx", "d steer", "v pose.wx", "v steer", "v rear_spin")
    assert s.basis.shape == (18, 5) and s.ignored.shape == (9, 5) and s.B.shape == (5, 9)
    for k, name in enumerate(s.names):
        kind, dof = name.split()
        row = bicycle.dofs.index(dof) + (9 if kind == "v" else 0)
        np.testing.assert_allclose(s.basis[row], np.eye(5)[k], atol=1e-12)
    whole = gs.linearise(bicycle, q, v, ignorable=True)
    assert whole.A.shape == (10, 10) and whole.ignored.shape == (9, 0)
    for value in np.linalg.eigvals(s.A):
        assert np.abs(np.linalg.eigvals(whole.A) - value).min() < 1e-4


def test_efforts_enter_as_accelerations_do(bicycle):
    """B against differences of forward dynamics."""
    q, v = gs.neutral(bicycle), gs.close(bicycle, gs.neutral(bicycle), straight(4.0))[1]
    s = gs.linearise(bicycle, q, v)
    tau = np.eye(9)[bicycle.dofs.index("steer")]
    change = gs.aba(bicycle, q, v, tau) - gs.aba(bicycle, q, v, np.zeros(9))
    np.testing.assert_allclose(s.basis[9:] @ (s.B @ tau), change, atol=1e-10)


def test_many_speeds_at_once(bicycle):
    q = np.tile(gs.neutral(bicycle), (3, 1))
    v = np.stack([gs.close(bicycle, q[0], straight(x))[1] for x in (1.0, 4.0, 7.0)])
    many = gs.linearise(bicycle, q, v)
    assert many.A.shape == (3, 5, 5) and many.basis.shape == (3, 18, 5)
    for k in range(3):
        np.testing.assert_allclose(many.A[k], gs.linearise(bicycle, q[k], v[k]).A, atol=1e-12)


def test_loops_as_constraints_have_the_state_space_of_minimal_coordinates():
    free, tied = (gs.robots.four_bars(2, loops=loops) for loops in ("auto", "constraints"))
    small = gs.linearise(free, gs.neutral(free))
    s = gs.linearise(tied, gs.neutral(tied))
    assert s.A.shape == (2, 2)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(s.A)), np.sort(np.linalg.eigvals(small.A)), atol=1e-9)


def test_what_is_no_steady_motion_is_refused(bicycle):
    q = gs.neutral(bicycle)
    with pytest.raises(gs.LoopError, match=r"linearise: v violates '.*_contact'.*gs\.close"):
        gs.linearise(bicycle, q, straight(4.0) | {"rear_spin": 0.0})
    with pytest.raises(gs.StateError, match=r"linearise: '.*' of 'bicycle' accelerates"):
        gs.linearise(bicycle, q, straight(4.0), np.eye(9)[7])
    tied = four_bar(loops="constraints")
    at, v = gs.close(tied, gs.neutral(tied), np.ones(tied.nv))
    with pytest.raises(gs.StateError, match=r"steady motion|accelerates"):
        gs.linearise(tied, at, v)
    with pytest.raises(gs.LoopError, match="ignorable is about constraints, and 'pendulum' has none"):
        gs.linearise(gs.robots.pendulum(), [0.1], ignorable=True)
