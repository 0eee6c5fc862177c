"""Releases: archives that come out equal, a bill of materials and a recipe that say what pyproject.toml says, a site
of many versions, and refusals of what is no release."""

import hashlib
import json
import subprocess
import tarfile
import zipfile

import pytest
import yaml

pytest.importorskip("packaging", reason="packaging comes with the extra 'release'")

from release import checks
from release.bill_of_materials import bill_of_materials
from release.checksums import checksums
from release.project import epoch, project
from release.recipe import recipe
from release.versions_of_docs import published


@pytest.mark.slow
def test_archives_are_equal_byte_by_byte_and_the_wheel_is_pure_python(tmp_path):
    pytest.importorskip("hatchling", reason="hatchling comes with the extra 'release'")
    from release.archives import built

    files = built(tmp_path, 1_700_000_000)
    assert [f.name for f in files] == [
        f"gyrostat-{project()['version']}{end}" for end in ("-py3-none-any.whl", ".tar.gz")
    ]
    with zipfile.ZipFile(files[0]) as wheel:
        assert {info.date_time for info in wheel.infolist()} == {(2023, 11, 14, 22, 13, 20)}
        assert all(name.startswith("gyrostat") for name in wheel.namelist())
    with tarfile.open(files[1]) as source:
        members = source.getmembers()
        names = {m.name.partition("/")[2] for m in members}
        assert {m.mtime for m in members} == {1_700_000_000} and {m.uname for m in members} == {""}
    assert {
        "run",
        "CHANGELOG.md",
        "CITATION.cff",
        "LICENSE",
        "release/archives.py",
        "integrations/ros2/setup.py",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".git/", "out/"))]


def test_a_difference_between_two_builds_is_refused(tmp_path, monkeypatch):
    from release import archives

    def build(root, out, made_at, *targets):
        out.mkdir(exist_ok=True)
        for target in targets:
            if target == "sdist":
                (tmp_path / "x").mkdir(exist_ok=True)
                with tarfile.open(out / "x.tar.gz", "w:gz") as archive:
                    archive.add(tmp_path / "x", "x")
            else:
                (out / "x.whl").write_text(str(root))

    monkeypatch.setattr(archives, "_build", build)
    with pytest.raises(SystemExit, match=r"x\.\S+ was made twice and differs"):
        archives.built(tmp_path, 1_700_000_000)
    assert not list(tmp_path.glob("x.*"))


