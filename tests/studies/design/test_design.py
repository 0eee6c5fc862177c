"""Parameters of a robot as unknowns: sensitivities and fronts against closed forms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import GyrostatError, SpecError
from gyrostat.studies.study_data import StudyData


@pytest.fixture(scope="module")
def model():
    """Two bodies in a row: their masses are the unknowns x, y of closed forms."""
    return gs.robots.chain(2)


def mass(model, path):
    return float(model[path])


def test_the_front_of_two_parabolas_is_the_closed_form(model):
    def f(m):
        return (mass(m, "link1.mass") - 1.0) ** 2 + (mass(m, "link2.mass") - 2.0) ** 2

    def g(m):
        return (mass(m, "link1.mass") - 3.0) ** 2 + (mass(m, "link2.mass") - 2.0) ** 2

    bounds = {"link1.mass": (0.5, 4.0), "link2.mass": (0.5, 4.0)}
    front = gs.studies.pareto(model, bounds, {"f": f, "g": g}, points=9)
    assert len(front.values) == 9
    np.testing.assert_allclose(np.sqrt(front.values[:, 0]) + np.sqrt(front.values[:, 1]), 2.0, atol=2e-4)
    np.testing.assert_allclose(front.parameters[:, 1], 2.0, atol=1e-3)
    assert np.all(np.diff(front.values[:, 0]) > 0.0) and np.all(np.diff(front.values[:, 1]) < 0.0)
    assert front.design(3)["link1.mass"] == front.parameters[3, 0]
    assert "9 designs" in str(front.report())
    back = type(front).from_dict(front.to_dict())
    np.testing.assert_array_equal(back.values, front.values)


def test_constraints_hold_and_impossible_ones_are_told(model):
    x, y = (lambda m: mass(m, "link1.mass")), (lambda m: mass(m, "link2.mass"))
    bounds = {"link1.mass": (0.1, 4.0), "link2.mass": (0.1, 4.0)}
    front = gs.studies.pareto(
        model, bounds, {"x": x, "y": y}, constraints={"product": lambda m: 1.0 - x(m) * y(m)}, points=7
    )
    np.testing.assert_allclose(front.values.prod(axis=1), 1.0, atol=1e-4)  # the front is x y = 1
    assert np.all(front.violations < 1e-5)
    with pytest.raises(GyrostatError, match=r"no design satisfies the constraints; 'never' is 1"):
        gs.studies.pareto(model, bounds, {"x": x, "y": y}, constraints={"never": lambda m: 1.0})


def test_three_objectives_are_spread_over_a_sphere(model):
    paths = ("link1.mass", "link2.mass")

    def distance(point):
        return lambda m: (mass(m, paths[0]) - point[0]) ** 2 + (mass(m, paths[1]) - point[1]) ** 2

    corners = [(1.0, 1.0), (2.0, 1.0), (1.5, 2.0)]
    front = gs.studies.pareto(
        model, dict.fromkeys(paths, (0.5, 3.0)), {f"f{k}": distance(c) for k, c in enumerate(corners)}, points=15
    )
    assert len(front.values) >= 10
    T = np.linalg.inv(np.vstack([np.array(corners).T, np.ones(3)]))
    inside = (T @ np.vstack([front.parameters.T, np.ones(len(front.values))])).T  # the front is the triangle
    assert inside.min() > -1e-3


def test_sensitivities_agree_with_exact_derivatives(model):
    q, v, a = np.array([0.3, -0.2]), np.array([0.5, 0.1]), np.array([0.2, 0.4])
    paths = ["link1.mass", "link2.mass"]
    found = gs.studies.sensitivities(
        model, paths, {"torque": lambda m: gs.rnea(m, q, v, a)[0], "constant": lambda m: 0.0}
    )
    solver = gs.InverseDynamics(model, live=paths)
    exact = [float(np.asarray(solver.jacobian("tau", path)(q, v, a)).reshape(-1)[0]) for path in paths]
    np.testing.assert_allclose(found.derivatives[0], exact, rtol=1e-7, atol=1e-12)
    assert np.all(found.errors[0] < 1e-8)
    assert np.all(found.derivatives[1] == 0.0) and np.all(np.isnan(found.relative[1]))
    assert "% per %" in str(found.report())


@dataclass(frozen=True, eq=False)
class HeldTorque(StudyData):
    """A study with a model in it: torque that holds q."""

    model: gs.Model
    q: np.ndarray
    calls: tuple = ()

    def run(self, progress=None):
        return HeldTorqueResult(float(np.linalg.norm(gs.gravity(self.model, self.q))))


@dataclass(frozen=True, eq=False)
class HeldTorqueResult(StudyData):
    torque: float
    finished: bool = True


def test_quantities_of_other_studies_are_objectives_and_data(model):
    q = np.array([0.7, 0.2])
    torque = gs.studies.Objective(HeldTorque(model, q), "torque")
    study = gs.studies.Pareto(
        model,
        {"link2.mass": (0.5, 2.0)},
        {"torque": torque, "payload": gs.studies.Objective(HeldTorque(model, q), "torque", -1.0)},
    )
    again = gs.studies.Pareto.from_dict(study.to_dict())
    front = again.run(progress=False)
    lightest, heaviest = (np.linalg.norm(gs.gravity(model.replace({"link2.mass": x}), q)) for x in (0.5, 2.0))
    np.testing.assert_allclose([front.values[0, 0], front.values[-1, 0]], [lightest, heaviest], rtol=1e-6)
    with pytest.raises(GyrostatError, match=r"HeldTorque\.torqe: no such quantity\. Hint: did you mean 'torque'"):
        gs.studies.sensitivities(model, ["link2.mass"], {"t": gs.studies.Objective(HeldTorque(model, q), "torqe")})
    with pytest.raises(GyrostatError, match="has nothing to do with the model"):
        gs.studies.sensitivities(gs.robots.arm6(), ["link1.mass"], {"t": torque})


def test_an_interrupted_search_keeps_what_it_has(model):
    count = 0

    def f(m):
        nonlocal count
        count += 1
        if count > 60:
            raise KeyboardInterrupt
        return (mass(m, "link1.mass") - 1.0) ** 2

    front = gs.studies.pareto(
        model, {"link1.mass": (0.5, 4.0)}, {"f": f, "g": lambda m: (mass(m, "link1.mass") - 3.0) ** 2}, points=40
    )
    assert not front.finished and "interrupted" in front.message and len(front.values) >= 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"link2.mas": (1, 2)}, {"a": len, "b": len}), "link2.mas"),
        (({"link2.mass": (2, 1)}, {"a": len, "b": len}), "low < high"),
        (({}, {"a": len, "b": len}), "must map paths to bounds"),
        (({"link2.mass": (1, 2)}, {"a": len}), "at least 2"),
        (({"link2.mass": (1, 2)}, {"a": len, "b": 3}), "'b': must be a function"),
        (({"link2.mass": (1, 2)}, {"a": lambda m: np.nan, "b": lambda m: 0.0}), "'a': is nan"),
        (({"link2.mass": (1, 2)}, {"a": lambda m: [1, 2], "b": lambda m: 0.0}), "expected one number"),
    ],
)
def test_mistakes_are_named(model, arguments, message):
    with pytest.raises((GyrostatError, SpecError), match=message):
        gs.studies.pareto(model, *arguments)
    with pytest.raises(GyrostatError, match="must be the data of a study"):
        gs.studies.Objective(3, "a")
