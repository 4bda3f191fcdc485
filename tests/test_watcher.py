"""Overwritten outputs: found in watcher dumps, and by device addresses."""

from __future__ import annotations

import errno
import os
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import FileChangedError, _core, testing
from fastdump._tensor.tensor import tensors_in
from fastdump._watcher.bytes_compared import ByteComparison, StoredTensor, _Flags
from fastdump._watcher.names import WatchedName, read_name, splits
from fastdump._watcher.records import Change
from fastdump.demo import write_demo, write_overflow_demo, write_watcher_demo

START = 1_700_000_000_000_000
A = np.arange(32, dtype=np.float32).reshape(4, 8)
PLACED = 0x1000


def write(
    directory: Path,
    op_name: str,
    outputs: Sequence[Any] = (),
    *,
    inputs: Sequence[Any] = (),
    op_type: str = "Add",
    at: int = 0,
    task: int = 1,
    stream: int = 3,
) -> Path:
    name = testing.dump_name(op_type, op_name, task_id=task, stream_id=stream, timestamp=START + at)
    return testing.write_dump(directory / name, inputs=inputs, outputs=outputs, op_name=op_name)


def changed(array: np.ndarray[Any, Any], *flat: int) -> np.ndarray[Any, Any]:
    """Return a copy in which the elements at some flat indices are others."""
    copy = array.copy()
    copy.reshape(-1)[list(flat)] += 1
    return copy


def place(root: Path, *, rank: int = 0, step: int = 0) -> Path:
    root = testing.rank_dir(root, world_size=2, rank=rank)
    return testing.model_dump_dir(
        root, time="20240101000000", device=rank, model="net", model_id=1, step=step
    )


def placed(array: np.ndarray[Any, Any], address: int) -> testing.TensorSpec:
    return testing.TensorSpec(array, address=address)


def statuses(report: fastdump.WatcherReport) -> list[str]:
    return [comparison.status for comparison in report.comparisons]


# Names


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("A_To_B", [("A", "B")]),
        ("A_To_B_To_C", [("A_To_B", "C"), ("A", "B_To_C")]),
        ("A_To_To_B", [("A_To", "B"), ("A", "To_B")]),
        ("_To_B", []),
        ("A_To_", []),
        ("_To_", []),
        ("A_to_B", []),
        ("_To__To_", []),
    ],
)
def test_splits(name: str, expected: list[tuple[str, str]]) -> None:
    assert list(splits(name)) == expected


def test_the_operators_with_files_decide_how_a_name_is_read() -> None:
    name = "x_To_y_To_z"
    assert read_name(name, "Add", {}) is None
    assert read_name(name, "Add", {"z": ["Add"]}) == WatchedName("x_To_y", "z", False)
    assert read_name(name, "Add", {"y_To_z": ["Add"]}) == WatchedName("x", "y_To_z", False)
    both = {"z": ["Mul"], "y_To_z": ["Add"]}
    assert read_name(name, "Add", both) == WatchedName("x", "y_To_z", False)
    both = {"z": ["Add"], "y_To_z": ["Add"]}
    assert read_name(name, "Add", both) == WatchedName("x_To_y", "z", True)


# Watcher dumps


def test_recordings_that_are_equal(tmp_path: Path) -> None:
    write(tmp_path, "net/C", [A])
    write(tmp_path, "net/X_To_net/C", [A], at=1)
    write(tmp_path, "net/Y_To_net/C", [A], at=2)
    report = fastdump.watcher(tmp_path)
    assert (report.check, report.findings, report.unchecked) == ("watcher", (), ())
    assert report.counts == {"same": 2}
    assert report.sentence == ("no change: 2 recordings equal, byte for byte, to what was written")
    assert [comparison.seen_by for comparison in report.comparisons] == ["net/X", "net/Y"]


