"""How much memory the rows of a scan take beside the table that they become."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scan_apart import RunPython

from fastdump.testing import dump_header

SCAN = """
import sys
import fastdump

def most_nbytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

directory, one_file = sys.argv[1:]
fastdump.stats(one_file, engine="read", threads=2)  # imports, and the buffers of threads
before = most_nbytes()
table = fastdump.stats(directory, engine="read", threads=2)
nbytes = sum(table.batch.column(name).nbytes for name in table.columns)
print(len(table), (most_nbytes() - before) / nbytes)
"""


@pytest.mark.measures_memory
@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux tells of a process")
def test_rows_are_not_in_memory_twice(tmp_path: Path, run_python: RunPython) -> None:
    """Rows lie in the blocks of the threads that found them, then in the table: both were there at
    once, some 1.9 times the table."""
    n_files, n_tensors = 3000, 50
    tensor = np.ones(8, np.float16)
    content = dump_header(outputs=[tensor] * n_tensors, op_name="model/layers.0/mlp/experts/Op")
    content += tensor.tobytes() * n_tensors
    for i in range(n_files):
        (tmp_path / f"Add.op{i}.{i}.0.{1_700_000_000_000_000 + i}").write_bytes(content)
    a_file = tmp_path / f"Add.op0.0.0.{1_700_000_000_000_000}"
    n_rows, times_table = run_python(SCAN, tmp_path, a_file).split()
    assert int(n_rows) == n_files * n_tensors
    assert float(times_table) < 1.5
