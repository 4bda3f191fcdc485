"""Write what fastdump computes, to the last bit: two machines agree if their files are the same.

    python packaging/arm64_bits.py OUT DUMP...

OUT/elements.txt has a line for each element type, of fixed bytes, and one for each two types of a
comparison; of each dump, and of each with the one before it, the tables and reports are beside it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

import fastdump
from fastdump import _core

N_ELEMENTS = 100_003  # whole blocks of every kernel, and a rest
# What a comparison takes as reference beside the type itself.
REFERENCES = ("float32", "float64")


def payload(name: str, bits: int, seed: int) -> bytes:
    """Return elements of which some are NaN, Inf or subnormal where the type has any."""
    rng = np.random.default_rng(seed)
    if name not in ("float32", "float64", "complex64", "complex128"):
        return rng.integers(0, 256, (N_ELEMENTS * bits + 7) // 8, np.uint8).tobytes()
    # Any code of a wide type is huge too often and NaN too rarely. Integers that a power of two
    # divides are the same everywhere; normal() is not, because it takes logarithms.
    real = np.float32 if name in ("float32", "complex64") else np.float64
    integers = rng.integers(-(1 << 20), 1 << 20, N_ELEMENTS * bits // 8 // np.dtype(real).itemsize)
    numbers = (integers / (1 << 16)).astype(real)
    numbers[7::5003] = np.nan
    numbers[11::7001] = np.inf
    numbers[13::9001] = -np.inf
    numbers[17::3001] = np.finfo(real).smallest_subnormal
    return numbers.tobytes()


def line(name: str, results: Mapping[str, object]) -> str:
    """Return results as text that has all bits of their numbers."""
    values = {
        key: value.hex() if isinstance(value, float) else value for key, value in results.items()
    }
    return f"{name} {json.dumps(values)}\n"


def elements() -> Iterator[str]:
    """Yield a line for each element type, and one for each comparison."""
    sizes = {name: bits for _, _, name, bits, reducible in _core.data_types() if reducible}
    for name, bits in sizes.items():
        data = payload(name, bits, 0)
        statistics = _core.reduce_buffer(data, name, N_ELEMENTS, "full", 2)
        yield line(f"statistics {name}", statistics)
        for other in dict.fromkeys((name, *REFERENCES)):
            reference = payload(other, sizes[other], 1)
            differences = _core.compare_buffers(
                data, name, reference, other, N_ELEMENTS, rtol=1e-3, atol=1e-5, kl=True, threads=2
            )
            yield line(f"comparison {name} {other}", differences)


def main() -> None:
    """Write all files."""
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    (out / "elements.txt").write_text("".join(elements()))
    dumps = sys.argv[2:]
    for number, dump in enumerate(dumps):
        name = f"{number}-{Path(dump).name}"
        table = fastdump.stats(dump, level="full")
        table.write(out / f"{name}.parquet")
        table.write(out / f"{name}.csv")
        (out / f"{name}.triage.json").write_text(fastdump.triage(table).to_json())
    for before, after in pairwise(dumps):
        name = f"{Path(before).name}-{Path(after).name}"
        fastdump.compare(after, before).write(out / f"{name}.parquet")


if __name__ == "__main__":
    main()
