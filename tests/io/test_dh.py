"""Denavit-Hartenberg tables: against products of matrices, Pinocchio, and the motors of the Robotics Toolbox."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.io.dh.from_table import from_dh
from gyrostat.io.dh.table import DHRow
from tests.support.examples import few

CONVENTIONS = ("standard", "modified")


def turn(axis, angle):
    T = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def shift(axis, length):
    T = np.eye(4)
    T[axis, 3] = length
    return T


def dh_matrix(convention, a, alpha, d, theta):
    if convention == "standard":
        return turn(2, theta) @ shift(2, d) @ shift(0, a) @ turn(0, alpha)
    return turn(0, alpha) @ shift(0, a) @ turn(2, theta) @ shift(2, d)


def random_table(rng, n, motors=False):
    rows = []
    for _ in range(n):
        points = rng.uniform(-0.2, 0.2, (6, 3))
        m = rng.uniform(0.1, 0.5, 6)
        r = m @ points / m.sum()
        inertia = sum(w * ((x @ x) * np.eye(3) - np.outer(x, x)) for w, x in zip(m, points - r, strict=True))
        row = {
            "a": rng.uniform(-0.5, 0.5),
            "alpha": rng.uniform(-np.pi, np.pi),
            "d": rng.uniform(-0.5, 0.5),
            "theta": rng.uniform(-np.pi, np.pi),
            "offset": rng.uniform(-1, 1),
            "sigma": int(rng.integers(2)),
            "flip": bool(rng.integers(2)),
            "m": float(m.sum()),
            "r": tuple(r),
            "I": inertia,
        }
        if motors:
            row |= {"Jm": rng.uniform(1e-5, 1e-3), "G": float(rng.choice([-1, 1]) * rng.uniform(20, 120))}
            row |= {"B": rng.uniform(1e-5, 1e-3), "Tc": (rng.uniform(0, 0.5), -rng.uniform(0, 0.5))}
        rows.append(row)
    return rows


def variables(row, q):
    """theta and d of a row at the joint coordinate q."""
    moved = (-q if row["flip"] else q) + row["offset"]
    return (row["theta"] + moved, row["d"]) if row["sigma"] == 0 else (row["theta"], row["d"] + moved)


def chain_matrices(rows, convention, q):
    T, found = np.eye(4), []
    for row, x in zip(rows, q, strict=True):
        theta, d = variables(row, x)
        T = T @ dh_matrix(convention, row["a"], row["alpha"], d, theta)
        found.append(T)
    return found


def in_pinocchio(rows, convention):
    """The same arm, built with Pinocchio's joints about z."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    parent, before = 0, np.eye(4)
    for k, row in enumerate(rows):
        theta, d = variables(row, 0.0)
        fixed = dh_matrix(convention, row["a"], row["alpha"], d, theta)
        place, after = (before, fixed) if convention == "standard" else (before @ fixed, np.eye(4))
        axis = np.array([0.0, 0.0, -1.0 if row["flip"] else 1.0])
        kind = (pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned)[row["sigma"]](axis)
        parent = model.addJoint(parent, kind, pin.SE3(place), f"q{k}")
        model.appendBodyToJoint(parent, pin.Inertia(row["m"], np.array(row["r"]), row["I"]), pin.SE3(after))
        before = after
    return pin, model


@pytest.mark.parametrize("convention", CONVENTIONS)
@settings(max_examples=few(6), deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 7))
def test_frames_of_links_are_products_of_the_matrices(convention, seed, n):
    rng = np.random.default_rng(seed)
    rows, q = random_table(rng, n), rng.uniform(-2, 2, n)
    place = gs.fk(from_dh(rows, convention), q)
    for k, T in enumerate(chain_matrices(rows, convention, q), start=1):
        np.testing.assert_allclose(place[f"link{k}"].R, T[:3, :3], atol=1e-12)
        np.testing.assert_allclose(place[f"link{k}"].p, T[:3, 3], atol=1e-12)


