"""The same statistics with torch, on all threads, of values without NaN and Inf."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from benchmarks.peer_result import Statistics

_TYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
_CHUNKS = tuple(1 << bits for bits in range(15, 21))


class InChunks:
    """Chunks of the size that is fastest here; values that lie in memory."""

    name = f"torch {torch.__version__}"

    def __init__(self, data: npt.NDArray[np.uint8], dtype: str, threads: int) -> None:
        # MKL_NUM_THREADS, which numpy is limited by, limits torch too.
        torch.set_num_threads(threads)
        self._values: Any = torch.from_numpy(data).view(_TYPES[dtype])
        self._chunk = min(_CHUNKS, key=self._seconds)

    def _seconds(self, chunk: int) -> float:
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            self._compute(chunk)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    def __call__(self) -> Statistics:
        return self._compute(self._chunk)

    def _compute(self, n_chunk: int) -> Statistics:
        result = Statistics()
        for stored in self._values.split(n_chunk):
            values = stored.float()  # of halves, sums and extremes are faster so
            if not torch.isfinite(values).all():
                raise ValueError("this peer does not count NaN and Inf")
            least, largest = torch.aminmax(values)
            result.max = max(result.max, float(largest))
            result.min = min(result.min, float(least))
            result.sum += float(torch.sum(values, dtype=torch.float64))
            norm = float(torch.linalg.vector_norm(values, dtype=torch.float64))
            result.sum_of_squares += norm * norm
            result.count += values.numel()
        result.n_finite = result.count
        return result
