"""Tensors handed to other libraries: the capsules, and what numpy and PyTorch make of them."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from arrays import place_in_file, spec_of_codes, write_tensor
from truth import ELEMENT_TYPES

from fastdump import FileChangedError
from fastdump._tensor.tensor import Tensor
from fastdump.testing import TensorSpec

needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

# What DLPack calls the types: kind, bits.
DL_TYPES = {
    "int8": (0, 8),
    "int16": (0, 16),
    "int32": (0, 32),
    "int64": (0, 64),
    "uint8": (1, 8),
    "uint16": (1, 16),
    "uint32": (1, 32),
    "uint64": (1, 64),
    "float16": (2, 16),
    "float32": (2, 32),
    "float64": (2, 64),
    "bfloat16": (4, 16),
    "complex64": (5, 64),
    "complex128": (5, 128),
    "bool": (6, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e5m2": (12, 8),
    "float8_e8m0fnu": (14, 8),
}
# Those are converted, so that they are copies of what DLPack does have.
CONVERTED = {"hifloat8": (2, 32), "float4_e1m2": (2, 32), "complex32": (5, 64), "uint1": (1, 8)}
READ_ONLY, IS_COPIED = 1, 2


# A consumer of capsules, written from DLPack's specification.


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = (
        ("tensor", DLTensor),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
    )


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


def pointer_in(capsule: object, name: bytes) -> int:
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    return int(get_pointer(capsule, name))


def versioned(capsule: object) -> Versioned:
    return Versioned.from_address(pointer_in(capsule, b"dltensor_versioned"))


_USED_NAMES = (b"used_dltensor", b"used_dltensor_versioned")  # capsules do not copy them


def consume(capsule: object, name: bytes) -> None:
    """Take the tensor over, as one that imports it does."""
    set_name = ctypes.pythonapi.PyCapsule_SetName
    set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)
    set_name(capsule, next(used for used in _USED_NAMES if used == b"used_" + name))


def bytes_of(tensor: DLTensor) -> bytes:
    n = 1
    for axis in range(tensor.ndim):
        n *= tensor.shape[axis]
    return ctypes.string_at(tensor.data, n * tensor.bits // 8)


def export(tensor: Tensor, **how: Any) -> object:
    return tensor.__dlpack__(max_version=(1, 1), **how)


@pytest.mark.parametrize("name", DL_TYPES)
def test_a_capsule_with_flags(name: str, tmp_path: Path) -> None:
    content = bytes(range(2)) * 48 if name == "bool" else bytes(range(96))
    itemsize = DL_TYPES[name][1] // 8
    spec = TensorSpec(content, dtype=name, shape=(2, 3, 16 // itemsize))
    tensor = write_tensor(tmp_path, spec, offset_modulo_16=0)
    capsule = export(tensor, copy=False)
    managed = versioned(capsule)
    assert (managed.major, managed.minor, managed.flags) == (1, 1, READ_ONLY)
    found = managed.tensor
    assert (found.device_type, found.device_id) == tensor.__dlpack_device__() == (1, 0)
    assert (found.code, found.bits, found.lanes) == (*DL_TYPES[name], 1)
    assert tuple(found.shape[:3]) == tensor.shape
    assert tuple(found.strides[:3]) == (3 * tensor.shape[2], tensor.shape[2], 1)
    assert (found.ndim, found.byte_offset) == (3, 0)
    assert bytes_of(found) == content


@pytest.mark.parametrize("max_version", [None, (0, 8)])
def test_a_capsule_without_flags(max_version: Any, tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.int16).reshape(2, 3), offset_modulo_16=2)
    capsule = tensor.__dlpack__(max_version=max_version)
    found = Managed.from_address(pointer_in(capsule, b"dltensor")).tensor
    assert (found.code, found.bits, found.ndim) == (0, 16, 2)
    assert bytes_of(found) == np.arange(6, dtype=np.int16).tobytes()


def test_a_scalar_and_an_empty_tensor(tmp_path: Path) -> None:
    scalar = write_tensor(tmp_path, np.float32(2.5))
    capsule = export(scalar)
    assert versioned(capsule).tensor.ndim == 0
    assert bytes_of(versioned(capsule).tensor) == np.float32(2.5).tobytes()
    empty = write_tensor(tmp_path, np.zeros((2, 0, 3), np.float32))
    capsule = export(empty, copy=False)
    assert tuple(versioned(capsule).tensor.shape[:3]) == (2, 0, 3)


@needs_proc
def test_memory_is_of_the_file_and_of_the_capsule_alone(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.float32), offset_modulo_16=4)
    capsules = [export(tensor), export(tensor)]
    addresses = [versioned(capsule).tensor.data for capsule in capsules]
    for address in addresses:
        assert place_in_file(address, tensor.path) == ("rw-p", tensor.offset)
    content = Path(tensor.path).read_bytes()
    ctypes.memset(addresses[0], 0xFF, 24)
    assert ctypes.string_at(addresses[1], 24) == np.arange(6, dtype=np.float32).tobytes()
    assert np.asarray(tensor).tolist() == list(range(6))
    assert Path(tensor.path).read_bytes() == content


def is_mapped(path: str) -> bool:
    gc.collect()
    return f" {Path(path).stat().st_ino} " in Path("/proc/self/maps").read_text()


@needs_proc
@pytest.mark.parametrize("name", [b"dltensor", b"dltensor_versioned"])
def test_how_long_memory_lives(name: bytes, tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.float32), offset_modulo_16=0)
    path = tensor.path
    max_version = (1, 0) if name == b"dltensor_versioned" else None
    # Nobody imports it: the capsule frees it.
    capsule = tensor.__dlpack__(max_version=max_version)
    assert is_mapped(path)
    del capsule
    assert not is_mapped(path)
    # Somebody does: the capsule may go, and the tensor and its file too.
    capsule = tensor.__dlpack__(max_version=max_version)
    struct = Versioned if max_version else Managed
    managed = struct.from_address(pointer_in(capsule, name))
    consume(capsule, name)
    tensor._file.close()
    del capsule, tensor
    assert is_mapped(path)
    assert bytes_of(managed.tensor) == np.arange(6, dtype=np.float32).tobytes()
    # And deletes it, from whichever thread; ctypes lets the GIL go meanwhile.
    address = ctypes.addressof(managed)
    thread = threading.Thread(target=managed.deleter, args=(address,))
    thread.start()
    thread.join()
    assert not is_mapped(path)


def test_a_capsule_that_outlives_the_interpreter(tmp_path: Path, run_python: Any) -> None:
    """Deleting it then must do no harm."""
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.float32))
    program = """
