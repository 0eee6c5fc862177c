"""Bodies on height fields by time steps: a flat field is a plane, edges catch nothing, a bowl keeps what is in it."""

import numpy as np
import pytest

import gyrostat as gs

pytestmark = pytest.mark.filterwarnings("ignore::gyrostat.PerformanceWarning")
SIZES = {
    "sphere": ((0.1,), 0.1),
    "box": ((0.3, 0.2, 0.1), 0.05),
    "capsule": ((0.1, 0.3), 0.25),
    "ellipsoid": ((0.1, 0.2, 0.15), 0.15),
    "cylinder": ((0.1, 0.2), 0.1),
}
X = np.linspace(-2.0, 2.0, 31)
Y = np.linspace(-2.0, 2.0, 21)
LENGTHS = (4.0, 4.0, 1.5)
REST = np.zeros(6)
MOVING = np.array([0.0, 0.0, 0.0, 1.0, 0.5, 0.0])


def terrain(heights, **law):
    shape = gs.Shape(kind="height-field", size=LENGTHS, heights=heights, contact=gs.ContactSurface(**law))
    return gs.chain("world", gs.RigidBody("terrain", mass=0.0, shapes=[shape]))


def body(kind):
    shape = gs.Shape(kind=kind, size=SIZES[kind][0], role="collision")
    return gs.chain("world", gs.Joint("flight", "free"), gs.RigidBody.from_shape("body", shape, mass=1.0))


def on_field(kind, heights, **law):
    return gs.assemble("field", body(kind), terrain(heights, **law))


def on_plane(kind, slope, **law):
    tilt = gs.Displacement("tilt", rotation={"euler": [0.0, -float(np.arctan(slope)), 0.0]})
    return gs.assemble("plane", body(kind), gs.chain("world", tilt, gs.Ground("floor", **law)))


def standing(kind, slope):
    angle, z = np.arctan(slope), SIZES[kind][1]
    return np.array([-z * np.sin(angle), 0, z * np.cos(angle), 0, -np.sin(angle / 2), 0, np.cos(angle / 2)])


def moved(model, q0, v0=REST, t_end=0.3, dt=2e-3):
    return gs.simulate(model, q0=q0, v0=v0, t_end=t_end, method="moreau", dt=dt)


@pytest.mark.parametrize("slope", [0.0, 0.2])
@pytest.mark.parametrize("kind", SIZES)
def test_a_body_slides_on_a_plane_of_facets_as_on_a_plane(kind, slope):
    # 0.5 m over three to five cells; the cylinder's rim stands on points that are not unique
    field = on_field(kind, np.tile(slope * X, (21, 1)), friction=0.3, restitution=0.2)
    q0 = standing(kind, slope)
    one, two = (moved(m, q0, MOVING) for m in (field, on_plane(kind, slope, friction=0.3, restitution=0.2)))
    assert np.abs(two.q[-1, :2] - q0[:2]).max() > 0.1
    assert np.abs(one.q - two.q).max() < (1e-9 if kind != "cylinder" else 1e-4)


