"""The statistics of a tensor as each of the vendor's writers computes and prints them.

Sums have the writer's precision but not its order, which cannot be repeated. So a mean may differ
from the device's in the last of its six digits, and where summands cancel.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from fastdump.testing._tensor import TensorSpec, data_type_number, payload

_INTEGERS: dict[int, npt.DTypeLike] = {
    3: "<i1",
    4: "<u1",
    5: "<i2",
    6: "<u2",
    7: "<i4",
    8: "<i8",
    9: "<u4",
    10: "<u8",
    11: "<u1",  # bool: any byte but 0 is true
}
_BOOL = 11
_FLOATS: dict[int, npt.DTypeLike] = {1: "<f4", 2: "<f2", 12: "<f8"}
_AI_CPU: dict[int, npt.DTypeLike] = {**_INTEGERS, **_FLOATS}
_AI_CORE: dict[int, npt.DTypeLike] = {
    **{number: _AI_CPU[number] for number in (1, 2, 3, 4, 5, 7)},
    27: ml_dtypes.bfloat16,
}


def ai_cpu_statistics(spec: TensorSpec) -> dict[str, str] | None:
    """Return what the AI CPU prints, by column; None if it cannot tell.

    NaN loses every comparison, so it is maximum and minimum only if it is the first element. The
    mean is over all elements; if there are infinities of one sign, it is that infinity. A NaN keeps
    its sign.
    """
    values = _elements(spec, _AI_CPU)
    if values is None:
        return None
    if data_type_number(spec) == _BOOL:
        values = (values != 0).astype(np.uint8)
    first = values[0]
    nan_first = np.isnan(first)
    nans = values[np.isnan(values)]
    counts = _counts(values)
    if counts["Negative Inf Count"] != "0" and counts["Positive Inf Count"] == "0":
        mean = -np.inf
    elif counts["Positive Inf Count"] != "0" and counts["Negative Inf Count"] == "0":
        mean = np.inf
    else:
        mean = nans[0] if nans.size else _mean(values)
    return {
        "Max Value": _text(first if nan_first else values[np.nanargmax(values)], nan_sign=True),
        "Min Value": _text(first if nan_first else values[np.nanargmin(values)], nan_sign=True),
        "Avg Value": _text(mean, nan_sign=nans.size > 0),
        **counts,
    }


def thread_ai_cpu_statistics(spec: TensorSpec) -> dict[str, str] | None:
    """Return what the newest writer prints, by column; None if it cannot tell.

    NaN counts neither for maximum nor for minimum. The mean is over all elements: NaN if there is a
    NaN or both infinities; else, if there are infinities of one sign, that infinity. A bool is an
    8-bit integer.
    """
    values = _elements(spec, _AI_CPU)
    if values is None:
        return None
    counts = _counts(values)
    infinities = values[np.isinf(values)]
    numbers = values[~np.isnan(values)]
    if numbers.size < values.size or np.unique(infinities).size == 2:
        mean = np.nan
    elif infinities.size:
        mean = float(infinities[0])
    else:
        mean = _mean(values)
    return {
        "Max Value": _text(numbers[np.argmax(numbers)] if numbers.size else np.nan),
        "Min Value": _text(numbers[np.argmin(numbers)] if numbers.size else np.nan),
        "Avg Value": _text(mean),
        **counts,
    }


def ai_core_statistics(spec: TensorSpec) -> dict[str, str] | None:
    """Return what the AI cores compute, by column, without a count; None if they cannot tell.

    Sums are float32 and over all elements. It is an assumption that a NaN becomes maximum and
    minimum.
    """
    values = _elements(spec, _AI_CORE)
    if values is None:
        return None
    counts = _counts(values)
    del counts["Count"]
    with np.errstate(over="ignore", invalid="ignore"):
        summands = values.astype(np.float32)
        mean = summands.sum(dtype=np.float32) / np.float32(values.size)
        l2norm = np.sqrt(np.square(summands).sum(dtype=np.float32))
    if values.dtype.kind in "iu":
        maximum, minimum = values.max(), values.min()
    else:
        maximum, minimum = summands.max(), summands.min()
    return {
        "Max Value": _text(maximum),
        "Min Value": _text(minimum),
        "Avg Value": _text(mean),
        **counts,
        "l2norm": _text(l2norm),
    }


def mindspore_statistics(values: npt.NDArray[Any]) -> dict[str, str]:
    """Return what MindSpore prints, by column.

    All elements count, in float64: a NaN becomes maximum, minimum, mean and norm. Despite their
    names, the counts of negative and positive zeros count negative and positive elements.
    """
    x = values.astype(np.float64).reshape(-1)
    if not x.size:
        maximum = minimum = mean = np.nan
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            maximum, minimum, mean = x.max(), x.min(), x.mean()
    with np.errstate(invalid="ignore", over="ignore"):
        l2norm = np.sqrt(np.square(x).sum())
    return {
        "Max Value": _text(maximum),
        "Min Value": _text(minimum),
        "Avg Value": _text(mean),
        "L2Norm Value": _text(l2norm),
        "Negative Zero Count": str(np.count_nonzero(x < 0)),
        "Positive Zero Count": str(np.count_nonzero(x > 0)),
        "Zero Count": str(np.count_nonzero(x == 0)),
        **_counts(x),
    }


def _elements(spec: TensorSpec, types: dict[int, npt.DTypeLike]) -> npt.NDArray[Any] | None:
    """Return the elements; None if the writer cannot read their type, or if there are none."""
    dtype = types.get(data_type_number(spec))
    if dtype is None:
        return None
    raw = np.frombuffer(payload(spec), np.uint8)
    itemsize = np.dtype(dtype).itemsize
    values = raw[: raw.size - raw.size % itemsize].view(dtype)
    return values if values.size else None


def _counts(values: npt.NDArray[Any]) -> dict[str, str]:
    return {
        "Count": str(values.size),
        "Nan Count": str(np.count_nonzero(np.isnan(values))),
        "Negative Inf Count": str(np.count_nonzero(np.isneginf(values.astype(np.float64)))),
        "Positive Inf Count": str(np.count_nonzero(np.isposinf(values.astype(np.float64)))),
    }


def _mean(values: npt.NDArray[Any]) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        x = values.astype(np.float64)
        mean = x.sum() / x.size
        # A running mean does not overflow where the sum does.
        return float(mean if np.isfinite(mean) else (x / x.size).sum())


def _text(value: np.generic | float, *, nan_sign: bool = False) -> str:
    """Return what a C++ stream prints with its default precision.

    `nan_sign` says whether a NaN has the device's sign; the sign of a NaN that was computed here
    means nothing.
    """
    if isinstance(value, np.integer):
        return str(value)
    number = float(value)
    if np.isnan(number):
        return "-nan" if nan_sign and np.signbit(number) else "nan"
    return f"{number:g}"
