"""What users call: states in every form, batches, every refusal by its message, fresh results, and motions of frames.

Everything is asked of the interpreted and of the compiled code, and of compiled solvers that have been called before.
"""

from __future__ import annotations

import copy
import decimal
import gc
import pickle
import weakref
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from tests.support.comparing import REPRESENTATIONS, assert_close, central, rate
from tests.support.examples import few
from tests.support.random_models import random_state, random_wrenches, various_tree
from tests.support.trajectories import model_state

MODES = ("interpret", "compile", "warm")
J = ((0.30, 0.02, -0.01), (0.02, 0.25, 0.03), (-0.01, 0.03, 0.20))


def link(name):
    return gs.RigidBody(
        name, mass=1.3, com=(0.1, -0.2, 0.15), inertia=J, frames={"tip": ((0.2, 0.1, 0.4), gs.rpy(0.1, 0.2, 0.3))}
    )


ARM = gs.assemble("arm", gs.chain("world", gs.Joint("shoulder", "revolute", axis="y"), link("upper"),
                                  gs.Joint("elbow", "revolute", axis="x"), link("lower")))  # fmt: skip
MIXED = gs.assemble("mixed", gs.chain("world", gs.Joint("ball", "spherical"), link("upper"),
                                      gs.Joint("slide", "cylindrical", axis="z"), link("lower"),
                                      gs.Joint("wrist", "prismatic", axis="x"), link("hand")))  # fmt: skip
STILL = gs.assemble(
    "still", gs.chain("world", link("post"), gs.Displacement("shift", translation=(1, 2, 3)), link("lamp"))
)
MODELS = {"arm": ARM, "mixed": MIXED, "still": STILL}
REST = {"arm": np.zeros(2), "mixed": np.r_[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], "still": np.zeros(0)}


@cache
def rnea_of(name: str, mode: str) -> gs.InverseDynamics:
    """A solver; ``warm`` is a compiled one whose fast path has been installed."""
    solver = gs.InverseDynamics(MODELS[name], mode="interpret" if mode == "interpret" else "compile")
    if mode == "warm":
        zero = np.zeros(MODELS[name].nv)
        solver(REST[name], zero, zero)
        solver(REST[name], zero, zero)
    return solver


@cache
def fk_of(name: str, mode: str) -> gs.ForwardKinematics:
    return gs.ForwardKinematics(MODELS[name], mode="interpret" if mode == "interpret" else "compile")


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def state(model, seed=1):
    return random_state(model, np.random.default_rng(seed))


def expected(name, q, v, a):
    """One plain state after the other, through the interpreted code."""
    solver = rnea_of(name, "interpret")
    q, v, a = (np.asarray(x, dtype=float) for x in (q, v, a))
    shape = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, a)))
    q, v, a = (np.broadcast_to(x, (*shape, x.shape[-1])) for x in (q, v, a))
    found = np.empty((*shape, MODELS[name].nv))
    for index in np.ndindex(shape):
        found[index] = solver(q[index].copy(), v[index].copy(), a[index].copy())
    return found


# ------------------------------------------------------------------------------------------------ forms of states
def test_states_may_be_arrays_lists_and_tuples(mode):
    q, v, a = state(ARM)
    tau = expected("arm", q, v, a)
    for form in (np.array, list, tuple, np.ndarray.tolist, np.ma.array):
        found = rnea_of("arm", mode)(form(q), form(v), form(a))
        assert_close(found, tau, 1e-13)
        assert type(found) is np.ndarray
        assert found.dtype == np.float64


def test_states_may_be_dicts_by_joint_or_by_coordinate(mode):
    q, v, a = state(MIXED)
    tau = expected("mixed", q, v, a)
    by_joint = {"ball": q[:4], "slide": q[4:6], "wrist": q[6]}, {"wrist": v[5], "slide": list(v[3:5]), "ball": v[:3]}
    by_name = dict(zip(MIXED.coordinates, q, strict=True)), dict(zip(MIXED.dofs, v, strict=True))
    assert list(by_name[1]) == ["ball.wx", "ball.wy", "ball.wz", "slide.angle", "slide.shift", "wrist"]
    mixed = {"ball": q[:4], "slide.shift": q[5], "slide.angle": q[4], "wrist": q[6]}, by_joint[1]
    for q_form, v_form in (by_joint, by_name, mixed):
        assert_close(rnea_of("mixed", mode)(q_form, v_form, a), tau, 1e-13)
        assert_close(fk_of("mixed", mode)(q_form, v_form)["hand"].V, fk_of("mixed", "interpret")(q, v)["hand"].V, 1e-13)


