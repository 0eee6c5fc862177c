"""The KUKA LWR under PD laws against Exudyn: Cartesian coordinates, constraints, DAE [WM15 4.3, (35), Figs. 6-11].

Differences are those of Exudyn's generalised-alpha method: they fall with the square of its step."""

import numpy as np
import pytest

from demos import lwr_exudyn
from demos.lwr_problem import DIFFERENCES, TIMES, desired, run

if not lwr_exudyn.available():
    pytest.skip("Exudyn comes with the extra 'oracles': pip install exudyn", allow_module_level=True)

STEPS = (0.01, 0.005, 0.0025)


@pytest.fixture(scope="module")
def motions():
    return {step: lwr_exudyn.simulate(14.0, step) for step in STEPS}


@pytest.fixture(scope="module")
def exact():
    return run("radau", 1e-10, 1e-11)


def differences(motion, found):
    """Largest |delta q|, |delta v|, |delta a| of any joint, (35)."""
    assert motion.t == pytest.approx(found.t, abs=1e-9)
    pairs = (motion.q, found.q), (motion.v, found.v), (motion.a, found.a)
    return np.array([np.abs(x - y).max() for x, y in pairs])


@pytest.mark.parametrize("method", ["bdf", "radau"])
def test_differences_at_1e_minus_6_are_within_those_of_the_paper(method, motions):
    found = differences(motions[0.0025], run(method, 1e-6, 1e-6))
    assert np.all(found < DIFFERENCES)
    assert np.all(found[:2] < 1e-5)


def test_differences_fall_with_the_square_of_the_step(motions, exact):
    found = [differences(motions[step], exact)[:2] for step in STEPS]
    assert found[0] / found[1] == pytest.approx([4.0, 4.0], rel=0.05)
    assert found[1] / found[2] == pytest.approx([4.0, 4.0], rel=0.05)
    assert np.all(found[2] < 4e-6)


def test_accelerations_agree(motions, exact):
    assert differences(motions[0.0025], exact)[2] < 5e-5
    start = np.abs(exact.a[0])
    assert start.max() > 30.0  # gravity alone acts at first
    assert motions[0.01].a[0] == pytest.approx(exact.a[0], abs=1e-9)


def test_the_first_centisecond_agrees_as_well():
    """All fast motions decay there; accelerations fall from 31 to 0.3 rad/s^2."""
    times = np.linspace(0.0, 0.01, 51)
    exact = run("radau", 1e-10, 1e-13, t_end=0.01, t_eval=times)
    coarse, fine = (differences(lwr_exudyn.simulate(0.01, step, every=2e-4), exact) for step in (2e-5, 1e-5))
    assert coarse[:2] / fine[:2] == pytest.approx([4.0, 4.0], rel=0.1)
    assert fine[0] < 1e-9
    assert fine[1] < 1e-5
    assert fine[2] < 0.1
    assert np.abs(exact.a).max() > 30.0


def test_angles_are_continuous_and_those_of_the_joints(motions):
    """They stay within half a turn, and are the integrals of the rates (Simpson's rule)."""
    motion = motions[0.0025]
    assert np.abs(motion.q).max() < 1.6
    assert motion.q[0] == pytest.approx(np.full(7, np.pi / 2), abs=1e-12)
    assert np.abs(motion.q - desired(TIMES)[0]).max() < 0.04  # the laws leave the weight to the springs
    v, h = motion.v[20:], TIMES[1] - TIMES[0]  # from 2 s on
    way = np.cumsum(h / 3.0 * (v[:-2:2] + 4.0 * v[1:-1:2] + v[2::2]), axis=0)
    assert motion.q[22::2] == pytest.approx(motion.q[20] + way, abs=1e-5)


@pytest.mark.slow
def test_differences_fall_to_2e_minus_7(exact):
    found = [differences(lwr_exudyn.simulate(14.0, step), exact) for step in (0.00125, 0.000625)]
    assert found[0][:2] / found[1][:2] == pytest.approx([4.0, 4.0], rel=0.05)
    assert np.all(found[1] < (2.5e-7, 2.5e-7, 5e-6))
