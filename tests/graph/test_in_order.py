"""Solvers in another order of the joints, or for some of them: the others are neutral and at rest."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.solver_zoo import OPTIONS, TIP, branched, solver_classes

FREE = branched("free")
NAMES = sorted(set(solver_classes()) - {"ElasticInverseDynamics"})
SLOW = ("InverseDynamicsSecondDerivatives", "ParameterDerivatives", "EquationsOfMotion")  # one subset will do
SUBSETS = [("slide", "shoulder"), ("slide", "waist")]


def reduced(model: gs.Model, kept: tuple[str, ...]) -> gs.Model:
    """The same robot, built with fixed joints in the place of those that are not kept."""
    entities = []
    for entity in model.entities:
        joint = entity.name.removesuffix("_drive")
        if entity.name.endswith("_drive") and joint not in kept:
            continue
        held = isinstance(entity, gs.Joint) and entity.name not in kept
        entities.append(gs.Joint(entity.name, "fixed") if held else entity)
    names = {entity.name for entity in entities}
    connections = [ports for ports in model.connections if all(p.split(".")[0] in names for p in ports)]
    base = model.context.base if "world" in kept else "fixed"
    return gs.Model(model.name, entities, connections, gs.Context(gravity=model.context.gravity, base=base))


def options_of(name: str, kept: tuple[str, ...]) -> dict:
    found = dict(OPTIONS.get(name, {}))
    if name == "ParameterJacobian" and "slide" not in kept:
        found["parameters"] = ["left_offset.translation"]
    return found


def arrays(result) -> list[np.ndarray]:
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.by_default(9)
@pytest.mark.parametrize("name", NAMES)
def test_a_subset_gives_what_a_robot_with_the_others_fixed_gives(name):
    subsets = SUBSETS[:1] if name in SLOW else SUBSETS
    for kept in subsets:
        small = reduced(FREE, kept)
        in_file = small.layout.entities
        direct = solver_classes()[name](small, **options_of(name, kept))
        rng = np.random.default_rng(5)
        state = [gs.random_configuration(small, rng) if n == "q" else rng.normal(size=small.nv) for n in direct.state]
        for mode in ("compile",) if name in SLOW or "waist" in kept else ("compile", "interpret"):
            solver = solver_classes()[name](FREE, mode=mode, **options_of(name, kept)).in_order(in_file)
            for got, expected in zip(arrays(solver(*state)), arrays(direct(*state)), strict=True):
                if name == "ActuatorDynamics":  # rows are those of all actuators
                    rows = [solver.actuators.index(a) for a in direct.actuators]
                    got = got[rows]
                assert_close(got, expected, 1e-9)


def test_forward_and_inverse_dynamics_of_a_subset_undo_each_other():
    order = ("slide", "waist")
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 4, 2))
    wrenches = {TIP: rng.normal(size=6)}
    tau = gs.InverseDynamics(FREE).in_order(order)(q, v, a, wrenches)
    for algorithm in gs.ForwardDynamics.algorithms:
        assert_close(gs.ForwardDynamics(FREE, algorithm).in_order(order)(q, v, tau, wrenches), a, 1e-10)
    M, inverse = (cls(FREE).in_order(order)(q) for cls in (gs.MassMatrix, gs.InverseMassMatrix))
    assert_close(M @ inverse, np.broadcast_to(np.eye(2), (4, 2, 2)), 1e-11)


def test_the_number_of_the_notation():
    assert_close(gs.MassMatrix(gs.robots.two_link()).in_order(["shoulder"])([0.4]), [[0.67]], 1e-14)


def test_dicts_batches_threads_derivatives_and_c_of_a_subset(tmp_path):
    solver = gs.InverseDynamics(FREE).in_order(["slide", "shoulder"])
    rng = np.random.default_rng(2)
    turn = np.array([0.0, 0.6, 0.0, 0.8])
    q, v, a = np.concatenate([[0.3], turn]), rng.normal(size=4), rng.normal(size=4)
    tau = solver(q, v, a)
    by_name = ({"slide": x[0], "shoulder": x[1:]} for x in (q, v, a))
    assert_close(solver(*by_name), tau, 0.0)
    out = np.empty((5, 4))
    assert solver(np.tile(q, (5, 1)), v, a, out=out, threads=2) is out
    assert_close(out[3], tau, 0.0)
    assert solver.jacobian("tau", "q")(q, v, a).shape == (4, 5)
    assert_close(np.array(solver.casadi()(q, v, a)).ravel(), tau, 1e-12)
    header = next(f for f in solver.export_c(tmp_path, "part") if f.suffix == ".h").read_text()
    assert "slide" in header and "waist" not in header
    assert solver.order == ("slide", "shoulder") and solver.locked == (0, 1, 2, 3, 4, 5, 6)
    solver.reconfigure(FREE.replace({"arm.mass": 2.0}))
    assert solver.order == ("slide", "shoulder") and solver(q, v, a).shape == (4,)


def test_mistakes_in_an_order_are_sentences():
    solver = gs.InverseDynamics(FREE)
    with pytest.raises(gs.StateError, match=r"rnea.in_order: 'sholder' is no joint .* did you mean 'shoulder'"):
        solver.in_order(["sholder"])
    with pytest.raises(gs.StateError, match=r"rnea.in_order: 'waist' is named twice, got waist, slide, waist"):
        solver.in_order(["waist", "slide", "waist"])
    with pytest.raises(gs.StateError, match=r"in_order: no joint is named. Hint: name some of world, waist"):
        solver.in_order([])
    part = solver.in_order(["slide", "waist"])
    for mode in ("compile", "interpret"):
        part = gs.InverseDynamics(FREE, mode=mode).in_order(["slide", "waist"])
        with pytest.raises(gs.ShapeError, match=r"q has shape \(13,\), expected \(..., 2\) of the solver in the order"):
            part(np.zeros(13), np.zeros(2), np.zeros(2))
        with pytest.raises(gs.StateError, match=r"v names 'shoulder', which is no joint of the solver in the order"):
            part(np.zeros(2), {"slide": 0.0, "waist": 0.0, "shoulder": np.zeros(3)}, np.zeros(2))
        with pytest.raises(gs.StateError, match=r"a does not say 'waist'. Hint: every joint of the solver in the ord"):
            part(np.zeros(2), np.zeros(2), {"slide": 0.0})
        with pytest.raises(gs.NonFiniteError, match=r"v of 'waist' is nan"):
            part(np.zeros(2), [0.0, np.nan], np.zeros(2))
