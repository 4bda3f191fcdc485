"""Benchmarks: fastdump beside numpy and beside the limit that this machine sets.

`make bench` runs all of them and ends with one table; `FASTDUMP_BENCH_QUICK=1 make bench` takes
about two minutes; `make bench ARGS='-k float16'` runs some. `make bench-full` runs those of scans,
which have the marker ``scan``, on more and larger files; see docs/performance.md. The files that
are read lie below ``FASTDUMP_BENCH_DIR``, or where pytest has its temporary directories. No time is
ever asserted: a shared machine must not fail the suite.
"""

from __future__ import annotations

import os

# numpy is compared on one thread. BLAS reads these when numpy is imported, which is later.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[_name] = "1"
