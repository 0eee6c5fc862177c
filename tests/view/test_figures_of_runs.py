"""Figures of runs: what they hold, by numbers; what they refuse; and that they are pictures of their own."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

BALL = gs.RigidBody("ball_body", mass=1, inertia=(1, 1, 1))


def falling() -> gs.Model:
    """A rod on a hinge with a stop."""
    hinge = gs.Joint("hinge", "revolute", axis="y", lower=-1.0, upper=1.0, velocity_limit=20.0)
    rod = gs.RigidBody("rod", mass=2.0, com=(0, 0, 0.4), inertia=(0.1, 0.1, 0.01))
    return gs.assemble("falling", gs.chain("world", hinge, rod))


@pytest.fixture(scope="module")
def run():
    return gs.simulate(falling(), lambda t, q, v: -0.2 * v, [0.2], [0.0], t_end=1.0, t_eval=np.linspace(0.0, 1.0, 101))


@pytest.fixture(scope="module")
def marked(run):
    return gs.simulate(
        run.model, None, [0.2], [0.0], t_end=0.4, events=[gs.Event(lambda t, q, v: q[0] - 0.3, name="passed")]
    )


def labels(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def line(ax, label: str):
    return next(x for x in ax.lines if x.get_label() == label)


def test_a_reference_is_drawn_dashed_with_its_own_times(run):
    figure = run.plot(reference={"t": [0.0, 0.5, 1.0], "q": [[0.2], [0.3], [0.9]]})
    dashed = line(figure.axes[0], "reference")
    assert dashed.get_xdata() == pytest.approx([0.0, 0.5, 1.0])
    assert dashed.get_ydata() == pytest.approx([0.2, 0.3, 0.9])
    assert "reference" in labels(figure)
    assert not any(x.get_label() == "reference" for x in figure.axes[1].lines)  # no rate was given
    again = run.plot(reference=run)  # a run is a reference
    assert line(again.axes[1], "reference").get_ydata() == pytest.approx(run.v[:, 0])


def test_a_quaternion_of_a_reference_has_the_sign_of_the_motion():
    model = gs.assemble("top", gs.chain("world", gs.Joint("ball", "spherical"), BALL))
    t = np.linspace(0.0, 1.0, 11)
    v = np.tile([0.0, 0.5, 0.0], (11, 1))
    q = gs.integrate(model, gs.neutral(model), v * t[:, None])
    figure = gs.plot_motion(model, t, q, reference={"q": -q})
    dashed = [x for x in figure.axes[0].lines if x.get_linestyle() == "--"]
    drawn = np.array([x.get_ydata() for x in dashed]).T
    assert drawn == pytest.approx(q)


def test_events_are_lines_at_their_times_with_their_names(marked):
    figure = marked.plot()
    assert any("passed" in label for label in labels(figure))
    drawn = [c for c in figure.axes[0].collections if "passed" in str(c.get_label())]
    [when] = [event.t for event in marked.events]
    assert drawn[0].get_segments()[0][0][0] == pytest.approx(when)
    few = gs.plot_motion(marked.model, marked.t, marked.q, events=[(k / 100, f"e{k}") for k in range(30)])
    assert labels(few)[-1] == "25 other sorts of events"
    with pytest.raises(gs.ShapeError, match="an event is 'soon'"):
        gs.plot_motion(marked.model, marked.t, marked.q, events=["soon"])


def test_the_phase_plane_has_rates_over_coordinates_and_limits(run):
    figure = run.plot_phase()
    [ax] = figure.axes
    motion = line(ax, "motion")
    assert motion.get_xdata() == pytest.approx(run.q[:, 0])
    assert motion.get_ydata() == pytest.approx(run.v[:, 0])
    assert ax.get_xlabel().endswith("[rad]") and ax.get_ylabel().endswith("[rad/s]")
    assert line(ax, "limit").get_xdata()[0] in (-1.0, 1.0)
    floating = gs.assemble("box", gs.chain("world", gs.Joint("base", "free"), BALL))
    q, v = np.tile(gs.neutral(floating), (3, 1)), np.zeros((3, 6))
    assert gs.plot_phase(floating, q, v).axes == []
    with pytest.raises(gs.StateError, match="has no phase plane"):
        gs.plot_phase(floating, q, v, joints="base")


def test_energies_and_their_balance_are_drawn(run):
    above, below = run.plot_energy().axes
    total = line(above, "T + U").get_ydata()
    assert total == pytest.approx(run.kinetic_energy + run.potential_energy)
    assert line(above, "T + U at the start + work").get_ydata() == pytest.approx(total, abs=1e-4)
    assert below.lines[0].get_ydata() == pytest.approx(run.energy_residual)
    assert above.get_ylabel() == "J"


def test_a_notebook_finds_the_picture_of_a_figure(run):
    assert run.plot_phase()._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n"


def test_cut_forces_are_those_of_newton(run):
    figure = run.plot_forces()
    force, moment = figure.axes
    drawn = np.array([x.get_ydata() for x in force.lines]).T
    seen = run.frames()["rod.origin"]
    c = np.array([0.0, 0.0, 0.4])
    p = seen.p + np.einsum("tij,j->ti", seen.R, c)
    measured = np.gradient(np.gradient(p, run.t, axis=0), run.t, axis=0)  # acceleration of the centre of mass
    expected = 2.0 * (measured + np.array([0.0, 0.0, 9.81]))
    inner = slice(5, 40)
    assert np.einsum("tij,tj->ti", seen.R, drawn)[inner] == pytest.approx(expected[inner], rel=2e-3, abs=2e-2)
    assert (force.get_ylabel(), moment.get_ylabel()) == ("N", "N·m")
    with pytest.raises(gs.StateError, match=r"no contact and no port 'hinge\.c'"):
        run.plot_forces("hinge.c")


def test_thirty_joints_have_one_legend_and_readable_panels():
    model = gs.robots.chain(30)
    t = np.linspace(0.0, 1.0, 21)
    x = np.sin(t)[:, None] * np.ones(model.nv)
    figure = gs.plot_motion(model, t, x, reference={"q": 1.1 * x}, events=[(0.5, "switch")])
    assert len(figure.axes) == 30
    assert labels(figure) == ["reference", "switch"]
    assert not any(ax.get_legend() for ax in figure.axes)
    heights = [ax.get_window_extent().height / figure.dpi for ax in figure.axes]
    assert min(heights) > 0.5  # inch


def test_rounding_is_no_curve():
    still = gs.Joint("still", "prismatic", axis="z")
    model = gs.assemble(
        "two",
        gs.chain(
            "world",
            gs.Joint("hinge", "revolute", axis="y"),
            BALL,
            still,
            gs.RigidBody("tip", mass=1, inertia=(1, 1, 1)),
        ),
    )
    t = np.linspace(0.0, 1.0, 50)
    q = np.stack([np.sin(t), 0.02 + 1e-17 * np.cos(50 * t)], axis=1)
    v = np.stack([np.cos(t), 1e-16 * np.cos(50 * t)], axis=1)
    low, high = gs.plot_motion(model, t, q, v).axes[3].get_ylim()
    assert high - low == pytest.approx(2e-9, rel=1e-3)
    low, high = gs.plot_phase(model, q, v).axes[1].get_ylim()
    assert high - low == pytest.approx(2e-9, rel=1e-3)
