"""The rooms of solvers: classes abstract or final; one-line functions say what they are; caches belong to models."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import gyrostat as gs
from gyrostat import solvers
from gyrostat.solvers import functions
from gyrostat.solvers.machinery.solver import Solver
from gyrostat.spec.solver_kinds import ANSWERS

ABSTRACT = {
    "Solver",
    "StateSolver",
    "ContactSolver",
    "GroundPoint",
    "OfFrame",
    "DerivativeSolver",
    "RotorCouplingSolver",
}
ABSTRACT |= {"ReducedSolver"}


def test_dynamics_does_not_need_inverse_kinematics():
    for path in (Path(solvers.__file__).parent / "dynamics").glob("*.py"):
        assert "solvers.kinematics.inverse" not in path.read_text("utf-8"), path


def every_class() -> set[type]:
    for module in pkgutil.walk_packages(solvers.__path__, "gyrostat.solvers."):
        importlib.import_module(module.name)
    known, new = {Solver}, {Solver}
    while new:
        new = {sub for cls in new for sub in cls.__subclasses__() if sub.__module__.startswith("gyrostat.")} - known
        known |= new
    return {cls for cls in known if "_written" not in cls.__dict__}  # classes of single objects are not written


def test_classes_of_solvers_are_abstract_or_final_and_the_tree_is_shallow():
    classes = every_class()
    parents = {base for cls in classes for base in cls.__bases__}
    assert {cls.__name__ for cls in classes & parents} == ABSTRACT
    for cls in classes:
        assert len(cls.__bases__) == 1, f"{cls.__name__} has several parents"
        above = [c for c in cls.__mro__[1:] if c in classes]
        assert len(above) <= 3, f"{cls.__name__} derives from {above}"


OWN = [name for name, f in vars(functions).items() if getattr(f, "__module__", "") == functions.__name__]
ONE_LINE = [name for name in OWN if name not in ("answered_by", "F")]


@pytest.mark.parametrize("name", ONE_LINE)
def test_one_line_functions_say_what_they_take(name):
    function = getattr(gs, name)
    parameters = inspect.signature(function).parameters
    assert next(iter(parameters)) == "model" and "q" in parameters
    assert function.__name__ == name and len(function.__doc__) > 20
    if name not in ("operational_inertia", "center_of_mass"):
        assert ANSWERS[name] in function.__doc__  # the class that says more


def test_one_line_functions_are_all_public():
    assert len(ONE_LINE) == 20 and set(ONE_LINE) <= set(gs.__all__)


def test_arguments_that_do_not_fit_are_refused_in_the_words_of_the_function():
    model, q = gs.robots.pendulum(), [0.1]
    with pytest.raises(TypeError, match=r"^rnea\(\) missing 1 required positional argument: 'a'$"):
        gs.rnea(model, q, q)
    with pytest.raises(TypeError, match=r"^crba\(\) takes 2 positional arguments but 3 were given$"):
        gs.crba(model, q, q)
    with pytest.raises(TypeError, match=r"MassMatrix.*unexpected keyword argument 'speed'"):
        gs.crba(model, q, speed=1)
    assert gs.rnea(model=model, q=q, v=q, a=q) == gs.rnea(model, q, q, q)


def test_a_function_with_other_options_does_not_forget_the_usual_ones():
    model, q = gs.robots.two_link(), [0.3, 0.4]
    M = gs.crba(model, q)
    gs.crba(model, q, algorithm="mrnea", representation="absolute")
    assert (gs.crba(model, q) == M).all()
    with pytest.raises(gs.GyrostatError, match="no algorithm 'fast'"):
        gs.crba(model, q, algorithm="fast")
    assert (gs.crba(model, q) == M).all()


def test_solvers_are_cached_on_their_model():
    from gyrostat.solvers.machinery.solver_cache import cached_solver

    model, other = gs.robots.pendulum(), gs.robots.pendulum()
    first = cached_solver(model, gs.MassMatrix, algorithm="crba", representation="body")
    gs.crba(model, [0.0])
    assert first is cached_solver(model, gs.MassMatrix, representation="body", algorithm="crba")
    assert first is not cached_solver(other, gs.MassMatrix, algorithm="crba", representation="body")


def test_studies_are_a_public_package():
    assert gs.studies.AchievableMotion is gs.AchievableMotion and "studies" in gs.__all__
