"""MindSpore's ``statistic.csv``: one file for all operators of an iteration."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fastdump.testing._file import write_file
from fastdump.testing._tensor import raw_bytes
from fastdump.testing._vendor_statistics import mindspore_statistics

_DESCRIPTION = "Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape"
# The statistics that can be selected (statistic_category), and the names of their columns.
_SELECTABLE = {
    "max": "Max Value",
    "min": "Min Value",
    "avg": "Avg Value",
    "count": "Count",
    "negative zero count": "Negative Zero Count",
    "positive zero count": "Positive Zero Count",
    "nan count": "NaN Count",
    "negative inf count": "Negative Inf Count",
    "positive inf count": "Positive Inf Count",
    "zero count": "Zero Count",
    "l2norm": "L2Norm Value",
    "md5": "MD5",
}


@dataclass(frozen=True, slots=True, eq=False)
class MindSporeTensor:
    """A tensor that MindSpore computed statistics of.

    Parameters
    ----------
    op_type, op_name : str
        Type and name of the operator.
    io : {"input", "output"}
        Side of the operator.
    slot : int
        Position on that side.
    data : numpy.ndarray
        The tensor.
    task_id, stream_id : int
        Numbers of task and stream; 0 if MindSpore launches kernels itself.
    timestamp : int
        Microseconds since 1970.
    """

    op_type: str
    op_name: str
    io: Literal["input", "output"]
    slot: int
    data: npt.NDArray[Any]
    task_id: int = 0
    stream_id: int = 0
    timestamp: int = 0


def write_mindspore_csv(
    directory: str | os.PathLike[str],
    tensors: Sequence[MindSporeTensor],
    *,
    statistics: Sequence[str] = ("max", "min", "l2norm"),
    nan_count: str = "NaN Count",
    append: bool = False,
) -> Path:
    """Write ``statistic.csv`` as MindSpore does: shapes are quoted, rows end with a comma.

    Parameters
    ----------
    directory : path
        Directory of the file, usually a `mindspore_dump_dir`.
    tensors : sequence of MindSporeTensor
        One row each.
    statistics : sequence of str
        Columns after the description, in this order: max, min, avg, count, negative zero count,
        positive zero count, nan count, negative inf count, positive inf count, zero count, l2norm,
        md5.
    nan_count : str
        Name of that column; older releases spell it ``"Nan Count"``.
    append : bool
        Write rows without a header to the end of a file that exists.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ValueError
        If a statistic is not one of these.

    Examples
    --------
    >>> import tempfile
    >>> x = MindSporeTensor("Sub", "Default_Sub-op0", "input", 0, np.full((2, 3), 3, np.float32))
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = write_mindspore_csv(directory, [x], statistics=["max", "zero count"])
    ...     print(path.read_text(), end="")
    Op Type,Op Name,Task ID,Stream ID,Timestamp,IO,Slot,Data Size,Data Type,Shape,Max Value,Zero Count
    Sub,Default_Sub-op0,0,0,0,input,0,24,float32,"(2,3)",3,0,
    """  # noqa: E501
    unknown = [name for name in statistics if name not in _SELECTABLE]
    if unknown:
        raise ValueError(f"statistics are {', '.join(_SELECTABLE)}, not {unknown[0]!r}")

    def lines() -> Iterator[bytes]:
        if not append:
            titles = [
                nan_count if name == "nan count" else _SELECTABLE[name] for name in statistics
            ]
            yield (",".join([_DESCRIPTION, *titles]) + "\n").encode()
        for tensor in tensors:
            fields = _description(tensor) + _results(tensor, statistics)
            yield (",".join(fields) + ",\n").encode()

    return write_file(Path(directory, "statistic.csv"), lines(), append=append)


def _description(tensor: MindSporeTensor) -> list[str]:
    data = np.asarray(tensor.data)
    return [
        tensor.op_type,
        tensor.op_name,
        str(tensor.task_id),
        str(tensor.stream_id),
        str(tensor.timestamp),
        tensor.io,
        str(tensor.slot),
        str(data.nbytes),
        data.dtype.name,
        '"({})"'.format(",".join(map(str, data.shape))),
    ]


def _results(tensor: MindSporeTensor, statistics: Sequence[str]) -> list[str]:
    data = np.asarray(tensor.data)
    found = mindspore_statistics(data)
    found["NaN Count"] = found.pop("Nan Count")
    found["MD5"] = hashlib.md5(raw_bytes(data), usedforsecurity=False).hexdigest()
    return [found[_SELECTABLE[name]] for name in statistics]
