"""A process that scans by the workers of an engine, or by threads of its own, on request.

Workers are started before the first request, and stay. This file is that process's program too: it
runs what it is asked for over a socket, as not every launcher passes on what it reads.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import Client, Connection
from pathlib import Path
from typing import Any

import fastdump

N_WORKERS = 2
_READY = "ready"
_PATIENCE_S = 240


@contextmanager
def _processes() -> Iterator[Executor]:
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(N_WORKERS, mp_context=context) as pool:
        yield pool


@contextmanager
def _loky() -> Iterator[Executor]:
    import loky

    with loky.get_reusable_executor(max_workers=N_WORKERS) as pool:
        yield pool


@contextmanager
def _dask() -> Iterator[Executor]:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


@contextmanager
def _mpi() -> Iterator[Executor]:
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as pool:
        yield pool


class _RayExecutor(Executor):
    _max_workers = N_WORKERS

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        import ray

        return ray.remote(function).remote(*arguments, **more).future()


@contextmanager
def _ray() -> Iterator[Executor]:
    import ray

    ray.init(num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False)
    try:
        yield _RayExecutor()
    finally:
        ray.shutdown()


ENGINES: Mapping[str, tuple[str, Callable[[], AbstractContextManager[Executor]]]] = {
    "process pool": ("fastdump", _processes),
    "loky": ("loky", _loky),
    "dask": ("distributed", _dask),
    "MPI": ("mpi4py", _mpi),
    "ray": ("ray", _ray),
}
"""What each engine needs, and how its workers are started."""


def is_installed(engine: str) -> bool:
    """Return whether an engine can be started here."""
    has_launcher = engine != "MPI" or shutil.which("mpirun", path=_path()) is not None
    return has_launcher and importlib.util.find_spec(ENGINES[engine][0]) is not None


def _path() -> str:
    return os.pathsep.join((os.path.dirname(sys.executable), os.environ.get("PATH", "")))  # noqa: PTH120


class ExecutorProcess:
    """A process with the workers of an engine."""

    def __init__(self, engine: str) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True)
        address = str(Path(self._directory.name, "socket"))
        program = ["-m", "benchmarks.executor_process", engine, address]
        command = [sys.executable, *program]
        if engine == "MPI":  # one more, which hands out the work
            ranks = str(N_WORKERS + 1)
            command = ["mpirun", "-n", ranks, sys.executable, "-m", "mpi4py.futures", *program]
        server = socket.socket(socket.AF_UNIX)
        server.settimeout(_PATIENCE_S)  # should the process end before it connects
        server.bind(address)
        server.listen(1)
        self._process = subprocess.Popen(
            command,
            env={
                **os.environ,
                "PATH": _path(),
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                "OMPI_MCA_rmaps_base_oversubscribe": "1",
                "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
                "RAY_AUTH_MODE": "disabled",
                "RAY_TMPDIR": self._directory.name,
                "RAY_USAGE_STATS_ENABLED": "0",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        with server:
            accepted, _ = server.accept()
        accepted.setblocking(True)
        self._connection = Connection(accepted.detach())
        self._wait()

    def __enter__(self) -> ExecutorProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()
        try:
            self._process.wait(_PATIENCE_S)
        finally:
            self._process.kill()
            self._directory.cleanup()

    def call(self, function: str, *paths: Path, by_workers: bool, **options: object) -> None:
        """Call a function of fastdump, by the workers of the engine or by as many threads."""
        self._connection.send((function, paths, by_workers, options))
        self._wait()

    def _wait(self) -> None:
        if not self._connection.poll(_PATIENCE_S) or self._connection.recv() != _READY:
            raise RuntimeError("the process of the engine does not answer")


def _serve(engine: str, address: str) -> None:
    with ENGINES[engine][1]() as executor, Client(address, "AF_UNIX") as connection:
        connection.send(_READY)
        while True:
            try:
                name, paths, by_workers, options = connection.recv()
            except EOFError:
                return
            who = {"executor": executor} if by_workers else {"threads": N_WORKERS}
            getattr(fastdump, name)(*paths, **who, **options)
            connection.send(_READY)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
