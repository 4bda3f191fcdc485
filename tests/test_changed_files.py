"""One file is one file: what is said of it is of the state in which its header was read.

Files are replaced by others, written to, cut, extended, or get other permissions, between any two
accesses. Values tell which file an array is of: `OLD` before, `NEW` afterwards.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import NAME, tensors_of
from small_dumps import SmallDump

import fastdump
from fastdump import FileChangedError, _core, testing
from fastdump._compare.elements import ElementComparison
from fastdump._convert import conversion
from fastdump._convert.source_file import SourceFile
from fastdump._convert.stored import StoredTensors
from fastdump._tensor.tensor import Tensor
from fastdump._triage import causes

OLD, NEW = 1.0, 2.0
SHAPE = (64, 32)


def array(value: float, shape: tuple[int, ...] = SHAPE) -> np.ndarray[Any, Any]:
    return np.full(shape, value, np.float32)


def write_new(path: Path) -> Path:
    """Write another dump of the same size and times, beside the file."""
    other = path.with_name("other")
    old, new = (np.float32(value).tobytes() for value in (OLD, NEW))
    other.write_bytes(path.read_bytes().replace(old * 8, new * 8))
    status = path.stat()
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    return other


def replace(path: Path) -> None:
    write_new(path).replace(path)


def overwrite(path: Path) -> None:
    status = path.stat()
    with path.open("r+b") as file:
        file.write(write_new(path).read_bytes())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4)


def extend(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\0" * 4)


def deny(path: Path) -> None:
    path.chmod(0o600)


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES = [replace, overwrite, cut, extend, deny]
Change = Callable[[Path], None]

ACCESSES: dict[str, Callable[[Tensor], Any]] = {
    "an element": lambda tensor: tensor[3, 4],
    "a slice": lambda tensor: tensor[:2],
    "fancy": lambda tensor: tensor[[0, 5]],
    "a view": np.asarray,
    "a cast": lambda tensor: np.asarray(tensor, np.float64),
    "copy": lambda tensor: tensor.copy(),
    "raw": lambda tensor: tensor.raw(),
    "read_raw": lambda tensor: tensor.read_raw(8, 16),
    "stats": lambda tensor: tensor.stats("full"),
    "logical": lambda tensor: tensor.logical(),
    "dlpack": lambda tensor: tensor.__dlpack__(),
    "guarded": lambda tensor: tensor.guarded().__enter__(),
    "restored": lambda tensor: pickle.loads(pickle.dumps(tensor)).copy(),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("access", ACCESSES)
def test_every_access_to_a_file_that_changed_is_refused(
    change: Change, access: str, tmp_path: Path
) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD)])
    (tensor,) = tensors_of(path)
    ACCESSES[access](tensor)
    change(path)
    with pytest.raises(FileChangedError, match="the file changed after its header was read"):
        ACCESSES[access](tensor)
    (again,) = tensors_of(path)
    value = NEW if change in (replace, overwrite) else OLD
    assert (again[:60] == value).all()


@pytest.mark.parametrize("change", CHANGES)
def test_a_mapping_that_is_in_use_is_not_taken_for_the_new_file(
    change: Change, tmp_path: Path
) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD)])
    (tensor,) = tensors_of(path)
    kept = tensor[:2]
    change(path)
    with pytest.raises(FileChangedError):
        tensor[:2]
    if change is not overwrite:
        assert (kept == OLD).all()


@pytest.mark.parametrize("change", CHANGES)
def test_a_row_leads_to_no_other_file(change: Change, tmp_path: Path) -> None:
    path = SmallDump(tmp_path / "dump").op("Add x", outputs=[array(OLD)])
    table = fastdump.stats(tmp_path / "dump")
    table.write(tmp_path / "table.json")
    assert table[0].tensor()[0, 0] == OLD
    change(path)
    for row in (table[0], table[:1][0], copy.deepcopy(table)[0], next(iter(table))):
        with pytest.raises(FileChangedError, match="statistics of it were computed"):
            row.tensor()
    # What another process has written, or will read, says nothing of states.
    present = NEW if change in (replace, overwrite) else OLD
    first = (0,) if change is cut else (0, 0)
    assert fastdump.read_stats(tmp_path / "table.json")[0].tensor()[first] == present
    assert pickle.loads(pickle.dumps(table))[0].tensor()[first] == present


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("side", ["a", "b"])
def test_a_comparison_compares_what_was_paired(
    change: Change, side: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {
        name: SmallDump(tmp_path / name).op("Add x", outputs=[array(OLD)]) for name in ("a", "b")
    }
    SmallDump(tmp_path / "a").op("Mul y", outputs=[array(OLD)])
    SmallDump(tmp_path / "b").op("Mul y", outputs=[array(OLD)])
    run = ElementComparison.run

    def run_later(comparison: ElementComparison, on_progress: Any) -> None:
        change(paths[side])
        run(comparison, on_progress)

    monkeypatch.setattr(ElementComparison, "run", run_later)
    table = fastdump.compare(tmp_path / "a", tmp_path / "b")
    assert [(row.op_name, row.status, row.verdict) for row in table] == [
        ("x", "changed", None),
        ("y", "ok", "equal"),
    ]
    assert table[0].note == f"{side}: the file changed after its header was read"
    assert table[0].max_abs_error is None


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_computed_while_a_file_changes_is_refused(change: Change, tmp_path: Path) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD)])
    (tensor,) = tensors_of(path)
    guarded = tensor.guarded()
    assert (guarded.__enter__() == OLD).all()
    change(path)
    with pytest.raises(FileChangedError):
        guarded.__exit__(None, None, None)


@pytest.mark.parametrize("change", [*CHANGES, make_pipe])
@pytest.mark.parametrize("moment", ["before it is opened", "after it was read"])
def test_a_conversion_writes_no_other_file(
    change: Change, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = SmallDump(tmp_path / "dump").op("Add x", outputs=[array(OLD)])

    class Source(SourceFile):
        def __init__(self, *args: Any) -> None:
            if moment == "before it is opened":
                change(path)
            super().__init__(*args)

        def require_unchanged(self) -> None:
            if hasattr(self, "_opened") and moment == "after it was read":
                change(path)
            self._opened = True
            super().require_unchanged()

    monkeypatch.setattr(StoredTensors, "copy", lambda *_: None)  # one file at a time
    monkeypatch.setattr(conversion, "SourceFile", Source)
    report = fastdump.convert(tmp_path / "dump", tmp_path / "out")
    assert [failure.reason for failure in report.findings] == [
        "the file changed after its header was read"
    ]
    assert report.written == 0
    assert [found for found in (tmp_path / "out").rglob("*") if found.is_file()] == []


@pytest.mark.parametrize("change", [*CHANGES, make_pipe])
def test_a_file_that_changes_before_the_core_copies_it_is_converted_as_it_is_then(
    change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = SmallDump(tmp_path / "dump").op("Add x", outputs=[array(OLD)])
    make = _core.Extraction

    def later(**plan: Any) -> _core.Extraction:
        change(path)
        return make(**plan)

    monkeypatch.setattr(_core, "Extraction", later)
    report = fastdump.convert(tmp_path / "dump", tmp_path / "out")
    files = [found for found in (tmp_path / "out").rglob("*") if found.is_file()]
    assert len(files) == report.written == 1 - len(report.findings)
    present = NEW if change in (replace, overwrite) else OLD
    for file in files:
        assert (np.load(file) == present).all()


def test_triage_follows_no_other_file(tmp_path: Path) -> None:
    dump = SmallDump(tmp_path / "dump")
    bad = array(OLD)
    bad[3, 4] = np.inf
    path = dump.op("Add x", outputs=[bad])
    table = fastdump.stats(tmp_path / "dump")
    assert fastdump.triage(table).findings[0].origin.damage is not None
    replace(path)
    origin = fastdump.triage(table).findings[0].origin
    assert origin.tensor.pos_inf == 1
    assert origin.damage is None


def test_triage_counts_no_rows_of_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, weights = array(OLD), array(OLD)
    scores[2], weights[2] = -np.inf, np.nan
    path = SmallDump(tmp_path / "dump").op("SoftmaxV2 x", inputs=[scores], outputs=[weights])
    report = fastdump.triage(tmp_path / "dump")
    assert report.findings[0].origin.cause == "1 row of input.0 is all -Inf: wholly masked"
    count = causes._n_rows_of

    def count_late(*arguments: Any) -> int:
        overwrite(path)
        return count(*arguments)

    monkeypatch.setattr(causes, "_n_rows_of", count_late)
    report = fastdump.triage(tmp_path / "dump")
    hint = "input.0 has -Inf, as masks have: a row that is wholly masked gives NaN"
    assert report.findings[0].origin.cause == hint
    assert "1 file could not be read again for evidence" in report.notes


def test_arrays_of_a_safe_dump_stay_as_they_are(tmp_path: Path) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD)])
    tensor = fastdump.open(path, safe=True)[0].outputs[0]
    arrays = [tensor[:2], np.asarray(tensor), tensor.raw(), tensor[[1, 2]], tensor.logical()]
    before = [kept.copy() for kept in arrays]
    for restored in (tensor, pickle.loads(pickle.dumps(tensor))):
        with pytest.raises(ValueError, match="a copy is needed"):
            restored.__array__(copy=False)  # as np.asarray() does since numpy 2
    assert not any(kept.flags.writeable for kept in arrays[:4])
    overwrite(path)
    os.truncate(path, 0)
    for kept, expected in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(kept, expected)


def test_a_dump_that_is_open_cannot_become_safe(tmp_path: Path) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD)])
    with pytest.raises(ValueError, match="safe=True"):
        fastdump.open(fastdump.open(path), safe=True)
    safe = fastdump.open(path, safe=True)
    assert fastdump.open(safe, safe=True) is safe


CUT_WHILE_IT_IS_READ = """
import os, sys
import numpy as np
import fastdump
from fastdump import FileChangedError