def test_entries_of_a_dict_may_be_batches_that_go_together(mode):
    q, v, a = state(MIXED)
    wrist, slide = np.linspace(-1, 1, 4), np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    by_joint = {"ball": q[:4], "slide": slide[:, None, :], "wrist": wrist}
    full = np.concatenate([np.broadcast_to(q[:4], (3, 4, 4)), np.broadcast_to(slide[:, None], (3, 4, 2)),
                           np.broadcast_to(wrist[:, None], (3, 4, 1))], axis=-1)  # fmt: skip
    tau = rnea_of("mixed", mode)(by_joint, v, a)
    assert tau.shape == (3, 4, 6)
    assert_close(tau, expected("mixed", full, v, a), 1e-13)


def test_leading_axes_are_broadcast(mode):
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(5, 1, 2)), rng.normal(size=(3, 2)), rng.normal(size=2)
    tau = rnea_of("arm", mode)(q, v, a)
    assert tau.shape == (5, 3, 2)
    assert_close(tau, expected("arm", q, v, a), 1e-13)
    frames = fk_of("arm", mode)(q, v, a)["lower.tip"]
    assert (frames.R.shape, frames.p.shape, frames.V.shape, frames.A.shape) == (
        (5, 3, 3, 3),
        (5, 3, 3),
        (5, 3, 6),
        (5, 3, 6),
    )
    assert frames.matrix.shape == (5, 3, 4, 4)
    assert frames.velocity("world").shape == frames.acceleration("aligned").shape == (5, 3, 6)
    one = fk_of("arm", "interpret")(q[2, 0], v[1], a)["lower.tip"]
    assert_close(frames.matrix[2, 1], one.matrix, 1e-13)
    assert_close(frames.acceleration("aligned")[2, 1], one.acceleration("aligned"), 1e-13)


def test_wrenches_are_broadcast_too(mode):
    w, q, v, a = np.random.default_rng(5).normal(size=(7, 1, 6)), *state(ARM)
    solver = rnea_of("arm", mode)
    tau = solver(q, v, a, {"lower.tip": w, "upper": gs.Wrench(w[0, 0], "world")})
    assert tau.shape == (7, 1, 2)
    one = solver(q, v, a, {"lower.tip": w[3, 0], "upper": gs.Wrench(w[0, 0], "world")})
    assert_close(tau[3, 0], one, 1e-13)


def test_times_are_broadcast_where_the_base_moves_and_ignored_elsewhere(mode):
    q, v, a = state(ARM)
    times = np.linspace(0.0, 1.0, 6).reshape(2, 3)
    assert np.array_equal(rnea_of("arm", mode)(q, v, a, t=times), rnea_of("arm", mode)(q, v, a))
    motion = gs.HarmonicMotion(amplitude=(0.1, 0.2, 0.3), frequency=0.5, axis=(0, 1, 0), swing=0.3, swing_frequency=0.2)
    driven = gs.Model("driven", ARM.entities, ARM.connections, gs.Context(base=motion))
    solver = gs.InverseDynamics(driven, mode="interpret" if mode == "interpret" else "compile")
    tau = solver(np.stack([q, q])[:, None], v, a, t=times)
    assert tau.shape == (2, 3, 2)
    assert_close(tau[1, 2], solver(q, v, a, t=1.0), 1e-13)
    assert np.abs(tau[0, 0] - tau[1, 2]).max() > 1e-3


SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
DTYPES = (np.float64, np.float32, np.float16, np.longdouble, np.int8, np.int64, np.uint16, ">f8", ">i4")


def odd_strides(x, how):
    """The same numbers, laid out in another way."""
    if how == "reversed":
        return x[..., ::-1].copy()[..., ::-1]
    if how == "fortran":
        return np.asfortranarray(x)
    if how == "spread":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if how == "read-only":
        x = x.copy()
        x.flags.writeable = False
    if how == "unaligned":
        raw = np.empty(x.nbytes + 1, dtype=np.uint8)[1:].view(x.dtype).reshape(x.shape)
        raw[...] = x
        return raw
    return x


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=few(40), deadline=None)
@given(data=st.data())
def test_any_shape_kind_of_number_and_layout_gives_the_same(mode, data):
    shape = data.draw(SHAPES)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    arrays, plain = [], []
    for _ in range(3):
        lead = data.draw(st.sampled_from([shape, shape[1:], shape[:1] + (1,) * (len(shape) - 1), ()]))
        x = np.round(rng.uniform(0, 5, (*lead, 2)), 1).astype(data.draw(st.sampled_from(DTYPES)))
        how = data.draw(st.sampled_from(["plain", "reversed", "fortran", "spread", "read-only", "unaligned"]))
        arrays.append(odd_strides(x, how))
        plain.append(np.array(x, dtype=float))
    before = [x.copy() for x in arrays]
    tau = rnea_of("arm", mode)(*arrays)
    assert_close(tau, expected("arm", *plain), 1e-13)
    assert tau.dtype == np.float64
    assert all(np.array_equal(x, y) for x, y in zip(arrays, before, strict=True))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (2, 0, 5)])
