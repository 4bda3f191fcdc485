"""Thread slices of an FFTS+ operator: a file for each thread, and the JSON that describes them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fastdump.testing._names import dump_name
from fastdump.testing._standard import write_dump
from fastdump.testing._tensor import TensorSpec, as_spec

#: For each dimension, the first index and the index after the last one.
Region: TypeAlias = Sequence[tuple[int, int]]


def ffts_attr(
    *,
    input_slices: Sequence[Sequence[Region]],
    output_slices: Sequence[Sequence[Region]],
    input_cuts: Sequence[Sequence[int]],
    output_cuts: Sequence[Sequence[int]],
    thread_mode: int = 1,
) -> tuple[str, str]:
    """Return the attribute that tells how an FFTS+ operator is sliced.

    Parameters
    ----------
    input_slices, output_slices : sequence of sequence of Region
        For each thread and each tensor, the part that the thread works on.
    input_cuts, output_cuts : sequence of sequence of int
        For each tensor, the number of parts along each dimension.
    thread_mode : int
        1 for automatic slicing, 0 for manual.

    Returns
    -------
    (str, str)
        Name and value of the attribute, for the `attrs` of `write_dump`.

    Examples
    --------
    >>> name, value = ffts_attr(
    ...     input_slices=[],
    ...     output_slices=[[[(0, 2)]], [[(2, 3)]]],
    ...     input_cuts=[],
    ...     output_cuts=[[2]],
    ... )
    >>> json.loads(value)["output_tensor_slice"][1]
    [[{'lower': 2, 'higher': 3}]]
    """

    def regions(slices: Sequence[Sequence[Region]]) -> list[object]:
        return [
            [[{"lower": low, "higher": high} for low, high in region] for region in thread]
            for thread in slices
        ]

    value = {
        "threadMode": thread_mode,
        "slice_instance_num": max(len(input_slices), len(output_slices)),
        "input_tensor_slice": regions(input_slices),
        "output_tensor_slice": regions(output_slices),
        "inputCutList": input_cuts,
        "outputCutList": output_cuts,
    }
    return "ffts", json.dumps(value)


def write_ffts_slices(
    directory: str | os.PathLike[str],
    op_type: str,
    op_name: str,
    *,
    threads: int,
    inputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    outputs: Sequence[npt.NDArray[Any] | TensorSpec] = (),
    axis: int = 0,
    uncut: Sequence[tuple[str, int]] = (),
    task_id: int,
    stream_id: int,
    timestamp: int,
    context_id: int,
    device_id: int = 0,
    dump_time: int = 0,
) -> list[Path]:
    """Write the dump of an FFTS+ operator whose threads each work on a part of every tensor.

    Each file has the shape of the whole tensor in its header, and the bytes of one thread's slice.
    The lengths of slices differ by at most one, and the longer ones come first.

    Parameters
    ----------
    directory : path
        Directory of the files, which `dump_name` names.
    op_type, op_name : str
        Type and name of the operator.
    threads : int
        Number of files.
    inputs, outputs : sequence of numpy.ndarray or TensorSpec
        Whole tensors; the data of a `TensorSpec` must be an array.
    axis : int
        The axis along which tensors are cut.
    uncut : sequence of (str, int)
        ``("input", 1)``: tensors of which every thread sees all.
    task_id, stream_id, context_id, device_id : int
        As for `dump_name`.
    timestamp : int
        Timestamp of the first thread; each further thread has the next number.
    dump_time : int
        Microseconds since 1970, the same in all files.

    Returns
    -------
    list of pathlib.Path
        A file for each thread.

    Raises
    ------
    TypeError
        If a tensor is given as bytes.
    ValueError
        If a tensor has no such axis, or is shorter along it than there are threads.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     for path in write_ffts_slices(directory, "Add", "a/add", threads=2, context_id=11,
    ...                                   outputs=[np.zeros((3, 4), np.float32)], task_id=1,
    ...                                   stream_id=7, timestamp=1700000000000000):
    ...         path.name
    'Add.a_add.1.7.1700000000000000.4.11.0.0'
    'Add.a_add.1.7.1700000000000001.4.11.1.0'
    """

    def sliced(io: str, tensors: Sequence[npt.NDArray[Any] | TensorSpec]) -> list[_SlicedTensor]:
        return [
            _SlicedTensor(as_spec(tensor), None if (io, index) in uncut else axis, threads)
            for index, tensor in enumerate(tensors)
        ]

    sent, made = sliced("input", inputs), sliced("output", outputs)
    attr = ffts_attr(
        input_slices=[[tensor.regions[thread] for tensor in sent] for thread in range(threads)],
        output_slices=[[tensor.regions[thread] for tensor in made] for thread in range(threads)],
        input_cuts=[tensor.cuts for tensor in sent],
        output_cuts=[tensor.cuts for tensor in made],
    )
    paths = []
    for thread in range(threads):
        name = dump_name(
            op_type,
            op_name,
            task_id=task_id,
            stream_id=stream_id,
            timestamp=timestamp + thread,
            context_id=context_id,
            thread_id=thread,
            device_id=device_id,
        )
        paths.append(
            write_dump(
                Path(directory, name),
                inputs=[tensor.slice_of(thread) for tensor in sent],
                outputs=[tensor.slice_of(thread) for tensor in made],
                op_name=op_name,
                dump_time=dump_time,
                attrs=[attr],
            )
        )
    return paths


class _SlicedTensor:
    """A tensor and the part of it that each thread has."""

    def __init__(self, spec: TensorSpec, axis: int | None, threads: int) -> None:
        if not isinstance(spec.data, np.ndarray):
            raise TypeError("only an array can be sliced, not bytes")
        shape = spec.data.shape
        self._whole = replace(spec, shape=shape if spec.shape is None else spec.shape)
        self._data = spec.data
        self.cuts = [1] * len(shape)
        self.regions: list[list[tuple[int, int]]] = [[(0, dim) for dim in shape]] * threads
        if axis is None:
            return
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"a tensor of shape {shape} cannot be cut along axis {axis}")
        length = shape[axis]
        if length < threads:
            raise ValueError(f"{length} along axis {axis} are too few for {threads} threads")
        self.cuts[axis] = threads
        self.regions = []
        for part in np.array_split(np.arange(length), threads):
            region = [(0, dim) for dim in shape]
            region[axis] = (int(part[0]), int(part[-1]) + 1)
            self.regions.append(region)

    def slice_of(self, thread: int) -> TensorSpec:
        """Return the tensor as the file of a thread describes and holds it."""
        part = self._data[tuple(slice(low, high) for low, high in self.regions[thread])]
        return replace(self._whole, data=part)