def test_the_operator_after_which_it_changed_first(tmp_path: Path) -> None:
    own = write(place(tmp_path), "net/C", [A])
    damaged = changed(A, *range(8, 24))
    write(place(tmp_path), "net/X_To_net/C", [A], at=1)
    hit = write(place(tmp_path), "net/Y_To_net/C", [damaged], at=2, task=9)
    write(place(tmp_path), "net/Z_To_net/C", [changed(damaged, 0)], at=3)
    report = fastdump.watcher(tmp_path)
    assert statuses(report) == ["same", "changed", "changed"]
    (found,) = report.findings
    assert (found.op_type, found.op_name, found.output) == ("Add", "net/C", 0)
    assert (found.seen_by, found.same_until) == ("net/Y", "net/X")
    assert (found.rank, found.step, found.seen_task_id) == (0, 0, 9)
    assert found.path == str(own.relative_to(tmp_path))
    assert found.seen_path == str(hit.relative_to(tmp_path))
    change = found.change
    assert change is not None
    differs = np.flatnonzero(A.view(np.uint8).ravel() != damaged.view(np.uint8).ravel())
    assert (change.n_bytes, change.first_byte, change.last_byte) == (
        len(differs),
        differs[0],
        differs[-1],
    )
    assert (change.n_elements, change.first_element, change.last_element) == (16, 8, 23)
    assert "2 whole rows (1:3)" in change.words
    assert change.place == "[1:3, :]"
    assert (
        "rank 0, step 0: output.0 of net/C was overwritten; operator: Add net/C (float32 4x8); "
        in (report.sentence)
    )


def test_each_output_for_itself(tmp_path: Path) -> None:
    b = A.astype(np.float16)
    write(tmp_path, "C", [A, b])
    write(tmp_path, "X_To_C", [changed(A, 3), b], at=1)
    write(tmp_path, "Y_To_C", [changed(A, 3), changed(b, 31)], at=2)
    report = fastdump.watcher(tmp_path)
    assert statuses(report) == ["changed", "same", "changed", "changed"]
    assert [(f.output, f.seen_by, f.same_until) for f in report.findings] == [
        (0, "X", None),
        (1, "Y", "X"),
    ]


def test_each_step_and_rank_has_its_own(tmp_path: Path) -> None:
    for i, (rank, step) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        root = place(tmp_path, rank=rank, step=step)
        value = A + i
        write(root, "C", [value], at=100 * step)
        write(root, "X_To_C", [value], at=100 * step + 1)
        seen = changed(value, 5) if (rank, step) == (1, 0) else value
        write(root, "Y_To_C", [seen], at=100 * step + 2)
    report = fastdump.watcher(tmp_path)
    assert report.counts == {"same": 7, "changed": 1}
    assert [(f.rank, f.step, f.seen_by) for f in report.findings] == [(1, 0, "Y")]


def test_the_file_of_another_step_is_not_its_own(tmp_path: Path) -> None:
    write(place(tmp_path, step=0), "C", [A])
    write(place(tmp_path, step=0), "X_To_C", [A], at=1)
    write(place(tmp_path, step=1), "X_To_C", [A], at=2)
    assert statuses(fastdump.watcher(tmp_path)) == ["same", "no_own_file"]


def test_an_operator_that_ran_twice_in_one_place(tmp_path: Path) -> None:
    write(tmp_path, "C", [A], at=0)
    write(tmp_path, "X_To_C", [A], at=1)
    write(tmp_path, "C", [A + 1], at=2)
    write(tmp_path, "X_To_C", [A + 1], at=3)
    write(tmp_path, "Y_To_C", [A], at=4)
    report = fastdump.watcher(tmp_path)
    assert statuses(report) == ["same", "same", "changed"]
    assert [f.seen_by for f in report.findings] == ["Y"]


def test_recordings_before_the_operator_ran_are_not_compared(tmp_path: Path) -> None:
    write(tmp_path, "X_To_C", [A - 1], at=0)
    write(tmp_path, "C", [A], at=1)
    write(tmp_path, "Y_To_C", [A], at=1)
    report = fastdump.watcher(tmp_path)
    assert statuses(report) == ["before", "same"]
    assert (report.findings, report.unchecked) == ((), ())


def test_names_with_the_separator_in_them(tmp_path: Path) -> None:
    write(tmp_path, "a/x_To_b", [A], at=0)
    write(tmp_path, "n_To_m_To_a/x_To_b", [changed(A, 1)], at=1)
    report = fastdump.watcher(tmp_path)
    assert [(c.seen_by, c.op_name) for c in report.findings] == [("n_To_m", "a/x_To_b")]
    assert statuses(report) == ["changed"]


