"""How much is measured, and how often."""

from __future__ import annotations

import os

from fastdump import _core


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


# For a look, or to see that the benchmarks work; too short to judge by.
QUICK = _is_set("FASTDUMP_BENCH_QUICK")
# What `make bench-full` sets: more files in fewer rounds. A quick run stays quick.
FULL = _is_set("FASTDUMP_BENCH_FULL") and not QUICK

MIB = 1 << 20
GIB = 1 << 30

ROUNDS = 3 if QUICK else 7 if FULL else 11

ALL_THREADS = _core.default_threads()
THREADS = sorted({1, ALL_THREADS})
# Powers of two below all threads, to see how speed grows with them.
THREAD_COUNTS = sorted({1 << i for i in range((ALL_THREADS - 1).bit_length())} | set(THREADS))

FILE_NBYTES = 64 * MIB if QUICK else GIB
# A file is this many random bytes again and again. numpy, which is slow, gets them once.
BLOCK_NBYTES = 16 * MIB
# Peers that compute on all cores get more, for it must not stay in a cache.
PEER_NBYTES = (32 if QUICK else 256) * MIB

LAYOUT_NBYTES = (32 if QUICK else 512) * MIB

N_SMALL_FILES = 5_000 if QUICK else 100_000
# Hundreds of thousands are enough to see what a row costs; `make bench-full` takes the million.
N_TINY_FILES = 10_000 if QUICK else 1_000_000 if FULL else 300_000
TINY_ROUNDS = 3
N_FILES_A_DIRECTORY = 500
N_TRIAGE_FILES = 5_000 if QUICK else 100_000
N_COMMAND_FILES = 5_000 if QUICK else 100_000
N_COMPARED_FILES = 2_000 if QUICK else 10_000

# On storage that is far away.
N_FAR_FILES = 1_000 if QUICK else 10_000
FAR_ROUNDS = 3 if QUICK else 5

N_MIXED_FILES = 24
LARGEST_MIXED_NBYTES = 64 * MIB if QUICK else 2 * GIB if FULL else GIB

COLD_NBYTES = 64 * MIB if QUICK else GIB
COLD_ROUNDS = 3 if QUICK else 5

N_BROWSED_ROWS = 100_000 if QUICK else 1_000_000

N_NAMES = 20_000 if QUICK else 100_000
CONVERT_NBYTES = 64 * MIB if QUICK else GIB
N_CONVERT_FILES = 125 if QUICK else 1_000
N_SMALL_CONVERT_FILES = 2_000 if QUICK else 20_000

MEMORY_NBYTES = (256 * MIB, GIB) if QUICK else (GIB, 8 * GIB)

IMPORT_ROUNDS = 11 if QUICK else 31


def binary_size(nbytes: int) -> str:
    """Return a number of bytes in the words of the table."""
    return f"{nbytes // GIB} GiB" if nbytes % GIB == 0 else f"{nbytes // MIB} MiB"
