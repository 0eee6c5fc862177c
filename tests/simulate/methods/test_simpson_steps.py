"""Steps of order 4 with a kept matrix, ``scheme="simpson"`` of dina: order, stiff and undamped springs, own states of
the torque source, cut steps, and what is refused."""

import numpy as np
import pytest

import gyrostat as gs
from demos import lwr_reference as typed
from demos.lwr_problem import DURATION, START, law
from gyrostat.robots.elastic_arm import STAGES
from gyrostat.simulate.run.simulate import simulate

HOW = {"method": "dina", "scheme": "simpson"}


def push(t, q, v):
    return np.array([np.sin(3.0 * t) - 0.1 * v[0], -2.0 * q[1]])


def fitted(steps, errors):
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


def led():
    """The elastic arm with springs ten times as stiff, and motors that are led along half a radian."""
    model = gs.robots.elastic_arm()
    springs = [path for path in model.paths() if path.endswith("stiffness")]
    model = model.replace({path: 10.0 * model[path] for path in springs})
    ratio = np.array([stage.ratio for stage in STAGES])
    q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
    weight = np.asarray(gs.gravity(gs.robots.elastic_arm(drives=False), q))
    rotors = ratio * (q + weight / np.array([model[path] for path in springs]))
    kp, kd = 3000.0 / ratio**2, np.array([150.0, 150.0, 100.0, 100.0, 30.0, 10.0, 3.0]) / ratio**2

    def lead(t, q, v):
        behind = rotors + 0.5 * ratio * np.sin(np.pi * t) ** 2 - q[7:]
        return np.concatenate([np.zeros(7), kp * behind - kd * v[7:] + weight / ratio])

    return model, lead, np.concatenate([q, rotors])


def test_fitted_order_is_four():
    model, q, v, steps = gs.robots.two_link(), [0.3, -0.7], [1.0, 0.5], (20, 40, 80, 160)
    want = simulate(model, push, q, v, t_end=0.5, method="radau", rtol=1e-12, atol=1e-13)
    runs = [simulate(model, push, q, v, t_end=0.5, dt=0.5 / n, rtol=1e-11, **HOW) for n in steps]
    for key in ("q", "v", "work"):
        errors = [np.abs(getattr(run, key)[-1] - getattr(want, key)[-1]).max() for run in runs]
        assert fitted(steps, errors) == pytest.approx(4.0, abs=0.3)


def test_samples_between_the_steps_and_a_step_that_the_end_cuts_keep_the_order():
    model, q, v, steps = gs.robots.two_link(), [0.3, -0.7], [1.0, 0.5], (27, 54, 108)
    instants = np.linspace(0.0, 0.5, 38)
    want = simulate(model, push, q, v, t_end=0.5, t_eval=instants, method="radau", rtol=1e-12, atol=1e-13)
    for key in ("q", "v", "work"):
        errors = []
        for n in steps:
            run = simulate(model, push, q, v, t_end=0.5, t_eval=instants, dt=0.53 / n, rtol=1e-11, **HOW)
            errors.append(np.abs(getattr(run, key) - getattr(want, key)).max())
        assert fitted(steps, errors) == pytest.approx(4.0, abs=0.5)


def test_own_states_of_the_torque_source_have_order_four():
    """A PID law whose integral is fast, so that its row of the matrix matters."""
    model, q, steps = gs.robots.two_link(), [0.3, -0.7], (80, 160, 320)
    control = gs.blocks.pid(40.0, 200.0, 8.0, reference=np.array([0.5, -0.2]))
    want = simulate(model, control, q, t_end=0.5, method="radau", rtol=1e-12, atol=1e-13)
    runs = [simulate(model, control, q, t_end=0.5, dt=0.5 / n, rtol=1e-11, **HOW) for n in steps]
    for key in ("q", "p"):
        errors = [np.abs(getattr(run, key)[-1] - getattr(want, key)[-1]).max() for run in runs]
        assert fitted(steps, errors) == pytest.approx(4.0, abs=0.4)


def test_the_led_elastic_arm_takes_a_fifth_of_the_steps_for_the_same_error():
    model, lead, q = led()
    instants = np.linspace(0.0, 1.0, 21)

    def run(**how):
        return simulate(model, lead, q, t_end=1.0, t_eval=instants, **how)

    want = run(method="radau", rtol=1e-9, atol=1e-12)
    simpson, checked = run(dt=0.005, **HOW), run(dt=0.001, method="dina")
    errors = [np.abs((x.q - want.q)[:, :7]).max() for x in (simpson, checked)]
    assert errors[0] < 0.3 * errors[1] < 3e-6
    assert simpson.counters.residual_evaluations < 0.5 * checked.counters.residual_evaluations
    told = simpson.counters.statistics
    assert told["steps"] == 200 and told["factorisations"] < 30 and told["newton_fallbacks"] == 0