path = sys.argv[1]
tensor = fastdump.open(path)[0].outputs[0]
try:
    with tensor.guarded() as elements:
        os.truncate(path, 4096)
        print(float(np.asarray(elements).sum()) < tensor.size)
except FileChangedError as error:
    print("refused")
"""


def test_a_guarded_view_of_a_file_that_is_cut_does_not_end_the_process(
    tmp_path: Path, run_python: Callable[..., str]
) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD, (1024, 1024))])
    assert run_python(CUT_WHILE_IT_IS_READ, str(path)).split() == ["True", "refused"]


CUT_BEHIND_AN_ARRAY = """
import os, sys
import numpy as np
import fastdump
from fastdump import FileChangedError, stats_of, to_logical

path = sys.argv[1]
tensor = fastdump.open(path)[0].outputs[0]
view = np.asarray(tensor)
os.truncate(path, 4096)
calls = [
    lambda: stats_of(view, threads=2),
    lambda: to_logical(
        view.reshape(64, 64, 16, 16), format="FRACTAL_NZ", origin_shape=(1024, 1024), threads=2
    ),
]
for call in calls:
    try:
        call()
    except FileChangedError as error:
        print(error)
"""


def test_an_array_whose_file_was_cut_does_not_end_the_process(
    tmp_path: Path, run_python: Callable[..., str]
) -> None:
    path = testing.write_dump(tmp_path / NAME, outputs=[array(OLD, (1024, 1024))])
    lines = run_python(CUT_BEHIND_AN_ARRAY, str(path)).splitlines()
    assert lines == ["the file behind an array has become shorter"] * 2
