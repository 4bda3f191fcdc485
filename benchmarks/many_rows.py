"""Tables of more rows than there are files to write: what joining, counting and triage take.

Rows are synthetic: operators of 8 ranks, each with an input and an output, as `stats` would give
them, one part for each rank. Each number of rows has a process of its own; a tenfold each.

    python -m benchmarks.many_rows --rows 10000000

With `--files`, parts are written to Parquet files and read from there, so that no memory is needed
beside the whole. Their rows are those of a plain tree with short names:

    python -m benchmarks.many_rows --one --rows 50000000 --files /tmp
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from arro3.core import Array, Field, RecordBatch, Schema

import fastdump
from fastdump import StatsTable, triage
from fastdump._inventory.inventory import Inventory
from fastdump._table.arrow_column import coded_column, n_parts
from fastdump._table.schema import COLUMN

_N_RANKS = 8
_N_OPERATORS = 1250
_N_STEPS_OF_FILE = 200
_FIRST_TIME = 1_700_000_000_000_000
_BAD = (3, 0, 77)
"""Rank, step and operator of the one output with NaN."""

_OP_TYPES = ("MatMulV2", "Add", "RmsNorm", "Cast", "SoftmaxV2", "Mul", "Transpose", "GatherV2")

_Result = TypeVar("_Result")


def part_of_rank(
    rank: int, n_rows: int, first_step: int = 0, *, is_plain: bool = False
) -> StatsTable:
    """Return a table of so many rows of one rank, in the order of execution.

    Parameters
    ----------
    rank, n_rows
        The rank, and the number of rows.
    first_step
        The step of the first row.
    is_plain
        Whether directories tell rank and step and nothing else.
    """
    operator = np.arange(n_rows) // 2
    step, operator = first_step + operator // _N_OPERATORS, operator % _N_OPERATORS
    is_output = np.arange(n_rows) % 2 == 1
    names = [f"model/layers.{i // 16}/op{i}" for i in range(_N_OPERATORS)]
    directory = f"rank{rank}"
    if not is_plain:
        directory = f"worldsize{_N_RANKS}_global_rank{rank}/20240101000000/{rank}/decoder/1"
    time_of = _FIRST_TIME + step * _N_OPERATORS + operator
    texts = {
        "time": (np.zeros(n_rows, np.int64), ["20240101000000"]),
        "model": (np.zeros(n_rows, np.int64), ["decoder"]),
        "op_type": (operator % len(_OP_TYPES), list(_OP_TYPES)),
        "op_name": (operator, names),
        "io": (is_output.astype(np.int64), ["input", "output"]),
        "dtype": (np.zeros(n_rows, np.int64), ["float16"]),
        "format": (np.zeros(n_rows, np.int64), ["ND"]),
        "status": (np.zeros(n_rows, np.int64), ["ok"]),
        "source": (np.zeros(n_rows, np.int64), ["tensor"]),
        "path": (
            (step - first_step) * _N_OPERATORS + operator,
            [
                f"{directory}/{s}/{_OP_TYPES[i % len(_OP_TYPES)]}.{names[i].replace('/', '_')}.{i}"
                f".2.{_FIRST_TIME + s * _N_OPERATORS + i}"
                for s in range(first_step, int(step[-1]) + 1)
                for i in range(_N_OPERATORS)
            ],
        ),
    }
    same = {"rank": rank, "stream_id": 2}
    if is_plain:
        del texts["time"], texts["model"]
    else:
        same |= {"device": rank, "model_id": 1}
    counts = {"nbytes": 512, "count": 256, "pos_inf": 0, "neg_inf": 0, "zero": 0}
    counts |= {"subnormal": 0, "saturated": 0}
    # What an operator reads, the one before it in its step has written.
    maker = np.maximum(np.where(is_output, operator, operator - 1), 0)
    content = np.random.default_rng(rank).random(_N_OPERATORS)[maker] * (1 + 1e-3 * (step % 7))
    is_bad = is_output & (operator == _BAD[2]) & (step == _BAD[1]) & (rank == _BAD[0])
    integers = {
        **{name: np.full(n_rows, value) for name, value in {**same, **counts}.items()},
        **{"step": step, "task_id": operator, "timestamp": time_of},
        **{"index": np.zeros(n_rows, np.int64), "nan": is_bad.astype(np.int64)},
        "offset": np.where(is_output, 712, 200),
    }
    reals = {"max": 1 + content, "min": -1 - content, "mean": content, "l2norm": 16 + content}
    columns = {name: coded_column(*column, "text") for name, column in texts.items()}
    columns |= {name: Array.from_numpy(values) for name, values in {**integers, **reals}.items()}
    columns["shape"] = coded_column(np.zeros(n_rows, np.int64), [(256,)], "shape")
    if not is_plain:
        columns["origin_shape"] = columns["shape"]
    schema = Schema([Field(name, column.type) for name, column in columns.items()])
    batch = RecordBatch.from_arrays(list(columns.values()), schema=schema)
    return StatsTable(batch, level="full", root="/dump", skipped={})


def _write_parts(directory: Path, n_rows: int) -> None:
    """Write so many rows of each rank, some steps a file."""
    n_of_file = 2 * _N_OPERATORS * _N_STEPS_OF_FILE
    for rank in range(_N_RANKS):
        for number, first in enumerate(range(0, n_rows, n_of_file)):
            n = min(n_of_file, n_rows - first)
            part = part_of_rank(rank, n, number * _N_STEPS_OF_FILE, is_plain=True)
            part.write(directory / f"{rank}-{number:03}.parquet")


def measure(n_rows: int, files: Path | None = None) -> None:
    """Print what each step takes for a table of so many rows, by way of files below a directory."""

    def timed(what: str, run: Callable[[], _Result]) -> _Result:
        start = time.process_time()
        result = run()
        seconds = time.process_time() - start
        peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{n_rows:>12,}  {what:<10} {seconds:>8.2f} {1e6 * seconds / n_rows:>8.2f}", end="")
        print(f" {peak / 2**20:>8,.0f} {(peak - before) / n_rows:>10,.0f}", flush=True)
        return result

    triage(part_of_rank(0, 2 * _N_OPERATORS))  # imports
    before = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if files is None:
        n_of_rank = n_rows // _N_RANKS
        parts = timed("parts", lambda: [part_of_rank(rank, n_of_rank) for rank in range(_N_RANKS)])
        table = timed("concat", lambda: fastdump.concat(parts))
        parts.clear()
    else:
        with tempfile.TemporaryDirectory(dir=files) as directory:
            timed("write", lambda: _write_parts(Path(directory), n_rows // _N_RANKS))
            table = timed("read", lambda: fastdump.read_stats(directory))
    columns = {name: table.batch.column(name) for name in table.columns}
    nbytes = sum(column.nbytes for column in columns.values())
    n_text = sum(n_parts(columns[name]) for name in columns if COLUMN[name].type == "text")
    del columns
    inventory = timed("ls", lambda: Inventory(table, all_ranks=True))
    report = timed("triage", lambda: triage(table))
    print(f"{n_rows:>12,}  the table has {nbytes / len(table):,.0f} bytes a row, ", end="")
    print(f"{n_text:,} bytes of text", flush=True)
    origins = [
        (origin.operator.rank, origin.operator.step, origin.operator.op_name)
        for finding in report.findings
        for origin in ([finding.origin] if finding.origin else [])
    ]
    bad = (_BAD[0], _BAD[1], f"model/layers.{_BAD[2] // 16}/op{_BAD[2]}")
    if inventory.total.tensors != len(table) or bad not in origins:
        raise SystemExit(f"{n_rows:,} rows: {inventory.total.tensors:,} were counted, {origins}")


def main() -> None:
    """Measure tables of 100,000 rows and of each tenfold up to the number that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--one", action="store_true", help="this number of rows alone")
    parser.add_argument("--files", type=Path, metavar="DIR", help="write parts there, read them")
    asked = parser.parse_args()
    if asked.one:
        measure(asked.rows, asked.files)
        return
    print("        rows  step        CPU s   us/row  peak MiB   bytes/row", flush=True)
    n_rows = 100_000
    while n_rows <= asked.rows:
        command = [sys.executable, "-m", "benchmarks.many_rows", "--one", "--rows", str(n_rows)]
        command += [] if asked.files is None else ["--files", str(asked.files)]
        subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
        n_rows *= 10


if __name__ == "__main__":
    main()
