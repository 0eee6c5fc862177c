"""Eigenfrequencies along paths and over the workspace, and shapes of modes: at frames, in figures, in the viewer."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.vibration.mode_tracking import mac, paired
from tests.support import oscillators
from tests.support.comparing import assert_close
from tests.support.flexible_models import ALUMINIUM

ARM = gs.robots.elastic_arm()
POSE = np.array([0.0, 0.6, 0.0, 1.2, 0.0, 0.5, 0.0])
CHARACTERISTIC = np.array([1.8751040687119611, 4.6940911329741746, 7.8547574382376126])  # 1 + cos x cosh x = 0


@pytest.fixture(scope="module")
def boom():
    """A beam in the plane x-z on a hinge with an elastic drive, and a load."""
    parts = (
        gs.Joint("tilt", "revolute", axis="y"),
        gs.FlexibleBeam("boom", **ALUMINIUM, length=1.0, modes=(0, 4), modes_x=0, damping=1e-3, frames={"mid": 0.5}),
    )
    load = gs.RigidBody("load", mass=0.2, inertia=(1e-3,) * 3)
    model = gs.assemble("boom", gs.chain("world", *parts, load))
    return model.with_drive("tilt", rotor_inertia=1e-4, gear_ratio=50, stiffness=900.0)


def test_poles_of_a_damped_oscillator_are_those_of_its_matrices():
    found = gs.eigenfrequencies(oscillators.two_masses(), [0, 0])
    A = np.block(
        [[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(oscillators.M, x) for x in (oscillators.K, oscillators.D)]]
    )
    assert_close(np.sort_complex(found.poles), np.sort_complex(np.linalg.eigvals(A)), 1e-12)
    assert_close(found.damping_ratios, -found.poles.real / np.abs(found.poles), 1e-15)


def turret():
    """Pan and tilt on springs, without gravity: the inertia about pan falls with the tilt, that about tilt does not."""
    mast = gs.RigidBody("mast", mass=1.0, inertia=(0.02,) * 3)
    barrel = gs.RigidBody("barrel", mass=2.0, com=(0.5, 0, 0), inertia=(1e-3, 0.1, 0.1))
    hinges = [gs.Joint("pan", "revolute", axis="z"), gs.Joint("tilt", "revolute", axis="y")]
    springs = [gs.Spring("k1", stiffness=100.0, ground=True), gs.Spring("k2", stiffness=150.0, ground=True)]
    wires = gs.connect("pan.shaft", "k1.a"), gs.connect("tilt.shaft", "k2.a")
    chain = gs.chain("world", hinges[0], mast, hinges[1], barrel)
    return gs.assemble("turret", chain, *springs, *wires, gravity=(0, 0, 0))


def test_modes_keep_their_places_where_frequencies_cross():
    tilt = np.linspace(0.0, 1.3, 40)
    path = np.stack([np.zeros(40), tilt], axis=1)
    tracked = gs.eigenfrequencies(turret(), path, track=True)
    pan = np.sqrt(100.0 / (0.02 + 0.1 * np.cos(tilt) ** 2 + 1e-3 * np.sin(tilt) ** 2 + 0.5 * np.cos(tilt) ** 2))
    assert_close(tracked.undamped[:, 0] * 2 * np.pi, pan, 1e-9)
    assert_close(tracked.undamped[:, 1] * 2 * np.pi, np.full(40, np.sqrt(150.0 / 0.6)), 1e-9)
    assert (tracked.undamped[0, 0] < tracked.undamped[0, 1]) & (tracked.undamped[-1, 0] > tracked.undamped[-1, 1])
    assert np.all(tracked.modes[:, 0, 0] * tracked.modes[0, 0, 0] > 0.0)
    assert_close(np.abs(tracked.poles[:, ::2]), 2 * np.pi * tracked.undamped, 1e-9)
    assert_close(np.sort(tracked.undamped, axis=1), gs.eigenfrequencies(turret(), path).undamped, 1e-12)
    with pytest.raises(gs.ShapeError, match=r"track=True needs a path, q \(k, 2\)"):
        gs.eigenfrequencies(turret(), [0, 0], track=True)


def test_shapes_of_one_pose_are_orthogonal_in_mass():
    found = gs.eigenfrequencies(ARM, POSE)
    assert_close(mac(found.modes, found.modes, gs.crba(ARM, found.q)), np.eye(14), 1e-9)


def test_pairs_are_chosen_best_first():
    assert paired(np.array([[0.9, 0.8], [0.95, 0.1]])).tolist() == [1, 0]


def test_displacements_of_a_frame_are_those_of_its_motion(boom):
    found = gs.eigenfrequencies(boom, [0.3])
    d = found.displacements("load")
    assert d.shape == (6, 6)
    h = 1e-6
    for k in range(6):
        ahead, behind = (gs.fk(boom, gs.integrate(boom, found.q, x * found.modes[:, k]))["load"] for x in (h, -h))
        assert_close((ahead.p - behind.p) / (2 * h), d[3:, k], 1e-7)
    local = found.displacements("load", expressed_in="local")
    R = gs.fk(boom, found.q)["load"].R
    assert_close(R @ local[3:], d[3:], 1e-13)
    assert_close(
        found.displacements("load", damped=True),
        gs.jacobian(boom, found.q, "load", "aligned") @ found.damped_modes,
        1e-12,
    )
    path = gs.eigenfrequencies(boom, [[0.3], [0.5]])
    assert_close(path.displacements("load")[0], d, 1e-12)
    with pytest.raises(gs.FrameError, match="expressed_in must be 'aligned' or 'local'"):
        found.displacements("load", expressed_in="world")


def test_the_motion_of_a_mode_swings_about_the_pose_with_its_frequency(boom):
    found = gs.eigenfrequencies(boom, [0.3])
    t, q = found.motion(2, amplitude=0.05)
    assert_close(t[-1] * found.undamped[2], 1.0, 1e-12)
    assert_close(q[0], found.q, 1e-14)
    places = [gs.fk(boom, x) for x in (q[0], q[12])]
    frames = ("boom.b", "boom.mid", "load")
    far = max(np.linalg.norm(places[1][f].p - places[0][f].p) for f in frames)
    assert far == pytest.approx(0.05, rel=0.05)
    with pytest.raises(gs.StateError, match="mode must be a number from 0 to 5"):
        found.motion(9)
    with pytest.raises(gs.ShapeError, match="Hint: eigenfrequencies of one pose"):
        gs.eigenfrequencies(boom, [[0.3], [0.5]]).motion(0)


def test_modes_are_drawn(boom, tmp_path):
    found = gs.eigenfrequencies(boom, [0.3])
    flat = found.plot(2, plane="xz")
    assert len(flat.axes[0].collections) == 1  # the arrows
    assert "Hz" in flat.axes[0].get_title()
    assert found.plot(2).axes[0].name == "3d"
    assert len(gs.eigenfrequencies(boom, [[0.3], [0.5]], track=True).plot().axes[0].lines) == 6
    assert len(found.plot().axes[0].patches) == 6
    with pytest.raises(gs.ShapeError, match="plane must be two of"):
        found.plot(2, plane="xw")
    pytest.importorskip("viser")
    page = found.view(2, html=tmp_path / "mode.html")
    assert page.stat().st_size > 10_000


def test_a_map_has_the_frequencies_of_every_pose(boom):
    tilt = np.linspace(-1.0, 1.0, 5)
    found = gs.frequency_map(boom, {"tilt": tilt})
    assert found.undamped.shape == (5, 6)
    for k, x in enumerate(tilt):
        assert_close(found.undamped[k], gs.eigenfrequencies(boom, [x]).undamped, 1e-9)
    assert len(found.plot().axes[0].lines) == 6
    two = gs.frequency_map(ARM, {"q2": [0.0, 0.5, 1.0], "q4": [0.3, 0.6]}, locked=ARM.dofs[7:])
    assert two.undamped.shape == (3, 2, 7)
    assert two.q.shape == (3, 2, 14)
    assert_close(two.q[2, 1, [1, 3]], [1.0, 0.6], 1e-15)
    assert len(two.plot(1).axes) == 2
    with pytest.raises(gs.StateError, match="'q9' is no coordinate"):
        gs.frequency_map(ARM, {"q9": [0.0]})
    with pytest.raises(gs.ShapeError, match="finite"):
        gs.frequency_map(ARM, {"q2": [np.nan]})


# ---------------------------------------------------------------------------------------------- flexible links
def cantilever(**options):
    beam = gs.FlexibleBeam("boom", **ALUMINIUM, length=1.0, modes=(0, 10), modes_x=0, **options)
    return gs.assemble("cantilever", gs.chain("world", beam), gravity=(0, 0, 0))


def natural(k=3):
    x = ALUMINIUM
    return CHARACTERISTIC[:k] ** 2 * np.sqrt(x["E"] * x["I_y"] / (x["density"] * x["area"])) / (2 * np.pi)


def test_kelvin_voigt_damping_grows_with_the_frequency():
    """C = T K: zeta_i = T w_i / 2."""
    found = gs.eigenfrequencies(cantilever(damping=2e-4), np.zeros(10))
    assert_close(found.undamped[:2] / natural(2), [1.0, 1.0], 1e-5)
    assert_close(found.damping_ratios[:6:2], np.pi * 2e-4 * found.undamped[:3], 1e-10)


def test_the_drive_the_link_and_the_controller_in_one_response(boom):
    """Against the state space of the whole, closed by hand."""
    hz = np.geomspace(0.5, 200.0, 60)
    kp, kd = np.zeros(6), np.zeros(6)
    kp[-1], kd[-1] = 0.5, 0.01
    law = gs.blocks.pd(kp, kd, np.zeros(6))
    r = gs.frequency_response(
        boom, [0.3], ["tilt_drive.motor", "load.fz"], ["load.z", "boom.z1", "a boom.mid.z"], hz, law
    )
    A, B = gs.linearise(boom, r.q)
    A = A - B @ np.concatenate([np.diag(kp), np.diag(kd)], axis=1)
    J, mid = (gs.jacobian(boom, r.q, frame, "aligned")[5] for frame in ("load", "boom.mid"))
    s = 2j * np.pi * hz
    X = np.linalg.solve(s[:, None, None] * np.eye(12) - A, B @ np.stack([np.eye(6)[5], J], axis=1))
    want = [np.einsum("n,fni->fi", x, X[:, :6]) for x in (J, np.eye(6)[1])]
    want.append(s[:, None] ** 2 * np.einsum("n,fni->fi", mid, X[:, :6]))
    assert_close(r.H, np.stack(want, axis=1), 1e-8)
    closed = gs.eigenfrequencies(boom, [0.3], controller=law)
    assert_close(np.sort_complex(closed.poles), np.sort_complex(np.linalg.eigvals(A)), 1e-8)
    assert closed.poles.real.max() < 0.0


def test_motions_that_an_input_does_not_move_have_no_antiresonances():
    """Bending sideways, in a beam that is shaken up and down."""
    beam = gs.FlexibleBeam("boom", **ALUMINIUM, length=1.0, modes=(2, 3), modes_x=0, frames={"mid": 0.6})
    model = gs.assemble("both planes", gs.chain("world", beam), gravity=(0, 0, 0))
    hz = np.geomspace(1.0, 500.0, 20)
    both = gs.frequency_response(model, [], "boom.b.fz", ["boom.b.z", "boom.mid.z"], hz)
    only = gs.FlexibleBeam("boom", **ALUMINIUM, length=1.0, modes=(0, 3), modes_x=0, frames={"mid": 0.6})
    flat = gs.assemble("one plane", gs.chain("world", only), gravity=(0, 0, 0))
    want = gs.frequency_response(flat, [], "boom.b.fz", ["boom.b.z", "boom.mid.z"], hz)
    for k in range(2):
        assert_close(both.antiresonances(k), want.antiresonances(k), 1e-8)
    assert len(want.antiresonances(0)) == 2  # one between two resonances of a driving point
    assert_close(both.H, want.H, 1e-10)


def test_what_vibrates_is_told_in_a_line_and_as_a_table():
    found = gs.eigenfrequencies(gs.robots.two_link(), [0.0, 0.0])
    assert repr(found) == "<eigenfrequencies of 'two_link': 2 modes, 0.656, 1.532 Hz>"
    assert "0.655953" in found._repr_html_() and "shoulder, elbow" in found._repr_html_()
    many = gs.eigenfrequencies(gs.robots.two_link(), np.zeros((3, 2)))
    assert "2 modes, 3 poses" in repr(many) and "3 poses" in many._repr_html_()
