"""A recorder of PyTorch models: each operator of a step becomes a dump file, inputs and outputs.

Only tests that have torch may import this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from fastdump import testing

TIME = "20260114093042"
_BEGIN_US = 1_700_000_000_000_000
_STEP_US = 10_000_000
_OPERATOR_US = 100

# Of these, numpy has no type: their bits, and the type that reads them.
_BITS = {torch.bfloat16: (torch.int16, ml_dtypes.bfloat16)}

Change = Callable[[int, str, torch.Tensor], None]
"""Changes in place what an operator made: step, name without counter, output."""


def unchanged(step: int, name: str, output: torch.Tensor) -> None:
    pass


class Recorder(TorchDispatchMode):
    """Records one step of a module: the operators that run in the ``with`` block.

    Views have no files, and neither have operators that make no tensor. Operators are named after
    the module whose forward function runs, and by a counter that runs through the whole step; those
    outside of a module, backward operators too, have an empty path. Memory that is not initialised
    is recorded as it is.

    Parameters
    ----------
    root
        Where to write.
    module
        Whose submodules name the operators.
    step
        Which.
    change
        A fault of the device: what an operator makes instead, in the dump and for those after it.
    """

    def __init__(
        self, root: Path, module: torch.nn.Module, step: int, change: Change = unchanged
    ) -> None:
        super().__init__()
        self._step, self._change = step, change
        self._n_recorded = 0
        self._paths: list[str] = []
        self._directory = testing.model_dump_dir(
            root, time=TIME, device=0, model="model", model_id=1, step=step
        )
        self._hooks = [hook for item in module.named_modules() for hook in self._hooked(*item)]

    def _hooked(self, path: str, module: torch.nn.Module) -> Iterator[Any]:
        yield module.register_forward_pre_hook(lambda *_: self._paths.append(path))
        yield module.register_forward_hook(self._leave, always_call=True)

    def _leave(self, *_: object) -> None:
        self._paths.pop()

    def __exit__(self, *error: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        super().__exit__(*error)

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        kind = func._schema.name.partition("::")[2]
        if func.is_view or kind == "_unsafe_view":
            return func(*args, **kwargs)
        # Before the operator runs, since it may write to what it reads.
        inputs = _specs((args, kwargs))
        result = func(*args, **kwargs)
        outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
        if outputs:
            path = self._paths[-1] if self._paths else ""
            for output in outputs:
                self._change(self._step, f"{path}/{kind}", output)
            self._write(f"{path}/{kind}", _op_type(kind), inputs, _specs(outputs))
        return result

    def _write(
        self,
        name: str,
        op_type: str,
        inputs: list[testing.TensorSpec],
        outputs: list[testing.TensorSpec],
    ) -> None:
        self._n_recorded += 1
        op_name = f"{name}_{self._n_recorded}"
        file_name = testing.dump_name(
            op_type,
            op_name,
            task_id=self._n_recorded,
            stream_id=1,
            timestamp=_BEGIN_US + self._step * _STEP_US + self._n_recorded * _OPERATOR_US,
        )
        path = self._directory / file_name
        testing.write_dump(path, inputs=inputs, outputs=outputs, op_name=op_name)


def _op_type(kind: str) -> str:
    """Return `kind` as types of operators are written: "_to_copy" is "ToCopy"."""
    return "".join(word[:1].upper() + word[1:] for word in kind.split("_"))


def _specs(values: Any) -> list[testing.TensorSpec]:
    """Return the tensors in a structure as they are now, with their addresses."""
    tensors = [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]
    return [
        testing.TensorSpec(_array(one), origin_shape=tuple(one.shape), address=one.data_ptr())
        for one in tensors
    ]


def _array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """Return a copy of the elements of a tensor, in the order of its indices."""
    elements = tensor.detach().clone(memory_format=torch.contiguous_format)
    if tensor.dtype not in _BITS:
        return np.asarray(elements.numpy())
    bits, dtype = _BITS[tensor.dtype]
    return np.asarray(elements.view(bits).numpy().view(dtype))


def without_counter(op_name: str) -> str:
    """Return the name of a recorded operator without the counter of its step."""
    return re.sub(r"_\d+$", "", op_name)