import ctypes, sys
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
file = DumpFile(sys.argv[1])
capsule = Tensor(file, file.header()["tensors"][0]).__dlpack__()
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
address = get_pointer(capsule, b"dltensor")
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = (ctypes.py_object, ctypes.c_char_p)
set_name(capsule, b"used_dltensor")
sys.dlpack_capsule = capsule
# The deleter is the last field of a DLManagedTensor: libc calls it when Python is gone.
deleter = ctypes.c_void_p.from_address(address + 56).value
ctypes.CDLL(None).__cxa_atexit(ctypes.c_void_p(deleter), ctypes.c_void_p(address), None)
print("done")
"""
    assert ctypes.sizeof(Managed) == 64
    assert run_python(program, tensor.path) == "done\n"


@pytest.mark.parametrize("name", [name for name, (_, bits) in DL_TYPES.items() if bits > 8])
def test_memory_that_is_not_aligned_is_copied(name: str, tmp_path: Path) -> None:
    itemsize = DL_TYPES[name][1] // 8
    content = bytes(range(2 * itemsize))
    spec = TensorSpec(content, dtype=name, shape=(2,))
    tensor = write_tensor(tmp_path, spec, offset_modulo_16=itemsize // 2)
    capsule = export(tensor)
    managed = versioned(capsule)
    assert managed.flags == IS_COPIED
    assert managed.tensor.data % itemsize == 0
    assert bytes_of(managed.tensor) == content
    with pytest.raises(BufferError, match=f"a copy is needed.*from byte {tensor.offset} on"):
        export(tensor, copy=False)


def test_a_copy_that_is_asked_for(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.float32), offset_modulo_16=0)
    capsule = export(tensor, copy=True)
    assert versioned(capsule).flags == IS_COPIED
    assert bytes_of(versioned(capsule).tensor) == np.arange(6, dtype=np.float32).tobytes()


@pytest.mark.parametrize("name", CONVERTED)
def test_converted_elements_are_copied(name: str, tmp_path: Path) -> None:
    element = ELEMENT_TYPES[name]
    codes = np.array([[0, 1], [2, 3]], np.uint16) if element.is_complex else np.arange(2) % 2
    tensor = write_tensor(tmp_path, spec_of_codes(element, codes.astype(element.code)))
    capsule = export(tensor)
    managed = versioned(capsule)
    assert managed.flags == IS_COPIED
    assert (managed.tensor.code, managed.tensor.bits) == CONVERTED[name]
    assert bytes_of(managed.tensor) == tensor.copy().tobytes()
    with pytest.raises(BufferError, match="copy"):
        export(tensor, copy=False)


def test_bool_bytes_beyond_one(tmp_path: Path) -> None:
    spec = TensorSpec(bytes([0, 1, 2]), dtype="bool", shape=(3,))
    tensor = write_tensor(tmp_path, spec)
    capsule = export(tensor)
    assert versioned(capsule).flags == IS_COPIED
    assert bytes_of(versioned(capsule).tensor) == bytes([0, 1, 1])
    with pytest.raises(BufferError, match="copy"):
        export(tensor, copy=False)


@pytest.mark.parametrize("name", ["int4", "int2", "uint2", "float4_e2m1fn"])
def test_elements_that_dlpack_libraries_lack(name: str, tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.zeros(4, getattr(ml_dtypes, name)))
    with pytest.raises(BufferError, match=name):
        export(tensor)


def test_what_is_not_the_cpu(tmp_path: Path) -> None:
    tensor = write_tensor(tmp_path, np.zeros(4, np.float32))
    export(tensor, dl_device=(1, 0), stream=None)
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        export(tensor, dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream is 1"):
        export(tensor, stream=1)


def test_numpy(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    tensor = write_tensor(tmp_path, array, offset_modulo_16=0)
    imported = np.from_dlpack(tensor)
    np.testing.assert_array_equal(imported, array)
    assert not imported.flags.writeable
    assert not imported.flags.owndata
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert np.from_dlpack(tensor, copy=True).flags.writeable
        assert np.from_dlpack(tensor, device="cpu", copy=False).tolist() == array.tolist()


# PyTorch


def codes_of(tensor: Any) -> bytes:
    """Return the bytes of a tensor of PyTorch of any type."""
    torch = pytest.importorskip("torch")
    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


@needs_proc
@pytest.mark.parametrize("name", DL_TYPES)
def test_torch_shares_the_memory(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    element = ELEMENT_TYPES[name]
    rng = np.random.default_rng(1)
    content = rng.bytes(element.bits // 8 * 4096)
    if name == "bool":
        content = rng.integers(0, 2, 4096, np.uint8).tobytes()
    elif element.bits <= 16:  # all codes
        content = np.arange(element.n_codes, dtype=element.code).tobytes()
    n = len(content) * 8 // element.bits
    tensor = write_tensor(
        tmp_path, TensorSpec(content, dtype=name, shape=(2, n // 2)), offset_modulo_16=0
    )
    shared = torch.from_dlpack(tensor)
    assert shared.dtype is getattr(torch, name)
    assert tuple(shared.shape) == (2, n // 2)
    assert place_in_file(shared.data_ptr(), tensor.path) == ("rw-p", tensor.offset)
    assert codes_of(shared) == content
    file_content = Path(tensor.path).read_bytes()
    shared.zero_()
    assert not any(codes_of(shared))
    assert Path(tensor.path).read_bytes() == file_content
    assert codes_of(torch.from_dlpack(tensor)) == content


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_torch_reads_the_values_of_every_code(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    element = ELEMENT_TYPES[name]
    codes = np.arange(element.n_codes, dtype=element.code)
    for offset in (0, 1):  # a view, and of bfloat16 a copy
        tensor = write_tensor(tmp_path, spec_of_codes(element, codes), offset_modulo_16=offset)
        values = torch.from_dlpack(tensor).to(torch.float32).numpy()
        np.testing.assert_array_equal(values, element.decode(codes).astype(np.float32))


def test_torch_keeps_the_memory(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    for offset in (0, 1):
        tensor = write_tensor(tmp_path, array, offset_modulo_16=offset)
        part = torch.from_dlpack(tensor)[1:, ::2]
        tensor._file.close()
        Path(tensor.path).unlink()
        del tensor
        gc.collect()
        assert part.tolist() == array[1:, ::2].tolist()


def test_torch_asks_for_copies(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.float32), offset_modulo_16=0)
    assert torch.from_dlpack(tensor, copy=True).tolist() == list(range(6))
    assert torch.from_dlpack(tensor, device="cpu", copy=False).tolist() == list(range(6))
    tensor = write_tensor(tmp_path, np.arange(6, dtype=np.float32), offset_modulo_16=1)
    assert torch.from_dlpack(tensor).tolist() == list(range(6))
    assert torch.from_dlpack(tensor).data_ptr() % 4 == 0
    with pytest.raises(BufferError, match="a copy is needed"):
        torch.from_dlpack(tensor, copy=False)


def test_torch_takes_converted_elements(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    element = ELEMENT_TYPES["hifloat8"]
    codes = np.arange(256, dtype=np.uint8)
    found = torch.from_dlpack(write_tensor(tmp_path, spec_of_codes(element, codes)))
    assert found.dtype is torch.float32
    np.testing.assert_array_equal(found.numpy(), element.decode(codes).astype(np.float32))


def test_torch_is_told_of_what_is_not_there(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tensor = write_tensor(tmp_path, np.zeros(4, ml_dtypes.int4))
    with pytest.raises(BufferError, match="int4"):
        torch.from_dlpack(tensor)
    tensor = write_tensor(tmp_path, np.zeros(4, np.float32))
    with Path(tensor.path).open("r+b") as file:
        file.truncate(tensor.offset + 3)
    with pytest.raises(FileChangedError, match="changed after its header was read"):
        torch.from_dlpack(tensor)