def test_empty_batches_give_empty_results(mode, shape):
    q, rest = np.zeros((*shape, 2)), np.zeros(2)
    assert rnea_of("arm", mode)(q, rest, rest).shape == (*shape, 2)
    assert rnea_of("arm", mode)(rest, rest, q, {"lower": np.zeros(6)}).shape == (*shape, 2)
    assert fk_of("arm", mode)(q)["lower"].matrix.shape == (*shape, 4, 4)
    assert gs.InverseDynamics(ARM, mode="interpret").port_forces(q, rest, rest)["elbow.b"].shape == (*shape, 6)


def test_a_model_that_cannot_move_has_empty_states(mode):
    solver, kinematics = rnea_of("still", mode), fk_of("still", mode)
    assert (STILL.nq, STILL.nv, STILL.dofs) == (0, 0, ())
    assert solver([], [], []).shape == (0,)
    assert solver({}, {}, {}).shape == (0,)
    assert solver(np.zeros((4, 0)), np.zeros(0), np.zeros((2, 1, 0))).shape == (2, 4, 0)
    assert solver(np.zeros((0, 0)), [], []).shape == (0, 0)
    assert kinematics([])["lamp"].p.shape == (3,)
    assert kinematics(np.zeros((5, 0)), np.zeros(0))["lamp"].V.shape == (5, 6)
    with pytest.raises(gs.ShapeError, match=r"rnea: q has shape \(1,\), expected \(\.\.\., 0\)"):
        solver([0.0], [], [])
    op = gs.operators(STILL, [], [])
    assert op.rnea([]).shape == (0,)
    assert op.mass_matrix().shape == (0, 0)


# ------------------------------------------------------------------------------------------------ refusals
MASKED = np.ma.array([0.1, 0.2], mask=[False, True])
QUATERNION = [0.0, 0.0, 0.0, 1.0]
BAD_NUMBERS = [
    ([0.1], gs.ShapeError, r"rnea: {x} has shape \(1,\), expected \(\.\.\., 2\), n[qv] of 'arm'"),
    (0.1, gs.ShapeError, r"rnea: {x} has shape \(\), expected \(\.\.\., 2\)"),
    (np.zeros((2, 3)), gs.ShapeError, r"rnea: {x} has shape \(2, 3\), expected \(\.\.\., 2\)"),
    ([], gs.ShapeError, r"rnea: {x} has shape \(0,\), expected \(\.\.\., 2\)"),
    ("ab", gs.ShapeError, r"rnea: {x} must hold real numbers, got <U2 \('ab'\)"),
    (["0.1", "0.2"], gs.ShapeError, r"rnea: {x} must hold real numbers, got <U3"),
    ([0.1j, 0.2], gs.ShapeError, r"rnea: {x} must hold real numbers, got complex128"),
    ([True, False], gs.ShapeError, r"rnea: {x} must hold real numbers, got bool"),
    (None, gs.ShapeError, r"rnea: {x} must hold real numbers, got object \(None\)"),
    ([0.1, None], gs.ShapeError, r"rnea: {x} must hold real numbers, got object"),
    (np.array([0.1, 0.2], dtype=object), gs.ShapeError, r"rnea: {x} must hold real numbers, got object"),
    ([decimal.Decimal("0.1"), 0.2], gs.ShapeError, r"rnea: {x} must hold real numbers, got object"),
    (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), gs.ShapeError, r"rnea: {x} must hold real numbers"),
    (np.zeros(2, dtype=[("x", float)]), gs.ShapeError, r"rnea: {x} must hold real numbers"),
    ([[0.1, 0.2], [0.3]], gs.ShapeError, r"rnea: {x} is not a rectangular array"),
    (MASKED, gs.ShapeError, r"rnea: {x} is a masked array with masked entries. Hint: fill them"),
    ([0.1, np.nan], gs.NonFiniteError, r"rnea: {x} of 'elbow' is nan, not a finite number"),
    ([-np.inf, 0.2], gs.NonFiniteError, r"rnea: {x} of 'shoulder' is -inf, not a finite number"),
    ([[0.1, 0.2], [np.inf, 0.2]], gs.NonFiniteError, r"rnea: {x} of 'shoulder' in state \(1,\) is inf"),
    ({"shoulder": 0.1}, gs.StateError, r"rnea: {x} does not say 'elbow'. Hint: every joint of 'arm' is needed"),
    ({"shoulder": 0.1, "elbwo": 0.2}, gs.StateError, r"rnea: {x} names 'elbwo', which .* did you mean 'elbow'"),
    ({"shoulder": 0.1, 7: 0.2}, gs.StateError, r"rnea: {x} names '7', which is no joint of 'arm'"),
    ({}, gs.StateError, r"rnea: {x} does not say 'shoulder'"),
    ({"shoulder": "a", "elbow": 0.2}, gs.ShapeError, r"rnea: {x}\['shoulder'\] must hold real numbers"),
    ({"shoulder": [1, 2, 3], "elbow": [1, 2]}, gs.ShapeError, r"entries of {x} have shapes \(3,\), \(2,\), which"),
]  # fmt: skip


