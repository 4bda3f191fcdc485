"""The same metrics with numpy, on one thread, in two ways.

`in_chunks` is what an expert writes: chunks that stay in the cache, float64 in buffers that are
used again. `at_once` is what one writes first: both tensors whole, an expression for each metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.dump_files import LargeFile
from benchmarks.element_types import storage_dtype

RTOL = 1e-5
ATOL = 1e-8

_CHUNK_ELEMENTS = 1 << 16
_EPSILON = 2.0**-52


@dataclass
class Comparison:
    """Of the first elements of two files, b the reference."""

    count: int = 0
    only_a_bad: int = 0
    only_b_bad: int = 0
    both_bad: int = 0
    mismatched: int = 0
    max_abs_error: float = 0.0
    max_rel_error: float = 0.0
    products: float = 0.0
    squares_a: float = 0.0
    squares_b: float = 0.0
    error: float = 0.0
    error_squares: float = 0.0
    relative: float = 0.0


class InChunks:
    """Compares the first elements of two files; keeps its buffers."""

    def __init__(self, a: LargeFile, b: LargeFile, n: int) -> None:
        self._files = (a, b)
        self._n = n
        self._doubles = np.empty((5, _CHUNK_ELEMENTS))
        self._finite = np.empty((3, _CHUNK_ELEMENTS), np.bool_)

    def __call__(self) -> Comparison:
        result = Comparison()
        for stored_a, stored_b in zip(*(self._chunks(file) for file in self._files), strict=True):
            x, y = self._doubles[0, : stored_a.size], self._doubles[1, : stored_b.size]
            np.copyto(x, stored_a)
            np.copyto(y, stored_b)
            result.count += x.size
            self._add(result, *self._without_bad(result, x, y))
        return result

    def _chunks(self, file: LargeFile) -> Iterator[npt.NDArray[Any]]:
        storage = storage_dtype(file.dtype)
        buffer = np.empty(_CHUNK_ELEMENTS, storage)
        with file.path.open("rb", buffering=0) as stream:
            stream.seek(file.payload_offset)
            for first in range(0, self._n, _CHUNK_ELEMENTS):
                chunk = buffer[: min(_CHUNK_ELEMENTS, self._n - first)]
                stream.readinto(chunk.view(np.uint8).data)
                yield chunk

    def _without_bad(
        self, result: Comparison, x: npt.NDArray[Any], y: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        finite_x, finite_y, finite = self._finite[:, : x.size]
        np.isfinite(x, out=finite_x)
        np.isfinite(y, out=finite_y)
        np.logical_and(finite_x, finite_y, out=finite)
        if finite.all():
            return x, y
        _count_bad(result, x, y, finite_x, finite_y)
        return x[finite], y[finite]

    def _add(self, result: Comparison, x: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        if x.size == 0:
            return
        error, size, relative = self._doubles[2:, : x.size]
        np.subtract(x, y, out=error)
        np.abs(error, out=error)
        np.abs(y, out=size)
        result.products += float(x @ y)
        result.squares_a += float(x @ x)
        result.squares_b += float(y @ y)
        result.error += float(error.sum())
        result.error_squares += float(error @ error)
        result.max_abs_error = max(result.max_abs_error, float(error.max()))
        relative.fill(0)
        np.divide(error, size, out=relative, where=size > _EPSILON)
        result.relative += float(relative.sum())
        result.max_rel_error = max(result.max_rel_error, float(relative.max()))
        size *= RTOL
        size += ATOL
        result.mismatched += int(np.count_nonzero(error > size))


def at_once(a: LargeFile, b: LargeFile, n: int) -> Comparison:
    """Compare the first `n` elements."""
    x, y = (
        np.fromfile(file.path, storage_dtype(file.dtype), n, offset=file.payload_offset).astype(
            np.float64
        )
        for file in (a, b)
    )
    result = Comparison(count=n)
    finite_x, finite_y = np.isfinite(x), np.isfinite(y)
    _count_bad(result, x, y, finite_x, finite_y)
    x, y = x[finite_x & finite_y], y[finite_x & finite_y]
    error = np.abs(x - y)
    relative = np.where(np.abs(y) > _EPSILON, error / np.where(y == 0, 1, np.abs(y)), 0)
    result.mismatched += int((~np.isclose(x, y, RTOL, ATOL)).sum())
    result.products = float((x * y).sum())
    result.squares_a = float((x**2).sum())
    result.squares_b = float((y**2).sum())
    result.error = float(error.sum())
    result.error_squares = float((error**2).sum())
    result.max_abs_error = float(error.max())
    result.relative = float(relative.sum())
    result.max_rel_error = float(relative.max())
    return result


def check_same(found: Mapping[str, Any], part: Comparison) -> None:
    """Check that both sides have done the same work.

    The files repeat what numpy has read, so that only counts and sums differ, by a known factor.
    """
    times = found["count"] // part.count
    for field in fields(part)[:5]:
        assert found[field.name] == times * getattr(part, field.name), field.name
    assert found["max_abs_error"] == part.max_abs_error
    n = part.count - part.only_a_bad - part.only_b_bad - part.both_bad
    expected = {
        "cosine_similarity": part.products / math.sqrt(part.squares_a * part.squares_b),
        "mean_abs_error": part.error / n,
        "rmse": math.sqrt(part.error_squares / n),
        "relative_euclidean_distance": math.sqrt(part.error_squares / part.squares_b),
        "max_rel_error": part.max_rel_error,
        "mean_rel_error": part.relative / n,
        "accumulated_relative_error": times * part.relative,
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-9), name


def _count_bad(
    result: Comparison,
    x: npt.NDArray[Any],
    y: npt.NDArray[Any],
    finite_x: npt.NDArray[np.bool_],
    finite_y: npt.NDArray[np.bool_],
) -> None:
    result.only_a_bad += int(np.count_nonzero(~finite_x & finite_y))
    result.only_b_bad += int(np.count_nonzero(finite_x & ~finite_y))
    bad = ~finite_x & ~finite_y
    result.both_bad += int(np.count_nonzero(bad))
    some = ~(finite_x & finite_y)
    result.mismatched += int(
        np.count_nonzero(~np.isclose(x[some], y[some], RTOL, ATOL, equal_nan=True))
    )
