"""Comparisons whose pairs are read by workers: the table of one process, whoever works."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyarrow as pa
import pytest
from comparisons import write_op
from elsewhere import Elsewhere
from sample_dumps import Demos, write_unusual

import fastdump
from fastdump import ComparisonTable, testing
from fastdump._compare.run import Comparing
from fastdump._compare.tolerances import Tolerances
from fastdump._selection import Selection


def assert_same(found: ComparisonTable, expected: ComparisonTable) -> None:
    """Check that two tables are the same bit for bit, with all that is said beside the rows."""
    assert found.about == expected.about
    assert found.columns == expected.columns
    for name in expected.columns:
        one, other = (pa.table(table)[name].combine_chunks() for table in (found, expected))
        if pa.types.is_floating(other.type):  # NaN is not equal to itself
            assert one.is_null().equals(other.is_null()), name
            one, other = (
                pa.array(column.fill_null(0).to_numpy(zero_copy_only=False).view(np.int64))
                for column in (one, other)
            )
        assert one.equals(other), name
    assert found.to_dict() == expected.to_dict()


def write_layouts(root: Path, factor: float) -> None:
    """Write tensors that are compared in different ways, a bit different for each factor."""
    matrix = np.linspace(-3, 3, 15 * 17, dtype=np.float16).reshape(15, 17) * np.float16(factor)
    padded = np.zeros((2, 1, 16, 16), np.float16)
    for column in range(2):
        block = matrix[:, 16 * column : 16 * (column + 1)]
        padded[column, 0, :15, : block.shape[1]] = block
    stored = testing.TensorSpec(padded, format="FRACTAL_NZ", origin_shape=(15, 17))
    masked = matrix.copy()
    masked[0] = np.finfo(np.float16).min if factor == 1 else -6e4
    codes = np.arange(-8, 8).astype(ml_dtypes.int4)
    for at, tensors in enumerate(
        (
            {"outputs": [stored]},
            {"outputs": [stored if factor == 1 else matrix]},
            {"inputs": [masked.astype(np.float32)], "outputs": [masked]},
            {"outputs": [codes, np.zeros((0, 3), np.float32), np.array(factor)]},
            {"outputs": [testing.TensorSpec(b"abc", dtype="STRING"), matrix.T]},
        )
    ):
        write_op(root, f"Add layers.{at}/op", at=at, **tensors)
    np.save(root / "Sub.fortran.1.2.1700000000000009.output.0.npy", np.asfortranarray(matrix))
    path = write_op(root, "Mul late/cut", at=9, outputs=[np.full(99, factor)])
    path.write_bytes(path.read_bytes()[: -8 if factor == 1 else -16])


@pytest.mark.parametrize(
    "options",
    [{}, {"kl": True, "logical": True, "engine": "read"}, {"rtol": 0.5, "threads": 2}],
    ids=["default", "logical", "rtol"],
)
def test_the_same_table(
    demos: Demos, tmp_path: Path, pool: Executor, monkeypatch: pytest.MonkeyPatch, options: Any
) -> None:
    for factor, name in ((1.0, "a"), (1.001, "b")):
        write_unusual(tmp_path / "unusual" / name)
        write_layouts(tmp_path / "layouts" / name, factor)
    monkeypatch.chdir(tmp_path)  # workers have another directory
    for what, pairs in (("layouts", 11), ("unusual", 20)):
        expected = fastdump.compare(f"{what}/a", f"{what}/b", **options)
        assert len(expected) >= pairs
        assert_same(fastdump.compare(f"{what}/a", f"{what}/b", executor=pool, **options), expected)
    ranks = [str(path) for path in sorted(demos.model.iterdir()) if path.is_dir()]
    expected = fastdump.compare(*ranks, step=1, **options)
    assert_same(fastdump.compare(*ranks, step=1, executor=pool, **options), expected)


def test_what_is_opened_already(demos: Demos, pool: Executor, tmp_path: Path) -> None:
    a, b = (fastdump.open(demos.model).select(rank=rank, step=0) for rank in (0, 1))
    name = a[0].op_name
    names = {name: name}
    expected = fastdump.compare(a, b, map=names)
    assert_same(fastdump.compare(a, b, map=names, executor=pool), expected)
    mixed = fastdump.compare(a, demos.model, io="output", executor=pool)
    assert_same(mixed, fastdump.compare(a, demos.model, io="output"))


def test_statistics(demos: Demos, pool: Executor, tmp_path: Path) -> None:
    """No tensor is opened for them; tables need no worker, CSV files of a device have some."""
    table = fastdump.stats(demos.overflow)
    assert_same(fastdump.compare(table, table, executor=pool), fastdump.compare(table, table))
    for name, factor in (("a", 1), ("b", 2)):
        for at in range(5):
            file = testing.dump_name("Add", "a", task_id=1, stream_id=1, timestamp=10**15 + at)
            array = np.arange(at + 9, dtype=np.float32) * factor
            testing.write_statistics_csv(
                tmp_path / name / f"{file}.csv", inputs=[], outputs=[array]
            )
    expected = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert_same(fastdump.compare(tmp_path / "a", tmp_path / "b", executor=pool), expected)
    assert expected.about["compared"] == "statistics"


def test_a_file_that_changes_after_its_header_was_read(tmp_path: Path) -> None:
    """A worker knows in which state the header was read, though it did not read it."""
    for name in ("a", "b"):
        for at in range(4):
            write_op(tmp_path / name, f"Add op{at}", at=at, outputs=[np.arange(9.0)])
    victim = next((tmp_path / "a").rglob("Add.op2.*"))

    def replace(name: str) -> None:
        if name == "_compare_part":  # another file with the same bytes
            (tmp_path / "new").write_bytes(victim.read_bytes())
            (tmp_path / "new").rename(victim)

    table = fastdump.compare(tmp_path / "a", tmp_path / "b", executor=Elsewhere(replace))
    assert table["status"].tolist() == ["ok", "ok", "changed", "ok"]
    assert table["verdict"].tolist() == ["equal", "equal", None, "equal"]


def test_work_is_cut_by_bytes(tmp_path: Path) -> None:
    """A large pair takes the place of many small ones."""
    for name in ("a", "b"):
        for at in range(128):
            n = 1 << 20 if at == 7 else 1
            write_op(tmp_path / name, f"Add op{at}", at=at, outputs=[np.ones(n, np.float32)])
    here = Elsewhere()
    table = fastdump.compare(tmp_path / "a", tmp_path / "b", executor=here)
    assert (table["verdict"] == "equal").all()
    sizes = [len(result[0]) for result in here.results if len(result) == 2]
    assert sum(sizes) == 128
    # Of 64 parts of as many pairs; the large pair is 8 MiB, others are taken for 128 KiB.
    assert 64 / 3 - 2 <= 64 - len(sizes) <= 64 / 3 + 2


def test_progress_and_its_end(demos: Demos, pool: Executor) -> None:
    a, b = demos.model, demos.model
    seen: list[Any] = []
    fastdump.compare(a, b, executor=pool, progress=seen.append)
    whole: list[Any] = []
    fastdump.compare(a, b, progress=whole.append)
    assert seen[-1] == whole[-1]
    assert [one.pairs_done for one in seen] == sorted(one.pairs_done for one in seen)

    def stop(progress: Any) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fastdump.compare(a, b, executor=pool, progress=stop)
    assert pool.submit(max, 1, 2).result() == 2  # it is not shut down


def test_what_was_done_before_an_interruption_stays(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for at in range(200):
            write_op(tmp_path / name, f"Add op{at}", at=at, outputs=[np.ones(3)])
    comparing = Comparing(
        tmp_path / "a",
        tmp_path / "b",
        tolerances=Tolerances(),
        kl=False,
        logical=False,
        names=None,
        threads=None,
        io_depth=None,
        engine="auto",
        follow_links=False,
        selection=Selection(),
        executor=Elsewhere(),
    )

    def interrupt(progress: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        comparing.run(interrupt)
    table = comparing.table()
    statuses = table["status"].tolist()
    n_done = comparing.done.pairs_done
    assert 0 < n_done < 200
    assert statuses == ["ok"] * n_done + ["not_compared"] * (200 - n_done)
    assert (table["verdict"] == "equal").sum() == n_done


def test_an_error_of_a_worker(demos: Demos) -> None:
    def fail(name: str) -> None:
        if name == "_compare_part":
            raise RuntimeError("no more workers")

    with pytest.raises(RuntimeError, match="no more workers"):
        fastdump.compare(demos.model, demos.model, executor=Elsewhere(fail))
    with pytest.raises(ValueError, match="threads"):
        fastdump.compare(demos.model, demos.model, threads=-1, executor=Elsewhere())
