"""Exported C: compiles without a warning, reproduces its vectors, survives every name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.c_names import KEYWORDS, c_number, identifier, unique
from gyrostat.engine.export_c import export_c
from gyrostat.engine.tracing.choose import maximum, minimum, sign, where
from gyrostat.engine.tracing.operations import BY_NAME
from gyrostat.engine.tracing.program import Program, run
from gyrostat.engine.tracing.record import record
from gyrostat.errors import ShapeError
from tests.support.comparing import assert_close
from tests.support.flexible_models import boom_arm
from tests.support.random_models import random_state

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
compilers = pytest.mark.parametrize(
    "compiler",
    [pytest.param(c, marks=pytest.mark.skipif(c not in COMPILERS, reason=f"no {c} here")) for c in ("gcc", "clang")],
)
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler here")


def compiled(compiler: str, files: list[Path], *flags: str) -> Path:
    """The program made of the C files; fails with what the compiler says."""
    sources = [str(f) for f in files if f.suffix == ".c"]
    target = files[0].with_suffix(".bin")
    done = subprocess.run(
        [compiler, *STRICT, *flags, "-o", str(target), *sources, "-lm"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return target


def checked(compiler: str, files: list[Path], *flags: str) -> str:
    done = subprocess.run([str(compiled(compiler, files, *flags))], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def all_kinds() -> gs.Model:
    """A free-floating tree in which every kind of joint occurs."""
    for seed in range(100):
        model = gs.robots.tree(seed, 14, base="free", reversed_share=0.3, momentum=True)
        if {getattr(e, "kind", "free") for e in model.entities} == {*gs.JOINT_KINDS}:
            return model
    raise AssertionError("no such tree")


ROBOTS = {
    "lwr": gs.robots.kuka_lwr4,
    "all kinds, free": all_kinds,
    "chain": lambda: gs.robots.chain(12),
    "boom": boom_arm,
}


@pytest.fixture(scope="module", params=list(ROBOTS))
def robot(request) -> gs.InverseDynamics:
    return gs.InverseDynamics(ROBOTS[request.param]())


# ---------------------------------------------------------------------------------------------- robots


@compilers
def test_the_exported_robot_compiles_strictly_and_reproduces_its_vectors(robot, compiler, tmp_path):
    files = robot.export_c(tmp_path, vectors=64)
    told = checked(compiler, files)
    worst = float(told.split()[-1])
    assert told.startswith(f"{robot.model.name}_rnea: largest relative difference") and worst <= 1e-14


@needs_compiler
def test_exported_forward_dynamics_of_a_flexible_body_pass_their_own_test(tmp_path):
    pytest.importorskip("skfem", reason="scikit-fem comes with the extra 'flexible'")
    from tests.algorithms.flexible.test_flexible_body import arm

    told = checked(COMPILERS[0], gs.ForwardDynamics(arm()).export_c(tmp_path, vectors=20))
    assert float(told.split()[-1]) <= 1e-12  # 4e-14: rounding times the condition of the mass matrix


@needs_compiler
def test_the_exported_robot_is_the_solver_for_other_states_too(robot, tmp_path):
    header, source, _ = robot.export_c(tmp_path)
    name = header.stem
    rng = np.random.default_rng(5)
    states = [random_state(robot.model, rng) for _ in range(5)]
    rows = ",\n".join("{" + ", ".join(c_number(float(x)) for part in s for x in part) + "}" for s in states)
    nq, nv = robot.model.nq, robot.model.nv
    main = tmp_path / "main.c"
    main.write_text(
        f'#include <stdio.h>\n#include "{header.name}"\n'
        f"static const double x[5][{nq + 2 * nv}] = {{\n{rows}\n}};\n"
        f"int main(void) {{ int k, j; double tau[{name.upper()}_TAU_SIZE];\n"
        f"for (k = 0; k < 5; ++k) {{ {name}(x[k], x[k] + {nq}, x[k] + {nq + nv}, tau);\n"
        f'for (j = 0; j < {name.upper()}_TAU_SIZE; ++j) printf("%.17g\\n", tau[j]); }} return 0; }}\n'
    )
    done = subprocess.run([str(compiled(COMPILERS[0], [source, main]))], capture_output=True, text=True, check=True)
    found = np.array([float(line) for line in done.stdout.split()]).reshape(5, nv)
    assert_close(found, np.array([robot(*s) for s in states]), 1e-14)


def test_the_exported_files_need_nothing_and_allocate_nothing(robot, tmp_path):
    header, source, test = robot.export_c(tmp_path)
    assert [f.name for f in (header, source, test)] == [
        f"{robot.model.name}_rnea{end}" for end in (".h", ".c", "_test.c")
    ]
    for file in (header, source, test):
        text = file.read_text()
        assert not re.search(
            r"\b(malloc|calloc|realloc|free|alloca)\b", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        )
        included = set(re.findall(r"#include [<\"](.*?)[>\"]", text))
        assert included <= {"math.h", "stdio.h", header.name}
    assert set(re.findall(r"#include <(.*?)>", source.read_text())) == {"math.h"}
    assert "static" not in re.sub(r"/\*.*?\*/", "", source.read_text())


def test_the_header_says_sizes_and_names(robot, tmp_path):
    model = robot.model
    header = robot.export_c(tmp_path)[0].read_text()
    upper = f"{model.name}_rnea".upper()
    for slot, size in (("Q", model.nq), ("V", model.nv), ("A", model.nv), ("TAU", model.nv)):
        assert f"#define {upper}_{slot}_SIZE {size}\n" in header
    assert ", ".join(model.coordinates) in header and header.count(", ".join(model.dofs)) >= 3
    assert f"#ifndef {upper}_H" in header and 'extern "C"' in header


@needs_compiler
def test_the_exported_main_fails_when_a_number_is_wrong(tmp_path):
    header, source, test = gs.InverseDynamics(gs.robots.pendulum()).export_c(tmp_path)
    text = test.read_text()
    first = re.search(r"want_tau\[16\]\[1\] = \{\n    \{(.*?)\}", text).group(1)
    test.write_text(text.replace(first, c_number(float(first) * (1.0 + 1e-11)), 1))
    run_it = compiled(COMPILERS[0], [header, source, test])
    assert subprocess.run([str(run_it)], capture_output=True).returncode == 1
    test.write_text(text.replace(first, "NAN", 1))
    assert subprocess.run([str(compiled(COMPILERS[0], [header, source, test]))], capture_output=True).returncode == 1


@pytest.fixture(scope="module")
def sanitizer(tmp_path_factory) -> list[str]:
    """Flags with which the compiler watches every access; skips where it cannot."""
    if not COMPILERS:
        pytest.skip("no C compiler here")
    flags = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    file = tmp_path_factory.mktemp("sanitizer") / "nothing.c"
    file.write_text("int main(void) { return 0; }\n")
    binary = file.with_suffix("")
    if subprocess.run([COMPILERS[0], *flags, "-o", binary, file], capture_output=True).returncode:
        pytest.skip(f"{COMPILERS[0]} has no address sanitizer here")
    if subprocess.run([binary], capture_output=True).returncode:
        pytest.skip("programs with the address sanitizer do not run here")
    return flags


def test_the_exported_robot_stays_inside_its_arrays(robot, sanitizer, tmp_path):
    checked(COMPILERS[0], robot.export_c(tmp_path), *sanitizer)


# ---------------------------------------------------------------------------------------------- every operation


def everything(x, y):
    y = y[()]
    values = [x[0] + y, x[0] - y, x[0] * y, x[0] / y, -x[0], np.sqrt(abs(x[0])), np.floor(x[0]), np.ceil(x[0])]
    values += [np.sin(x[0]), np.cos(x[0]), np.tan(x[0]), np.arcsin(x[1]), np.arccos(x[1]), np.arctan(x[0])]
    values += [np.arctan2(x[0], y), np.sinh(x[0]), np.cosh(x[0]), np.tanh(x[0]), np.exp(x[0]), np.log(abs(x[0]) + 1e-3)]
    values += [abs(x[0]) ** y, np.fmod(x[0], y), x[0] < y, x[0] <= y, x[0] == y, x[0] != y, ~(x[0] < y)]
    values += [(x[0] < y) & (y < 1.0), (x[0] < y) | (y < 1.0), where(x[0] < y, x[0], y), minimum(x[0], y)]
    values += [maximum(x[0], y), sign(x[0]), x[1] * -1e300, x[1] * 5e-324, x[1] + 1e22, x[0] % y]
    return values


@pytest.fixture(scope="module")
def table() -> Program:
    """Each operation an output of its own: the exported test measures each against its own scale."""
    program = record(lambda x, y: {f"z{k}": z for k, z in enumerate(everything(x, y))}, {"x": (2,), "y": ()})
    assert set(program.counts()) >= set(BY_NAME)
    return program


def vectors_of(program: Program, inputs: list[tuple[np.ndarray, ...]]):
    found = []
    for given in inputs:
        results = run(program, *(np.ravel(g).tolist() for g in given))
        outputs = [np.reshape(r, s.shape) for r, s in zip(results, program.outputs, strict=True)]
        found.append((given, outputs))
    return found


@compilers
def test_every_operation_can_be_exported(table, compiler, tmp_path):
    rng = np.random.default_rng(0)
    inputs = [(rng.uniform(-1.0, 1.0, 2) * scale, rng.uniform(-3.0, 3.0)) for scale in np.repeat([1.0, 0.5, 1e-100], 8)]
    checked(compiler, export_c(table, tmp_path, "operations", {}, vectors_of(table, inputs)))


@needs_compiler
def test_special_values_come_out_as_they_do_here(tmp_path):
    program = record(
        lambda x: {"y": [sign(x[0]), minimum(x[0], 1.0), np.floor(x[0]), where(x[0], 1.0, 2.0)]}, {"x": (1,)}
    )
    _, source, _ = export_c(program, tmp_path, "special", {}, vectors_of(program, [(np.ones(1),)]))
    values = [np.nan, np.inf, -np.inf, -0.0, 5e-324, -1e308]
    main = tmp_path / "main.c"
    main.write_text(
        '#include <math.h>\n#include <stdio.h>\n#include "special.h"\nint main(void) {\n'
        f"const double x[6][1] = {{{', '.join('{' + c_number(v) + '}' for v in values)}}}; double y[4]; int k;\n"
        'for (k = 0; k < 6; ++k) { special(x[k], y); printf("%g %g %g %g\\n", y[0], y[1], y[2], y[3]); } return 0; }\n'
    )
    done = subprocess.run([str(compiled(COMPILERS[0], [source, main]))], capture_output=True, text=True, check=True)
    found = np.array([[float(w) for w in line.split()] for line in done.stdout.splitlines()])
    want = np.array([run(program, [v])[0] for v in values])
    np.testing.assert_array_equal(found[:5], want[:5])


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -1.5, 1e22, 1e-5, 5e-324, 1.7976931348623157e308, 0.1, 123456789.0])
def test_numbers_are_written_so_that_they_read_back(value):
    text = c_number(value)
    assert float(text) == value and re.search(r"[.e]", text)


def test_infinities_and_nan_have_their_names():
    assert [c_number(x) for x in (np.inf, -np.inf, np.nan)] == ["INFINITY", "-INFINITY", "NAN"]


# ---------------------------------------------------------------------------------------------- names

HOSTILE = [
    "int",
    "double",
    "main",
    "3rd joint",
    "Gelenk größe",
    "関節",
    '"quoted"',
    "*/ int evil; /*",
    "a/*b",
    "a*/b",
    "??/",
]
HOSTILE += ["back\\slash", "new\nline", "tab\t", "", "_", "__x__", "-", "%s%n", "$x", "\u202eright to left", "a" * 300]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_text_becomes_an_identifier(text):
    name = identifier(text)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) and name not in KEYWORDS and "__" not in name


def test_identifiers_that_would_coincide_are_made_different():
    names = unique(["a b", "a-b", "a_b", "A_B", "a_b_2", "q", "Q"])
    assert len({n.upper() for n in names}) == 7 and names[0] == "a_b"


@compilers
def test_joints_of_any_name_give_valid_c(compiler, tmp_path):
    """In comments only: the entries of q."""
    program = record(lambda q, v: {"tau": q * v}, {"q": (len(HOSTILE),), "v": (len(HOSTILE),)})
    vectors = vectors_of(program, [(np.ones(len(HOSTILE)), np.ones(len(HOSTILE)))])
    files = export_c(program, tmp_path, "*/ #error", {"q": HOSTILE, "tau": HOSTILE}, vectors)
    checked(compiler, files)


@needs_compiler
def test_models_and_live_properties_of_odd_names_give_valid_c(tmp_path):
    for k, name in enumerate(["int", "3rd", "größe", "*/", "/*", "??/", "関節"]):
        body = gs.RigidBody(name, mass=1.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1))
        other = gs.RigidBody(name.upper() + "_", mass=1.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1))
        links = [gs.Joint(f"{name}1", "revolute", axis="y"), body, gs.Joint(f"{name}2", "revolute", axis="x"), other]
        model = gs.assemble(name, gs.chain("world", *links))
        solver = gs.InverseDynamics(model, live=[f"{name}.mass", f"{name.upper()}_.mass", f"{name}1.axis"])
        checked(COMPILERS[0], solver.export_c(tmp_path / str(k)))


RESERVED = [
    "sin",
    "fabs",
    "NAN",
    "isnan",
    "main",
    "double",
    "printf",
    "math",
    "stdio",
    "y0",
    "worst",
    "k",
    "j",
    "t",
    "t5",
]
RESERVED += [
    "in_q",
    "want_tau",
    "class",
    "new",
    "q",
    "tau",
    "INFINITY",
    "signbit",
    "FP_NAN",
    "errno",
    "stdout",
    "fmaxl",
]


@needs_compiler
@pytest.mark.parametrize("name", RESERVED)
def test_names_of_the_language_and_its_library_are_avoided(name, tmp_path):
    program = record(lambda q, v: {"tau": np.sin(q) * np.sqrt(v * v + 1.0) + abs(q)}, {"q": (2,), "v": (2,)})
    checked(COMPILERS[0], export_c(program, tmp_path, name, {}, vectors_of(program, [(np.ones(2), np.ones(2))])))


@needs_compiler
def test_inputs_and_outputs_of_any_name_give_valid_c(tmp_path):
    names = [n for n in RESERVED if n not in ("q", "tau")]
    program = record(lambda **x: {f"{n}.out": 2.0 * x[n] for n in names} | {"k": x["k"]}, dict.fromkeys(names, (1,)))
    checked(COMPILERS[0], export_c(program, tmp_path, "names", {}, vectors_of(program, [(np.ones(1),) * len(names)])))


def test_the_name_of_the_function_can_be_chosen(tmp_path):
    files = gs.InverseDynamics(gs.robots.pendulum()).export_c(tmp_path / "new" / "folder", name="my torque", vectors=1)
    assert [f.name for f in files] == ["my_torque.h", "my_torque.c", "my_torque_test.c"]
    assert "void my_torque(const double q[MY_TORQUE_Q_SIZE], " in files[0].read_text()


# ---------------------------------------------------------------------------------------------- odd programs


@needs_compiler
def test_inputs_that_are_not_used_and_empty_ones_give_no_warning(tmp_path):
    program = record(
        lambda a, b, c: {"y": [a[0] * 2.0], "z": np.zeros(0), "w": [1.5, a[1]]}, {"a": (2,), "b": (3,), "c": (0,)}
    )
    vectors = vectors_of(program, [(np.ones(2), np.ones(3), np.zeros(0))])
    checked(COMPILERS[0], export_c(program, tmp_path, "odd", {}, vectors))


@needs_compiler
def test_a_robot_that_cannot_move_can_be_exported(tmp_path):
    body = gs.RigidBody("body", mass=1.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1))
    model = gs.assemble("still", gs.chain("world", gs.Joint("weld", "fixed"), body))
    checked(COMPILERS[0], gs.InverseDynamics(model).export_c(tmp_path))


@needs_compiler
def test_a_guard_gives_no_warning(tmp_path):
    program = record(lambda x: {"y": x * 2.0, "guard": [np.sqrt(x[0]), np.log(x[1])]}, {"x": (2,)})
    files = export_c(program, tmp_path, "guarded", {}, vectors_of(program, [(np.ones(2),)]))
    assert "sqrt" not in files[1].read_text()
    checked(COMPILERS[0], files)


@needs_compiler
def test_robots_on_moving_bases_can_be_exported(tmp_path):
    harmonic = gs.HarmonicMotion(
        amplitude=(0.1, 0.0, 0.2), frequency=1.5, axis=(0, 1, 0), swing=0.3, swing_frequency=0.7
    )

    def motion(t):
        return np.eye(3), np.array([0.0, 0.0, t]), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), np.zeros(6)

    for k, base in enumerate([harmonic, motion]):
        solver = gs.InverseDynamics(gs.robots.tree(3, 3, kinds=("revolute", "prismatic"), base=base))
        checked(COMPILERS[0], solver.export_c(tmp_path / str(k)))


def test_at_least_one_vector_is_needed(tmp_path):
    with pytest.raises(ShapeError, match=r"export_c: needs at least one test vector\. Hint: vectors=16"):
        gs.InverseDynamics(gs.robots.pendulum()).export_c(tmp_path, vectors=0)
