"""FMUs of ours: valid, the same numbers as gs.simulate, exact derivatives, and no crash whatever is called."""

from __future__ import annotations

import shutil
import zipfile

import numpy as np
import pytest

import gyrostat as gs

fmpy = pytest.importorskip("fmpy")
from fmpy.validation import validate_fmu  # noqa: E402

from tests.support.fmus import FMICallException, Unit  # noqa: E402

pytestmark = pytest.mark.skipif(not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler here")
PARTS = ("torque_x", "torque_y", "torque_z", "force_x", "force_y", "force_z")
BOTH = ("co-simulation", "model-exchange")


def law(t, q, v, kp=20.0):
    return kp * (0.3 * np.sin(3.0 * t) - q) - 2.0 * v


def arm() -> gs.Model:
    return gs.robots.two_link().with_drive("elbow", rotor_inertia=1e-4, gear_ratio=50.0, viscous=0.1)


OPTIONS = {
    "torque": law, "q0": [0.3, -0.4], "inputs": ["elbow", "lower"], "outputs": ["q", "v", "a", "tau", "lower"],
    "parameters": ["kp", "lower.mass"],
}  # fmt: skip


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def unit(request, tmp_path_factory):
    """(path, folder) of the arm with a law, parameters, an effort and a wrench as inputs, a frame as output."""
    place = tmp_path_factory.mktemp("fmu")
    made = gs.export_fmu(arm(), place / "arm", BOTH, request.param, rtol=1e-11, **OPTIONS)
    assert made.binary and made.path == place / "arm.fmu"
    return made.path, place / "unzipped"


def accelerations(model, q, v, t, effort, wrench):
    tau = law(t, q, v) + np.array([0.0, effort])
    return gs.aba(model, q, v, tau, wrenches={"lower": wrench})


def test_it_is_valid_and_names_units_and_start_values(unit):
    path, _ = unit
    assert validate_fmu(str(path)) == []
    about = fmpy.read_model_description(str(path))
    named = {x.name: x for x in about.modelVariables}
    assert named["q[elbow]"].unit == "rad" and float(named["q[elbow]"].start) == -0.4
    assert named["tau_in[elbow]"].unit == "N.m" and named["position[lower.origin].z"].unit == "m"
    assert named["lower.mass"].unit == "kg" and named["lower.mass"].variability == "tunable"
    assert {u.name: (u.baseUnit.kg, u.baseUnit.m, u.baseUnit.s) for u in about.unitDefinitions}["N.m"] == (1, 2, -2)
    assert about.coSimulation and about.modelExchange
    assert not about.coSimulation.canBeInstantiatedOnlyOncePerProcess


def test_rates_and_outputs_are_those_of_forward_dynamics(unit):
    one, model = Unit(*unit).begin(), arm()
    rng = np.random.default_rng(0)
    w = dict(zip((f"wrench_in[lower.origin].{x}" for x in PARTS), rng.normal(size=6).tolist(), strict=True))
    one.set({"tau_in[elbow]": 0.7} | w)
    for t in (0.0, 0.4):
        q, v = rng.normal(size=2), rng.normal(size=2)
        a = accelerations(model, q, v, t, 0.7, np.array([*w.values()]))
        assert np.allclose(one.rates(np.concatenate([q, v]), t), np.concatenate([v, a]), rtol=0, atol=1e-12)
        position = gs.ForwardKinematics(model, ["lower"])(q)["lower"].p
        assert np.allclose(one.get(*(f"position[lower.origin].{x}" for x in "xyz")), position, rtol=0, atol=1e-14)
        assert np.allclose(one.get("a[shoulder]", "a[elbow]"), a, rtol=0, atol=1e-12)
    one.close()


def test_directional_derivatives_are_exact(unit):
    one, model = Unit(*unit).begin(), arm()
    q, v = np.array([0.2, -0.7]), np.array([0.4, 1.1])
    one.rates(np.concatenate([q, v]), 0.0)
    d = gs.aba_derivatives(model, q, v, law(0.0, q, v))
    M_inv = gs.inverse_mass_matrix(model, q)
    want = d.da_dq - 20.0 * M_inv
    got = [one.directional(["a[shoulder]", "a[elbow]"], [f"q[{n}]"], [1.0]) for n in model.dofs]
    assert np.allclose(np.transpose(got), want, rtol=0, atol=1e-11)
    assert np.allclose(one.directional(["a[shoulder]", "a[elbow]"], ["tau_in[elbow]"], [2.0]), 2.0 * M_inv[:, 1])
    by_gain = one.directional(["a[shoulder]", "a[elbow]"], ["kp"], [1.0])
    assert np.allclose(by_gain, M_inv @ -q, rtol=0, atol=1e-12)
    assert one.directional(["q[elbow]", "der(q[elbow])"], ["q[elbow]", "v[elbow]"], [0.5, 3.0]).tolist() == [0.5, 3.0]
    with pytest.raises(FMICallException):
        one.directional(["tau_in[elbow]"], ["kp"], [1.0])
    assert "no unknown" in one.messages[-1]
    if not one.two:
        names = [["a[shoulder]", "a[elbow]", "tau[elbow]"], ["q[shoulder]", "q[elbow]", "v[elbow]", "kp", "lower.mass"]]
        unknown, known = ([one.vr[n] for n in group] for group in names)
        J = np.array([one.directional(names[0], [n], [1.0]) for n in names[1]]).T
        weights = [0.3, -1.0, 2.0]
        assert np.allclose(one.fmu.getAdjointDerivative(unknown, known, weights, len(known)), weights @ J, rtol=1e-12)
    one.close()


def test_co_simulation_is_the_motion_of_simulate_with_parameters_and_inputs(unit):
    one = Unit(*unit, co_simulation=True).begin(kp=35.0, **{"lower.mass": 1.4, "tau_in[elbow]": 0.5})
    model, t = arm().replace({"lower.mass": 1.4}), np.linspace(0.0, 0.5, 11)
    q = [one.get("q[shoulder]", "q[elbow]")]
    for k in range(10):
        one.step(t[k], t[k + 1] - t[k])
        q.append(one.get("q[shoulder]", "q[elbow]"))
    run = gs.simulate(
        model, lambda t, q, v: law(t, q, v, 35.0) + np.array([0.0, 0.5]), q0=[0.3, -0.4], t_eval=t, rtol=1e-12,
        atol=1e-13,
    )  # fmt: skip
    assert np.abs(np.array(q) - run.q).max() < 1e-10
    one.close()


def test_states_are_saved_restored_and_reset_and_instances_are_apart(unit):
    one, other = (Unit(*unit, co_simulation=True, name=name).begin() for name in ("one", "other"))
    one.step(0.0, 0.1)
    data, there = one.saved(), one.get("q[elbow]", "v[elbow]")
    assert other.get("q[elbow]", "v[elbow]").tolist() == [-0.4, 0.0]
    one.step(0.1, 0.1)
    later = one.get("q[elbow]", "v[elbow]")
    one.restore(data)
    assert one.get("q[elbow]", "v[elbow]").tolist() == there.tolist()
    one.step(0.1, 0.1)
    assert one.get("q[elbow]", "v[elbow]").tolist() == later.tolist()
    other.restore(data)
    assert other.get("q[elbow]", "v[elbow]").tolist() == there.tolist()
    for broken in (data[:-8], b"x" + data[1:], data[:64] + b"\xff" * (len(data) - 64)):
        with pytest.raises(FMICallException):
            one.restore(broken)
    one.fmu.reset()
    one.begin()
    assert one.get("q[elbow]", "v[elbow]").tolist() == [-0.4, 0.0]
    one.close(), other.close()


def test_wrong_calls_are_told_and_do_no_harm(unit):
    one = Unit(*unit)
    with pytest.raises(FMICallException):
        one.get("q[elbow]")
    assert "must not be called in this state" in one.messages[-1]
    one.begin()
    before = one.get("q[elbow]")
    for values, told in (
        ({"tau_in[elbow]": np.nan}, "not a finite number"),
        ({"a[elbow]": 1.0}, "is computed"),
        ({"kp": 3.0}, "in event mode"),
        ({"q[elbow]": 3.0}, "is a state"),
    ):
        with pytest.raises(FMICallException):
            one.set(values)
        assert told in one.messages[-1]
    for vr in ([100_000], [2**32 - 1]):
        with pytest.raises(FMICallException):
            one.read(vr)
        assert "there is no value reference" in one.messages[-1]
    with pytest.raises(FMICallException):
        one.rates(np.zeros(3))
    assert "there are 4" in one.messages[-1]
    with pytest.raises(FMICallException):
        one.rates(np.array([np.inf, 0.0, 0.0, 0.0]))
    assert one.get("q[elbow]") == before
    with pytest.raises(FMICallException):
        one.fmu.exitInitializationMode()
    one.close()
    slave = Unit(*unit, co_simulation=True).begin()
    for t, h in ((0.5, 0.1), (0.0, 0.0), (0.0, -0.1), (0.0, np.nan)):
        with pytest.raises(FMICallException):
            slave.step(t, h)
    slave.step(0.0, 0.1)
    slave.close()


def test_a_token_of_another_fmu_is_refused(unit):
    with pytest.raises(Exception, match=r"(?i)instan"):
        Unit(*unit, token="0" * 64)


# ------------------------------------------------------------------------------------------------ what is written


def test_the_same_model_gives_the_same_bytes_and_other_numbers_another_token(tmp_path):
    made = [gs.export_fmu(arm(), tmp_path / f"{k}.fmu", binary=False, **OPTIONS) for k in range(2)]
    assert made[0].path.read_bytes() == made[1].path.read_bytes()
    heavier = gs.export_fmu(arm().replace({"upper.mass": 9.0}), tmp_path / "2.fmu", binary=False, **OPTIONS)
    assert heavier.token != made[0].token
    with zipfile.ZipFile(made[0].path) as archive:
        assert {"modelDescription.xml", "sources/buildDescription.xml", "sources/fmi3.c"} < set(archive.namelist())
        assert all(info.date_time == (1980, 1, 1, 0, 0, 0) for info in archive.infolist())


def test_without_a_compiler_there_are_sources_and_a_warning(tmp_path, caplog):
    made = gs.export_fmu(arm(), tmp_path / "arm.fmu", compiler="no-such-compiler")
    assert made.binary == "" and "no C compiler was found (no-such-compiler)" in made.why_no_binary
    assert "has sources alone" in caplog.text and "sources alone" in str(made)
    assert validate_fmu(str(made.path)) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"kind": "both"}, "there is no kind 'both'"),
        ({"fmi": "1.0"}, "there is no FMI '1.0'"),
        ({"parameters": ["kp"], "torque": lambda t, q, v, kp: -kp * q}, "parameter 'kp' has no value"),
        ({"parameters": ["lower.mas"]}, "is no property|lower.mas"),
        ({"inputs": ["elbo"]}, "there is no frame or port 'elbo'"),
        ({"outputs": ["tip"]}, "there is no frame or port 'tip'"),
        ({"method": "rk4"}, "dt goes with method 'rk4'"),
        ({"torque": lambda t, q, v: -q if q[0] > 0 else q}, "runs in Python"),
        ({"torque": gs.blocks.sampled(lambda t, q, v: -q, 0.01)}, "sampled in Python"),
        ({"fixed": ["kp"]}, "which is no parameter"),
        ({"signals": {"q": 2}}, "signals belong to blocks"),
        (
            {"torque": gs.blocks.computed_torque(arm(), [9.0, 9.0], [6.0, 6.0]), "parameters": ["lower.mass"]},
            "which keep its value of now|signal 'q_ref'|no signal",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path, options, told):
    with pytest.raises(gs.GyrostatError, match=told):
        gs.export_fmu(arm(), tmp_path / "arm.fmu", binary=False, **options)
    assert not list(tmp_path.iterdir())


def test_friction_that_sticks_and_rigid_contacts_and_loops_as_constraints_are_refused(tmp_path):
    rough = gs.robots.two_link().with_drive("elbow", coulomb=0.5)
    with pytest.raises(gs.GyrostatError, match="stick and slip"):
        gs.export_fmu(rough, tmp_path / "a.fmu", binary=False)
    loops = gs.robots.four_bars(1, loops="constraints")
    with pytest.raises(gs.GyrostatError, match="are constraints"):
        gs.export_fmu(loops, tmp_path / "a.fmu", binary=False)