def test_the_bill_of_materials_names_what_is_installed_and_is_closed():
    data = json.loads(bill_of_materials(project(), 1_700_000_000))
    assert data["bomFormat"] == "CycloneDX" and data["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    names = {component["name"] for component in data["components"]}
    wanted = {line.split(">=")[0].lower() for line in project()["dependencies"]}
    assert wanted <= names and "pytest" not in names and {"click", "pydantic-core"} & names
    references = [c["bom-ref"] for c in data["components"]] + [data["metadata"]["component"]["bom-ref"]]
    assert len(set(references)) == len(references)
    assert {d["ref"] for d in data["dependencies"]} == set(references)
    assert {ref for d in data["dependencies"] for ref in d["dependsOn"]} < set(references)
    assert all(c.get("licenses") for c in data["components"])
    assert bill_of_materials(project(), 1_700_000_000) == bill_of_materials(project(), 1_700_000_000)
    with pytest.raises(SystemExit, match="nothing-of-this-name is not installed"):
        bill_of_materials(project() | {"dependencies": ["nothing_of_this_name"]}, 0)
    with pytest.raises(SystemExit, match="needed is >=999"):
        bill_of_materials(project() | {"dependencies": ["numpy>=999"]}, 0)


def test_the_recipe_says_what_pyproject_says(tmp_path):
    (tmp_path / "gyrostat.tar.gz").write_bytes(b"source")
    data = yaml.safe_load(recipe(project(), tmp_path / "gyrostat.tar.gz"))
    assert data["package"]["version"] == project()["version"] and data["build"]["noarch"] == "python"
    assert data["source"]["sha256"] == hashlib.sha256(b"source").hexdigest()
    run = data["requirements"]["run"]
    assert run[0] == f"python {project()['requires-python']}" and len(run) == 1 + len(project()["dependencies"])
    assert "typer >=0.19" in run and "matplotlib-base" in run and "hatchling >=1.27" in data["requirements"]["host"]
    assert data["build"]["python"]["entry_points"] == ["gyrostat = gyrostat.cli:main"]


def test_checksums_are_those_that_sha256sum_checks(tmp_path):
    (tmp_path / "b").write_text("b")
    (tmp_path / "a").write_text("a")
    text = checksums(tmp_path, [tmp_path / "b", tmp_path / "a"]).read_text()
    assert text.splitlines()[0] == f"{hashlib.sha256(b'a').hexdigest()}  a" and text.count("\n") == 2


def test_a_checkout_that_is_no_release_is_told_why(monkeypatch):
    assert checks._of_files(project()["version"])[1:] == [], "CITATION.cff has another version than pyproject.toml"
    told = "\n".join(checks._of_files("9.9"))
    assert "must be like 1.2.0" in told and "CITATION.cff: the version must be 9.9" in told
    assert "no heading '## [9.9] - YYYY-MM-DD'" in told
    monkeypatch.setattr(checks, "_changelog", lambda: "## [9.9.0] - 2030-01-31\n")
    assert not [x for x in checks._of_files("9.9.0") if "CHANGELOG" in x]
    answers = {"rev-parse": "true", "status": " M file", "tag": "v1.0.0\n"}
    monkeypatch.setattr(checks, "_git", lambda *words: answers[words[0]])
    assert [x.split(".")[0] for x in checks._of_git("9.9.0")] == [
        "files differ from the commit",
        "the commit has no tag v9",
    ]
    answers |= {"status": "", "tag": "v9.9.0\n"}
    assert checks._of_git("9.9.0") == []
    monkeypatch.setattr(checks, "_git", lambda *words: None)
    assert checks._of_git("9.9.0") == ["this is no checkout of Git"]


def test_the_instant_of_archives_is_the_one_that_is_asked_for(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert epoch() == 1_700_000_000
    for wrong in ("yesterday", "-1", "0", ""):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        with pytest.raises(SystemExit, match="seconds from 1980 on"):
            epoch()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    monkeypatch.setattr(subprocess, "run", lambda *given, **named: subprocess.CompletedProcess(given, 128, "", ""))
    with pytest.raises(SystemExit, match="no checkout of Git"):
        epoch()


def test_a_site_has_every_version_and_prefers_the_newest_that_is_final(tmp_path):
    pages, site = tmp_path / "pages", tmp_path / "site"
    pages.mkdir()
    with pytest.raises(SystemExit, match="there are no pages"):
        published(pages, site, "1.0.0")
    (pages / "index.html").write_text("new")
    for version in ("0.9.0", "0.10.0", "1.0.0rc1"):
        published(pages, site, version, "/gyrostat/")
    (site / "notes").mkdir()
    rows = json.loads((site / "versions.json").read_text())
    assert [row["version"] for row in rows] == ["1.0.0rc1", "0.10.0", "0.9.0"]
    assert [row["preferred"] for row in rows] == [False, True, False]
    assert rows[1]["url"] == "/gyrostat/0.10.0/" and 'href="0.9.0/index.html"' in (site / "index.html").read_text()
    (pages / "index.html").write_text("newer")
    published(pages, site, "0.9.0", "/gyrostat/")
    assert (site / "0.9.0" / "index.html").read_text() == "newer"
    assert (site / "0.10.0" / "index.html").read_text() == "new"
    for version, base in (("../x", "/"), ("1.0.0", "gyrostat"), ("1.0.0", '/"><script>/')):
        with pytest.raises(SystemExit):
            published(pages, site, version, base)
