"""The writer of MindSpore's statistics, against captured lines and definitions."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from fastdump import testing
from fastdump.testing import MindSporeTensor

ALL = [
    "max", "min", "avg", "count", "negative zero count", "positive zero count", "nan count",
    "negative inf count", "positive inf count", "zero count", "l2norm", "md5",
]  # fmt: skip


def test_captured_file_can_be_written_again(reference_dumps: Path, tmp_path: Path) -> None:
    reference = reference_dumps.parent / "reference-stats-csv" / "mindspore-statistic.csv"
    if not reference.is_file():
        pytest.skip(f"there is no {reference}")
    with reference.open(newline="") as file:
        rows = list(csv.DictReader(file))
    tensors = [
        MindSporeTensor(
            row["Op Type"],
            row["Op Name"],
            row["IO"],  # type: ignore[arg-type]
            int(row["Slot"]),
            np.array(float(row["Max Value"])).astype(row["Data Type"]),
            timestamp=int(row["Timestamp"]),
        )
        for row in rows
    ]
    path = testing.write_mindspore_csv(tmp_path / "new", tensors)
    assert path == tmp_path / "new" / "statistic.csv"
    assert path.read_bytes() == reference.read_bytes()


def one_row(data: Any, tmp_path: Path, statistics: list[str] = ALL) -> list[str]:
    tensor = MindSporeTensor("Op", "Name", "output", 2, data, task_id=3, stream_id=4, timestamp=5)
    path = testing.write_mindspore_csv(tmp_path, [tensor], statistics=statistics)
    _, row = path.read_text().splitlines()
    assert row.endswith(",")
    return next(csv.reader([row]))[:-1]


def test_every_column(tmp_path: Path) -> None:
    x = np.array([[1, -2, 0], [4, -0.0, 6]], np.float32)
    row = one_row(x, tmp_path)
    assert row[:10] == ["Op", "Name", "3", "4", "5", "output", "2", "24", "float32", "(2,3)"]
    # What is called a zero count is that of the elements of this sign.
    assert row[10:-2] == ["6", "-2", "1.5", "6", "1", "3", "0", "0", "0", "2"]
    assert float(row[-2]) == pytest.approx(np.sqrt(57), rel=1e-5)
    assert row[-1] == hashlib.md5(x.tobytes()).hexdigest()


def test_nan_and_infinities_count_in_everything(tmp_path: Path) -> None:
    nan = one_row(np.array([1, np.nan, np.inf], ml_dtypes.bfloat16), tmp_path)
    assert nan[8] == "bfloat16"
    assert nan[10:-1] == ["nan", "nan", "nan", "3", "0", "2", "1", "0", "1", "0", "nan"]
    inf = one_row(np.array([1, np.inf, -np.inf], np.float64), tmp_path)
    assert inf[10:-1] == ["inf", "-inf", "nan", "3", "1", "2", "0", "1", "1", "0", "inf"]


def test_other_types(tmp_path: Path) -> None:
    assert one_row(np.array([True, False, True]), tmp_path)[8:14] == [
        "bool",
        "(3)",
        "1",
        "0",
        "0.666667",
        "3",
    ]
    assert one_row(np.array(30), tmp_path, ["l2norm", "max"])[9:] == ["()", "30", "30"]
    assert one_row(np.zeros((0, 2)), tmp_path, ["max", "count"])[9:] == ["(0,2)", "nan", "0"]


def test_header_and_appending(tmp_path: Path) -> None:
    tensor = MindSporeTensor("Op", "Name", "input", 0, np.ones(2))
    for append in (False, True):
        path = testing.write_mindspore_csv(
            tmp_path, [tensor], statistics=["nan count"], nan_count="Nan Count", append=append
        )
    header, first, second = path.read_text().splitlines()
    assert header == (
        "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Nan Count"
    )
    assert first == second


def test_unknown_statistic(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mean"):
        testing.write_mindspore_csv(tmp_path, [], statistics=["mean"])
    assert not list(tmp_path.iterdir())
