"""Dump files with tensors, for tests of the arrays that are made of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from truth import ElementType, packed

from fastdump import testing
from fastdump._tensor.dump_file import DumpFile
from fastdump._tensor.tensor import Tensor
from fastdump.testing import TensorSpec

NAME = "Add.add.1.2.1700000000000000"


def tensors_of(path: str | os.PathLike[str]) -> list[Tensor]:
    file = DumpFile(path)
    return [Tensor(file, description) for description in file.header()["tensors"]]


def write_tensor(
    directory: Path,
    data: npt.NDArray[Any] | TensorSpec,
    *,
    offset_modulo_16: int | None = None,
    name: str = NAME,
) -> Tensor:
    """Write a file with one tensor, if asked for at a certain place, and return that."""
    for length in range(2, 18):  # one byte of text is one byte of header
        path = testing.write_dump(directory / name, outputs=[data], op_name="x" * length)
        (tensor,) = tensors_of(path)
        if offset_modulo_16 in (None, tensor.offset % 16):
            return tensor
    raise AssertionError("no length of the header gave the offset")


def spec_of_codes(
    element: ElementType, codes: npt.NDArray[Any], shape: tuple[int, ...] | None = None
) -> TensorSpec:
    """Return what makes a dump of codes, packed by another packer than fastdump's."""
    return TensorSpec(
        packed(element, codes),
        dtype=element.number,
        shape=(len(codes),) if shape is None else shape,
    )


def address(array: npt.NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def mapped_at(tensor: Tensor) -> int:
    """Return the address of a tensor's payload in the mapping that its views share."""
    return address(np.frombuffer(tensor._file.mapping().data, np.uint8)) + tensor.offset


def place_in_file(pointer: int, path: str) -> tuple[str, int] | None:
    """Return permissions and place in the file of what is mapped at an address; None if not it."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        extent, permissions, offset, _, inode, *_ = line.split()
        begin, end = (int(text, 16) for text in extent.split("-"))
        if begin <= pointer < end and int(inode) == Path(path).stat().st_ino:
            return permissions, int(offset, 16) + pointer - begin
    return None
