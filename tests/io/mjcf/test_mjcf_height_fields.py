"""Height fields of MJCF files: the heights that MuJoCo has, the diagonals of its cells, and what is refused."""

import struct
import zlib

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.geometry.height_field import HeightField
from gyrostat.graph.contacts import contact_candidates

mujoco = pytest.importorskip("mujoco")
E = np.random.default_rng(0).uniform(0.0, 3.0, (4, 5))
BALL = '<body name="ball" pos="0 0 2"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>'
INLINE = f'<hfield name="h" nrow="4" ncol="5" size="1 2 0.5 0.1" elevation="{" ".join(map(str, E.ravel()))}"/>'


def text(asset, geom='<geom name="t" type="hfield" hfield="h" pos="0 0 0.1" euler="0 0 30" friction="0.6"/>'):
    return f"<mujoco><asset>{asset}</asset><worldbody>{geom}{BALL}</worldbody></mujoco>"


def png(a):
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    raw = b"".join(b"\0" + bytes(row) for row in a.astype(np.uint8))
    head = struct.pack(">IIBBBBB", a.shape[1], a.shape[0], 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "h.png").write_bytes(png(80.0 * E))
    (tmp_path / "h.bin").write_bytes(struct.pack("<ii", 4, 5) + E.astype("<f4").tobytes())
    return tmp_path / "m.xml"


@pytest.mark.parametrize(
    "asset", [INLINE, '<hfield name="h" file="h.png" size="1 2 .5 .1"/>', '<hfield file="h.bin" size="1 2 .5 .1"/>']
)
def test_heights_are_those_of_mujoco(path, asset):
    path.write_text(text(asset), "utf-8")
    theirs = mujoco.MjModel.from_xml_path(str(path))
    heights = theirs.hfield_data.reshape(4, 5) * theirs.hfield_size[0, 2]  # of single precision
    model = gs.load(path)
    assert not gs.audit(path).ignored
    (shape,) = model["worldbody"].shapes
    assert np.abs(np.array(shape.heights) - heights).max() < 1e-7
    assert (shape.size, shape.translation, shape.name) == ((2.0, 4.0, 0.1), (0.0, 0.0, 0.1), "t")
    assert shape.contact.friction == 0.6
    assert [c.name for c in contact_candidates(model)] == ["ball|worldbody.t"]
    assert contact_candidates(gs.load(path, contacts=False)) == ()


@pytest.mark.parametrize("heights", [(1, 0, 0, 1), (0, 1, 1, 0)])
def test_cells_are_cut_along_the_diagonal_of_mujoco(heights):
    rows = [*heights[2:], *heights[:2]]  # a text begins at the far row
    asset = f'<hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="{" ".join(map(str, rows))}"/>'
    ours = HeightField((2.0, 2.0, 1.0), np.array(heights, float).reshape(2, 2))
    middle = ours.vertices[ours.facets[0]][[0, 2], 2].mean()  # of the diagonal
    ball = '<body pos="0 0 {}"><freejoint/><geom type="sphere" size="0.01"/></body>'
    for z in (0.5, 1.005):
        geom = '<geom type="hfield" hfield="h"/>' + ball.format(z)
        model = mujoco.MjModel.from_xml_string(text(asset, geom).replace(BALL, ""))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        assert bool(data.ncon) == (z < middle + 0.01)


@pytest.mark.parametrize("at", ["0 0", "0.1 -0.05", "-0.3 0.2"])
def test_a_ball_on_a_slide_rests_as_high_as_in_mujoco(path, at):
    x = np.linspace(-1.0, 1.0, 9)
    waves = np.cos(3.0 * x)[None, :] * np.sin(2.0 * x + 0.3)[:, None]
    asset = f'<hfield name="h" nrow="9" ncol="9" size="1 1 1 0.1" elevation="{" ".join(map(str, waves.ravel()))}"/>'
    ball = f'<body name="ball" pos="{at} 0"><joint type="slide" axis="0 0 1"/><geom size="0.2" mass="1"/></body>'
    path.write_text(text(asset, '<geom type="hfield" hfield="h"/>').replace(BALL, ball), "utf-8")
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep = 1e-3
    data = mujoco.MjData(model)
    data.qpos[0] = 1.3
    mujoco.mj_step(model, data, nstep=2000)
    with pytest.warns(gs.PerformanceWarning, match="ball|worldbody"):
        run = gs.simulate(gs.load(path), q0=np.array([1.3]), t_end=1.0, method="moreau", dt=2e-3)
    assert abs(run.v[-1, 0]) < 1e-9
    assert 0.0 <= run.q[-1, 0] - data.qpos[0] < 2e-3  # MuJoCo's contact gives way


@pytest.mark.parametrize(
    ("asset", "why"),
    [
        ('<hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/>', "only known at run time"),
        ('<hfield name="h" nrow="99999999" ncol="99999999" size="1 1 1 1" elevation="0"/>', "samples"),
        ('<hfield name="h" nrow="1" ncol="9" size="1 1 1 1" elevation="0"/>', "of 1 x 9 samples"),
        ('<hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 2"/>', "'elevation' is not 4 finite"),
        ('<hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 2 nan"/>', "'elevation' is not 4 finite"),
        ('<hfield name="h" nrow="2" ncol="2" size="1 1 1" elevation="0 1 2 3"/>', "'size' is not 4 finite"),
        ('<hfield name="h" nrow="2" ncol="2" size="1 -1 1 1" elevation="0 1 2 3"/>', "size is not above zero"),
        ('<hfield name="h" file="/etc/passwd" size="1 1 1 1"/>', "refused"),
        ('<hfield name="h" file="../../h.png" size="1 1 1 1"/>', "refused"),
        ('<hfield name="h" file="gone.png" size="1 1 1 1"/>', "is not there"),
        ('<hfield name="h" file="short.bin" size="1 1 1 1"/>', "too short"),
        ('<hfield name="h" file="long.bin" size="1 1 1 1"/>', "does not hold"),
        ('<hfield name="h" file="nan.bin" size="1 1 1 1"/>', "not finite"),
        ('<hfield name="h" file="vast.png" size="1 1 1 1"/>', "samples"),
        ('<hfield name="h" file="broken.png" size="1 1 1 1"/>', "MuJoCo refuses"),
    ],
)
def test_what_cannot_be_read_is_told(path, asset, why):
    folder = path.parent
    (folder / "short.bin").write_bytes(b"\1\0")
    (folder / "long.bin").write_bytes(struct.pack("<ii", 3, 3) + b"\0" * 8)
    (folder / "nan.bin").write_bytes(struct.pack("<ii4f", 2, 2, 0.0, 1.0, float("nan"), 0.0))
    whole = png(80.0 * E)
    (folder / "vast.png").write_bytes(whole[:16] + struct.pack(">II", 10**6, 10**6) + whole[24:])
    (folder / "broken.png").write_bytes(whole[:40])
    path.write_text(text(asset), "utf-8")
    ignored = {finding.rule: finding.what for finding in gs.audit(path).ignored}
    assert why in ignored["unused-hfield"]
    assert "height field is not in the model" in ignored["unused-geom"]
    assert "worldbody" not in gs.load(path).wiring.entities
