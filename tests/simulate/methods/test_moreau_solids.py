"""Shapes without nearest points in closed form in Moreau's steps: stacks rest, Coulomb's law, energy, what is told."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import gyrostat as gs
from tests.support.contact_scenes import energy

pytest.importorskip("coal")
pytestmark = pytest.mark.filterwarnings("ignore::gyrostat.PerformanceWarning")
G = 9.81
LOW, TOP = (0.4, 0.4, 0.1), (0.2, 0.3, 0.1)


def free(name: str, kind: str, size, mass: float, file: str = "") -> gs.Model:
    lengths = np.square(size if kind in ("box", "mesh") else (2 * size[0], 2 * size[0], size[-1]))
    moments = tuple(mass / 12 * (lengths.sum() - lengths))
    shape = gs.Shape(kind=kind, size=() if file else size, file=file, role="collision")
    body = gs.RigidBody(name, mass=mass, inertia=moments, shapes=[shape])
    return gs.chain("world", gs.Joint(f"{name}_free", "free"), body)


def two(kind: str, size, friction: float = 0.5, restitution: float = 0.0, file: str = "", **law) -> gs.Model:
    """A shape on a box on the ground."""
    law = {"friction": friction, "restitution": restitution, **law}
    parts = free("low", "box", LOW, 3.0), free("top", kind, size, 2.0, file)
    return gs.assemble("pile", *parts, gs.Ground("floor", **law), gs.ContactPair("top", "low", name="pair", **law))


def at(height: float, x: float = 0.03, y: float = 0.02, turn=(0, 0, 0, 1)) -> np.ndarray:
    return np.array([0, 0, 0.05, 0, 0, 0, 1, x, y, 0.1 + height, *turn], dtype=float)


def run(model: gs.Model, q0, v0=None, t_end=0.5, dt=1e-3):
    return gs.simulate(model, q0=q0, v0=v0, t_end=t_end, method="moreau", dt=dt)


def on_top(result) -> np.ndarray:
    """Forces of the pair, all corners."""
    return sum(f for name, f in result.contact_forces.items() if name.startswith("top|low."))


@pytest.mark.parametrize("turn", [0.0, 0.5])
def test_two_boxes_on_each_other_rest(turn):
    q0 = at(0.05, turn=(0, 0, np.sin(turn / 2), np.cos(turn / 2)))
    model = two("box", TOP)
    result = run(model, q0, t_end=1.0)
    assert np.abs(result.q - q0).max() < 1e-10
    assert np.abs(result.v).max() < 1e-8
    np.testing.assert_allclose(on_top(result)[1:, 0], 2.0 * G, rtol=1e-7)
    assert np.diff(energy(model, result.q, result.v)).max() < 1e-10
    assert result.counters.statistics["deepest_penetration"] < 1e-10


@pytest.mark.parametrize("kind", ["box", "cylinder"])
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_three_equal_shapes_on_each_other_rest(kind, friction):
    """Faces that cover each other: coal's normals of them are rounding."""
    size, z = {"box": (0.4, 0.3, 0.2), "cylinder": (0.12, 0.2)}[kind], (0.1, 0.3, 0.5)
    parts = [free(f"b{i}", kind, size, 1.0 + 0.5 * i) for i in range(3)]
    law = {"friction": friction}
    model = gs.assemble("stack", *parts, gs.Ground("floor", **law), gs.ContactPair("*", "*", name="all", **law))
    q0 = np.concatenate([[0, 0, h, 0, 0, 0, 1.0] for h in z])
    result = run(model, q0, dt=2e-3)
    assert np.abs(result.q - q0).max() < 1e-9
    assert np.diff(energy(model, result.q, result.v)).max() < 1e-9
    weight = sum(f[1:, 0] for name, f in result.contact_forces.items() if name.endswith("floor"))
    np.testing.assert_allclose(weight, 4.5 * G, rtol=1e-6)


def test_a_box_that_leans_over_the_edge_falls_off_and_one_that_does_not_stays():
    """Its centre of mass outside or inside the box below it."""
    model = two("box", TOP)
    stays, falls = (run(model, at(0.05, x=x), t_end=0.3) for x in (0.19, 0.21))
    assert np.abs(stays.q[-1] - stays.q[0]).max() < 1e-9
    assert np.abs(falls.v[-1, 7]) > 0.1


def test_a_box_that_slides_on_a_box_obeys_coulombs_law():
    mu, v = 0.3, 0.8
    v0 = np.zeros(12)
    v0[9] = v
    result = run(two("box", TOP, friction=mu), at(0.05, x=-0.05), v0, t_end=0.5)
    stop = v / (mu * G)
    t = np.minimum(result.t, stop)
    np.testing.assert_allclose(result.q[:, 7] + 0.05, v * t - mu * G * t * t / 2, atol=v * 1e-3)
    np.testing.assert_allclose(result.v[:, 9], np.maximum(v - mu * G * result.t, 0.0), atol=1e-8)
    np.testing.assert_allclose(result.q[-1, 7] + 0.05, v * v / (2 * mu * G), atol=2e-4)
    before, slides = on_top(result), result.t < stop - 1e-3
    np.testing.assert_allclose(np.hypot(before[:, 1], before[:, 2])[slides][1:], mu * 2.0 * G, rtol=1e-7)


