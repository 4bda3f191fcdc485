"""Write dump files: for tests of what reads them, and to try that out where there is no device.

Nothing here reads. `write_dump` writes a standard dump file from arrays; `TensorSpec` describes a
tensor that no array can stand for, or one that lies; `dump_name`, `model_dump_dir` and `rank_dir`
make the vendor's names.

>>> import numpy as np
>>> from fastdump import testing
>>> header = testing.dump_header(outputs=[np.zeros((2, 8), np.float16)], op_name="layers.0/Add")
>>> len(header) == 8 + int.from_bytes(header[:8], "little")
True
"""

from __future__ import annotations

from fastdump.testing._names import dump_name, model_dump_dir, rank_dir
from fastdump.testing._tensor import BufferSpec, OriginalOp, TensorSpec
from fastdump.testing._write import dump_header, write_dump

__all__ = [
    "BufferSpec",
    "OriginalOp",
    "TensorSpec",
    "dump_header",
    "dump_name",
    "model_dump_dir",
    "rank_dir",
    "write_dump",
]
