"""Specifications of solvers: data that builds them, is given back by them, and is stored beside the model."""

import inspect
import pickle

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.yaml.parse import read
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.schema import json_schema
from gyrostat.io.yaml.write import to_text
from gyrostat.solvers.builders.builder import BUILDABLE
from gyrostat.solvers.machinery.solver import Solver
from gyrostat.spec.solver_kinds import ANSWERS, KINDS, USUAL
from gyrostat.spec.solver_spec import known_options
from tests.support.comparing import assert_close
from tests.support.solver_zoo import TIP, branched, elastic

MODEL = branched()
FULL = {
    "Jacobian": {"frames": [TIP], "expressed_in": "local", "live": ["arm.mass"], "order": ["slide", "waist"]},
    "JacobianRate": {"frames": TIP, "expressed_in": "world"},
    "ParameterJacobian": {"frames": [TIP], "parameters": ["slide.axis"]},
    "ParameterDerivatives": {"parameters": ["arm.mass"], "of": "a", "representation": "inertial"},
    "InverseOperationalInertia": {"contacts": {TIP: "normal", "arm.origin": [[0.0, 0, 0, 1, 0, 0]]}},
    "ContactDynamics": {"contacts": {TIP: {"kind": "normal", "compliance": 0.1}, "arm.origin": "point"}},
    "ContactDynamicsDerivatives": {"contacts": {TIP: "point"}},
    "Impact": {"contacts": {TIP: "point", "arm.origin": [[0.0, 0, 0, 1, 0, 0]]}, "restitution": 0.5},
    "ContactVelocities": {"contacts": {TIP: [[0.0, 0, 0, 0, 1, 0]]}, "independent": ["waist", "shoulder"]},
    "FrictionMargins": {"contacts": {TIP: {"kind": "point", "friction": 0.7, "normal": [0.0, 1.0, 0.0]}}},
    "StabilityMargin": {"points": [TIP, "arm.origin"], "height": 0.1, "live": ["arm.mass"]},
    "ZeroMomentPoint": {"normal": [0.6, 0.0, 0.8], "live": ["context.gravity"]},
    "CapturePoint": {"height": -1.0, "normal": [0.0, 0.0, 1.0]},
    "InverseDynamics": {"algorithm": "newton-euler", "only": ["waist"], "live": ["arm.mass", "context.gravity"]},
    "ForwardDynamics": {"algorithm": "crba", "representation": "absolute", "order": ["waist"]},
    "ForwardKinematics": {"frames": [TIP, "arm.origin"]},
    "ActuatorDynamics": {"passive": [], "mode": "interpret"},
    "Solvers": {"answers": {"rnea": {"only": ["waist"]}, "tip": {"solver": "jacobian", "frame": TIP}}},
}


def spec_of(name: str) -> gs.SolverSpec:
    return gs.SolverSpec(name, **FULL.get(name, {}))