@pytest.mark.parametrize("which", "qva")
@pytest.mark.parametrize(("value", "error", "pattern"), BAD_NUMBERS, ids=[repr(b[0])[:40] for b in BAD_NUMBERS])
def test_a_state_that_is_none_is_refused_in_words(mode, which, value, error, pattern):
    given = {"q": np.zeros(2), "v": np.zeros(2), "a": np.zeros(2)} | {which: value}
    with pytest.raises(error, match=pattern.replace("{x}", which)):
        rnea_of("arm", mode)(given["q"], given["v"], given["a"])


BAD_MIXED = [
    (np.r_[0, 0, 0, 2.0, 0, 0, 0], gs.StateError, r"the quaternion of 'ball' has length 2, expected 1. Hint: x y z w"),
    (np.zeros(7), gs.StateError, r"the quaternion of 'ball' has length 0, expected 1"),
    (np.r_[0, 0, 0, 1 + 2e-6, 0, 0, 0], gs.StateError, r"the quaternion of 'ball' has length 1, expected 1"),
    ([REST["mixed"], np.ones(7)], gs.StateError, r"the quaternion of 'ball' in state \(1,\) has length 2"),
    (np.zeros(6), gs.ShapeError, r"q has shape \(6,\), expected \(\.\.\., 7\).*Hint: nq = 7 with quaternions, nv = 6"),
    ({"ball": [0, 0, 1], "slide": [0, 0], "wrist": 0}, gs.ShapeError, r"q\['ball'\] has shape \(3,\), expected .*4\)"),
    ({"ball": 1.0, "slide": [0, 0], "wrist": 0}, gs.ShapeError, r"q\['ball'\] has shape \(\), expected \(\.\.\., 4\)"),
    ({"ball": QUATERNION, "slide": [0, 0], "slide.shift": 0, "wrist": 0}, gs.StateError, r"also .slide\."),
    ({"ball": QUATERNION, "slide.shift": 0, "wrist": 0}, gs.StateError, r"q does not say 'slide.angle'"),
    ({"ball": QUATERNION, "slide.shft": 0}, gs.StateError, r"q names 'slide.shft'.*did you mean 'slide.shift'"),
]  # fmt: skip


@pytest.mark.parametrize(("q", "error", "pattern"), BAD_MIXED)
def test_coordinates_of_joints_with_several_are_checked(mode, q, error, pattern):
    with pytest.raises(error, match=pattern):
        rnea_of("mixed", mode)(q, np.zeros(6), np.zeros(6))
    with pytest.raises(error, match=pattern):
        fk_of("mixed", mode)(q)


def test_a_quaternion_of_nearly_unit_length_is_taken_as_it_is_meant(mode):
    q, v, a = state(MIXED)
    scaled = q.copy()
    scaled[:4] *= 1 + 5e-7
    assert_close(rnea_of("mixed", mode)(scaled, v, a), rnea_of("mixed", mode)(q, v, a), 1e-13)


