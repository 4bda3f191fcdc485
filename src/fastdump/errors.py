"""The exceptions of fastdump: one class for each cause that a caller would act on differently."""

from __future__ import annotations

__all__ = [
    "ClosedDumpError",
    "DumpFormatError",
    "FastdumpError",
    "LayoutError",
    "MissingDependencyError",
    "NoDumpError",
    "OperatorNotFoundError",
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


class LayoutError(FastdumpError, ValueError):
    """A tensor in a format of the device's own cannot be brought into the host's order.

    The message names the format, and says what is not documented, not known or does not fit.
    """


class UnsupportedDTypeError(FastdumpError, TypeError):
    """Elements of this type cannot be read as numbers: their encoding is not documented."""


class ClosedDumpError(FastdumpError, ValueError):
    """The dump was closed. Arrays that were made before stay valid."""


class NoDumpError(FastdumpError, FileNotFoundError):
    """Nothing that was given is a dump, or no part of it was selected."""


class OperatorNotFoundError(FastdumpError, KeyError):
    """A dump has no operator of this name, or so many that the name alone does not tell which."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


class MissingDependencyError(FastdumpError, ImportError):
    """An optional package is not installed; the message says how to install it."""