# ------------------------------------------------------------------------------------------------ the table
def test_every_public_solver_can_be_specified():
    public = {name for name in gs.__all__ if isinstance(getattr(gs, name), type)}
    solvers = {name for name in public if issubclass(getattr(gs, name), Solver)} - {"BlockSolver"}
    assert solvers == set(KINDS) == set(BUILDABLE)
    assert all(BUILDABLE[name] is getattr(gs, name) for name in KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_the_table_says_what_the_classes_take(name):
    cls, kind = BUILDABLE[name], KINDS[name]
    taken = set(inspect.signature(cls).parameters) - {"model"}
    if kind.frames == "one":
        taken = taken - {"frame"} | {"frames"}
    if name == "Solvers":
        taken = taken - {"answers"} | {"answers"}
    if not kind.algorithms:
        taken -= {"algorithm"}  # of the base class, which has none
    assert taken == set(known_options(kind)) - {"order"}
    defaults = {name: p.default for name, p in inspect.signature(cls).parameters.items()}
    assert all(defaults[key] == value for key, value in USUAL.items() if key in defaults)
    assert tuple(getattr(cls, "algorithms", ())) == kind.algorithms
    assert kind.order == (hasattr(cls, "in_order") and name != "ElasticInverseDynamics")


def test_the_answers_are_the_one_line_functions():
    own = {"com", "innovations", "equations_of_motion", "rnea_second_derivatives", "delta_acceleration", "regressor"}
    own |= {"inverse_operational_inertia", "actuator_dynamics"}
    assert all(hasattr(gs, name) for name in set(ANSWERS) - own)
    assert set(ANSWERS.values()) <= set(KINDS)


# ------------------------------------------------------------------------------------------------ there and back
@pytest.mark.parametrize("name", KINDS)
def test_a_solver_gives_back_its_specification(name):
    model = elastic() if name == "ElasticInverseDynamics" else MODEL
    spec = spec_of(name)
    solver = spec.build(model)
    assert type(solver) is getattr(gs, name)
    assert solver.spec == spec and hash(solver.spec) == hash(spec)
    assert gs.SolverSpec(**spec.data()) == spec == pickle.loads(pickle.dumps(spec))
    stored = model.with_solvers({"mine": spec})
    loaded = from_text(to_text(stored))
    assert loaded == stored and loaded.solvers["mine"] == spec
    assert loaded != model


def test_what_is_built_is_what_was_said():
    spec = gs.SolverSpec("ForwardDynamics", algorithm="mrnea", representation="inertial", live=["arm.mass"])
    solver = spec.build(MODEL)
    assert (solver.algorithm, solver.representation, solver.live) == ("mrnea", "inertial", ("arm.mass",))
    rng = np.random.default_rng(0)
    q, v, tau = gs.random_configuration(MODEL, rng), *rng.normal(size=(2, MODEL.nv))
    assert_close(solver(q, v, tau), gs.aba(MODEL, q, v, tau), 1e-10)
    J = gs.SolverSpec("Jacobian", frames=TIP, order=["slide", "waist"]).build(MODEL)
    assert J(np.zeros(2)).shape == (6, 2)
    assert gs.ForwardDynamics(MODEL).spec == gs.SolverSpec("ForwardDynamics")
    assert gs.ForwardDynamics(MODEL, rules=()).spec.options["rules"] == []


def test_models_carry_them_through_files_and_changes(tmp_path):
    specs = {name.lower(): spec_of(name) for name in ("InverseDynamics", "Solvers", "Jacobian")}
    model = MODEL.with_solvers(specs)
    gs.save(model, tmp_path / "arm.yaml")
    loaded = gs.load(tmp_path / "arm.yaml")
    assert loaded == model and loaded.solvers == specs
    changed = loaded.replace({"arm.mass": 2.0, "context.gravity": (0, 0, -1.6)}).with_drive("slide", viscous=1.0)
    assert changed.solvers == specs
    assert pickle.loads(pickle.dumps(changed)).solvers == specs
    assert set(model.with_solvers({"jacobian": None}).solvers) == {"inversedynamics", "solvers"}
    assert model.with_solvers({"jacobian": None}) != model
    assert loaded.solvers["jacobian"].build(loaded)(np.zeros(2)).shape == (6, 2)
    two = gs.robots.two_link()
    assert not [p for p in gs.save(two, tmp_path / "two.urdf") if p.rule == "urdf-solvers"]
    (lost,) = [
        p
        for p in gs.save(two.with_solvers({"M": gs.SolverSpec("MassMatrix")}), tmp_path / "two.urdf")
        if p.rule == "urdf-solvers"
    ]
    assert lost.message == "specifications of solvers cannot be said: M"


def test_edits_keep_them_and_rename_what_they_name():
    specs = {"tip": gs.SolverSpec("Jacobian", frames=TIP, order=["slide", "waist"], live=["arm.mass"])}
    specs["all"] = gs.SolverSpec(
        "Solvers", answers={"rnea": {"only": ["slide"]}, "J": {"solver": "jacobian", "frame": TIP}}
    )
    model = MODEL.with_solvers(specs)
    changed = model.rename("end", "gripper").rename("slide", "rail").rename("arm", "boom")
    data = changed.solvers["tip"].data()
    assert (data["frames"], data["order"], data["live"]) == (["gripper.tip"], ["rail", "waist"], ["boom.mass"])
    answers = changed.solvers["all"].data()["answers"]
    assert answers["rnea"]["only"] == ["rail"] and answers["J"]["frame"] == "gripper.tip"
    assert changed.solvers["tip"].build(changed)([0.1, 0.2]).shape == (6, 2)
    load = model.attach(gs.RigidBody("load", mass=1.0, inertia=(0.1, 0.1, 0.1)), to=TIP)
    assert load.solvers == specs
    with pytest.raises(gs.SpecError, match=r"solver 'tip': order: 'waist' is no joint with coordinates"):
        model.lock("waist", 0.3)
    assert model.with_solvers({"tip": None}).lock("waist", 0.3).solvers == {"all": specs["all"]}


def test_the_schema_knows_them():
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    for name in KINDS:
        if name != "ElasticInverseDynamics":
            validator.validate(read(to_text(MODEL.with_solvers({"mine": spec_of(name)}))).plain())
    data = read(to_text(MODEL.with_solvers({"mine": spec_of("MassMatrix")}))).plain()
    for key, value in (("algoritm", "crba"), ("algorithm", "rne"), ("solver", "Mass"), ("live", "arm.mass")):
        wrong = data | {"solvers": {"mine": data["solvers"]["mine"] | {key: value}}}
        assert not validator.is_valid(wrong), key


# ------------------------------------------------------------------------------------------------ mistakes
def test_mistakes_in_a_file_come_with_lines_and_near_names():
    text = to_text(MODEL) + (
        "solvers:\n"
        "  one: {solver: InverseDynamic}\n"
        "  two:\n    solver: MassMatrix\n    algoritm: crba\n"
        "  three:\n    solver: MassMatrix\n    algorithm: crbaa\n"
        "  four: {solver: Jacobian}\n"
        "  five: MassMatrix\n"
        "  six:\n    solver: Solvers\n    answers:\n      rnea: {onyl: [waist]}\n      rneaa: {}\n"
        "  seven: {solver: ForwardKinematics, frames: {a: b}}\n"
    )
    first = text[: text.index("solvers:")].count("\n") + 2
    with pytest.raises(gs.SpecError) as caught:
        from_text(text, "arm.yaml")
    told = str(caught.value)
    for line, words in (
        (0, "solver 'one' (arm.yaml:{}): there is no solver 'InverseDynamic'. Hint: did you mean 'InverseDynamics'"),
        (3, "solver 'two' (arm.yaml:{}): has no property 'algoritm'. Hint: did you mean 'algorithm'?"),
        (6, "solver 'three' (arm.yaml:{}): there is no algorithm 'crbaa'. Hint: did you mean 'crba'?"),
        (7, "solver 'four' (arm.yaml:{}): needs the property 'frames'. Hint: add 'frames'."),
        (8, "solver 'five' (arm.yaml:{}): must be a mapping with the name of a solver, got 'MassMatrix'."),
        (12, "solver 'six' (arm.yaml:{}): answer 'rnea' has no option 'onyl'. Hint: did you mean 'only'?"),
        (13, "solver 'six' (arm.yaml:{}): answer 'rneaa': there is no answer 'rneaa'. Hint: did you mean 'rnea'"),
        (14, "solver 'seven' (arm.yaml:{}): 'frames' must be a list of names"),
    ):
        assert words.format(first + line) in told, told
    with pytest.raises(gs.SpecError, match=r"solvers \(arm.yaml:\d+\): must be a mapping, got \[1\]"):
        from_text(to_text(MODEL) + "solvers: [1]\n", "arm.yaml")


def test_names_that_the_model_does_not_have_come_with_lines_too():
    text = to_text(MODEL) + (
        "solvers:\n  tip:\n    solver: Jacobian\n    frames: [end.tipp]\n    live: [arm.maass]\n    order: [waste]\n"
        "  all: {solver: Solvers, answers: {tip: {solver: jacobian, frame: endd}}}\n"
    )
    first = text[: text.index("solvers:")].count("\n") + 2
    with pytest.raises(gs.SpecError) as caught:
        from_text(text, "arm.yaml")
    told = str(caught.value)
    for line, words in (
        (2, "solver 'tip' (arm.yaml:{}): frames: there is no frame or port 'end.tipp'. Hint: did you mean 'end.tip'"),
        (3, "solver 'tip' (arm.yaml:{}): live: 'arm.maass': there is no 'maass'. Hint: did you mean 'mass'"),
        (4, "solver 'tip' (arm.yaml:{}): order: 'waste' is no joint with coordinates. Hint: did you mean 'waist'?"),
        (5, "solver 'all' (arm.yaml:{}): answers: there is no frame or port 'endd'. Hint: did you mean 'end"),
    ):
        assert words.format(first + line) in told, told


@pytest.mark.parametrize(
    ("solver", "options", "words"),
    [
        (3, {}, "there is no solver 3"),
        ("Jacobian", {"frames": ["a", "b"]}, "has one frame, got 2"),
        ("MassMatrix", {"representation": "bdy"}, "there is no representation 'bdy'. Hint: did you mean 'body'"),
        ("MassMatrix", {"frames": ["end"]}, "has no property 'frames'"),
        ("ElasticInverseDynamics", {"order": ["j1"]}, "has no property 'order'"),
        ("InverseDynamics", {"only": lambda: 1}, "which is no plain data"),
        ("Solvers", {"answers": {"rnea": 3}}, "answer 'rnea' must have options by name, got 3"),
        ("Solvers", {}, "needs the property 'answers'"),
    ],
)
def test_mistakes_in_python_are_sentences(solver, options, words):
    with pytest.raises(gs.SpecError) as caught:
        gs.SolverSpec(solver, **options)
    assert words in str(caught.value)


def test_what_is_no_specification_is_refused():
    with pytest.raises(gs.SpecError, match="solvers must map names to SolverSpec objects"):
        MODEL.with_solvers({"mine": "MassMatrix"})
    with pytest.raises(gs.SpecError, match="solvers must map names to SolverSpec objects, got list"):
        MODEL.with_solvers(["MassMatrix"])
    with pytest.raises(gs.SpecError, match="expected a Model, got str"):
        gs.SolverSpec("MassMatrix").build("arm.yaml")
    with pytest.raises(gs.FrameError, match=r"there is no frame or port 'nose'"):
        gs.SolverSpec("Jacobian", frames="nose").build(MODEL)