def test_operators_that_only_have_such_a_name(tmp_path: Path) -> None:
    write(tmp_path, "b", [A])
    write(tmp_path, "a_To_b", [A + 1], inputs=[A], at=1)  # no recording has inputs
    write(tmp_path, "c_To_b", [A + 1], op_type="Cast", at=2)  # nor another type
    report = fastdump.watcher(tmp_path)
    assert (report.check, report.comparisons) == ("addresses", ())
    assert any("1 file may be of dump_scene=watcher" in note for note in report.notes)
    report = fastdump.watcher(tmp_path, check="watcher")
    assert statuses(report) == ["no_own_file"]


def test_names_that_are_too_long_for_a_file(tmp_path: Path) -> None:
    watched = "layers/" + "w" * 150
    write(tmp_path, watched, [A])
    path = write(tmp_path, f"{'e' * 100}_To_{watched}", [changed(A, 0)], at=1)
    assert path.name.isdigit()
    for _ in range(2):
        (found,) = fastdump.watcher(tmp_path).findings
        assert (found.seen_by, found.op_name) == ("e" * 100, watched)
        # Without the table of names the header still tells, if not the type.
        break


def test_what_cannot_be_compared_says_why(tmp_path: Path) -> None:
    write(tmp_path, "C", [A])
    write(tmp_path, "ok_To_C", [A], at=1)
    write(tmp_path, "fewer_To_C", [], at=2)
    write(tmp_path, "more_To_C", [A, A], at=3)
    write(tmp_path, "smaller_To_C", [A[:2]], at=4)
    short = write(tmp_path, "short_To_C", [A], at=5)
    short.write_bytes(short.read_bytes()[:-7])
    (tmp_path / f"Add.broken_To_C.1.3.{START + 6}").write_bytes(b"broken")
    write(tmp_path, "stray_To_D", [A], at=7)
    report = fastdump.watcher(tmp_path)
    found = {c.seen_by + f".{c.output}": (c.status, c.note) for c in report.comparisons}
    assert {name: status for name, (status, _) in found.items()} == {
        "ok.0": "same",
        "fewer.0": "missing",
        "more.0": "same",
        "more.1": "missing",
        "smaller.0": "size_mismatch",
        "short.0": "truncated",
        "broken.0": "malformed",
        "stray.0": "no_own_file",
    }
    assert found["fewer.0"][1] == "the recording lacks output 0"
    assert found["more.1"][1] == "the operator's own file lacks output 1"
    assert found["smaller.0"][1] == "128 bytes were written, 64 were recorded later"
    assert "what was seen: the file ends" in found["short.0"][1]
    assert report.findings == ()
    assert len(report.unchecked) == 6


def test_a_change_in_the_part_that_is_there_is_a_change(tmp_path: Path) -> None:
    own = write(tmp_path, "C", [A])
    own.write_bytes(own.read_bytes()[:-64])
    write(tmp_path, "X_To_C", [changed(A, 31)], at=1)  # beyond what is there
    write(tmp_path, "Y_To_C", [changed(A, 2)], at=2)
    report = fastdump.watcher(tmp_path)
    assert statuses(report) == ["truncated", "changed"]
    assert "what was written: " in report.findings[0].note


def test_a_broken_file_of_the_watched_operator(tmp_path: Path) -> None:
    own = write(tmp_path, "C", [A])
    own.write_bytes(b"broken")
    write(tmp_path, "X_To_C", [A], at=1)
    report = fastdump.watcher(tmp_path)
    assert (report.check, statuses(report)) == ("watcher", ["malformed"])
    own.write_bytes(b"")
    assert statuses(fastdump.watcher(tmp_path)) == ["malformed"]


