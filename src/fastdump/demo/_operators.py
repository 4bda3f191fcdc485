"""The device's operators in numpy, with CANN's names for their types.

As on the device, an operator computes in float32 and rounds once, to the type of its output, so
that values beyond the range of that type become Inf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ml_dtypes
import numpy as np
import numpy.typing as npt

from fastdump.testing import TensorSpec, to_device

Array = npt.NDArray[Any]

BFLOAT16: npt.DTypeLike = ml_dtypes.bfloat16

_ALIGNMENT = 512  # of device memory


@dataclass(frozen=True, slots=True, eq=False)
class DeviceTensor:
    """A tensor of the model, and its address on the device.

    `values` have the framework's layout; `stored` are the same values in the device's layout, if
    that is another one.
    """

    values: Array
    address: int
    format: str = "ND"
    stored: Array | None = None

    def reshape(self, *shape: int) -> DeviceTensor:
        """Return the same memory with another shape; no operator runs for it."""
        return DeviceTensor(self.values.reshape(shape), self.address)

    @property
    def payload(self) -> Array:
        """The elements as they lie in device memory."""
        return self.values if self.stored is None else self.stored

    def spec(self) -> TensorSpec:
        return TensorSpec(
            self.payload,
            format=self.format,
            origin_shape=self.values.shape,
            address=self.address,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Execution:
    """An operator that was executed, and its tensors."""

    op_type: str
    op_name: str
    inputs: Sequence[DeviceTensor]
    outputs: Sequence[DeviceTensor]


class Recorder(Protocol):
    """Receives every operator in the order of execution."""

    def record(self, executed: Execution) -> None: ...


class DeviceMemory:
    """Gives out addresses; nothing is ever freed."""

    def __init__(self, start: int) -> None:
        self._next = start

    def place(self, values: Array, *, nz: bool = False) -> DeviceTensor:
        """Place an array in memory, in FRACTAL_NZ if `nz`, else unchanged."""
        stored = to_device(values, "FRACTAL_NZ") if nz else None
        address = self._next
        nbytes = values.nbytes if stored is None else stored.nbytes
        self._next += -(-max(nbytes, 1) // _ALIGNMENT) * _ALIGNMENT
        return DeviceTensor(values, address, "FRACTAL_NZ" if nz else "ND", stored)


class Operators:
    """Runs operators, and has each of them recorded with its tensors.

    The operator called `wrong` computes values a sixteenth too large.
    """

    def __init__(self, memory: DeviceMemory, recorder: Recorder, wrong: str | None = None) -> None:
        self._memory = memory
        self._recorder = recorder
        self._wrong = wrong

    def run(
        self, op_type: str, op_name: str, inputs: Sequence[DeviceTensor], *results: npt.ArrayLike
    ) -> tuple[DeviceTensor, ...]:
        """Record an operator whose outputs were computed already."""
        # Arithmetic of zero-dimensional arrays gives numpy scalars.
        arrays = [np.asarray(result) for result in results]
        if op_name == self._wrong:
            arrays = [(array * 1.0625).astype(array.dtype) for array in arrays]
        outputs = tuple(self._memory.place(array) for array in arrays)
        self._recorder.record(Execution(op_type, op_name, inputs, outputs))
        return outputs

    def _rounded(
        self, op_type: str, name: str, inputs: Sequence[DeviceTensor], result: Array
    ) -> DeviceTensor:
        """Record an operator with one output, which has the type of its first input."""
        return self.run(op_type, name, inputs, result.astype(inputs[0].values.dtype))[0]

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike) -> DeviceTensor:
        return self._memory.place(np.asarray(values, dtype))

    def gather(self, name: str, table: DeviceTensor, ids: DeviceTensor) -> DeviceTensor:
        axis = self.constant(0, np.int64)
        return self.run("GatherV2", name, (table, ids, axis), table.values[ids.values])[0]

    def cast(self, name: str, x: DeviceTensor, dtype: npt.DTypeLike) -> DeviceTensor:
        return self.run("Cast", name, (x,), x.values.astype(dtype))[0]

    def transpose(self, name: str, x: DeviceTensor, *axes: int) -> DeviceTensor:
        moved = np.ascontiguousarray(x.values.transpose(axes))
        return self.run("TransposeD", name, (x,), moved)[0]

    def mat_mul(self, name: str, x: DeviceTensor, weight: DeviceTensor) -> DeviceTensor:
        return self._rounded("MatMulV2", name, (x, weight), _f32(x) @ _f32(weight))

    def batch_mat_mul(
        self, name: str, x: DeviceTensor, y: DeviceTensor, *, transpose_y: bool = False
    ) -> DeviceTensor:
        right = _f32(y).swapaxes(-1, -2) if transpose_y else _f32(y)
        return self._rounded("BatchMatMulV2", name, (x, y), _f32(x) @ right)

    def add(self, name: str, x: DeviceTensor, y: DeviceTensor) -> DeviceTensor:
        return self._rounded("Add", name, (x, y), _f32(x) + _f32(y))

    def mul(self, name: str, x: DeviceTensor, y: DeviceTensor) -> DeviceTensor:
        return self._rounded("Mul", name, (x, y), _f32(x) * _f32(y))

    def muls(self, name: str, x: DeviceTensor, factor: float) -> DeviceTensor:
        return self._rounded("Muls", name, (x,), _f32(x) * np.float32(factor))

    def neg(self, name: str, x: DeviceTensor) -> DeviceTensor:
        return self.run("Neg", name, (x,), -x.values)[0]

    def swish(self, name: str, x: DeviceTensor) -> DeviceTensor:
        values = _f32(x)
        return self._rounded("Swish", name, (x,), values / (1 + np.exp(-values)))

    def rms_norm(self, name: str, x: DeviceTensor, gamma: DeviceTensor) -> DeviceTensor:
        values = _f32(x)
        rstd = 1 / np.sqrt(np.mean(values * values, axis=-1, keepdims=True) + np.float32(1e-6))
        scaled = (values * rstd * _f32(gamma)).astype(x.values.dtype)
        return self.run("RmsNorm", name, (x, gamma), scaled, rstd)[0]

    def rotary_mul(
        self, name: str, x: DeviceTensor, cos: DeviceTensor, sin: DeviceTensor
    ) -> DeviceTensor:
        values = _f32(x)
        left, right = np.split(values, 2, axis=-1)
        turned = values * _f32(cos) + np.concatenate((-right, left), axis=-1) * _f32(sin)
        return self._rounded("RotaryMul", name, (x, cos, sin), turned)

    def greater_equal(self, name: str, x: DeviceTensor, y: DeviceTensor) -> DeviceTensor:
        return self.run("GreaterEqual", name, (x, y), x.values >= y.values)[0]

    def select(
        self, name: str, mask: DeviceTensor, x: DeviceTensor, y: DeviceTensor
    ) -> DeviceTensor:
        chosen = np.where(mask.values, x.values, y.values)
        return self.run("SelectV2", name, (mask, x, y), chosen)[0]

    def softmax(self, name: str, x: DeviceTensor) -> DeviceTensor:
        values = _f32(x)
        exp = np.exp(values - values.max(axis=-1, keepdims=True))
        return self._rounded("SoftmaxV2", name, (x,), exp / exp.sum(axis=-1, keepdims=True))

    def log_softmax(self, name: str, x: DeviceTensor) -> DeviceTensor:
        shifted = _f32(x) - _f32(x).max(axis=-1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        return self.run("LogSoftmaxV2", name, (x,), logs)[0]

    def gather_elements(self, name: str, x: DeviceTensor, index: DeviceTensor) -> DeviceTensor:
        taken = np.take_along_axis(x.values, index.values, axis=-1)
        return self.run("GatherElements", name, (x, index), taken)[0]

    def reduce_mean(self, name: str, x: DeviceTensor) -> DeviceTensor:
        return self.run("ReduceMeanD", name, (x,), _f32(x).mean(dtype=np.float32))[0]

    def arg_max(self, name: str, x: DeviceTensor) -> DeviceTensor:
        dimension = self.constant(-1, np.int64)
        return self.run("ArgMaxV2", name, (x, dimension), x.values.argmax(axis=-1))[0]


def _f32(x: DeviceTensor) -> npt.NDArray[np.float32]:
    return x.values.astype(np.float32, copy=False)
