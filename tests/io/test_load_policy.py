"""What loads by default, with one warning; what is refused whatever the policy; numbers that no body has."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from tests.io.urdf.test_urdf import BODY, FILES, FOLDER, TWO, joint, link, robot
from tests.support.accepting import load_accepted, load_told

THIN = TWO.replace('izz="0.05"', 'izz="0.5"')
TINY = BODY.format(m=1.5)
TINY = re.sub(r'(i..)="(-?)0\.\d+"', lambda m: f'{m[1]}="{1e-310 if m[1] in ("ixx", "iyy", "izz") else 0}"', TINY)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "r.urdf"


def write(path, text):
    path.write_text(text, "utf-8")
    return path


# -------------------------------------------------------------------------------------------- the one warning
TOLD = {
    "alex_psyonic_hands": {"inertia-triangle": 4, "unknown-joint": 8},
    "allegro_left_hand": {"inertia-triangle": 4},
    "allegro_right_hand": {"inertia-triangle": 4},
    "anymal-kinova": {"inertia-triangle": 1},
    "anymal": {"inertia-triangle": 1},
    "anymal_c_simple_description/urdf/anymal": {"inertia-triangle": 5},
    "b1-z1": {"inertia-triangle": 1},
    "b1": {"inertia-triangle": 1},
    "bolt": {"inertia-without-mass": 2},
    "go1": {"inertia-triangle": 1},
    "hyq_no_sensors": {"inertia-triangle": 5},
    "pr2": {"inertia-triangle": 2},
    "romeo": {"moving-massless": 24},
    "romeo_laas_small": {"moving-massless": 2, "inertia-triangle": 2, "inertia-positive": 3},
    "romeo_small": {"inertia-triangle": 2},
    "talos_left_arm": {"mimic": 6},
    "talos_reduced": {"mimic": 12},
    "talos_reduced_box": {"mimic": 12},
    "talos_reduced_corrected": {"mimic": 12},
    "tiago": {"inertia-positive": 2},
    "tiago_dual": {"inertia-positive": 2},
    "tiago_no_hand": {"inertia-positive": 2},
}
"""Robots of example-robot-data with errors: what their one warning counts."""


@pytest.mark.slow
def test_of_69_robots_46_load_without_a_word_and_22_with_one_right_warning():
    told, silent = {}, []
    for file in FILES:
        if file.endswith("ur3.urdf"):  # an empty robot
            with pytest.raises(gs.SpecError, match="got 0 links"):
                gs.load(FOLDER / file)
            continue
        _, rules = load_told(FOLDER / file)
        if rules:
            whole, stem = file.removesuffix(".urdf"), Path(file).stem
            told[whole if whole in TOLD else stem] = rules
        else:
            silent.append(file)
    assert told == TOLD
    assert (len(told), len(silent)) == (22, 46)


def test_the_warning_counts_rules_and_names_the_three_ways_on(path):
    write(path, THIN.replace('axis xyz="0 1 0"', 'axis xyz="0 2 0"').replace("</robot>", "<gazebo/></robot>"))
    with pytest.warns(gs.ModelWarning) as told:
        gs.load(path)
    (warning,) = told
    assert issubclass(gs.ModelWarning, UserWarning)
    text = str(warning.message)
    assert text.startswith(
        f"{path}: 3 errors accepted; taken as it stands: 2 inertia-triangle, 1 axis (besides: 0 warnings, 1 ignored)"
    )
    for words in ("gs.audit(path)", 'policy="strict"', 'policy="repair"'):
        assert words in text
    assert warning.filename == __file__  # the line that called gs.load
    again = pickle.loads(pickle.dumps(warning.message))
    assert (str(again), again.rules) == (text, {"inertia-triangle": 2, "axis": 1})


def test_what_is_left_out_of_the_model_is_told_apart(path):
    limits = '<axis xyz="0 1 0"/><limit lower="2" upper="1" effort="1" velocity="1"/>'
    write(path, robot(link("base"), link("arm"), joint("hinge", "base", "arm", "revolute", limits)))
    with pytest.warns(gs.ModelWarning, match="1 error accepted; left out of the model: 1 limit-order"):
        model = gs.load(path)
    assert not np.isfinite(model["hinge.upper"] or np.inf)


def test_a_warning_made_an_error_stops_the_load(path):
    write(path, THIN)
    with warnings.catch_warnings():
        warnings.simplefilter("error", gs.ModelWarning)
        with pytest.raises(gs.ModelWarning, match="2 inertia-triangle"):
            gs.load(path)


@pytest.mark.parametrize("policy", ["strict", "repair"])
def test_the_other_policies_do_not_warn(path, policy):
    write(path, THIN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if policy == "strict":
            with pytest.raises(gs.SpecError, match="triangle"):
                gs.load(path, policy=policy)
        else:
            assert gs.load(path, policy=policy).nv == 1


# -------------------------------------------------------------------------------------------- never accepted
FOLLOW = joint("b", "arm", "tip", more='<axis xyz="0 1 0"/><mimic joint="hinge" {}/>')
LED = TWO.replace("</robot>", link("tip") + FOLLOW + "</robot>")
RING = TWO.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><mimic joint="b"/>').replace(
    "</robot>", link("tip") + FOLLOW.format("") + "</robot>"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TWO.replace('value="1.5"', 'value="-1.5"'), "the mass must not be negative, got -1.5 kg"),
        (TWO.replace('value="1.5"', 'value="nan"'), "'value' of <mass> must be one finite number, got 'nan'"),
        (TWO.replace('ixx="0.03"', 'ixx="inf"'), "'ixx' of <inertia> must be one finite number, got 'inf'"),
        (LED.format('multiplier="nan"'), "joint 'b' .*'multiplier' of <mimic> must be one finite number, got 'nan'"),
        (LED.format('multiplier="-inf"'), "joint 'b' .*'multiplier' of <mimic> must be one finite number, got '-inf'"),
        (LED.format('offset="NaN"'), "joint 'b' .*'offset' of <mimic> must be one finite number, got 'NaN'"),
        (TWO.replace("</joint>", '<dynamics damping="nan"/></joint>'), "'damping' of <dynamics> .*, got 'nan'"),
        (TWO.replace("</robot>", joint("back", "arm", "base") + "</robot>"), "the joints form a loop"),
        (TWO.replace("</robot>", joint("again", "base", "arm") + "</robot>"), "second joint that carries link 'arm'"),
        (RING, "joints follow each other in a circle, got 'hinge' follows 'b' follows 'hinge'"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_default(path, text, told):
    with pytest.raises(gs.SpecError, match=told):
        gs.load(write(path, text))


def test_a_multiplier_that_is_no_number_is_not_reported_as_zero(path):
    rules = [(f.rule, f.found) for f in gs.audit(write(path, LED.format('multiplier="nan"'))).errors]
    assert rules == [("number", "'nan'")]
    assert [f.severity for f in gs.audit(path, mimic=False) if f.rule == "number"] == ["warning"]  # it is not used
    assert gs.load(path, mimic=False).nv == 2


def test_a_circle_of_followers_is_mended_by_a_repair(path, caplog):
    assert gs.load(write(path, RING), policy="repair").nv == 1


# -------------------------------------------------------------------------------------------- too small
def test_an_inertia_of_1e_310_is_told_refused_or_taken_as_zero(path, caplog):
    write(path, TWO.replace(BODY.format(m=1.5), TINY))
    (first, _) = gs.audit(path).errors
    assert (first.rule, first.found) == ("inertia-small", "1e-310 kg m^2")
    with pytest.raises(gs.SpecError, match="the inertia is less than that of an atom, got 1e-310 kg m"):
        gs.load(path, policy="strict")
    model = load_accepted(path)
    assert np.isclose(model["arm.inertia"][0][0], 1e-310, rtol=1e-9, atol=0.0)
    mended = gs.load(path, policy="repair")
    assert np.all(np.array(mended["arm.inertia"]) == 0.0)
    np.testing.assert_allclose(gs.crba(model, [0.3]), gs.crba(mended, [0.3]), rtol=1e-15)


def test_a_mass_of_1e_310_is_told(path, caplog):
    write(path, TWO.replace('value="1.5"', 'value="1e-310"'))
    assert [f.rule for f in gs.audit(path).errors] == ["mass-small", "mass-small"]
    repaired = [f.rule for f in gs.audit(path, policy="repair")]
    assert repaired.count("mass-small") == 2 and "inertia-without-mass" in repaired


def test_small_numbers_of_any_model_are_refused_by_check(tmp_path):
    for values, told in (
        ({"mass": 1.0, "inertia": (1e-310,) * 3}, "inertia must be zero or at least 1e-50 kg m"),
        ({"mass": 1e-310}, "mass must be zero or at least 1e-50 kg, got 1e-310 kg"),
    ):
        model = gs.assemble("m", gs.chain("world", gs.Joint("j", "revolute"), gs.RigidBody("b", **values)))
        with pytest.raises(gs.SpecError, match=told):
            gs.check(model)
    arm = gs.assemble("m", gs.chain("world", gs.Joint("j", "revolute"), gs.RigidBody("b", mass=1, com=(1, 0, 0))))
    with pytest.raises(gs.SpecError, match="inertia must be at least 1e-50 kg m"):
        gs.check(arm.with_drive("j", rotor_inertia=1e-310))


def test_a_radius_of_gyration_below_a_micrometre_is_a_point_mass(path):
    small = TINY.replace("1e-310", "1e-13")
    found = [f for f in gs.audit(write(path, TWO.replace(BODY.format(m=1.5), small))).warnings]
    assert [f.rule for f in found] == ["point-mass"] * 2
    assert "a radius of gyration of 2.6e-07 m" in found[0].what
