"""Dump files to measure with: large ones of each element type, and many small ones."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.element_types import n_elements, storage_dtype
from benchmarks.hifloat8 import hifloat8_values
from benchmarks.scale import BLOCK_NBYTES, MIB, N_FILES_A_DIRECTORY
from fastdump import testing

_TIMESTAMP = 1_700_000_000_000_000
_OP_TYPES = ("MatMulV2", "Add", "RmsNorm", "Cast", "SoftmaxV2", "Mul", "Transpose", "GatherV2")


@dataclass(frozen=True)
class LargeFile:
    """A dump file with one tensor of one dimension."""

    path: Path
    dtype: str
    payload_offset: int
    nbytes: int


def elements(dtype: str, *, one_in: int = 0) -> npt.NDArray[np.uint8]:
    """Return `BLOCK_NBYTES` of finite elements: normally distributed floats, uniform integers.

    One in `one_in` of them is NaN or Inf, if that is not 0.
    """
    rng = np.random.default_rng(0)
    if dtype == "bool":
        return rng.integers(0, 2, BLOCK_NBYTES, np.uint8)
    if dtype in ("int4", "float4_e2m1fn", "int8", "uint8", "int16", "int32"):
        return rng.integers(0, 256, BLOCK_NBYTES, np.uint8)
    if dtype == "int64":
        return rng.integers(-(1 << 31), 1 << 31, BLOCK_NBYTES // 8, np.int64).view(np.uint8)
    if dtype == "hifloat8":
        finite = np.flatnonzero(np.isfinite(hifloat8_values())).astype(np.uint8)
        return rng.choice(finite, BLOCK_NBYTES)
    n_values = BLOCK_NBYTES // storage_dtype(dtype).itemsize
    values = rng.standard_normal(n_values, np.float32)
    if dtype == "float8_e8m0fnu":
        np.abs(values, out=values)
    if one_in:
        bad = np.array([np.nan, np.inf, -np.inf], np.float32)
        values[::one_in] = np.resize(bad, values[::one_in].shape)
    return values.astype(storage_dtype(dtype)).view(np.uint8)


def random_codes() -> npt.NDArray[np.uint8]:
    """Return `BLOCK_NBYTES` of uniformly random bytes: every code of a type of eight bits."""
    return np.random.default_rng(0).integers(0, 256, BLOCK_NBYTES, np.uint8)


def large_file(
    directory: Path, dtype: str, block: npt.NDArray[np.uint8], nbytes: int, piece_nbytes: int
) -> AbstractContextManager[LargeFile]:
    """Write a file of `nbytes` bytes of elements, in pieces; remove it in the end.

    The size of the pieces decides in which units recent kernels keep the file in memory.
    """
    pieces = (
        block[begin : begin + piece_nbytes]
        for _ in range(nbytes // block.nbytes)
        for begin in range(0, block.nbytes, piece_nbytes)
    )
    return _written_file(directory, dtype, pieces, nbytes)


def random_file(directory: Path, nbytes: int) -> AbstractContextManager[LargeFile]:
    """Write a file of `nbytes` bytes of float32 without repetition; remove it in the end."""
    rng = np.random.default_rng(0)
    n = BLOCK_NBYTES // 4
    pieces = (rng.random(n, np.float32).view(np.uint8) for _ in range(nbytes // BLOCK_NBYTES))
    return _written_file(directory, "float32", pieces, nbytes)


@contextmanager
def _written_file(
    directory: Path, dtype: str, pieces: Iterable[npt.NDArray[np.uint8]], nbytes: int
) -> Iterator[LargeFile]:
    require_room(directory, nbytes)
    shape = (n_elements(dtype, nbytes),)
    spec = testing.TensorSpec(b"", dtype=dtype, shape=shape, size=nbytes)
    header = testing.dump_header(outputs=[spec], op_name=f"bench/{dtype}")
    path = directory / _name("Data", dtype, 0)
    try:
        with path.open("wb", buffering=0) as file:
            file.write(header)
            for piece in pieces:
                file.write(piece.data)
            # Otherwise the disk is at work while the file is measured.
            os.fsync(file.fileno())
        yield LargeFile(path, dtype, len(header), len(header) + nbytes)
    finally:
        path.unlink(missing_ok=True)


def write_sparse_files(directory: Path, nbytes: int, n_files: int) -> None:
    """Write dump files of float32 zeros, `nbytes` bytes in all, that take no room on the disk."""
    each = nbytes // n_files
    for task_id in range(n_files):
        spec = testing.TensorSpec(b"", dtype="float32", shape=(each // 4,), size=each)
        header = testing.dump_header(outputs=[spec], op_name=f"bench/zeros{task_id}")
        path = directory / _name("Data", "zeros", task_id)
        path.write_bytes(header)
        os.truncate(path, len(header) + each)


def write_small_files(
    root: Path, n_files: int, nbytes: int, *, n_tensors: Literal[1, 2] = 2
) -> list[Path]:
    """Write a dump of `n_files` files of about `nbytes` bytes and return their paths in order.

    Each is an operator with an output, and an input too if there are two tensors; the files differ
    in their names only.
    """
    n = (nbytes - 256) // 2 // n_tensors
    tensor = np.random.default_rng(0).standard_normal(n).astype(np.float16)
    inputs = [tensor] * (n_tensors - 1)
    content = testing.dump_header(inputs=inputs, outputs=[tensor], op_name="layers.0/Op")
    content += tensor.tobytes() * n_tensors
    require_room(root, n_files * max(len(content), 4096))
    paths = list(_small_file_paths(root, n_files, N_FILES_A_DIRECTORY))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    # A million files: no objects and no walk from the root for each.
    for first in range(0, n_files, N_FILES_A_DIRECTORY):
        directory = paths[first].parent
        directory.mkdir(parents=True)
        directory_fd = os.open(directory, os.O_RDONLY)
        for path in paths[first : first + N_FILES_A_DIRECTORY]:
            fd = os.open(path.name, flags, 0o644, dir_fd=directory_fd)
            os.write(fd, content)
            os.close(fd)
        os.close(directory_fd)
    os.sync()
    return paths


def write_mixed_files(root: Path, n_files: int, least: int, largest: int) -> list[Path]:
    """Write dump files of one float32 tensor each, of `least` to `largest` bytes, in no order.

    The sizes are a geometric progression.
    """
    ratio = (largest / least) ** (1 / (n_files - 1))
    sizes = [round(least * ratio**i / 4) * 4 for i in range(n_files)]
    require_room(root, sum(sizes))
    random.Random(0).shuffle(sizes)
    block = elements("float32").data
    paths = []
    for task_id, nbytes in enumerate(sizes):
        spec = testing.TensorSpec(b"", dtype="float32", shape=(nbytes // 4,), size=nbytes)
        path = root / _name("Data", "mixed", task_id)
        with path.open("wb", buffering=0) as file:
            file.write(testing.dump_header(outputs=[spec], op_name=f"bench/mixed{task_id}"))
            for begin in range(0, nbytes, len(block)):
                file.write(block[: nbytes - begin])
            os.fsync(file.fileno())
        paths.append(path)
    return paths


def write_chains(root: Path, n_files: int) -> None:
    """Write a dump of 8 ranks whose operators each read what the one before has written."""
    n_ranks = 8
    random_numbers = np.random.default_rng(0)
    content: list[tuple[str, bytes]] = []
    read = testing.TensorSpec(np.zeros(256, np.float16), address=0x1000)
    for task_id in range(min(n_files // n_ranks, 1250)):
        size = int(random_numbers.integers(32, 480))
        array = random_numbers.standard_normal(size).astype(np.float16)
        written = testing.TensorSpec(array, address=0x10000 + 0x1000 * (task_id % 97))
        name = f"model/layers.{task_id // 16}/op{task_id}"
        header = testing.dump_header(inputs=[read], outputs=[written], op_name=name)
        payloads = np.asarray(read.data).tobytes() + array.tobytes()
        file_name = _name(_OP_TYPES[task_id % len(_OP_TYPES)], name.replace("/", "_"), task_id)
        content.append((file_name, header + payloads))
        read = written
    for i in range(n_files // len(content)):
        rank, step = i % n_ranks, i // n_ranks
        directory = testing.model_dump_dir(
            testing.rank_dir(root, world_size=n_ranks, rank=rank),
            time="20240101000000",
            device=rank,
            model="decoder",
            model_id=1,
            step=step,
        )
        directory.mkdir(parents=True)
        for file_name, data in content:
            (directory / file_name).write_bytes(data)


def write_names(root: Path, n_files: int, n_files_a_directory: int) -> None:
    """Write empty files with the names of a dump, in no order."""
    paths = list(_small_file_paths(root, n_files, n_files_a_directory))
    for directory in {path.parent for path in paths}:
        directory.mkdir(parents=True)
    random.Random(0).shuffle(paths)
    for path in paths:
        path.touch()


def _small_file_paths(root: Path, n_files: int, n_files_a_directory: int) -> Iterator[Path]:
    """Yield the paths of a dump of one rank, in the order of execution."""
    for first in range(0, n_files, n_files_a_directory):
        directory = testing.model_dump_dir(
            testing.rank_dir(root, world_size=8, rank=0),
            time="20240101000000",
            device=0,
            model="decoder",
            model_id=1,
            step=first // n_files_a_directory,
        )
        for task_id in range(min(n_files_a_directory, n_files - first)):
            op_type = _OP_TYPES[task_id % len(_OP_TYPES)]
            yield directory / _name(op_type, f"model.layers.{task_id // 16}.op", task_id)


def write_equal_files(root: Path, n_files: int, nbytes: int) -> None:
    """Write a dump of `n_files` files, each with one tensor, `nbytes` bytes in all."""
    tensor = np.random.default_rng(0).standard_normal(nbytes // n_files // 2).astype(np.float16)
    require_room(root.parent, nbytes)
    for task_id in range(n_files):
        name = _name(_OP_TYPES[task_id % len(_OP_TYPES)], f"layers.{task_id}", task_id)
        testing.write_dump(
            root / str(task_id // 100) / name, outputs=[tensor], op_name=f"layers.{task_id}"
        )
    os.sync()


def require_room(directory: Path, nbytes: int) -> None:
    """Skip the benchmark that asks if there is no room for `nbytes` and some more."""
    free = shutil.disk_usage(directory).free
    if free < nbytes + 256 * MIB:
        pytest.skip(
            f"{directory} has {free // MIB} MiB free, {nbytes // MIB} MiB are needed; "
            "FASTDUMP_BENCH_DIR names another directory"
        )


def _name(op_type: str, op_name: str, task_id: int) -> str:
    return testing.dump_name(
        op_type, op_name, task_id=task_id, stream_id=2, timestamp=_TIMESTAMP + task_id
    )