def test_shapes_that_do_not_go_together_are_refused(mode):
    with pytest.raises(gs.ShapeError, match=r"rnea: leading shapes do not go together: q \(3,\), v \(2,\), a \(\)"):
        rnea_of("arm", mode)(np.zeros((3, 2)), np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(gs.ShapeError, match=r"fk: leading shapes do not go together: q \(3,\), v \(2,\)"):
        fk_of("arm", mode)(np.zeros((3, 2)), np.zeros((2, 2)))
    with pytest.raises(gs.ShapeError, match=r"rnea: leading shapes do not go together: q \(3,\).*\(4,\)"):
        rnea_of("arm", mode)(np.zeros((3, 2)), np.zeros(2), np.zeros(2), {"lower": np.zeros((4, 6))})


BAD_WRENCHES = [
    ([0.0] * 6, gs.ShapeError, r"rnea: wrenches must map ports to wrenches, got list. Hint: \{'tool': w\}"),
    (gs.Wrench(np.zeros(6)), gs.ShapeError, r"rnea: wrenches must map ports to wrenches, got Wrench"),
    ({"lower": np.zeros(5)}, gs.ShapeError, r"rnea: wrench at 'lower' has shape \(5,\), expected \(\.\.\., 6\)"),
    ({"lower": 3.0}, gs.ShapeError, r"rnea: wrench at 'lower' has shape \(\)"),
    ({"lower": None}, gs.ShapeError, r"rnea: wrench at 'lower' must hold real numbers"),
    ({"lower": "abcdef"}, gs.ShapeError, r"rnea: wrench at 'lower' must hold real numbers"),
    ({"lower": [np.nan] * 6}, gs.NonFiniteError, r"rnea: wrench at 'lower' is not finite"),
    ({"lowr": np.zeros(6)}, gs.FrameError, r"no frame or port 'lowr' in 'arm'. Hint: did you mean 'lower'"),
    ({"lower.tpi": np.zeros(6)}, gs.FrameError, r"no frame or port 'lower\.tpi'.*did you mean 'lower\.tip'"),
    ({3: np.zeros(6)}, gs.FrameError, r"named by texts, got 3"),
    ({"lower": gs.Wrench(np.zeros(6), "locl")}, gs.FrameError, r"no frame or port 'locl'"),
    ({"lower": gs.Wrench(np.zeros(6), "uper")}, gs.FrameError, r"no frame or port 'uper'.*did you mean 'upper'"),
]  # fmt: skip


@pytest.mark.parametrize(("wrenches", "error", "pattern"), BAD_WRENCHES)
def test_wrong_wrenches_are_refused(mode, wrenches, error, pattern):
    rest = np.zeros(2)
    with pytest.raises(error, match=pattern):
        rnea_of("arm", mode)(rest, rest, rest, wrenches)
    with pytest.raises(error, match=pattern):
        rnea_of("arm", mode).port_forces(rest, rest, rest, wrenches)


def test_numbers_that_are_too_large_end_in_an_exception(mode):
    huge = np.full(2, 1e200)
    with (
        pytest.raises(gs.NonFiniteError, match=r"rnea: .*not finite.*Hint: the numbers.*too large"),
        np.errstate(all="ignore"),
    ):
        rnea_of("arm", mode)(np.zeros(2), huge, np.zeros(2))
    with pytest.raises(gs.NonFiniteError, match=r"fk: .*not finite.*too large"), np.errstate(all="ignore"):
        fk_of("arm", mode)(np.zeros(2), huge, np.zeros(2))
    batch = np.stack([np.zeros(2), huge])
    with pytest.raises(gs.NonFiniteError, match=r"in state \(1,\)"), np.errstate(all="ignore"):
        rnea_of("arm", mode)(np.zeros(2), batch, np.zeros(2))


def test_constructors_refuse_unknown_names():
    with pytest.raises(
        gs.GyrostatError, match=r"one of body, inertial, absolute, got 'bdy'\. Hint: did you mean 'body'"
    ):
        gs.InverseDynamics(ARM, "bdy")
    with pytest.raises(gs.GyrostatError, match="one of body, inertial, absolute, got 'world'"):
        gs.rnea(ARM, [0, 0], [0, 0], [0, 0], representation="world")
    with pytest.raises(gs.GyrostatError, match=r"no algorithm 'rnea'\. Hint: did you mean 'rne'"):
        gs.InverseDynamics(ARM, algorithm="rnea")
    with pytest.raises(
        gs.GyrostatError, match=r"mode must be one of auto, compile, interpret, got 'compiled'.*did you mean 'compile'"
    ):
        gs.InverseDynamics(ARM, mode="compiled")
    with pytest.raises(gs.FrameError, match=r"no frame or port 'lowr' in 'arm'. Hint: did you mean 'lower'"):
        gs.ForwardKinematics(ARM, ["upper", "lowr"])
    with pytest.raises(gs.SpecError, match="no rule 'merge'"):
        gs.InverseDynamics(ARM, rules=["merge"])
    with pytest.raises(gs.SpecError, match=r"did you mean 'mass'"):
        gs.InverseDynamics(ARM, live=["lower.mas"])
    broken = ARM.replace({"lower.mass": -1.0})
    with pytest.raises(gs.SpecError, match="mass must not be negative"):
        gs.rnea(broken, [0, 0], [0, 0], [0, 0])


def test_motions_refuse_what_was_not_computed(mode):
    kinematics, rest = fk_of("arm", mode), np.zeros(2)
    with pytest.raises(gs.StateError, match=r"fk: a was given without v\. Hint: .*pass v too"):
        kinematics(rest, a=rest)
    placed, moving = kinematics(rest)["lower"], kinematics(rest, rest)["lower"]
    for ask in (placed.velocity, placed.acceleration, placed.spatial_acceleration):
        with pytest.raises(
            gs.StateError, match=r"motion of 'lower\.origin' was computed without [va]. Hint: pass [va]"
        ):
            ask()
    with pytest.raises(gs.StateError, match=r"computed without a\. Hint: pass a to the solver"):
        moving.acceleration()
    with pytest.raises(
        gs.FrameError, match=r"expressed_in must be one of local, aligned, world, got 'lcal'.*did you mean 'local'"
    ):
        moving.velocity("lcal")
    with pytest.raises(
        gs.FrameError, match=r"must be 'local' or 'aligned', got 'world'\. Hint: .*spatial_acceleration"
    ):
        kinematics(rest, rest, rest)["lower"].acceleration("world")


# ------------------------------------------------------------------------------------------------ results
def test_results_are_fresh_and_inputs_stay_as_they_were(mode):
    q, v, a, w = *state(ARM), np.arange(6.0)
    before = [x.copy() for x in (q, v, a, w)]
    solver = rnea_of("arm", mode)
    one, two, pushed = solver(q, v, a), solver(q, v, a), solver(q, v, a, {"lower": w})
    assert not any(np.may_share_memory(x, y) for x in (one, two, pushed) for y in (q, v, a, w))
    assert not np.may_share_memory(one, two)
    keep = two.copy()
    one[...] = 99.0
    assert np.array_equal(two, keep)
    assert np.array_equal(solver(q, v, a), keep)
    first, second = fk_of("arm", mode)(q, v, a), fk_of("arm", mode)(q, v, a)
    for name in first:
        for part in ("R", "p", "V", "A"):
            assert not np.may_share_memory(getattr(first[name], part), getattr(second[name], part))
    assert all(np.array_equal(x, y) for x, y in zip((q, v, a, w), before, strict=True))
    assert one.flags.writeable


def test_a_result_can_be_written_into_an_array_of_the_caller(mode):
    q, v, a = state(ARM)
    solver, out = rnea_of("arm", mode), np.empty(2)
    assert solver(q, v, a, out=out) is out
    assert_close(out, expected("arm", q, v, a), 1e-13)
    batch = np.empty((3, 4))[:, ::2]
    solver(np.tile(q, (3, 1)), v, a, out=batch)
    assert_close(batch, np.tile(out, (3, 1)), 1e-13)


def test_a_state_gives_the_same_bits_alone_and_anywhere_in_a_batch():
    rng = np.random.default_rng(8)
    q, v, a = rng.normal(size=(3, 23, 2))
    solver = rnea_of("arm", "warm")
    batch = solver(q, v, a)
    assert np.array_equal(batch, [solver(*s) for s in zip(q, v, a, strict=True)])
    assert np.array_equal(batch, solver(q, v, a, threads=3))
    assert np.array_equal(batch[5:9], solver(q[5:9], v[5:9], a[5:9]))


@pytest.mark.by_default(1)
@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_interpreted_code_agree(seed):
    model = various_tree(seed, bodies=4 + seed, momentum=True)
    rng = np.random.default_rng(seed)
    q, v, a = random_state(model, rng)
    w = random_wrenches(model, rng, 4)
    for rep in REPRESENTATIONS:
        compiled, plain = (gs.InverseDynamics(model, rep, mode=m) for m in ("compile", "interpret"))
        assert_close(compiled(q, v, a, w), plain(q, v, a, w), 1e-12)
        assert_close(compiled(q, v, a), plain(q, v, a), 1e-12)
    forces = plain.port_forces(q, v, a, w)
    for port, f in compiled.port_forces(q, v, a, w).items():
        assert_close(f, forces[port], 1e-12)
    one, two = (gs.ForwardKinematics(model, mode=m)(q, v, a) for m in ("compile", "interpret"))
    for name in one:
        for part in ("R", "p", "V", "A"):
            assert_close(getattr(one[name], part), getattr(two[name], part), 1e-12)


@pytest.mark.parametrize("rep", REPRESENTATIONS)
def test_live_properties_can_be_refreshed_and_others_cannot(rep):
    """Every rule is on, also those that move inertia about: what is live must follow."""
    paths = ["lower.mass", "lower.com", "upper.inertia", "upper.tip.translation", "elbow.axis"]
    solver = gs.InverseDynamics(ARM, rep, live=paths)
    q, v, a = state(ARM)
    assert_close(solver(q, v, a), expected("arm", q, v, a), 1e-12)
    values = 3.1, (0.3, 0.1, -0.2), (0.4, 0.5, 0.6), (0.1, 0.5, 0.2), (0.6, 0.0, 0.8)
    other = ARM.replace(dict(zip(paths, values, strict=True)))
    solver.refresh(other)
    wanted = gs.InverseDynamics(other, mode="interpret", rules=())(q, v, a)
    assert_close(solver(q, v, a), wanted, 1e-12)
    assert_close(solver(np.stack([q, q]), v, a)[1], wanted, 1e-12)
    with pytest.raises(gs.SpecError, match=r"'upper\.mass' differs but is not live.*live=\['upper\.mass'"):
        solver.refresh(other.replace({"upper.mass": 9.0}))


def test_the_short_functions_are_the_solvers():
    q, v, a = state(MIXED)
    tau = expected("mixed", q, v, a)
    for rep in REPRESENTATIONS:
        assert_close(gs.rnea(MIXED, q, v, a, representation=rep), tau, 1e-12)
        assert_close(gs.rnea(MIXED, q, v, a, {"hand": np.ones(6)}, representation=rep),
                     rnea_of("mixed", "interpret")(q, v, a, {"hand": np.ones(6)}), 1e-12)  # fmt: skip
        assert_close(
            gs.fk(MIXED, q, v, a, representation=rep)["hand"].A, fk_of("mixed", "interpret")(q, v, a)["hand"].A, 1e-12
        )
    assert_close(gs.fk(MIXED, q)["hand.tip"].p, fk_of("mixed", "interpret")(q)["hand.tip"].p, 1e-13)


def test_a_solver_is_built_once_for_a_model_and_goes_with_it(monkeypatch):
    built = []
    real = gs.InverseDynamics.__init__
    monkeypatch.setattr(
        gs.InverseDynamics,
        "__init__",
        lambda self, *x, **y: (built.append(y["representation"]), real(self, *x, **y))[1],
    )
    model = gs.robots.pendulum(mass=1.234)
    first = gs.rnea(model, [0.3], [0.2], [0.1])
    for _ in range(3):
        assert np.array_equal(gs.rnea(model, [0.3], [0.2], [0.1]), first)
    assert built == ["body"]
    gs.rnea(model, [0.3], [0.2], [0.1], representation="absolute")
    assert built == ["body", "absolute"]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_model_can_be_copied_and_sent_to_another_process_after_it_was_used(duplicate):
    model = gs.robots.pendulum(mass=2.0)
    tau = gs.rnea(model, [0.3], [0.2], [0.1])
    gs.fk(model, [0.3])
    hash(model)
    twin = duplicate(model)
    assert twin == model
    assert hash(twin) == hash(model)
    assert "_hash" not in duplicate(model).__dict__  # hashes of strings differ from process to process
    assert_close(gs.rnea(twin, [0.3], [0.2], [0.1]), tau, 0.0)


# ------------------------------------------------------------------------------------------------ motions of frames
def vee(X):
    return np.array([X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1]]) / 2.0


