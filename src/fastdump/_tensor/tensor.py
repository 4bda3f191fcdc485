"""`Tensor`: one tensor of a dump file, as an array whose elements are read when they are used."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from fastdump import _core
from fastdump._arguments import Level, check_level, n_threads, path_bytes
from fastdump._array.elements import BitOrder, ElementType, element_type, unpack, unpack_float6
from fastdump._array.layout import to_logical
from fastdump._array.packed import is_basic, select
from fastdump._array.stats_of import TensorStats, stats_of, tensor_stats
from fastdump._tensor import dlpack
from fastdump._tensor.description import DescribedTensor, Shape
from fastdump._tensor.dump_file import DumpFile, public_error
from fastdump._tensor.slices import Slice, join, missing_text, paths_of_threads
from fastdump._words.quantities import shape_text, size_text
from fastdump.errors import (
    DumpFormatError,
    FileChangedError,
    MissingDependencyError,
    UnsupportedDTypeError,
)

if TYPE_CHECKING:
    import torch
    from matplotlib.axes import Axes
    from numpy.typing import DTypeLike, NDArray

Array: TypeAlias = "NDArray[Any]"

_MAX_NDIM = 32  # of numpy 1.26
_MAX_NBYTES = 2**63 - 1


class Tensor(DescribedTensor):
    """One tensor of a dump file. Its header is known; its elements are read when they are used.

    numpy takes a tensor wherever it takes an array: ``np.asarray(t)`` is a read-only view of the
    file and ``t[0, :8]`` a view of a part of it; elements are read when they are used. A view keeps
    the file mapped, so it stays valid when the dump is closed. ``torch.from_dlpack(t)`` shares the
    memory with PyTorch.

    All accesses are to the file whose header was read: if it was replaced, written to or cut since,
    they raise FileChangedError. A view that was made before cannot be protected: it changes with
    the file, and using a part that was cut off ends the process. `copy` returns an array that no
    file can change; of a dump that was opened with ``safe=True``, all arrays are copies.

    Elements that numpy and ml_dtypes do not store as the file does are converted. Arrays of them
    are copies, and read-only like views.

    ==================================  ============================================================
    type in the dump                    type of the array
    ==================================  ============================================================
    int4, int2, uint2, float4_e2m1fn    the same type of ml_dtypes, one element a byte
    uint1                               uint8, 0 or 1
    bool                                bool, a view; a copy if some byte is neither 0 nor 1
    hifloat8, float4_e1m2               float32
    complex32                           complex64
    float6_e2m3fn, float6_e3m2fn        none: how they are packed is not documented; see `copy`
    not documented, buffers, spaces     uint8, the bytes, in one dimension
    ==================================  ============================================================

    The array has a single dimension if the file has fewer elements than the header's shape
    (`status` is "truncated" or "size_mismatch"), or if a dimension is unknown. `shape` is the shape
    of the array, `declared_shape` that of the header.

    Parameters
    ----------
    file
        The dump file.
    description
        What the file's header says about this tensor.
    """

    __slots__ = ("_element", "_file", "_shape", "_stored_nbytes")

    def __init__(self, file: DumpFile, description: dict[str, Any]) -> None:
        self._file = file
        self._path = file.path
        self._description = description
        self._element: ElementType = element_type(description["dtype"])
        _, file_nbytes = file.known
        there = file_nbytes - description["offset"]
        absent = description["status"] == "absent"
        self._stored_nbytes: int = 0 if absent else max(0, min(description["nbytes"], there))
        self._shape = self._array_shape()

    def __reduce__(self) -> tuple[object, ...]:
        # The path and the description suffice, because the file can be read again.
        path = os.path.abspath(self._path)  # noqa: PTH100
        return _restored, (path, self._description, self._file.known, self._file.safe)

    @property
    def file(self) -> DumpFile:
        """The dump file, which other tensors may share."""
        return self._file

    @property
    def stored_nbytes(self) -> int:
        """The number of payload bytes in the file, which `raw` returns."""
        return self._stored_nbytes

    # What the array has

    @property
    def shape(self) -> Shape:
        """The shape of the array; () for a scalar."""
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
        file = os.path.basename(self.path)  # noqa: PTH119
        return f"<Tensor {self.name}: {words}{status}, of {file!r}>"

    def _repr_html_(self) -> str:
        from fastdump._tensor.notebook import tensor_html

        facts = (
            ("type", self.dtype_name or "bytes"),
            ("shape", shape_text(self._shape) or "scalar"),
            ("format", self.format or ""),
            ("size", size_text(self.nbytes)),
            ("status", "" if self.status == "ok" else self.status),
            ("file", self.path),
        )
        return tensor_html(self, facts)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how many elements there are of each magnitude, and where the type's range ends.

        Of a tensor with more than 4 million elements so many are looked at, evenly spread.

        Parameters
        ----------
        ax
            The axes of matplotlib to draw on. Default: those of a new figure.

        Raises
        ------
        UnsupportedDTypeError
            If elements are not of a floating type.
        MissingDependencyError
            If matplotlib is not installed: ``pip install 'fastdump[plot]'``.
        FileChangedError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.
        """
        from fastdump._figures.on_axes import drawn
        from fastdump._tensor.pictures import magnitudes

        return drawn(magnitudes(self), ax)

    # The elements

    def __getitem__(self, key: Any) -> Any:
        """Return the elements that `key` selects, as numpy does; only these are read.

        Returns
        -------
        numpy.ndarray or numpy.generic
            Read-only. An array is a view of the file if `key` has only integers, slices, None and
            ``...``, if elements need no conversion, and if the dump was not opened to be safe.

        Raises
        ------
        IndexError
            As numpy does.
        UnsupportedDTypeError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.
        """
        self._require_elements()
        if not self._element.is_packed:
            with self._reading():
                codes = self._codes()
                selected = self._decoded(codes[key])
                if self._file.safe and np.may_share_memory(selected, codes):
                    return _read_only(selected.copy())
            return selected
        if not is_basic(key):
            selected = np.asarray(self)[key]
            return _read_only(selected) if isinstance(selected, np.ndarray) else selected
        with self._reading():
            data = self._view((self._element.n_bytes(self.size),), np.dtype(np.uint8))
            return self._decoded(select(data, self._element, self._shape, key))

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Return all elements in the form that numpy asks for.

        Parameters
        ----------
        dtype
            The type of the array. Default: `Tensor.dtype`.
        copy
            None returns a view of the file if possible; both the view and a copy in its place are
            read-only. True returns a writable copy. False raises ValueError if a copy is needed, as
            it always is of a dump that was opened to be safe.

        Raises
        ------
        ValueError
            If `copy` is False and a copy is needed.
        UnsupportedDTypeError
            If it is not documented how the elements are packed.
        FileChangedError
            If the file is not the one whose header was read.
        DumpFormatError
            If the elements were never written.
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be read.
        """
        self._require_elements()
        if dtype is not None and np.dtype(dtype) != self.dtype:
            if copy is False:
                raise self._copy_error(ValueError, np.dtype(dtype))
            with self._reading():
                return np.asarray(self).astype(dtype)
        if copy:
            return self.copy()
        if copy is None:
            return self._array(safe=self._file.safe)
        if self._element.may_be_view and not self._file.safe:
            with self._reading():
                codes = self._codes()
                array: Array = self._decoded(codes)
            if array.size == 0 or np.may_share_memory(array, codes):
                return array
        raise self._copy_error(ValueError, self.dtype)

    def copy(self, *, bit_order: BitOrder | None = None) -> Array:
        """Return all elements as a new array.

        The file is read and not mapped: nothing that happens to it later changes the array.

        Parameters
        ----------
        bit_order
            For 6-bit floats only, four of which take three bytes: "little" if the lowest bit of an
            element comes first, in the lowest bit of a byte; "big" if the highest bit comes first,
            in the highest bit of a byte.

        Returns
        -------
        numpy.ndarray
            A writable array of `shape` and `dtype`.

        Raises
        ------
        UnsupportedDTypeError
            If elements are 6-bit floats and `bit_order` is not given.
        ValueError
            If `bit_order` is given for another type, or is neither "little" nor "big".
        FileChangedError
            If the file is not the one whose header was read.
        DumpFormatError
            If the elements were never written.
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
        """Return the bytes of the payload that are in the file.

        Returns
        -------
        numpy.ndarray
            A read-only view of the file of shape (stored_nbytes,); a copy if the dump was opened to
            be safe.

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        FileChangedError
            If the file is not the one whose header was read.
        OSError
            If the file cannot be read.
        """
        if self._file.safe:
            return _read_only(self._file.read(self.offset, self._stored_nbytes))
        return self._view((self._stored_nbytes,), np.dtype(np.uint8))

    def read_raw(self, first: int = 0, nbytes: int | None = None) -> NDArray[np.uint8]:
        """Return a copy of some bytes of the payload.

        Parameters
        ----------
        first, nbytes
            Position of the first byte in the payload, and the number of bytes. Default: all that
            follow in the file. Fewer are returned where the payload ends.

        Raises
        ------
        ClosedDumpError
            If the dump was closed.
        FileChangedError
            If the file is not the one whose header was read.
        OSError
            If the file cannot be read.
        """
        left = max(0, self._stored_nbytes - first)
        return self._file.read(self.offset + first, left if nbytes is None else min(left, nbytes))

    @contextmanager
    def guarded(self) -> Iterator[Array]:
        """Provide all elements, as a view of the file if possible, for use by the calling thread.

        Nothing is copied, also if the dump was opened to be safe, and yet nothing that happens to
        the file can end the process: where it is cut, zeros are read, and the block ends with an
        error. That holds within the block, and in this thread.

        Raises
        ------
        FileChangedError
            At the end, if the file changed until then: what was computed is of no use.
        UnsupportedDTypeError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.

        Examples
        --------
        >>> with tensor.guarded() as elements:  # doctest: +SKIP
        ...     n_negative = int((elements < 0).sum())
        """
        self._require_elements()
        with self._reading():
            yield self._array(safe=False)

    def numpy(self) -> Array:
        """Return all elements as ``numpy.asarray(tensor)`` does."""
        return np.asarray(self)

    def torch(self) -> torch.Tensor:
        """Return all elements as a tensor of PyTorch, without a copy if possible.

        Raises
        ------
        MissingDependencyError
            If PyTorch is not installed.
        BufferError
            If PyTorch has no such type.
        UnsupportedDTypeError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.
        """
        try:
            import torch
        except ImportError as error:
            raise MissingDependencyError(
                "Tensor.torch needs PyTorch: pip install torch", name="torch"
            ) from error
        return torch.from_dlpack(self)

    def stats(self, level: Level = "basic", *, threads: int | None = None) -> TensorStats:
        """Compute statistics of the stored elements.

        Elements are streamed, so that memory stays bounded.

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
            The numbers that a table of statistics has for the tensor.

        Raises
        ------
        UnsupportedDTypeError
            If there are no statistics for elements of this type.
        ValueError
            If `level` or `threads` has a value that it cannot have.
        FileChangedError
            If the file is not the one whose header was read.
        DumpFormatError
            If the elements were never written.
        ClosedDumpError
            If the dump was closed.
        OSError
            If the file cannot be read.
        """
        check_level(level)
        self._require_elements()
        element = self._element
        if element.is_opaque:
            raise UnsupportedDTypeError(
                f"{self._where}: there are no statistics of {self._stored_type}"
            )
        if self._order == "F" and self.ndim > 1 and level == "full":
            # The file has the elements in another order, and so perhaps another first bad one.
            with self._reading():
                return stats_of(np.asarray(self), level=level, threads=threads)
        assert element.name is not None
        state, _ = self._file.known
        try:
            values = _core.reduce_file(
                path_bytes(self.path),
                state,
                self.offset,
                element.name,
                self.size,
                level,
                n_threads(threads),
            )
        except _core.FormatError as error:
            raise public_error(error, self._where) from error
        return tensor_stats(values, level)

    def logical(
        self,
        order: str | None = None,
        *,
        shape: Sequence[int] | None = None,
        threads: int | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return the elements in their logical order, without the padding of private formats.

        For a slice that a thread of an FFTS+ operator dumped, this is the whole tensor, joined from
        the files of all threads in the same directory.

        Parameters
        ----------
        order
            The order of axes to return, such as "NCHW" or "NHWC". Default: the order of `shape`.
        shape
            The logical shape, before axes are put in `order`. Default: `origin_shape`.
        threads
            As in `stats`.
        out
            A writable, contiguous array to write to, of the resulting shape and `dtype`. Reusing
            memory is faster than allocating it.

        Returns
        -------
        numpy.ndarray
            An array of `dtype`: `out` if that is given, or what `numpy.asarray` returns if the
            elements are in order already.

        Raises
        ------
        LayoutError
            If the layout of the format is not documented, or shapes do not fit each other.
        UnsupportedDTypeError
            As `numpy.asarray` of the tensor does, and if elements of an unknown size are in a
            private format.
        DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does. DumpFormatError also if slices are missing.
        """
        if self._description["slice"]:
            return self._ordered(self._joined(), order, shape, threads, out)
        with self._reading():
            return self._ordered(np.asarray(self), order, shape, threads, out)

    def _ordered(
        self,
        elements: Array,
        order: str | None,
        shape: Sequence[int] | None,
        threads: int | None,
        out: Array | None,
    ) -> Array:
        if self._element.is_opaque:
            if self.format in (None, "ND"):
                if out is not None:
                    np.copyto(out, elements, casting="no")
                return elements if out is None else out
            raise UnsupportedDTypeError(
                f"{self._where}: {self.format} cannot be taken apart into {self._stored_type}"
            )
        return to_logical(
            elements,
            format=str(self.format),
            shape=self.full_shape,
            origin_shape=self.origin_shape if shape is None else shape,
            sub_format=self.sub_format,
            order=order,
            origin_format=self.origin_format,
            out=out,
            threads=threads,
        )

    def _joined(self) -> Array:
        """Return the whole tensor that this is a slice of."""
        self._require_elements()
        whole = np.empty(self.full_shape, self.dtype)
        paths = paths_of_threads(self.path)
        n_joined = join(self._slices(paths.values()), whole)
        if n_joined != whole.size:
            missing = missing_text(paths, self._file.header()["attrs"])
            raise DumpFormatError(
                f"{self._where}: the slices beside it have {n_joined:,} of the {whole.size:,} "
                f"elements of the whole tensor{missing}"
            )
        return whole

    def _slices(self, paths: Iterable[str]) -> Iterator[Slice]:
        """Yield the slices of the same tensor in the files of some threads."""
        for path in paths:
            for other in [self] if path == self.path else tensors_in(path):
                ranges = other.description["slice"]
                if (other.name, other.dtype) == (self.name, self.dtype) and ranges is not None:
                    with other._reading():
                        yield ranges, np.asarray(other)

    # For other array libraries

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return (kDLCPU, 0)."""
        return dlpack.CPU

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Return all elements as a DLPack capsule, for ``torch.from_dlpack(t)`` and others.

        The capsule has its own mapping of the file, marked as read-only. If a library writes to it
        all the same, as PyTorch does, neither the file nor any other array changes.

        A copy is made if elements are converted, or if the payload does not begin at a multiple of
        the size of an element, as libraries expect. Its position depends on the header's length.

        Parameters
        ----------
        stream
            None.
        max_version
            The newest version of DLPack that the consumer knows.
        dl_device
            None, or what `__dlpack_device__` returns.
        copy
            None copies if needed, True always, False never.

        Raises
        ------
        BufferError
            If DLPack libraries have no such type, if `dl_device` is another device, or if `copy` is
            False and a copy is needed.
        ValueError
            If `stream` is not None.
        UnsupportedDTypeError, DumpFormatError, ClosedDumpError, OSError
            As `numpy.asarray` of the tensor does.
        """
        self._require_elements()
        dlpack.check_request(self.dtype, stream, dl_device)
        data = None if copy or self._file.safe else self._private_bytes()
        copied = data is None
        if data is None:
            if copy is False:
                raise self._copy_error(BufferError, self.dtype)
            data = self.copy().reshape(-1, order=self._order).view(np.uint8)
        return dlpack.to_capsule(
            data,
            self._shape,
            self.dtype,
            fortran_order=self._order == "F",
            max_version=max_version,
            copied=copied,
        )

    def _private_bytes(self) -> NDArray[np.uint8] | None:
        """Return all bytes of the elements in memory that a consumer may write to, if possible."""
        element = self._element
        if self.size == 0:
            return np.empty(0, np.uint8)
        if not element.may_be_view or self.offset % self.itemsize:
            return None
        mapping = self._file.private_mapping()
        data = self._view_of(mapping, (self.nbytes,), np.dtype(np.uint8))
        if element.decode is None:
            return data
        with self._file.reading(mapping):
            return data if np.may_share_memory(element.decode(data), data) else None

    # Reading elements

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
            f"{self._where}: a copy is needed for elements of {dtype}: the file has "
            f"{self.dtype_name} from byte {self.offset} on"
        )

    def _array_shape(self) -> Shape:
        """Return the header's shape, or one dimension if the file lacks some of its elements."""
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
        # numpy refuses an empty array if its other dimensions are too large.
        extent = (n or math.prod(dim for dim in declared if dim)) * element.dtype.itemsize
        if n == n_declared and len(declared) <= _MAX_NDIM and extent <= _MAX_NBYTES:
            return declared
        return (n,)

    def _require_elements(self, *, may_be_float6: bool = False) -> None:
        """Raise an error if there cannot be an array of the elements."""
        self._file.require_open()
        if self.status == "absent":
            raise DumpFormatError(f"{self._where}: {self.note}")
        if self._element.is_float6 and not may_be_float6:
            raise UnsupportedDTypeError(
                f"{self._where}: how {self.dtype_name} elements are packed is not documented: "
                "copy(bit_order=...) takes one way or the other, raw() returns the bytes"
            )

    def _reading(self) -> AbstractContextManager[None]:
        """Return what has to surround the use of views by fastdump itself."""
        return self._file.reading(self._file.mapping()) if self.size else nullcontext()

    def _array(self, *, safe: bool) -> Array:
        """Return all elements, read-only; a view if possible, unless that is not safe."""
        if safe or not self._element.may_be_view:
            return _read_only(self.copy())
        with self._reading():
            array: Array = self._decoded(self._codes())
            return array

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
            raise self._file.too_short(mapping.nbytes, self.offset, nbytes)
        return np.ndarray(shape, dtype, mapping.data, self.offset, order=self._order)

    def _decoded(self, codes: Any) -> Any:
        """Return the elements that codes stand for: an array for an array, else a scalar."""
        elements = codes
        if self._element.decode is not None:
            elements = self._element.decode(np.asarray(codes))
        return _read_only(elements) if isinstance(codes, np.ndarray) else elements[()]


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def _restored(path: str, description: dict[str, Any], known: tuple[int, int], safe: bool) -> Tensor:
    return Tensor(DumpFile(path, known=known, safe=safe), description)


def tensors_in(path: str, state: int | None = None) -> list[Tensor]:
    """Return the tensors of one file, those of appended dumps included.

    Parameters
    ----------
    path
        The file.
    state
        The state in which it has to be; None for any.

    Raises
    ------
    FileChangedError
        If it is not in that state.
    DumpFormatError
        If the file is not a dump.
    OSError
        If the file cannot be read.
    """
    file = DumpFile(path)
    if state not in (None, file.known[0]):
        raise FileChangedError(f"{path!r}: the file changed after statistics of it were computed")
    return [Tensor(file, description) for description in file.header()["tensors"]]


def tensor_in(
    path: str, io: str, index: int, offset: int | None, state: int | None = None
) -> Tensor:
    """Return one tensor of a file.

    Parameters
    ----------
    path
        The file.
    io, index, offset
        Which tensor. The offset tells apart the tensors of dumps that were appended to each other;
        None is the first.
    state
        As in `tensors_in`.

    Raises
    ------
    FileChangedError
        If the file is not in that state.
    DumpFormatError
        If the file is not a dump, or no longer has the tensor.
    OSError
        If the file cannot be read.
    """
    for tensor in tensors_in(path, state):
        if (tensor.io, tensor.index) == (io, index) and offset in (None, tensor.offset):
            return tensor
    raise DumpFormatError(f"{path!r}: {io}.{index} is no longer there")
