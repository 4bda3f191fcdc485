"""`write_demo` writes the demo dump: two ranks, a few steps, and some faults."""

from __future__ import annotations

import difflib
import functools
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fastdump.demo._decoder import (
    OVERFLOW_OP,
    DecoderSize,
    DecoderWeights,
    forward,
    token_batch,
)
from fastdump.demo._operators import DeviceMemory, Operators
from fastdump.demo._recorder import N_RANKS, StepRecorder, empty_directory, synchronise

_OVERFLOW_RANK = 1
_OVERFLOW_STEP = 1
_TRUNCATED_RANK = 0
_ALL_REDUCE = "loss/AllReduce"
_ACTIVATIONS_ADDRESS = 0x1250_0000_0000

_SMALL_SCALE = 1.0
_TRIAL_SCALE = 2.0  # the widest model that is run only to learn the size of a step
_N_NEAR = 3
_STEP_BYTES = 512 * 2**20  # beyond this a larger dump has more steps rather than wider tensors

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class PlantedOverflow:
    """The operator that made the first bad value: finite inputs, +Inf in its output.

    Parameters
    ----------
    rank, step : int
        Rank and step on which it ran.
    op_type, op_name : str
        The operator, with its name in the header.
    path : pathlib.Path
        Its dump file; output 0 holds the Inf.
    """

    rank: int
    step: int
    op_type: str
    op_name: str
    path: Path


@dataclass(frozen=True)
class DemoDump:
    """What `write_demo` wrote.

    Parameters
    ----------
    directory : pathlib.Path
        Root of the dump.
    n_files, n_bytes : int
        Dump files and their bytes; ``mapping.csv`` tables are not counted.
    n_ranks, n_steps : int
        Ranks, and steps of each.
    overflow : PlantedOverflow
        The origin of all NaN in the dump.
    all_reduce : tuple of pathlib.Path
        Output files of the collective operator that spread NaN to every rank, by rank.
    truncated : pathlib.Path
        The file that was cut: half of its payload is missing.
    long_named : tuple of pathlib.Path
        Files whose names were too long; ``mapping.csv`` beside them has the names.
    """

    directory: Path
    n_files: int
    n_bytes: int
    n_ranks: int
    n_steps: int
    overflow: PlantedOverflow
    all_reduce: tuple[Path, ...]
    truncated: Path
    long_named: tuple[Path, ...]


def write_demo(
    directory: str | os.PathLike[str],
    *,
    size: str | int = "small",
    n_files: int | None = None,
    seed: int = 0,
    wrong: str | None = None,
) -> DemoDump:
    """Write a realistic dump of a small decoder-only transformer that overflows.

    Two data-parallel ranks evaluate batches of tokens with the same weights, and average their
    losses with a collective operator. All tensors are computed by numpy. In step 1, the tokens of
    rank 1 include one with a massive activation: in the middle layer its attention score exceeds
    float16, and the Inf becomes NaN on the way to the loss, which the collective spreads to rank 0.
    The dump also has legitimate -Inf in the attention mask, weights in FRACTAL_NZ with padding, in
    each step an operator whose name is too long for a file, and a file that was cut short, the last
    of rank 0.

    The files are those of torchair's graph mode, with inputs and outputs of every operator.
    The same arguments give the same bytes on the same machine.

    Parameters
    ----------
    directory : path
        Where to write; made if it is missing.
    size : str or int
        ``"small"`` (about 12 MB, two steps), or the target for all bytes as a number or as text:
        ``"2GB"``, ``"500MiB"``. It is reached, within about ten percent, by widening the model and
        its sequences up to 512 MiB a step, then by more steps.
    n_files : int, optional
        The target for the number of files, reached to the nearest step by adding steps, which
        share `size`. With ``"small"``, tensors keep their sizes and the bytes grow with the steps.
    seed : int
        Of weights and tokens.
    wrong : str, optional
        Name of an operator that computes values a sixteenth too large, to get a run that differs
        from another.

    Returns
    -------
    DemoDump
        What was written, and its faults.

    Raises
    ------
    ValueError
        If `size` or `n_files` is not understood or not positive, or no operator is called `wrong`.
    FileExistsError
        If `directory` is not empty.
    OSError
        If the dump cannot be written.

    Notes
    -----
    Steps 0 and 1 have their own tokens; every further step evaluates the tokens of step 0 again, so
    its tensors equal those of step 0 and are not computed anew. There are at least two steps of 238
    files, with at least about 2 MB. Memory holds the weights, the logits of both ranks, and the
    tensors of one layer, whatever the number of steps.

    Examples
    --------
    >>> from fastdump.demo import write_demo
    >>> demo = write_demo("demo_dump")  # doctest: +SKIP
    >>> demo.overflow.op_name  # doctest: +SKIP
    'model.layers.2.self_attn/BatchMatMul_qk'
    """
    if wrong is not None:
        check_op_name(wrong)
    extents, n_steps = _plan(size, n_files, seed)
    directory = empty_directory(directory)

    weights = DecoderWeights(extents, seed)
    clean_steps = [step for step in range(n_steps) if step != _OVERFLOW_STEP]
    clean = [StepRecorder(directory, rank, clean_steps) for rank in range(N_RANKS)]
    overflowing = [StepRecorder(directory, rank, [_OVERFLOW_STEP]) for rank in range(N_RANKS)]
    _evaluate(clean, weights, _batches(extents, seed, 0), wrong)
    _evaluate(overflowing, weights, _batches(extents, seed, _OVERFLOW_STEP), wrong)

    last = overflowing if n_steps - 1 == _OVERFLOW_STEP else clean
    truncated = list(last[_TRUNCATED_RANK].paths.values())[-1]
    n_missing = _cut_payload(truncated)
    origin = overflowing[_OVERFLOW_RANK].paths[OVERFLOW_OP]
    recorders = (*clean, *overflowing)
    return DemoDump(
        directory=directory,
        n_files=sum(r.n_steps * r.files_per_step for r in recorders),
        n_bytes=sum(r.n_steps * r.bytes_per_step for r in recorders) - n_missing,
        n_ranks=N_RANKS,
        n_steps=n_steps,
        overflow=PlantedOverflow(
            rank=_OVERFLOW_RANK,
            step=_OVERFLOW_STEP,
            op_type=origin.name.partition(".")[0],
            op_name=OVERFLOW_OP,
            path=origin,
        ),
        all_reduce=tuple(recorder.paths[_ALL_REDUCE] for recorder in overflowing),
        truncated=truncated,
        long_named=tuple(path for r in recorders for path in r.long_named),
    )


