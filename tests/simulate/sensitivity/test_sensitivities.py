"""Sensitivities of a motion are the derivatives of what is computed: by differences of runs, and by closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from tests.support.random_models import various_tree
from tests.support.solver_zoo import branched, elastic

Array = np.ndarray
TOUCH = np.linspace(0.0, 0.2, 14)
EXACT = 1e-9
"""Relative agreement with differences of order four; what is left is their own error."""


def moved_run(model: gs.Model, name: str, change: Array, given: dict[str, Any]) -> gs.Result:
    """The run with a start or parameter that is changed; ``change`` (k,)."""
    other = dict(given)
    if name == "q0":
        other["q0"] = gs.integrate(model, given["q0"], change)
    elif name == "v0":
        other["v0"] = given["v0"] + change
    else:
        parameters = dict(given.get("parameters") or {})
        value = parameters[name] if name in parameters else getattr(model[name], "g", model[name])
        value = np.array(value, dtype=float)
        parameters[name] = value + np.reshape(change, value.shape)
        other["parameters"] = parameters
    return gs.simulate(model, **other)


def differences(model: gs.Model, name: str, k: int, size: int, step: float, given: dict[str, Any]) -> list[Array]:
    """Derivatives of q (T, nv), v, p by number k of ``size``, by differences of order four."""
    unit = np.eye(size)[k]
    runs = {f: moved_run(model, name, f * step * unit, given) for f in (-2, -1, 1, 2)}

    def slope(of: Any) -> Array:
        return (8.0 * of(runs[1], runs[-1]) - of(runs[2], runs[-2])) / (12.0 * step)

    along = lambda a, b: np.array([gs.difference(model, y, x) for x, y in zip(a.q, b.q, strict=True)])  # noqa: E731
    return [slope(along), slope(lambda a, b: a.v - b.v), slope(lambda a, b: a.p - b.p)]


def expect_derivatives(
    model: gs.Model, names: list[str], close: float = EXACT, steps: Any = None, **given: Any
) -> gs.Result:
    """Sensitivities agree with differences, and the motion is the same with and without them."""
    run, plain = gs.simulate(model, sensitivities=names, **given), gs.simulate(model, **given)
    for x in ("t", "q", "v", "a", "tau", "p", "work"):
        assert np.array_equal(getattr(run, x), getattr(plain, x)), x
    assert list(run.sensitivities) == names and not plain.sensitivities
    for name in names:
        found = run.sensitivities[name]
        count = found.q.shape[2]
        for k in range(count):
            expected = differences(model, name, k, count, (steps or {}).get(name, 2e-4), given)
            for x, y in zip((found.q, found.v, found.p), expected, strict=True):
                assert x.shape == (len(run.t), y.shape[1], count)
                size = max(1e-2, np.abs(x).max(initial=0.0))
                assert np.abs(x[:, :, k] - y).max(initial=0.0) < close * size, (name, k)
    return run


def state(model: gs.Model, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    return {"q0": gs.random_configuration(model, rng), "v0": 0.5 * rng.normal(size=model.nv)}


def law(t: Any, q: Any, v: Any, kp: Any, kd: Any) -> Any:
    return kp * (0.3 * np.sin(3.0 * t) - q) - kd * v


# ------------------------------------------------------------------------------------------------ by differences
@pytest.mark.parametrize("t_eval", [None, TOUCH])
def test_gains_start_and_properties_of_an_arm(t_eval):
    model = gs.robots.two_link()
    mass, *_ = [path for path in model.paths() if path.endswith(".mass")]
    parameters = {"kp": np.array([8.0, 5.0]), "kd": 0.4, mass: 1.3}
    given = {"torque": law, "t_end": 0.2, "method": "rk4", "dt": 0.01, "t_eval": t_eval, "parameters": parameters}
    expect_derivatives(model, ["kd", "q0", mass, "v0", "kp"], **given, **state(model))


@pytest.mark.by_default(6)
@pytest.mark.parametrize("kind", gs.JOINT_KINDS)
def test_every_kind_of_joint_on_its_tangent_space(kind):
    model = gs.robots.tree(4, 2, kinds=[kind], base="free" if kind == "fixed" else "fixed")
    given = {"t_end": 0.1, "method": "rk4", "dt": 0.01, "t_eval": TOUCH[:7], **state(model)}
    expect_derivatives(model, ["q0", "v0", "body0.mass", "body1.com"], **given)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_trees_with_rotors_and_spherical_joints_by_the_ends_of_steps(base):
    model = branched(base)
    given = {"t_end": 0.1, "method": "rk4", "dt": 0.01, **state(model)}
    torque = lambda t, q, v, k: -k * v + 0.1 * np.sin(q[: len(v)])  # noqa: E731
    expect_derivatives(model, ["q0", "v0", "arm.mass", "k"], torque=torque, parameters={"k": 0.3}, **given)


def test_a_random_tree_of_many_kinds():
    model = various_tree(5)
    expect_derivatives(model, ["q0", "v0"], t_end=0.05, method="rk4", dt=0.005, t_eval=TOUCH[:4], **state(model, 2))


def test_elastic_joints_by_the_stiffness_of_their_springs():
    model = elastic()
    given = {"t_end": 0.02, "method": "rk4", "dt": 2e-4, **state(model)}
    stiffness = "j1_drive.spring.stiffness"
    expect_derivatives(model, ["q0", stiffness], close=1e-7, steps={stiffness: 10.0}, **given)


def test_the_gravity_vector():
    model = gs.robots.two_link()
    given = {"t_end": 0.3, "method": "rk4", "dt": 0.01, **state(model)}
    run = expect_derivatives(model, ["context.gravity"], **given)
    assert run.sensitivities["context.gravity"].q.shape == (31, 2, 3)


def test_a_driven_base():
    bob = gs.RigidBody("bob", mass=0.4, com=(0.1, 0.0, -0.2), inertia=(0.01, 0.02, 0.02))
    base = gs.HarmonicMotion(amplitude=(0.1, 0.0, 0.05), frequency=2.0, swing=0.3, swing_frequency=1.0)
    model = gs.assemble("shaken", gs.chain("world", gs.Joint("ball", "spherical"), bob), base=base)
    given = {"t_end": 0.2, "method": "rk4", "dt": 0.01, "t_eval": TOUCH, **state(model)}
    expect_derivatives(model, ["q0", "v0", "bob.mass", "bob.com"], **given)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler"])
def test_fixed_steps_that_the_end_cuts(method):
    model = gs.robots.two_link()
    given = {"t_end": 0.123, "method": method, "dt": 0.01, "torque": law, "parameters": {"kp": 8.0, "kd": 0.4}}
    expect_derivatives(model, ["kp", "q0", "v0"], **given, **state(model))


@pytest.mark.parametrize("t_eval", [None, TOUCH])
def test_semi_implicit_steps_of_a_free_base(t_eval):
    model = branched("free")
    given = {"t_end": 0.2, "method": "semi-implicit-euler", "dt": 0.01, "t_eval": t_eval, **state(model)}
    expect_derivatives(model, ["q0", "v0", "arm.com"], **given)


@pytest.mark.parametrize("method", ["dopri5", "ode23", "dop853"])
def test_dense_output_of_every_method_with_steps_that_stay(method):
    """Tolerances without meaning leave the largest step: adaptive methods then take fixed steps."""
    model = branched("free")
    given = {"t_end": 0.2, "method": method, "max_step": 0.02, "rtol": 1e6, "atol": 1e6, "t_eval": TOUCH}
    expect_derivatives(model, ["q0", "v0"], **given, **state(model))


@pytest.mark.parametrize("method", ["dopri5", "ode23", "dop853"])
def test_adaptive_steps_against_tight_tolerances(method):
    model = gs.robots.two_link()
    given = {"t_end": 1.0, "t_eval": np.linspace(0.0, 1.0, 11), "torque": law, "parameters": {"kp": 8.0, "kd": 0.4}}
    given |= state(model)
    exact = expect_derivatives(model, ["kp", "q0"], close=1e-7, rtol=1e-12, atol=1e-13, **given)
    run = gs.simulate(model, method=method, rtol=1e-7, sensitivities=["kp", "q0"], **given)
    for name in ("kp", "q0"):
        assert np.abs(run.sensitivities[name].q - exact.sensitivities[name].q).max() < 2e-5


def test_states_of_blocks_have_sensitivities():
    model = gs.robots.two_link()
    control = gs.blocks.pid(kp=[20, 10], ki=20, kd=[2, 1], reference=gs.trajectories.quintic([0, 0.5], [1, -0.5], 2))
    given = {"torque": control, "t_end": 0.2, "method": "rk4", "dt": 0.01, "t_eval": TOUCH, **state(model)}
    run = expect_derivatives(model, ["q0", "v0", "context.gravity"], **given)
    assert np.abs(run.sensitivities["q0"].p).max() > 0.01


@pytest.mark.parametrize("t_eval", [None, TOUCH])
@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_the_memory_of_digital_parts_moves_at_sampling_instants(method, t_eval):
    model = gs.robots.two_link()
    reference = gs.trajectories.quintic([0, 0.5], [1, -0.5], 2)
    control = gs.blocks.pd([30, 15], [2, 1], reference, sample_time=0.02, delay=1)
    steps = {"dt": 0.01} if method == "rk4" else {"max_step": 0.01, "rtol": 1e6, "atol": 1e6}
    given = {"torque": control, "t_end": 0.2, "method": method, "t_eval": t_eval, **steps, **state(model)}
    expect_derivatives(model, ["q0", "v0", "context.gravity"], close=1e-8, **given)


# ------------------------------------------------------------------------------------------------ closed forms
def test_a_falling_body_by_gravity_and_start():
    body = gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model = gs.assemble("falling", gs.chain("world", gs.Joint("fall", "prismatic", axis="z"), body))
    run = gs.simulate(model, t_end=1.0, v0=[0.3], sensitivities=["context.gravity", "v0", "q0", "body.mass"])
    by = run.sensitivities
    assert np.allclose(by["context.gravity"].q[:, 0], run.t[:, None] ** 2 / 2 * [0, 0, 1], atol=1e-12)
    assert np.allclose(by["v0"].q[:, 0, 0], run.t, atol=1e-13) and np.allclose(by["q0"].q, 1.0, atol=1e-13)
    assert np.all(by["body.mass"].q == 0.0)


def test_an_oscillator_by_its_stiffness_and_damping():
    """m x'' = -k x - c x' from x = 1: derivatives of the closed form by complex steps."""
    body = gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.1, 0.1))
    model = gs.assemble("oscillator", gs.chain("world", gs.Joint("slide", "prismatic", axis="x"), body))
    t, numbers = np.linspace(0.0, 3.0, 31), {"k": 8.0, "c": 0.6}

    def exact(k, c):
        decay, w = c / 4.0, np.sqrt(k / 2.0 - (c / 4.0) ** 2 + 0j)
        return np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))

    run = gs.simulate(
        model, lambda t, q, v, k, c: -k * q - c * v, q0=[1.0], t_eval=t, rtol=1e-11, atol=1e-12, parameters=numbers,
        sensitivities=["k", "c"],
    )  # fmt: skip
    for name in numbers:
        shifted = exact(**(numbers | {name: numbers[name] + 1e-30j}))
        assert np.abs(run.sensitivities[name].q[:, 0, 0] - shifted.imag / 1e-30).max() < 1e-9


