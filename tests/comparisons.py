"""Runs to compare, and slow references for what a comparison must say."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fastdump import _core, testing

Array = np.ndarray[Any, Any]

RNG = np.random.default_rng(5)
X = RNG.normal(0, 1, (4, 6)).astype(np.float32)
W = RNG.normal(0, 1, (6, 6)).astype(np.float32)


def state_of(path: bytes | Path) -> int:
    """Return the state of a file, as its header's reader has found it; 0 if there is no file."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return 0
    try:
        return _core.file_state(descriptor)
    finally:
        os.close(descriptor)


def with_states(places: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return places, (path, offset, dtype, n), perhaps with a layout, as the core takes them."""
    return [
        (path, state_of(path), offset, dtype, n, layout[0] if layout else None)
        for path, offset, dtype, n, *layout in places
    ]


def write_op(
    root: Path,
    op: str,
    *,
    at: int,
    rank: int | None = 0,
    step: int | None = 0,
    time: str = "20261120101112",
    named: str | None = None,
    **tensors: Any,
) -> Path:
    """Write the file of an operator, given as "Type name", that ran as number `at`."""
    op_type, _, op_name = op.partition(" ")
    directory = root if rank is None else testing.rank_dir(root, world_size=8, rank=rank)
    if step is not None:
        directory = testing.model_dump_dir(
            directory, time=time, device=0, model="net", model_id=1, step=step
        )
    name = testing.dump_name(
        op_type, op_name, task_id=at, stream_id=3, timestamp=1_700_000_000_000_000 + at
    )
    return testing.write_dump(directory / name, op_name=named or op_name, **tensors)


def chain(
    root: Path,
    *,
    wrong: dict[int, float] | None = None,
    n: int = 6,
    inputs: bool = True,
    shift: int = 0,
    name: str = "layers.{}/Mul",
    start: Array = X,
    **where: Any,
) -> Path:
    """Write operators of which each takes the output of the one before.

    Parameters
    ----------
    wrong
        Numbers of operators that add an error of their own, and its size.
    """
    x = start
    for i in range(n):
        y = x * np.float32(1.25)
        if wrong and i in wrong:
            y = y + np.float32(wrong[i])
        given = {"inputs": [x, W]} if inputs else {}
        write_op(root, f"Mul {name.format(i)}", at=shift + i, **where, **given, outputs=[y])
        x = y
    return root


def reference(
    a: Array, b: Array, *, rtol: float, atol: float, kl: bool = False
) -> dict[str, float | int]:
    """Return the metrics of two arrays, computed in Python one element after the other."""
    x = [float(v) for v in a.reshape(-1)]
    y = [float(v) for v in b.reshape(-1)]
    pairs = [(p, q) for p, q in zip(x, y, strict=True) if math.isfinite(p) and math.isfinite(q)]
    bad = [(not math.isfinite(p), not math.isfinite(q)) for p, q in zip(x, y, strict=True)]
    n = len(pairs)
    errors = [abs(p - q) for p, q in pairs]
    eps = np.finfo(np.float64).eps
    relative = [abs(p / q - 1) if abs(q) > eps else 0.0 for p, q in pairs]
    xx, yy = (math.fsum(v[i] * v[i] for v in pairs) for i in (0, 1))
    xy = math.fsum(p * q for p, q in pairs)
    ee = math.fsum(e * e for e in errors)
    with np.errstate(invalid="ignore"):
        close = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    means = [math.fsum(v[i] for v in pairs) / n for i in (0, 1)]
    deviations = [math.sqrt(math.fsum((v[i] - means[i]) ** 2 for v in pairs) / n) for i in (0, 1)]
    found: dict[str, float | int] = {
        "count": len(x),
        "cosine_similarity": min(1.0, xy / math.sqrt(xx * yy)),
        "max_abs_error": max(errors),
        "mean_abs_error": math.fsum(errors) / n,
        "rmse": math.sqrt(ee / n),
        "relative_euclidean_distance": math.sqrt(ee / yy),
        "max_rel_error": max(relative),
        "mean_rel_error": math.fsum(relative) / n,
        "accumulated_relative_error": math.fsum(relative),
        "mismatched": int((~close).sum()),
        "only_a_bad": sum(p and not q for p, q in bad),
        "only_b_bad": sum(q and not p for p, q in bad),
        "both_bad": sum(p and q for p, q in bad),
        "mean_a": means[0],
        "mean_b": means[1],
        "standard_deviation_a": deviations[0],
        "standard_deviation_b": deviations[1],
        "max_a": max(p for p, _ in pairs),
        "max_b": max(q for _, q in pairs),
        "min_a": min(p for p, _ in pairs),
        "min_b": min(q for _, q in pairs),
    }
    if kl:
        found["kl_divergence"] = _divergence([p for p, _ in pairs], [q for _, q in pairs])
    return found


def _divergence(x: Sequence[float], y: Sequence[float]) -> float:
    distributions = []
    for values in (x, y):
        low, high = min(values), max(values)
        scaled = values if low == high else [(v - low) / (high - low) for v in values]
        bounded = [max(v, 2.0**-23) for v in scaled]
        total = math.fsum(bounded)
        distributions.append([v / total for v in bounded])
    p, q = distributions
    return math.fsum(s * math.log(s / t) for s, t in zip(p, q, strict=True))
