"""Text that means harm, and any text at all: an exception of ours, with the line, and soon."""

import random
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrostat.errors import GyrostatError, LoadError, SpecError
from gyrostat.io.files import load
from gyrostat.io.text_files import MAX_BYTES
from gyrostat.io.yaml import parse as yaml_parse
from gyrostat.io.yaml.emit import emit
from gyrostat.io.yaml.parse import MAX_DEPTH, MAX_VALUES, read
from gyrostat.io.yaml.read import from_text
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.check import problems
from gyrostat.spec.entity import Entity
from tests.support.examples import few
from tests.support.yaml_examples import GOOD, refused, within

# ------------------------------------------------------------------------------------------------ text that means harm
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}, *a{k - 1}]\n" for k in range(1, 40))
HOSTILE = {
    "a tag that would run a program": ("name: !!python/object/apply:os.system ['echo harm']", 1, "yaml-tag",
    "the tag 'tag:yaml.org,2002:python/object/apply:os.system' is not allowed"),
    "a tag on a mapping": ("a: 1\nb: !!map {}", 2, "yaml-tag", "the tag 'tag:yaml.org,2002:map' is not allowed"),
    "a tag on a key": ("!!str a: 1", 1, "yaml-tag", "the tag 'tag:yaml.org,2002:str' is not allowed"),
    "a tag of one's own": ("a: !robot x", 1, "yaml-tag", "the tag '!robot' is not allowed"),
    "a tag without a name": ("a: ! x", 1, "yaml-tag", "the tag '!' is not allowed"),
    "a tag with a prefix": ("%TAG !e! tag:example.com,2000:\n---\na: !e!x 1", 3, "yaml-tag",
    "the tag 'tag:example.com,2000:x' is not allowed"),
    "binary data": ("a: !!binary aGk=", 1, "yaml-tag", "2002:binary' is not allowed"),
    "a billion laughs": (LAUGHS, 1, "yaml-anchor", "the anchor '&a0' is not allowed"),
    "an anchor that nobody uses": ("a: 1\nb: &x 2", 2, "yaml-anchor", "the anchor '&x' is not allowed"),
    "an alias that leads nowhere": ("a: *x", 1, "yaml-anchor", "the alias '*x' is not allowed"),
    "a list that holds itself": ("&a [*a]", 1, "yaml-anchor", "the anchor '&a' is not allowed"),
    "a merge key": ("a:\n  <<: {b: 1}", 2, "yaml-key", "the merge key '<<' is not allowed"),
    "two documents": ("a: 1\n---\nb: 2", 2, "yaml-documents", "a second document begins"),
    "many documents": ("---\n" * 10**5, 2, "yaml-documents", "a second document begins"),
    "a key that is a number": ("a: 1\n2: b", 2, "yaml-key", "the key '2' is not a text. Hint: put it in quotes"),
    "a key that is nothing": ("{a: 1,\n ? : b}", 2, "yaml-key", "the key nothing is not a text"),
    "a key that is null": ("~: b", 1, "yaml-key", "the key '~' is not a text"),
    "a key that is true": ("true: b", 1, "yaml-key", "the key 'true' is not a text"),
    "a key that is a list": ("? [a]\n: b", 1, "yaml-key", "a list or mapping is used as a key"),
    "a key that is a mapping": ("{{a: b}: c}", 1, "yaml-key", "a list or mapping is used as a key"),
    "a key that is there twice": ("a: 1\nb: 2\na: 3", 3, "yaml-key",
    "the key 'a' is here for the second time, first in line 1"),
    "a key twice deep inside": ("a: [{b: {c: 1,\n c: 2}}]", 2, "yaml-key",
    "the key 'c' is here for the second time, first in line 1"),
    "a million brackets": ("[" * 10**6, 1, "yaml-depth", "lists and mappings are nested more than 32 deep"),
    "a million closed brackets": ("[" * 10**6 + "]" * 10**6, 1, "yaml-depth", "nested more than 32 deep"),
    "a million braces": ("{a: " * 10**6, 1, "yaml-depth", "nested more than 32 deep"),
    "a million dashes": ("- " * 10**6, 1, "yaml-depth", "nested more than 32 deep"),
    "a thousand nested blocks": ("".join(" " * k + "-\n" for k in range(1000)), 33, "yaml-depth",
    "nested more than 32 deep"),
    "a thousand nested mappings": ("".join(" " * k + "a:\n" for k in range(1000)), 33, "yaml-depth",
    "nested more than 32 deep"),
    "a list that is one too deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), 1, "yaml-depth",
    "nested more than 32 deep"),
    "a million question marks": ("? " * 10**6, 1, "yaml-key", "used as a key"),
    "a NUL byte": ("a: 1\nb: \x00", 2, "yaml-characters", r"has the character '\x00', which YAML does not allow"),
    "a bell": ('a: "\x07"', 1, "yaml-characters", r"has the character '\x07'"),
    "an escape sequence for the terminal": ("a: \x1b[2J", 1, "yaml-characters", r"has the character '\x1b'"),
    "half a character": ("a: \ud800", 1, "yaml-characters", r"has the character '\ud800'"),
    "half a character, escaped": (r'a: "\uD800"', 1, "yaml-syntax", "invalid Unicode character escape code"),
    "an unclosed quote": ('a: 1\nb: "x', 2, "yaml-syntax", "found unexpected end of stream"),
    "an unclosed bracket": ("a: [1, 2", 1, "yaml-syntax", "did not find expected ',' or ']'"),
    "a tab for indentation": ("a:\n\tb: 1", 2, "yaml-syntax", "found character that cannot start any token"),
    "a wrong indentation": ("a:\n  b: 1\n c: 2", 3, "yaml-syntax", "did not find expected key"),
    "two values on a line": ("a: b: c", 1, "yaml-syntax", "mapping values are not allowed in this context"),
    "an unknown directive": ("%FOO bar\na: 1", 1, "yaml-syntax", "unknown directive"),
    "a YAML of the future": ("%YAML 3.0\n---\na: 1", 1, "yaml-syntax", "incompatible YAML document"),
    "nothing": ("", 1, "yaml-empty", "there is nothing in it. Hint: start with 'gyrostat: 1'"),
    "nothing but a comment": ("# gyrostat: 1\n", 1, "yaml-empty", "there is nothing in it"),
    "nothing but a document mark": ("---\n", 1, "yaml-empty", "there is nothing in it"),
    "millions of empty lines": ("\n" * 10**7, 1, "yaml-empty", "there is nothing in it"),
    "a list": ("- a\n- b", 1, "yaml-form", "a model is a mapping, got ['a', 'b']"),
    "a text": ("hello", 1, "yaml-form", "a model is a mapping, got 'hello'"),
    "a null": ("null", 1, "yaml-form", "a model is a mapping, got nothing"),
    "an unending key": ("x" * 10**7 + ": 1", 1, "yaml-syntax", "mapping values are not allowed"),
    "too many values in a list": ("a: [" + "1," * (2 * MAX_VALUES) + "]", 1, "yaml-size",
    f"has more than {MAX_VALUES} values"),
    "too many entities": ("entities:\n" + "- joint: a\n" * MAX_VALUES, None, "yaml-size",
    "values. Hint: split the model"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_refused_at_once_with_its_line(case):
    text, line, rule, message = HOSTILE[case]
    problem = refused(text)
    assert problem.rule == rule
    assert message in str(problem)
    assert line is None or problem.where == f"arm.yaml:{line}"


DIFFERENT = {"an unknown directive", "half a character, escaped"}  # the one is passed over, the other is found by us


@pytest.mark.parametrize("case", [c for c in HOSTILE if len(HOSTILE[c][0]) < 1000 and c not in DIFFERENT])
def test_without_the_c_library_hostile_text_is_refused_for_the_same_reason(case, monkeypatch):
    monkeypatch.setattr(yaml_parse, "LOADER", yaml.SafeLoader)
    text, line, rule, _ = HOSTILE[case]
    problem = refused(text)
    assert problem.rule == rule
    assert line is None or problem.where == f"arm.yaml:{line}"


def test_without_the_c_library_half_a_character_is_refused_too(monkeypatch):
    monkeypatch.setattr(yaml_parse, "LOADER", yaml.SafeLoader)
    assert refused(r'a: "\uD800"').rule == "yaml-characters"


def test_without_the_c_library_good_text_gives_the_same_tree(monkeypatch):
    tree = read(GOOD)
    monkeypatch.setattr(yaml_parse, "LOADER", yaml.SafeLoader)
    assert read(GOOD) == tree


def test_lists_may_be_as_deep_as_the_limit():
    tree = read("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert tree.plain() == eval("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert read("".join(" " * k + "a:\n" for k in range(MAX_DEPTH))).plain()["a"] is not None


def test_a_text_beyond_the_limit_is_refused_unread():
    problem = refused("#" * (MAX_BYTES + 1))
    assert (problem.rule, problem.where) == ("yaml-size", "arm.yaml")
    assert "is 16.0 MiB long, expected at most 16 MiB" in problem.message


def test_quoted_texts_are_harmless():
    data = {"<<": "!!python/object:os.system", "a": "*b", "c": "&d", "1": "---", "null": "%TAG"}
    assert read("".join(f"'{k}': '{v}'\n" for k, v in data.items())).plain() == data


@pytest.mark.parametrize(
    "number",
    ["9" * 10**6, "-" + "9" * 10**6, "1" * 10**7, "0." + "1" * 10**6, "1e" + "9" * 10**6,
    "1" + "0" * 10**6 + "e-999999", "0" * 10**6 + "x"],
    ids=lambda number: f"{number[:4]}...{number[-4:]}",
)  # fmt: skip
def test_numbers_with_a_million_digits_are_read_or_refused_at_once(number):
    with within(5.0):
        try:
            from_text(GOOD.replace("mass: 2.0", f"mass: {number}"))
        except SpecError as error:
            assert len(str(error)) < 1000
            assert [p.rule for p in error.problems] in (["finite"], ["property-type"])


def head(more=""):
    return f"gyrostat: 1\nname: x\nentities:\n  - reference_frame: world\n{more}"


def repeated(line, count):
    return "".join(line.replace("%", str(k)) for k in range(count))


FLOODS = {  # just below the limit of values
    "bodies in the air": head(repeated("  - rigid_body: b%\n    mass: 1\n", 15_000)),
    "bodies of one name": head("  - rigid_body: b\n    mass: 1\n" * 15_000),
    "bodies with three mistakes each": head(repeated("  - rigid_body: b%\n    mass: x\n    com: [1]\n    foo: 1\n",
    8_000)),
    "entities that are numbers": head("  - 1\n" * 95_000),
    "entities of unknown kind": head(repeated("  - jointt%: b%\n", 30_000)),
    "reference frames": head(repeated("  - reference_frame: w%\n", 30_000)),
    "connections of nothing": head("connections:\n" + "- [a, b]\n" * 30_000),
    "connections with names that are almost right": head(
        repeated("  - rigid_body: body%\n    mass: 1\n", 9_000) + "connections:\n" + repeated("- [bdy%, world]\n",
        9_000)
    ),
    "one connection of one port": head("connections:\n- [" + "world," * 95_000 + "]\n"),
    "one connection of all": head(
        repeated("  - rigid_body: b%\n    mass: 1\n", 15_000) + "connections:\n- [world" + repeated(", b%",
        14_999) + "]\n"
    ),
    "frames": head("  - rigid_body: b\n    mass: 1\n    frames:\n" + repeated("      f%: {}\n", 30_000)),
    "frames connected to each other": head(
        "  - rigid_body: b\n    mass: 1\n    frames:\n" + repeated("      f%: {}\n",
        15_000) + "connections:\n" + repeated("- [b.f%, world]\n", 15_000)
    ),
    "wrong frames": head("  - rigid_body: b\n    mass: 1\n    frames:\n" + repeated("      f%: {translation: 1}\n",
    15_000)),
    "unknown properties": head("  - rigid_body: b\n" + repeated("    mass%: 1\n", 30_000)),
    "unknown sections": repeated("k%: 1\n", 45_000),
    "a name of ten million letters": head(f"  - rigid_body: {'b' * 10**7}\n    mass: 1\n"),
}  # fmt: skip


@pytest.mark.by_default(5)
@pytest.mark.parametrize("case", FLOODS)
def test_a_flood_of_mistakes_is_reported_in_time(case):
    with within(5.0), pytest.raises(SpecError) as caught:
        from_text(FLOODS[case])
    assert not isinstance(caught.value, LoadError), "below the limits, so that it is looked into"
    assert len(str(caught.value)) < 10**5


def test_deep_assemblies_that_expose_much_take_no_time():
    ports, inner = range(40), "b"
    text = f"  - rigid_body: b\n    mass: 1\n    frames: {{{', '.join(f'p{k}: {{}}' for k in ports)}}}\n"
    for level in range(13):
        inside = "".join(f"    {line}\n" for line in text.splitlines())
        exposes = ", ".join(f"p{k}: {inner}.p{k}" for k in ports)
        text = f"  - assembly: a{level}\n    entities:\n{inside}    exposes: {{{exposes}}}\n"
        inner = f"a{level}"
    with within(5.0):
        assert from_text(head(text + f"connections:\n- [world, {inner}.p3]\n")).nv == 0


# ------------------------------------------------------------------------------------------------ any text at all
def survives(text):
    with within(5.0):
        try:
            model = from_text(text)
        except GyrostatError as error:
            assert str(error)
        else:
            assert problems(model) == []
            assert from_text(to_text(model)) == model


@settings(max_examples=few(300), deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_model_or_an_exception_of_ours(text):
    survives(text)


@settings(max_examples=few(300), deadline=None)
@given(st.text(st.sampled_from("ab:-?[]{},&*!|>'\"%@`#~<= \n\t0.1e"), max_size=60))
def test_any_text_of_yaml_signs_gives_an_exception_of_ours(text):
    survives(text)


@settings(max_examples=few(200), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_in_a_file_give_an_exception_of_ours(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzz.yaml"
        path.write_bytes(data)
        with within(5.0), pytest.raises(LoadError):
            try:
                load(path)
            except SpecError as error:
                raise LoadError(error.problems) from None


@settings(max_examples=few(300), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_a_good_text_with_random_damage_gives_a_model_or_an_exception_of_ours(chance: random.Random, times):
    text = GOOD
    for _ in range(times):
        at = chance.randrange(len(text))
        to = min(len(text), at + chance.choice([0, 1, 1, 3, 20, 100]))
        away = chance.randrange(len(text))
        piece = chance.choice(
            ["", "", ":", "-", "\n", " ", "[", "}", "-1", "~", '"', text[away : away + chance.choice([1, 5, 30])]]
        )
        text = text[:at] + piece + text[to:] or "x"
    survives(text)


WORDS = st.sampled_from(
    [*Entity.registry, "name", "kind", "axis", "second_axis", "pitch", "mass", "com", "inertia", "frames", "tip",
    "rotation", "euler", "axes",
     "quaternion", "matrix", "angle", "translation", "entities", "connections", "exposes", "gravity", "base", "g",
     "mu", "treat_as", "wrench",
     "a", "b", "a.a", "a.b", "a.origin", "b.tip", "world", "revolute", "planar", "universal", "xyz", "free", "self",
     "cls", "model_config", "x"]
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2),
        st.floats(),
        WORDS,
        st.sampled_from([[0, 0, 1], [0] * 6, [0, 0, 0, 1]]),
    ),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=12,
)
ENTITY_LISTS = st.lists(
    st.tuples(
        st.sampled_from([*Entity.registry]),
        st.sampled_from(["a", "b", "world"]),
        st.dictionaries(WORDS, VALUES, max_size=5),
    ).map(lambda parts: {parts[0]: parts[1]} | parts[2]),
    max_size=5,
)
CONNECTION_LISTS = st.lists(st.lists(WORDS, max_size=4), max_size=5)
SECTIONS = st.fixed_dictionaries(
    {"gyrostat": st.just(1), "name": st.just("fuzz")},
    optional={
        "context": st.one_of(st.dictionaries(st.sampled_from(["gravity", "base"]), VALUES), VALUES),
        "entities": st.one_of(ENTITY_LISTS, VALUES),
        "connections": st.one_of(CONNECTION_LISTS, VALUES),
    },
)


@settings(max_examples=few(200), deadline=None)
@given(SECTIONS)
def test_any_data_in_the_right_places_give_a_model_or_an_exception_of_ours(data):
    survives(emit(data))
