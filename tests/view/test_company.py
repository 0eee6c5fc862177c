"""Ghosts, robots side by side and arrows of forces: where they stand, without a browser."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gyrostat as gs

pytest.importorskip("viser", reason="the viewer needs viser: pip install 'gyrostat[view]'")

from gyrostat.simulate.results.drawn_forces import drawn_forces
from gyrostat.view.scene.scene import scene
from gyrostat.view.viewer.companions import Cast, ghost_of, robots_beside
from gyrostat.view.viewer.force_arrows import ArrowNodes, given_forces, unit_arrow
from gyrostat.view.viewer.serving import set_out, start, stop
from gyrostat.view.viewer.viewer import view

T = np.linspace(0.0, 1.0, 11)


@pytest.fixture(scope="module")
def server():
    started = start("127.0.0.1", 8490)
    yield started
    stop(started)


def hinge(name: str = "arm", x: float = 0.0) -> gs.Model:
    rod = gs.RigidBody("rod", mass=1, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0.001))
    return gs.assemble(name, gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), rod))


def block_on_the_ground() -> gs.Model:
    box = gs.Shape(kind="sphere", size=(0.1,), role="collision")
    body = gs.RigidBody("ball", mass=2.0, inertia=(0.01, 0.01, 0.01), shapes=[box])
    return gs.assemble("ball", gs.chain("world", body), gs.Ground("floor"), base="free")


# ------------------------------------------------------------------------------------ ghosts
def test_a_ghost_is_where_its_reference_is_between_its_samples_and_rests_beyond_them():
    model = hinge()
    [ghost] = ghost_of(scene(model), {"t": [0.2, 0.4], "q": [[0.0], [1.0]]}, T)
    assert ghost.ghost
    assert ghost.configurations(np.array([0.0, 0.3, 0.35, 2.0]))[:, 0] == pytest.approx([0.0, 0.5, 0.75, 1.0])


@pytest.mark.parametrize("form", ["run", "trajectory", "array", "mapping", "pose"])
def test_a_reference_may_be_given_as_for_figures(form):
    model = hinge()
    run = gs.simulate(model, None, [0.3], t_end=1.0)
    given = {
        "run": run,
        "trajectory": gs.trajectories.point_to_point([0.0], [1.0], 1.0),
        "array": T[:, None],
        "mapping": {"q": T[:, None]},
        "pose": [0.7],
    }[form]
    [ghost] = ghost_of(scene(model), given, T)
    end = {"run": run.q[-1, 0], "pose": 0.7}.get(form, 1.0)
    assert ghost.configurations(np.array([1.0]))[0, 0] == pytest.approx(end, abs=1e-9)


def test_ghosts_and_robots_move_with_the_robot(server):
    model = hinge()
    drawn, q = scene(model), np.sin(T)[:, None]
    others = ghost_of(drawn, {"q": q + 0.3}, T) + robots_beside([(model, 2.0 * q, T)], T, ())
    stage = Cast(drawn, others).stage(server)
    set_out(stage, q[0], T, {"q": q})
    stage.perform(q[4], T[4])
    at = {node.name: node.wxyz for node in stage._nodes}
    for root, angle in (("/robot", q[4]), ("/other0", q[4] + 0.3), ("/other1", 2.0 * q[4])):
        assert at[f"{root}/1"] == pytest.approx([np.cos(angle[0] / 2), 0, np.sin(angle[0] / 2), 0], abs=1e-12)
    assert [handle.opacity for handle in stage.layers["reference"]] == [pytest.approx(0.28)] * 3
    assert not any(handle.cast_shadow for handle in stage.layers["reference"])


# ------------------------------------------------------------------------------------ side by side
def test_robots_stand_side_by_side_with_room_between_them_and_their_names_above(server):
    model = hinge()
    drawn = scene(model)
    q = np.linspace(-1.0, 1.0, 11)[:, None]
    others = robots_beside({"one": (model, q, T), "two": gs.robots.arm6()}, T, ())
    stage = Cast(drawn, others).stage(server)
    set_out(stage, q[0], T, {"q": q})
    spans = []
    for k in range(3):
        clouds = np.concatenate(stage._clouds(k, q, T)) + stage._offsets[k]
        spans.append((clouds[:, 1].min(), clouds[:, 1].max()))
    assert all(a[1] < b[0] for a, b in itertools.pairwise(spans))
    assert [actor.name or actor.scene.model.name for actor in stage.actors] == ["arm", "one", "two"]
    wide = Cast(drawn, others, spacing=3.0).stage(server)
    set_out(wide, q[0], T, {"q": q})
    assert [x[1] for x in wide._offsets] == [0.0, 3.0, 6.0]


def test_the_centre_of_mass_of_the_robot_is_shown_above_its_disc_on_the_ground(server):
    model = gs.robots.arm6()
    drawn, q = scene(model), np.array([0.3, -0.7, 1.1, 0.2, 0.5, 0.1])
    stage = Cast(drawn).stage(server)
    set_out(stage, q, None, {})
    ball, disc = (next(n for n in stage._nodes if n.name.endswith(name)) for name in ("whole", "below"))
    com = gs.center_of_mass(model, q)
    assert ball.position == pytest.approx(com, abs=1e-12)
    assert disc.position == pytest.approx([com[0], com[1], stage._ground], abs=1e-12)


# ------------------------------------------------------------------------------------ forces
def test_arrows_have_direction_and_length_of_their_forces(server):
    rng = np.random.default_rng(0)
    points, force = rng.normal(size=(2, 11, 3))
    force[3] = 0.0
    force[5] = [0.0, 0.0, -2.0]
    forces = given_forces({"pull": (points, force)}, T, 1.0, 0.1)
    nodes = ArrowNodes(server, forces, 1.0)
    R, p, scales = nodes.placements(T)
    tips = p[:, 0] + R[:, 0, :, 2] * scales[:, 0, 2:]
    assert tips == pytest.approx(points + 0.1 * force, abs=2e-6)
    assert np.linalg.det(R[:, 0]) == pytest.approx(1.0)
    vertices, faces = unit_arrow(0.1, 0.5)
    assert vertices[:, 2].min() == 0.0 and vertices[:, 2].max() == 1.0
    edges = [(int(face[k]), int(face[(k + 1) % 3])) for face in faces for k in range(3)]
    assert {(b, a) for a, b in edges} == set(edges) and len(set(edges)) == len(edges)  # closed, all faces outwards
    x, y, z = (vertices[faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", x, np.cross(y, z)) / 6.0 > 0.0


def test_the_ground_pushes_a_ball_at_its_lowest_point():
    model = block_on_the_ground()
    run = gs.simulate(model, None, np.array([0.2, 0, 0.1, 0, 0, 0, 1.0]), t_end=0.2)
    [(name, (points, forces))] = drawn_forces(run, "contacts").items()
    assert name in run.contact_forces
    assert points[-1] == pytest.approx([0.2, 0.0, 0.0], abs=1e-5)
    assert forces[-1] == pytest.approx([0.0, 0.0, 2.0 * 9.81], rel=1e-6)
    assert drawn_forces(run, True).keys() == {name}


def test_cut_forces_carry_what_hangs_on_them():
    model = gs.robots.two_link()
    hold = gs.gravity(model, [0.4, -0.3])
    run = gs.simulate(model, lambda t, q, v: hold - 5.0 * v, [0.4, -0.3], t_end=0.05)
    found = drawn_forces(run, True)
    weight = gs.total_inertia(model, run.q[-1]).m * 9.81
    first = next(iter(found.values()))
    assert first[1][-1] == pytest.approx([0.0, 0.0, weight], rel=1e-6, abs=1e-6)
    frames = run.frames()
    assert all(np.array_equal(points, frames[name].p) for name, (points, _) in found.items())


# ------------------------------------------------------------------------------------ mistakes
MISTAKES = {
    "the robot rests, and its ghost moves": lambda m: view(m, [0.1], ghost={"t": T, "q": T[:, None]}, block=False),
    "the robot rests, and 'arm' beside it": lambda m: view(m, beside=[(m, T[:, None], T)], block=False),
    "beside has 'arm2'": lambda m: view(m, beside="arm2", block=False),
    "ghost: q has": lambda m: view(m, ghost=[0.1, 0.2], block=False),
    "spacing must be a number": lambda m: view(m, beside=m, spacing="1", block=False),
    r"expected finite points and forces \(3,\)": lambda m: view(m, forces={"f": ([0, 0], [1, 0])}, block=False),
    "expected a mapping": lambda m: view(m, forces=[1.0], block=False),
    "force_scale must be": lambda m: view(m, forces={"f": ([0, 0, 0], [1, 0, 0])}, force_scale=-1, block=False),
    "no contact and no port 'rodd'": lambda m: gs.simulate(m, None, [0.1], t_end=0.1).view(forces="rodd"),
    "forces is 3": lambda m: gs.simulate(m, None, [0.1], t_end=0.1).view(forces=3),
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes_are_told_before_anything_is_drawn(words):
    with pytest.raises(gs.GyrostatError, match=words):
        MISTAKES[words](hinge())
