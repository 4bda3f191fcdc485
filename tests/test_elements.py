"""What elements become in arrays: every code of every type, against independent decoders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from arrays import mapped_at, spec_of_codes, tensors_of, write_tensor
from hypothesis import given, settings
from hypothesis import strategies as st
from truth import ELEMENT_TYPES, ElementType, float4_e1m2, hifloat8, unpacked

from fastdump import UnsupportedDTypeError, _core
from fastdump._array.elements import element_type
from fastdump.testing import TensorSpec, write_dump

RANDOM = np.random.default_rng(20260101)
N_RANDOM = 5001

# The types of arrays; written out here, not taken from what is tested.
DTYPES: dict[str, Any] = {
    **{
        name: np.dtype(name)
        for name in (
            *("float16", "float32", "float64", "complex64", "complex128", "bool"),
            *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        )
    },
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "int4": np.dtype(ml_dtypes.int4),
    "uint1": np.dtype(np.uint8),
    "int2": np.dtype(ml_dtypes.int2),
    "uint2": np.dtype(ml_dtypes.uint2),
    "complex32": np.dtype(np.complex64),
    "hifloat8": np.dtype(np.float32),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e8m0fnu": np.dtype(ml_dtypes.float8_e8m0fnu),
    "float4_e2m1fn": np.dtype(ml_dtypes.float4_e2m1fn),
    "float4_e1m2": np.dtype(np.float32),
}
CONVERTED = {"bool", "complex32", "hifloat8", "float4_e1m2"}
FLOAT6 = {"float6_e3m2fn": 37, "float6_e2m3fn": 38}
# Types without a documented encoding, and numbers that no source has.
OPAQUE = {
    0: "undefined",
    13: "string",
    24: "string_ref",
    25: "dual",
    26: "variant",
    41: "hifloat4",
    42: "hifloat4_scale",
    43: None,
    1000: None,
}


def all_codes(element: ElementType) -> np.ndarray[Any, Any]:
    """Return every code, in a random order and an odd number; of wide types random ones."""
    if element.is_complex:
        part = {32: np.uint16, 64: np.uint32, 128: np.uint64}[element.bits]
        parts = RANDOM.integers(0, np.iinfo(part).max, (N_RANDOM, 2), part, endpoint=True)
        if element.bits == 32:  # both parts see all codes
            every = np.arange(1 << 16, dtype=np.uint16)
            parts = np.concatenate([np.stack([every, RANDOM.permutation(every)], 1), parts])
        return parts
    if element.bits > 16:
        largest = np.iinfo(element.code).max
        return RANDOM.integers(0, largest, N_RANDOM, element.code, endpoint=True)
    every = np.arange(element.n_codes, dtype=element.code)
    return np.concatenate([RANDOM.permutation(np.tile(every, 3)), every[:1]])


def assert_equal(array: Any, element: ElementType, codes: Any) -> None:
    """Assert that values are those of the codes, to the sign of zero."""
    assert array.dtype == DTYPES[element.name]
    expected = element.decode(codes)
    if element.is_complex:
        array = np.ascontiguousarray(array)
        array = array.view(array.real.dtype).reshape(-1, 2)
    if element.is_integer:
        assert array.astype(object).tolist() == expected.tolist()
        return
    with np.errstate(invalid="ignore"):  # a signalling NaN becomes a quiet one
        found = array.astype(np.float64)
    np.testing.assert_array_equal(found, expected)  # NaN equals NaN
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_every_code(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    codes = all_codes(element)
    tensor = write_tensor(tmp_path, spec_of_codes(element, codes))
    assert (tensor.dtype_name, tensor.data_type) == (name, element.number)
    assert (tensor.dtype, tensor.shape) == (DTYPES[name], (len(codes),))
    for array in (np.asarray(tensor), tensor.copy(), tensor[:], np.array(tensor)):
        assert array.shape == (len(codes),)
        assert_equal(array, element, codes)
    backwards = tensor[::-3]
    assert_equal(backwards, element, codes[::-3])
    if element.bits >= 8 and name not in CONVERTED:
        # Not even a NaN loses its payload.
        assert np.asarray(tensor).view(codes.dtype).tobytes() == codes.tobytes()


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if not name.startswith("c")])
def test_every_code_as_a_scalar(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    codes = all_codes(element)[:513]
    tensor = write_tensor(tmp_path, spec_of_codes(element, codes))
    scalars = [tensor[i] for i in range(len(codes))]
    assert all(type(scalar) is DTYPES[name].type for scalar in scalars)
    assert_equal(np.array(scalars, DTYPES[name]), element, codes)


@pytest.mark.parametrize("name", [name for name, e in ELEMENT_TYPES.items() if e.bits < 8])
@given(content=st.binary(max_size=80), data=st.data())
@settings(max_examples=100, deadline=None)
def test_unpack(name: str, content: bytes, data: st.DataObject) -> None:
    element = ELEMENT_TYPES[name]
    n = data.draw(st.integers(0, len(content) * 8 // element.bits))
    out = bytearray(b"\xa5" * (n + 2))
    _core.unpack(content, name, n, out, 1)
    assert out == bytes(unpacked(element, content, n)) + b"\xa5\xa5"


def test_unpack_refuses(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="data has 2 bytes, 3 are needed"):
        _core.unpack(b"ab", "int4", 5, bytearray(9), 1)
    with pytest.raises(ValueError, match="out has 4 bytes, 5 are needed"):
        _core.unpack(b"abc", "int4", 5, bytearray(4), 1)
    for dtype in ("int8", "hifloat4", "float6_e2m3fn", "nonsense"):
        with pytest.raises(ValueError, match="nothing to unpack"):
            _core.unpack(b"", dtype, 0, bytearray(), 1)
    with pytest.raises(BufferError):
        _core.unpack(b"abc", "int4", 5, b"-----", 1)  # read-only
    with pytest.raises((BufferError, ValueError), match="contiguous"):
        _core.unpack(b"abc", "int4", 5, np.zeros(10, np.uint8)[::2], 1)
    with pytest.raises(ValueError, match="threads"):
        _core.unpack(b"abc", "int4", 5, bytearray(5), 0)


def test_packed_elements_are_as_ml_dtypes_stores_them(tmp_path: Path) -> None:
    """Bits above a code would make elements unequal that are equal."""
    for name in ("int4", "int2", "uint2", "float4_e2m1fn"):
        element = ELEMENT_TYPES[name]
        codes = all_codes(element)
        array = np.asarray(write_tensor(tmp_path, spec_of_codes(element, codes)))
        as_stored = element.decode(codes).astype(np.float32).astype(DTYPES[name])
        assert array.tobytes() == as_stored.tobytes()


@pytest.mark.parametrize("name", ["hifloat8", "float4_e1m2"])
def test_tables_agree_with_the_kernels(name: str, tmp_path: Path) -> None:
    """And both with the definition."""
    element = ELEMENT_TYPES[name]
    codes = np.arange(element.n_codes, dtype=np.uint8)
    table = np.asarray(write_tensor(tmp_path, spec_of_codes(element, codes)))
    define = {"hifloat8": hifloat8, "float4_e1m2": float4_e1m2}[name]
    for code in codes.tolist():
        kernel = _core.reduce_buffer(bytes([code]), name, 1, "full", 1)
        value = float(table[code])
        np.testing.assert_equal(value, define(code))
        assert kernel["nan"] == np.isnan(value)
        assert (kernel["pos_inf"], kernel["neg_inf"]) == (value == np.inf, value == -np.inf)
        assert kernel["max"] == (value if np.isfinite(value) else None)


def test_bool_bytes_beyond_one_are_true(tmp_path: Path) -> None:
    codes = np.array([0, 1, 2, 255, 0, 128], np.uint8)
    tensor = write_tensor(tmp_path, spec_of_codes(ELEMENT_TYPES["bool"], codes, (2, 3)))
    for array in (np.asarray(tensor), tensor.copy(), tensor[:], tensor[..., ::1]):
        assert array.tolist() == [[False, True, True], [True, False, True]]
        assert array.tobytes() == bytes([0, 1, 1, 1, 0, 1])
    assert tensor[1, 2] == np.True_
    assert tensor.raw().tolist() == codes.tolist()
    with pytest.raises(ValueError, match="copy"):
        tensor.__array__(copy=False)


def test_bool_bytes_of_zero_and_one_are_a_view(tmp_path: Path) -> None:
    codes = np.array([0, 1, 1, 0], np.uint8)
    tensor = write_tensor(tmp_path, spec_of_codes(ELEMENT_TYPES["bool"], codes))
    array = tensor.__array__(copy=False)
    assert array.tolist() == [False, True, True, False]
    assert array.__array_interface__["data"][0] == mapped_at(tensor)


@pytest.mark.parametrize("number", OPAQUE)
def test_what_has_no_documented_encoding_is_bytes(number: int, tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, TensorSpec(b"abcdefg", dtype=number, shape=(2, 3)))
    assert (tensor.dtype_name, tensor.data_type) == (OPAQUE[number], number)
    assert (tensor.shape, tensor.declared_shape, tensor.dtype) == ((7,), (2, 3), np.uint8)
    assert bytes(np.asarray(tensor)) == bytes(tensor.copy()) == bytes(tensor[:]) == b"abcdefg"
    with pytest.raises(UnsupportedDTypeError, match=f"no statistics.*{OPAQUE[number] or number}"):
        tensor.stats()


def test_buffers_and_spaces_are_bytes(tmp_path: Path) -> None:
    path = write_dump(tmp_path / "Add.a.1.2.1700000000000000", buffers=[b"abc"], spaces=[b"", b"d"])
    buffer, empty, space = tensors_of(path)
    assert (buffer.name, empty.name, space.name) == ("buffer.0", "space.0", "space.1")
    assert [bytes(np.asarray(t)) for t in (buffer, empty, space)] == [b"abc", b"", b"d"]
    assert (buffer.format, buffer.dtype_name, buffer.dtype) == (None, None, np.uint8)


def pack_float6(codes: list[int], bit_order: str) -> bytes:
    """Return 6-bit codes as one long number, its first bit the lowest or the highest."""
    n_bytes = -(-len(codes) * 6 // 8)
    if bit_order == "little":
        number = sum(code << (6 * i) for i, code in enumerate(codes))
        return number.to_bytes(n_bytes, "little")
    number = sum(code << (8 * n_bytes - 6 * (i + 1)) for i, code in enumerate(codes))
    return number.to_bytes(n_bytes, "big")


@pytest.mark.parametrize("name", FLOAT6)
@pytest.mark.parametrize("bit_order", ["little", "big"])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 63, 64, 131])
def test_float6_as_told(name: str, bit_order: Any, n: int, tmp_path: Path) -> None:
    codes = [(29 * i + 7) % 64 for i in range(n)]
    content = pack_float6(codes, bit_order)
    tensor = write_tensor(tmp_path, TensorSpec(content, dtype=name, shape=(n, 1)))
    array = tensor.copy(bit_order=bit_order)
    assert array.shape == tensor.shape == (n, 1)
    assert array.dtype == tensor.dtype == getattr(ml_dtypes, name)
    assert array.tobytes() == bytes(codes)
    assert array.flags.writeable


@pytest.mark.parametrize("name", FLOAT6)
def test_float6_without_being_told(name: str, tmp_path: Path) -> None:
    content = pack_float6([1, 2, 3, 4], "little")
    tensor = write_tensor(tmp_path, TensorSpec(content, dtype=name, shape=(4,)))
    attempts = (
        lambda: np.asarray(tensor),
        lambda: tensor[0],
        tensor.copy,
        lambda: list(tensor),
        lambda: tensor.__dlpack__(),
    )
    for attempt in attempts:
        with pytest.raises(UnsupportedDTypeError, match=r"not documented.*bit_order"):
            attempt()
    with pytest.raises(UnsupportedDTypeError):
        tensor.stats()
    assert bytes(tensor.raw()) == content


def test_float6_with_fewer_bytes_than_its_shape(tmp_path: Path) -> None:
    content = pack_float6([5, 6, 7], "little")  # 18 of 24 bits
    tensor = write_tensor(tmp_path, TensorSpec(content, dtype="float6_e2m3fn", shape=(100,)))
    assert tensor.copy(bit_order="little").tobytes() == bytes([5, 6, 7, 0])


def test_bit_order_is_for_6_bit_floats(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.zeros(4, np.float32))
    with pytest.raises(ValueError, match="6-bit"):
        tensor.copy(bit_order="little")
    tensor = write_tensor(tmp_path, TensorSpec(b"abc", dtype="float6_e2m3fn", shape=(4,)))
    with pytest.raises(ValueError, match="'middle'"):
        tensor.copy(bit_order="middle")  # type: ignore[arg-type]


def test_every_type_of_a_header_has_an_element_type() -> None:
    """And no other has a documented encoding than those that statistics are of."""
    for _, _, name, bits, reducible in _core.data_types():
        element = element_type(name)
        assert element.is_opaque == (not reducible and name not in FLOAT6), name
        if not element.is_opaque:
            assert element.bits == bits, name
            assert element.codes.itemsize == max(bits // 8, 1), name


def test_importing_fastdump_imports_no_ml_dtypes(tmp_path: Path, run_python: Any) -> None:
    path = write_tensor(tmp_path, np.arange(3, dtype=np.float32)).path
    program = """
import sys
import numpy as np
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
file = DumpFile(sys.argv[1])
print(np.asarray(Tensor(file, file.header()["tensors"][0])).tolist(), "ml_dtypes" in sys.modules)
"""
    assert run_python(program, path).strip() == "[0.0, 1.0, 2.0] False"


def test_reference_dumps(reference_dumps: Path) -> None:
    """Files by another writer, with its own list of what is where."""
    expected = json.loads((reference_dumps / "expected.json").read_text())
    seen = set()
    for path, rows in expected.items():
        content = (reference_dumps / path).read_bytes()
        for tensor, row in zip(tensors_of(reference_dumps / path), rows, strict=True):
            assert tensor.offset == row["offset"]
            element = ELEMENT_TYPES.get(str(tensor.dtype_name))
            if element is None:
                assert np.asarray(tensor).dtype == np.uint8
                continue
            if tensor.status == "ok":
                # The header of a thread's slice has the shape of the whole.
                whole = tensor.description["full_shape"]
                assert (whole or tensor.shape) == tuple(row["shape"])
            codes = unpacked(element, content[tensor.offset :], tensor.size)
            assert_equal(np.asarray(tensor).reshape(-1), element, codes)
            seen.add(element.name)
    assert len(seen) >= 15
