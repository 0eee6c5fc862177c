"""Machine code and its constants come to lie together, however the address space of the process looks."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from gyrostat.engine.llvm import placement

CROWDED = r"""
import ctypes, sys
import numpy as np
import gyrostat as gs
from gyrostat.engine.llvm import placement

libc = placement._system()
gs.aba(gs.robots.two_link(), [0, 0], [0, 0], [0, 0])  # loads what is needed
regions = [libc.mmap(None, 2**30, 0, placement.FLAGS, -1, 0) for _ in range(8)]
end = None
for line in open("/proc/self/maps").readlines():  # no room above them
    start, stop = (int(x, 16) for x in line.split()[0].split("-"))
    if end and start > min(regions) and 0x2000 <= start - end < 2**36:
        libc.mmap(end, start - end, 0, placement.FLAGS | 0x100000, -1, 0)
    end = stop
for k in range(60):  # but for holes of 24 kB, eight gigabytes from the next large one
    libc.munmap(max(regions) + (k + 1) * 2**20, 6 * 4096)
if sys.argv[1] == "off":
    placement.FEW = 2**60
for n in (5, 10, 20, 30):
    model = gs.robots.chain(n)
    gs.aba(model, np.zeros(n), np.zeros(n), np.zeros(n))
    tip = gs.fk(model, np.zeros((3, n)))[f"link{n}.tip"].p[0, 2]
print("done")
"""


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="crowds the address space of Linux on x86-64"
)
def test_code_is_loaded_into_a_crowded_address_space():
    found = {
        how: subprocess.run([sys.executable, "-c", CROWDED, how], capture_output=True, text=True, timeout=300)
        for how in ("on", "off")
    }
    assert found["on"].returncode == 0 and "done" in found["on"].stdout, found["on"].stderr[-500:]
    if found["off"].returncode == 0:
        pytest.skip("this system or LLVM places code well by itself")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the memory of a process of Linux")
def test_all_that_was_taken_is_given_back(monkeypatch):
    monkeypatch.setattr(placement, "FEW", 0)

    def blocks():
        return len(Path("/proc/self/maps").read_text().splitlines())

    counts = []
    for _ in range(50):
        with placement.in_one_piece(10_000):
            pass
        counts.append(blocks())
    assert counts[-1] <= counts[4] + 1


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the memory of a process of Linux")
def test_holes_are_filled_by_blocks_and_not_by_pages(monkeypatch):
    """Page by page, a first result in a large process took a second."""
    monkeypatch.setattr(placement, "FEW", 0)
    libc, page, held, asked = placement._system(), 4096, [], 0
    taken = placement._taken

    def counted(size):
        nonlocal asked
        asked += 1
        return taken(size)

    monkeypatch.setattr(placement, "_taken", counted)
    for k in range(100):  # fifty holes of 256 pages
        held.append(libc.mmap(None, 256 * page, 1 + 2 * (k % 2), placement.FLAGS & ~0x4000, -1, 0))
    for address in held[::2]:
        libc.munmap(address, 256 * page)
    try:
        with placement.in_one_piece(2**20):
            blocks = [taken(n * page) for n in (1, 7, 60)]
        assert max(blocks) - min(blocks) < 2**22
        assert asked < 3000
    finally:
        for address, n in zip(blocks, (1, 7, 60), strict=True):
            libc.munmap(address, n * page)
        for address in held[1::2]:
            libc.munmap(address, 256 * page)
