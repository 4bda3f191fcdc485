"""Scans whose files are read by other processes: the table of one process, whoever works."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_dumps import Demos, write_unusual
from test_concat import assert_same_table, plain_trees, write_random_tree

import fastdump
from fastdump import testing


class Here(Executor):
    """Does what is submitted at once, and counts it; has no `_max_workers`."""

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.n_submitted = 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        self.n_submitted += 1
        self.threads.append(arguments[1])
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **more))
        except BaseException as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module", params=["spawn", "forkserver", "thread"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "thread":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    else:
        context = multiprocessing.get_context(request.param)
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            yield pool


def test_the_same_table(
    demos: Demos, tmp_path: Path, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    unusual = write_unusual(tmp_path / "unusual")
    (unusual / "notes.txt").write_text("no dump")
    (unusual / "link").symlink_to(unusual / "notes.txt")
    write_random_tree(tmp_path / "random", seed=1)
    monkeypatch.chdir(tmp_path)  # workers have another directory
    for what in (demos.model, "unusual", "random", ["unusual", "./random", demos.watcher]):
        whole = fastdump.stats(what, level="full")
        assert_same_table(fastdump.stats(what, level="full", executor=executor), whole)
    assert fastdump.stats("unusual").skipped
    report = fastdump.triage(demos.overflow, executor=executor)
    assert report.to_dict() == fastdump.triage(demos.overflow).to_dict()


def test_a_forked_pool(demos: Demos) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        table = fastdump.stats(demos.overflow, executor=pool)
    assert_same_table(table, fastdump.stats(demos.overflow))


def test_all_that_stats_takes(demos: Demos, tmp_path: Path) -> None:
    tree = plain_trees(tmp_path)[0]
    options: list[dict[str, Any]] = [
        {"op_type": "MatMul*", "io": "output"},
        {"level": "health", "logical": True, "engine": "read"},
        {"as_rank": 3, "rank": 3, "base": tmp_path},
        {"shard": (1, 3)},
    ]
    for what, some in ((demos.model, options[:2]), (tree, options[2:])):
        for option in some:
            assert_same_table(
                fastdump.stats(what, executor=Here(), **option), fastdump.stats(what, **option)
            )
    assert len(fastdump.stats(plain_trees(tmp_path), executor=Here()).notes) == 1
    for what in (fastdump.open(tree), fastdump.stats(tree)):
        with pytest.raises(ValueError, match="executor"):
            fastdump.stats(what, executor=Here())
    with pytest.raises(fastdump.NoDumpError, match="no step 99"):
        fastdump.stats(demos.model, step=99, executor=Here())
    (tmp_path / "empty").mkdir()
    with pytest.raises(fastdump.NoDumpError):
        fastdump.stats(tmp_path / "empty", executor=Here())


def test_workers_have_one_thread_unless_told(demos: Demos) -> None:
    for threads, expected in ((None, 1), (3, 3)):
        here = Here()
        fastdump.stats(demos.overflow, threads=threads, executor=here)
        assert set(here.threads) == {expected}


def test_a_file_that_is_replaced_later(tmp_path: Path, executor: Executor) -> None:
    """A row knows in which state its file was read, though that was in another process."""
    for root in plain_trees(tmp_path)[:1]:
        table = fastdump.stats(root, executor=executor)
        row = next(row for row in table if row.io)
        assert row.tensor().nbytes == row.nbytes
        path = Path(row.file())
        (tmp_path / "new").write_bytes(path.read_bytes())
        (tmp_path / "new").rename(path)
        with pytest.raises(fastdump.FileChangedError):
            row.tensor()


def test_work_is_cut_by_bytes(tmp_path: Path) -> None:
    """One large file is a part of its own, and small ones share."""
    for i in range(64):
        n = 1 << 20 if i == 7 else 1
        testing.write_dump(
            tmp_path / f"Add.op{i:02}.7.3.{1768383043000000 + i}", outputs=[np.ones(n, np.float32)]
        )
    tables: list[int] = []

    class Counting(Here):
        def submit(self, function: Any, /, *arguments: Any, **more: Any) -> Future[Any]:
            future = super().submit(function, *arguments, **more)
            tables.append(len(future.result()[0]))
            return future

    fastdump.stats(tmp_path, executor=Counting())
    assert sum(tables) == 64
    assert len(tables) > 20
    assert max(tables) <= 8


def test_progress_and_its_end(demos: Demos, executor: Executor) -> None:
    seen: list[Any] = []
    table = fastdump.stats(demos.model, executor=executor, progress=seen.append)
    last = seen[-1]
    assert last.files_done == last.files_found >= table.summary()["files"]
    assert last.tensors == len(table)
    assert last.bad == table.bad.sum()
    assert [one.files_done for one in seen] == sorted(one.files_done for one in seen)

    def stop(progress: Any) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fastdump.stats(demos.model, executor=executor, progress=stop)
    assert executor.submit(max, 1, 2).result() == 2  # it is not shut down


def test_an_error_of_a_worker(
    demos: Demos, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="engine"):
        fastdump.stats(demos.model, executor=executor, engine="fast")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads"):
        fastdump.stats(demos.model, executor=executor, threads=0)
    assert len(fastdump.stats(demos.overflow, executor=executor))


def test_a_worker_that_is_killed(demos: Demos) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        victim = pool.submit(os.getpid).result()
        with pytest.raises(Exception, match="terminated abruptly"):
            fastdump.stats(
                demos.model, executor=pool, progress=lambda _: os.kill(victim, signal.SIGKILL)
            )


def test_ctrl_c_hands_over_no_more(demos: Demos) -> None:
    here = Here()

    def interrupt(progress: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fastdump.stats(demos.model, executor=here, progress=interrupt)
    assert 0 < here.n_submitted < 64
    assert threading.active_count() < 20
