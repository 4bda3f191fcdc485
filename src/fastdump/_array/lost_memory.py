"""Arrays that lie in a mapping of a file which became shorter, as an exception."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from fastdump import _core
from fastdump.errors import FileChangedError

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def reading_memory(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Return a function of the core that raises FileChangedError as users know it."""

    @functools.wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except _core.FileChangedError as error:
            raise FileChangedError(str(error)) from error

    return call
