"""MJCF files that nobody vouches for: refused with a sentence, nothing outside the folder is read, no crash, no hang."""

from __future__ import annotations

import random
import re
import time

import numpy as np
import pytest
from test_mjcf_features import EXAMPLES

import gyrostat as gs
from gyrostat.io.mjcf import read_mjcf

mujoco = pytest.importorskip("mujoco", reason="MJCF files are read through MuJoCo, extra 'oracles'")

VALUES = (
    "", "0", "-1", "1e400", "nan", "inf", "-inf", "1,5", "1e12", "1e-320", "0 0 0", "0 0 0 0", "1 2", "1 2 3 4 5 6 7", "true",
    "false", "auto", "9999999999999999999", "-9999999999", "2147483648", "b", "j", "x" * 300, "../../etc/passwd", "/etc/passwd",
    "hinge", "ball", "free", "slide", "mesh", "box", "hfield", "plane", "sdf", "é", "\x7f", "0x10", "1e-16", "1e11",
)  # fmt: skip
TAGS = (
    "<body/>", "<joint/>", "<freejoint/>", "<geom/>", "<inertial/>", '<geom size="1"/>', '<joint type="ball"/>', "<site/>",
    '<include file="m.xml"/>', '<replicate count="1000000000"><body/></replicate>', '<replicate count="-3" euler="0 0 1"><site/></replicate>',
    '<composite type="cable" count="9 1 1"/>', '<flexcomp type="grid" count="999 999 999" name="f"/>', '<attach model="x"/>',
    "<frame/>", '<frame name="f" childclass="zz"/>', '<plugin plugin="mujoco.pid"/>', "<zzz/>", '<camera name="c" mode="fixed"/>',
    "<worldbody/>", '<mujoco/>', '<default class="q"/>', '<mesh name="s" builtin="sphere" params="30"/>', '<body name="world"/>',
    '<actuator><muscle joint="j"/></actuator>', '<equality><joint joint1="j" joint2="j"/></equality>', '<tendon><fixed><joint joint="zz" coef="1"/></fixed></tendon>',
    '<equality><weld body1="b"/></equality>', '<size memory="900G" nstack="99999999999"/>', '<deformable><flex name="x" body="b" vertex="0 0 0" element="0 1" dim="1"/></deformable>',
)  # fmt: skip
WORDS = ("axis", "mass", "pos", "type", "joint", "body", "geom", "size", "mesh", "class", "name", "ref", "fullinertia", "zzz")


def mutated(text: str, rng: random.Random) -> str:
    """One to four changes: bytes, values, pieces, tags, words."""
    for _ in range(rng.randint(1, 4)):
        sort = rng.choice((0, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6))
        if sort == 0:
            k = rng.randrange(len(text))
            text = text[:k] + chr(rng.choice((0, 9, 34, 38, 60, 62, rng.randrange(32, 0x2FF)))) + text[k + rng.randrange(2) :]
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
    """Mutants load, to finite numbers, or are refused by our own exceptions, in less than 5 s; how many gave a model."""
    rng, texts, loaded = random.Random(seed), list(EXAMPLES.values()), 0
    for k in range(number):
        text, begun = mutated(texts[k % len(texts)], rng), time.perf_counter()
        base, policy = rng.choice((None, "fixed", "free")), rng.choice(("strict", "repair", "accept"))
        try:
            model, audit = read_mjcf(text, "m.xml", base, policy)
        except gs.LoadError:
            continue
        assert time.perf_counter() - begun < 5.0, text
        str(audit), audit.to_json()
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