def test_who_wrote_over_it_if_addresses_tell(tmp_path: Path) -> None:
    theirs = np.full(8, 7, np.float32)
    damaged = A.copy()
    damaged.reshape(-1)[16:24] = theirs
    write(tmp_path, "C", [placed(A, PLACED)])
    write(tmp_path, "W", [placed(theirs, PLACED + 64)], at=1)
    write(tmp_path, "V", [placed(theirs, PLACED + 128)], at=1)  # beside it
    write(tmp_path, "W_To_C", [placed(damaged, PLACED)], at=2)
    write(tmp_path, "U", [placed(damaged, PLACED)], at=3)  # too late
    (found,) = fastdump.watcher(tmp_path).findings
    (suspect,) = found.suspects
    assert (suspect.op_name, suspect.output, suspect.overlap) == ("W", 0, (64, 95))
    assert suspect.wrote_it is True


# Comparing bytes


def stored(path: Path) -> StoredTensor:
    return StoredTensor.of(tensors_in(str(path))[0])


@pytest.mark.parametrize("nbytes", [1, 1 << 20, (1 << 20) + 1, (3 << 20) + 5])
def test_differences_against_numpy(nbytes: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(nbytes)
    one = rng.integers(0, 256, nbytes, np.uint8)
    for places in ([0], [nbytes - 1], rng.integers(0, nbytes, 9), [(1 << 20) - 1, 1 << 20]):
        other = one.copy()
        other[[place for place in places if place < nbytes]] ^= 0x40
        paths = [write(tmp_path, name, [array]) for name, array in (("one", one), ("other", other))]
        left, right = map(stored, paths)
        change, done = ByteComparison().compare(left, right)
        expected = np.flatnonzero(one != other)
        assert done == nbytes
        if not len(expected):
            assert change is None
            continue
        assert change is not None
        assert (change.n_bytes, change.first_byte, change.last_byte) == (
            len(expected),
            expected[0],
            expected[-1],
        )
        described = ByteComparison().describe(left, right, change)
        assert (described.n_elements, described.first_element, described.last_element) == (
            len(expected),
            expected[0],
            expected[-1],
        )


@pytest.mark.parametrize("dtype", ["float64", "float16", "complex128", "bool", "int64"])
def test_elements_against_numpy(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    one = rng.integers(0, 2, (3, 70_001)).astype(dtype)
    other = one.copy()
    other.reshape(-1)[rng.integers(0, one.size, 50)] = 1j if dtype == "complex128" else 1
    paths = [write(tmp_path, name, [array]) for name, array in (("one", one), ("other", other))]
    left, right = map(stored, paths)
    change, _ = ByteComparison().compare(left, right)
    assert change is not None
    described = ByteComparison().describe(left, right, change)
    expected = np.flatnonzero((one != other).ravel())
    assert (described.n_elements, described.first_element, described.last_element) == (
        len(expected),
        expected[0],
        expected[-1],
    )
    assert f"{len(expected)} of {one.size:,} elements" in described.words


def test_flags_are_taken_in_any_portions() -> None:
    one = np.zeros(24, np.uint8)
    other = one.copy()
    other[[1, 10, 23]] = 1
    chunks = ((start, one[start : start + 8], other[start : start + 8]) for start in (0, 8, 16))
    flags = _Flags(chunks, 2)
    taken = np.concatenate([flags.take(n) for n in (3, 6, 5)])
    assert taken.tolist() == [i in (0, 5, 11) for i in range(14)]
    assert (flags.first, flags.last) == (0, 11)


def test_elements_narrower_than_a_byte_are_told_in_bytes(tmp_path: Path) -> None:
    import ml_dtypes

    one = np.zeros(8, ml_dtypes.int4)
    other = one.copy()
    other[3] = 1
    write(tmp_path, "C", [one])
    write(tmp_path, "X_To_C", [other], at=1)
    (found,) = fastdump.watcher(tmp_path).findings
    assert found.change is not None
    assert (found.change.first_byte, found.change.last_byte) == (1, 1)
    assert found.change.n_elements is None


def test_a_shape_that_is_not_that_of_the_bytes(tmp_path: Path) -> None:
    for shape in ((-1, 8), (-4, -8), (2**40, 2**40), (3,)):
        write(tmp_path, "C", [A])
        write(tmp_path, "X_To_C", [testing.TensorSpec(changed(A, 9), shape=shape)], at=1)
        (found,) = fastdump.watcher(tmp_path).findings
        assert found.change is not None
        assert found.change.n_elements == 1
        assert found.change.first_element == 9


def test_a_file_that_changes_while_it_is_compared(tmp_path: Path) -> None:
    left, right = (stored(write(tmp_path, name, [A])) for name in ("one", "other"))
    path = Path(right.path)
    path.write_bytes(path.read_bytes()[:-100])
    compared = ByteComparison()
    for attempt in (compared.compare, lambda *both: compared.describe(*both, Change(1, 0, 0))):
        with pytest.raises(FileChangedError):
            attempt(left, right)


def test_a_file_that_changes_before_it_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "C", [A])
    path = write(tmp_path, "X_To_C", [changed(A, 9)], at=1)
    compare = ByteComparison.compare

    def compare_later(self: ByteComparison, *tensors: StoredTensor) -> Any:
        path.write_bytes(path.read_bytes())
        return compare(self, *tensors)

    monkeypatch.setattr(ByteComparison, "compare", compare_later)
    (found,) = fastdump.watcher(tmp_path).comparisons
    assert (found.status, found.change) == ("unreadable", None)
    assert "the file changed after its header was read" in found.note


def test_memory_does_not_grow_with_the_tensors(tmp_path: Path) -> None:
    big = np.zeros((4096, 8192), np.float32)
    write(tmp_path, "C", [big])
    big[:, ::2] = 1
    write(tmp_path, "X_To_C", [big], at=1)
    nbytes = big.nbytes
    del big
    tracemalloc.start()
    try:
        (found,) = fastdump.watcher(tmp_path).findings
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.change is not None
    assert found.change.n_elements == nbytes // 8
    assert peak < nbytes * 0.75, peak


# Addresses


def test_an_input_that_is_what_was_written_there(tmp_path: Path) -> None:
    write(tmp_path, "W", [placed(A, PLACED)])
    write(tmp_path, "R", inputs=[placed(A, PLACED), placed(A, 0x9000), A], at=1)
    report = fastdump.watcher(tmp_path)
    assert report.check == "addresses"
    assert report.counts == {"same": 1, "no_writer": 1}
    assert report.comparisons == ()
    assert "inputs against the outputs" in report.notes[0]
    assert report.sentence == "no change: 1 input equal, byte for byte, to what was written"


@pytest.mark.parametrize("n_elements", [1 << 10, 1 << 12])
def test_small_files_are_read_once(
    n_elements: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only tensors that differ, and those of large files, are compared after headers were read."""
    tensors = [np.full(n_elements, value, np.float32) for value in (1, 2, 3)]
    for i, tensor in enumerate(tensors):
        address = PLACED << 8 * i
        write(tmp_path, f"W{i}", [placed(tensor, address)], at=i)
        write(tmp_path, f"R{i}", inputs=[placed(tensor, address)], at=10 + i)
    write(tmp_path, "R", inputs=[placed(changed(tensors[0], 5), PLACED)], at=20)
    comparisons = []
    new_comparison = _core.Comparison

    def noted(*tensors: Any, **options: Any) -> Any:
        comparisons.append(new_comparison(*tensors, **options))
        return comparisons[-1]

    monkeypatch.setattr(_core, "Comparison", noted)
    report = fastdump.watcher(tmp_path)
    assert report.counts == {"same": 3, "changed": 1}
    n_compared = sum(comparison.progress().pairs for comparison in comparisons)
    assert n_compared == (1 if n_elements == 1 << 10 else 4)


def test_an_input_that_was_overwritten(tmp_path: Path) -> None:
    theirs = np.full(4, 9, np.float32)
    damaged = A.copy()
    damaged[2, 4:] = theirs
    write(place(tmp_path), "net/W", [placed(A, PLACED)])
    write(place(tmp_path), "net/beside", [placed(A, PLACED + A.nbytes)], at=1)
    write(place(tmp_path), "net/S", [placed(theirs, PLACED + 80)], at=2)
    write(place(tmp_path), "net/R", inputs=[A, placed(damaged, PLACED)], at=3)
    write(place(tmp_path), "net/Q", inputs=[placed(damaged, PLACED)], at=4)
    write(place(tmp_path), "net/late", [placed(theirs, PLACED + 80)], at=5)
    report = fastdump.watcher(tmp_path)
    assert statuses(report) == ["changed", "changed"]
    (found,) = report.findings  # of the first that reads it
    assert (found.op_name, found.seen_by, found.seen_as) == ("net/W", "net/R", "input.1")
    assert found.address == PLACED
    assert found.change is not None
    assert found.change.place == "[2, 4:8]"
    (suspect,) = found.suspects
    assert (suspect.op_name, suspect.overlap, suspect.wrote_it) == ("net/S", (80, 95), True)
    assert report.sentence.startswith(
        "rank 0, step 0: output.0 of net/W may have been overwritten; operator: Add net/W (float32 "
        "4x8); what: bytes 8"
    )
    assert "; read by: net/R, input.1; who: Add net/S, whose output.0 has the bytes" in (
        report.sentence
    )


def test_a_suspect_whose_bytes_are_not_there(tmp_path: Path) -> None:
    write(tmp_path, "W", [placed(A, PLACED)])
    write(tmp_path, "S", [placed(A + 5, PLACED + 64)], at=1)
    write(tmp_path, "R", inputs=[placed(changed(A, 31), PLACED)], at=2)
    (found,) = fastdump.watcher(tmp_path).findings
    assert [(s.op_name, s.overlap, s.wrote_it) for s in found.suspects] == [("S", (64, 127), False)]


def test_neighbours_are_no_suspects(tmp_path: Path) -> None:
    write(tmp_path, "W", [placed(A, PLACED)])
    write(tmp_path, "before", [placed(A, PLACED - A.nbytes)], at=1)
    write(tmp_path, "after", [placed(A, PLACED + A.nbytes)], at=2)
    inverted = ~A.view(np.uint8)
    write(tmp_path, "R", inputs=[placed(inverted, PLACED)], at=3)
    (found,) = fastdump.watcher(tmp_path).findings
    assert found.change is not None
    assert (found.change.first_byte, found.change.last_byte) == (0, A.nbytes - 1)
    assert found.suspects == ()


def test_only_the_last_write_to_an_address_counts(tmp_path: Path) -> None:
    write(tmp_path, "V", [placed(A, PLACED)])
    write(tmp_path, "W", [placed(A + 1, PLACED)], at=1)
    write(tmp_path, "R", inputs=[placed(A + 1, PLACED)], at=2)
    write(tmp_path, "Q", inputs=[placed(A, PLACED)], at=3)
    report = fastdump.watcher(tmp_path)
    assert [(f.op_name, f.seen_by) for f in report.findings] == [("W", "Q")]


def test_other_devices_are_other_memories(tmp_path: Path) -> None:
    write(place(tmp_path, rank=0), "W", [placed(A, PLACED)])
    write(place(tmp_path, rank=1), "R", inputs=[placed(A + 1, PLACED)], at=1)
    assert fastdump.watcher(tmp_path).counts == {"no_writer": 1}
    # Steps are not.
    write(place(tmp_path, rank=0, step=1), "R", inputs=[placed(A + 1, PLACED)], at=1)
    assert len(fastdump.watcher(tmp_path).findings) == 1


def test_what_is_written_in_place_is_not_compared(tmp_path: Path) -> None:
    write(tmp_path, "W", [placed(A, PLACED)])
    into = placed(A + 1, PLACED)
    write(tmp_path, "R", [placed(A + 1, PLACED)], inputs=[into], at=1)
    report = fastdump.watcher(tmp_path)
    assert (report.counts, report.findings) == ({"in_place": 1}, ())


def test_the_order_of_equal_timestamps_is_not_trusted(tmp_path: Path) -> None:
    write(tmp_path, "V", [placed(A, PLACED)], task=1)
    # By their tasks: the reader of W's output comes before W, the reader of V's after.
    write(tmp_path, "R", inputs=[placed(A + 1, PLACED)], at=5, task=2)
    write(tmp_path, "W", [placed(A + 1, PLACED)], at=5, task=3)
    write(tmp_path, "Q", inputs=[placed(A, PLACED)], at=5, task=4)
    report = fastdump.watcher(tmp_path)
    assert (report.counts, report.findings) == ({"same": 2}, ())
    write(tmp_path, "P", inputs=[placed(A + 2, PLACED)], at=5, task=5)
    assert [f.seen_by for f in fastdump.watcher(tmp_path).findings] == ["P"]


def test_damaged_files_are_rows_of_the_check_by_addresses(tmp_path: Path) -> None:
    path = write(tmp_path, "W", [placed(A, PLACED)])
    path.write_bytes(path.read_bytes()[:-4])
    write(tmp_path, "R", inputs=[placed(A, PLACED)], at=1)
    (tmp_path / f"Add.broken.1.3.{START + 2}").write_bytes(b"broken")
    report = fastdump.watcher(tmp_path)
    assert sorted(statuses(report)) == ["malformed", "truncated"]
    assert report.counts == {"malformed": 1, "truncated": 1}


def test_addresses_at_the_end_of_the_range(tmp_path: Path) -> None:
    top = 2**64 - 64
    write(tmp_path, "W", [placed(A, top)])
    write(tmp_path, "S", [placed(A, 2**64 - 1)], at=1)
    write(tmp_path, "R", inputs=[placed(changed(A, 31), top)], at=2)
    assert len(fastdump.watcher(tmp_path).findings) == 1


def test_no_addresses_and_no_dump(tmp_path: Path) -> None:
    with pytest.raises(fastdump.NoDumpError):
        fastdump.watcher(tmp_path)
    write(tmp_path, "W", [A])
    write(tmp_path, "R", inputs=[A + 1], at=1)
    report = fastdump.watcher(tmp_path)
    assert (report.comparisons, report.counts) == ((), {})
    assert report.sentence.startswith("nothing could be compared")
    assert "No input has a device address" in report.notes[-1]


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="check is 'both'"):
        fastdump.watcher(tmp_path, check="both")  # type: ignore[arg-type]


def test_progress_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "W", [placed(A, PLACED)])
    write(tmp_path, "R", inputs=[placed(A, PLACED)], at=1)
    seen = []
    fastdump.watcher(tmp_path, progress=lambda p: seen.append((p.files_done, p.files_found)))
    assert seen == sorted(seen)
    assert seen[-1] == (2, 2)


# The demos


def test_the_watcher_demo(tmp_path: Path) -> None:
    demo = write_watcher_demo(tmp_path)
    report = fastdump.watcher(tmp_path)
    (found,) = report.findings
    assert (found.rank, found.step) == (demo.rank, demo.step)
    assert (found.op_name, found.seen_by) == (demo.watched, demo.culprit)
    assert found.change is not None
    last = demo.first_byte + demo.n_bytes - 1
    assert demo.first_byte <= found.change.first_byte < found.change.last_byte <= last
    assert "a multiple of 2,048 bytes" in found.change.words
    assert report.unchecked == ()
    assert set(report.counts) == {"same", "changed"}


def test_the_model_demo_has_nothing_overwritten(tmp_path: Path) -> None:
    write_demo(tmp_path, size="2MB")
    report = fastdump.watcher(tmp_path)
    assert report.findings == ()
    assert report.counts["same"] > 500


def test_the_overflow_demo(tmp_path: Path) -> None:
    demo = write_overflow_demo(tmp_path)
    findings = fastdump.overflow(tmp_path).findings
    assert [tmp_path / finding.path for finding in findings] == list(demo.records)
    for finding, operator in zip(findings, demo.operators, strict=True):
        unit = finding.unit
        assert unit.join == "exact"
        assert unit.operator is not None
        assert [tmp_path / path for path in unit.operator.paths] == [operator]
        assert unit.statuses == (0x120,)
        assert {row.io: bool(row.pos_inf) for row in unit.operator.tensors} == {
            "input": False,
            "output": True,
        }


def test_a_change_whose_elements_cannot_be_read_again_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def describe(*arguments: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    write_watcher_demo(tmp_path)
    (expected,) = fastdump.watcher(tmp_path).findings
    monkeypatch.setattr(ByteComparison, "describe", describe)
    report = fastdump.watcher(tmp_path)
    (finding,) = report.findings
    assert (finding.op_name, finding.seen_by) == (expected.op_name, expected.seen_by)
    assert "its elements could not be read again: " in finding.note
    in_full = ["".join(cell.text for cell in line) for line in report.in_full()]
    assert any("could not be read again" in line for line in in_full)
