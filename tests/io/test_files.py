"""Files: what is saved can be loaded, what cannot be loaded or saved is refused, and old files are never damaged."""

import os

import pytest

from gyrostat.errors import LoadError, SaveError, SpecError
from gyrostat.io import files
from gyrostat.io.files import load, save
from gyrostat.io.text_files import MAX_BYTES
from gyrostat.io.yaml.read import from_text
from gyrostat.spec.assemble import assemble, chain
from gyrostat.spec.displacement import DHDisplacement
from gyrostat.spec.rigid_body import RigidBody
from tests.support.yaml_examples import GOOD, within


# ------------------------------------------------------------------------------------------------ files
@pytest.fixture
def path(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(GOOD, "utf-8")
    return path


def test_a_model_is_saved_and_loaded(tmp_path):
    model = from_text(GOOD)
    for name in ("a.yaml", "b.yml", "C.YAML"):
        save(model, tmp_path / name)
        assert load(tmp_path / name) == model
        assert load(str(tmp_path / name)) == model
        assert (tmp_path / name).read_bytes() == GOOD.encode()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["C.YAML", "a.yaml", "b.yml"]


def test_names_of_the_whole_world_are_saved_as_utf8(tmp_path):
    model = assemble("关节", chain("world", DHDisplacement("größe"), RigidBody("😀", mass=1)))
    save(model, tmp_path / "a.yaml")
    assert "größe" in (tmp_path / "a.yaml").read_text("utf-8")
    assert load(tmp_path / "a.yaml") == model


def test_problems_of_a_file_carry_its_name(path):
    path.write_text(GOOD.replace("mass: 2.0", "mass: -1"), "utf-8")
    with pytest.raises(SpecError) as caught:
        load(path)
    assert caught.value.problems[0].where == f"{path}:12"


def test_the_base_can_be_chosen_while_loading(path):
    assert load(path)["context.base"] == "fixed"
    assert load(path, base="free").nv == load(path).nv + 6
    assert load(path, base="free") == load(path).replace({"context.base": "free"})
    with pytest.raises(SpecError, match="base must be 'fixed', 'free' or None, got 'floating'"):
        load(path, base="floating")
    path.write_text("{gyrostat: 1, name: m, entities: [{reference_frame: w}]}", "utf-8")
    with pytest.raises(SpecError, match="is free, but nothing in the model has mass"):
        load(path, base="free")


def test_files_with_a_byte_order_mark_and_windows_line_ends_are_read(path):
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(path) == from_text(GOOD)
    path.write_bytes(GOOD.replace("mass: 2.0", "mass: -1").replace("\n", "\r\n").encode())
    with pytest.raises(SpecError, match=r"arm.yaml:12"):
        load(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "there is nothing in it"),
        (b"a: 1\nb: \xff",
        "arm.yaml:2): is not UTF-8 text: byte 0xff at position 8. Hint: save it with the encoding UTF-8"),
        (GOOD.encode("utf-16"), "arm.yaml:1): is not UTF-8 text: byte 0xff at position 0"),
        ("a: ä".encode("latin-1"), "is not UTF-8 text: byte 0xe4"),
        (b"\xed\xa0\x80", "is not UTF-8 text"),
        (b"a: \x00", "has the character"),
        (b"\x80" * 1000, "is not UTF-8 text"),
    ],
    ids=["empty", "a stray byte", "UTF-16", "Latin-1", "a surrogate", "NUL", "garbage"],
)  # fmt: skip
def test_files_that_are_not_text_are_refused(path, data, message):
    path.write_bytes(data)
    with pytest.raises(LoadError) as caught:
        load(path)
    assert message in str(caught.value)


def test_a_file_of_twenty_megabytes_is_refused_unread(path, monkeypatch):
    with path.open("wb") as file:
        file.truncate(20 * 2**20)
    monkeypatch.setattr(files, "READERS", {".yaml": lambda *_: pytest.fail("was read")})
    with within(1.0), pytest.raises(LoadError, match=r"is 20.0 MiB long, expected at most 16 MiB"):
        load(path)


def test_a_file_of_sixteen_megabytes_is_read(path):
    path.write_text(GOOD + "# " + "x" * (MAX_BYTES - len(GOOD) - 2), "ascii")
    assert path.stat().st_size == MAX_BYTES
    with within(5.0):
        assert load(path) == from_text(GOOD)


def test_what_is_no_file_is_refused(tmp_path, path):
    with pytest.raises(
        LoadError, match=r"amr.yaml': cannot be read: No such file or directory. Hint: did you mean 'arm.yaml'\?"
    ):
        load(tmp_path / "amr.yaml")
    with pytest.raises(LoadError, match="there is no folder"):
        load(tmp_path / "nowhere" / "arm.yaml")
    with pytest.raises(LoadError, match=r"is a folder. Hint: use a file with one of .yaml, .yml"):
        load(tmp_path)
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(LoadError, match=r"cannot be read: Is a directory. Hint: give a file in this folder"):
        load(tmp_path / "dir.yaml")
    with pytest.raises(
        LoadError, match=r"files of the kind '.txt' cannot be read. Hint: use a file with one of .yaml, .yml"
    ):
        load(tmp_path / "arm.txt")
    with pytest.raises(LoadError, match="is not a path"):
        load(5)
    with pytest.raises(LoadError, match="cannot be read: embedded null byte"):
        load("a\0b.yaml")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with within(5.0), pytest.raises(LoadError, match="is not a regular file"):
        load(tmp_path / "pipe.yaml")


def test_a_model_that_cannot_be_saved_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()
    with pytest.raises(SpecError, match="cannot be reached"):
        save(assemble("bad", RigidBody("b", mass=1)), path)
    with pytest.raises(SaveError, match="Python function"):
        save(assemble("field", gravity=lambda p: p), path)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(SaveError, match=r"arm.yaml': cannot be written: No space left on device"):
        save(assemble("other"), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_places_where_nothing_can_be_saved_are_refused(tmp_path):
    model = assemble("m")
    with pytest.raises(SaveError, match=r"files of the kind '.json' cannot be written"):
        save(model, tmp_path / "a.json")
    with pytest.raises(SaveError, match="cannot be written: No such file or directory"):
        save(model, tmp_path / "nowhere" / "a.yaml")
    with pytest.raises(SaveError, match="cannot be written: embedded null byte"):
        save(model, "a\0b.yaml")
    with pytest.raises(SaveError, match="is not a path"):
        save(model, None)
    (tmp_path / "dir.yaml").mkdir()
    with pytest.raises(SaveError, match="cannot be written"):
        save(model, tmp_path / "dir.yaml")
    assert list(tmp_path.iterdir()) == [tmp_path / "dir.yaml"]


@pytest.mark.skipif(os.name == "nt", reason="needs permissions and links")
def test_saving_keeps_permissions_and_links(path):
    path.chmod(0o640)
    link = path.with_name("link.yaml")
    link.symlink_to(path)
    save(assemble("new"), link)
    assert link.is_symlink()
    assert load(path).name == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    fresh = path.with_name("fresh.yaml")
    save(assemble("new"), fresh)
    reference = path.with_name("reference")
    reference.touch()
    assert fresh.stat().st_mode == reference.stat().st_mode, "as any new file"
