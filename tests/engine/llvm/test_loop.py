"""Recurrences in machine code: against NumPy, where they stop, and what they refuse before machine code runs."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.engine.llvm.loop import Loop
from gyrostat.engine.tracing.record import record
from gyrostat.errors import ShapeError

N, STEPS = 3, 50


def step(x, y, force, matrix, gain):
    """Two carried arrays, one stepped and two fixed inputs, one more result."""
    moved = matrix @ x + force * gain
    return {"x_next": moved, "y_next": y + np.sin(x[0]) * np.array([1.0, 0.5]), "power": moved @ force}


SHAPES = {"x": (N,), "y": (2,), "force": (N,), "matrix": (N, N), "gain": ()}
CARRIED = {"x_next": "x", "y_next": "y"}


@pytest.fixture(scope="module")
def loop():
    return Loop(record(step, SHAPES, "recurrence"), CARRIED)


@pytest.fixture
def given():
    rng = np.random.default_rng(0)
    return {
        "stepped": {"force": rng.normal(size=(STEPS, N))},
        "carried": {"x": rng.normal(size=N), "y": rng.normal(size=2)},
        "fixed": {"matrix": 0.4 * rng.normal(size=(N, N)), "gain": np.array(0.7)},
    }


def by_numpy(stepped, carried, fixed):
    x, y, found = carried["x"], carried["y"], {"x_next": [carried["x"]], "y_next": [carried["y"]], "power": []}
    for force in np.asarray(stepped["force"], dtype=float):
        new = step(x, y, force, np.asarray(fixed["matrix"]), float(fixed["gain"]))
        for key, value in new.items():
            found[key].append(value)
        x, y = new["x_next"], new["y_next"]
    return {key: np.array(value) for key, value in found.items()}


def same(got, want):
    assert set(got) == set(want)
    for key, value in want.items():
        assert got[key].shape == value.shape
        assert np.allclose(got[key], value, rtol=1e-13, atol=1e-13)


def test_a_recurrence_is_what_numpy_makes_of_it(loop, given):
    bad, found = loop.run(**given)
    assert bad == -1
    same(found, by_numpy(**given))


def test_inputs_may_have_any_layout_and_number_type(loop, given):
    want = by_numpy(**given)
    force = given["stepped"]["force"]
    wide = np.zeros((STEPS, 2 * N))
    wide[:, ::2] = force
    for other in (
        np.asfortranarray(force),
        wide[:, ::2],
        force[::-1].copy()[::-1],
        force.astype(">f8"),
        force.tolist(),
    ):
        _, found = loop.run(**(given | {"stepped": {"force": other}}))
        same(found, want)
    raw = np.zeros(8 * STEPS * N + 1, dtype=np.uint8)
    crooked = raw[1:].view(np.float64).reshape(STEPS, N)  # not aligned
    crooked[...] = force
    same(loop.run(**(given | {"stepped": {"force": crooked}}))[1], want)
    whole = given | {"stepped": {"force": np.ones((STEPS, N), dtype=np.int32)}, "fixed": given["fixed"] | {"gain": 1}}
    same(loop.run(**whole)[1], by_numpy(**whole))
    same(loop.run(**(given | {"stepped": {"force": np.broadcast_to(force[0], (STEPS, N))}}))[1],
         by_numpy({"force": np.tile(force[0], (STEPS, 1))}, given["carried"], given["fixed"]))  # fmt: skip


def test_inputs_are_not_changed_and_results_are_new(loop, given):
    before = {k: {n: np.array(x) for n, x in v.items()} for k, v in given.items()}
    _, one = loop.run(**given)
    _, two = loop.run(**given)
    for group, arrays in before.items():
        for name, x in arrays.items():
            assert np.array_equal(given[group][name], x)
    assert not np.shares_memory(one["power"], two["power"])


def test_no_steps_leave_the_start(loop, given):
    bad, found = loop.run({"force": np.zeros((0, N))}, given["carried"], given["fixed"])
    assert bad == -1
    assert found["x_next"].tolist() == [given["carried"]["x"].tolist()]
    assert found["power"].shape == (0,)


def test_it_stops_at_the_first_step_that_is_not_finite(loop, given):
    given["stepped"]["force"][17, 1] = np.nan
    bad, found = loop.run(**given)
    assert bad == 17
    want = by_numpy(**given)
    assert np.allclose(found["x_next"][:18], want["x_next"][:18], rtol=1e-13)
    assert np.all(found["power"][18:] == 0.0)  # nothing ran there
    for value in (np.inf, -np.inf):
        given["stepped"]["force"][17, 1] = value
        assert loop.run(**given)[0] == 17


def test_a_guard_stops_it():
    def guarded(x, tick):
        return {"x_next": x + 1.0, "seen": tick, "guard": 1.0 / (x - 5.0)}

    loop = Loop(record(guarded, {"x": (1,), "tick": (1,)}, "guarded"), {"x_next": "x"})
    bad, found = loop.run({"tick": np.zeros((9, 1))}, {"x": [0.0]}, {})
    assert bad == 5
    assert found["x_next"][:6, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_stretch_by_stretch_is_the_whole(loop, given):
    arrays = loop.arrays(**given)
    for start, count in ((0, 10), (10, 0), (10, 1), (11, 39)):
        assert loop.advance(arrays, start, count) == -1
    same(arrays.results, by_numpy(**given))
    given["stepped"]["force"][20] = np.nan
    arrays = loop.arrays(**given)
    assert loop.advance(arrays, 0, 15) == -1
    assert loop.advance(arrays, 15, 35) == 20


# ------------------------------------------------------------------ refused before machine code runs
def refused(loop, given, group, name, value, words):
    with pytest.raises(ShapeError, match=words):
        loop.run(**(given | {group: given[group] | {name: value}}))


def test_wrong_shapes_and_types_are_refused(loop, given):
    force = given["stepped"]["force"]
    refused(loop, given, "stepped", "force", force[:, :2], r"'force' has shape \(50, 2\)")
    refused(loop, given, "stepped", "force", 1.0, r"one row for each step, got 'force' \(\)")
    refused(loop, given, "stepped", "force", force.astype(complex), r"'force' .* of complex128")
    refused(loop, given, "stepped", "force", np.full((STEPS, N), "x"), r"'force' .* of <U1")
    refused(loop, given, "stepped", "force", force.astype(object), r"'force' .* of object")
    refused(loop, given, "carried", "x", np.zeros(N + 1), r"'x' has shape \(4,\)")
    refused(loop, given, "carried", "x", 0.0, r"'x' has shape \(\)")  # nothing is spread out silently
    refused(loop, given, "fixed", "matrix", np.zeros((N, N + 1)), r"'matrix' has shape \(3, 4\)")
    refused(loop, given, "fixed", "gain", np.zeros(1), r"'gain' has shape \(1,\)")
    refused(loop, given, "fixed", "matrx", np.zeros((N, N)), r"there is no input 'matrx' in 'recurrence'")
    refused(
        loop, given, "stepped", "gain", np.zeros(STEPS - 1), r"one row for each step, got 'force' \(50, 3\), 'gain'"
    )
    for group, name in (("stepped", "force"), ("carried", "y"), ("fixed", "matrix")):
        rest = {k: x for k, x in given[group].items() if k != name}
        with pytest.raises(ShapeError, match=f"'{name}' is not given"):
            loop.run(**(given | {group: rest}))


def test_an_input_may_be_fixed_or_stepped(loop, given):
    gains = np.linspace(0, 1, STEPS)
    stepped = given["stepped"] | {"gain": gains}
    fixed = {"matrix": given["fixed"]["matrix"]}
    _, found = loop.run(stepped, given["carried"], fixed)
    x = given["carried"]["x"]
    for force, gain, got in zip(stepped["force"], gains, found["x_next"][1:], strict=True):
        x = fixed["matrix"] @ x + force * gain
        assert np.allclose(got, x, rtol=1e-12, atol=1e-13)


def test_stretches_outside_the_memory_and_foreign_memory_are_refused(loop, given):
    arrays = loop.arrays(**given)
    for start, count in ((0, STEPS + 1), (STEPS, 1), (-1, 2), (5, -1), (STEPS + 1, 0)):
        with pytest.raises(ShapeError, match="are not among 0 to 50"):
            loop.advance(arrays, start, count)
    other = Loop(record(lambda x: {"x_next": x * 0.5}, {"x": (N,)}, "other"), {"x_next": "x"})
    with pytest.raises(ShapeError, match="belong to another loop"):
        other.advance(arrays, 0, 1)


def test_carried_outputs_must_fit_their_inputs():
    program = record(lambda x, y: {"x_next": x, "y_next": y}, {"x": (2,), "y": (3,)}, "two")
    with pytest.raises(ShapeError, match="'x_next' and 'y' differ in shape"):
        Loop(program, {"x_next": "y"})
    with pytest.raises(ShapeError, match="no output 'z_next' or no input 'z' in 'two'"):
        Loop(program, {"z_next": "z"})
    twin = record(lambda x, y: {"one": x, "two": y}, {"x": (2,), "y": (2,)}, "twin")
    with pytest.raises(ShapeError, match="two outputs cannot be the same input"):
        Loop(twin, {"one": "x", "two": "x"})
