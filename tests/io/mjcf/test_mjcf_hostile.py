"""MJCF files that nobody vouches for: a sentence, nothing outside the folder is read, no crash, no hang."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.io.mjcf.load import read_mjcf
from tests.io.mjcf.test_mjcf_features import EXAMPLES

mujoco = pytest.importorskip("mujoco", reason="MJCF files are read through MuJoCo, extra 'oracles'")

VALUES = (
    "", "0", "-1", "1e400", "nan", "inf", "-inf", "1,5", "1e12", "1e-320", "0 0 0", "0 0 0 0", "1 2", "1 2 3 4 5 6 7",
    "true", "false", "auto", "9999999999999999999", "-9999999999", "2147483648", "b", "j", "x" * 300,
    "../../etc/passwd", "/etc/passwd", "hinge", "ball", "free", "slide", "mesh", "box", "hfield", "plane", "sdf", "é",
    "\x7f", "0x10", "1e-16", "1e11",
)  # fmt: skip
TAGS = (
    "<body/>", "<joint/>", "<freejoint/>", "<geom/>", "<inertial/>", '<geom size="1"/>', '<joint type="ball"/>',
    "<site/>", '<include file="m.xml"/>', '<replicate count="1000000000"><body/></replicate>',
    '<replicate count="-3" euler="0 0 1"><site/></replicate>', '<composite type="cable" count="9 1 1"/>',
    '<flexcomp type="grid" count="999 999 999" name="f"/>', '<attach model="x"/>', "<frame/>",
    '<frame name="f" childclass="zz"/>', '<plugin plugin="mujoco.pid"/>', "<zzz/>", '<camera name="c" mode="fixed"/>',
    "<worldbody/>", "<mujoco/>", '<default class="q"/>', '<mesh name="s" builtin="sphere" params="30"/>',
    '<body name="world"/>', '<actuator><muscle joint="j"/></actuator>',
    '<equality><joint joint1="j" joint2="j"/></equality>',
    '<tendon><fixed><joint joint="zz" coef="1"/></fixed></tendon>', '<equality><weld body1="b"/></equality>',
    '<equality><connect body1="b" anchor="0 0 1"/></equality>', '<equality><joint joint1="j"/></equality>',
    '<equality><joint joint1="j" joint2="k" polycoef="0 1 2 3 1e11"/></equality>',
    '<equality><weld body1="b" relpose="1e11 0 0 1 0 0 0" torquescale="0"/></equality>',
    '<size memory="900G" nstack="99999999999"/>',
    '<deformable><flex name="x" body="b" vertex="0 0 0" element="0 1" dim="1"/></deformable>',
)  # fmt: skip
WORDS = (
    "axis", "mass", "pos", "type", "joint", "body", "geom", "size", "mesh", "class", "name", "ref", "fullinertia",
    "zzz",
)  # fmt: skip


def mutated(text: str, rng: random.Random) -> str:
    """One to four changes: bytes, values, pieces, tags, words."""
    for _ in range(rng.randint(1, 4)):
        sort = rng.choice((0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6))
        if sort == 0:
            k = rng.randrange(len(text))
            text = (
                text[:k]
                + chr(rng.choice((0, 9, 34, 38, 60, 62, rng.randrange(32, 0x2FF))))
                + text[k + rng.randrange(2) :]
            )
        elif sort in (1, 2):
            text = _swapped(text, r'="([^"]*)"', 1, rng.choice(VALUES), rng)
        elif sort == 3:
            k = rng.randrange(len(text))
            text = text[:k] + text[k + rng.randrange(150) :]
        elif sort == 4:
            text = _swapped(text, r">\s*(?=<)", 0, ">" + rng.choice(TAGS), rng)
        elif sort == 5:
            found = [m[0] for m in re.finditer(r"<[^<>]*/>", text)]
            text = _swapped(text, r"<[^<>]*/>", 0, rng.choice(found) * 2 if found and rng.random() < 0.7 else "", rng)
        else:
            text = _swapped(text, r"\b[a-z]{3,}(?=[ =>/])", 0, rng.choice(WORDS), rng)
        text = text or "<"
    return text


def _swapped(text: str, pattern: str, group: int, new: str, rng: random.Random) -> str:
    spans = [m.span(group) for m in re.finditer(pattern, text)]
    if not spans:
        return text
    begin, end = rng.choice(spans)
    return text[:begin] + new + text[end:]


def survive(number: int, seed: int) -> int:
    """Mutants load, to finite numbers, or are refused by our own exceptions, in less than 5 s; how many load."""
    rng, texts, loaded = random.Random(seed), list(EXAMPLES.values()), 0
    for k in range(number):
        text, begun = mutated(texts[k % len(texts)], rng), time.perf_counter()
        base, policy = rng.choice((None, "fixed", "free")), rng.choice(("strict", "repair", "accept"))
        try:
            model, audit = read_mjcf(text, "m.xml", base, policy)
        except gs.LoadError:
            continue
        assert time.perf_counter() - begun < 5.0, text
        assert str(audit)
        assert audit.to_json()
        if model is None:
            assert audit.errors, text
            continue
        loaded += 1
        gs.check(model)
        if k % 10 == 0 and model.nv:
            rest = np.zeros(model.nv)
            tau = gs.InverseDynamics(model, mode="interpret")(gs.neutral(model), rest, rest)
            assert np.isfinite(tau).all(), text
    return loaded


def test_mutants_load_or_are_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert 40 < survive(1000, 1) < 800
    assert list(tmp_path.iterdir()) == []  # MuJoCo writes no log either


@pytest.mark.slow
def test_many_mutants_load_or_are_refused():
    survive(10_000, 2)


def test_entity_bombs_are_refused_at_once():
    lines = [f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 30)]
    bomb = f'<!DOCTYPE mujoco [<!ENTITY a0 "x">{"".join(lines)}]>\n<mujoco model="&a29;"/>'
    outside = '<!DOCTYPE mujoco [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco model="&x;"/>'
    for text in (bomb, outside, '<mujoco model="&undefined;"/>'):
        begun = time.perf_counter()
        with pytest.raises(gs.LoadError, match=r"m\.xml:\d+.*(document type|well-formed)"):
            read_mjcf(text, "m.xml")
        assert time.perf_counter() - begun < 1.0


@pytest.mark.parametrize("depth", [150, 250, 100_000])
def test_deep_nesting_is_bounded(depth):
    inside = '<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    text = f"<mujoco><worldbody>{f'<body>{inside}' * depth}{'</body>' * depth}</worldbody></mujoco>"
    if depth < 200:
        model, _ = read_mjcf(text, "m.xml")
        assert model is not None
        assert model.nv == depth
        return
    with pytest.raises(gs.LoadError, match=r"m\.xml:\d+.*(deep|depth)"):
        read_mjcf(text, "m.xml")


def test_nested_includes_are_bounded_in_depth(tmp_path):
    wall = ("<frame>" * 150, "</frame>" * 150)
    (tmp_path / "m.xml").write_text(
        f'<mujoco><worldbody>{wall[0]}<include file="a.xml"/>{wall[1]}</worldbody></mujoco>'
    )
    (tmp_path / "a.xml").write_text(f"<x>{wall[0]}<body/>{wall[1]}</x>")
    with pytest.raises(gs.LoadError, match="nested more than 200 deep"):
        gs.load(tmp_path / "m.xml")


@pytest.mark.parametrize(
    "inside",
    [
        '<replicate count="1000000000"><body/></replicate>',
        '<replicate count="200">' * 3 + "<site/>" + "</replicate>" * 3,
        '<replicate count="abc"><body/></replicate>',
        "<replicate><body/></replicate>",
    ],
)
def test_copies_are_counted_before_they_are_made(inside):
    begun = time.perf_counter()
    model, audit = read_mjcf(f"<mujoco><worldbody>\n{inside}</worldbody></mujoco>", "m.xml")
    assert (model, audit.errors[0].rule, audit.errors[0].line) == (None, "replicate", 2)
    assert time.perf_counter() - begun < 1.0


@pytest.mark.parametrize(
    "text",
    [
        '<mujoco><size memory="900G" nuserdata="999999999" nkey="999999999"/></mujoco>',
        '<mujoco><custom><numeric name="x" size="999999999"/></custom></mujoco>',
        '<mujoco><asset><texture name="t" builtin="flat" type="2d" width="9999999" height="9999999"/></asset></mujoco>',
        '<mujoco><asset><hfield name="h" nrow="99999999" ncol="99999999" size="1 1 1 1"/></asset></mujoco>',
        '<mujoco><visual><global offwidth="999999999" offheight="999999999"/></visual></mujoco>',
        '<mujoco><sensor><user dim="999999999"/></sensor></mujoco>',
    ],
)
def test_sizes_that_nobody_needs_take_no_memory(text):
    model, audit = read_mjcf(text, "m.xml")
    assert model is not None
    assert audit.ignored


def test_a_builtin_mesh_stays_small():
    text = '<mujoco><asset>\n<mesh name="s" builtin="sphere" params="30"/></asset></mujoco>'
    (found,) = read_mjcf(text, "m.xml")[1].errors
    assert (found.rule, found.line) == ("number", 2)


@pytest.mark.parametrize("value", ["nan", "-inf", "1e400", "1e13", "0x10", "1,5", "NAN(1)", "5cm"])
def test_numbers_are_decimal_and_finite(value):
    text = EXAMPLES["hinge"].replace('pos=".1 -.2 .4"', f'pos="0 0 {value}"')
    (found, _) = read_mjcf(text, "m.xml")[1].errors
    assert (found.rule, found.line) == ("number", 4)


def test_names_with_prefixes_and_text_are_told():
    text = '<mujoco xmlns:a="urn:x"><a:b/><worldbody c:d="1" xmlns:c="urn:y"/></mujoco>'
    assert [f.rule for f in read_mjcf(text, "m.xml")[1].errors] == ["unknown-tag"] * 2
    model, audit = read_mjcf("<mujoco>stray<worldbody/>text</mujoco>", "m.xml")
    assert model is not None
    assert [f.rule for f in audit.warnings] == ["text"]


def test_many_findings_take_little_time():
    begun = time.perf_counter()
    text = "<mujoco><worldbody>\n" + "<bdy/>\n" * 19_000 + "</worldbody></mujoco>"
    audit = read_mjcf(text, "m.xml")[1]
    assert len(audit.errors) == 19_000
    assert time.perf_counter() - begun < 5.0


@pytest.mark.parametrize(("tag", "number"), [("<body/>", 3001), ("<geom/>", 20_000)])
def test_the_size_is_bounded_before_mujoco_sees_it(tag, number):
    begun = time.perf_counter()
    model, audit = read_mjcf(f"<mujoco><worldbody>{tag * number}</worldbody></mujoco>", "m.xml")
    assert (model, [f.rule for f in audit.errors]) == (None, ["size"])
    assert time.perf_counter() - begun < 2.0
