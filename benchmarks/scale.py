"""How much is measured, and how often."""

from __future__ import annotations

import os

from fastdump import _core

# For a look, or to see that the benchmarks work; too short to judge by.
QUICK = os.environ.get("FASTDUMP_BENCH_QUICK", "") not in ("", "0")

MIB = 1 << 20
GIB = 1 << 30

ROUNDS = 5 if QUICK else 11
THREADS = sorted({1, _core.default_threads()})
ALL_THREADS = THREADS[-1]

FILE_NBYTES = 128 * MIB if QUICK else GIB
# A file is this many random bytes again and again. numpy, which is slow, gets them once.
BLOCK_NBYTES = 16 * MIB

LAYOUT_NBYTES = (64 if QUICK else 512) * MIB

N_SMALL_FILES = 5_000 if QUICK else 100_000
N_FILES_A_DIRECTORY = 500
N_TRIAGE_FILES = 5_000 if QUICK else 100_000

N_NAMES = 20_000 if QUICK else 100_000
CONVERT_NBYTES = 128 * MIB if QUICK else GIB
N_CONVERT_FILES = 125 if QUICK else 1_000

MEMORY_NBYTES = (256 * MIB, GIB) if QUICK else (GIB, 8 * GIB)

IMPORT_ROUNDS = 11 if QUICK else 31


def binary_size(nbytes: int) -> str:
    """Return a number of bytes in the words of the table."""
    return f"{nbytes // GIB} GiB" if nbytes % GIB == 0 else f"{nbytes // MIB} MiB"
