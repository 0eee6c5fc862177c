"""Every mistake is told with block, property, value and remedy."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import blocks as bl

ARM = gs.robots.chain(3)
FREE = gs.robots.quadruped()

MISTAKES = {
    "negative gain": (lambda: bl.PID(-1.0), r"PID: kp must not be negative, got -1\. Hint: the law is u = kp"),
    "gain that is no number": (lambda: bl.PID("high"), r"PID: kp must hold real numbers"),
    "infinite gain": (lambda: bl.pd(np.inf, 1.0), r"kp must be finite, got inf"),
    "named block": (lambda: bl.PID(1.0, -2.0, name="wrist"), r"PID 'wrist': ki must not be negative, got -2"),
    "sizes": (lambda: bl.PID([1.0, 2.0], [1.0, 2.0, 3.0]), r"sizes do not fit: kp has 2, ki has 3\. Hint"),
    "limits": (lambda: bl.Saturation((-1.0, -2.0)), r"lower limit -1 is not below the upper limit -2\. Hint: limit=50"),
    "limits of two joints": (lambda: bl.PID(1.0, limit=(30, 50)), r"would keep everything above 30\. Hint: a tuple"),
    "no function": (lambda: bl.function(3.0), r"function: expected a function f\(t, \.\.\.\), got 3\.0"),
    "pd of quaternions": (lambda: bl.pd(1.0, 1.0, model=FREE), r"PID: .* quaternions cannot be subtracted"),
    "negative limit": (lambda: bl.PID(1.0, limit=-5.0), r"lower limit 5 is not below the upper limit -5"),
    "anti-windup": (lambda: bl.PID(1.0, 1.0, anti_windup="magic"), r"must be one of 'back-calculation', .*'magic'"),
    "integral alone": (lambda: bl.PID(0.0, 1.0, limit=1.0), r"no usual tracking_time.*Hint: give tracking_time"),
    "time constant": (lambda: bl.first_order(-0.1), r"first-order filter: time_constant must be above zero, got -0\.1"),
    "damping": (lambda: bl.second_order(1.0, -0.1), r"second-order filter: damping must not be negative, got -0\.1"),
    "improper": (lambda: bl.transfer_function([1, 0, 0], [1, 1]), r"degree 2, more than the 1 .*: improper\. Hint"),
    "denominator": (lambda: bl.transfer_function([1], [0, 1]), r"first coefficient of the denominator is zero"),
    "matrices": (lambda: bl.state_space(np.eye(2), [[1]], [[1, 0]], [[0]]), r"B has shape \(1, 1\), expected \(2, 1\)"),
    "vector for a matrix": (lambda: bl.state_space(0, [1, 2], 0, 0), r"B has shape \(2,\), expected two axes\. Hint"),
    "three matrices": (lambda: bl.state_space(1, 2, 3), r"expected A, B, C, D or one object"),
    "no system": (lambda: bl.state_space(object()), r"has neither A, B, C, D nor num, den\. Hint: state_space"),
    "table": (lambda: bl.Table([0.0, 2.0, 1.0], [0.0, 0.0, 0.0]), r"x must grow, but 1 comes after 2\. Hint: sort"),
    "table sizes": (lambda: bl.Table([0.0, 1.0], [0.0]), r"x has 2 numbers, y has 1"),
    "form": (lambda: bl.Table([0.0, 1.0], [0.0, 1.0], "wavy"), r"form must be one of 'linear', 'cubic', got 'wavy'"),
    "quantum": (lambda: bl.Quantiser(0.0), r"quantiser: quantum must be above zero, got 0"),
    "dead zone": (lambda: bl.DeadZone(-1.0), r"dead zone: width must not be negative, got -1"),
    "sample time": (lambda: bl.hold(0.0), r"sample_time must be one number above 0 s, got 0\.0\. Hint: 1 kHz"),
    "no sample time": (lambda: bl.Delay(None, 1), r"sample_time must be one number above 0 s, got nothing"),
    "samples": (lambda: bl.Delay(0.01, 1.5), r"samples must be a whole number from 0 to 100000, got 1\.5"),
    "delay of nothing": (lambda: bl.pd(1.0, 1.0, delay=2), r"delay = 2 counts samples, but there is no sample_time"),
    "rate limit": (lambda: bl.RateLimit(1.0), r"give either time_constant \(analogue\) or sample_time \(digital\)"),
    "rate limits": (lambda: bl.RateLimit((-2.0, -1.0), sample_time=1.0), r"zero must be between the limits"),
    "motor": (lambda: bl.MotorCurrent(0.0, 1.0, 1.0), r"motor current: inductance must be above zero, got 0"),
    "gear": (lambda: bl.MotorCurrent(1.0, 1.0, 1.0, 0.0), r"gear_ratio must not be zero"),
    "cylinder": (
        lambda: bl.HydraulicCylinder(1.0, 1.0, -1.0, 1.0, 1.0), r"dead_volume must be above zero, got -1\. Hint: in"
    ),
    "rod": (lambda: bl.HydraulicCylinder(1, 1, 1, 1, 1, 1.4), r"rod_ratio must be at most 1, got 1\.4\. Hint: side a"),
    "tank": (lambda: bl.HydraulicCylinder(1, 1, 1, 1e7, 1, tank=2e7), r"tank must be between lowest, -101325 Pa"),
    "pinion": (lambda: bl.HydraulicCylinder(1, 1, 1, 1, 1, lever=0.0), r"lever must not be zero, got 0\. Hint: 1 for"),
    "one pressure": (
        lambda: bl.HydraulicCylinder(1, 1, 1, 1, 1, initial=1e6), r"initial must hold 2 pressures, p_a before"
    ),
    "boiling": (
        lambda: bl.HydraulicCylinder(1, 1, 1, 1, 1, initial=(1e6, -2e5)), r"initial must not be below lowest"
    ),
    "one end": (
        lambda: bl.HydraulicCylinder(1, 1, 1, 1, 1, between="boom.pin"), r"between must name two ports .* got"
    ),
    "several between": (
        lambda: bl.HydraulicCylinder([1, 2], 1, 1, 1, 1, closed_length=1, between=("a", "b")), r"two frames is one"
    ),
    "no length": (
        lambda: bl.HydraulicCylinder(1, 1, 1, 1, 1, between=("a", "b")), r"closed_length must be above zero, got 0"
    ),
    "sum": (lambda: bl.Sum(("a", "a")), r"terms must be different signals"),
    "signs": (lambda: bl.Sum(("a", "b"), (1.0,)), r"1 signs for 2 terms"),
    "impulses": (
        lambda: bl.Reference(gs.trajectories.point_to_point([0.0], [1.0], 1.0, 0)),
        r"order 2 has impulses; 1 is the highest",
    ),
    "quaternions": (lambda: bl.ComputedTorque(FREE, 1.0, 1.0), r"quaternions cannot be subtracted\. Hint: control"),
    "gains of the model": (lambda: bl.ComputedTorque(ARM, [1.0, 2.0], 1.0), r"size has 3, kp has 2"),
    "reference of another robot": (
        lambda: bl.computed_torque(ARM, 1.0, 1.0, [0.0, 0.0]),
        r"computed torque: reference has 2 coordinates, but 'chain3' moves joint1, joint2, joint3 \(3\)",
    ),
    "joints in another order": (
        lambda: bl.pd(1.0, 1.0, gs.trajectories.hold([0.0] * 3, 1.0, names=ARM.dofs[::-1]), model=ARM),
        r"PID: reference has coordinates joint3, joint2, joint1, but 'chain3' moves joint1",
    ),
    "no such joint": (lambda: bl.pd({"elbwo": 1.0}, 0.0, model=ARM), r"has no rate 'elbwo'\. Hint"),
    "joints without model": (lambda: bl.pd({"elbow": 1.0}, 0.0), r"kp names joints, but there is no model"),
    "missing joints": (lambda: bl.pd({ARM.dofs[0]: 1.0}, 0.0, model=ARM), r"kp lacks .*Hint: give a value for every"),
    "joints without blocks": (
        lambda: bl.per_joint({ARM.dofs[0]: bl.p(1.0)}, ARM),
        r"2 joints have no block: .*Hint: add them, or others='zero'",
    ),
    "a joint twice": (lambda: bl.at_joints(ARM, [ARM.dofs[0]] * 2, bl.p(1.0)), r"is named twice"),
    "too few blocks": (lambda: bl.per_joint([bl.p(1.0)], ARM), r"1 blocks for .* which has 3 rates"),
    "no parts": (lambda: bl.series(), r"series: there are no parts"),
    "no block": (lambda: bl.series(bl.Gain(1.0), 3.0), r"series: 3\.0 is no block\. Hint"),
    "several outputs": (
        lambda: bl.series(bl.Reference([1.0]), bl.Gain(1.0)),
        r"reference gives 3 signals \(q_ref, v_ref, a_ref\), expected one\. Hint: use a diagram",
    ),
    "no input": (lambda: bl.series(bl.Gain(1.0), bl.Constant(1.0)), r"constant has no input that could take"),
    "two sources": (
        lambda: bl.diagram(bl.Gain(1.0), bl.Gain(2.0)),
        r"gain and gain both give the signal 'y'\. Hint: give them different targets",
    ),
    "unknown output": (lambda: bl.diagram(bl.Gain(1.0), gives="tau"), r"no part gives 'tau'\. Hint: known: 'y'"),
    "unknown port": (lambda: bl.renamed(bl.Gain(1.0), {"v": "q"}), r"gain has no such signal 'v'\. Hint"),
    "algebraic loop": (
        lambda: bl.diagram(bl.difference("u", "y", "e"), bl.Gain(2.0, source="e", name="loop gain"), gives="y"),
        r"an algebraic loop.*gain 'loop gain'.*Hint: put a lag \(first_order\) or a delay",
    ),
    "loop of digital blocks": (
        lambda: bl.diagram(bl.difference("u", "y", "e"), bl.hold(0.01, source="e"), gives="y"),
        r"an algebraic loop",
    ),
    "discretised twice": (lambda: bl.discretise(bl.hold(0.1), 0.1), r"discretise: expected an analogue linear block"),
    "feedforward": (lambda: bl.pd(1.0, 1.0, feedforward=bl.Reference([1.0])), r"is not a block with one output"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_name_block_property_value_and_remedy(make, message):
    with pytest.raises(gs.GyrostatError, match=message):
        make()


def test_functions_that_return_nonsense_are_refused():
    for returned, message in ((np.nan, "expected finite"), (np.eye(2), r"shape \(2, 2\)"), ("a", "real numbers")):
        block = bl.function(lambda t, r=returned: r, name="mine")
        with pytest.raises(gs.GyrostatError, match=f"function 'mine': it returned .*{message}"):
            block.output(0.5, {}, np.zeros(0), np.zeros(0))


def test_missing_and_misshapen_signals_are_told_when_they_are_read():
    law = bl.pd([1.0, 2.0], 1.0, [0.0, 0.0])
    empty = np.zeros(0)
    with pytest.raises(gs.StateError, match=r"diagram: there is no signal 'v' among q\. Hint"):
        law.output(0.0, {"q": np.zeros(2)}, empty, empty)
    with pytest.raises(gs.ShapeError, match=r"sum: signal 'q' has shape \(3,\), expected \(2,\)\. Hint"):
        law.output(0.0, {"q": np.zeros(3), "v": np.zeros(2)}, empty, empty)
    with pytest.raises(gs.ShapeError, match=r"signal 'u' has shape \(2,\), expected \(1,\)"):
        bl.first_order(0.1).derivative(0.0, {"u": np.zeros(2)}, np.zeros(1), empty)
    with pytest.raises(gs.ShapeError, match=r"gain has 3 numbers, but signal 'u' has 2"):
        bl.Gain([1.0, 2.0, 3.0]).output(0.0, {"u": np.zeros(2)}, empty, empty)
