"""Every block can be recorded: output, derivative and update are the same numbers, and whole controllers compile."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import blocks as bl
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.program import run as interpret
from gyrostat.engine.tracing.record import record

T = 0.01
ARM = gs.robots.chain(3)
TR = gs.trajectories
MOTION = TR.quintic([0.0, 0.2, -0.3], [1.0, -0.4, 0.5], 1.5)

BLOCKS = {
    "gain": bl.Gain([1.0, -2.0, 0.5]),
    "saturation": bl.Saturation(([-1.0, -np.inf, -0.5], [0.2, 0.3, np.inf])),
    "dead zone": bl.DeadZone(0.3),
    "quantiser": bl.Quantiser(0.125),
    "constant": bl.Constant([1.0, 2.0, 3.0]),
    "sum": bl.sum_of("q", "v", signs=[1, -1]),
    "linear table": bl.Table([-1.0, 0.0, 0.5, 2.0], [0.3, 1.0, -1.0, 0.0], outside="linear"),
    "cubic table": bl.Table([-1.0, 0.0, 0.5, 2.0], [0.3, 1.0, -1.0, 0.0], "cubic", "linear"),
    "rate limit": bl.RateLimit(0.5, time_constant=0.1, size=3),
    "digital rate limit": bl.RateLimit(0.5, sample_time=T, size=3),
    "first order": bl.first_order([0.1, 0.2, 0.3]),
    "second order": bl.second_order(10.0, 0.4, size=3),
    "lead lag": bl.lead_lag(0.1, 0.02, size=3),
    "derivative": bl.filtered_derivative(0.01, size=3),
    "transfer function": bl.transfer_function([1.0, 2.0, 1.0], [1.0, 3.0, 5.0], size=3),
    "digital transfer function": bl.transfer_function([1.0, 2.0], [1.0, 0.3, 0.1], size=3, sample_time=T),
    "state space": bl.state_space(-np.eye(2), np.ones((2, 3)), np.ones((3, 2)), np.zeros((3, 3))),
    "P": bl.PID(2.0, error="q"),
    "PI, back-calculation": bl.PID(2.0, 3.0, limit=0.5, size=3, error="q"),
    "PI, clamping": bl.PID(2.0, 3.0, limit=0.5, size=3, error="q", anti_windup="clamping"),
    "PID": bl.PID(2.0, [3.0, 0.0, 1.0], 0.1, limit=0.5, error="q", rate="v"),
    "digital PID": bl.PID(2.0, 3.0, 0.1, limit=0.5, size=3, error="q", rate="v", sample_time=T),
    "delay": bl.Delay(T, 2, size=3),
    "hold": bl.hold(T, 3),
    "motor": bl.MotorCurrent(1e-3, 0.5, 0.1, [50.0, -20.0, 10.0]),
    "cylinder": bl.HydraulicCylinder(
        1e-3,
        20.0,
        1e-4,
        [2e7, 1.5e7, 1e7],
        1e-7,
        0.6,
        closed_length=-10.0,
        leakage=1e-12,
        coulomb=100.0,
        viscous=50.0,
        initial=[1e6, 2e6, 3e7, 1e6, 1e5, 0.0],
        lowest=-1e9,
        suction=1e-7,
        end_stiffness=1e7,
    ),
    "cylinder between frames": bl.diagram(
        bl.Constant([0.4], target="u"),
        bl.HydraulicCylinder(
            1e-3, 2.0, 1e-4, 2e7, 1e-7, 0.6, closed_length=1e-3, lowest=-1e9, between=("link1.origin", "link3.tip")
        ),
        gives="tau",
    ).within(ARM),
    "reference": bl.Reference(MOTION),
    "function": bl.function(lambda t, q, v: np.sin(q) * t - v**2, "q", "v", target="tau"),
    "gravity": bl.GravityCompensation(ARM),
    "feedforward": bl.feedforward(ARM, MOTION),
    "computed torque": bl.computed_torque(ARM, 100.0, 20.0, MOTION, limit=50.0),
    "digital computed torque": bl.computed_torque(ARM, 100.0, 20.0, MOTION, sample_time=T, delay=1),
    "pd": bl.pd(100.0, 20.0, MOTION, limit=30.0),
    "pid with feedforward": bl.pid(
        10.0, 5.0, 2.0, MOTION, limit=9.0, feedforward=[bl.InverseDynamicsFeedforward(ARM), bl.GravityCompensation(ARM)]
    ),
    "digital pid": bl.pid(10.0, 5.0, 2.0, MOTION, limit=9.0, sample_time=T, delay=2),
    "per joint": bl.per_joint([bl.pd(1.0, 2.0, [0.1]), bl.pi(1.0, 2.0, [0.2]), bl.p(3.0, [0.3], sample_time=T)]),
    "at joints": bl.at_joints(ARM, ARM.dofs[1:2], bl.pd(1.0, 2.0, [0.1])),
    "several rates": bl.diagram(
        bl.hold(T, 3, target="a"), bl.hold(2 * T, 3, target="b"), bl.sum_of("a", "b", target="tau")
    ),
    "series": bl.series(bl.Gain(2.0), bl.first_order(0.1, size=3), bl.Quantiser(0.01)),
    "parallel": bl.parallel(bl.Gain(2.0), bl.first_order(0.1, size=3), target="w"),
    "renamed": bl.renamed(bl.first_order(0.1, size=3), {"u": "q"}, {"y": "tau"}),
    "analogue loop": bl.diagram(
        bl.difference("u", "y", "e"),
        bl.PID(2.0, 1.0, size=3, target="w"),
        bl.first_order(0.1, size=3, source="w"),
        gives="y",
    ),
    "digital loop": bl.diagram(
        bl.sum_of("u", "b", target="y"), bl.Delay(T, 1, size=3, source="y", target="b"), gives="y"
    ),
}


def program_of(block):
    """Everything a block computes, recorded as one program."""
    shapes = {"t": (), **{name: (3,) for name in block.inputs}, "p": (len(block.states),), "m": (len(block.memory),)}

    def everything(t, p, m, **x):
        found = {f"out_{key}": value for key, value in block.output(t[()], x, p, m).items()}
        return found | {"p_dot": block.derivative(t[()], x, p, m), "m_next": block.update(t[()], x, p, m)}

    kept = {key: shape for key, shape in shapes.items() if shape != (0,)}
    empty = {key: np.zeros(0) for key in ("p", "m") if key not in kept}
    return record(lambda **arrays: everything(**arrays, **empty), kept), kept


def plain(block, arrays):
    t, p, m = arrays["t"], arrays.get("p", np.zeros(0)), arrays.get("m", np.zeros(0))
    x = {key: value for key, value in arrays.items() if key not in "tpm"}
    found = list(block.output(float(t), x, p, m).values())
    return [*found, block.derivative(float(t), x, p, m), block.update(float(t), x, p, m)]


def states(block, shapes, rng):
    """A state near the initial one, at any time."""
    arrays = {key: np.asarray(rng.normal(size=shape)) for key, shape in shapes.items()}
    arrays["t"] = np.asarray(rng.uniform(0.0, 2.0))
    for key, start in (("p", block.states), ("m", block.memory)):
        if key in arrays:
            arrays[key] = np.array(start) + arrays[key] * np.maximum(1.0, np.abs(start))
    if block.memory and any(ratio > 1 for ratio in getattr(block, "ratios", ())):
        arrays["m"][0] = rng.integers(0, 2)
    return arrays


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
def test_what_is_recorded_is_what_is_computed(block):
    program, shapes = program_of(block)
    rng = np.random.default_rng(1)
    for _ in range(8):
        arrays = states(block, shapes, rng)
        flat = [arrays[slot.name].ravel() for slot in program.inputs]
        for got, expected in zip(interpret(program, *flat), plain(block, arrays), strict=True):
            size = max(1.0, float(np.abs(np.asarray(expected)).max(initial=0.0)))
            assert np.allclose(got, np.ravel(expected), rtol=0.0, atol=1e-12 * size)


@pytest.mark.parametrize("name", ["computed torque", "digital pid", "several rates", "cylinder"])
def test_whole_controllers_compile(name):
    block = BLOCKS[name]
    program, shapes = program_of(block)
    kernel = Kernel(program, name)
    arrays = states(block, shapes, np.random.default_rng(2))
    found = kernel.call(*(arrays[slot.name] for slot in program.inputs))
    for got, expected in zip(found.values(), plain(block, arrays), strict=True):
        size = max(1.0, float(np.abs(np.asarray(expected)).max(initial=0.0)))
        assert np.allclose(got, expected, rtol=0.0, atol=1e-12 * size)


# ------------------------------------------------------------------------------------------------ trajectories
RNG = np.random.default_rng(5)
MOTIONS = {
    "point to point": TR.point_to_point([0.3, 0.0], [1.0, -2.0], 1.7, 4),
    "moving ends": TR.quintic([0.0], [1.0], 1.2, start_derivatives=[[0.5], [0.1]], end_derivatives=[[0.2], [-1.0]]),
    "spline": TR.spline([0.0, 0.4, 1.1, 1.5], RNG.normal(size=(4, 2))),
    "periodic spline": TR.spline([0.0, 0.4, 1.1, 1.5], [[0.0], [1.0], [0.5], [0.0]], 3, "periodic"),
    "trapezoidal": TR.trapezoidal([0.0, 1.0], [1.0, -2.0], [1.0, 1.2], 4.0),
    "fourier": TR.fourier([0.1, 0.2], RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), 0.5),
    "filtered step": TR.filtered_step([0.0, 1.0], [2.0, 0.5], 2.5),
    "hold": TR.hold([0.3, 0.4], 1.0),
    "joined": TR.quintic([0.0], [1.0], 1.0).then(TR.hold([1.0], 0.3)).then(TR.septic([1.0], [0.5], 0.8)),
    "there and back": TR.trapezoidal([0.0], [1.0], 1.0, 4.0).then(TR.trapezoidal([1.0], [0.0], 1.0, 4.0)),
    "slower": TR.spline([0.0, 0.4, 1.1, 1.5], RNG.normal(size=(4, 2))).slower(1.5),
    "stacked": TR.stack(TR.quintic([0.0], [1.0], 1.0), TR.filtered_step([0.0], [1.0], 2.0)),
}


@pytest.mark.parametrize("motion", MOTIONS.values(), ids=MOTIONS.keys())
def test_recorded_references_are_the_trajectories(motion):
    block = bl.Reference(motion)
    program = record(lambda t: block.output(t, {}, np.zeros(0), np.zeros(0)), {"t": ()})
    inside = [*RNG.uniform(0.0, motion.duration, 20), 0.0, motion.duration]
    outside = [] if motion.outside == "error" else [-0.3, motion.duration + 0.4, 5.0 * motion.duration]
    seams = getattr(motion, "breaks", np.zeros(0)).tolist()
    seams += [motion.first.duration + 5e-3 * s for s in (-1, 0, 1)] if hasattr(motion, "first") else []
    peaks = np.maximum(motion.peaks(2), 1.0)[:, None]
    for t in [*inside, *seams, *outside]:
        got = np.array(interpret(program, [t]))
        assert np.all(np.abs(got - motion.derivatives(t, 2)) <= 1e-13 * peaks)


def test_times_outside_a_motion_that_does_not_rest_are_refused():
    block = bl.Reference(MOTIONS["moving ends"], 1)
    with pytest.raises(gs.StateError, match="outside"):
        block.output(1.3, {}, np.zeros(0), np.zeros(0))
    program = record(lambda t: block.output(t, {}, np.zeros(0), np.zeros(0)), {"t": ()})
    with pytest.raises(gs.NonFiniteError):
        Kernel(program, "reference").call(np.array(1.3))


def test_a_motion_that_cannot_be_recorded_says_so():
    long = TR.spline(np.arange(302.0), np.sin(np.arange(302.0))[:, None])
    with pytest.raises(gs.RecordError, match=r"301 pieces is too long.*Hint: take fewer points"):
        record(lambda t: bl.Reference(long).output(t, {}, np.zeros(0), np.zeros(0)), {"t": ()})

    class Own(type(TR.hold([0.0], 1.0)).__base__):
        kind = "motion of my own"

        def evaluate(self, t, order):
            return np.zeros((len(t), order + 1, 1))

    with pytest.raises(
        gs.RecordError, match=r"a motion of my own cannot be recorded\. Hint: lay a trajectories.spline"
    ):
        record(lambda t: bl.Reference(Own(1, 1.0, 5, "continue")).output(t, {}, np.zeros(0), np.zeros(0)), {"t": ()})