T = 0.4
KINDS = [kind for kind in gs.JOINT_KINDS if kind != "fixed"]


@pytest.mark.parametrize("rep", REPRESENTATIONS)
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("kinds", [KINDS[:5], KINDS[5:]], ids=lambda kinds: kinds[0])
def test_velocities_and_accelerations_of_frames_are_derivatives_of_placements(kinds, base, rep):
    """Along a smooth motion of all joints, by differences of high order of placements alone."""
    model = gs.robots.tree(12, bodies=4, kinds=kinds, base=base, reversed_share=0.4, branching=0.2)
    frames = ["body1", "body3.tip", "joint2.a"]
    place = gs.ForwardKinematics(model, frames, representation=rep, mode="interpret")
    q, v = model_state(model, T)
    a = rate(lambda t: model_state(model, t)[1], T)
    found = place(q, v, a)

    def velocity(name, t, expressed_in):
        """From placements: the rate of p, and of R."""
        R_rate = central(lambda s: place(model_state(model, s)[0])[name].R, t)
        p_rate = central(lambda s: place(model_state(model, s)[0])[name].p, t)
        frame = place(model_state(model, t)[0])[name]
        w = vee(R_rate @ frame.R.T)
        if expressed_in == "local":
            return np.r_[frame.R.T @ w, frame.R.T @ p_rate]
        return np.r_[w, p_rate - np.cross(w, frame.p) * (expressed_in == "world")]

    for name in frames:
        for form in ("local", "aligned", "world"):
            assert_close(found[name].velocity(form), velocity(name, T, form), 1e-9)
        change = central(lambda t: velocity(name, t, "aligned"), T, h=2e-3)  # noqa: B023
        assert_close(found[name].acceleration("aligned"), change, 1e-6)
        R = found[name].R
        assert_close(found[name].acceleration("local"), np.r_[R.T @ change[:3], R.T @ change[3:]], 1e-6)

        def solver_velocity(t, form, name=name):
            return place(*model_state(model, t))[name].velocity(form)

        assert_close(found[name].acceleration("aligned"), central(lambda t: solver_velocity(t, "aligned"), T), 1e-9)
        for form in ("local", "world"):
            change = central(lambda t, form=form: solver_velocity(t, form), T)
            assert_close(found[name].spatial_acceleration(form), change, 1e-9)


