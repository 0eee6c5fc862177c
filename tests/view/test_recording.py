"""Motions in one HTML file: the quick way writes what viser's own way would."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

pytest.importorskip("viser", reason="the viewer needs viser: pip install 'gyrostat[view]'")

from gyrostat.view.scene.scene import scene
from gyrostat.view.viewer.actor import all_between, between
from gyrostat.view.viewer.force_arrows import given_forces
from gyrostat.view.viewer.recording import record_motion
from gyrostat.view.viewer.serving import start, stop
from gyrostat.view.viewer.stage import Stage


def test_places_between_samples_are_found_all_at_once():
    model = gs.robots.humanoid()
    t = np.array([0.0, 0.3, 0.31, 1.0, 2.0])
    q = gs.integrate(model, gs.neutral(model), np.random.default_rng(1).normal(size=(5, model.nv)))
    times = np.linspace(0.0, 2.1, 40)
    one_by_one = [between(model, t, q, now) for now in times]
    assert all_between(model, t, q, times) == pytest.approx(np.array(one_by_one), abs=1e-14)


def poses(messages) -> dict:
    """(time, node) -> place and rotation, as they are after the messages of that time."""
    found = {}
    for t, message in messages:
        for key in ("wxyz", "position"):
            if key in message and "Set" in message["type"]:
                found[round(t, 6), message["name"], key] = np.array(message[key])
        if "scale" in message.get("updates", {}):
            found[round(t, 6), message["name"], "scale"] = np.array(message["updates"]["scale"])
    return found


def test_the_quick_way_records_what_viser_would():
    model = gs.robots.pendulum()
    drawn = scene(model)
    q, t = np.linspace(0.0, 1.0, 7)[:, None], np.arange(7) / 10.0
    pull = np.stack([np.zeros(7), 3.0 * t, t], axis=1)
    forces = given_forces({"pull": (pull, pull)}, t, drawn.extent, None)
    recorded = []
    server = start("127.0.0.1", 8391)
    try:
        for quick in (False, True):
            stage = Stage(server, drawn, forces=forces)
            (R, p), scales = stage.placements(q, t), stage.scales(t)
            record = server.get_scene_serializer()
            if quick:
                record_motion(record, stage, R, p, 0.1, scales)
            else:
                for placed in zip(R, p, scales, strict=True):
                    stage.place(*placed)
                    record.insert_sleep(0.1)
            recorded.append((poses(record._messages), record._time))
    finally:
        stop(server)
    (slow, end), (fast, same) = recorded
    assert end == pytest.approx(same)
    late = {key for key in slow if key[0] > 0.0}
    assert len(late) >= 18
    assert late <= set(fast)
    for key in late:
        assert fast[key] == pytest.approx(slow[key], abs=1e-12)
