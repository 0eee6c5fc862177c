"""Rollouts as figures, tables and files."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs


@pytest.fixture(scope="module")
def many():
    model = gs.robots.two_link()
    q0 = np.random.default_rng(0).normal(size=(40, 2)) * 0.3
    return gs.rollout(model, lambda t, q, v: -2.0 * v, q0, dt=1e-3, steps=200, every=20)


def test_a_fan_has_bands_a_median_and_lanes_for_each_joint_and_quantity(many):
    figure = many.plot(quantities=("q", "v", "tau"), bands=(80, 40), lanes=[3, 7])
    assert len(figure.axes) == 6
    ax = figure.axes[0]
    median, *single = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(median, np.median(many.q[:, :, 0], axis=1))
    np.testing.assert_array_equal(np.array(single), many.q[:, [3, 7], 0].T)
    band = ax.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(band[:, 1].max(), np.percentile(many.q[:, :, 0], 90, axis=1).max())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        *("80 % of the robots", "40 % of the robots", "median")
    ]
    outer, inner = (patch.get_facecolor() for patch in figure.legends[0].get_patches())
    assert outer[3] < inner[3], "bands look alike in the legend"


def test_tables_have_every_number_by_robot_time_and_name(many):
    pytest.importorskip("pandas")
    table = many.to_pandas()
    assert table.shape == (40 * len(many.t), 6)
    name = many.model.coordinates[1]
    np.testing.assert_array_equal(table.loc[5][("q", name)].to_numpy(), many.q[:, 5, 1])
    pytest.importorskip("xarray")
    data = many.to_xarray()
    np.testing.assert_array_equal(data["v"].sel(robot=7).to_numpy(), many.v[:, 7])


def test_a_saved_rollout_comes_back_to_the_bit_also_with_robots_that_diverged(tmp_path, many):
    back = gs.load_rollout(many.save(tmp_path / "run"))
    for name in ("t", "q", "v", "p", "tau", "diverged"):
        np.testing.assert_array_equal(getattr(back, name), getattr(many, name))
    assert back.model == many.model
    with pytest.raises(gs.StateError, match="no derivatives"):
        back.vjp((None, None))
    wild = gs.rollout(many.model, lambda t, q, v, k: k * v**3, np.ones((2, 2)), np.ones((2, 2)), steps=500,
                      parameters={"k": [[0.0, 0.0], [1e6, 1e6]]}, nonfinite="return", every=50)  # fmt: skip
    assert (wild.diverged >= 0).tolist() == [False, True]
    np.testing.assert_array_equal(gs.load_rollout(wild.save(tmp_path / "wild")).q, wild.q)
    assert len(wild.plot().axes) == 4


def test_one_robot_has_figures_and_tables_too(tmp_path):
    model = gs.robots.pendulum()
    one = gs.rollout(model, None, [0.3], dt=1e-2, steps=20)
    assert len(one.plot(lanes=1).axes) == 2
    np.testing.assert_array_equal(gs.load_rollout(one.save(tmp_path / "one.npz")).q, one.q)


def test_files_that_are_no_rollouts_are_refused(tmp_path, many):
    other = tmp_path / "other.npz"
    np.savez(other, t=np.zeros(3))
    for path, words in ((other, "is no rollout"), (tmp_path / "none.npz", "does not exist")):
        with pytest.raises(gs.LoadError, match=words):
            gs.load_rollout(path)
    with pytest.raises(gs.StateError, match="quantities are"):
        many.plot(quantities="x")
    with pytest.raises(gs.ShapeError, match="no robot 99"):
        many.plot(lanes=[99])
    with pytest.raises(gs.StateError, match="there is no robot 40"):
        many.view(40)
