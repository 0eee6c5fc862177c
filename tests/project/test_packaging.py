"""Public names have one source, ``__init__.pyi``, which is installed and which type checkers understand."""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import gyrostat as gs

CHECKOUT = Path(__file__).parents[2]
PACKAGE = CHECKOUT / "src" / "gyrostat"
NEEDED = ("__init__.pyi", "py.typed")  # files that are no modules, and that an installation cannot do without


def in_a_new_process(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    text = f"import sys; sys.path.insert(0, {str(path)!r})\n{code}"
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)


def test_the_reader_of_the_stub_understands_it_as_python_does():
    imports = [
        n for n in ast.parse((PACKAGE / "__init__.pyi").read_text("utf-8")).body if isinstance(n, ast.ImportFrom)
    ]
    aliases = [(node.module, alias) for node in imports for alias in node.names]
    assert {alias.name: module for module, alias in aliases} == gs._MODULE_OF
    assert all(alias.name == alias.asname for _, alias in aliases), "write `import name as name`: else it is private"
    assert len(aliases) == len(gs._MODULE_OF), "a name stands twice"
    assert gs.__all__ == sorted(gs._MODULE_OF)


def test_no_other_file_lists_the_public_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text("utf-8"))
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    named = [set(text.split()) & set(gs.__all__) for text in texts]
    assert max(len(names) for names in named) < 5  # a few are words of sentences


def packed(folder: Path, *left_out: str) -> Path:
    """The package as a zip file that Python imports from."""
    archive = folder / "gyrostat.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for file in PACKAGE.rglob("*"):
            if file.suffix in (".py", ".pyi", ".typed") and file.name not in left_out:
                target.write(file, file.relative_to(PACKAGE.parent))
    return archive


def test_public_names_are_found_in_a_zip_file(tmp_path):
    code = "import gyrostat as gs; print(gs.__file__, len(gs.__all__), gs.Joint('j', 'revolute', axis='z').name)"
    answer = in_a_new_process(code, packed(tmp_path))
    assert answer.stdout.split() == [str(tmp_path / "gyrostat.zip/gyrostat/__init__.py"), str(len(gs.__all__)), "j"]


def test_an_installation_without_the_stub_says_what_is_missing(tmp_path):
    answer = in_a_new_process("import gyrostat", packed(tmp_path, "__init__.pyi"))
    assert "ImportError: gyrostat: '" in answer.stderr
    assert "__init__.pyi' cannot be read" in answer.stderr
    assert "Hint: packagers must keep this file" in answer.stderr


def test_the_wheel_takes_every_file_of_the_package():
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"] == {"packages": ["src/gyrostat"]}  # all of the folder that Git does not ignore
    assert set(build) == {"targets"}, "options for all targets can leave files out"
    assert all((PACKAGE / name).is_file() for name in NEEDED)


@pytest.mark.skipif(not (CHECKOUT / ".git").exists() or not shutil.which("git"), reason="no checkout")
def test_no_file_that_the_wheel_needs_is_ignored_by_git():
    files = [str(PACKAGE / name) for name in NEEDED]
    answer = subprocess.run(["git", "check-ignore", "--no-index", *files], cwd=CHECKOUT, capture_output=True, text=True)
    assert answer.stdout == ""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")
def test_a_wheel_holds_the_stub_and_its_mark(tmp_path):
    options = ["--no-deps", "--no-build-isolation", "--no-index", "-w", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", str(CHECKOUT), *options], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("gyrostat-*.whl")
    assert {f"gyrostat/{name}" for name in NEEDED} <= set(zipfile.ZipFile(wheel).namelist())


def checked(folder: Path, text: str) -> list[dict[str, str]]:
    """What basedpyright says of a file that uses gyrostat."""
    (folder / "use.py").write_text(text, "utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(PACKAGE.parent)]}), "utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    answer = subprocess.run([*command, "-p", str(folder)], capture_output=True, text=True)
    return json.loads(answer.stdout)["generalDiagnostics"]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("basedpyright") is None, reason="basedpyright is not installed")
def test_type_checkers_see_a_type_for_every_public_name_and_no_other_name(tmp_path):
    lines = ["import gyrostat as gs", *(f"reveal_type(gs.{name})" for name in gs.__all__), "gs.rneaa"]
    told = checked(tmp_path, "\n".join(lines))
    revealed = [d["message"] for d in told if d["severity"] == "information"]
    (misspelt,) = (d["message"] for d in told if d["severity"] == "error")
    types = {message.split('"')[1].removeprefix("gs."): message.split(" is ", 1)[1] for message in revealed}
    assert set(types) == set(gs.__all__)
    assert not [name for name, kind in types.items() if kind.strip('"') in ("Any", "Unknown", "object")]
    assert types["rnea"].startswith('"(model: Model, q: Any, v: Any, a: Any, ')
    assert '"rneaa" is not a known attribute' in misspelt


@pytest.fixture(scope="module")
def distributions(tmp_path_factory) -> dict[str, Path]:
    """What ``python -m build`` makes of a copy of the checkout: the sdist, and the wheel from it. No network."""
    for name in ("build", "hatchling"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'gyrostat[release]'")
    copy, out = tmp_path_factory.mktemp("checkout") / "gyrostat", tmp_path_factory.mktemp("dist")
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "out", "__pycache__", ".*_cache", ".hypothesis")
    shutil.copytree(CHECKOUT, copy, ignore=left_out)
    command = [sys.executable, "-W", "error", "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=out, env={**os.environ, "PYTHONPATH": ""})
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "warning" not in (answer.stdout + answer.stderr).lower()
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return {"wheel": wheel, "sdist": sdist}


@pytest.mark.slow
def test_sdist_and_wheel_hold_what_they_should_and_nothing_else(distributions):
    with tarfile.open(distributions["sdist"]) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "run", "PKG-INFO"}
    assert needed <= inside
    assert {"docs/conf.py", "tests/conftest.py", "src/gyrostat/__init__.pyi"} <= inside
    assert not [name for name in inside if "__pycache__" in name or name.startswith((".venv", "build/", "out/"))]
    wheel = set(zipfile.ZipFile(distributions["wheel"]).namelist())
    source = {file.removeprefix("src/") for file in inside if file.startswith("src/gyrostat/") and "." in file}
    assert {name for name in wheel if name.startswith("gyrostat/")} == source


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_what_was_built_can_be_installed_and_computes(distributions, kind, tmp_path):
    """Installed beside the checkout, with the requirements that are there; from another folder."""
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(tmp_path / "site")]
    command = [sys.executable, "-m", "pip", "install", "-q", *options, str(distributions[kind])]
    answer = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert answer.returncode == 0, answer.stderr
    code = (
        "import gyrostat as gs; from importlib.metadata import version;"
        "print(gs.__file__, version('gyrostat'), gs.rnea(gs.robots.pendulum(), [1.5707963267948966], [0.0], [0.0])[0])"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=environment, check=True
    )
    file, number, torque = told.stdout.split()
    assert Path(file).is_relative_to(tmp_path / "site")
    assert number == tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert float(torque) == pytest.approx(9.81 / 2, rel=1e-12)
    script = next((tmp_path / "site" / "bin").glob("gyrostat*"))
    shown = subprocess.run([sys.executable, script, "--version"], capture_output=True, text=True, env=environment)
    assert number in shown.stdout, shown.stderr
