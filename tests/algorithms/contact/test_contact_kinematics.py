"""Kinematics of contact: rows are derivatives of gaps, biases of velocities, for all joints, charts and shapes."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_gaps, contact_kinematics, contact_spins
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import contact_candidates
from gyrostat.graph.network import network
from gyrostat.spatial.contact_geometry import axes_about, touch
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import Pose, representation
from tests.support.cam_models import branched as cams
from tests.support.drive_models import driven_tree
from tests.support.loop_models import five_bar, four_bar
from tests.support.random_models import random_state, various_tree
from tests.support.surface_models import ball_on, closed_forms, flying, kinematics_of, shape, with_surfaces

H = 1e-5
ZOO = {
    **{f"tree {k}": lambda k=k: various_tree(k, bodies=5) for k in range(4)},
    "free base": lambda: various_tree(11, bodies=4).replace({"context.base": "free"}),
    "drives": lambda: driven_tree(3, joints=4, couplings=1).model,
    "cams": cams,
    "four bar, minimal": four_bar,
    "five bar, minimal": five_bar,
    "moving base": lambda: various_tree(5, bodies=3).replace(
        {
            "context.base": gs.HarmonicMotion(
                amplitude=(0.1, 0, 0.2), frequency=1.3, axis=(1, 0, 0), swing=0.4, swing_frequency=0.7
            )
        }
    ),
}


def state(model, seed):
    rng = np.random.default_rng([seed, 61])
    if model.wiring.tree.loops:
        return gs.random_configuration(model, rng), rng.normal(size=model.nv)
    return random_state(model, rng)[:2]


@pytest.fixture(scope="module", params=ZOO)
def zoo(request):
    model = with_surfaces(ZOO[request.param](), 7)
    q, v = state(model, 1)
    t = 0.3
    near = [kinematics_of(model, gs.integrate(model, q, s * v), v, t + s) for s in (H, -H)]
    return kinematics_of(model, q, v, t), near, v, model, q, t


def test_rows_and_drift_are_the_velocity(zoo):
    k, _, v, *_ = zoo
    assert np.abs(k.J @ v + k.drift - k.w).max() < 1e-12


def test_the_normal_row_is_the_rate_of_the_gap(zoo):
    k, (ahead, behind), *_ = zoo
    assert np.abs((ahead.gaps - behind.gaps) / (2 * H) - k.w[:, 0]).max() < 1e-6


def test_the_bias_is_the_rate_of_the_velocity_at_constant_rates(zoo):
    k, (ahead, behind), *_ = zoo
    jumped = np.abs(ahead.axes - behind.axes).max(axis=(1, 2)) > 0.1  # tangents that changed their choice
    assert np.abs((ahead.w - behind.w) / (2 * H) - k.bias)[~jumped].max() < 2e-5
    assert np.abs(((ahead.w - behind.w) / (2 * H) - k.bias)[:, 0]).max() < 2e-5


def test_axes_are_right_handed_and_of_unit_length(zoo):
    k = zoo[0]
    n, t1, t2 = np.moveaxis(k.axes, 1, 0)
    assert np.abs(np.cross(t1, t2) - n).max() < 1e-13
    assert np.abs(k.axes @ np.moveaxis(k.axes, 1, 2) - np.eye(3)).max() < 1e-13


@pytest.mark.parametrize("name", ["tree 1", "cams", "five bar, minimal", "moving base"])
def test_recorded_they_are_the_same(name):
    model = with_surfaces(ZOO[name](), 7)
    q, v = state(model, 2)
    on, cs, net = (
        Setting(representation("body"), gravity(model.context.gravity), 0.3),
        closed_forms(model),
        network(model),
    )

    def everything(q, v):
        k = contact_kinematics(net, on, cs, q, v)
        return {"gaps": k.gaps, "J": k.J, "w": k.w, "bias": k.bias, "axes": k.axes, "positions": k.positions}

    got = Kernel(record(everything, {"q": (model.nq,), "v": (model.nv,)}, "contact"), "contact").call(q, v)
    expected = kinematics_of(model, q, v, 0.3)
    for key, value in got.items():
        assert np.allclose(value, getattr(expected, key), rtol=1e-11, atol=1e-11), key
    assert np.allclose(contact_gaps(net, on, cs, q), expected.gaps, atol=1e-13)


def test_velocities_are_those_of_the_material_points():
    model = ball_on(friction=0.5)
    q = np.array([0.3, 0.2, 0.1, 0, 0, 0, 1.0])
    v = np.array([1.0, 2.0, 3.0, 0.4, 0.5, 0.6])
    k = kinematics_of(model, q, v)
    assert np.allclose(k.w[0], [0.6, 0.4 - 2.0 * 0.1, 0.5 + 1.0 * 0.1])  # u + w x (-r z)
    assert np.allclose(k.positions[0], [0.3, 0.2, 0.0]) and abs(k.gaps[0]) < 1e-16


def test_a_rolling_ball_has_no_slip_however_it_is_turned():
    model = ball_on()
    for angle in (0.0, 0.8):
        q = np.array([0, 0, 0.1, 0, np.sin(angle / 2), 0, np.cos(angle / 2)])
        v = np.array([0, 2.0, 0, 0.2 * np.cos(angle), 0, 0.2 * np.sin(angle)])
        k = kinematics_of(model, q, v)
        assert np.abs(k.w).max() < 1e-15
        a = np.array([0, 0, 0, *np.cross(v[3:], v[:3])])  # the velocity stays the same in the world
        assert np.abs(k.J @ a + k.bias).max() < 1e-14


@pytest.mark.parametrize("name", ["tree 2", "cams", "four bar, minimal"])
def test_spins_are_angular_velocities_of_the_frames_in_contact_axes(name):
    model = with_surfaces(ZOO[name](), 7)
    q, v = state(model, 3)
    on, cs = Setting(representation("body"), gravity(model.context.gravity), 0.0), closed_forms(model)
    frames, k = gs.fk(model, q, v), kinematics_of(model, q)
    turns = [[frames[s.port].velocity("aligned")[:3] if s.port else np.zeros(3) for s in (c.a, c.b)] for c in cs]
    expected = [axes @ (a - b) for axes, (a, b) in zip(k.axes, turns, strict=True)]
    assert np.allclose(contact_spins(network(model), on, cs, q) @ v, expected, atol=1e-12)


def test_without_rates_there_is_no_bias():
    model = with_surfaces(various_tree(2, bodies=3), 1)
    k = kinematics_of(model, state(model, 1)[0])
    assert not k.w.any() and not k.bias.any() and k.J.any()


def test_pairs_without_a_closed_form_are_refused_by_name():
    model = gs.assemble(
        "m", flying("one", shape("box")), flying("two", shape("cylinder")), gs.ContactPair("one", "two")
    )
    on = Setting(representation("body"), gravity(model.context.gravity), 0.0)
    with pytest.raises(
        GyrostatError, match=r"contact 'one\|two': a box and a cylinder have no nearest points in closed"
    ):
        contact_kinematics(network(model), on, contact_candidates(model), gs.neutral(model))


# ------------------------------------------------------------------------------------------------ shapes
def place(rng):
    from gyrostat.geometry.rotation import from_quaternion

    x = rng.normal(size=4)
    return Pose(from_quaternion(x / np.linalg.norm(x)), rng.uniform(-0.5, 0.5, 3))


def segment_points(at, size, count=2001):
    s = np.linspace(-0.5, 0.5, count)[:, None]
    return at.p + s * size[1] * at.R[:, 2]


@pytest.mark.parametrize("seed", range(5))
def test_capsules_have_the_distance_of_their_segments(seed):
    rng = np.random.default_rng(seed)
    a, b, size = place(rng), place(rng), (0.1, 0.4)
    cloud = np.linalg.norm(segment_points(a, size)[:, None] - segment_points(b, size)[None], axis=2)
    found = touch("capsule", size, a, "capsule", size, b)
    assert found.gap <= cloud.min() - 0.2 + 1e-12
    assert found.gap >= cloud.min() - 0.2 - 2e-4 * 0.4


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.35, -0.39, 0.6])
def test_parallel_capsules_touch_in_the_middle_of_what_is_side_by_side(shift):
    size = (0.1, 0.4)
    found = touch(
        "capsule", size, Pose(np.eye(3), np.array([0.5, 0, shift])), "capsule", size, Pose(np.eye(3), np.zeros(3))
    )
    apart = max(abs(shift) - 0.4, 0.0)
    assert np.isclose(found.gap, np.hypot(0.5, apart) - 0.2)
    assert np.isclose(found.x[2], shift / 2, atol=0.1 if apart else 1e-12)


def test_spheres_that_coincide_have_a_normal_all_the_same():
    found = touch("sphere", (0.1,), Pose(np.eye(3), np.zeros(3)), "sphere", (0.2,), Pose(np.eye(3), np.zeros(3)))
    assert np.isclose(found.gap, -0.3) and np.array_equal(found.axes[0], [0, 0, 1])


@pytest.mark.parametrize("n", [(0, 0, 1.0), (0, 0, -1.0), (1.0, 0, 0), (0.6, 0.0, -0.8), (0.36, 0.48, 0.8)])
def test_tangents_exist_for_every_normal(n):
    axes = axes_about(np.array(n))
    assert np.allclose(axes @ axes.T, np.eye(3), atol=1e-15) and np.isclose(np.linalg.det(axes[[1, 2, 0]]), 1.0)


@pytest.mark.parametrize("kind", ["ellipsoid", "rim"])
def test_the_lowest_point_is_the_lowest_of_all(kind):
    rng = np.random.default_rng(4)
    at, ground = place(rng), place(rng)
    size = (0.1, 0.2, 0.3) if kind == "ellipsoid" else (0.2,)
    u = rng.normal(size=(200_000, 3)) if kind == "ellipsoid" else np.c_[rng.normal(size=(20_000, 2)), np.zeros(20_000)]
    u /= np.linalg.norm(u, axis=1)[:, None]
    cloud = at.p + (u * size) @ at.R.T if kind == "ellipsoid" else at.p + 0.2 * u @ at.R.T
    lowest = ((cloud - ground.p) @ ground.R[:, 2]).min()
    found = touch(kind, size, at, "plane", (), ground)
    assert lowest - 2e-4 < found.gap <= lowest + 1e-12


def test_a_rim_that_lies_flat_touches_somewhere():
    found = touch("rim", (0.2,), Pose(np.eye(3), np.array([0, 0, 0.5])), "plane", (), Pose(np.eye(3), np.zeros(3)))
    assert found.gap == 0.5 and np.allclose(found.x, [0.2, 0, 0.5])