def test_frames_are_found_by_port_and_by_entity():
    q, v, _ = state(ARM)
    motions = gs.ForwardKinematics(ARM, mode="interpret")(q, v)
    assert set(motions) == set(gs.network(ARM, rules=()).ports)
    assert len(motions) == 9
    assert motions["lower"] is motions["lower.origin"]
    assert motions["elbow"] is motions["elbow.b"]
    assert motions["world"] is motions["world.frame"]
    assert motions["lower.tip"].name == "lower.tip"
    assert repr(motions).startswith("<motions of 9 frames: world.frame, ")
    with pytest.raises(gs.FrameError, match=r"no frame or port 'lower\.tpi' in 'arm'. Hint: did you mean 'lower\.tip'"):
        motions["lower.tpi"]
    assert_close(motions["lower.tip"].matrix[:3, :3] @ motions["lower.tip"].R.T, np.eye(3), 1e-14)
    assert np.array_equal(motions["lower.tip"].matrix[3], [0, 0, 0, 1])


def test_only_the_frames_that_are_asked_for_are_computed(mode):
    inner = "interpret" if mode == "interpret" else "compile"
    solver = gs.ForwardKinematics(ARM, ["lower.tip", "elbow", "elbow.b"], mode=inner)
    assert solver.frames == ("lower.tip", "elbow.b")
    motions = solver([0.1, 0.2])
    assert list(motions) == ["lower.tip", "elbow.b"]
    with pytest.raises(gs.FrameError, match=r"frame 'upper\.origin' was not asked for. Hint: "):
        motions["upper"]
    assert gs.ForwardKinematics(ARM, "lower.tip", mode=inner).frames == ("lower.tip",)
    assert len(gs.ForwardKinematics(ARM, [], mode=inner)([0.1, 0.2])) == 0


# ------------------------------------------------------------------------------------------------ text
def test_solvers_say_what_they_are():
    assert repr(gs.InverseDynamics(ARM)) == "<InverseDynamics of 'arm', body representation>"
    assert (
        repr(gs.ForwardKinematics(ARM, representation="absolute"))
        == "<ForwardKinematics of 'arm', absolute representation>"
    )
    assert repr(rnea_of("arm", "warm")) == "<InverseDynamics of 'arm', body representation>"


def test_the_explanation_names_the_representation_the_rules_and_where_bodies_went():
    model = gs.assemble("two", gs.chain("world", gs.Joint("j", "revolute", axis="z"), link("one"), link("two")))
    text = gs.InverseDynamics(model, "inertial", mode="interpret").explain()
    assert text.startswith("InverseDynamics of 'two' in inertial representation, mode interpret")
    assert "body 'two' merged into 'one'" in text or "body 'one' merged into 'two'" in text
    assert "rules on: none" in gs.InverseDynamics(model, rules=(), mode="interpret").explain()
