"""Names and values from files as messages show them: quoted, shortened, listed."""

from __future__ import annotations

from collections.abc import Iterable

from fastdump._words.config_catalogue import AND_N_MORE, IS_EMPTY, IS_MISSING
from fastdump._words.printable import printable
from fastdump.config._json_places import JsonPath

_MAX_LISTED = 8


def quoted(text: str, most: int = 60) -> str:
    """Return text in quotation marks, safe to print, and without its middle if it is long."""
    if len(text) > most:
        text = f"{text[: most - 20]}...{text[-10:]}"
    return f'"{printable(text)}"'


def listed(texts: Iterable[str]) -> str:
    """Return ``a, b``, or ``a, b, c, d, e, f, g, h and 12 more`` if there are many."""
    texts = list(texts)
    names = ", ".join(texts[:_MAX_LISTED])
    n_more = len(texts) - _MAX_LISTED
    return AND_N_MORE(names=names, n=n_more) if n_more > 0 else names


def of_model(model: str | None) -> str:
    """Return ``of model "m"`` with a blank before it; nothing if no model is named."""
    return "" if model is None else f" of model {quoted(model)}"


def missing_or_empty(name: str, value: object) -> str:
    """Return ``name is missing`` for None, ``name is empty`` for an empty value."""
    return (IS_MISSING if value is None else IS_EMPTY)(name=name)


def path_text(path: JsonPath) -> str:
    """Return ``dump.dump_list[0].layer``; a key that is not a plain word is quoted in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier() and step.isascii() and len(step) <= 40:
            text += f".{step}" if text else step
        else:
            text += f"[{quoted(step)}]"
    return text
