"""Memory that Python hands to the extension: strided, read-only, too small, misaligned, too large.

Each function is called with arguments that are right but for one, which must be refused, and must
leave the memory around it as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from comparisons import state_of, with_states

import fastdump
from fastdump import _core
from fastdump.testing import dump_name, write_dump

Array = npt.NDArray[Any]

N = 64
REFUSED = (ValueError, BufferError)  # numpy's word, and memoryview's
TOO_LARGE = [2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
NO_SIZES = [-1, -(2**63), 2**64, 2**200]

NUMBERS: dict[str, Any] = {"rtol": 0.0, "atol": 0.0, "kl": True, "threads": 1}


def reduce_buffer(data: Any, n: int = N) -> None:
    _core.reduce_buffer(data, "int8", n, "full", 1)


def compare_a(data: Any, n: int = N) -> None:
    _core.compare_buffers(data, "int8", bytes(N), "int8", n, **NUMBERS)


def compare_b(data: Any, n: int = N) -> None:
    _core.compare_buffers(bytes(N), "int8", data, "int8", n, **NUMBERS)


def unpack_data(data: Any, n: int = 2 * N) -> None:
    _core.unpack(data, "int4", n, bytearray(2 * N), 1)


def unpack_out(out: Any, n: int = N) -> None:
    _core.unpack(bytes(N), "int4", n, out, 1)


def copy_from(data: Any) -> None:
    _core.copy([(bytes(3), bytearray(3)), (data, bytearray(2 * N))], 1)


def copy_to(out: Any) -> None:
    _core.copy([(bytes(3), bytearray(3)), (bytes(N), out)], 1)


def read_into(out: Any) -> None:
    _core.read_into(os.fsencode(__file__), state_of(Path(__file__)), 0, out)


def layout(**changes: Any) -> _core.HostLayout:
    """Return a layout of which neither side is the other's order: 4 x 8 in blocks of 16 x 16."""
    usual = {"format": 29, "shape": [1, 1, 16, 16], "origin_shape": [4, 8], "sub_format": 0}
    return _core.HostLayout(**{**usual, **changes}, order="", origin_format="")


def gather_out(out: Any, n: int = 32) -> None:
    layout().gather(bytes(512), out, 2, 0, n, 1)


def to_dlpack(data: Any, shape: tuple[int, ...] = (8, 8)) -> None:
    _core.to_dlpack(
        data, shape, fortran_order=False, code=1, bits=8, versioned=True, read_only=True,
        copied=False,
    )  # fmt: skip


READ: list[Callable[..., None]] = [
    reduce_buffer, compare_a, compare_b, unpack_data, copy_from, to_dlpack,
]  # fmt: skip
WRITTEN: list[Callable[..., None]] = [unpack_out, copy_to, read_into, gather_out]
COUNTED = [reduce_buffer, compare_a, compare_b, unpack_data, unpack_out, gather_out]


def memory() -> Array:
    return np.full(6 * N, 0x77, np.uint8)


@pytest.mark.parametrize("function", [*READ, *WRITTEN])
def test_contiguous_memory_is_taken(function: Callable[..., None]) -> None:
    whole = memory()
    function(whole[N : 2 * N])
    function(whole[N : 2 * N].reshape(8, 8))
    function(memoryview(whole[N : 2 * N]))
    assert (whole[:N] == 0x77).all()
    assert (whole[2 * N :] == 0x77).all()
    assert (whole[N : 2 * N] == 0x77).all() == (function in READ)


@pytest.mark.parametrize("function", [*READ, *WRITTEN])
def test_strided_memory_is_refused(function: Callable[..., None]) -> None:
    whole = memory()
    for strided in (
        whole[2 * N - 1 : N - 1 : -1],  # reversed: bytes before its first would be taken
        whole[N : 3 * N : 2],
        whole[: 2 * N].reshape(16, 8)[:, :4],
        whole[N : 2 * N].reshape(8, 8).T,
        np.broadcast_to(whole[:1], (N,)),
        memoryview(whole)[2 * N - 1 : N - 1 : -1],
    ):
        with pytest.raises(REFUSED):
            function(strided)
    assert (whole == 0x77).all()


@pytest.mark.parametrize("function", WRITTEN)
def test_memory_that_cannot_be_written_is_refused(function: Callable[..., None]) -> None:
    whole = memory()
    read_only = whole[:N]
    read_only.flags.writeable = False
    for out in (read_only, memoryview(whole[:N]).toreadonly(), bytes(N)):
        with pytest.raises(REFUSED):
            function(out)
    assert (whole == 0x77).all()


