"""Base parameters from measurements: weighted least squares, with standard deviations that know the noise's colour.

    A_w = W A,   beta = argmin |W (A_b beta - b)|,   x -> beta = B x
    cov(beta) = G^-1 S G^-1,   G = A_w^T A_w,   S = sum_l rho(l) sum_t A_w,t^T C A_w,t+l

W: inverse of the residual's deviation (or of its Cholesky factor), iterated; C its correlation between joints, rho its
autocorrelation, tapered: filtered signals are not independent from sample to sample, and G^-1 alone would claim
deviations that are several times too small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.studies.study_data import StudyData

Array = np.ndarray
UNSEEN = 1e-8
"""Singular values of columns of unit length below this, against the largest, were not excited."""


@dataclass(frozen=True, eq=False)
class BaseEstimate(StudyData):
    """``names`` (r,) of the base parameters, ``combinations`` in words, ``values``, ``sigma`` (r,), ``covariance``
    (r, r), ``projection`` B (r, N), ``columns`` (r,) of A that stay; ``excited`` (r,) False: the motion did not tell it
    from others, its sigma is infinite; ``condition`` of the weighted columns, each of unit length."""

    names: tuple[str, ...]
    combinations: tuple[str, ...]
    values: Array
    sigma: Array
    covariance: Array
    projection: Array
    columns: Array
    excited: Array
    condition: float


def structure(A: Array, tolerance: float = 1e-8) -> tuple[Array, Array]:
    """Independent columns of A (rows, N) of a rich motion, and B (r, N): the others are expressed by them."""
    size = np.linalg.norm(A, axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    R = np.asarray(np.linalg.qr(A / scale, mode="r"))
    kept: list[int] = []
    basis = np.zeros((R.shape[0], 0))
    for k in range(R.shape[1]):
        rest = R[:, k]
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if size[k] > tolerance * max(size.max(), 1e-300) and length > tolerance:
            kept.append(k)
            basis = np.column_stack([basis, rest / length])
    columns = np.array(kept, dtype=int)
    B = np.zeros((len(kept), A.shape[1]))
    B[np.arange(len(kept)), columns] = 1.0
    others = np.setdiff1d(np.arange(A.shape[1]), columns)
    if len(kept) and len(others):
        beta = np.linalg.lstsq(R[:, columns], R[:, others], rcond=None)[0] * scale[others] / scale[columns, None]
        relative = np.abs(beta) * scale[columns, None] / scale[others]
        felt = size[others] > tolerance * max(size.max(), 1e-300)
        B[:, others] = np.where((relative > 1e-7) & felt, beta, 0.0)
    return columns, B


def base_estimate(
    A: Array, b: Array, W: Array, columns: Array, B: Array, names: tuple[str, ...], runs: tuple[slice, ...]
) -> BaseEstimate:
    """From A (T, n, N), b (T, n), weights W (n, n); ``runs``: samples of each run."""
    Aw, bw = np.einsum("ij,tjk->tik", W, A[:, :, columns]), b @ W.T
    flat = Aw.reshape(-1, len(columns))
    G = flat.T @ flat
    s = np.sqrt(np.where(np.diag(G) > 0.0, np.diag(G), 1.0))
    values, V = np.linalg.eigh(G / np.outer(s, s))
    top = max(float(values.max(initial=0.0)), 1e-300)
    seen = values > UNSEEN**2 * top * max(1.0, len(s)) + 1e-13 * top
    inverse = (V[:, seen] / values[seen]) @ V[:, seen].T / np.outer(s, s)
    x = inverse @ (flat.T @ bw.ravel())
    residual = bw - Aw @ x
    covariance = inverse @ _scatter(Aw, residual, runs) @ inverse
    blind = V[:, ~seen]
    excited = (np.abs(blind).max(axis=1, initial=0.0) < 1e-3) if blind.size else np.ones(len(x), dtype=bool)
    sigma = np.where(excited, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf)
    combinations = tuple(_combination(B[i], int(columns[i]), names) for i in range(len(columns)))
    least = float(values[seen].min(initial=top))
    chosen = tuple(names[k] for k in columns)
    return BaseEstimate(chosen, combinations, x, sigma, covariance, B, columns, excited, float(np.sqrt(top / least)))


def _scatter(Aw: Array, residual: Array, runs: tuple[slice, ...]) -> Array:
    """S: covariance of A_w^T e for noise with the residual's correlation in time and between joints."""
    rows, r = residual.size, Aw.shape[2]
    C = residual.T @ residual / len(residual)
    L = np.linalg.cholesky(C + 1e-12 * np.trace(C) / len(C) * np.eye(len(C)) + 1e-300 * np.eye(len(C)))
    white = Aw.transpose(0, 2, 1) @ L  # (T, r, n)
    S, colour = np.zeros((r, r)), 1.0
    for run in runs:
        part, e = white[run], residual[run]
        T = len(part)
        size = 1 << (2 * T - 1).bit_length()
        power = np.abs(np.fft.rfft(e, size, axis=0)) ** 2
        rho = np.fft.irfft((power / np.maximum(np.sum(e * e, axis=0), 1e-300)).mean(axis=1), size)[:T]
        reach = max(2, T // 8)
        rho = rho[:reach] * (1.0 - np.arange(reach) / reach)
        rho[0] = 1.0
        kernel = np.zeros(size)
        kernel[:reach], kernel[size - reach + 1 :] = rho, rho[:0:-1]
        spectrum = np.maximum(np.fft.rfft(kernel).real, 0.0)
        colour = max(colour, float(spectrum.max()))
        flat = part.reshape(T, -1)
        coloured = np.empty_like(flat)
        for start in range(0, flat.shape[1], 64):
            chunk = np.fft.rfft(flat[:, start : start + 64], size, axis=0) * spectrum[:, None]
            coloured[:, start : start + 64] = np.fft.irfft(chunk, size, axis=0)[:T]
        S += np.tensordot(part, coloured.reshape(part.shape), axes=([0, 2], [0, 2]))
    free = max(rows / colour, 2.0 * r)
    return S * free / (free - r)


def _combination(row: Array, own: int, names: tuple[str, ...]) -> str:
    order = [own, *(int(k) for k in np.flatnonzero(row) if k != own)]
    words = [f"{'-' if row[k] < 0.0 else '+'} {abs(row[k]):.4g} {names[k]}".replace(" 1 ", " ") for k in order]
    return " ".join(words).removeprefix("+ ")
