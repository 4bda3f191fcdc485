"""Dumps to convert, and what was made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from truth import ElementType

from fastdump import testing

TIME = 1_700_000_000_000_000
X = np.linspace(-2, 5, 12, dtype=np.float32).reshape(3, 4)
INT = np.arange(6, dtype=np.int64).reshape(2, 3)


def write(directory: Path, op_name: str = "a", *, op_type: str = "Add", **tensors: Any) -> Path:
    """Write a dump file named after the operator."""
    name = testing.dump_name(op_type, op_name, task_id=1, stream_id=7, timestamp=TIME)
    return testing.write_dump(directory / name, op_name=op_name, **tensors)


def tree(root: Path) -> dict[str, bytes]:
    """Return the content of all files below `root`."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() or path.is_symlink()
    }


def names(root: Path) -> list[str]:
    return sorted(tree(root))


def write_tree(root: Path) -> Path:
    """Write two steps of a model with all kinds of tensors, and a directory beside them."""
    for step in (0, 1):
        directory = testing.model_dump_dir(
            root, time="20261120101112", device=0, model="net", model_id=1, step=step
        )
        write(directory, "x/add", inputs=[X, INT], outputs=[X * (step + 1)])
        write(directory, "x/mul", op_type="Mul", outputs=[X], buffers=[b"buffer"], spaces=[b"log"])
    write(root / "other dir", "loose", outputs=[INT])
    return root


def codes_of(element: ElementType, n: int) -> np.ndarray[Any, Any]:
    """Return `n` elements as they are encoded; of complex types both parts of each."""
    shape = (n, 2) if element.is_complex else (n,)
    rng = np.random.default_rng(n)
    return rng.integers(0, element.n_codes - 1, shape, np.uint64, endpoint=True).astype(
        element.code
    )


def values_of(array: np.ndarray[Any, Any], element: ElementType) -> np.ndarray[Any, Any]:
    """Return what an array of a file holds as `element.decode` gives it."""
    if element.is_complex:
        wide = array.astype(np.complex128)
        return np.stack([wide.real, wide.imag], axis=-1)
    if element.is_integer:
        return array.astype(object)
    with np.errstate(invalid="ignore"):
        return array.astype(np.float64)