def test_a_spinning_body_turns_with_its_start_along_its_own_axes():
    """About one axis at a constant rate, a turn of the start is seen in axes that turn back."""
    body = gs.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model = gs.assemble("top", gs.chain("world", gs.Joint("ball", "spherical"), body), gravity=(0, 0, 0))
    run = gs.simulate(model, v0=[0.0, 0.0, 2.0], t_end=1.0, sensitivities=["q0"])
    c, s = np.cos(2.0 * run.t), np.sin(2.0 * run.t)
    back = np.zeros((len(run.t), 3, 3))
    back[:, 0, 0] = back[:, 1, 1] = c
    back[:, 0, 1], back[:, 1, 0], back[:, 2, 2] = s, -s, 1.0
    assert np.abs(run.sensitivities["q0"].q - back).max() < 1e-12


# ------------------------------------------------------------------------------------------------ what stays the same
def test_a_step_at_the_limit_of_stability_keeps_sensitivities_bounded():
    body = gs.RigidBody("body", mass=0.01, inertia=(1e-3, 1e-3, 1e-3))
    model = gs.assemble("light", gs.chain("world", gs.Joint("slide", "prismatic", axis="x"), body))
    stiff = lambda t, q, v, kp: kp * (np.sin(t) - q) - 6.0 * v  # noqa: E731
    run = gs.simulate(model, stiff, t_end=4.0, parameters={"kp": 20.0}, sensitivities=["kp"])
    tight = gs.simulate(model, stiff, t_end=4.0, parameters={"kp": 20.0}, sensitivities=["kp"], max_step=1e-3)
    assert abs(run.sensitivities["kp"].q[-1] - tight.sensitivities["kp"].q[-1]).max() < 1e-6


