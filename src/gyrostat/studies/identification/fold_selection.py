"""Which terms are worth having: chosen by blocked folds inside the measurement, never by what is held back.

The run is cut into blocks of time; each in turn is predicted from the others. A term is taken when it lowers the mean
over the joints of log(rms of the predictions); the best one first, until none gains enough. Blocks, not samples drawn
at random: neighbouring samples are alike, and would tell the answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.studies.study_data import StudyData

Array = np.ndarray
GAIN = 0.005
"""A term must lower the rms of the predictions by half a per cent on average over the joints."""


@dataclass(frozen=True, eq=False)
class Selection(StudyData):
    """``tried``: sets of terms in the order in which they were; ``ratios`` (len(tried), n): rms in the folds over that
    of the first set, by joint; ``chosen``: the last set that was taken; ``finished`` False: it was interrupted."""

    tried: tuple[tuple[str, ...], ...]
    ratios: Array
    chosen: tuple[str, ...]
    finished: bool = True

    @property
    def scores(self) -> Array:
        """Geometric mean of the ratios over the joints."""
        return np.exp(np.mean(np.log(self.ratios), axis=1))


def time_blocks(lengths: Sequence[int], count: int) -> list[slice]:
    """``count`` stretches of time or more: runs are cut in proportion to their lengths."""
    total, blocks, start = sum(lengths), [], 0
    for length in lengths:
        pieces = max(1, round(count * length / total))
        edges = start + np.linspace(0, length, pieces + 1).astype(int)
        blocks += [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
        start += length
    return blocks


def select_terms(
    A: Array,
    b: Array,
    W: Array,
    blocks: Sequence[slice],
    start: tuple[str, ...],
    candidates: tuple[str, ...],
    columns_of: Callable[[tuple[str, ...]], Array],
    prior: tuple[Array, Array],
    step: Callable[[str], None],
) -> Selection:
    """``A`` (T, n, N) with the columns of all terms; ``columns_of(terms)``: which belong to a set; ``prior`` H (N,),
    g (N,), of the whole run."""
    grams = []
    for block in blocks:
        Aw = np.einsum("ij,tjk->tik", W, A[block]).reshape(-1, A.shape[2])
        grams.append((Aw.T @ Aw, Aw.T @ (b[block] @ W.T).ravel()))
    H, g = sum(x for x, _ in grams), sum(x for _, x in grams)

    def held_out(terms: tuple[str, ...]) -> Array:
        """rms (n,) of each joint, every block predicted from the others."""
        at = columns_of(terms)
        total = np.zeros(b.shape[1])
        for block, (H_k, g_k) in zip(blocks, grams, strict=True):
            left = (H - H_k)[np.ix_(at, at)] + np.diag(prior[0][at])
            s = np.sqrt(np.diag(left))
            x = np.linalg.lstsq(left / np.outer(s, s), ((g - g_k)[at] + prior[1][at]) / s, rcond=1e-14)[0] / s
            total += np.sum((A[block][:, :, at] @ x - b[block]) ** 2, axis=0)
        return np.sqrt(total / len(b))

    chosen, first = start, held_out(start)
    first = np.where(first > 0.0, first, 1.0)
    tried, ratios, best, finished = [start], [np.ones(b.shape[1])], 0.0, True
    left = [c for c in candidates if c not in start]
    try:
        while left:
            scores = []
            for term in left:
                ratio = np.maximum(held_out((*chosen, term)) / first, 1e-12)
                tried.append((*chosen, term))
                ratios.append(ratio)
                scores.append(float(np.mean(np.log(ratio))))
                step(term)
            k = int(np.argmin(scores))
            if scores[k] > best - GAIN:
                break
            best, chosen = scores[k], (*chosen, left.pop(k))
    except KeyboardInterrupt:
        finished = False
    return Selection(tuple(tried), np.array(ratios), chosen, finished)