@pytest.mark.by_default(2)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("seed", range(5))
def test_forces_and_inertias_equal_those_of_pinocchio(convention, seed):
    rng = np.random.default_rng([seed, 3])
    rows = random_table(rng, 6)
    pin, oracle = in_pinocchio(rows, convention)
    model, data = from_dh(rows, convention), oracle.createData()
    q, v, a = rng.uniform(-2, 2, 6), rng.normal(size=6), rng.normal(size=6)
    tau = pin.rnea(oracle, data, q, v, a)
    np.testing.assert_allclose(gs.rnea(model, q, v, a), tau, rtol=1e-11, atol=1e-11)
    M = pin.crba(oracle, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(gs.crba(model, q), M, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(gs.aba(model, q, v, tau), a, rtol=1e-8, atol=1e-8)


@pytest.mark.by_default(2)
@pytest.mark.parametrize("seed", range(4))
def test_motors_add_reflected_inertia_and_friction_by_the_sign_of_the_joint(seed):
    rng = np.random.default_rng([seed, 7])
    rows = random_table(rng, 4, motors=True)
    bare = [{k: x for k, x in row.items() if k not in ("Jm", "G", "B", "Tc")} for row in rows]
    model, without = from_dh(rows), from_dh(bare)
    assert model.dofs == without.dofs == ("q1", "q2", "q3", "q4")
    q, v, a = rng.uniform(-2, 2, 4), rng.normal(size=4), rng.normal(size=4)
    v[0], v[1] = 0.7, -0.4
    G = np.array([row["G"] for row in rows])
    Jm, B = (np.array([row[key] for row in rows]) for key in ("Jm", "B"))
    plus, minus = np.array([row["Tc"] for row in rows]).T
    friction = G**2 * B * v + abs(G) * np.where(v > 0, plus, minus)
    tau = gs.rnea(without, q, v, a) + G**2 * Jm * a + friction
    np.testing.assert_allclose(gs.rnea(model, q, v, a), tau, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gs.crba(model, q), gs.crba(without, q) + np.diag(G**2 * Jm), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(gs.aba(model, q, v, tau), a, rtol=1e-9, atol=1e-9)


def test_one_number_for_coulomb_friction_is_that_of_both_directions():
    row = {"m": 1.0, "r": (0.1, 0, 0), "G": -2.0, "Tc": 0.3}
    still = {"context.gravity": (0, 0, 0)}
    model = from_dh([row]).replace(still)
    assert gs.rnea(model, [0.0], [1.0], [0.0]) == pytest.approx([0.6])
    assert gs.rnea(model, [0.0], [-1.0], [0.0]) == pytest.approx([-0.6])
    assert gs.rnea(model, [0.0], [0.0], [0.0]) == pytest.approx([0.0])


def test_base_and_tool_are_places_in_any_form():
    T = turn(0, 0.3) @ shift(2, 0.5)
    row = {"a": 0.4, "m": 1.0, "I": (0.1, 0.1, 0.1)}
    expected = T @ dh_matrix("standard", 0.4, 0.0, 0.0, 0.2) @ shift(0, 0.1)
    rotated = (T[:3, 3], T[:3, :3].tolist())
    for base in (T, T.tolist(), rotated):
        place = gs.fk(from_dh([row], base=base, tool=(0.1, 0, 0)), [0.2])["tool"]
        np.testing.assert_allclose(place.p, expected[:3, 3], atol=1e-14)
        np.testing.assert_allclose(place.R, expected[:3, :3], atol=1e-14)


def test_gravity_is_the_acceleration_in_the_world_and_turns_with_the_base():
    row = {"m": 2.0, "r": (0.5, 0, 0)}
    hanging = from_dh([row], base=turn(0, np.pi / 2), gravity=(0, 0, -10))
    assert gs.rnea(hanging, [0.0], [0.0], [0.0]) == pytest.approx([10.0])


def test_rows_can_be_objects_and_name_joints_and_links():
    model = from_dh([DHRow(a=0.3, m=1.0, name="waist", link="column", qlim=(-1, 2)), DHRow(kind="prismatic", m=1.0)])
    assert model.dofs == ("waist", "q2")
    assert model["waist.lower"] == -1.0 and model["waist.upper"] == 2.0
    assert gs.fk(model, [0.0, 0.25])["link2"].p == pytest.approx([0.3, 0, 0.25])


def test_inertia_in_six_numbers_has_the_order_of_the_toolbox():
    model = from_dh([{"m": 1.0, "I": [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]}])
    assert model["link1.inertia"] == ((0.3, 0.01, 0.03), (0.01, 0.4, 0.02), (0.03, 0.02, 0.5))


def test_a_table_without_masses_is_refused_and_can_be_accepted_for_kinematics():
    rows = [{"a": 1.0}, {"a": 0.5}]
    with pytest.raises(gs.SpecError, match="moves nothing that has mass"):
        from_dh(rows)
    model = from_dh(rows, policy="accept")
    assert gs.fk(model, [0.0, np.pi / 2])["link2"].p == pytest.approx([1.0, 0.5, 0.0])


def test_links_that_are_no_bodies_are_refused_or_accepted_and_told(caplog):
    rows = [{"I": (0.0, 0.35, 0.0)}, {"m": 1.0, "I": (0.066, 0.086, 0.0125)}]
    with pytest.raises(gs.SpecError) as refused:
        from_dh(rows)
    rules = [p.rule for p in refused.value.problems]
    assert rules.count("inertia-triangle") == 2 and "inertia-without-mass" in rules
    with caplog.at_level(logging.WARNING, "gyrostat"):
        model = from_dh(rows, policy="accept")
    assert "'link1'" in caplog.text and "'link2'" in caplog.text
    assert model["link2.inertia"][1][1] == 0.086
    assert gs.crba(model, [0.0, 0.0])[1, 1] == pytest.approx(0.0125)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"alhpa": 1.0}, r"DH row 2: there is no field 'alhpa'\. Hint: did you mean 'alpha'"),
        ({"a": "0.3"}, r"DH row 2: 'a' must be a number, got '0\.3'"),
        ({"d": float("nan")}, r"DH row 2: 'd' must be finite, got nan"),
        ({"sigma": 2}, r"DH row 2: 'sigma' is 2\. Hint: write revolute \(sigma 0\) or prismatic"),
        ({"sigma": 0, "kind": "revolute"}, r"'sigma' and 'kind' say the same"),
        ({"kind": "helical"}, r"'kind' is 'helical'"),
        ({"I": (1, 2)}, r"'I' must be 3, 6 or 3x3 numbers, got \(1, 2\)"),
        ({"I": [[1, 0, 0], [0, 1, 0], [0, 0, float("inf")]]}, r"'I' must be 3, 6 or 3x3 numbers"),
        ({"r": 0.3}, r"'r' must be three numbers, got 0\.3"),
        ({"m": -1.0}, r"'m' must not be negative, got -1\. Hint: give its magnitude"),
        ({"Jm": -1e-4}, r"'Jm' must not be negative"),
        ({"B": -1e-4}, r"'B' must not be negative"),
        ({"G": 0.0}, r"'G' must not be zero"),
        ({"Tc": (0.1, 0.2)}, r"'Tc' must be \(plus, minus\) with plus >= 0 >= minus.*write \(0\.1, -0\.2\)"),
        ({"Tc": (0.1, 0.2, 0.3)}, r"'Tc' must be two numbers"),
        ({"qlim": (1, -1)}, r"'qlim' must be \(lower, upper\), got \(1, -1\)\. Hint: exchange them"),
        ({"flip": 1}, r"'flip' must be true or false, got 1"),
        ({"name": 3}, r"'name' must be a text, got 3"),
        ({"name": "elbow", "a": None, "m": True}, r"DH row 2 \('elbow'\): 'm' must be a number, got True"),
        (17, r"DH row 2: must be a mapping or a DHRow, got 17"),
    ],
)
def test_a_mistake_names_row_field_value_and_remedy(row, message):
    with pytest.raises(gs.SpecError, match=message):
        from_dh([{"m": 1.0}, row])


def test_all_mistakes_of_a_table_come_at_once():
    with pytest.raises(gs.SpecError) as error:
        from_dh([{"a": "x", "G": 0.0}, {"alpha": None, "b": 2}])
    assert len(error.value.problems) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "has no rows"),
        (({"a": 1},), "must be a list of rows"),
        (("table",), "must be a list of rows"),
        (([{"m": 1.0}], "craig"), "convention must be one of standard, modified, got 'craig'"),
    ],
)
def test_tables_that_are_none_are_refused(arguments, message):
    with pytest.raises(gs.SpecError, match=message):
        from_dh(*arguments)


@pytest.mark.parametrize("place", [np.zeros((4, 4)), (1, 2), "here", [[1, 2], [3]], np.diag([1.0, 1.0, -1.0, 1.0])])
def test_a_place_that_is_none_is_refused(place):
    with pytest.raises(gs.SpecError, match="tool"):
        from_dh([{"m": 1.0}], tool=place)


def test_an_unknown_policy_is_refused():
    with pytest.raises(gs.SpecError, match="policy must be one of strict, accept"):
        from_dh([{"m": 1.0}], policy="repair")