def test_buffers_and_instants_do_not_change_the_bits(monkeypatch):
    from gyrostat.simulate.methods import compiled
    from gyrostat.simulate.plant import harvest

    model = gs.robots.two_link()
    given = {"torque": law, "parameters": {"kp": 8.0, "kd": 0.4}, "sensitivities": ["kp", "q0"], "t_end": 0.5}
    given |= state(model)
    whole = gs.simulate(model, **given)
    at_ends = gs.simulate(model, t_eval=whole.t, **given)
    monkeypatch.setattr(harvest, "ROWS", 3)
    monkeypatch.setattr(compiled, "FIRST_BUDGET", 2)
    cut = gs.simulate(model, **given)
    for name in ("kp", "q0"):
        for x in ("q", "v"):
            bits = getattr(whole.sensitivities[name], x)
            assert np.array_equal(bits, getattr(cut.sensitivities[name], x))
            assert np.array_equal(bits, getattr(at_ends.sensitivities[name], x))


def test_other_numbers_compile_nothing():
    from gyrostat.simulate.sensitivity import tangent_kernels

    model = gs.robots.two_link()
    made: list[Any] = []
    original = tangent_kernels.stage_tangents
    try:
        tangent_kernels.stage_tangents = lambda *x: made.append(1) or original(*x)
        for gain in (3.0, 4.0, 5.0):
            offset = 0.1 * gain
            torque = lambda t, q, v, kp: kp * (offset - q) - 0.1 * v  # noqa: B023, E731
            gs.simulate(model, torque, t_end=0.1, parameters={"kp": gain}, sensitivities=["kp"])
    finally:
        tangent_kernels.stage_tangents = original
    assert len(made) == 1


