"""The operators that a name and conditions choose together, and why there is none."""

from __future__ import annotations

from fastdump._dump.dump import Dump, chosen
from fastdump._dump.named import matching, no_match_text
from fastdump._selection import Selection
from fastdump._words.quantities import counted, numbered
from fastdump.errors import OperatorNotFoundError

_OF_TENSORS = ("io", "index", "dtype", "status")
_MAX_PARTS = 16
"""Of so many files at most, headers decide which has a tensor."""


def addressed(
    dump: Dump, name: str | None, selection: Selection, tensor: str | None = None
) -> Dump:
    """Return the operators of a dump that a name and conditions choose.

    Headers are read only of operators that the name has found, and where file names do not tell
    the operator.

    Parameters
    ----------
    dump
        Where to look.
    name
        What ``dump[name]`` takes; None for any operator.
    selection
        Conditions on the operators and on their tensors.
    tensor
        The name of a tensor that is wanted: of a few files, which may be parts of one execution,
        those that have it are returned.

    Raises
    ------
    NoDumpError
        If nothing meets the conditions. The message says what is there instead.
    OperatorNotFoundError
        If no operator has the name. The message says where it is instead, or what is near it.
    """
    place = selection.without(_OF_TENSORS)
    there = dump.selected(place)
    if not len(there):
        raise chosen(dump).no_tensor_error(place)
    found = there if name is None else _named(there, name)
    if name is not None and not len(found):
        raise OperatorNotFoundError(_absence(dump, there, name, place))
    of_tensors = selection.only(_OF_TENSORS)
    left = found.selected(of_tensors)
    if not len(left):
        raise chosen(found).no_tensor_error(of_tensors)
    if tensor is None or not 1 < len(left) <= _MAX_PARTS:
        return left
    io, _, index = tensor.partition(".")
    return left.select(io=io, index=index) or left


def _named(dump: Dump, name: str) -> Dump:
    return Dump(matching(chosen(dump), name))


def _absence(dump: Dump, there: Dump, name: str, place: Selection) -> str:
    """Return why no operator that meets the conditions has a name."""
    elsewhere = _named(dump, name) if place else there[:0]
    if not len(elsewhere):
        return no_match_text(chosen(there), name, there)
    summary = elsewhere.summary()
    places = [
        numbered(noun, numbers)
        for noun, numbers in (("rank", summary["ranks"]), ("step", summary["steps"]))
        if numbers
    ]
    asked = ", ".join(place.text_of(condition) for condition in place.conditions())
    where = f": {', '.join(places)}" if places else ""
    return (
        f"no operator is called {name!r} with {asked}; "
        f"{counted(len(elsewhere), 'file')} elsewhere{where}"
    )