def _batches(extents: DecoderSize, seed: int, step: int) -> list[npt.NDArray[np.int64]]:
    """Return each rank's tokens."""
    return [
        token_batch(
            extents,
            seed,
            rank=rank,
            step=step,
            with_outlier=(rank, step) == (_OVERFLOW_RANK, _OVERFLOW_STEP),
        )
        for rank in range(N_RANKS)
    ]


def check_op_name(name: str) -> None:
    """Raise ValueError, with similar names, if no operator of the demo model has `name`."""
    names = _op_names()
    if name in names:
        return
    near = [known for known in names if name.lower() in known.lower()][:_N_NEAR]
    if not near:
        by_end = {known.rpartition("/")[2]: known for known in names}
        found = difflib.get_close_matches(name, [*names, *by_end], _N_NEAR)
        near = list(dict.fromkeys(by_end.get(known, known) for known in found))
    hint = f"; near it are {', '.join(map(repr, near))}" if near else ""
    raise ValueError(f"no operator of the demo model is called {name!r}{hint}")


@functools.cache
def _op_names() -> tuple[str, ...]:
    """Return the names of all operators, which are the same for models of any size."""
    return tuple(_trial(DecoderSize.at_scale(_SMALL_SCALE), 0)[0].op_names)


def _trial(extents: DecoderSize, seed: int) -> list[StepRecorder]:
    """Run one step on all ranks without writing anything; return what recorded it."""
    recorders = [StepRecorder(Path(), rank, []) for rank in range(N_RANKS)]
    _evaluate(recorders, DecoderWeights(extents, seed), _batches(extents, seed, 0), None)
    return recorders


def _evaluate(
    recorders: Sequence[StepRecorder],
    weights: DecoderWeights,
    batches: Sequence[npt.NDArray[np.int64]],
    wrong: str | None,
) -> None:
    """Run one step on all ranks."""
    ranks = [
        Operators(DeviceMemory(_ACTIVATIONS_ADDRESS), recorder, wrong) for recorder in recorders
    ]
    # Overflow is intended here.
    with np.errstate(all="ignore"):
        results = [
            forward(ops, weights, tokens) for ops, tokens in zip(ranks, batches, strict=True)
        ]
        # A collective operator has two files: inputs before it, outputs after it.
        for ops, (_, loss) in zip(ranks, results, strict=True):
            ops.run("HcomAllReduce", _ALL_REDUCE, (loss,))
        synchronise(recorders)
        total = np.sum([loss.values for _, loss in results], dtype=np.float32)
        for ops, (logits, _) in zip(ranks, results, strict=True):
            (reduced,) = ops.run("HcomAllReduce", _ALL_REDUCE, (), total)
            ops.muls("loss/Muls_mean", reduced, 1 / N_RANKS)
            ops.arg_max("next_token/ArgMax", logits)


def _plan(size: str | int, n_files: int | None, seed: int) -> tuple[DecoderSize, int]:
    """Return the model's extents and the number of steps."""
    small = DecoderSize.at_scale(_SMALL_SCALE)
    target = None if size == "small" else _n_bytes(size)
    if n_files is not None:
        if n_files <= 0:
            raise ValueError(f"n_files must be positive, not {n_files}")
        n_steps = max(2, round(n_files / _weigh(small, seed)[0]))
    else:
        n_steps = max(2, math.ceil((target or 0) / _STEP_BYTES))
    if target is None:
        return small, n_steps

    scale = 1.0
    for _ in range(3):
        trial = min(scale, _TRIAL_SCALE)
        _, step_bytes = _weigh(DecoderSize.at_scale(trial), seed)
        scale = trial * math.sqrt(target / n_steps / step_bytes)
    return DecoderSize.at_scale(scale), n_steps


def _weigh(extents: DecoderSize, seed: int) -> tuple[int, int]:
    """Return how many files and bytes a step has on all ranks; nothing is written."""
    recorders = _trial(extents, seed)
    return sum(r.files_per_step for r in recorders), sum(r.bytes_per_step for r in recorders)


def _n_bytes(size: str | int) -> int:
    if isinstance(size, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?))?B?", size.strip(), re.IGNORECASE)
        if match is None:
            raise ValueError(f"size must be 'small' or bytes such as '2GB', not {size!r}")
        number, prefix, binary = match.groups()
        units = _BINARY_UNITS if binary else _UNITS
        size = int(float(number) * units[(prefix or "").upper()])
    if size <= 0:
        raise ValueError(f"size must be positive, not {size}")
    return size


def _cut_payload(path: Path) -> int:
    """Cut off the second half of a file's payload; return how many bytes that was."""
    with path.open("r+b") as file:
        header_end = 8 + int.from_bytes(file.read(8), "little")
        n_bytes = path.stat().st_size
        n_kept = header_end + (n_bytes - header_end) // 2
        file.truncate(n_kept)
    return n_bytes - n_kept