# ------------------------------------------------------------------------------------------------ events
def crossing(t: float, q: Array, v: Array) -> float:
    return q[0]


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 3.0, 40)])
@pytest.mark.parametrize("terminal", [False, True])
def test_events_that_change_nothing(t_eval, terminal):
    """Those that only watch leave sensitivities as they are; a terminal one ends them with the result."""
    model = gs.robots.pendulum()
    given = {"q0": [1.0], "t_end": 3.0, "t_eval": t_eval, "sensitivities": ["q0"]}
    event = gs.Event(crossing, terminal=terminal)
    run, plain = gs.simulate(model, events=event, **given), gs.simulate(model, **given)
    count = len(run.t)
    assert run.sensitivities["q0"].q.shape == (count, 1, 1) and len(run.events) >= 1
    if terminal:
        assert run.status == "event" and count < len(plain.t)
        count -= t_eval is None  # the last one is the event itself
        exact = gs.simulate(model, q0=[1.0], t_eval=[run.t[-1]], sensitivities=["q0"])
        assert np.allclose(run.sensitivities["q0"].q[-1], exact.sensitivities["q0"].q[-1], atol=1e-6)
    assert np.array_equal(run.sensitivities["q0"].q[:count], plain.sensitivities["q0"].q[:count])


def test_a_run_that_an_event_changes_is_refused_there():
    model = gs.robots.pendulum()
    bounce = gs.Event(crossing, reset=lambda t, q, v: (q, -v), name="wall")
    with pytest.raises(gs.SimulationError, match=r"'wall' changes the motion at t = .* sensitivities across") as told:
        gs.simulate(model, q0=[1.0], t_end=3.0, events=bounce, sensitivities=["q0"])
    result = told.value.result
    assert result.sensitivities["q0"].q.shape[0] == len(result.t)


