"""Robots by name: where they are looked up, in which order, and that no name leads out of a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gyrostat as gs
from gyrostat.robots import found_files

URDF = '<robot name="{0}"><link name="base"/></robot>'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the search path, and nothing else: packages are out of the way."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(found_files.sysconfig, "get_paths", lambda: {"purelib": str(tmp_path / "nowhere")})
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "nowhere"))
    robots = tmp_path / "robots"
    robots.mkdir()
    monkeypatch.setenv("GYROSTAT_ROBOTS", str(robots))
    return robots


def put(path: Path, name: str, text: str | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(URDF.format(name) if text is None else text)


def test_a_file_that_is_there_comes_first_then_own_robots_then_folders(folder, tmp_path):
    put(folder / "pendulum.urdf", "from the folder")
    assert gs.load("pendulum").name == gs.robots.pendulum().name
    put(folder / "crane.urdf", "from the folder")
    assert gs.load("crane").name == "from the folder"
    put(tmp_path / "crane.urdf", "here")
    assert gs.load("crane.urdf").name == "here"
    (tmp_path / "crane").mkdir()  # a folder is no robot
    assert gs.load("crane").name == "from the folder"


def test_folders_of_the_program_come_before_those_of_the_environment(folder, tmp_path, monkeypatch):
    put(folder / "crane.urdf", "environment")
    put(tmp_path / "mine" / "deep" / "urdf" / "crane.urdf", "program")
    monkeypatch.setattr(gs.robots.by_name, "search_path", [tmp_path / "mine"])
    assert gs.load("crane").name == "program"
    assert [r.source for r in gs.robots.available() if r.name == "crane"] == [
        "gs.robots.search_path",
        "GYROSTAT_ROBOTS",
    ]


def test_names_may_leave_out_the_usual_endings_and_several_are_not_guessed(folder):
    put(folder / "loader_description" / "urdf" / "loader_robot.urdf", "loader")
    put(folder / "walker_description" / "a.urdf", "a")
    put(folder / "walker_description" / "b.urdf", "b")
    assert gs.load("loader").name == "loader" and gs.load("Loader").name == "loader"
    with pytest.raises(gs.LoadError, match=r"'walker': stands for several: a, b"):
        gs.load("walker")


def test_only_files_that_are_robots_count(folder):
    put(folder / "thing" / "package.xml", "", "<package/>")
    put(folder / "thing" / "thing.xml", "", "<launch/>")
    put(folder / "arm" / "arm.xml", "", '<mujoco model="arm"><worldbody><body/></worldbody></mujoco>')
    assert [robot.name for robot in gs.robots.available() if robot.source == "GYROSTAT_ROBOTS"] == ["arm"]


@pytest.mark.parametrize("name", ["../secret", "/etc/secret", "a/../../secret", "..", "", "x\0y", "secret/", "a" * 500])
def test_no_name_leads_out_of_the_folders(folder, tmp_path, name):
    put(tmp_path / "secret.urdf", "secret")
    with pytest.raises(gs.GyrostatError):
        gs.load(name)


def test_links_out_of_a_folder_are_passed_over(folder, tmp_path):
    put(tmp_path / "outside" / "secret.urdf", "secret")
    os.symlink(tmp_path / "outside" / "secret.urdf", folder / "secret.urdf")
    os.symlink(tmp_path / "outside", folder / "linked")
    with pytest.raises(gs.LoadError, match="there is no file and no robot"):
        gs.load("secret")


def test_folders_that_cannot_be_looked_at_are_passed_over(folder, monkeypatch):
    monkeypatch.setattr("gyrostat.robots.by_name.search_path", ["x" * 5000, "no/such/folder"])
    put(folder / "arm.urdf", "arm")
    assert [robot.name for robot in gs.robots.available() if robot.source == "GYROSTAT_ROBOTS"] == ["arm"]


def test_an_unknown_name_is_answered_with_near_ones(folder):
    with pytest.raises(gs.LoadError, match=r"'pumma560'.*did you mean 'puma560'"):
        gs.load("pumma560")
    with pytest.raises(gs.SpecError, match="'policy' is for files"):
        gs.load("puma560", policy="strict")
    assert gs.load("pendulum", base="free").context.base == "free"


def test_robots_of_installed_packages_are_found():
    if not found_files.packages():
        pytest.skip("example-robot-data comes with the extra 'oracles'")
    assert gs.load("ur5").nv == 6
