"""Write dump files, to test readers or to try them out where there is no device.

Nothing here reads dumps. Only the tables of element types and formats are shared with the readers.

Tensors
    A plain array describes itself. `TensorSpec` describes a tensor that no array can represent, or
    one with a wrong description; `BufferSpec` a fusion buffer or a workspace; `kernel_argument` an
    argument of a kernel in an exception dump; `device_tensor` and `to_device` store a host array in
    a device's format.
Files
    `write_dump` (standard, version 2), `write_version_1`, `write_nano`, `write_ffts_slices`,
    `write_op_debug` (with `op_debug_payload` or `op_debug_record`), `write_statistics_csv`,
    `write_mindspore_csv`.
Names of files
    `dump_name`, `op_debug_name`, `exception_name` and `exception_time`, `custom_dump_name`,
    `core_name`, `converted_name`.
Directories
    `model_dump_dir`, `single_op_dump_dir`, `rank_dir`, `exception_dump_dir`, `mindspore_dump_dir`,
    `mindspore_acl_dump_dir`.

>>> import numpy as np
>>> from fastdump import testing
>>> header = testing.dump_header(outputs=[np.zeros((2, 8), np.float16)], op_name="layers.0/Add")
>>> len(header) == 8 + int.from_bytes(header[:8], "little")
True
"""

from __future__ import annotations

from fastdump.testing._device_layout import device_tensor, to_device
from fastdump.testing._directories import (
    exception_dump_dir,
    mindspore_acl_dump_dir,
    mindspore_dump_dir,
    model_dump_dir,
    rank_dir,
    single_op_dump_dir,
)
from fastdump.testing._exception import kernel_argument
from fastdump.testing._ffts import ffts_attr, write_ffts_slices
from fastdump.testing._mindspore_csv import MindSporeTensor, write_mindspore_csv
from fastdump.testing._names import (
    converted_name,
    core_name,
    custom_dump_name,
    dump_name,
    exception_name,
    exception_time,
    op_debug_name,
)
from fastdump.testing._nano import write_nano
from fastdump.testing._op_debug import op_debug_payload, op_debug_record, write_op_debug
from fastdump.testing._standard import dump_header, write_dump
from fastdump.testing._statistics_csv import write_statistics_csv
from fastdump.testing._tensor import BufferSpec, OriginalOp, TensorSpec
from fastdump.testing._version_1 import write_version_1

__all__ = [
    "BufferSpec",
    "MindSporeTensor",
    "OriginalOp",
    "TensorSpec",
    "converted_name",
    "core_name",
    "custom_dump_name",
    "device_tensor",
    "dump_header",
    "dump_name",
    "exception_dump_dir",
    "exception_name",
    "exception_time",
    "ffts_attr",
    "kernel_argument",
    "mindspore_acl_dump_dir",
    "mindspore_dump_dir",
    "model_dump_dir",
    "op_debug_name",
    "op_debug_payload",
    "op_debug_record",
    "rank_dir",
    "single_op_dump_dir",
    "to_device",
    "write_dump",
    "write_ffts_slices",
    "write_mindspore_csv",
    "write_nano",
    "write_op_debug",
    "write_statistics_csv",
    "write_version_1",
]
