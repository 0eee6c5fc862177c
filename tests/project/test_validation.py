"""``./run validate``: a few robots in both peers, what is found when something is wrong, and the page as it is kept."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs

pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
pytest.importorskip("mujoco", reason="MuJoCo comes with the extra 'oracles'")

from validation import __main__ as command
from validation import robots
from validation.compare import QUANTITIES, Difference, compare, compare_dynamics, evenly, off
from validation.coupled_robot import CoupledRobot
from validation.page import Results, page
from validation.pinocchio_robot import PinocchioRobot
from validation.references import ADAMS, SOURCES, ReferenceRow
from validation.urdf_files import opened

PAGE = Path(__file__).parents[2] / "docs" / "correctness.md"
FEW = ("double_pendulum_continuous.urdf", "solo12.urdf", "panda.urdf", "allegro_left_hand.urdf")


@pytest.mark.parametrize("file", FEW)
def test_a_few_robots_agree_with_both_programs(file):
    (path,) = robots.files((file,))
    rows = robots.compared(path, ["Pinocchio", "MuJoCo"])
    assert not any(row.failed for row in rows.values())
    assert set(rows["Pinocchio"].errors) == {"fixed", "free"}
    assert all(set(found) == set(QUANTITIES) for found in rows["Pinocchio"].errors.values())
    if file == "allegro_left_hand.urdf":
        assert "inertia must satisfy" in rows["MuJoCo"].refused
    else:
        assert set(rows["MuJoCo"].errors) == {"fixed", "free"}


@pytest.mark.parametrize(("file", "rates"), [("panda.urdf", 8), ("hyq_no_sensors.urdf", 12)])
def test_damping_friction_and_couplings_agree(file, rates):
    """The fingers of the panda follow each other and have damping; hyq has damping and friction."""
    (path,) = robots.files((file,))
    row = robots.as_loaded(path)
    assert row is not None
    assert row.dofs == rates
    assert not row.failed
    assert all(set(found) == set(QUANTITIES[:3]) for found in row.errors.values())


def test_files_that_say_no_more_than_the_mechanism_are_not_compared_twice():
    (path,) = robots.files(("solo12.urdf",))
    assert robots.as_loaded(path) is None


def test_compiled_code_agrees_too():
    (path,) = robots.files(("double_pendulum_continuous.urdf",))
    assert not robots.compared(path, ["Pinocchio"], "compile")["Pinocchio"].failed


def test_an_empty_robot_is_named_and_not_compared():
    (path,) = robots.files(("ur3.urdf",))
    row = robots.compared(path, ["Pinocchio"])["Pinocchio"]
    assert not row.errors
    assert "got 0 links" in row.refused


@pytest.mark.parametrize("source", [pytest.param(x, marks=pytest.mark.slow if x == "ADAMS" else ()) for x in SOURCES])
def test_published_numbers_are_met(source):
    """ADAMS: 28 simulations, which test_adams_histories does, too."""
    rows = list(SOURCES[source]())
    assert rows
    assert not [row for row in rows if row.failed]


# -------------------------------------------------------------------------------------------- it can fail
@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"FL_UPPER_LEG.mass": 0.2}, {"torques", "accelerations", "mass matrix"}),
        ({"FL_KFE_origin.translation": (0.0, 0.1, -0.16)}, set(QUANTITIES)),
    ],
)
def test_a_wrong_robot_is_found_out(change, wrong):
    file = opened(*robots.files(("solo12.urdf",)))
    model = file.load("fixed")
    found = compare(model.replace(change), PinocchioRobot(file, model, "fixed"))
    assert {quantity for quantity, one in found.items() if one.failed} >= wrong


def test_losses_that_are_left_out_are_found_out():
    file = opened(*robots.files(("panda.urdf",)))
    coupled, bare = file.load("fixed", everything=True), file.load("fixed")
    assert bare.nv == coupled.nv + 1
    lossless = coupled.replace({path: 0.0 for path in coupled.paths() if path.endswith((".viscous", ".damping"))})
    found = compare_dynamics(lossless, CoupledRobot(file, coupled, "fixed"), forward=True)
    assert found["torques"].failed
    assert not found["mass matrix"].failed


def test_nan_fails_and_sizes_are_relative():
    assert Difference(float("nan")).failed
    assert ReferenceRow("", "", "", "", float("nan"), 1.0).failed
    assert off([101.0, 0.0], [100.0, 0.0]) == 0.01
    assert off([0.1], [0.0], 1.0) == 0.1
    assert np.isnan(off([np.nan], [1.0]))
    with pytest.raises(ValueError, match="shapes"):
        off([1.0], [[1.0]])


def test_links_are_spread_and_the_last_is_among_them():
    assert evenly([f"l{k}" for k in range(9)]) == ["l8", "l6", "l4", "l2"]
    assert evenly(["only"]) == ["only"]


def test_the_command_fails_with_a_list_when_something_is_above_what_is_allowed(tmp_path, monkeypatch, capsys):
    out = tmp_path / "page.md"
    arguments = ["--only", "double_pendulum_continuous.urdf", "--out", str(out)]
    monkeypatch.setattr(command.references, "SOURCES", {})
    assert command.main(arguments) == 0
    assert "1 of 1 robots agree" in out.read_text("utf-8")

    def wrong():
        yield ReferenceRow("Somebody", "a case", "torques", "N m", 1.0, 1e-3)

    monkeypatch.setattr(command.references, "SOURCES", {"wrong": wrong})
    assert command.main(arguments) == 1
    assert "above what is allowed: a case, torques (Somebody)" in capsys.readouterr().err
    assert "**Above what is allowed**: a case, torques (Somebody)." in out.read_text("utf-8")


def test_the_command_refuses_nonsense(tmp_path, capsys):
    with pytest.raises(SystemExit):
        command.main(["--only", "no_such_robot", "--out", str(tmp_path / "x.md")])
    assert "no robot's file name contains 'no_such_robot'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["--only", "panda"])
    assert "say where the page goes" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------- the page
def test_the_page_says_what_is_missing():
    text = page(Results(missing=["Pinocchio", "MuJoCo"], histories=False))
    assert "Pinocchio was not installed." in text
    assert "histories of ADAMS were not at hand" in text


def test_the_page_has_one_line_for_every_history_and_shows_what_is_wrong():
    rows = [
        ReferenceRow(ADAMS, "One_Case01", "position", "m", 2e-6, 5e-6),
        ReferenceRow(ADAMS, "One_Case01", "reaction torque", "N m", 1e-15, 1e-9),
        ReferenceRow(ADAMS, "Two_Case01", "velocity", "m/s", 2e-5, 5e-6),
    ]
    text = page(Results(references=rows))
    assert "| One_Case01 | 2.0e-06 / 5.0e-06 | - | - | - | - | - | - | 0 |" in text
    assert "| Two_Case01 | - | **2.0e-05 / 5.0e-06** |" in text
    assert "**Above what is allowed**: Two_Case01, velocity" in text
    assert "not at hand" not in text


def test_the_page_in_the_documentation_is_about_all_robots_and_has_no_failures():
    text = PAGE.read_text("utf-8")
    for path in robots.files():
        assert f"/{path.name}`" in text
    assert "Above what is allowed" not in text
    assert "was not installed" not in text
    assert re.search(r"Pinocchio\*\*: (\d+) of \1 robots agree", text)
    assert re.search(r"MuJoCo\*\*: (\d+) of \1 robots agree", text)


def test_the_page_has_no_dates_and_no_places_of_a_machine():
    text = PAGE.read_text("utf-8")
    assert not re.search(r"\b20\d\d-\d\d-\d\d\b", text)
    assert not re.search(r"(?<![\w.`-])/(?:home|tmp|usr|root|work|opt)/|site-packages|[A-Z]:\\", text)
    assert f"gyrostat {gs.__version__}" in text
