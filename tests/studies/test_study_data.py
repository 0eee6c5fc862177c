"""Studies as plain data, their progress and their reports."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.errors import GyrostatError
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import KINDS, StudyData
from tests.support.examples import few


@dataclass(frozen=True, eq=False)
class ToyStudy(StudyData):
    value: Any
    other: Any = None
    made: Any = field(default=None, init=False)


def there_and_back(value):
    return ToyStudy.from_dict(json.loads(json.dumps(ToyStudy(value).to_dict(), allow_nan=False))).value


leaves = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=5) | st.floats(allow_nan=False)
keys = st.text(max_size=4) | st.integers() | st.tuples(st.integers(), st.text(max_size=2))
values = st.recursive(
    leaves,
    lambda x: st.lists(x, max_size=3) | st.tuples(x, x) | st.dictionaries(keys, x, max_size=3),
    max_leaves=8,
)


@settings(max_examples=few(40), deadline=None)
@given(values)
def test_values_come_back_equal_and_of_the_same_type(value):
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.5, np.inf, -np.inf, 0.1]),
        np.zeros((0, 3)),
        np.arange(6).reshape(2, 3),
        np.array([True]),
        np.array(7.0),
    ],
)
def test_arrays_come_back_with_their_shape_and_kind(array):
    back = there_and_back(array)
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    np.testing.assert_array_equal(back, array)


def test_models_and_studies_inside_studies_come_back():
    model = gs.robots.arm6()
    back = there_and_back(ToyStudy(model, {"$odd key": float("nan")}))
    q = np.linspace(0.1, 0.6, model.nq)
    np.testing.assert_array_equal(gs.gravity(back.value, q), gs.gravity(model, q))
    assert np.isnan(back.other["$odd key"])


def test_functions_are_refused_by_name():
    with pytest.raises(GyrostatError, match=r"ToyStudy\.value\['law'\]: is a function.*Hint"):
        ToyStudy({"law": np.sin}).to_dict()
    with pytest.raises(GyrostatError, match=r"ToyStudy\.value: is an array of <U1"):
        ToyStudy(np.array(["a"])).to_dict()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"$study": "Nothing"}, "unknown kind 'Nothing'"),
        ({"$study": "ToyStudy"}, "lacks 'value'"),
        ({"$study": "ToyStudy", "value": 1, "valu": 2}, "no field 'valu'.*did you mean 'value'"),
        ({"$study": "ToyStudy", "value": {"$float": "1e5"}}, "expected inf"),
        ({"$study": "ToyStudy", "value": {"$array": [1.0], "dtype": "object", "shape": [1]}}, "dtype 'object'"),
        ({"$study": "ToyStudy", "value": {"$array": [1.0], "dtype": "float64", "shape": [10**9]}}, "1 numbers"),
        ({"$study": "ToyStudy", "value": {"$array": ["1"], "dtype": "float64", "shape": [1]}}, "holds '1'"),
        ({"$study": "ToyStudy", "value": {"$array": [1.0], "dtype": "float64", "shape": [-1]}}, "list of sizes"),
        ({"$study": "ToyStudy", "value": {"$items": [[[1], 2]]}}, "keys are numbers"),
        ({"$study": "ToyStudy", "value": {"$items": [[1]]}}, "no pairs"),
        ({"$study": ["ToyStudy"]}, "expected a str"),
        ({"$tuple": [1]}, "the data are those of a tuple"),
        ({"$study": "ToyStudy", "value": object()}, "expected what to_dict writes"),
    ],
)
def test_hostile_data_are_refused(data, message):
    with pytest.raises(GyrostatError, match=message):
        ToyStudy.from_dict(data)


def test_two_classes_of_one_name_are_refused():
    with pytest.raises(TypeError, match="two classes of studies"):
        type("ToyStudy", (StudyData,), {"__module__": "elsewhere"})
    assert KINDS["ToyStudy"] is ToyStudy


def test_a_function_is_told_the_progress():
    told = []
    with Progress(lambda *x: told.append(x), "calibrate", total=3) as shown:
        shown.step(1, "first")
        shown.step(2)
    assert told == [(1, 3, "first"), (3, 3, "")]
    with pytest.raises(GyrostatError, match="progress must be"):
        Progress("yes", "calibrate")


def test_asked_for_progress_is_printed_where_there_is_no_terminal(capsys):
    with Progress(True, "calibrate", total=4) as shown:
        shown.last -= 10.0
        shown.step(1, "residual 1e-3")
    with Progress(False, "calibrate") as silent:
        silent.last -= 10.0
        silent.step()
    printed = capsys.readouterr().err
    assert "calibrate: 1 of 4, " in printed
    assert printed.count("\n") == 1


def test_a_report_is_one_page_without_references_and_without_foreign_markup(tmp_path):
    from matplotlib.figure import Figure

    report = Report("Arm <b>")
    for k in range(2):
        figure = Figure(figsize=(3, 2))
        figure.subplots().plot([0, 1], [k, 1])
        report.heading("Part").text("a < b").figure(figure, 'error "mm"')
    report.table(["name", "value"], [("a", 1.23456789), ("<i>", 3)], "numbers")
    page = report.save(tmp_path / "report.html").read_text()
    assert "&lt;b&gt;" in page and "<b>" not in page and "<i>" not in page
    assert "1.2346" in page and "1.2346" in str(report)
    assert page.count("<svg") == 2
    ids = [x.split('"')[0] for x in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    references = [x.split(")")[0] for x in page.split("url(#")[1:]] + [
        x.split('"')[0] for x in page.split('href="#')[1:]
    ]
    assert references and set(references) <= set(ids)
    assert 'src="' not in page and "<script" not in page
    assert "<h1>" in report._repr_html_()
    assert "2 figures" in repr(report)
    with pytest.raises(GyrostatError, match="no HTML file"):
        report.save(tmp_path / "report.pdf")
    with pytest.raises(GyrostatError, match="1 cells for 2 headers"):
        report.table(["a", "b"], [[1]])
