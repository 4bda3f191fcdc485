"""Tensors of dump files as arrays: views, not copies; slices as numpy's; no needless read."""

from __future__ import annotations

import copy
import dataclasses
import errno
import gc
import math
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from arrays import NAME, address, mapped_at, place_in_file, spec_of_codes, tensors_of, write_tensor
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from truth import ELEMENT_TYPES

import fastdump
from fastdump import (
    ClosedDumpError,
    DumpFormatError,
    FastdumpError,
    LayoutError,
    UnsupportedDTypeError,
    _core,
)
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
from fastdump.testing import OriginalOp, TensorSpec, device_tensor, dump_header, write_dump

GIB = 1 << 30


def float_tensor(directory: Path, **more: Any) -> tuple[Tensor, np.ndarray[Any, Any]]:
    array = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    return write_tensor(directory, array, **more), array


# What is known of a tensor


def test_what_the_header_says(tmp_path: Path) -> None:
    spec = TensorSpec(
        np.zeros((2, 16), np.float16),
        format="FRACTAL_Z",
        origin_shape=(1, 2, 3),
        sub_format=3,
        address=77,
    )
    path = write_dump(tmp_path / NAME, inputs=[np.zeros(3, np.int8)], outputs=[spec, spec])
    _, _, tensor = tensors_of(path)
    assert (tensor.io, tensor.index, tensor.name, tensor.path) == (
        *("output", 1, "output.1", str(path)),
    )
    assert (tensor.format, tensor.sub_format, tensor.origin_shape) == ("FRACTAL_Z", 3, (1, 2, 3))
    assert (tensor.dtype_name, tensor.data_type) == ("float16", 2)
    assert (tensor.address, tensor.status, tensor.note) == (77, "ok", "")
    assert (tensor.declared_shape, tensor.declared_nbytes, tensor.stored_nbytes) == (
        *((2, 16), 64, 64),
    )
    assert tensor.offset == path.stat().st_size - 64
    assert (tensor.shape, tensor.dtype, tensor.ndim, tensor.size) == ((2, 16), np.float16, 2, 32)
    assert (tensor.itemsize, tensor.nbytes, len(tensor)) == (2, 64, 2)
    assert tensor.description["index"] == 1
    with pytest.raises(TypeError):
        tensor.description["index"] = 2  # type: ignore[index]
    with pytest.raises(AttributeError):
        tensor.shape = (32,)  # type: ignore[misc]
    assert repr(tensor) == f"<Tensor output.1: float16 2x16 FRACTAL_Z, of {NAME!r}>"


def test_repr_is_one_line_whatever_the_name(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path, name="a\nb\x1b[31m")
    assert repr(tensor).isprintable()


def test_bytes_of_the_array_are_not_those_in_the_file(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.zeros((3, 3), ml_dtypes.int4))
    assert (tensor.itemsize, tensor.nbytes, tensor.stored_nbytes) == (1, 9, 5)


def test_a_scalar(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.float32(2.5))
    assert (tensor.shape, tensor.ndim, tensor.size) == ((), 0, 1)
    assert np.asarray(tensor).shape == tensor.copy().shape == ()
    assert tensor[()] == tensor[...] == 2.5
    assert type(tensor[()]) is np.float32
    assert isinstance(tensor[...], np.ndarray)
    for attempt in (lambda: len(tensor), lambda: list(tensor)):
        with pytest.raises(TypeError):
            attempt()
    with pytest.raises(IndexError, match="too many indices"):
        tensor[0]


# Views


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "complex128", "bool"])
@pytest.mark.parametrize("offset_modulo_16", [0, 1, 6])
def test_an_array_is_a_view_of_the_file(dtype: str, offset_modulo_16: int, tmp_path: Path) -> None:
    array = (np.arange(24) % 2).reshape(2, 3, 4).astype(dtype)
    tensor = write_tensor(tmp_path, array, offset_modulo_16=offset_modulo_16)
    view = np.asarray(tensor)
    np.testing.assert_array_equal(view, array)
    assert view.dtype == array.dtype
    assert address(view) == mapped_at(tensor)
    assert address(tensor[1, 1:]) == mapped_at(tensor) + 16 * array.itemsize
    assert np.shares_memory(tensor[..., ::-2], view)
    np.testing.assert_array_equal(view.sum(axis=1), array.sum(axis=1))
    np.testing.assert_array_equal(np.sort(view.reshape(-1)), np.sort(array.reshape(-1)))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
