"""The exceptions of fastdump, one class for each cause that a caller may handle differently."""

from __future__ import annotations

__all__ = [
    "ClosedDumpError",
    "DumpFormatError",
    "FastdumpError",
    "FileChangedError",
    "LayoutError",
    "MissingDependencyError",
    "NoDumpError",
    "NoTensorError",
    "OperatorNotFoundError",
    "TableTooLargeError",
    "UnsupportedDTypeError",
]


class FastdumpError(Exception):
    """Base class of all exceptions that fastdump defines.

    Failures of the operating system are raised as plain `OSError`, with ``errno`` and ``filename``.
    """


class DumpFormatError(FastdumpError, ValueError):
    """The bytes of a file do not follow its format.

    The message names the file, the position in it, what was found and what was expected.
    """


class FileChangedError(DumpFormatError):
    """A dump file is no longer the one whose header was read, or changed while it was read.

    It was written to, cut, replaced, or renamed; or only its permissions changed, which looks the
    same. Nothing was returned that the present file does not hold. To read it as it is now, open
    the dump again.
    """


class LayoutError(FastdumpError, ValueError):
    """A tensor in a private format of the device cannot be brought into its logical order.

    The message names the format and says what is not documented, not known or does not fit.
    """


class UnsupportedDTypeError(FastdumpError, TypeError):
    """Elements of this type cannot be read as numbers, because their encoding is not documented."""


class ClosedDumpError(FastdumpError, ValueError):
    """The dump was closed; arrays that were made before stay valid."""


class NoDumpError(FastdumpError, FileNotFoundError):
    """The given paths have no dump, or no tensor was selected."""


class NoTensorError(FastdumpError, LookupError):
    """A row of a table has no tensor to open."""


class OperatorNotFoundError(FastdumpError, KeyError):
    """A dump has no operator of this name, or several that the name does not tell apart."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote the text


class TableTooLargeError(FastdumpError, MemoryError):
    """A table takes more memory than it may: in a file, or the rows of a scan.

    The message says how to allow more.
    """


class MissingDependencyError(FastdumpError, ImportError):
    """An optional package is not installed; the message says how to install it."""
