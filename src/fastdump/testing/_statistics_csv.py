"""Statistics files of CANN (``dump_data: stats``), one in place of each dump file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt

from fastdump import _core
from fastdump.testing._file import write_file
from fastdump.testing._tensor import (
    TensorSpec,
    as_spec,
    data_type_number,
    format_number,
    size_field,
    storage_shape,
)
from fastdump.testing._vendor_statistics import (
    ai_core_statistics,
    ai_cpu_statistics,
    thread_ai_cpu_statistics,
)

_DESCRIPTION = ("Input/Output", "Index", "Data Size", "Data Type", "Format", "Shape")
# The statistics that can be selected (dump_stats), in the order of columns; names of the columns.
_SELECTABLE = {
    "Max": "Max Value",
    "Min": "Min Value",
    "Avg": "Avg Value",
    "Nan": "Nan Count",
    "Negative Inf": "Negative Inf Count",
    "Positive Inf": "Positive Inf Count",
    "L2norm": "l2norm",
}
_DEFAULT = tuple(_SELECTABLE)[:6]
_COUNT_BEFORE = "Nan Count"  # the default selection has the count before this column
_NOT_BEFORE = 3  # columns before the count in a row without results
_AI_CPU_TYPES = range(26)  # UNDEFINED to DUAL
_THREAD_AI_CPU_TYPES = range(1, 25)  # FLOAT to STRING_REF
_OLD_FORMATS = range(41)  # NCHW to RESERVED
_MAX_DIMS = 25


def write_statistics_csv(
    path: str | os.PathLike[str],
    *,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    writer: Literal["aicpu", "kfc", "thread_aicpu"] = "aicpu",
    statistics: Sequence[str] | None = None,
    after_default: bool = False,
    header: bool = True,
    append: bool = False,
) -> Path:
    """Write the statistics of tensors as CANN does instead of the tensors.

    Parameters
    ----------
    path : path
        The file: the name of the dump with ``.csv`` after it. As for `write_dump`, directories are
        made and a name that is too long becomes a number, then without ``.csv``.
    inputs, outputs : sequence of numpy.ndarray or TensorSpec
        Tensors. A tensor without bytes gets no statistics, like one whose address is null.
    writer : {"aicpu", "kfc", "thread_aicpu"}
        The vendor's program to imitate: what it can compute, how, and what it prints otherwise.
        ``"aicpu"`` is the AI CPU; ``"kfc"`` the service on the AI cores, which newer software on
        Atlas A2 and A3 has; ``"thread_aicpu"`` the newest, whose tensors `write_nano` writes.
    statistics : sequence of str, optional
        Selection (``dump_stats``) from Max, Min, Avg, Nan, Negative Inf, Positive Inf and L2norm;
        of ``"kfc"`` only. Default: all but the last. Columns come in this order.
    after_default : bool
        Imitate ``"kfc"`` with a selection after it has written a file without one in the same
        process: rows lack the count after the shape, which the header has; header and rows have a
        count before that of NaN, if that was selected.
    header : bool
        Whether the names of the columns are written.
    append : bool
        Write to the end of a file that exists: ``"kfc"`` writes more than ten tensors in parts.

    Returns
    -------
    pathlib.Path
        As from `write_dump`.

    Raises
    ------
    ValueError
        If a statistic is not one of these, or cannot be selected.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> x = np.array([[1, 2], [3, np.inf]], np.float32)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     path = write_statistics_csv(Path(directory, "Add.a.1.2.1700000000000000.csv"),
    ...                                 outputs=[x], writer="kfc", statistics=["Max", "L2norm"])
    ...     print(path.read_text(), end="")
    Input/Output,Index,Data Size,Data Type,Format,Shape,Count,Max Value,l2norm
    Output,0,16,DT_FLOAT,ND,2x2,4,inf,inf
    """
    if writer not in ("aicpu", "kfc", "thread_aicpu"):
        raise ValueError(f"no writer of statistics is called {writer!r}")
    if writer != "kfc" and (statistics is not None or after_default):
        raise ValueError(f"the writer {writer!r} knows no selection of statistics")
    wanted = _DEFAULT if statistics is None else statistics
    if not wanted or not set(wanted) <= set(_SELECTABLE):
        raise ValueError(f"statistics are {', '.join(_SELECTABLE)}, not {wanted!r}")
    selected = [name for name in _SELECTABLE if name in wanted]
    is_default = selected == list(_DEFAULT)
    counted_late = is_default or after_default
    columns = [_SELECTABLE[name] for name in selected]

    def row(io: str, index: int, spec: TensorSpec) -> list[str]:
        described = [io, str(index), str(size_field(spec))]
        if writer == "kfc":
            return [*described, *_ai_core_row(spec, columns, counted_late)]
        if writer == "aicpu":
            shape = _shape(spec, 64) or "-"
            return [*described, *_cpu_row(spec, _AI_CPU_TYPES, shape, ai_cpu_statistics(spec))]
        found = thread_ai_cpu_statistics(spec)
        return [*described, *_cpu_row(spec, _THREAD_AI_CPU_TYPES, _shape(spec, None), found)]

    rows = [row("Input", index, as_spec(tensor)) for index, tensor in enumerate(inputs)]
    rows += [row("Output", index, as_spec(tensor)) for index, tensor in enumerate(outputs)]
    if header:
        first = [] if is_default else ["Count"]
        names = _with_count(columns, "Count") if counted_late else columns
        rows.insert(0, [*_DESCRIPTION, *first, *names])

    lines = ((",".join(fields) + "\n").encode() for fields in rows)
    return write_file(path, lines, append=append)


def _with_count(columns: list[str], count: str, texts: list[str] | None = None) -> list[str]:
    """Insert the count into `texts` (default: the columns' names), before the count of NaN."""
    texts = list(columns) if texts is None else texts
    if _COUNT_BEFORE in columns:
        texts.insert(columns.index(_COUNT_BEFORE), count)
    return texts


def _cpu_row(
    spec: TensorSpec, known: Sequence[int], shape: str, found: dict[str, str] | None
) -> list[str]:
    """Return the row of a writer on the AI CPU, from the data type on."""
    names = _with_count([_SELECTABLE[name] for name in _DEFAULT], "Count")
    results = [found[name] if found else "" for name in names]
    return [_data_type(spec, known, "-"), _format(spec, _OLD_FORMATS, "-"), shape, *results]


def _ai_core_row(spec: TensorSpec, columns: list[str], counted_late: bool) -> list[str]:
    shape = storage_shape(spec)
    told = len(shape) <= _MAX_DIMS
    count = str(math.prod(dim % (1 << 32) for dim in shape) if told else 1)
    found = ai_core_statistics(spec)
    if found:
        texts = [found[name] for name in columns]
        texts = _with_count(columns, count, texts) if counted_late else [count, *texts]
    else:
        # Here the writer counts columns, whatever they are, and leaves the count out otherwise.
        texts = ["NA"] * len(columns)
        if counted_late and len(texts) > _NOT_BEFORE:
            texts.insert(_NOT_BEFORE, count)
    return [
        _data_type(spec, range(len(_core.data_types())), "UNKNOW"),
        _format(spec, range(len(_core.tensor_formats())), "UNKNOW"),
        (_shape(spec, 32) or "-") if told else "NA",
        *texts,
    ]


def _data_type(spec: TensorSpec, known: Sequence[int], otherwise: str) -> str:
    number = data_type_number(spec)
    return f"DT_{_core.data_types()[number][1]}" if number in known else otherwise


def _format(spec: TensorSpec, known: Sequence[int], otherwise: str) -> str:
    number = format_number(spec)
    return _core.tensor_formats()[number] if number in known else otherwise


def _shape(spec: TensorSpec, unsigned_bits: int | None) -> str:
    dims = storage_shape(spec)
    if unsigned_bits is not None:
        dims = tuple(dim % (1 << unsigned_bits) for dim in dims)
    return "x".join(map(str, dims))