@pytest.mark.parametrize("offset_modulo_16", [0, 3])
def test_an_array_of_ml_dtypes_is_a_view_too(
    dtype: str, offset_modulo_16: int, tmp_path: Path
) -> None:
    array = np.array([1, 2, 4, 8, 16], getattr(ml_dtypes, dtype))
    tensor = write_tensor(tmp_path, array, offset_modulo_16=offset_modulo_16)
    view = np.asarray(tensor)
    assert address(view) == mapped_at(tensor)
    assert view.astype(np.float32).tolist() == [1, 2, 4, 8, 16]
    assert tensor[3] == 8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_view_is_of_pages_that_nobody_can_write(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    view = np.asarray(tensor)
    assert place_in_file(address(view), tensor.path) == ("r--s", tensor.offset)


def test_what_comes_from_a_tensor_is_read_only(tmp_path: Path) -> None:
    codes = np.full(6, 3, np.uint8)
    specs = [
        np.zeros((2, 3), np.float32),
        np.zeros((2, 3), ml_dtypes.int4),
        spec_of_codes(ELEMENT_TYPES["hifloat8"], codes, (2, 3)),
        spec_of_codes(ELEMENT_TYPES["bool"], codes, (2, 3)),
    ]
    for spec in specs:
        tensor = write_tensor(tmp_path, spec)
        for array in (np.asarray(tensor), tensor[:], tensor[..., :1], tensor[[0, 1]], tensor.raw()):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 1
        with pytest.raises(ValueError, match=r"writeable|WRITEABLE"):
            tensor.raw().flags.writeable = True


def test_copies_are_writable_and_of_their_own(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    for own in (tensor.copy(), np.array(tensor), tensor.__array__(copy=True)):
        own[...] = -1
        assert not np.shares_memory(own, np.asarray(tensor))
    np.testing.assert_array_equal(np.asarray(tensor), array)


def test_array_protocol(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    np.testing.assert_array_equal(np.asarray(tensor, np.float64), array.astype(np.float64))
    np.testing.assert_array_equal(tensor.__array__(np.dtype("int16")), array.astype(np.int16))
    assert np.shares_memory(tensor.__array__(np.float32), np.asarray(tensor))
    assert np.shares_memory(tensor.__array__(copy=False), np.asarray(tensor))
    assert tensor.__array__(np.float64, copy=True).flags.writeable
    with pytest.raises(ValueError, match="a copy is needed for elements of float64"):
        tensor.__array__(np.float64, copy=False)
    name = "Cast.b.1.2.1700000000000000"
    packed = write_tensor(tmp_path, np.zeros(3, ml_dtypes.int4), name=name)
    with pytest.raises(ValueError, match=f"{name}.*output.0.*int4 from byte {packed.offset}"):
        packed.__array__(copy=False)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        assert np.shares_memory(np.asarray(tensor, copy=False), np.asarray(tensor))
        with pytest.raises(ValueError, match="a copy is needed"):
            np.asarray(packed, copy=False)


def test_numpy_takes_a_tensor_for_an_array(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    assert np.shape(tensor) == (3, 4, 5)
    np.testing.assert_array_equal(np.add(tensor, 1), array + 1)
    np.testing.assert_array_equal(np.stack([tensor, tensor]), np.stack([array, array]))
    np.testing.assert_array_equal(list(tensor), list(array))


def test_fortran_order(tmp_path: Path) -> None:
    """As npy files can have it: the first index varies fastest."""
    stored = np.arange(60, dtype=np.float32).reshape(5, 4, 3)
    stored[0, 0, 1] = np.nan  # element 1 in the file, element 20 of the array
    tensor = write_tensor(tmp_path, stored)
    described = {**tensor.description, "fortran_order": True, "shape": (3, 4, 5)}
    tensor = Tensor(DumpFile(tensor.path), described)
    for array in (np.asarray(tensor), tensor.copy(), tensor[:]):
        np.testing.assert_array_equal(array, stored.T)
        assert array.flags.f_contiguous
    assert address(np.asarray(tensor)) == mapped_at(tensor)
    assert tensor.stats("full").first_bad == 20
    assert tensor.stats() == fastdump.stats_of(stored.T)
    np.testing.assert_array_equal(np.from_dlpack(tensor), stored.T)
    np.testing.assert_array_equal(tensor.raw().view(np.float32), stored.reshape(-1))


# Indices

INDEX_TYPES = ("float32", "int4", "int2", "uint1", "hifloat8", "complex32", "bool")


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[Tensor, Any]]]:
    """Return tensors of some types and shapes with equal arrays in memory."""
    rng = np.random.default_rng(1)
    directory = tmp_path_factory.mktemp("indexed")
    cases: dict[str, list[tuple[Tensor, Any]]] = {}
    for name in INDEX_TYPES:
        element = ELEMENT_TYPES[name]
        cases[name] = []
        # The last is so large that single elements are picked from it.
        for i, shape in enumerate([(), (7,), (3, 5), (2, 3, 4), (2, 0, 3), (1, 1), (37, 401)]):
            n = math.prod(shape)
            if element.is_complex:
                codes = rng.integers(0, 0x7C00, (n, 2), np.uint16)
            else:
                codes = rng.integers(0, min(element.n_codes, 128), n).astype(element.code)
            spec = spec_of_codes(element, codes, shape)
            tensor = write_tensor(directory, spec, name=f"{name}{i}.a.1.2.1700000000000000")
            cases[name].append((tensor, tensor.copy()))
    return cases


def assert_same_selection(tensor: Tensor, array: np.ndarray[Any, Any], key: Any) -> None:
    try:
        expected = array[key]
    except Exception as error:
        with pytest.raises(type(error), match=f"^{re.escape(str(error))}$"):
            tensor[key]
        return
    found = tensor[key]
    assert type(found) is type(expected)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", INDEX_TYPES)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_basic_indices(
    name: str, indexed: dict[str, list[tuple[Tensor, Any]]], data: st.DataObject
) -> None:
    tensor, array = data.draw(st.sampled_from(indexed[name]))
    indices = hnp.basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=True)
    assert_same_selection(tensor, array, data.draw(indices))


