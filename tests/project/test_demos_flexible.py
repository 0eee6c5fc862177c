"""`./run demo beam | flexible-robot`: the experiments of AS with flexible links, each checked by other means."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from demos import beam, flexible_robot
from demos.__main__ import main


@pytest.mark.parametrize(
    ("name", "figures", "words"),
    [
        (
            "beam",
            ("console", "pendulum", "statics"),
            ("8     -0.0443 (0.44)", "21.8160 (80.4)", "0.3592 (1.17)", "4    -0.2543  -0.0021   0.3752"),
        ),
        pytest.param(
            "flexible-robot",
            ("joints", "deformations", "payload"),
            ("27 degrees of freedom", "3.460, 3.607, 9.227, 10.451 Hz", "turn 46.4, shoulder 12.1, elbow 8.5"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_experiment_prints_its_numbers_and_writes_its_figures(name, figures, words, tmp_path, capsys):
    assert main([name, "--samples", "601", "--quiet", "--out", str(tmp_path), "--format", "png"]) == 0
    text, err = capsys.readouterr()
    assert all(word in text for word in words) and not err
    for figure in figures:
        path = tmp_path / f"{name.replace('-', '_')}_{figure}.png"
        assert str(path) in text and path.read_bytes()[:4] == b"\x89PNG"


MISPRINTS = {("A", 1, 3): 0.0443}
MISPRINTS |= {("FEM", 2, i): x for i, x in enumerate((None, 21.8, 1.25, 0.774, 0.359)) if x is not None}


def test_table_1_is_as_printed_but_for_misprints():
    found = beam.errors().console
    for column, printed in beam.PRINTED.items():
        for k, row in enumerate(printed):
            for i, number in enumerate(row):
                number = MISPRINTS.get((column, k, i), number)
                if number is not None:
                    unit = 10.0 ** -len(f"{number}".split(".")[1])
                    assert abs(abs(found[column][i, k]) - number) < unit, (column, k, i)


def test_the_frequencies_of_the_pendulum_are_roots_of_its_equation():
    """Shapes instead of pieces: ten of them are exact to 2e-6."""
    _, omega = beam.exact()
    long = gs.FlexibleBeam("beam", **beam.SLENDER, modes=(10, 0), modes_x=0)  # type: ignore[arg-type]
    parts = gs.Joint("hinge", "revolute", axis="z"), long, gs.RigidBody("bob", mass=beam.TIP)
    wires = [gs.connect(*w) for w in (("world", "hinge.a"), ("hinge.b", "beam.a"), ("beam.b", "bob"))]
    model = gs.assemble("pendulum", *parts, *wires, gravity=(0, 0, 0))
    got = 2 * np.pi * gs.eigenfrequencies(model, np.zeros(model.nv)).undamped[1:4]
    assert np.abs(got / omega - 1.0).max() < 2e-6


@pytest.mark.slow
def test_cuts_and_shapes_bend_alike():
    run, check = flexible_robot.simulated("in-cut", 301), flexible_robot.simulated("modal", 301)
    assert run.model.nv == 27
    for link in flexible_robot.LINKS:
        assert np.abs(run.bent[link] - check.bent[link]).max() < 1.2e-4
        assert np.abs(run.twist[link] - check.twist[link]).max() < 3e-4
    assert np.abs(run.bent["upper"]).max() > 0.02
    finer = flexible_robot.simulated("in-cut", 301, rtol=1e-8)
    assert np.abs(run.result.q - finer.result.q).max() < 2e-5
