"""``./run demo lwr``: tables, figures, and sentences about what is not installed. The numbers themselves are tested in
test_simulate_lwr.py and test_lwr_exudyn.py: here all runs of gyrostat are one."""

import re

import numpy as np
import pytest

from demos import lwr, lwr_exudyn, lwr_study

FIGURES = ["lwr_torques", "lwr_motion", "lwr_evaluations", "lwr_wall_time"]


@pytest.fixture
def found():
    return lwr_study.run("bdf", 1e-6, 1e-6)


@pytest.fixture
def short(monkeypatch, found):
    """One run of gyrostat, two tolerances, coarse steps of Exudyn."""
    row = lwr_study.Row("bdf", 1e-6, 920, 113, 265, (4.7e-7, 5e-7, 1e-3), 0.17)
    monkeypatch.setattr(lwr, "usable", lambda: (["bdf", "radau"], []))
    monkeypatch.setattr(lwr, "TOLERANCES", (1e-3, 1e-6))
    monkeypatch.setattr(lwr, "STEPS", (0.02, 0.01))
    monkeypatch.setattr(lwr, "measured", lambda *_: row)
    monkeypatch.setattr(lwr, "FIXED", {"dina": (0.1,)})
    monkeypatch.setattr(lwr, "CARTESIAN", (0.025,))
    for name in ("solution", "course", "run"):
        monkeypatch.setattr(lwr, name, lambda *_: found)


def test_it_prints_tables_and_writes_figures(short, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(lwr_exudyn, "available", lambda: False)
    lwr.main(["--out", str(tmp_path), "--quiet"])
    text = capsys.readouterr().out
    assert "symmetry about 7 s: max |tau(7 - s) - tau(7 + s)| = " in text
    assert re.search(r"is within \d\.\de-07 rad of Pinocchio", text)
    assert text.count("bdf         1e-06          920        113    265      4.7e-07        170          0.0121") == 4
    assert re.search(r"^dina +100 +[678]\d\d +\d +140 +5.2e-04", text, re.M)
    assert "WM15, Scilab BDF: 1924 at 1e-6, 993 at 1e-3; fewest of ADAMS: 2583 and 1489" in text
    assert "left out: the comparison with a Cartesian DAE code needs Exudyn. Hint: pip install exudyn" in text
    assert sorted(path.stem for path in tmp_path.iterdir()) == sorted(FIGURES)
    assert all(10_000 < path.stat().st_size < 150_000 for path in tmp_path.iterdir())


@pytest.mark.skipif(not lwr_exudyn.available(), reason="Exudyn comes with the extra 'oracles': pip install exudyn")
def test_it_compares_with_exudyn(short, tmp_path, capsys):
    lwr.main(["--out", str(tmp_path), "--quiet"])
    text = capsys.readouterr().out
    rows = re.findall(r"^(bdf|radau), [-\de]+ +(20|10) ms +\d+ +\d+ +([-\de.]+)", text, re.M)
    assert len(rows) == 4
    assert float(rows[0][2]) / float(rows[1][2]) == pytest.approx(4.0, rel=0.1)
    newton, steps, error = re.search(r"^Exudyn +25 +(\d+) +0 +(\d+) +([-\de.]+)", text, re.M).groups()
    assert int(newton) > 2 * int(steps) == 1120 and float(error) == pytest.approx(2.8e-4, rel=0.1)
    assert "WM15, ADAMS against Scilab: 0.0005 rad, 0.0005 rad/s, 0.014 rad/s^2" in text
    assert (tmp_path / "lwr_differences.png").stat().st_size < 150_000


def test_without_sundials_it_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(
        lwr, "usable", lambda: ([], ["simulate: method 'ida' needs scikit-sundae. Hint: pip install scikit-sundae"])
    )
    lwr.main(["--out", str(tmp_path), "--quiet"])
    text = capsys.readouterr().out
    assert "left out: simulate: method 'ida' needs scikit-sundae" in text
    assert "Hint: pip install gyrostat[simulate]" in text


def test_a_measurement_holds_cost_and_errors(found):
    row = lwr_study.measured("bdf", 1e-3, found)
    assert row.evaluations > row.steps > 50
    assert 1e-6 < row.errors[0] < 1e-2
    assert row.wall > 0.0


def test_the_programmed_motion_has_the_printed_rate():
    """WM15 (29): -pi^2/14 sin(pi t/7)."""
    t = np.linspace(0.0, 14.0, 15)
    assert lwr_study.desired(t)[1][:, 0] == pytest.approx(-(np.pi**2) / 14.0 * np.sin(np.pi / 7.0 * t))
