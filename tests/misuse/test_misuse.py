"""What a newcomer does wrong, or may reasonably expect: told in a sentence, never passed over."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.llvm.object_cache import ObjectCache
from gyrostat.spec.values import Axis, Number


def hinge(name: str) -> gs.Joint:
    return gs.Joint(name, "revolute", axis="x")


def block(name: str) -> gs.RigidBody:
    return gs.RigidBody(name, mass=1, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))


ARM = gs.assemble("arm", gs.chain("world", hinge("j"), block("p"), hinge("k"), block("z")))


def legged() -> gs.Model:
    shin = gs.RigidBody("shin", mass=1, com=(0, 0, -0.2), inertia=(1, 1, 1), frames={"sole": (0, 0, -0.4)})
    exposes = {"top": "hip.a", "foot": "shin.sole"}
    leg = gs.assembly("leg", gs.chain("hip.b", shin), hinge("hip"), exposes=exposes)
    return gs.assemble("legged", leg, gs.connect("world", "leg.top"))


def test_connected_shafts_turn_together():
    parts = gs.chain("world", hinge("j"), block("p"), hinge("k"), block("z")), gs.connect("j.shaft", "k.shaft")
    model = gs.assemble("coupled", *parts)
    free = gs.assemble("free", parts[0])
    assert model.dofs == ("j",)
    assert gs.rnea(model, [0.3], [0.2], [0.1]) == pytest.approx([gs.rnea(free, [0.3] * 2, [0.2] * 2, [0.1] * 2).sum()])


def test_components_of_ones_own_are_checked_by_the_kinds_of_their_properties(monkeypatch):
    monkeypatch.setattr(gs.Entity, "registry", dict(gs.Entity.registry))

    class Spinner(gs.Entity):
        mass: Number
        axis: Axis

    def model(mass: float, axis: object) -> gs.Model:
        parts = gs.chain("world", hinge("j"), block("p")), Spinner("s", mass=mass, axis=axis), gs.connect("p", "s")
        return gs.assemble("m", *parts)

    with pytest.raises(gs.SpecError) as caught:
        gs.check(model(np.nan, (0, 0, 2)))
    assert [p.rule for p in caught.value.problems] == ["finite", "unit-axis"]
    net = gs.network(model(1.0, (0, 0, 1 + 5e-7)))
    assert next(c for c in net.components if c.name == "s")["axis"] == pytest.approx([0, 0, 1], abs=1e-15)
    assert "s.axis scaled to unit length" in net.explain()


@pytest.mark.parametrize("name", ["local", "aligned", "world"])
def test_words_for_axes_cannot_be_names_of_bodies(name):
    model = gs.assemble("x", gs.ReferenceFrame("ground"), gs.chain("ground", hinge("j"), block(name)))
    with pytest.raises(gs.SpecError, match=f"the name '{name}' is reserved"):
        gs.check(model)


def test_exposed_ports_of_an_assembly_can_be_named_everywhere():
    model = legged()
    assert gs.fk(model, [0.0])["leg.foot"].p == pytest.approx([0, 0, -0.4])
    pushed = gs.rnea(model, [0.0], [0.0], [0.0], {"leg.foot": [0, 0, 0, 0, 1, 0]})
    assert pushed == pytest.approx(gs.rnea(model, [0.0], [0.0], [0.0], {"leg.shin.sole": [0, 0, 0, 0, 1, 0]}))
    assert gs.InverseDynamics(model).port_forces([0.0], [0.0], [0.0])["leg.top"][5] == pytest.approx(9.81)


def test_port_forces_take_short_names_and_suggest_near_ones():
    forces = gs.InverseDynamics(ARM).port_forces([0, 0], [0, 0], [0, 0], ports=["p.origin"])
    assert forces["p"] is forces["p.origin"]
    with pytest.raises(gs.FrameError, match=r"port 'z\.origin' was not asked for"):
        forces["z"]
    with pytest.raises(gs.FrameError, match="there is no frame or port 'zz'"):
        forces["zz"]


def test_motions_are_a_mapping():
    motions = gs.fk(ARM, [0, 0])
    assert "z" in motions
    assert "nothing" not in motions
    assert motions.get("nothing") is None
    assert motions.get("z").name == "z.origin"


def test_replace_tells_all_mistakes_at_once():
    with pytest.raises(gs.SpecError) as caught:
        ARM.replace({"p.mass": "x", "p.com": 3, "q.kind": "foo"})
    assert len(caught.value.problems) == 3


def test_a_body_fixed_at_the_centre_of_attraction_is_told():
    model = gs.assemble(
        "x", gs.chain("world", hinge("j"), gs.RigidBody("p", mass=1, inertia=(1, 1, 1))), gravity={"mu": 1.0}
    )
    with pytest.raises(gs.NonFiniteError, match="fixed at the centre of attraction"):
        gs.rnea(model, [0], [0], [0])


def solver() -> gs.InverseDynamics:
    return gs.InverseDynamics(ARM, live=["context.gravity"])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: gs.check("arm"), gs.SpecError, "expected a Model, got str"),
        (lambda: gs.connectivity(3), gs.SpecError, "expected a Model, got int"),
        (lambda: gs.rnea(3, [0], [0], [0]), gs.SpecError, "expected a Model, got int"),
        (lambda: solver().refresh({}), gs.SpecError, "expected a Model, got dict"),
        (lambda: solver().refresh(legged()), gs.SpecError, "the model is made of other parts. Hint: build a new"),
        (
            lambda: solver().refresh(ARM.replace({"context.gravity": {"g": (0, 0, -1), "treat_as": "field"}})),
            gs.SpecError,
            "'context.gravity' differs in its kind",
        ),
        (lambda: ARM[3], gs.SpecError, "a path must be a string, got 3"),
        (lambda: ARM.replace([1]), gs.SpecError, "changes must map paths to values, got list"),
        (lambda: gs.InverseDynamics(ARM, live=[3]), gs.SpecError, "a path must be a string, got 3"),
        (lambda: solver().jacobian("tau", None), gs.ShapeError, "named by strings such as 'tau' and 'q', got None"),
        (lambda: solver().jacobian("tau", ["q"]), gs.ShapeError, "named by strings"),
        (lambda: solver().directional("tau", []), gs.ShapeError, "name at least one input"),
        (
            lambda: solver().directional("tau", ["q", "v"])([0, 0], [0, 0], [0, 0]),
            gs.ShapeError,
            r"got 3 arguments, expected 5: the state, then 2 direction\(s\)",
        ),
        (lambda: gs.network(ARM, off="merge-bodes"), gs.SpecError, "there is no rule 'merge-bodes'"),
        (
            lambda: gs.rnea(ARM, [0, 0], [0, 0], [0, 0], representation=["body"]),
            gs.ShapeError,
            "representation must be",
        ),
    ],
)
def test_mistakes_are_sentences(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owners here")
def test_an_object_file_that_others_could_have_written_is_not_loaded(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("GYROSTAT_CACHE", str(tmp_path))
    kept = ObjectCache()
    kept.put("key", b"code")
    assert kept.get("key") == b"code"
    (tmp_path / "key.o").chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IWOTH)
    assert kept.get("key") is None
    assert "others could write" in kept.note


def test_the_cache_folder_may_begin_with_a_tilde(tmp_path, monkeypatch):
    from gyrostat.engine.llvm.object_cache import folder

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GYROSTAT_CACHE", "~/objects")
    assert folder() == tmp_path / "objects"
