"""Dumps on the disks of a cluster's hosts, which one worker of each host scans."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparisons import write_op
from test_concat import assert_same_table

import fastdump

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")

HOSTS = ("127.0.0.1", "127.0.0.2")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Provide a cluster of three workers on two hosts, which are two names of this one."""
    with contextlib.ExitStack() as stack:
        nanny = {"cls": distributed.Nanny, "options": {"nthreads": 1, "dashboard": False}}
        workers = {
            i: {**nanny, "options": {**nanny["options"], "host": host}}
            for i, host in enumerate((*HOSTS, HOSTS[0]))
        }
        scheduler = {"cls": distributed.Scheduler, "options": {"dashboard": False}}
        cluster = stack.enter_context(distributed.SpecCluster(scheduler=scheduler, workers=workers))
        found = stack.enter_context(distributed.Client(cluster))
        found.wait_for_workers(3)
        yield found


@pytest.fixture
def disks(client: Any, tmp_path: Path) -> list[Path]:
    """Return a directory for each host, which is the current one of its workers."""
    found = [tmp_path / host for host in HOSTS]
    for host, disk in zip(HOSTS, found, strict=True):
        disk.mkdir()
        addresses = [address for address in client.nthreads() if f"//{host}:" in address]
        client.run(os.chdir, str(disk), workers=addresses)
    return found


def write(root: Path, rank: int | None, factor: float = 1, step: int = 0) -> None:
    for at in range(3):
        write_op(
            root, f"Add op{at}", at=at, rank=rank, step=step, outputs=[np.arange(9.0) * factor]
        )


def test_each_host_scans_its_own(client: Any, disks: list[Path]) -> None:
    for rank, disk in enumerate(disks):
        write(disk / "dump", rank, rank + 1)
    from fastdump.dask import stats

    table = stats("dump", client, level="full")
    expected = fastdump.concat([fastdump.stats(disk / "dump", level="full") for disk in disks])
    assert_same_table(table, expected)
    assert table["rank"].tolist() == [0, 0, 0, 1, 1, 1]
    # A host without what is selected adds nothing.
    assert set(stats("dump", client, rank=1)["rank"]) == {1}
    with pytest.raises(fastdump.NoDumpError, match="rank 7"):
        stats("dump", client, rank=7)


def test_hosts_that_look_the_same(client: Any, disks: list[Path], tmp_path: Path) -> None:
    from fastdump.dask import stats

    write(tmp_path / "dump", None)
    with pytest.raises(ValueError, match="as_rank"):
        stats(tmp_path / "dump", client)
    table = stats(tmp_path / "dump", client, ranks=dict(zip(HOSTS, (5, 4), strict=True)))
    assert table["rank"].tolist() == [4, 4, 4, 5, 5, 5]
    with pytest.raises(ValueError, match=r"ranks lacks 127\.0\.0\.2"):
        stats(tmp_path / "dump", client, ranks={HOSTS[0]: 0})
    with pytest.raises(FileNotFoundError):
        stats(tmp_path / "nothing", client)


def test_it_is_imported_on_request_only() -> None:
    code = "import sys, fastdump; fastdump.stats; print('fastdump.dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
