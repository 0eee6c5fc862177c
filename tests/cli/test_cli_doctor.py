"""``gyrostat doctor``: everything a report needs, nothing that names people, and a verdict that can be bad."""

import json
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from gyrostat.cli import doctor, self_test
from gyrostat.store.provenance import commit
from tests.support.command_line import Terminal

CHECKOUT = Path(__file__).parents[2]
OF_DEVELOPERS = {"dev", "docs", "lint", "oracles", "release", "test"}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path / "cache"))
    return Terminal(capsys)


def test_a_report_has_versions_processor_extras_cache_and_a_verdict(run, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = run("doctor", "--json")
    told = json.loads(answer.out)
    assert answer.code == 0 and answer.err == "" and told["sound"] and str(tmp_path) not in answer.out
    assert told["packages"]["numpy"] and told["gyrostat"]["version"] and told["python"]["version"]
    assert told["processor"]["kind"] and told["processor"]["features"] and told["processor"]["cores"] > 0
    assert told["cache"]["folder"] == "~/cache" and told["settings"]["GYROSTAT_CACHE"] == "~/cache"
    assert [test["what"] for test in told["self_test"]] == list(self_test.TESTS)
    text = run("doctor").out
    assert told["processor"]["kind"] in text and "writable, and what is written is found again" in text
    assert not list((tmp_path / "cache").glob("d0c*"))


def test_every_extra_for_users_is_told_with_what_it_gives_and_what_it_lacks(run, monkeypatch):
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(doctor.GIVES) == set(extras) - OF_DEVELOPERS
    lines = [f"{line} ; extra == '{name}'" for name, lines in extras.items() for line in lines]
    there = {"mujoco": "2.9", "scipy": "1.17"}

    def version(name):
        if name not in there:
            raise PackageNotFoundError(name)
        return there[name]

    monkeypatch.setattr(doctor, "requires", lambda name: ["numpy", *lines])
    monkeypatch.setattr(doctor, "version", version)
    told = json.loads(run("doctor", "--json").out)
    assert told["packages"] == {"numpy": None}
    assert told["extras"]["mjcf"]["missing"] == ["mujoco>=3.3.7"]
    assert told["extras"]["cluster"]["missing"] == ["distributed"]
    assert told["extras"]["simulate"] == {
        "gives": doctor.GIVES["simulate"],
        "packages": {"scipy": "1.17", "scikit-sundae": None},
        "missing": ["scikit-sundae"],
    }
    assert "missing distributed" in run("doctor").out


def test_an_installation_that_computes_wrongly_or_keeps_nothing_is_told(run, monkeypatch, tmp_path):
    monkeypatch.setattr(self_test, "WITHIN", 0.0)
    answer = run("doctor")
    assert answer.code == 1 and "FAILED  a kernel is compiled: ArithmeticError: numbers differ by" in answer.out
    monkeypatch.undo()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path / "file"))
    answer = run("doctor")
    assert answer.code == 1 and "FAILED  cache: OSError: nothing is kept" in answer.out
    monkeypatch.setenv("GYROSTAT_CACHE", "off")
    monkeypatch.setattr(doctor, "COMPILERS", ())
    answer = run("doctor")
    assert answer.code == 0 and "GYROSTAT_CACHE says" in answer.out and "no C compiler" in answer.out


def test_the_commit_is_that_of_the_checkout_the_files_belong_to(tmp_path):
    def git(*words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *words], cwd=tmp_path, check=True)

    inside = tmp_path / "env" / "gyrostat"
    inside.mkdir(parents=True)
    (inside / "__init__.py").write_text("")
    assert commit(inside) is None
    git("init", "-q")
    (tmp_path / "mine").write_text("1")
    git("add", "mine")
    git("commit", "-q", "-m", "one")
    assert commit(inside) is None  # the checkout is that of another project
    git("add", ".")
    git("commit", "-q", "-m", "two")
    assert len(commit(inside)) == 40
    (inside / "__init__.py").write_text("changed")
    assert commit(inside).endswith(" with changes")
