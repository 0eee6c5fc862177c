"""NaN and infinity in any entry of any input of any solver are refused, whether a result depends on it or not."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.choose import maximum, where
from gyrostat.engine.tracing.record import record
from gyrostat.solvers.dynamics.rotor_coupling import RotorCouplingAt, RotorCouplingTerms
from gyrostat.solvers.machinery.state_solver import StateSolver

BAD = (np.nan, np.inf, -np.inf)


def links(*joints):
    pairs = [(joint, gs.RigidBody(f"link_{joint.name}", mass=1.5, com=(0.1, 0.2, -0.1), inertia=(0.3, 0.4, 0.5)))
             for joint in joints]  # fmt: skip
    return [part for pair in pairs for part in pair]


def hinge(name, axis):
    return gs.Joint(name, "revolute", axis=axis)


TRUNK = gs.RigidBody("trunk", mass=5.0, com=(0.01, 0.02, 0.03), inertia=(1.0, 1.2, 0.8))


def robot(*joints, base="free", **context):
    """A trunk and a chain of links; the first joint has a gear and dry friction."""
    model = gs.assemble("robot", gs.chain("world", TRUNK, *links(*joints)), base=base, **context)
    return model.with_drive(joints[0].name, gear_ratio=20.0, rotor_inertia=1e-3, coulomb=0.4)


SMALL = robot(hinge("hip", "y"))
ELASTIC = gs.assemble("elastic", gs.chain("world", *links(hinge("elbow", "x"), hinge("wrist", "y")))).with_drive(
    "elbow", gear_ratio=10.0, rotor_inertia=1e-3, stiffness=300.0
)
FAR = robot(hinge("hip", "y"), gravity=gs.CentralGravity(mu=50.0, centre=(9.0, 0.0, 1.0)))
SHAKEN = robot(hinge("hip", "y"), base=gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=2.0, axis="x", swing=0.3))

ARGUMENTS = {
    "Jacobian": {"frame": "link_hip"},
    "JacobianRate": {"frame": "link_hip"},
    "ParameterJacobian": {"frame": "link_hip", "parameters": ["hip.axis"]},
    "ParameterDerivatives": {"parameters": ["link_hip.mass"]},
    "InverseOperationalInertia": {"contacts": {"link_hip": "point"}},
    "ContactDynamics": {"contacts": {"link_hip": "point"}},
    "ContactDynamicsDerivatives": {"contacts": {"link_hip": "point"}},
    "Impact": {"contacts": {"link_hip": "point"}},
    "ContactVelocities": {"contacts": {"link_hip": [[0, 0, 0, 1, 0, 0]]}, "independent": ["hip"]},
    "FrictionMargins": {"contacts": {"link_hip": {"kind": "point", "friction": 0.5}}},
    "StabilityMargin": {"points": ["link_hip", "trunk", "trunk.origin"]},
    "CapturePoint": {"height": -9.0},
    "Solvers": {"rnea": {}, "crba": {}},
}
MODELS = {"RotorCouplingAt": ELASTIC, "RotorCouplingTerms": ELASTIC}
NOT_DRIVEN = {"CentroidalMomentumRate", "ContactVelocities"}
CALLED_OTHERWISE = {"ElasticInverseDynamics", "BlockSolver"}


def solver_classes():
    """Every public function of a state, and the two behind ``gs.rotor_coupling``."""
    public = [value for name in dir(gs) if inspect.isclass(value := getattr(gs, name, None))]
    chosen = {x for x in public if issubclass(x, StateSolver)} | {RotorCouplingAt, RotorCouplingTerms}
    return sorted((x for x in chosen if x.__name__ not in CALLED_OTHERWISE), key=lambda x: x.__name__)


def made(cls, model=None, **options):
    return cls(model or MODELS.get(cls.__name__, SMALL), **ARGUMENTS.get(cls.__name__, {}), **options)


def numbers(model, names, rng=None):
    """Random numbers for the parts of a state."""
    rng = np.random.default_rng(0) if rng is None else rng
    return [gs.random_configuration(model, rng) if n[0] == "q" else rng.uniform(-1.0, 1.0, model.nv) for n in names]


def broken(state):
    """(part, entry, state with a bad number there), for every entry of every part and every bad number."""
    for part, x in enumerate(state):
        for k in np.ndindex(x.shape):
            for bad in BAD:
                y = x.copy()
                y[k] = bad
                yield part, k, [*state[:part], y, *state[part + 1 :]]


def refuses(call, *arguments, **options):
    with np.errstate(all="ignore"):
        try:
            found = call(*arguments, **options)
        except (gs.NonFiniteError, gs.StateError, gs.ShapeError) as error:
            assert any(word in str(error) for word in ("finite", "nan", "inf", "length")), error
            return
    pytest.fail(f"{call} takes {arguments} and gives {found}")


def refuses_everything(call, state):
    call(*state)
    for _, _, bad in broken(state):
        refuses(call, *bad)


@pytest.mark.by_default(20)
@pytest.mark.parametrize("cls", solver_classes())
def test_every_entry_of_every_input_of_a_solver_is_guarded(cls):
    solver = made(cls)
    state = numbers(solver.model, solver.state)
    refuses_everything(solver, state)
    result = solver(*state)
    out = tuple(np.zeros_like(x) for x in result) if isinstance(result, tuple) else np.zeros_like(result)
    others = [np.stack([x, y, x]) for x, y in zip(state, numbers(solver.model, solver.state), strict=True)]
    for part, _, bad in list(broken(state))[:: 1 + len(BAD)]:
        refuses(solver, *(x.tolist() for x in bad))
        refuses(solver, *bad, out=out)
        batch = [x.copy() for x in others]
        batch[part][1] = bad[part]
        refuses(solver, *batch)
        refuses(solver, *batch, threads=2)
        solver(*bad, nonfinite="return")


@pytest.mark.by_default(13)
@pytest.mark.parametrize("cls", solver_classes())
def test_every_entry_of_every_input_of_an_interpreted_solver_is_guarded(cls):
    solver = made(cls, mode="interpret")
    state = numbers(solver.model, solver.state)
    for _, _, bad in broken(state):
        refuses(solver, *bad)


ALGORITHMS = [
    (cls, name, SMALL) for cls in (gs.InverseDynamics, gs.ForwardDynamics, gs.MassMatrix) for name in cls.algorithms
] + [(gs.InverseDynamics, "rne", FAR), (gs.ForwardDynamics, "aba", FAR)]


@pytest.mark.parametrize(("cls", "algorithm", "model"), ALGORITHMS)
def test_every_input_of_every_algorithm_is_guarded(cls, algorithm, model):
    solver = cls(model, algorithm=algorithm)
    refuses_everything(solver, numbers(model, solver.state))


FUNCTIONS = {
    "aba": "q v tau", "aba_derivatives": "q v tau", "bias": "q v", "centroidal_matrix": "q",
    "centroidal_momentum": "q v", "center_of_mass": "q v", "coriolis": "q v", "crba": "q", "fk": "q v a",
    "gravity": "q", "inverse_mass_matrix": "q", "kinetic_energy": "q v", "potential_energy": "q", "rnea": "q v a",
    "rnea_derivatives": "q v a", "rnea_reference": "q v v_r a_r", "total_inertia": "q", "integrate": "q v",
    "difference": "q0 q1", "tangent": "q", "linearise": "q v tau", "eigenfrequencies": "q", "operators": "q v",
}  # fmt: skip


BOTH = [(name, SMALL) for name in FUNCTIONS] + [(name, FAR) for name in ("potential_energy", "gravity", "crba")]


@pytest.mark.parametrize(("name", "model"), BOTH)
def test_every_input_of_a_one_line_function_is_guarded(name, model):
    function = getattr(gs, name)
    refuses_everything(lambda *state: function(model, *state), numbers(model, FUNCTIONS[name].split()))


def test_every_input_of_functions_of_frames_is_guarded():
    state = numbers(SMALL, "qv")
    for frame in ("local", "aligned", "world"):
        refuses_everything(lambda q, f=frame: gs.jacobian(SMALL, q, "link_hip", f), state[:1])
        refuses_everything(lambda q, v, f=frame: gs.jacobian_rate(SMALL, q, v, "link_hip", f), state)
    refuses_everything(lambda q: gs.operational_inertia(SMALL, q, {"link_hip": "point"}), state[:1])
    for level in (1, 2, 3):
        refuses_everything(lambda *x: gs.fk(SMALL, *x), numbers(SMALL, "qva"[:level]))
    target = gs.fk(SMALL, state[0])["link_hip"].matrix
    for _, _, (bad,) in broken([target]):
        refuses(gs.inverse_kinematics, SMALL, "link_hip", bad)
    for _, _, (bad,) in broken(state[:1]):
        refuses(gs.inverse_kinematics, SMALL, "link_hip", target, bad)
        refuses(gs.inverse_kinematics_branches, SMALL, "link_hip", target, bad)


def test_wrenches_and_forces_at_ports_are_guarded():
    state, w = numbers(SMALL, "qva"), np.arange(6.0)
    for cls in (gs.InverseDynamics, gs.ForwardDynamics, gs.EquationsOfMotion, gs.ActuatorDynamics):
        solver = cls(SMALL)
        given = numbers(SMALL, solver.state)
        for k in range(6):
            for bad in BAD:
                refuses(solver, *given, {"link_hip": np.where(np.arange(6) == k, bad, w)})
    solver = gs.InverseDynamics(SMALL)
    refuses_everything(solver.port_forces, state)
    refuses_everything(gs.ActuatorDynamics(SMALL).torques, state)


def test_derivatives_of_solvers_are_guarded():
    for cls, of in ((gs.MassMatrix, "M"), (gs.KineticEnergy, "T"), (gs.InverseDynamics, "tau")):
        solver = cls(SMALL)
        state = numbers(SMALL, solver.state)
        refuses_everything(solver.jacobian(of, "q"), state)
        refuses_everything(solver.directional(of, ["q"]), [*state, np.ones(SMALL.nq)])


def test_derivatives_of_elastic_inverse_dynamics_are_guarded():
    for mode in ("compile", "interpret"):
        solver = gs.ElasticInverseDynamics(ELASTIC, mode=mode)
        refuses_everything(solver, [np.ones((solver.order + 1, 2))])


def test_a_block_of_a_user_is_guarded_like_the_solver_that_it_stands_for():
    general = gs.InverseDynamics(SMALL)
    block = gs.BlockSolver(SMALL, lambda q, v, a: general(q, v, a, nonfinite="return"), like=gs.InverseDynamics)
    refuses_everything(block, numbers(SMALL, ("q", "v", "a")))


def test_the_time_of_a_driven_base_is_guarded():
    for cls in solver_classes():
        if cls.__name__.startswith("RotorCoupling") or cls is gs.InverseDynamicsSecondDerivatives:
            continue
        if cls.__name__ in NOT_DRIVEN:
            with pytest.raises(gs.GyrostatError, match=r"the base of 'robot' moves by itself\. Hint: base="):
                made(cls, SHAKEN)
            continue
        for mode in ("compile", "interpret"):
            solver = made(cls, SHAKEN, mode=mode)
            state = numbers(SHAKEN, solver.state)
            for t in BAD:
                refuses(solver, *state, t=t)
                refuses(solver, *state, t=[0.1, t])
    refuses(gs.operators, SHAKEN, *numbers(SHAKEN, "qv"), t=np.nan)
    refuses(gs.fk, SHAKEN, *numbers(SHAKEN, "q"), t=np.nan)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_the_motion_of_a_base_is_guarded(mode):
    for part in range(4):

        def motion(t, part=part):
            state = [np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6)]
            state[part] = state[part] * np.nan
            return tuple(state)

        model = robot(hinge("hip", "y"), base=motion)
        for cls in (gs.MassMatrix, gs.KineticEnergy, gs.InverseDynamics, gs.Coriolis):
            solver = cls(model, mode=mode)
            refuses(solver, *numbers(model, solver.state), t=0.0)


def test_live_properties_are_guarded():
    solver = gs.MassMatrix(SMALL, live=["hip.axis", "context.gravity", "trunk.com"])
    state = numbers(SMALL, "q")
    solver(*state)
    for path, value in solver._live.items():
        for k in np.ndindex(value.shape):
            for bad in BAD:
                kept = value[k]
                value[k] = bad
                refuses(solver, *state)
                refuses(solver, np.stack([state[0]] * 3))
                value[k] = kept
        assert path in solver.live
    with pytest.raises(gs.SpecError, match="finite"):
        solver.refresh(SMALL.replace({"trunk.com": (0.0, np.nan, 0.0)}))


def test_starts_of_motions_are_guarded():
    q, v = numbers(SMALL, "qv")
    for part, _, (q0, v0) in broken([q, v]):
        refuses(gs.simulate, SMALL, None, q0, v0, 0.1)
        if part == 1:
            refuses(gs.rollout, SMALL, None, q0, v0, steps=2)
    for _, _, (tau,) in broken([v]):
        refuses(gs.simulate, SMALL, tau, q, v, 0.1)
        refuses(gs.rollout, SMALL, tau, q, v, steps=2)


def test_an_input_that_only_a_choice_or_a_denominator_reads_is_guarded():
    programs = {
        "choice": lambda x, y: {"r": where(y > 0.0, x, -x)},
        "larger": lambda x, y: {"r": maximum(x, y)},
        "denominator": lambda x, y: {"r": x / (1.0 + y * y)},
        "bounded": lambda x, y: {"r": x + np.tanh(y)},
        "nothing": lambda x, y: {"r": x + 0.0 * y},
    }
    for name, function in programs.items():
        kernel = Kernel(record(lambda x, y, f=function: f(x[()], y[()]), {"x": (), "y": ()}, name), name)
        assert np.isfinite(kernel.call(1.0, 2.0)["r"])
        for bad in BAD:
            with pytest.raises(gs.NonFiniteError, match="y"):
                kernel.call(1.0, bad)


def test_what_shows_by_itself_costs_nothing():
    kernel = Kernel(record(lambda x, y: {"r": np.sin(x) * y - x / 3.0}, {"x": (2,), "y": (2,)}), "shown")
    assert kernel.program.guards == ()
