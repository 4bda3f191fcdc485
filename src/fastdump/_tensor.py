"""One tensor of a dump file, as an array that is read where and when it is used."""

from __future__ import annotations

import math
import os
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fastdump import _core, _dlpack
from fastdump._dump_file import DumpFile, shrunk_error
from fastdump._elements import BitOrder, ElementType, element_type, unpack, unpack_float6
from fastdump._packed_selection import is_basic, select
from fastdump._stats import Level, n_threads, path_bytes
from fastdump.errors import DumpFormatError, UnsupportedDTypeError

if TYPE_CHECKING:
    from fastdump._stats_of import TensorStats

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = tuple[int, ...]

_MAX_NDIM = 32  # of numpy 1.26
_MAX_NBYTES = 2**63 - 1


class Tensor:
    """One tensor of a dump file. Its header is known; its bytes are read when they are asked for.

    It goes wherever numpy takes an array: ``np.asarray(t)`` is a read-only view of the file,
    ``t[0, :8]`` a view of a part of it, and neither reads what nobody looks at. Views outlive the
    dump: they keep the file mapped, and closing the dump does not end them. Meanwhile the file must
    not be written to, and if it shrinks, looking at what is gone ends the process; `copy` and
    `stats` notice. ``torch.from_dlpack(t)`` shares the memory with PyTorch.

    Elements that numpy and ml_dtypes do not have as they lie in the file are converted; arrays of
    them are copies, read-only as the views are.

    ==================================  ============================================================
    in the dump                         in an array
    ==================================  ============================================================
    int4, int2, uint2, float4_e2m1fn    of the same type of ml_dtypes, one a byte
    uint1                               uint8, 0 or 1
    bool                                bool, a view; a copy if some byte is neither 0 nor 1
    hifloat8, float4_e1m2               float32
    complex32                           complex64
    float6_e2m3fn, float6_e3m2fn        none: how they are packed is not documented; see `copy`
    not documented, buffers, spaces     uint8, the bytes, in one dimension
    ==================================  ============================================================

    If the file has fewer elements than the header's shape asks for (`status` is "truncated" or
    "size_mismatch"), or a dimension is unknown, then the array has those that are there, in one
    dimension: `shape` is the array's, `declared_shape` the header's.

    Parameters
    ----------
    file
        The file that it is in.
    description
        One of the tensors of the file's header.
    """

    __slots__ = ("_description", "_element", "_file", "_shape", "_stored_nbytes")

    def __init__(self, file: DumpFile, description: dict[str, Any]) -> None:
        self._file = file
        self._description = description
        self._element: ElementType = element_type(description["dtype"])
        there = file.header()["file_nbytes"] - description["offset"]
        absent = description["status"] == "absent"
        self._stored_nbytes: int = 0 if absent else max(0, min(description["nbytes"], there))
        self._shape = self._array_shape()

    # What the header says

    @property
    def io(self) -> str:
        """What the operator did with it: "input", "output", "buffer" or "space"."""
        return str(self._description["io"])

    @property
    def index(self) -> int:
        """Position among those of the same `io`."""
        return int(self._description["index"])

    @property
    def name(self) -> str:
        """`io` and `index`: "output.0"."""
        return f"{self.io}.{self.index}"

    @property
    def path(self) -> str:
        """The file."""
        return self._file.path

    @property
    def dtype_name(self) -> str | None:
        """The element type in the file, "hifloat8" for example, as tables of statistics have it.

        None for buffers, spaces and numbers that are not documented.
        """
        return self._element.name

    @property
    def data_type(self) -> int:
        """The element type in the file as the vendor numbers it."""
        return int(self._description["data_type"])

    @property
    def format(self) -> str | None:
        """The memory layout, "ND" or "FRACTAL_NZ" for example; None for buffers and spaces."""
        return self._description["format"]  # type: ignore[no-any-return]

    @property
    def sub_format(self) -> int:
        """What `format` leaves open; of FRACTAL_Z the number of groups of a convolution."""
        return int(self._description["sub_format"])

    @property
    def declared_shape(self) -> Shape:
        """The storage shape by the header; -1 is a dimension that was not known."""
        return tuple(self._description["shape"])

    @property
    def origin_shape(self) -> Shape:
        """The shape in the framework's layout by the header; () if it has none."""
        return tuple(self._description["origin_shape"])

    @property
    def declared_nbytes(self) -> int:
        """The size of the payload by the header, in bytes."""
        return int(self._description["nbytes"])

    @property
    def stored_nbytes(self) -> int:
        """How many bytes of the payload are in the file: those that `raw` returns."""
        return self._stored_nbytes

    @property
    def offset(self) -> int:
        """The byte of the file at which the payload begins."""
        return int(self._description["offset"])

    @property
    def address(self) -> int:
        """The device address at which the tensor was."""
        return int(self._description["address"])

    @property
    def status(self) -> str:
        """One of "ok", "truncated", "absent", "size_mismatch" and "unsupported"; see `StatsRow`."""
        return str(self._description["status"])

    @property
    def note(self) -> str:
        """What is odd, in words."""
        return str(self._description["note"])

    @property
    def description(self) -> Mapping[str, Any]:
        """All that the header says."""
        return types.MappingProxyType(self._description)

    # What the array has

    @property
    def shape(self) -> Shape:
        """The shape of the array; () is a scalar."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of the array."""
        return self._element.dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions of the array."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements of the array."""
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        """The size of an element of the array, in bytes."""
        return self._element.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of the elements of the array, in bytes."""
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __repr__(self) -> str:
        shape = "x".join(map(str, self._shape)) or "scalar"
        parts = [self.dtype_name or "bytes", shape, self.format]
        status = "" if self.status == "ok" else f", {self.status}"
        words = " ".join(part for part in parts if part)
        return f"<Tensor {self.name}: {words}{status}, of {os.path.basename(self.path)!r}>"  # noqa: PTH119

    # Its elements

    def __getitem__(self, key: Any) -> Any:
        """Return the elements that `key` selects, as numpy does, reading only those.

        Returns
        -------
        numpy.ndarray or numpy.generic
            Read-only: a view of the file if `key` has integers, slices, ... and None only and
            elements need no conversion.

        Raises
        ------
        IndexError
            As numpy does.
        UnsupportedDTypeError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.
        """
        self._require_elements()
        if not self._element.is_packed:
            return self._decoded(self._codes()[key])
        if not is_basic(key):
            selected = np.asarray(self)[key]
            return _read_only(selected) if isinstance(selected, np.ndarray) else selected
        data = self._view((self._element.n_bytes(self.size),), np.dtype(np.uint8))
        return self._decoded(select(data, self._element, self._shape, key))

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return all elements as numpy asks for them.

        Parameters
        ----------
        dtype
            Default: `Tensor.dtype`.
        copy
            None: a view of the file if possible; it is read-only, as is a copy that had to be made.
            True: a writable copy. False: ValueError if it takes a copy.

        Raises
        ------
        ValueError
            If `copy` is False and it takes one.
        UnsupportedDTypeError
            If how the elements are packed is not documented.
        DumpFormatError
            If the elements were never written, or no longer are in the file.
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be read.
        """
        self._require_elements()
        if dtype is not None and np.dtype(dtype) != self.dtype:
            if copy is False:
                raise self._copy_error(ValueError, np.dtype(dtype))
            return np.asarray(self).astype(dtype)
        if copy:
            return self.copy()
        if self._element.may_be_view:
            codes = self._codes()
            array: Array = self._decoded(codes)
            if copy is None or array.size == 0 or np.may_share_memory(array, codes):
                return array
        if copy is False:
            raise self._copy_error(ValueError, self.dtype)
        return _read_only(self.copy())

    def copy(self, *, bit_order: BitOrder | None = None) -> Array:
        """Return all elements in memory of the caller's own.

        The file is read, not mapped: if it shrinks, that is an error.

        Parameters
        ----------
        bit_order
            Of 6-bit floats only, four of which take three bytes: "little" if an element's lowest
            bit comes first, in the lowest bit of a byte; "big" if its highest bit comes first, in
            the highest bit of a byte.

        Returns
        -------
        numpy.ndarray
            Of `shape` and `dtype`; writable.

        Raises
        ------
        UnsupportedDTypeError
            If elements are 6-bit floats and `bit_order` is not given.
        ValueError
            If `bit_order` is given for others, or is neither of the two.
        DumpFormatError
            If the elements were never written, or no longer are in the file.
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be read.
        """
        element = self._element
        self._require_elements(may_be_float6=bit_order is not None)
        if bit_order is not None and not element.is_float6:
            raise ValueError(f"{self._where}: bit_order is for 6-bit floats")
        if bit_order not in (None, "little", "big"):
            raise ValueError(f"bit_order is {bit_order!r}, expected 'little' or 'big'")
        data = self._file.read(self.offset, element.n_bytes(self.size))
        if bit_order is not None:
            codes = unpack_float6(data, self.size, bit_order)
        elif element.is_packed:
            codes = unpack(element, data, self.size, n_threads(None))
        else:
            codes = data.view(element.codes)
        elements = codes if element.decode is None else element.decode(codes)
        return elements.reshape(self._shape, order=self._order)

    def raw(self) -> NDArray[np.uint8]:
        """Return the bytes of the payload that are in the file, whatever they stand for.

        Returns
        -------
        numpy.ndarray
            A read-only view of the file of shape (stored_nbytes,).

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be read.
        """
        return self._view((self._stored_nbytes,), np.dtype(np.uint8))

    def stats(self, level: Level = "basic", threads: int | None = None) -> TensorStats:
        """Compute statistics of the elements, as they lie in the file.

        Memory stays bounded: the elements are streamed. Packed ones are reduced as they are.

        Parameters
        ----------
        level
            "health", "basic" or "full"; see `TensorStats`.
        threads
            Default: the environment variable ``FASTDUMP_THREADS``, or the CPUs this process may
            use. The result does not depend on it.

        Returns
        -------
        TensorStats
            What a table of statistics has for the tensor.

        Raises
        ------
        UnsupportedDTypeError
            If there are no statistics for elements of this type.
        ValueError
            If `level` or `threads` has a value that it cannot have.
        DumpFormatError
            If the elements were never written, or no longer are in the file.
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be read.
        """
        from fastdump._stats_of import check_level, stats_of, tensor_stats

        check_level(level)
        self._require_elements()
        element = self._element
        if element.is_opaque:
            raise UnsupportedDTypeError(
                f"{self._where}: there are no statistics of {self._stored_type}"
            )
        if self._order == "F" and self.ndim > 1 and level == "full":
            # In the file they lie in another order, so that another one may be the first bad.
            return stats_of(np.asarray(self), level=level, threads=threads)
        assert element.name is not None
        encoded = path_bytes(self.path)
        try:
            values = _core.reduce_file(
                encoded, self.offset, element.name, self.size, level, n_threads(threads)
            )
        except _core.FormatError as error:
            raise DumpFormatError(f"{self._where}: {error}") from error
        return tensor_stats(values, level)

    def logical(
        self,
        format: str | None = None,
        shape: Sequence[int] | None = None,
        threads: int | None = None,
        *,
        out: Array | None = None,
    ) -> Array:
        """Return the elements in the order of the host, without the padding of private formats.

        A thread's slice of an FFTS+ operator's tensor gives the whole tensor, joined from the files
        of all threads beside this one.

        Parameters
        ----------
        format
            The wanted order of axes: "NCHW" or "NHWC" for example. Default: the one that `shape` is
            in.
        shape
            The shape of the host array, before axes are put in the wanted order. Default:
            `origin_shape`.
        threads
            As in `stats`.
        out
            Where to put the result: writable, contiguous, of its shape and of `dtype`. Memory that
            was used before spares the system the work of handing out new.

        Returns
        -------
        numpy.ndarray
            Of `dtype`: `out` if that is given, else a read-only view if the elements are in order
            already.

        Raises
        ------
        LayoutError
            If no source tells the inverse of the format, or shapes do not fit each other.
        UnsupportedDTypeError
            As `numpy.asarray` of the tensor does, and if elements of an unknown size are in a
            private format.
        DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does. DumpFormatError also if slices are missing.
        """
        from fastdump._layout import to_host

        elements = self._joined() if self._description["slice"] else np.asarray(self)
        if self._element.is_opaque:
            if self.format in (None, "ND"):
                if out is not None:
                    np.copyto(out, elements, casting="no")
                return elements if out is None else out
            raise UnsupportedDTypeError(
                f"{self._where}: {self.format} cannot be taken apart into {self._stored_type}"
            )
        original_op = self._description.get("original_op")
        return to_host(
            elements,
            format=str(self.format),
            shape=self._description["full_shape"] or self.declared_shape,
            origin_shape=self.origin_shape if shape is None else shape,
            sub_format=self.sub_format,
            order=format,
            origin_format=original_op["format"] if original_op else None,
            out=out,
            threads=threads,
        )

    def _joined(self) -> Array:
        """Return the whole tensor that this is a slice of."""
        from fastdump._slices import join

        self._require_elements()

        def open_file(path: str) -> list[Tensor]:
            file = DumpFile(path)
            return [Tensor(file, description) for description in file.header()["tensors"]]

        return join(self, self._file.header()["attrs"], open_file)

    # For other array libraries

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return (kDLCPU, 0)."""
        return _dlpack.CPU

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Return all elements as a DLPack capsule, for ``torch.from_dlpack(t)`` and others.

        Without a copy, the memory is a mapping of the file that belongs to this capsule alone. It
        is marked as read-only; a library that writes all the same, as PyTorch does, changes what it
        has itself, neither the file nor any other array.

        A copy is made of elements that are converted, and of those that do not lie at a multiple of
        their size: libraries take for granted that they do, but the length of the header, and so
        where payloads begin, is accidental.

        Parameters
        ----------
        stream
            None.
        max_version
            The newest version of DLPack that the consumer knows.
        dl_device
            None, or what `__dlpack_device__` returns.
        copy
            None: if need be. True: in any case. False: never.

        Raises
        ------
        BufferError
            If DLPack libraries have no such type, `dl_device` is another, or `copy` is False and
            a copy is needed.
        ValueError
            If `stream` is not None.
        UnsupportedDTypeError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.
        """
        self._require_elements()
        _dlpack.check_request(self.dtype, stream, dl_device)
        data = None if copy else self._private_bytes()
        copied = data is None
        if data is None:
            if copy is False:
                raise self._copy_error(BufferError, self.dtype)
            data = self.copy().reshape(-1, order=self._order).view(np.uint8)
        return _dlpack.to_capsule(
            data,
            self._shape,
            self.dtype,
            fortran_order=self._order == "F",
            max_version=max_version,
            copied=copied,
        )

    def _private_bytes(self) -> NDArray[np.uint8] | None:
        """Return the bytes of all elements as memory that a consumer may write to, if possible."""
        element = self._element
        if self.size == 0:
            return np.empty(0, np.uint8)
        if not element.may_be_view or self.offset % self.itemsize:
            return None
        mapping = self._file.private_mapping()
        data = self._view_of(mapping, (self.nbytes,), np.dtype(np.uint8))
        if element.decode is None or np.may_share_memory(element.decode(data), data):
            return data
        return None

    # How they get there

    @property
    def _order(self) -> Literal["C", "F"]:
        return "F" if self._description.get("fortran_order") else "C"

    @property
    def _where(self) -> str:
        return f"{self.path!r}: {self.name}"

    @property
    def _stored_type(self) -> str:
        name = self.dtype_name or ("bytes" if self.format is None else f"type {self.data_type}")
        return f"elements of {name}: {self.note}" if self.note else f"elements of {name}"

    def _copy_error(self, error: type[Exception], dtype: np.dtype[Any]) -> Exception:
        return error(
            f"{self._where}: a copy is needed for elements of {dtype}: those in the file are "
            f"{self.dtype_name} from byte {self.offset} on"
        )

    def _array_shape(self) -> Shape:
        """Return the header's shape, or one dimension if that is not what is there."""
        element = self._element
        if element.is_opaque:
            return (self._stored_nbytes,)
        declared = self.declared_shape
        n_declared = math.prod(declared) if min(declared, default=0) >= 0 else None
        if self.status == "absent":
            n = n_declared or 0
        elif element.is_float6:
            n = self._stored_nbytes * 8 // element.bits
            n = n if n_declared is None else min(n, n_declared)
        else:
            n = int(self._description["n_elements"])
        # numpy refuses an empty array whose other dimensions are too large.
        extent = math.prod(dim for dim in declared if dim) * element.dtype.itemsize
        if n == n_declared and len(declared) <= _MAX_NDIM and extent <= _MAX_NBYTES:
            return declared
        return (n,)

    def _require_elements(self, *, may_be_float6: bool = False) -> None:
        """Raise if there is no array of the elements."""
        self._file.require_open()
        if self.status == "absent":
            raise DumpFormatError(f"{self._where}: {self.note}")
        if self._element.is_float6 and not may_be_float6:
            raise UnsupportedDTypeError(
                f"{self._where}: how {self.dtype_name} elements are packed is not documented: "
                "copy(bit_order=...) takes one way or the other, raw() returns the bytes"
            )

    def _codes(self) -> Array:
        """Return a view of elements of whole bytes, before they are decoded."""
        return self._view(self._shape, self._element.codes)

    def _view(self, shape: Shape, dtype: np.dtype[Any]) -> Array:
        if math.prod(shape) == 0:
            self._file.require_open()
            return _read_only(np.empty(shape, dtype))
        return self._view_of(self._file.mapping(), shape, dtype)

    def _view_of(self, mapping: _core.MappedFile, shape: Shape, dtype: np.dtype[Any]) -> Array:
        nbytes = math.prod(shape) * dtype.itemsize
        if mapping.nbytes < self.offset + nbytes:
            raise shrunk_error(self.path, mapping.nbytes, self.offset, nbytes)
        return np.ndarray(shape, dtype, mapping.data, self.offset, order=self._order)

    def _decoded(self, codes: Any) -> Any:
        """Return elements for codes: an array for an array, a scalar for a scalar."""
        elements = codes
        if self._element.decode is not None:
            elements = self._element.decode(np.asarray(codes))
        return _read_only(elements) if isinstance(codes, np.ndarray) else elements[()]


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array
