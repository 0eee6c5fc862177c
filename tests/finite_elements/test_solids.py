"""Solid finite elements and the bodies made of them: patch tests, beam theory, interfaces, integrals, stress, files."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.finite_elements.damping import damping_matrix
from gyrostat.finite_elements.elasticity import Material, solid_model
from gyrostat.finite_elements.interfaces import rigid_motions
from gyrostat.finite_elements.shape_integrals import shape_integrals
from gyrostat.finite_elements.solid_mesh import solid_mesh
from tests.support.flexible_solids import SIZE, STEEL, bar, bar_mesh, face, meshio

KINDS = (("hexahedron", 1), ("hexahedron", 2), ("tetra", 1), ("tetra", 2), ("tetra10", 2))
L, B, H = SIZE
AREA = B * H


def model(kind, order, cells=(4, 1, 1)):
    return solid_model(solid_mesh(bar_mesh(kind, cells)), Material.of(STEEL), order)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_rigid_motions_strain_nothing_and_weigh_what_the_solid_weighs(kind, order):
    m = model(kind, order)
    V = rigid_motions(m, np.arange(len(m.node)), np.zeros(3))
    assert np.abs(m.K @ V).max() < 1e-9 * np.abs(m.K).max()
    values = np.linalg.eigvalsh(m.K.toarray())
    assert np.all(np.abs(values[:6]) < 1e-10 * values[-1]) and values[6] > 1e-8 * values[-1]
    mass = STEEL["density"] * L * AREA
    inertia = V.T @ (m.M @ V)
    assert np.allclose(np.diag(inertia)[:3], mass)
    assert inertia[3, 3] == pytest.approx(mass * (B**2 + H**2) / 3, rel=1e-10)
    assert inertia[5, 5] == pytest.approx(mass * (L**2 + B**2) / 3, rel=1e-10)


@pytest.mark.parametrize(("kind", "order"), KINDS)
def test_uniform_strain_is_exact(kind, order):
    """The patch test: displacements linear in position give one stress everywhere, and forces at the surface only."""
    m = model(kind, order, (3, 2, 2))
    gradient = np.array([[1e-4, 2e-5, 0], [2e-5, -3e-5, 1e-5], [0, 1e-5, 5e-5]])
    u = (m.nodes @ gradient.T).ravel()
    lam, mu = Material.of(STEEL).lame
    expected = lam * np.trace(gradient) * np.eye(3) + 2 * mu * gradient
    for values in (m.solid.element_stress(u), m.solid.nodal_stress(u)):
        assert np.allclose(values, expected, rtol=1e-9, atol=1.0)
    assert len(m.solid.nodal_stress(u)) == len(m.nodes)
    inside = np.all((m.nodes > 1e-9) & (m.nodes < np.array(SIZE) - 1e-9), axis=1)
    f = (m.K @ u).reshape(-1, 3)
    assert np.any(inside) and np.abs(f[inside]).max() < 1e-9 * np.abs(f).max()
    assert u @ (m.K @ u) == pytest.approx(np.sum(expected * gradient) * L * AREA, rel=1e-10)


@pytest.mark.parametrize(("kind", "order", "error"), [("hexahedron", 2, 0.006), ("tetra10", 2, 0.02)])
def test_a_slender_solid_vibrates_like_a_beam(kind, order, error):
    mesh = bar_mesh(kind, (12, 1, 1), (1.0, 0.03, 0.02))
    body = gs.FlexibleBody.from_mesh(mesh, STEEL | {"nu": 0.0}, {"left": "left"}, 4, order=order)
    line = np.sqrt(STEEL["E"] / STEEL["density"]) / (2 * np.pi)
    first, second = 1.875104068711961**2, 4.694091132974175**2
    beam = np.sort([k * line * h / np.sqrt(12) for h in (0.02, 0.03) for k in (first, second)])
    assert np.abs(body.frequencies / beam - 1).max() < error


def test_linear_elements_lock_and_quadratic_ones_do_not():
    f = [
        gs.FlexibleBody.from_mesh(bar_mesh(kind, (8, 1, 1)), STEEL, {"a": "left"}, 1, order=order).frequencies[0]
        for kind, order in KINDS
    ]
    assert f[1] < f[4] < f[0] < f[2] and f[2] > 2 * f[1]
    assert f[3] == pytest.approx(f[4], rel=1e-9)  # straight edges: the same elements


def test_integrals_of_a_rotated_frame_are_those_of_a_box():
    m = model("hexahedron", 1)
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    Phi = rigid_motions(m, np.arange(len(m.node)), np.zeros(3))  # rigid motions as shapes: all integrals are known
    found = shape_integrals(m, Phi, np.array([0.2, 0.0, 0.0]), R)
    mass = STEEL["density"] * L * AREA
    com = R.T @ np.array([L / 2 - 0.2, B / 2, H / 2])
    K0 = R.T @ (mass * np.diag([L**2, B**2, H**2]) / 12) @ R + mass * np.outer(com, com)
    assert found.m == pytest.approx(mass) and np.allclose(found.h, mass * com) and np.allclose(found.K0, K0)
    for axis in range(3):  # a displacement along x of the mesh
        e = R.T @ np.eye(3)[axis]
        assert np.allclose(found.C1[:, axis], mass * e)
        assert np.allclose(found.C2[:, :, axis], np.outer(found.h, e))
    total = sum(found.S[a, a] for a in range(3))
    assert np.allclose(total, Phi.T @ (m.M @ Phi), rtol=1e-12, atol=1e-12 * np.abs(total).max())


# ------------------------------------------------------------------------------------------------ bodies
def test_a_load_at_an_interface_bends_a_bar_as_beam_theory_says():
    """Static shapes of interfaces are exact for forces there, whatever the number of modes."""
    P, mesh = 100.0, bar_mesh(cells=(8, 1, 1))
    tips = []
    for modes in (0, 5):
        body = gs.FlexibleBody.from_mesh(mesh, STEEL | {"nu": 0.0}, {"a": "left", "b": "right"}, modes)
        tip = np.asarray(body.interfaces[1].displacement)
        q = np.linalg.solve(np.asarray(body.stiffness), tip[2] * P)
        tips.append(tip[2] @ q)
    I, G = B * H**3 / 12, STEEL["E"] / 2
    timoshenko = P * L**3 / (3 * STEEL["E"] * I) + P * L / (5 / 6 * G * AREA)
    assert tips[0] == pytest.approx(tips[1], rel=1e-8) and tips[0] == pytest.approx(timoshenko, rel=3e-3)


def test_average_interfaces_are_softer_than_rigid_ones_and_agree_for_slender_bars():
    mesh = bar_mesh(cells=(8, 2, 2))
    f = [
        gs.FlexibleBody.from_mesh(mesh, STEEL, {"a": "left", "b": "right"}, 4, coupling=kind).frequencies[:4]
        for kind in ("rigid", "average")
    ]
    assert np.all(f[1] < f[0]) and np.allclose(f[1], f[0], rtol=0.02)


def test_an_interface_moves_as_its_nodes_do():
    for kind in ("rigid", "average"):
        body = gs.FlexibleBody.from_mesh(
            bar_mesh(cells=(4, 1, 1)), STEEL, {"a": "left", "b": "right"}, 3, coupling=kind
        )
        q = np.random.default_rng(0).normal(size=9) * 1e-3
        u, end = body.displacement(q), body.interfaces[1]
        right = np.flatnonzero(body.nodes[:, 0] > L - 1e-9)
        x, theta = np.asarray(end.displacement) @ q, np.asarray(end.turn) @ q
        r = body.nodes[right] - np.array([L, B / 2, H / 2])
        moved = x + np.cross(theta, r)
        if kind == "rigid":
            assert np.allclose(u[right], moved, atol=1e-12)
        else:
            m = solid_model(solid_mesh(bar_mesh(cells=(4, 1, 1))), Material.of(STEEL), 2)
            weight = m.M.diagonal()[::3][right]
            assert np.allclose(weight @ u[right] / weight.sum(), weight @ moved / weight.sum(), atol=1e-12)


def test_shapes_can_be_left_out_above_a_frequency():
    body = bar(highest=30.0)
    assert 0 < len(body.stiffness) < len(bar().stiffness) and body.frequencies.max() <= 30.0
    lowest = gs.FlexibleBody.from_mesh(bar_mesh(cells=(4, 1, 1)), STEEL, {"a": "left", "b": "right"}, 3, basis="modes")
    free = gs.FlexibleBody.from_mesh(bar_mesh(cells=(4, 1, 1)), STEEL, {"a": "left"}, 3)
    assert np.allclose(lowest.frequencies, free.frequencies, rtol=1e-2)  # the far end is rigid in the first


def test_amplitudes_are_metres_of_the_largest_displacement():
    body = bar()
    for k in range(len(body.stiffness)):
        assert np.abs(body.displacement(np.eye(len(body.stiffness))[k])).max() == pytest.approx(1.0)


def test_stress_in_bending_is_that_of_beam_theory():
    """sigma = M z / I along the axis, away from the ends."""
    mesh = bar_mesh(cells=(16, 1, 2))
    body = gs.FlexibleBody.from_mesh(mesh, STEEL | {"nu": 0.0}, {"a": "left", "b": "right"}, 0)
    P = 100.0
    q = np.linalg.solve(np.asarray(body.stiffness), np.asarray(body.interfaces[1].displacement)[2] * P)
    sigma = body.stress(q, "elements")
    centre = body._recovery.model.solid.mesh.mesh.p[:, body._recovery.model.solid.mesh.mesh.t].mean(axis=1).T
    expected = -P * (L - centre[:, 0]) * (centre[:, 2] - H / 2) / (B * H**3 / 12)
    assert np.abs(sigma[:, 0, 0] - expected).max() < 0.02 * np.abs(expected).max()
    mises = body.von_mises(q, "elements")
    assert np.abs(mises - np.abs(expected)).max() < 0.05 * np.abs(expected).max()
    x, z = body.nodes[:, 0], body.nodes[:, 2] - H / 2
    inside = (x > 0.2) & (x < 0.8)  # away from the ends, which are held
    surface = -P * (L - x) * z / (B * H**3 / 12)
    assert np.abs(body.stress(q)[:, 0, 0] - surface)[inside].max() < 0.01 * np.abs(surface).max()
    assert np.abs(body.von_mises(q) - np.abs(surface))[inside].max() < 0.05 * np.abs(surface).max()


def test_damping_forms():
    body = bar(damping=None)
    K, M, n = np.asarray(body.stiffness), np.asarray(body.S)[range(3), range(3)].sum(axis=0), len(body.stiffness)
    assert np.allclose(body.damping, 0.0)
    assert np.allclose(damping_matrix({"kelvin_voigt": 1e-4}, M, K), 1e-4 * K)
    assert np.allclose(damping_matrix({"rayleigh": (2.0, 1e-5)}, M, K), 2.0 * M + 1e-5 * K)
    ratios = [0.01] * (n - 1) + [0.05]
    D = damping_matrix({"ratio": ratios}, M, K)
    assert np.allclose(np.diag(D) / np.diag(M) / (4 * np.pi * body.frequencies), ratios)
    for wrong in ({"ratio": -1}, {"ratio": [0.1, 0.2]}, {"rayleigh": 1.0}, {"viscous": 1.0}, {"ratio": "much"}, 0.01):
        with pytest.raises(gs.MeshError, match=r"damping: got .*Hint: \{'kelvin_voigt'"):
            damping_matrix(wrong, M, K)


# ------------------------------------------------------------------------------------------------ files
def gmsh_file(path):
    """A bar of two tetrahedral layers as gmsh 4.1 writes it, with physical groups on its ends."""
    mesh = bar_mesh("tetra", (4, 1, 1))
    points, tetrahedra = mesh.points, mesh.cells_dict["tetra"]
    faces = np.sort(tetrahedra[:, [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]].reshape(-1, 3), axis=1)
    ends = [faces[np.all(np.abs(points[faces, 0] - x) < 1e-9, axis=1)] for x in (0.0, 1.0)]
    cells = [("triangle", ends[0]), ("triangle", ends[1]), ("tetra", tetrahedra)]
    tags = [np.full(len(c), k + 1) for k, (_, c) in enumerate(cells)]
    names = {"flange": np.array([1, 2]), "tool": np.array([2, 2]), "metal": np.array([3, 3])}
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    meshio.Mesh(points, cells, cell_data=data, field_data=names).write(path, file_format="gmsh22", binary=False)
    return path


def test_a_file_of_gmsh_with_physical_groups(tmp_path):
    path = gmsh_file(tmp_path / "bar.msh")
    body = gs.FlexibleBody.from_mesh(path, STEEL, {"flange": "flange", "tool": "tool"}, 2)
    direct = gs.FlexibleBody.from_mesh(bar_mesh("tetra", (4, 1, 1)), STEEL, {"flange": face(0), "tool": face(1)}, 2)
    assert np.allclose(body.frequencies, direct.frequencies, rtol=1e-8)
    assert [port.name for port in body.ports] == ["flange", "tool"]
    inches = gs.FlexibleBody.from_mesh(path, STEEL, {"flange": "flange", "tool": "tool"}, 2, scale=0.0254)
    assert inches.mass == pytest.approx(body.mass * 0.0254**3)
    with pytest.raises(gs.MeshError, match=r"no group 'flanch'. Hint: .*'flange'"):
        gs.FlexibleBody.from_mesh(path, STEEL, {"a": "flanch"}, 2)


def test_matrices_give_the_body_of_the_mesh(tmp_path):
    m = model("hexahedron", 2)
    interfaces = {"left": face(0.0), "right": face(1.0)}
    mesh = gs.FlexibleBody.from_mesh(bar_mesh(cells=(4, 1, 1)), STEEL, interfaces, 2)
    plain = gs.FlexibleBody.from_matrices(m.M, m.K, m.nodes, interfaces, 2)
    M, K = (A.tocoo() for A in (m.M, m.K))
    upper = K.row <= K.col
    np.savez(
        tmp_path / "bar.npz", nodes=m.nodes, M_rows=M.row, M_columns=M.col, M_values=M.data,
        K_rows=K.row[upper], K_columns=K.col[upper], K_values=K.data[upper],
    )  # fmt: skip
    read = gs.FlexibleBody.from_npz(tmp_path / "bar.npz", interfaces, 2)
    for body in (plain, read):
        assert np.allclose(body.frequencies, mesh.frequencies, rtol=1e-8)
        assert np.allclose(np.abs(body.C1), np.abs(mesh.C1), atol=1e-7)
    with pytest.raises(gs.StateError, match="stress needs elements, it was made from matrices"):
        read.stress(np.zeros(8))
    held = m.K.tolil()
    held[0, 0] += 1e9  # a support that the export left in
    with pytest.raises(gs.MeshError, match=r"K resists a displacement along x of the whole body: 1e\+09 N/m"):
        gs.FlexibleBody.from_matrices(m.M, held, m.nodes, interfaces, 2)


def test_nodes_with_rotations_and_lumped_masses_are_a_body():
    """Beam elements in space as another program exports them: six components, masses at displacements."""
    from tests.support.fe_structures import assembled, hermite

    n, h, EI = 12, 1.0 / 12, 2.0
    K6, places = [], []
    for e in range(n):
        Ke = np.zeros((12, 12))
        bend = hermite(h, EI)[1]
        y, z = [1, 5, 7, 11], [2, 4, 8, 10]
        sign = np.array([1, -1, 1, -1])
        Ke[np.ix_(y, y)] += bend
        Ke[np.ix_(z, z)] += bend * np.outer(sign, sign)
        for i, stiff in ((0, 1e3), (3, 1.0)):
            Ke[np.ix_([i, i + 6], [i, i + 6])] += stiff / h * np.array([[1, -1], [-1, 1]])
        K6.append(Ke)
        places.append(np.arange(6 * e, 6 * e + 12))
    K = assembled(6 * (n + 1), places, K6)
    lump = np.full(n + 1, h)
    lump[[0, -1]] = h / 2
    M = np.diag((lump[:, None] * np.array([1, 1, 1, 0, 0, 0])).ravel())
    nodes = np.stack([np.arange(n + 1) * h, np.zeros(n + 1), np.zeros(n + 1)], 1)
    node, component = np.repeat(np.arange(n + 1), 6), np.tile(np.arange(6), n + 1)
    ends = {"a": [0], "b": [n]}
    with pytest.raises(gs.MeshError, match=r"1 of the static shapes of interfaces moves? no mass"):
        gs.FlexibleBody.from_matrices(M, K, nodes, ends, 4, node=node, component=component)  # torsion
    body = gs.FlexibleBody.from_matrices(M, K, nodes, ends, 4, node=node, component=component, basis="modes")
    assert body.mass == pytest.approx(1.0)
    assert body.frequencies[0] == pytest.approx(1.875104068711961**2 * np.sqrt(EI) / 2 / np.pi, rel=5e-3)
    heavy = M + np.diag(np.tile([0, 0, 0, 1e-3, 1e-3, 1e-3], n + 1))
    with pytest.raises(gs.MeshError, match=r"gives inertia to rotations of nodes \(0.001 kg m\^2\).*lumped"):
        gs.FlexibleBody.from_matrices(heavy, K, nodes, ends, 4, node=node, component=component)


BAR = bar_mesh(cells=(2, 1, 1))
ENDS = {"a": "left", "b": "right"}
MISTAKES = [
    ((BAR, {"E": 1.0}, ENDS), {}, "material must have E, nu and density"),
    ((BAR, STEEL | {"nu": 0.5}, ENDS), {}, r"nu = 0.5.*expected E > 0, -1 < nu < 0.5"),
    ((BAR, STEEL | {"E": "hard"}, ENDS), {}, "material: E must be a number, got 'hard'"),
    ((BAR, STEEL, {}), {}, "interfaces must map names to groups of nodes"),
    ((BAR, STEEL, {"a": face(7.0)}), {}, r"interface 'a' has no nodes. Hint: the mesh reaches from \[0.0, 0.0, 0.0\]"),
    ((BAR, STEEL, {"a": [0, 99]}), {}, "interface 'a': nodes from 0 to 99 of 12"),
    ((BAR, STEEL, {"a": [0, 3]}), {}, "interface 'a' has 3 nodes on one line"),
    ((BAR, STEEL, {"a": 3.5}), {}, r"interface 'a': got 3.5. Hint: a group's name"),
    ((BAR, STEEL, {"a": {"group": "left", "R": np.ones((3, 3))}}), {}, "interface 'a': R must be a rotation matrix"),
    ((BAR, STEEL, {"a": {"set": "left"}}), {}, r"interface 'a': got \['set'\]"),
    ((BAR, STEEL, {"a": "left", "b": "left"}), {}, "interface 'b' shares nodes with another one"),
    ((BAR, STEEL, ENDS), {"coupling": "soft"}, "coupling must be one of rigid, average, got 'soft'"),
    ((BAR, STEEL, ENDS), {"basis": "krylov"}, "basis must be one of craig-bampton, modes"),
    ((BAR, STEEL, ENDS), {"modes": -1}, "modes must be a number of modes, got -1"),
    ((BAR, STEEL, {"a": "left"}), {"modes": 0}, "a body without modes is rigid"),
    ((BAR, STEEL, ENDS), {"order": 3}, "order must be 1 or 2, got 3"),
    ((BAR, STEEL, ENDS), {"highest": 1e-3}, "no shape lies below 0.001 Hz, the first is at"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), MISTAKES)
def test_mistakes_are_told(arguments, options, message):
    with pytest.raises(gs.MeshError, match=message):
        gs.FlexibleBody.from_mesh(*arguments, **options)


def test_files_that_are_no_meshes_are_refused(tmp_path):
    for name, data, message in (
        ("a.exe", b"", "the format '.exe' is not read"),
        ("a.msh", b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 9999999999 1 9\n", "cannot be read"),
        ("b.msh", b"\x00\xff" * 100, "cannot be read"),
        ("a.vtk", b"", "cannot be read"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(gs.MeshError, match=message):
            gs.FlexibleBody.from_mesh(tmp_path / name, STEEL, ENDS)
    with pytest.raises(gs.MeshError, match="cannot be read, No such file"):
        gs.FlexibleBody.from_mesh(tmp_path / "none.msh", STEEL, ENDS)
    flat = meshio.Mesh(np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]), [("tetra", np.array([[0, 1, 2, 3]]))])
    with pytest.raises(gs.MeshError, match="element 0 is flat or turned inside out"):
        gs.FlexibleBody.from_mesh(flat, STEEL, ENDS)
    shell = meshio.Mesh(np.eye(3), [("triangle", np.array([[0, 1, 2]]))])
    with pytest.raises(gs.MeshError, match="mesh has triangle, expected solid cells of one kind"):
        gs.FlexibleBody.from_mesh(shell, STEEL, ENDS)


def test_npz_files_are_hostile_input(tmp_path):
    def refused(message, **arrays):
        np.savez(tmp_path / "x.npz", **arrays)
        with pytest.raises(gs.GyrostatError, match=message):
            gs.FlexibleBody.from_npz(tmp_path / "x.npz", {"a": [0]})

    one = {"nodes": np.zeros((1, 3)), "M": np.eye(3), "K": np.eye(3)}
    refused(r"has no array 'nodes'", M=np.eye(3), K=np.eye(3))
    refused(r"has arrays \['code'\] that are not known", code=np.zeros(1), **one)
    refused("allow_pickle", **one | {"M": np.array([object()], dtype=object)})
    refused(r"expected 3 whole numbers from 0 to 0", **one | {"node": np.array([0, 0, 7]), "component": np.arange(3)})
    refused("a component of a node is there twice", **one | {"node": np.zeros(3, int), "component": np.zeros(3, int)})
    entries = {"M_rows": np.array([0, -1]), "M_columns": np.array([0, 1]), "M_values": np.ones(2)}
    refused("M has indices outside of 0", nodes=one["nodes"], K=one["K"], **entries)
    (tmp_path / "y.npz").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(gs.LoadError, match="cannot be read: BadZipFile"):
        gs.FlexibleBody.from_npz(tmp_path / "y.npz", {"a": [0]})


def test_matrices_that_are_none_of_a_body_are_refused():
    model = solid_model(solid_mesh(BAR), Material.of(STEEL), 1)
    M, K, nodes = model.M.toarray(), model.K.toarray(), model.nodes
    ends = {name: np.flatnonzero(nodes[:, 0] == x) for name, x in (("a", nodes[:, 0].min()), ("b", nodes[:, 0].max()))}

    def refused(message, M, K):
        with pytest.raises(gs.GyrostatError, match=message):
            gs.FlexibleBody.from_matrices(M, K, nodes, ends, 2)

    middle = np.flatnonzero((nodes[:, 0] > nodes[:, 0].min()) & (nodes[:, 0] < nodes[:, 0].max()))
    inner = (3 * middle[:, None] + np.arange(3)).ravel()
    refused("from_matrices: M has -.* on its diagonal at coordinate .*, expected none below zero", -M, K)
    refused("from_matrices: K has -.* on its diagonal", M, -K)
    refused("from_matrices: M is zero. Hint: export the mass matrix, too", 0 * M, K)
    indefinite = M.copy()  # whole nodes, so that the axes stay alike
    indefinite[np.ix_(inner, inner)] = np.kron(2 * np.ones((len(middle),) * 2) - np.eye(len(middle)), np.eye(3))
    refused("mass matrix is not positive definite", indefinite, K)


def test_a_mesh_in_two_pieces_is_refused():
    parts = bar_mesh(cells=(4, 1, 1))
    cells = parts.cells_dict["hexahedron"]
    low = parts.points[cells][:, :, 0].min(axis=1)
    kept = cells[(low <= low.min()) | (low >= low.max())]
    ends = {"a": face(parts.points[:, 0].min()), "b": face(parts.points[:, 0].max())}
    with pytest.raises(gs.MeshError, match="moves freely while its first interface is held"):
        gs.FlexibleBody.from_mesh(meshio.Mesh(parts.points, [("hexahedron", kept)]), STEEL, ends, 2)