def test_an_arm_with_strong_damping_is_within_1e_minus_7_rad_at_20_ms():
    arm = gs.robots.kuka_lwr4()
    run = simulate(arm, law, START, t_end=DURATION, t_eval=typed.T, dt=0.02, **HOW)
    assert np.abs(run.q - typed.Q).max() < 1e-7  # 5.1e-6 by Newmark's formulas at 10 ms
    assert run.counters.statistics["newton_fallbacks"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("stiffness", [3e3, 1e4, 1e5])
def test_undamped_vibrations_keep_their_size_for_60000_steps(stiffness):
    def spring(t, q, v):
        return np.array([0.0 * q[0], -stiffness * (q[1] + 0.7)])

    run = simulate(gs.robots.two_link(), spring, [2.5, -0.7 + 1e-3], t_end=300.0, dt=0.005, every=3, **HOW)
    swing = np.abs(run.q[:, 1] + 0.7)
    assert swing[-3000:].max() == pytest.approx(swing[:3000].max(), rel=0.05)


@pytest.mark.parametrize("stiffness", [1e1, 1e3, 1e5, 1e7])
def test_undamped_vibrations_of_any_frequency_do_not_grow(stiffness):
    """Of 1e-3 rad, from slow ones to those that turn thousands of radians in a step, on an arm that swings."""

    def spring(t, q, v):
        return np.array([0.0 * q[0], -stiffness * (q[1] + 0.7)])

    run = simulate(gs.robots.two_link(), spring, [2.5, -0.7 + 1e-3], t_end=10.0, dt=0.005, every=1, **HOW)
    swing = np.abs(run.q[:, 1] + 0.7)
    assert swing[-500:].max() < 1.3 * swing[:500].max()


def test_samples_of_digital_parts_and_events_cut_steps():
    model, q = gs.robots.two_link(), [0.3, -0.7]
    control = gs.blocks.pd(3.0, 0.1, reference=np.array([0.5, -0.2]), sample_time=0.01)
    runs = [
        simulate(model, control, q, t_end=0.4, events=[gs.Event(lambda t, q, v: q[0] - 0.25, name="pass")], **how)
        for how in ({"dt": 0.004, **HOW}, {"rtol": 1e-10, "atol": 1e-12})
    ]
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-6)
    assert [e.name for e in runs[0].events] == ["pass"]
    assert runs[0].events[0].t == pytest.approx(runs[1].events[0].t, abs=1e-7)


def test_friction_that_changes_its_sign_within_a_step_is_solved_by_newmark_and_told():
    def rough(t, q, v):
        return -30.0 * np.tanh(v / 1e-5)

    model, q = gs.robots.two_link(), [0.3, -0.7]
    run = simulate(model, rough, q, [1.0, -1.0], t_end=0.3, dt=0.002, **HOW)
    want = simulate(model, rough, q, [1.0, -1.0], t_end=0.3, method="radau", rtol=1e-8)
    np.testing.assert_allclose(run.q[-1], want.q[-1], atol=2e-3)
    assert run.counters.statistics["newton_fallbacks"] > 0 and np.isfinite(run.a).all()


def test_joints_that_rest_at_a_stop_are_followed():
    model = gs.robots.two_link()
    elbow = model.dofs[1]
    model = model.replace({f"{elbow}.lower": -0.78})
    runs = [
        simulate(model, None, [0.3, -0.7], [0.0, -3.0], t_end=0.5, events=[gs.JointLimits()], **how)
        for how in ({"dt": 0.002, **HOW}, {"rtol": 1e-9, "atol": 1e-11})
    ]
    assert "lower" in [e.kind for e in runs[0].events]
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-5)


def test_results_have_the_same_bits_however_they_are_asked_for():
    model, q, v = gs.robots.two_link(), [0.3, -0.7], [1.0, 0.5]
    every = simulate(model, push, q, v, t_end=0.5, dt=0.005, every=1, **HOW)
    few = simulate(model, push, q, v, t_end=0.5, dt=0.005, t_eval=[0.1234, 0.5], **HOW)
    assert np.array_equal(every.q[-1], few.q[-1]) and np.array_equal(every.work[-1], few.work[-1])


def test_quaternions_and_options_that_are_not_used_are_refused_by_name():
    ball = gs.assemble(
        "spinning", gs.Joint("ball", "spherical"), gs.RigidBody("body", mass=1.0, inertia=np.diag([0.02, 0.03, 0.045])),
        gs.connect("world.frame", "ball.a"), gs.connect("ball.b", "body.origin"),
    )  # fmt: skip
    with pytest.raises(gs.GyrostatError, match=r"'spinning' has quaternions.*radau"):
        simulate(ball, None, np.array([0.0, 0.0, 0.0, 1.0]), t_end=0.1, dt=0.01, **HOW)
    for option in ({"rho_inf": 0.8}, {"matrix": "springs"}, {"iterations": 3}):
        with pytest.raises(gs.GyrostatError, match="scheme 'simpson' has one matrix"):
            simulate(gs.robots.two_link(), None, [0.3, -0.7], t_end=0.1, dt=0.01, **HOW, **option)
