"""Two tables of statistics compared: operators under the same names, and under shifted counters."""

from __future__ import annotations

import numpy as np
import pytest
from arro3.core import Array, DataType, Field, RecordBatch, Schema
from pytest_benchmark.fixture import BenchmarkFixture

import fastdump
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import N_TRIAGE_FILES, ROUNDS
from benchmarks.side_by_side import side_by_side
from fastdump import StatsTable

_MOST = 6.0  # times the time of the same names
_MODULES = ("self_attn", "mlp", "input_layernorm", "self_attn.q_proj")
_KINDS = ("mul", "add", "mm", "cat", "pow")


def _table(n_operators: int, *, with_casts: bool) -> StatsTable:
    """Return operators of an eager run, numbered through the step; some runs cast before some."""
    rows: list[tuple[str, str, str, int, int]] = []
    counter = 0
    for i in range(n_operators):
        module = f"model.layers.{i // 40 % 60}.{_MODULES[i // 10 % 4]}"
        kind = _KINDS[i % 5]
        tensors = [("input", 0), ("input", 1), ("output", 0)]
        if with_casts and i % 17 == 0:
            counter += 1
            name = f"{module}/_to_copy_{counter}"
            rows += [("ToCopy", name, *tensor, counter) for tensor in (tensors[0], tensors[2])]
        counter += 1
        name = f"{module}/{kind}_{counter}"
        rows += [(kind.capitalize(), name, *tensor, counter) for tensor in tensors]
    op_type, op_name, io, index, time = zip(*rows, strict=True)
    n = len(rows)
    texts = {"op_type": op_type, "op_name": op_name, "io": io, "path": op_name}
    same = {"status": "ok", "source": "dump", "dtype": "float32"}
    numbers = {"index": index, "timestamp": time, "count": [128] * n, "step": [0] * n}
    columns = {
        **{name: Array(list(values), DataType.utf8()) for name, values in texts.items()},
        **{name: Array([value] * n, DataType.utf8()) for name, value in same.items()},
        **{name: Array(list(values), DataType.int64()) for name, values in numbers.items()},
        **{name: Array.from_numpy(np.ones(n)) for name in ("max", "min", "mean", "l2norm")},
    }
    fields = [Field(name, column.type) for name, column in columns.items()]
    return StatsTable(RecordBatch.from_arrays(list(columns.values()), schema=Schema(fields)))


@pytest.fixture(scope="module")
def tables() -> tuple[StatsTable, StatsTable]:
    return _table(N_TRIAGE_FILES, with_casts=False), _table(N_TRIAGE_FILES, with_casts=True)


def test_pairing(
    benchmark: BenchmarkFixture, report: Report, tables: tuple[StatsTable, StatsTable]
) -> None:
    """A cast more here and there shifts every counter; the peer has the same names twice."""
    plain, with_casts = tables
    timings = side_by_side(
        benchmark,
        ROUNDS,
        ("fastdump", lambda: fastdump.compare(plain, with_casts)),
        {"same names": lambda: fastdump.compare(plain, plain)},
    )
    compared = fastdump.compare(plain, with_casts)
    assert compared.summary()["pairs"] == len(plain)

    shifted_s, same_s = timings.median("fastdump"), timings.median("same names")
    times = timings.quotient("fastdump", "same names")
    report.add(
        benchmark,
        Row(
            section="compare",
            what=f"2 x {N_TRIAGE_FILES:,} operators, tables, counters shifted: {shifted_s:.2f} s",
            size=f"{len(plain):,} pairs",
            other=f"{times:.1f} x the same names ({same_s:.2f} s)",
            required=[Requirement(f"at most {_MOST:.0f}", times <= _MOST)],
        ),
    )
