"""Figures over time: rows and columns, names, units, limits, and what cannot be drawn."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.view.channels import channels
from gyrostat.view.plots import plot_motion

T = np.linspace(0.0, 2.0, 41)


def arm(**limits) -> gs.Model:
    slide = gs.Joint("slide", "prismatic", axis="z")
    hinge = gs.Joint("hinge", "revolute", axis="y", **limits)
    rod = gs.RigidBody("rod", mass=1, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.01))
    cart = gs.RigidBody("cart", mass=2, inertia=(0.1, 0.1, 0.1))
    return gs.assemble("arm", gs.chain("world", slide, cart, hinge, rod))


def motion(model):
    x = np.sin(T)[:, None] * np.arange(1, model.nv + 1)
    return {"q": x, "v": np.cos(T)[:, None] * np.arange(1, model.nv + 1), "a": -x, "tau": 3.0 * x}


def panels(figure):
    return {(ax.get_subplotspec().rowspan.start, ax.get_subplotspec().colspan.start): ax for ax in figure.axes}


def test_there_is_a_row_for_each_joint_and_a_column_for_each_quantity(tmp_path):
    model = arm()
    figure = plot_motion(model, T, **motion(model))
    found = panels(figure)
    assert set(found) == {(row, column) for row in range(2) for column in range(4)}
    titles = [found[0, column].get_title(loc="right") for column in range(4)]
    assert titles == ["coordinate q", "rate v", "acceleration a", "effort tau"]
    assert [found[0, c].get_ylabel() for c in range(4)] == ["m", "m/s", "m/s²", "N"]
    assert [found[1, c].get_ylabel() for c in range(4)] == ["rad", "rad/s", "rad/s²", "N·m"]
    assert [found[row, 0].texts[0].get_text() for row in range(2)] == ["slide", "hinge"]
    assert found[1, 0].lines[0].get_ydata() == pytest.approx(2.0 * np.sin(T))
    assert found[1, 3].get_xlabel() == "t [s]"
    figure.savefig(tmp_path / "motion.png")
    assert (tmp_path / "motion.png").stat().st_size > 10_000


def test_only_what_is_given_is_drawn():
    model = arm()
    figure = plot_motion(model, T, tau=motion(model)["tau"], joints="hinge", title="torques")
    [ax] = figure.axes
    assert ax.get_title(loc="right") == "effort tau"
    assert figure.get_suptitle() == "torques"


def test_limits_are_shaded_and_what_is_beyond_is_red():
    model = arm(lower=-1.0, upper=1.5, velocity_limit=5.0, effort_limit=100.0)
    hinge = channels(model)[1]
    assert hinge.limits == {"q": (-1.0, 1.5), "v": (-5.0, 5.0), "tau": (-100.0, 100.0)}
    found = panels(plot_motion(model, T, **motion(model)))
    position, rate, free, effort = (found[1, column] for column in range(4))
    assert len(position.patches) == 2
    low, high = position.get_ylim()
    assert low < -1.0
    assert high > 1.5
    assert position.lines[-1].get_color() == "#c0392b"
    beyond = position.lines[-1].get_ydata()
    assert np.nanmin(beyond) > 1.5
    assert np.isnan(beyond).sum() == np.sum(2.0 * np.sin(T) <= 1.5)
    assert len(rate.patches) == 2
    assert all(line.get_color() != "#c0392b" or line.get_linestyle() == "--" for line in rate.lines)
    assert free.patches[:] == effort.patches[:] == []  # far away: not in the picture
    assert len(found[0, 0].patches) == 0  # the other joint has none


def test_rotations_in_space_have_rows_of_their_own():
    body = gs.RigidBody("body", mass=1, inertia=(1, 1, 1))
    other = gs.RigidBody("other", mass=1, inertia=(1, 1, 1))
    model = gs.assemble("m", gs.chain("world", body, gs.Joint("ball", "spherical"), other), base="free")
    rows = channels(model)
    assert [(c.name, c.sort, len(c.q_at), len(c.v_at)) for c in rows] == [
        ("world.place", "place", 3, 3),
        ("world.turn", "turn", 4, 3),
        ("ball", "turn", 4, 3),
    ]
    assert rows[0].v_at == (3, 4, 5)  # angular first in v, place first in q
    assert sorted(k for c in rows for k in c.q_at) == list(range(model.nq))
    q = np.tile(gs.neutral(model), (len(T), 1))
    found = panels(plot_motion(model, T, q=q, v=np.zeros((len(T), model.nv))))
    assert found[1, 0].get_ylabel() == "quaternion"
    assert [t.get_text() for t in found[1, 0].get_legend().get_texts()] == ["qx", "qy", "qz", "qw"]
    assert [t.get_text() for t in found[0, 1].get_legend().get_texts()] == ["vx", "vy", "vz"]


def test_every_coordinate_of_every_kind_of_joint_is_in_one_channel():
    model = gs.robots.tree(20)
    found = channels(model)
    assert sorted(k for c in found for k in c.q_at) == list(range(model.nq))
    assert sorted(k for c in found for k in c.v_at) == list(range(model.nv))
    for kind, table in gs.JOINT_KINDS.items():
        given = {"axis": "x", "second_axis": "y", "pitch": 0.1}
        joint = gs.Joint("j", kind, **{key: given[key] for key in table.needs})
        one = gs.assemble("m", gs.chain("world", joint, gs.RigidBody("b", mass=1, inertia=(1, 1, 1))))
        assert all(c.sort != "number" for c in channels(one)), kind


def test_a_figure_of_the_user_is_drawn_into():
    from matplotlib.figure import Figure

    mine = Figure()
    model = gs.robots.pendulum()
    assert plot_motion(model, T, q=np.sin(T)[:, None], figure=mine) is mine
    assert len(mine.axes) == 1


def test_a_model_that_cannot_move_gives_an_empty_figure():
    model = gs.assemble("m", gs.chain("world", gs.RigidBody("block", mass=1)))
    figure = plot_motion(model, T, q=np.zeros((len(T), 0)))
    assert figure.axes == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "there is nothing to draw. Hint: give at least one of q, v, a, tau"),
        ({"q": np.zeros((41, 3))}, r"q has shape \(41, 3\), expected \(41, 2\) = \(length of t, nq of 'arm'\)"),
        ({"tau": np.zeros(41)}, r"tau has shape \(41,\), expected \(41, 2\)"),
        ({"q": [["x"]]}, "q has shape"),
        ({"t": np.zeros((2, 2)), "q": np.zeros((2, 2))}, r"t has shape \(2, 2\), expected \(T,\)"),
        ({"t": [0.0, np.nan], "q": np.zeros((2, 2))}, "t must be finite"),
        ({"t": "now", "q": np.zeros((2, 2))}, "t must be an array of times"),
    ],
)
def test_wrong_shapes_are_told(given, told):
    with pytest.raises(gs.ShapeError, match=f"plot_motion: {told}"):
        plot_motion(arm(), **({"t": T} | given))


def test_an_unknown_joint_is_told_with_near_names():
    with pytest.raises(gs.StateError, match=r"there is no joint 'hing' .* Hint: did you mean 'hinge'"):
        plot_motion(arm(), T, q=np.zeros((41, 2)), joints=["hing"])


def test_numbers_that_are_not_finite_leave_gaps():
    model = arm(lower=-1.0, upper=1.5)
    q = motion(model)["q"]
    q[10:20] = np.nan
    assert plot_motion(model, T, q=q).axes
