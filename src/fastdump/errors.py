"""The exceptions of fastdump: one class for each cause that a caller would act on differently."""

from __future__ import annotations

__all__ = [
    "DumpFormatError",
    "FastdumpError",
    "MissingDependencyError",
    "NoDumpError",
    "UnsupportedDTypeError",
]


class FastdumpError(Exception):
    """Base class of all exceptions that fastdump defines.

    Failures of the operating system are not among them: they are raised as the `OSError` they are,
    with ``errno`` and ``filename``.
    """


class DumpFormatError(FastdumpError, ValueError):
    """The bytes are not what the file's format asks for.

    The message names the file, the place in it, what was found and what was expected.
    """


class UnsupportedDTypeError(FastdumpError, TypeError):
    """There are no statistics for elements of this type."""


class NoDumpError(FastdumpError, FileNotFoundError):
    """Nothing that was given is a dump, or no part of it was selected."""


class MissingDependencyError(FastdumpError, ImportError):
    """An optional package is not installed; the message says how to install it."""
