"""Fixtures that several test modules share."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import settings

from fastdump import _core

if TYPE_CHECKING:
    from sample_dumps import Demos

# What test modules share beyond fixtures lies beside them; --import-mode=importlib adds no path.
sys.path.insert(0, str(Path(__file__).parent))

# How long an example takes says nothing on a machine that others use.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# Nor does how long a cluster of dask takes to begin.
os.environ.setdefault("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "300s")

# Written out here a second time on purpose: the tests do not take the schema from what they test.
INTEGERS = [
    "layer",
    "rank",
    "device",
    "model_id",
    "step",
    "task_id",
    "stream_id",
    "timestamp",
    "context_id",
    "thread_id",
    "index",
    "nbytes",
    "count",
    "nan",
    "pos_inf",
    "neg_inf",
    "offset",
]
FULL_ONLY = ["zero", "subnormal", "saturated", "min_abs", "first_bad"]
REALS = ["max", "min", "mean", "l2norm", "min_abs"]
SHAPES = ["shape", "origin_shape"]
NAMES = [
    "rank",
    "time",
    "device",
    "model",
    "model_id",
    "step",
    "op_type",
    "op_name",
    "layer",
    "task_id",
    "stream_id",
    "timestamp",
    "context_id",
    "thread_id",
    "io",
    "index",
    "dtype",
    "format",
    "shape",
    "origin_shape",
    "nbytes",
    "count",
    "max",
    "min",
    "mean",
    "l2norm",
    "nan",
    "pos_inf",
    "neg_inf",
    "zero",
    "subnormal",
    "saturated",
    "min_abs",
    "first_bad",
    "status",
    "note",
    "path",
    "offset",
    "source",
]
REQUIRED = {"status": "ok", "path": "0/Add.a.1.2.1700000000000000", "source": "tensor"}

MakeArrow = Callable[..., pa.Table]


def _field(name: str) -> pa.Field:
    if name in REALS:
        return pa.field(name, pa.float64())
    if name in INTEGERS or name in FULL_ONLY:
        return pa.field(name, pa.int64())
    if name in SHAPES:
        return pa.field(name, pa.list_(pa.int64()))
    return pa.field(name, pa.string(), nullable=name not in REQUIRED)


@pytest.fixture(autouse=True, scope="session")
def ending_signals() -> Iterator[None]:
    """Let signals end tests and what they start; in the background some are ignored."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def make_arrow() -> MakeArrow:
    """Return a function that makes a pyarrow table from rows, in which most columns may lack."""

    def make(rows: Sequence[Mapping[str, Any]], *, full: bool = False) -> pa.Table:
        names = [name for name in NAMES if full or name not in FULL_ONLY]
        unknown = {name for row in rows for name in row} - set(names)
        assert not unknown, unknown
        return pa.Table.from_pylist(
            [{**REQUIRED, **row} for row in rows], pa.schema([_field(name) for name in names])
        )

    return make


@pytest.fixture(scope="session")
def reference_dumps() -> Path:
    """Return the folder of dumps that another writer made, with what is in them."""
    default = Path(__file__).resolve().parents[2] / "shared" / "reference-dumps"
    folder = Path(os.environ.get("FASTDUMP_REFERENCE_DUMPS", default))
    if not (folder / "expected.json").is_file():
        pytest.skip(
            f"there are no reference dumps in {folder}; FASTDUMP_REFERENCE_DUMPS names them"
        )
    return folder


@pytest.fixture(scope="session")
def reference_models() -> Path:
    """Return the folder of recorded models, one dump each, that another writer made."""
    default = Path(__file__).resolve().parents[2] / "shared" / "reference-models"
    folder = Path(os.environ.get("FASTDUMP_REFERENCE_MODELS", default))
    if not (folder / "llama-float32").is_dir():
        pytest.skip(
            f"there are no recorded models in {folder}; FASTDUMP_REFERENCE_MODELS names them"
        )
    return folder


@pytest.fixture(scope="session")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    """Return the sample dumps, which no test changes."""
    from sample_dumps import write_demos

    return write_demos(tmp_path_factory.getbasetemp() / "demos")


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    """Return two processes, which know nothing of this one."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="session")
def simd_tiers() -> list[str]:
    """Return the instruction-set tiers that this machine can run, best first."""
    return [name for name, usable, _ in _core.simd_tiers() if usable]


# By marker: why a test cannot run under an emulator, as `make aarch64` says with FASTDUMP_EMULATED.
_NOT_EMULATED = {
    "many_addresses": "an emulator cannot give a program so many addresses",
    "measures_memory": "an emulator has memory and addresses of its own within the program's",
}
# By marker: what a sanitizer's library defines where it is loaded, and why it cannot run the test.
_NOT_UNDER = {
    "measures_memory": (
        ("__asan_init", "__tsan_init"),
        "a sanitizer is loaded, which takes terabytes of addresses and multiplies memory",
    ),
    "threads_after_fork": (
        ("__tsan_init",),
        "ThreadSanitizer loses track of threads in a fork of a process that has threads",
    ),
}


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Skip what the sanitizer that is loaded, or the emulator, if one is, cannot run."""
    program = ctypes.CDLL(None)
    skipped = [
        (marker, reason)
        for marker, (symbols, reason) in _NOT_UNDER.items()
        if any(hasattr(program, symbol) for symbol in symbols)
    ]
    if os.environ.get("FASTDUMP_EMULATED"):
        skipped += _NOT_EMULATED.items()
    for marker, reason in skipped:
        for item in items:
            if item.get_closest_marker(marker) is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


RunPython = Callable[..., str]


@pytest.fixture(scope="session")
def run_python() -> RunPython:
    """Return a function that runs a program in a process of its own and returns what it prints."""

    def run(program: str, *arguments: object, **environment: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-X", "faulthandler", "-c", program, *map(str, arguments)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, f"exit status {ended.returncode}\n{ended.stderr}"
        return ended.stdout

    return run
