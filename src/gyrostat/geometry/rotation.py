"""Forms of a rotation: matrices from axes, angles, quaternions and Denavit-Hartenberg parameters, and quaternions from
matrices. Exponential, logarithm and products are in ``spatial.so3``."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def about_axis(u: Array, angle: object) -> Array:
    """R of a turn by ``angle`` [rad] about the unit vector u [H04 (B.1)]: u u^T + (1 - u u^T) cos + u~ sin."""
    c, s, uu = np.cos(angle), np.sin(angle), np.outer(u, u)  # type: ignore[call-overload]
    skew = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return uu + (np.eye(3) - uu) * c + skew * s


def about_coordinate(k: int, angle: object) -> Array:
    """R of a turn about coordinate axis k = 0, 1, 2: a rotation in the plane (H04 4.2.2)."""
    c, s = np.cos(angle), np.sin(angle)  # type: ignore[call-overload]
    x, y = (k + 1) % 3, (k + 2) % 3
    R = np.zeros((3, 3), dtype=np.result_type(np.asarray(c)))
    R[k, k] = 1.0
    R[x, x], R[x, y], R[y, x], R[y, y] = c, -s, s, c
    return R


def from_quaternion(q: Array) -> Array:
    """R of the quaternion x y z w. The scale of q drops out, so that R is orthonormal to rounding for any q of length
    near one."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    k = 2.0 / (x * x + y * y + z * z + w * w)
    return np.array(
        [
            [1.0 - k * (y * y + z * z), k * (x * y - z * w), k * (x * z + y * w)],
            [k * (x * y + z * w), 1.0 - k * (x * x + z * z), k * (y * z - x * w)],
            [k * (x * z - y * w), k * (y * z + x * w), 1.0 - k * (x * x + y * y)],
        ]
    )


def quaternion_of(R: Array) -> Array:
    """Unit quaternions x y z w (..., 4) of rotation matrices (..., 3, 3), w >= 0: the largest of the four squares
    divides."""
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    squares = np.stack([*(2.0 * R[..., k, k] - trace for k in range(3)), trace], axis=-1) + 1.0  # 4 x^2 ... 4 w^2
    products = np.empty((*R.shape[:-2], 4, 4))
    products[..., range(4), range(4)] = squares
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., i, j] = products[..., j, i] = R[..., i, j] + R[..., j, i]
        products[..., k, 3] = products[..., 3, k] = R[..., j, i] - R[..., i, j]
    best = np.take_along_axis(products, squares.argmax(axis=-1)[..., None, None], axis=-2)[..., 0, :]
    best = best / np.linalg.norm(best, axis=-1, keepdims=True)
    return np.where(best[..., 3:] < 0.0, -best, best)


def from_euler(angles: Array, axes: str) -> Array:
    """R of three turns; lower-case axes stay fixed, upper-case ones move along."""
    first, second, third = (about_coordinate("xyz".index(axis.lower()), angles[k]) for k, axis in enumerate(axes))
    return third @ second @ first if axes.islower() else first @ second @ third


def denavit_hartenberg(a: object, alpha: object, d: object, theta: object, convention: str) -> tuple[Array, Array]:
    """Placement of the next frame, standard Rz Tz Tx Rx or modified (Craig) Rx Tx Rz Tz."""
    Rz, Rx = about_coordinate(2, theta), about_coordinate(0, alpha)
    along_x, along_z = np.array([a, 0.0, 0.0]), np.array([0.0, 0.0, d])
    if convention == "standard":
        return Rz @ Rx, along_z + Rz @ along_x
    return Rx @ Rz, along_x + Rx @ along_z


def plane_direction(n: Array, given: Array | None, largest: int) -> Array:
    """The first direction (3,) in the plane normal to the unit vector n, exactly perpendicular to n: ``given``, or the
    coordinate axis that follows the ``largest`` component of n in the order x, y, z, x."""
    given = np.eye(3)[(largest + 1) % 3] if given is None else given
    e = given - n * (n @ given)
    return e / np.sqrt(e @ e)