anything = st.one_of(
    st.integers(-9, 9),
    st.just(2**70),
    st.slices(12),
    st.none(),
    st.just(...),
    st.booleans(),
    st.sampled_from([np.int64(1), np.uint8(2), np.array(1), np.bool_(True)]),
    st.sampled_from(
        [[0, 1], [], np.array([0, -1]), [True, False, True], 1.5, "x", slice(None, None, 0)]
    ),
)


@pytest.mark.parametrize("name", INDEX_TYPES)
@given(data=st.data(), key=st.one_of(anything, st.lists(anything, max_size=5).map(tuple)))
@settings(max_examples=150, deadline=None)
def test_any_index_gives_what_numpy_gives(
    name: str, indexed: dict[str, list[tuple[Tensor, Any]]], data: st.DataObject, key: Any
) -> None:
    tensor, array = data.draw(st.sampled_from(indexed[name]))
    assert_same_selection(tensor, array, key)


@pytest.mark.parametrize("name", INDEX_TYPES)
def test_indices_out_of_range(name: str, indexed: dict[str, list[tuple[Tensor, Any]]]) -> None:
    tensor = next(t for t, _ in indexed[name] if t.shape == (3, 5))
    with pytest.raises(IndexError, match=r"^index 5 is out of bounds for axis 1 with size 5$"):
        tensor[0, 5]
    with pytest.raises(IndexError, match=r"^too many indices for array: array is 2-dimensional"):
        tensor[0, 0, 0]
    with pytest.raises(IndexError, match="single ellipsis"):
        tensor[..., ...]


@pytest.mark.parametrize("name", [name for name in INDEX_TYPES if ELEMENT_TYPES[name].bits < 8])
def test_slices_that_pick_and_slices_that_unpack(
    name: str, indexed: dict[str, list[tuple[Tensor, Any]]]
) -> None:
    tensor, array = indexed[name][-1]
    keys = [np.s_[:, 0], np.s_[::-1, 400], np.s_[:, 5:8], np.s_[::36, ::-400], np.s_[1:, ::2]]
    keys += [np.s_[i : i + 3, 390:] for i in range(5)]
    for key in keys:
        assert_same_selection(tensor, array, key)


def test_a_slice_of_packed_elements_holds_no_more_than_it_shows(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.zeros((1000, 100), ml_dtypes.int4))
    for key in (np.s_[::2], np.s_[:, 3], np.s_[5]):
        part = tensor[key]
        while isinstance(part.base, np.ndarray):
            part = part.base
        assert part.nbytes == tensor[key].nbytes