def test_a_cylinder_stands_on_a_box():
    result = run(two("cylinder", (0.05, 0.2)), at(0.1))
    assert np.abs(result.q - result.q[0]).max() < 1e-8
    np.testing.assert_allclose(on_top(result)[1:, 0], 2.0 * G, rtol=1e-6)


def test_a_lying_cylinder_rolls_on_a_box():
    """Without slipping it keeps its speed."""
    r, v = 0.05, 0.2
    v0 = np.zeros(12)
    v0[9], v0[7] = v, v / r
    lying = (np.sin(np.pi / 4), 0, 0, np.cos(np.pi / 4))  # its axis along -y
    v0[6:9] = [0.0, 0.0, -v / r]  # the same turn in its own axes
    result = run(two("cylinder", (r, 0.2), friction=0.8), at(r, x=-0.05, y=0.0, turn=lying), v0, t_end=0.4)
    np.testing.assert_allclose(result.q[-1, 7:10] - result.q[0, 7:10], [v * 0.4, 0, 0], atol=2e-4)


def test_a_hull_of_a_mesh_rests_as_its_box_does(tmp_path):
    a, b, c = (x / 2 for x in TOP)
    corners = np.array([[x, y, z] for x in (-a, a) for y in (-b, b) for z in (-c, c)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += [f"f {p + 1} {q + 1} {r + 1} {s + 1}" for p, q, r, s in quads]
    (tmp_path / "block.obj").write_text("\n".join(lines) + "\n")
    result = run(two("mesh", TOP, file=str(tmp_path / "block.obj")), at(0.05), t_end=0.2)
    assert np.abs(result.q - result.q[0]).max() < 1e-8
    np.testing.assert_allclose(on_top(result)[1:, 0], 2.0 * G, rtol=1e-6)


@pytest.mark.parametrize("kind, size", [("box", TOP), ("cylinder", (0.08, 0.2)), ("ellipsoid", (0.1, 0.08, 0.05))])
@pytest.mark.parametrize("seed", [pytest.param(k, marks=pytest.mark.slow) for k in range(2)])
def test_energy_never_grows_when_a_shape_tumbles_on_a_box(kind, size, seed):
    rng = np.random.default_rng(seed)
    model = two(kind, size, friction=0.4, restitution=0.5 * seed)
    turn = rng.normal(size=4)
    q0 = at(0.25, x=0.0, y=0.0, turn=turn / np.linalg.norm(turn))
    result = run(model, q0, np.append(np.zeros(6), rng.normal(size=6) * [3, 3, 3, 0.3, 0.3, 0.3]), dt=1e-3)
    E = energy(model, result.q, result.v)
    assert np.diff(E).max() <= 1e-10 * np.abs(E).max()
    assert on_top(result)[:, 0].max() > 0.0
    assert result.counters.statistics["deepest_penetration"] < 1e-4


def test_an_ellipsoid_without_friction_stays_where_it_rests_on_a_box():
    result = run(two("ellipsoid", (0.1, 0.08, 0.05), friction=0.0), at(0.05, x=0.02, y=0.01), t_end=0.5)
    assert np.abs(result.q[-1] - result.q[0]).max() < 1e-5
    assert np.abs(result.q[-1, 7:9] - result.q[0, 7:9]).max() < 1e-9


def test_torsional_friction_of_a_patch_takes_part():
    model = two("box", TOP, friction=0.0, torsional=0.02)
    result = run(model, at(0.05), np.eye(12)[8] * 3.0, t_end=0.1)
    inertia = 2.0 / 12 * (TOP[0] ** 2 + TOP[1] ** 2)
    np.testing.assert_allclose(result.v[-1, 8], 3.0 - 0.1 * 0.02 * 2.0 * G / inertia, rtol=1e-6)


# ------------------------------------------------------------------------------------------------ what is told
@pytest.mark.filterwarnings("default::gyrostat.PerformanceWarning")
def test_what_runs_in_python_is_told():
    with pytest.warns(gs.PerformanceWarning, match=r"nearest points of 'top\|low' have no closed form"):
        result = run(two("box", TOP), at(0.05), t_end=0.01)
    assert "nearest points" in result.counters.in_python


def test_nothing_runs_in_python_while_shapes_are_far_apart():
    result = run(two("box", TOP), at(2.0), t_end=0.05)
    assert result.counters.in_python == ""


def test_cut_forces_of_such_contacts_are_refused():
    result = run(two("box", TOP), at(0.05), t_end=0.01)
    with pytest.raises(gs.GyrostatError, match=r"contact 'top\|low.0' is a point between shapes without"):
        result.port_forces()


def test_the_missing_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **options):
        if name == "coal":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(gs.GyrostatError, match=r"need the package coal. Hint: pip install 'gyrostat\[collision\]'"):
        run(two("box", TOP), at(0.05), t_end=0.01)
