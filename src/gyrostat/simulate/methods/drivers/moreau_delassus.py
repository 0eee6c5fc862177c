"""Delassus' matrix of whitened rows (:mod:`~gyrostat.simulate.methods.drivers.moreau_rows`)."""

from __future__ import annotations

from gyrostat.engine.drivers.words import doubles, fma, ptr, words
from gyrostat.simulate.kernels.environment import NV
from gyrostat.simulate.methods.drivers.moreau_memory import CONTACT_COUNT, DELASSUS, SCALAR_COUNT, STRIDE, WHITE


def put_delassus(env: words, box: words) -> int:
    """G = Y^T Y of all blocks, both triangles."""
    n, blocks, stride = env[NV], box[CONTACT_COUNT] + (box[SCALAR_COUNT] + 2) // 3, box[STRIDE]
    white, G = doubles(box[WHITE]), doubles(box[DELASSUS])
    for i in range(blocks):
        row = G + 3 * i * stride
        for j in range(i + 1):
            put_block(n, white + 4 * n * i, white + 4 * n * j, row + 3 * j, stride)
        for j in range(3 * i):
            up = G + j * stride + 3 * i
            up[0] = row[j]
            up[1] = row[stride + j]
            up[2] = row[2 * stride + j]
    return 0


def put_block(n: int, Y: ptr, Z: ptr, out: ptr, stride: int) -> int:
    """out (3, 3), rows ``stride`` apart, = Y^T Z; a fourth number of each row is written too."""
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0
    c0, c1, c2, c3 = 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        y, z = Y + 4 * k, Z + 4 * k
        p, q, r = y[0], y[1], y[2]
        a0, a1, a2, a3 = fma(p, z[0], a0), fma(p, z[1], a1), fma(p, z[2], a2), fma(p, z[3], a3)
        b0, b1, b2, b3 = fma(q, z[0], b0), fma(q, z[1], b1), fma(q, z[2], b2), fma(q, z[3], b3)
        c0, c1, c2, c3 = fma(r, z[0], c0), fma(r, z[1], c1), fma(r, z[2], c2), fma(r, z[3], c3)
    out[0] = a0
    out[1] = a1
    out[2] = a2
    out[3] = a3
    o = out + stride
    o[0] = b0
    o[1] = b1
    o[2] = b2
    o[3] = b3
    o = o + stride
    o[0] = c0
    o[1] = c1
    o[2] = c2
    o[3] = c3
    return 0
