"""Tensors that FFTS+ threads dumped in slices: joined, and what if some are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fastdump
from fastdump import DumpFormatError, testing

X = np.arange(3 * 10 * 4, dtype=np.float32).reshape(3, 10, 4)
BIAS = np.array([1, 2, 3], np.int64)


def write_slices(directory: Path, *, timestamp: int = 1_700_000_000_000_000) -> list[Path]:
    return testing.write_ffts_slices(
        directory,
        "Add",
        "layer/add",
        threads=4,
        inputs=[X, BIAS],
        outputs=[X * 2],
        axis=1,
        uncut=[("input", 1)],
        task_id=1,
        stream_id=7,
        timestamp=timestamp,
        context_id=11,
    )


def test_every_slice_gives_the_whole(tmp_path: Path) -> None:
    paths = write_slices(tmp_path)
    assert len(paths) == 4
    for op in fastdump.open(tmp_path):
        cut, uncut = op.inputs
        assert cut.shape[0] == 3
        assert cut.shape[1] < 10
        np.testing.assert_array_equal(cut.logical(), X)
        np.testing.assert_array_equal(op.outputs[0].logical(), X * 2)
        np.testing.assert_array_equal(uncut.logical(), BIAS)


def test_slices_of_another_execution_are_not_mixed_in(tmp_path: Path) -> None:
    write_slices(tmp_path)
    later = testing.write_ffts_slices(
        tmp_path,
        "Add",
        "layer/add",
        threads=4,
        inputs=[-X],
        axis=1,
        task_id=1,
        stream_id=7,
        timestamp=1_700_000_009_000_000,
        context_id=11,
    )
    (op,) = fastdump.open(later[2])
    np.testing.assert_array_equal(op.inputs[0].logical(), -X)


def test_a_missing_slice_is_named(tmp_path: Path) -> None:
    paths = write_slices(tmp_path)
    paths[2].unlink()
    (op,) = fastdump.open(paths[0])
    with pytest.raises(DumpFormatError, match=r"input\.0: .* of the 120 elements.*of thread 2$"):
        op.inputs[0].logical()


def test_a_renamed_slice_is_not_joined(tmp_path: Path) -> None:
    paths = write_slices(tmp_path)
    # Without the thread in its name nobody knows which slice it is.
    renamed = paths[1].rename(tmp_path / "Add.layer_add.1.7.1700000000000000")
    (op,) = fastdump.open(renamed)
    assert op.inputs[0].description["slice"] is None
    assert op.inputs[0].status == "size_mismatch"


def test_reference_dumps(reference_dumps: Path) -> None:
    """The whole is what the two files' payloads are one after the other."""
    payloads = []
    for name in sorted(path.name for path in (reference_dumps / "ffts").iterdir()):
        content = (reference_dumps / "ffts" / name).read_bytes()
        begin = 8 + int.from_bytes(content[:8], "little")
        values = np.frombuffer(content[begin:], np.float32)
        payloads.append(values[: values.size // 2])  # inputs first
    expected = np.concatenate(payloads).reshape(3, 4)
    for op in fastdump.open(reference_dumps / "ffts"):
        np.testing.assert_array_equal(op.inputs[0].logical(), expected)