@pytest.mark.parametrize("function", [*READ, *WRITTEN])
def test_what_is_no_memory_is_refused(function: Callable[..., None]) -> None:
    for nothing in (None, 5, "text", [1, 2], object(), np.array([None, "x"])):
        with pytest.raises((TypeError, *REFUSED)):
            function(nothing)


@pytest.mark.parametrize("function", COUNTED)
def test_memory_that_is_too_small_is_refused(function: Callable[..., None]) -> None:
    whole = memory()
    for n_bytes in (0, 1, 31):
        with pytest.raises(ValueError, match=f"has {n_bytes} bytes, .* are needed"):
            function(whole[N : N + n_bytes])
    for n in TOO_LARGE:
        with pytest.raises(ValueError, match=r"needed|has 32 elements"):
            function(whole[N : 2 * N], n)
    for n in NO_SIZES:
        with pytest.raises(TypeError):
            function(whole[N : 2 * N], n)
    assert (whole == 0x77).all()


def test_elements_of_any_width_are_counted() -> None:
    for dtype, n_bits in (("int4", 4), ("uint1", 1), ("float32", 32), ("complex128", 128)):
        needed = -(-3 * n_bits // 8)
        _core.reduce_buffer(bytes(needed), dtype, 3, "full", 1)
        with pytest.raises(ValueError, match=f"has {needed - 1} bytes, {needed} are needed"):
            _core.reduce_buffer(bytes(needed - 1), dtype, 3, "full", 1)


def test_a_copy_fits() -> None:
    whole = memory()
    first = bytearray(5)
    for n_bytes in (0, 1, N - 1):
        with pytest.raises(ValueError, match=f"has {n_bytes} bytes, {N} are needed"):
            _core.copy([(b"first", first), (bytes(N), whole[N : N + n_bytes])], 1)
    assert (whole == 0x77).all()
    assert first == bytes(5)  # nothing is copied if something is wrong
    for no_pairs in ([bytes(N)], [(bytes(N),)], [(bytes(N), whole, 1)], 5, None):
        with pytest.raises(TypeError):
            _core.copy(no_pairs, 1)  # type: ignore[arg-type]
    _core.copy([], 1)
    _core.copy([(b"first", first), (bytes(N), whole[N:])], 1)
    assert first == b"first"
    assert (whole == np.repeat(np.uint8([0x77, 0, 0x77]), [N, N, 4 * N])).all()


def test_gathering_takes_what_fits() -> None:
    stored, out = np.arange(256, dtype=np.uint16), np.zeros(32, np.uint16)
    blocks = layout()
    blocks.gather(stored, out, 2, 0, 32, 1)
    assert out.tolist() == [16 * i + j for i in range(4) for j in range(8)]
    # No element of the other 12 rows of the block is needed.
    assert blocks.n_stored == 3 * 16 + 8
    blocks.gather(stored[:56], out, 2, 0, 32, 1)
    for wrong in (stored[:55], stored[::-1], stored[::2], stored.reshape(16, 16).T):
        with pytest.raises(REFUSED):
            blocks.gather(wrong, out, 2, 0, 32, 1)
    for first, n in ((33, 0), (0, 33), (1, 32), (2**64 - 1, 1), (2**64 - 1, 2), (1, 2**64 - 1)):
        with pytest.raises(ValueError, match="the host array has 32 elements"):
            blocks.gather(stored, out, 2, first, n, 1)
    for nbytes in (3, 2**32, 2**61, 2**64 - 1):
        with pytest.raises(ValueError, match="are needed"):
            blocks.gather(stored, out, nbytes, 0, 32, 1)
    with pytest.raises(ValueError, match="0 bytes"):
        blocks.gather(stored, out, 0, 0, 32, 1)
    for negative in ((-1, 0, 32), (2, -1, 32), (2, 0, -1)):
        with pytest.raises(TypeError):
            blocks.gather(stored, out, *negative, 1)


@pytest.mark.parametrize("n", [2**20, 2**31, 2**40, 2**58, 2**62])
def test_a_layout_of_more_than_there_is_gathers_nothing(n: int) -> None:
    """The size of what is stored may not fit 64 bits; it must not come out small then."""
    try:
        huge = layout(shape=[n // 16, n // 16, 16, 16], origin_shape=[n, n])
    except _core.LayoutError:
        return
    assert huge.n_stored > 2**39
    with pytest.raises(ValueError, match="are needed"):
        huge.gather(bytes(1024), bytearray(1024), 1, 0, 1, 1)


@pytest.mark.parametrize(
    "shape",
    [(9, 8), (65,), (2**32, 2**32), (2**63 - 1, 2), (-1, -64), (-8, 8)],
)
def test_a_shape_that_the_memory_has_not(shape: tuple[int, ...]) -> None:
    for fortran_order in (False, True):
        with pytest.raises(ValueError, match=r"are needed|there is no array of shape"):
            _core.to_dlpack(
                bytes(64), shape, fortran_order=fortran_order, code=1, bits=8, versioned=False,
                read_only=False, copied=False,
            )  # fmt: skip


# Positions in an index


@pytest.fixture
def index(tmp_path: Path) -> _core.Index:
    for i in range(4):
        name = dump_name(
            "Add", f"a{i}", task_id=1, stream_id=2, timestamp=1_700_000_000_000_000 + i
        )
        write_dump(tmp_path / name, outputs=[np.ones(3)])
    return _core.Index([os.fsencode(tmp_path)], follow_links=False)


def users(index: _core.Index) -> list[Callable[[Any], object]]:
    """Return all functions of an index that take positions."""
    everything = fastdump.Selection().native()

    def scan(positions: Any) -> object:
        return _core.Scan(
            index, positions, level="basic", threads=1, engine="auto", logical=False,
            selection=everything,
        )  # fmt: skip

    return [
        index.op_names,
        index.summary,
        index.nameless,
        lambda positions: index.find(positions, "a1"),
        lambda positions: index.select(positions, everything),
        scan,
    ]


def test_positions(index: _core.Index) -> None:
    whole = np.arange(4, dtype=np.uint32)
    assert index.op_names(whole) == ["a0", "a1", "a2", "a3"]
    assert index.op_names(memoryview(whole[1:3])) == ["a1", "a2"]
    assert index.op_names(whole[:0]) == []
    misaligned = memoryview(bytes(5))[1:].cast("I")
    for use in users(index):
        for wrong in (
            whole[::-1],
            whole[::2],
            whole.astype(np.int32),
            whole.astype(np.uint64),
            whole.astype(">u4"),
            whole.reshape(2, 2),
            np.array(1, np.uint32),
            bytes(4),
            misaligned,
        ):
            with pytest.raises(REFUSED):
                use(wrong)
        for outside in (4, 2**32 - 1):
            with pytest.raises(IndexError, match="no such position"):
                use(np.array([0, outside], np.uint32))
        with pytest.raises(TypeError):
            use([0, 1])


def test_a_position_that_is_none(index: _core.Index) -> None:
    for function in (index.record, index.shown_path):
        for position in (4, 2**32, 2**64 - 1):
            with pytest.raises(IndexError, match="no such position"):
                function(position)
        for no_position in NO_SIZES:
            with pytest.raises(TypeError):
                function(no_position)


# Places in files


@pytest.mark.parametrize("offset", [65, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 1])
def test_places_that_a_file_has_not(offset: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(64))
    name = os.fsencode(path)
    out = memory()
    try:
        n_read = _core.read_into(name, state_of(name), offset, out[N : 2 * N])
    except OSError:  # beyond what the system can be asked for
        n_read = 0
    assert n_read == 0
    for n in (1, 64, 2**62, 2**64 - 1):
        for dtype in ("int8", "float64", "int4"):
            with pytest.raises(_core.FormatError, match="the file ends at byte 64"):
                _core.reduce_file(name, state_of(name), offset, dtype, n, "full", 1)
            place = with_states([(name, offset, dtype, n)])
            comparison = _core.Comparison(
                place, place, rtol=0, atol=0, kl=True, threads=1, engine="auto"
            )
            comparison.run(None, 1)
            assert comparison.progress().pairs_done == 1
            assert comparison.progress().bytes_done == 0
    assert (out == 0x77).all()
    for no_place in NO_SIZES:
        with pytest.raises(TypeError):
            _core.read_into(name, state_of(name), no_place, out[:N])
        with pytest.raises(TypeError):
            _core.reduce_file(name, state_of(name), no_place, "int8", 1, "full", 1)
        with pytest.raises(TypeError):
            _core.reduce_file(name, 0, "int8", no_place, "full", 1)


@pytest.mark.parametrize("threads", [0, -1, 4097, 2**31 - 1])
def test_threads_that_cannot_be(threads: int) -> None:
    for call in (
        lambda: _core.reduce_buffer(bytes(1), "int8", 1, "full", threads),
        lambda: _core.unpack(bytes(1), "int4", 2, bytearray(2), threads),
        lambda: _core.copy([(bytes(1), bytearray(1))], threads),
        lambda: layout().gather(bytes(512), bytearray(64), 2, 0, 32, threads),
    ):
        with pytest.raises(ValueError, match=f"threads is {threads}"):
            call()
