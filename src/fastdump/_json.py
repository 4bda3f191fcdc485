"""Records and numbers in the form that JSON has for them."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

NOT_IN_JSON = {"json": False}
"""Metadata of a dataclass field that `document` leaves out."""


def json_document(content: Mapping[str, Any], *, indent: int | None = 2) -> str:
    """Return a JSON text that begins with the version of fastdump.

    Raises
    ------
    ValueError
        If `content` holds a NaN or an infinity.
    """
    from fastdump._core import __version__

    return json.dumps({"fastdump": __version__, **content}, indent=indent, allow_nan=False)


def document(value: Any) -> Any:
    """Return a value in JSON's form: records as objects, tuples as arrays, infinity as "inf".

    Private fields of a record and fields with the metadata `NOT_IN_JSON` are left out; properties
    that the record's class names in ``also_in_json`` are added.
    """
    if isinstance(value, float):
        return json_real(value)
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): document(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        names = [
            field.name
            for field in dataclasses.fields(value)
            if not field.name.startswith("_") and field.metadata.get("json", True)
        ]
        names += getattr(value, "also_in_json", ())
        return {name: document(getattr(value, name)) for name in names}
    if hasattr(value, "_asdict"):
        return {name: document(item) for name, item in value._asdict().items()}
    return [document(item) for item in value]


def json_real(value: float | None) -> float | str | None:
    """Return `value`, or the text "inf", "-inf" or "nan" if JSON has no number for it."""
    return value if value is None or math.isfinite(value) else repr(value)
