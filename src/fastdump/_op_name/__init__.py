"""Names of operators: their spelling in file names, and the layer of the model in them."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump import _core
from fastdump._words.catalogue import IN_LAYER


def in_file_name(op_name: str) -> str:
    """Return an operator's name as file names spell it: blanks, dots and slashes become ``_``."""
    # Many times as fast as str.translate.
    return op_name.replace(".", "_").replace("/", "_").replace(" ", "_").replace("\\", "_")


def layer_numbers(op_names: Iterable[str]) -> list[int | None]:
    """Return the number of the layer in each name: 3 for ``model.layers.3/Add``."""
    return [None if (found := _core.layer_number(name)) is None else found[0] for name in op_names]


def without_layer_number(op_name: str) -> str | None:
    """Return a name with ``#`` in place of its layer's number; None if it has no layer."""
    found = _core.layer_number(op_name)
    if found is None:
        return None
    _, begin, end = found
    encoded = op_name.encode("utf-8", "surrogatepass")
    return (encoded[:begin] + b"#" + encoded[end:]).decode("utf-8", "surrogatepass")


def in_layer(op_name: str) -> str:
    """Return ``layer 3, self_attn/Add`` for ``model.layers.3.self_attn/Add``.

    A name without a layer, or with nothing after it, is returned as it is.
    """
    found = _core.layer_number(op_name)
    within = after_layer(op_name)
    return op_name if found is None or not within else IN_LAYER(layer=found[0], operator=within)


def after_layer(op_name: str) -> str:
    """Return what follows the number of the layer; "" without a layer, or with nothing after it."""
    found = _core.layer_number(op_name)
    if found is None:
        return ""
    _, _, end = found
    rest = op_name.encode("utf-8", "surrogatepass")[end:].decode("utf-8", "surrogatepass")
    return rest.lstrip("./_ ")
