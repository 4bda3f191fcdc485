"""Elements of a tensor in a converted file: their type, their shape and their bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastdump._array.elements import element_type
from fastdump._array.layout import logical_layout
from fastdump._convert.options import Options
from fastdump._convert.payload import ConvertedElements, LogicalElements, Payload, StoredBytes
from fastdump._core import HostLayout
from fastdump._tensor.tensor import Tensor
from fastdump.errors import LayoutError

_BYTE = np.dtype(np.uint8)
_REGISTERED = 2  # numpy.dtype.isbuiltin of a type of another library


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements of one tensor as they are to be written, in C order."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    format: str | None
    payload: Payload


def stored_bytes(tensor: Tensor) -> StoredBytes:
    """Return the payload of a tensor, as much of it as the dump file has."""
    return StoredBytes(tensor.offset, tensor.stored_nbytes)


def has_numbers(tensor: Tensor) -> bool:
    """Tell whether the elements can be read as numbers; if not, they are written as bytes."""
    element = element_type(tensor.dtype_name)
    return not element.is_opaque and not element.is_float6


def elements_of(tensor: Tensor, options: Options, dtype: np.dtype[Any] | None = None) -> Elements:
    """Return the elements of a tensor as they are to be written; the dump file is not read.

    Elements that are no numbers are bytes, in one dimension.

    Parameters
    ----------
    tensor
        A tensor that is not absent.
    options
        How types and shapes change.
    dtype
        A type to convert to. Default: what `options` make of the tensor's.

    Raises
    ------
    LayoutError
        If the tensor cannot be brought into the order that `options` ask for.
    """
    if not has_numbers(tensor):
        is_undefined = tensor.dtype_name == "undefined"
        of_bytes = np.dtype(np.int8) if is_undefined and options.only_numpy_types else _BYTE
        return Elements(of_bytes, (tensor.stored_nbytes,), tensor.format, stored_bytes(tensor))
    if dtype is None:
        dtype = _written_dtype(tensor.dtype, options)
    element = element_type(tensor.dtype_name)
    format, shape = tensor.format, tensor.shape
    if options.logical:
        layout = _logical_layout(tensor, options)
        format, shape = layout.order, layout.shape
        if not layout.is_identity:
            payload = LogicalElements(tensor, element, layout, dtype)
            return Elements(dtype, _shape(shape, options), format, payload)
    n = math.prod(shape)
    if element.decode is None and not element.is_packed and dtype == tensor.dtype:
        as_stored = StoredBytes(tensor.offset, n * dtype.itemsize)
        return Elements(dtype, _shape(shape, options), format, as_stored)
    converted = ConvertedElements(tensor.offset, n, element, dtype)
    return Elements(dtype, _shape(shape, options), format, converted)


def _logical_layout(tensor: Tensor, options: Options) -> HostLayout:
    if tensor.status != "ok" and tensor.shape != tensor.declared_shape:
        raise LayoutError(f"{tensor.format}: {tensor.note}")
    return logical_layout(
        format=tensor.format or "",
        shape=tensor.shape,
        origin_shape=options.logical_shape or tensor.origin_shape,
        sub_format=tensor.sub_format,
        order=options.order,
        origin_format=tensor.origin_format,
    )


def is_numpy_type(dtype: np.dtype[Any]) -> bool:
    """Tell whether a type is numpy's own, and not one of ml_dtypes."""
    return dtype.isbuiltin != _REGISTERED


def numpy_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a type that numpy has itself and that has all values of `dtype`."""
    if is_numpy_type(dtype):
        return dtype
    if dtype.name.startswith("int"):
        return np.dtype(np.int8)
    if dtype.name.startswith("uint"):
        return _BYTE
    return np.dtype("<f4")


def _written_dtype(dtype: np.dtype[Any], options: Options) -> np.dtype[Any]:
    if options.only_numpy_types or (options.bf16_as_float32 and dtype.name == "bfloat16"):
        return numpy_dtype(dtype)
    return dtype


def _shape(shape: tuple[int, ...], options: Options) -> tuple[int, ...]:
    return shape or (1,) if options.scalars_have_a_dimension else shape