# Nothing is read that is not asked for


def sparse(directory: Path, dtype: str, shape: tuple[int, ...], nbytes: int) -> Tensor:
    """Return a tensor of zeros that takes no room on the disk."""
    spec = TensorSpec(b"", dtype=dtype, shape=shape, size=nbytes)
    path = directory / NAME
    path.write_bytes(dump_header(outputs=[spec]))
    try:
        os.truncate(path, path.stat().st_size + nbytes)
    except OSError as error:
        if error.errno in (errno.EFBIG, errno.ENOSPC, errno.EINVAL):
            pytest.skip("the file system takes no file as large")
        raise
    (tensor,) = tensors_of(path)
    return tensor


def reopened(tensor: Tensor) -> Tensor:
    """Return the tensor of the file as it is now."""
    (again,) = tensors_of(Path(tensor.path))
    return again


# To read them all would take minutes.
HUGE = 256 * GIB


@pytest.mark.many_addresses
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "hifloat8", "complex32"])
def test_only_what_is_asked_for_is_read(dtype: str, tmp_path: Path) -> None:
    bits = ELEMENT_TYPES[dtype].bits
    tensor = sparse(tmp_path, dtype, (1 << 20, HUGE * 8 // bits >> 20), HUGE)
    with Path(tensor.path).open("r+b") as file:
        file.seek(-bits // 8, os.SEEK_END)
        file.write(b"\x01" * (bits // 8))
    tensor = reopened(tensor)
    assert tensor.nbytes >= HUGE
    assert tensor[0, 0] == 0
    assert tensor[-1, -1] != 0
    assert tensor[:: 1 << 16, :2].shape == (16, 2)
    assert tensor.raw()[-1] == 1
    if dtype in ("float32", "bfloat16"):
        assert np.asarray(tensor)[-1, -1] != 0
        assert np.asarray(tensor).shape == tensor.shape


@pytest.mark.many_addresses
@pytest.mark.parametrize("dtype", ["int4", "int2", "uint1", "float4_e1m2"])
def test_only_what_is_asked_for_is_unpacked(dtype: str, tmp_path: Path) -> None:
    bits = ELEMENT_TYPES[dtype].bits
    tensor = sparse(tmp_path, dtype, (1 << 20, HUGE * 8 // bits >> 20), HUGE)
    with Path(tensor.path).open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    tensor = reopened(tensor)
    assert tensor[0, 0] == 0
    assert tensor[-1, -1] != 0
    assert tensor[:: 1 << 16, :: tensor.shape[1] // 3].shape == (16, 4)
    assert (tensor[-1, :-10:-1][:2] != 0).all()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_tensor_alone_maps_nothing(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    inode = f" {Path(tensor.path).stat().st_ino} "
    maps = Path("/proc/self/maps")
    assert inode not in maps.read_text()
    view = np.asarray(tensor)
    part = tensor[0]
    assert maps.read_text().count(inode) == 1
    del view
    gc.collect()
    assert inode in maps.read_text()
    del part
    gc.collect()
    assert inode not in maps.read_text()
    assert tensor[0, 0, 0] == 0
    assert inode not in maps.read_text()


# Less, or other, than the shape asks for


def test_a_truncated_tensor_has_what_is_there(tmp_path: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensor = write_tensor(
        tmp_path, TensorSpec(array.tobytes()[:30], "float32", "ND", (3, 4), size=48)
    )
    assert (tensor.status, tensor.shape, tensor.declared_shape) == ("truncated", (7,), (3, 4))
    assert (tensor.stored_nbytes, tensor.declared_nbytes) == (30, 48)
    for found in (np.asarray(tensor), tensor.copy(), tensor[:], np.from_dlpack(tensor)):
        assert found.tolist() == list(range(7))
    assert tensor.stats().count == 7
    assert bytes(tensor.raw()) == array.tobytes()[:30]
    assert "truncated" in repr(tensor)


def test_a_tensor_behind_the_end_has_nothing(tmp_path: Path) -> None:
    path = tmp_path / NAME
    specs = [TensorSpec(np.zeros(shape, np.int16), address=1) for shape in ((2, 2), (3,), ())]
    path.write_bytes(dump_header(outputs=specs))
    for tensor in tensors_of(path):
        assert (tensor.status, tensor.shape, tensor.size) == ("truncated", (0,), 0)
        for found in (np.asarray(tensor), tensor.copy(), tensor[:], np.from_dlpack(tensor)):
            assert (found.shape, found.dtype) == ((0,), tensor.dtype)
        assert tensor.raw().shape == (0,)
        assert tensor.stats().count == 0


@pytest.mark.parametrize(
    ("shape", "size", "found"),
    [
        ((2, 3), 40, (2, 3)),  # more bytes than the shape needs: the first count
        ((4, 5), 40, (10,)),  # fewer
        ((-1, 5), 40, (10,)),  # a dimension that was not known
        ((2**40, 2**40), 40, (10,)),
        ((-5, 2), 40, (10,)),
        ((), 40, (10,)),  # no shape
        ((0, 2**62, 2**62), 40, (0,)),  # numpy has no such array, though it is empty
        ((0, 3), 0, (0, 3)),
        ((0, 3), 40, (0, 3)),
        ((1,) * 40, 4, (1,)),  # more dimensions than any numpy takes
        ((10,), 38, (9,)),
    ],
)
def test_shapes_and_sizes_that_disagree(
    shape: tuple[int, ...], size: int, found: tuple[int, ...], tmp_path: Path
) -> None:
    array = np.arange(10, dtype=np.float32)
    tensor = write_tensor(tmp_path, TensorSpec(array.tobytes()[:size], "float32", "ND", shape))
    assert tensor.shape == found
    for result in (np.asarray(tensor), tensor.copy(), tensor[...]):
        assert result.shape == found
        assert result.reshape(-1).tolist() == array.tolist()[: tensor.size]


def absent_tensor(directory: Path) -> Tensor:
    absent = TensorSpec(b"", "float32", "ND", (2, 3), size=24, address=0)
    there = TensorSpec(np.ones(4, np.float32), address=16)
    path = write_dump(directory / NAME, inputs=[absent], outputs=[there])
    tensor, other = tensors_of(path)
    assert np.asarray(other).tolist() == [1, 1, 1, 1]
    return tensor


def test_a_tensor_that_was_never_written(tmp_path: Path) -> None:
    tensor = absent_tensor(tmp_path)
    assert (tensor.status, tensor.shape, tensor.stored_nbytes) == ("absent", (2, 3), 0)
    attempts = (
        lambda: np.asarray(tensor),
        lambda: tensor[0],
        lambda: tensor[...],
        lambda: list(tensor),
        tensor.copy,
        tensor.stats,
        tensor.__dlpack__,
    )
    for attempt in attempts:
        with pytest.raises(DumpFormatError, match=f"{NAME}.*input.0.*never written"):
            attempt()
    assert tensor.raw().shape == (0,)


def test_a_file_that_shrank_since_its_header_was_read(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    os.truncate(tensor.path, tensor.offset + 100)
    message = f"{NAME}.*the file changed after its header was read"
    for attempt in (
        lambda: np.asarray(tensor),
        lambda: tensor[0, 0, 0],
        tensor.copy,
        tensor.raw,
        tensor.stats,
        tensor.__dlpack__,
    ):
        with pytest.raises(DumpFormatError, match=message):
            attempt()


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    Path(tensor.path).unlink()
    for attempt in (lambda: np.asarray(tensor), tensor.copy, tensor.stats, tensor.__dlpack__):
        with pytest.raises(FileNotFoundError) as raised:
            attempt()
        assert raised.value.filename == tensor.path


dims = st.integers(0, 6) | st.sampled_from([-1, -7, 2**31, 2**40, 2**62, 2**63 - 1])
specs = st.builds(
    TensorSpec,
    data=st.binary(max_size=60),
    dtype=st.integers(0, 45) | st.just(-3),
    shape=st.lists(dims, max_size=4),
    size=st.none() | st.integers(0, 70) | st.sampled_from([2**40, 2**63, 2**64 - 1]),
    address=st.sampled_from([0, 1]),
)


@given(outputs=st.lists(specs, max_size=4), n_lost=st.integers(0, 80))
@settings(max_examples=400, deadline=None)
def test_whatever_a_header_says(
    outputs: list[TensorSpec], n_lost: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An array has the bytes that are there, in a shape that they fill; else there is an error."""
    path = tmp_path_factory.getbasetemp() / NAME
    header = dump_header(outputs=outputs)
    payload = b"".join(bytes(spec.data) for spec in outputs)
    content = header + payload[: max(0, len(payload) - n_lost)]
    path.write_bytes(content)
    for tensor in tensors_of(path):
        stored = content[tensor.offset : tensor.offset + tensor.stored_nbytes]
        assert len(stored) == tensor.stored_nbytes
        assert bytes(tensor.raw()) == stored
        try:
            array = np.asarray(tensor)
        except FastdumpError:
            assert tensor.status == "absent" or "float6" in str(tensor.dtype_name)
            continue
        assert (array.shape, array.dtype) == (tensor.shape, tensor.dtype)
        assert tensor.shape in (tensor.declared_shape, (tensor.size,))
        if tensor.status == "ok" and tensor.size and -1 not in tensor.declared_shape:
            assert tensor.shape == tensor.declared_shape
        if np.shares_memory(array, tensor.raw()):
            assert array.tobytes() == stored[: array.nbytes]
        for same in (tensor.copy(), tensor[...], tensor[: len(tensor)] if tensor.ndim else array):
            assert same.tobytes() == array.tobytes()
        if tensor.dtype.name in ("float32", "int16", "bool", "uint8"):
            assert np.from_dlpack(tensor).tobytes() == array.tobytes()


@pytest.mark.many_addresses
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits addresses")
def test_a_file_for_which_there_are_no_addresses(tmp_path: Path, run_python: Any) -> None:
    """It cannot be mapped; what reads it works."""
    tensor = sparse(tmp_path, "int8", (HUGE,), HUGE)
    program = """
import errno, resource, sys
import numpy as np
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
file = DumpFile(sys.argv[1])
tensor = Tensor(file, file.header()["tensors"][0])
with open("/proc/self/statm") as sizes:
    used = int(sizes.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 30), resource.RLIM_INFINITY))
for attempt in (lambda: tensor[0], tensor.raw, tensor.__dlpack__, lambda: np.asarray(tensor)):
    try:
        attempt()
    except OSError as error:
        print(errno.errorcode[error.errno], error.filename == sys.argv[1])
print(file.read(tensor.offset, 3).tolist())
"""
    assert run_python(program, tensor.path).split("\n") == [*4 * ["ENOMEM True"], "[0, 0, 0]", ""]


# How long things live


def test_views_outlive_the_dump(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    view = np.asarray(tensor)
    part = tensor[1:, ::-1]
    raw = tensor.raw()
    shared = np.from_dlpack(tensor)
    tensor._file.close()
    del tensor
    Path(tmp_path / NAME).unlink()
    gc.collect()
    np.testing.assert_array_equal(view, array)
    np.testing.assert_array_equal(part, array[1:, ::-1])
    np.testing.assert_array_equal(shared, array)
    assert bytes(raw) == array.tobytes()


def test_a_closed_dump(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    packed = write_tensor(tmp_path, np.zeros(8, ml_dtypes.int4), name="B.b.1.2.1700000000000000")
    view = np.asarray(tensor)  # the mapping is alive, but closed is closed
    for closed in (tensor, packed):
        closed._file.close()
        closed._file.close()
        for attempt in (
            lambda tensor=closed: np.asarray(tensor),
            lambda tensor=closed: tensor[0],
            lambda tensor=closed: tensor[:0],
            closed.copy,
            closed.raw,
            closed.stats,
            closed.__dlpack__,
            closed._file.header,
            closed._file.mapping,
        ):
            with pytest.raises(ClosedDumpError, match="closed"):
                attempt()
    assert issubclass(ClosedDumpError, FastdumpError)
    assert issubclass(ClosedDumpError, ValueError)
    assert tensor.shape == (3, 4, 5)
    assert "closed" in repr(tensor._file)
    np.testing.assert_array_equal(view, array)


def test_one_file_in_many_threads(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    file = DumpFile(tensor.path)
    ready = threading.Barrier(8)
    mappings, headers, failures = [], [], []

    def use() -> None:
        try:
            ready.wait()
            headers.append(file.header())
            for _ in range(50):
                mine = Tensor(file, file.header()["tensors"][0])
                np.testing.assert_array_equal(mine[1], array[1])
                np.testing.assert_array_equal(np.asarray(mine), array)
            mappings.append(file.mapping())
            ready.wait()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(header is headers[0] for header in headers)
    assert all(mapping is mappings[0] for mapping in mappings)


def test_a_view_after_fork(tmp_path: Path, run_python: Any) -> None:
    tensor, _ = float_tensor(tmp_path)
    program = """
import os, sys
import numpy as np
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
file = DumpFile(sys.argv[1])
tensor = Tensor(file, file.header()["tensors"][0])
view = np.asarray(tensor)
child = os.fork()
if child == 0:
    os._exit(int(view.sum() == 1770 and tensor[0, 0, 1] == 1 and tensor.copy().sum() == 1770))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), view.sum())
"""
    assert run_python(program, tensor.path).split() == ["1", "1770.0"]


def test_nothing_of_a_file_is_kept_open(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    before = len(list(Path("/dev/fd").iterdir()))
    kept = [np.asarray(tensor), tensor[0], tensor.copy(), tensor.stats(), np.from_dlpack(tensor)]
    assert len(list(Path("/dev/fd").iterdir())) == before
    del kept


# Statistics


@pytest.mark.parametrize("name", ELEMENT_TYPES)
@pytest.mark.parametrize("level", ["health", "basic", "full"])
def test_statistics_are_those_of_the_table(name: str, level: Any, tmp_path: Path) -> None:
    content = np.random.default_rng(3).bytes(16016)
    tensor = write_tensor(tmp_path, TensorSpec(content, dtype=name))
    (row,) = fastdump.stats(tensor.path, level=level)
    for threads in (None, 1, 3):
        stats = tensor.stats(level=level, threads=threads)
        assert stats.level == level
        for field in dataclasses.fields(stats):
            value, in_table = getattr(stats, field.name), getattr(row, field.name, level)
            if name in ("int64", "uint64") and field.name in ("max", "min") and value is not None:
                value = float(value)  # tables have no larger integers
            assert value == in_table, field.name


def test_statistics_refuse(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    with pytest.raises(ValueError, match="level is 'header'"):
        tensor.stats(level="header")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads is 0"):
        tensor.stats(threads=0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_statistics_can_be_interrupted(run_python: Any, tmp_path: Path) -> None:
    """Signals are handled while all threads are at work, and an exception ends that."""
    tensor = sparse(tmp_path, "int8", (HUGE,), HUGE)
    program = """
import os, signal, sys, threading
from fastdump import FileChangedError
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
file = DumpFile(sys.argv[1])
tensor = Tensor(file, file.header()["tensors"][0])
main = threading.get_ident()
def interrupt(number, frame):
    raise KeyboardInterrupt
def shrink(number, frame):
    os.truncate(sys.argv[1], tensor.offset)
def n_tasks():
    return len(os.listdir("/proc/self/task"))
n_idle = n_tasks()
def send():
    # With this thread, and one that reduces beside the main thread.
    while n_tasks() < n_idle + 2:
        pass
    signal.pthread_kill(main, signal.SIGUSR1)
for handler in (interrupt, shrink):
    signal.signal(signal.SIGUSR1, handler)
    helper = threading.Thread(target=send)
    try:
        helper.start()
        print(tensor.stats(threads=2))
    except KeyboardInterrupt:
        print("interrupted")
    except FileChangedError:
        print("changed")
    helper.join()
"""
    assert run_python(program, tensor.path) == "interrupted\nchanged\n"


# Layouts


def test_logical_is_the_host_s_layout(tmp_path: Path) -> None:
    x = np.arange(2 * 19 * 3 * 5, dtype=np.float16).reshape(2, 19, 3, 5)
    tensor = write_tensor(tmp_path, device_tensor(x, "NC1HWC0", padding=np.nan))
    assert tensor.shape == (2, 2, 3, 5, 16)
    np.testing.assert_array_equal(tensor.logical(), x)
    nhwc = x.transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(tensor.logical("NHWC", threads=2), nhwc)
    # The given shape stands for the header's.
    np.testing.assert_array_equal(tensor.logical(shape=(2, 18, 3, 5)), x[:, :18])
    with pytest.raises(LayoutError, match="NC1HWC0"):
        tensor.logical(shape=(2, 99, 3, 5))

    out = np.zeros_like(x)
    assert tensor.logical(out=out) is out
    np.testing.assert_array_equal(out, x)
    for wrong in (out[:1], out.astype(np.float32)):
        with pytest.raises(ValueError, match="out"):
            tensor.logical(out=wrong)


def test_the_original_format_decides_what_shapes_leave_open(tmp_path: Path) -> None:
    x = np.arange(16**4, dtype=np.int32).reshape(16, 16, 16, 16)
    nhwc = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    spec = device_tensor(nhwc, "NC1HWC0", origin_format="NHWC")
    np.testing.assert_array_equal(write_tensor(tmp_path, spec).logical(), x)
    number = _core.tensor_formats().index("NHWC")
    hinted = dataclasses.replace(spec, original_op=OriginalOp("conv", format=number))
    path = write_dump(tmp_path / NAME, outputs=[hinted])
    np.testing.assert_array_equal(tensors_of(path)[0].logical(), nhwc)


def test_logical_of_plain_formats_is_a_view(tmp_path: Path) -> None:
    tensor, array = float_tensor(tmp_path)
    assert np.may_share_memory(tensor.logical(), np.asarray(tensor))
    out = np.empty_like(array)
    assert tensor.logical(out=out) is out
    np.testing.assert_array_equal(out, array)


def test_logical_of_bytes(tmp_path: Path) -> None:
    plain = write_tensor(tmp_path, TensorSpec(b"abcdef", dtype="UNDEFINED", shape=(2, 3)))
    assert bytes(plain.logical()) == b"abcdef"
    spec = TensorSpec(b"abcdef", dtype="UNDEFINED", shape=(2, 3), format="FRACTAL_NZ")
    with pytest.raises(UnsupportedDTypeError, match=r"FRACTAL_NZ.*undefined"):
        write_tensor(tmp_path, spec).logical()
    path = write_dump(tmp_path / "Cast.a.1.2.1700000000000000", buffers=[b"abc"])
    assert bytes(tensors_of(path)[0].logical()) == b"abc"


# Files


def test_a_dump_file_reads_its_header_once(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    file = DumpFile(os.fsencode(tensor.path))
    assert file.path == tensor.path
    header = file.header()
    Path(tensor.path).unlink()
    assert file.header() is header


def test_a_file_that_is_no_dump(tmp_path: Path) -> None:
    path = tmp_path / "none"
    with pytest.raises(FileNotFoundError):
        DumpFile(path).header()
    with pytest.raises(FileNotFoundError):
        DumpFile(path).mapping()
    path.write_bytes(b"not a dump at all")
    with pytest.raises(DumpFormatError, match="none"):
        DumpFile(path).header()
    with pytest.raises(IsADirectoryError):
        DumpFile(tmp_path).mapping()
    with pytest.raises(ValueError, match="null byte"):
        DumpFile("a\0b")


def test_a_private_mapping_keeps_what_is_written(tmp_path: Path) -> None:
    path = Path(float_tensor(tmp_path)[0].path)
    content = path.read_bytes()
    file = DumpFile(path)
    private, other = file.private_mapping(), file.private_mapping()
    private.data[1] = content[1] ^ 1
    assert private.data[1] != content[1]
    assert bytes(other.data) == bytes(file.mapping().data) == path.read_bytes() == content
    with pytest.raises(TypeError, match="read-only"):
        file.mapping().data[1] = 0


def test_reading_where_no_file_reaches(tmp_path: Path) -> None:
    tensor, _ = float_tensor(tmp_path)
    with pytest.raises(OSError, match="Invalid argument") as raised:
        tensor._file.read(2**63, 3)
    assert (raised.value.errno, raised.value.filename) == (errno.EINVAL, tensor.path)


def test_reading_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fastdump._tensor.dump_file._READ_NBYTES", 7)
    tensor, array = float_tensor(tmp_path)
    np.testing.assert_array_equal(tensor.copy(), array)
    with pytest.raises(DumpFormatError, match=f"ends at byte {tensor.offset + tensor.nbytes}"):
        tensor._file.read(tensor.offset, tensor.nbytes + 1)


def test_a_tensor_is_not_copied_by_accident(tmp_path: Path) -> None:
    """copy.copy gives a tensor of the same file, not an array."""
    tensor, array = float_tensor(tmp_path)
    twin = copy.copy(tensor)
    assert isinstance(twin, Tensor)
    np.testing.assert_array_equal(np.asarray(twin), array)