def test_a_stop_that_is_never_reached_is_no_obstacle_and_one_that_is_is_named():
    body = gs.RigidBody("rod", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    hinge = gs.Joint("hinge", "revolute", axis="x", lower=-0.4, upper=1.5)
    model = gs.assemble("stopped", gs.chain("world", hinge, body))
    given = {"events": gs.JointLimits(), "t_end": 1.0, "sensitivities": ["q0"]}
    assert gs.simulate(model, q0=[0.1], **given).status == "finished"
    with pytest.raises(gs.SimulationError, match=r"hinge.* changes the motion at t = .* sensitivities across"):
        gs.simulate(model, q0=[1.0], **given)


# ------------------------------------------------------------------------------------------------ files and refusals
def test_sensitivities_are_saved_with_the_result(tmp_path):
    model = gs.robots.two_link()
    given = {"torque": law, "parameters": {"kp": 8.0, "kd": 0.4}, "sensitivities": ["kp", "q0"], "t_end": 0.1}
    run = gs.simulate(model, **given)
    again = gs.load_result(run.save(tmp_path / "run.npz"))
    assert list(again.sensitivities) == ["kp", "q0"]
    for name, kept in again.sensitivities.items():
        for x in ("q", "v", "p"):
            assert np.array_equal(getattr(kept, x), getattr(run.sensitivities[name], x))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "bdf"}, r"method 'bdf' has no sensitivities. Hint: these have: .*'dopri5'"),
        ({"sensitivities": "kp"}, r"sensitivities must be a list of names, got 'kp'"),
        ({"sensitivities": ["kq"]}, r"sensitivities name 'kq', which is neither 'q0' nor 'v0'.*kp"),
        ({"sensitivities": ["kp", "kp"]}, r"sensitivities name 'kp' twice"),
        ({"compiled": False}, r"sensitivities need the function law in machine code: not asked for"),
        ({"torque": lambda t, q, v, kp=1.0: -kp * q, "parameters": None}, r"'kp', an argument of the controller whose"),
        ({"sensitivities": ["upper.shapes"]}, r"'upper.shapes', which is .* and no finite number"),
        ({"torque": lambda t, q, v, q0: -q0 * q, "parameters": {"q0": 1.0}, "sensitivities": ["q0"]}, r"'q0' .* start"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_by_name(change, message):
    given = {"torque": law, "parameters": {"kp": 8.0, "kd": 0.4}, "sensitivities": ["kp"], "t_end": 0.1}
    with pytest.raises(gs.GyrostatError, match=message):
        gs.simulate(gs.robots.two_link(), **(given | change))


@pytest.mark.filterwarnings("ignore::gyrostat.PerformanceWarning")
def test_a_law_that_must_be_called_is_refused_with_a_hint():
    choosing = lambda t, q, v: -q if q[0] > 0 else -2.0 * q  # noqa: E731
    with pytest.raises(gs.GyrostatError, match=r"need the function .* in machine code: .* Hint: np.where"):
        gs.simulate(gs.robots.two_link(), choosing, t_end=0.1, sensitivities=["q0"])


def test_dry_friction_is_refused_by_name():
    model = gs.robots.pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=10.0, coulomb=0.1)
    with pytest.raises(gs.GyrostatError, match=r"dry friction of 'pendulum' sticks and slips.*smooth=0.01"):
        gs.simulate(model, q0=[1.0], t_end=0.1, sensitivities=["q0"])


def test_wrenches_and_properties_together_are_refused_and_wrenches_alone_are_not():
    model = gs.robots.pendulum()
    given = {"q0": np.array([0.3]), "v0": np.zeros(1), "t_end": 0.2, "method": "rk4", "dt": 0.01}
    given["wrenches"] = {"rod.tip": [0.0, 0.0, 0.0, 2.0, 0.0, 1.0]}
    expect_derivatives(model, ["q0", "v0"], **given)
    with pytest.raises(gs.GyrostatError, match=r"wrenches act on 'pendulum', and the sensitivity to 'rod.mass'"):
        gs.simulate(model, sensitivities=["rod.mass"], **given)


def test_a_block_that_reads_a_property_is_refused_for_it_and_for_no_other():
    mast = gs.RigidBody("mast", mass=50, inertia=(5, 5, 5), frames={"pin": (0.2, 0, -0.6), "next": (0, 0, 0)})
    beam = gs.RigidBody("beam", mass=200, com=(0.9, 0, 0), inertia=(3, 50, 50), frames={"pin": (0.6, 0, 0)})
    model = gs.assemble("crane", gs.chain("world", mast, gs.Joint("lift", "revolute", axis=(0, -1, 0)), beam))
    cylinder = gs.blocks.HydraulicCylinder(
        area=3e-3, stroke=0.6, dead_volume=2e-4, supply=20e6, flow=3e-7, rod_ratio=0.6, closed_length=0.65,
        viscous=3e3, between=("mast.pin", "beam.pin"), initial=(7e6, 6e6), name="lift",
    )  # fmt: skip
    servo = gs.blocks.diagram(gs.blocks.Constant([0.1], target="u"), cylinder, gives="tau")
    given = {"torque": servo, "q0": np.array([0.5]), "v0": np.zeros(1), "t_end": 0.02, "method": "rk4", "dt": 2e-4}
    expect_derivatives(model, ["beam.mass", "q0"], close=1e-7, **given)
    with pytest.raises(gs.GyrostatError, match=r"the block Diagram reads 'beam.pin.translation' of the model"):
        gs.simulate(model, sensitivities=["beam.pin.translation"], **given)


def test_a_root_without_a_slope_is_told():
    torque = lambda t, q, v: -np.sqrt(np.abs(v)) * np.sign(v)  # noqa: E731
    with pytest.raises(gs.SimulationError, match=r"the sensitivity to 'q0' is not finite after t = 0 s"):
        gs.simulate(gs.robots.pendulum(), torque, q0=[0.5], t_end=0.1, sensitivities=["q0"])