def test_a_frictionless_point_slides_down_an_inclined_field_by_the_closed_form():
    slope = 0.5
    body = gs.RigidBody("body", mass=2.0)
    model = gs.assemble(
        "slide",
        gs.chain(
            "world",
            gs.Joint("x", "prismatic", axis="x"),
            gs.Joint("z", "prismatic", axis="z"),
            body,
            gs.ContactPoint("tip"),
        ),
        terrain(np.tile(slope * X, (21, 1))),
    )
    run = moved(model, np.array([1.0, 0.5]), np.zeros(2), t_end=0.8)
    along = 9.81 * slope / (1.0 + slope**2)  # horizontal part of g sin(alpha)
    assert run.v[-1, 0] == pytest.approx(-along * 0.8, abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(1.0 - along * 0.32, abs=1e-3)
    assert np.abs(run.q[:, 1] - slope * run.q[:, 0]).max() < 1e-9


def test_a_ball_comes_to_rest_at_the_lowest_point_of_a_bowl():
    heights = 0.5 * ((X[None, :] - 0.2) ** 2 + (Y[:, None] + 0.1) ** 2)
    model = on_field("sphere", heights, friction=0.5, rolling=0.005, torsional=0.005)
    run = moved(model, np.array([0.6, 0.3, 0.5, 0, 0, 0, 1.0]), t_end=6.0, dt=5e-3)
    assert np.abs(run.v[-1]).max() < 1e-6
    assert np.hypot(run.q[-1, 0] - 0.2, run.q[-1, 1] + 0.1) < 0.15  # the cell of the lowest point
    forces = sum(f[-1, 0] for f in run.contact_forces.values())
    assert forces >= 9.81 - 1e-6  # several facets lean on it
    energies = [
        gs.kinetic_energy(model, q, v) + gs.potential_energy(model, q) for q, v in zip(run.q, run.v, strict=True)
    ]
    assert np.diff(energies).max() <= 1e-10 * np.abs(energies).max()


def test_a_ball_rests_between_both_sides_of_a_groove():
    model = on_field("sphere", np.tile(np.abs(X), (21, 1)))
    run = moved(model, np.array([0.05, 0.1, 0.3, 0, 0, 0, 1.0]), t_end=1.0)
    assert run.q[-1, :3] == pytest.approx([0.0, 0.1, 0.1 * np.sqrt(2.0)], abs=1e-6)
    forces = sorted(f[-1, 0] for f in run.contact_forces.values())
    assert forces[-2:] == pytest.approx([9.81 / np.sqrt(2.0)] * 2, abs=1e-6)


@pytest.mark.parametrize("kind", ["sphere", "box", pytest.param("capsule", marks=pytest.mark.slow),
                                  pytest.param("ellipsoid", marks=pytest.mark.slow),
                                  pytest.param("cylinder", marks=pytest.mark.slow)])  # fmt: skip
def test_on_rough_ground_energy_never_grows_and_nothing_falls_through(kind):
    random = np.random.default_rng(1)
    heights = 0.15 * np.sin(4 * X[None, :]) * np.cos(3 * Y[:, None]) + 0.03 * random.normal(size=(21, 31))
    model = on_field(kind, heights, friction=0.5)
    run = moved(model, np.array([0.01, 0.013, 0.6, 0, 0, 0, 1.0]), np.array([1, 2, 3, 0.3, 0.2, 0.0]), t_end=1.0)
    energies = [
        gs.kinetic_energy(model, q, v) + gs.potential_energy(model, q) for q, v in zip(run.q, run.v, strict=True)
    ]
    deepest = run.counters.statistics["deepest_penetration"]
    assert deepest < 2e-4
    assert np.diff(energies).max() <= 1e-10 * np.abs(energies).max()
    assert run.q[-1, 2] > heights.min()


def test_a_box_on_a_plateau_that_is_smaller_stands_on_its_edges():
    heights = np.zeros((21, 31))
    heights[9:12, 14:17] = 0.2  # 0.4 m x 0.27 m, corners of the box hang over it
    box = gs.Shape(kind="box", size=(0.8, 0.8, 0.1), role="collision")
    block = gs.RigidBody.from_shape("body", box, mass=2.0)
    model = gs.assemble("table", gs.chain("world", gs.Joint("flight", "free"), block), terrain(heights, friction=0.5))
    run = moved(model, np.array([0.02, 0.03, 0.25, 0, 0, 0, 1.0]))
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-9
    assert sum(f[-1, 0] for f in run.contact_forces.values()) == pytest.approx(2 * 9.81, abs=1e-6)


def test_terrain_may_move():
    shape = gs.Shape(kind="height-field", size=LENGTHS, heights=np.zeros((3, 4)), contact=gs.ContactSurface(friction=1))
    lift = gs.chain("world", gs.Joint("lift", "prismatic", axis="z"), gs.RigidBody("terrain", mass=5.0, shapes=[shape]))
    model = gs.assemble("lift", body("box"), lift)
    q0 = gs.neutral(model)
    q0[2] = 0.05
    tau = np.zeros(7)
    tau[6] = 6.0 * (9.81 + 1.0)
    run = gs.simulate(model, tau, q0=q0, t_end=0.3, method="moreau", dt=1e-3)
    assert run.v[-1, 5] == pytest.approx(0.3, abs=1e-9)
    assert run.v[-1, 6] == pytest.approx(0.3, abs=1e-9)


def test_what_does_not_know_height_fields_says_so():
    model = on_field("sphere", np.zeros((3, 3)))
    q0 = standing("sphere", 0.0)
    with pytest.raises(gs.GyrostatError, match=r"'body\|terrain' is a sphere and a height-field.*method='moreau'"):
        gs.simulate(model, q0=q0, t_end=0.1)
    with pytest.raises(
        gs.GyrostatError, match=r"rollout: contact 'body\|terrain': a sphere and a height-field have no"
    ):
        gs.rollout(model, np.zeros((1, 6)), q0=q0, dt=1e-3, steps=2, method="moreau")
    soft = on_field("sphere", np.zeros((3, 3)), stiffness=1e4)
    with pytest.raises(gs.SpecError, match=r"'body\|terrain'.*a force law needs. Hint: leave the stiffness out"):
        gs.aba(soft, q0, np.zeros(6), np.zeros(6))
    pair = gs.Ground("g"), gs.ContactPair("terrain", "g")
    with pytest.raises(gs.SpecError, match="grounds or height fields, which do not touch each other"):
        moved(gs.assemble("two", body("sphere"), terrain(np.zeros((3, 3))), *pair), q0)
    from gyrostat.algorithms.contact.nearest_points import nearest_points

    with pytest.raises(gs.GyrostatError, match="nearest points on a height field"):
        nearest_points(model, q0)


@pytest.mark.parametrize("kind", ["sphere", "box"])
def test_studies_refuse_a_pose_on_terrain_and_take_one_above_it(kind):
    model = on_field(kind, np.zeros((3, 3)))
    q = standing(kind, 0.0)
    for study in (gs.linearise, gs.eigenfrequencies):
        with pytest.raises(gs.StateError, match=r"rigid contact 'body\|terrain' is closed here"):
            study(model, q)
        study(model, q + np.eye(7)[2] * 1e-3)


def test_points_and_spheres_need_no_coal(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "coal", None)
    model = on_field("capsule", np.tile(np.abs(X), (21, 1)))
    moved(model, np.array([0.0, 0.0, 0.6, 0, 0, 0, 1.0]), t_end=0.05)
    with pytest.raises(gs.GyrostatError, match="collision"):
        moved(on_field("box", np.zeros((3, 3))), standing("box", 0.0), t_end=0.05)
