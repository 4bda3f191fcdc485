"""Tables as Arrow IPC files and as Parquet, through the optional arro3-io.

arro3 panics on damaged files, some of them in callbacks, which ends the process. So a file is
checked before its rows are read.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

from fastdump._arrow_ipc import check_batches, check_footer
from fastdump._column_table import AnyTable, ColumnTable
from fastdump._conform import check_names, check_types
from fastdump._parquet_checksum import KEY, PLACEHOLDER, add_checksum, check_checksum
from fastdump.errors import MissingDependencyError

if TYPE_CHECKING:
    from arro3.core import RecordBatchReader, Schema, Table

    from fastdump._column import TableKind

# Both formats begin with their magic and end with the footer, its length in four bytes, the magic.
_ARROW_MAGIC = b"ARROW1"
_PARQUET_MAGIC = b"PAR1"


def write_arrow(table: ColumnTable[Any], file: IO[bytes]) -> None:
    """Write an Arrow IPC file, not compressed, so that it can be mapped."""
    file.write(_encoded(table, _arro3_io().write_ipc, compression=None))


def write_parquet(table: ColumnTable[Any], file: IO[bytes]) -> None:
    """Write a Parquet file with a checksum."""
    metadata = {KEY: PLACEHOLDER}
    encoded = _encoded(
        table, _arro3_io().write_parquet, compression="zstd(3)", key_value_metadata=metadata
    )
    add_checksum(encoded)
    file.write(encoded)


def read_arrow(file: IO[bytes], table_type: type[AnyTable]) -> AnyTable:
    """Read an Arrow IPC file; raise ValueError if it is not a table of this type."""
    read_ipc = _arro3_io().read_ipc
    file.seek(_footer_begin(file, _ARROW_MAGIC))
    footer = file.read()
    check_footer(footer, file.tell())
    schema = _schema(read_ipc, file, table_type.kind)
    check_batches(file, footer, schema)
    return table_type(_rows(read_ipc, file))


def read_parquet(file: IO[bytes], table_type: type[AnyTable]) -> AnyTable:
    """Read a Parquet file; raise ValueError if it is not a table of this type."""
    open_parquet = _arro3_io().read_parquet
    check_checksum(file, _footer_begin(file, _PARQUET_MAGIC))
    _schema(open_parquet, file, table_type.kind)
    return table_type(_rows(open_parquet, file))


def _arro3_io() -> ModuleType:
    try:
        import arro3.io
    except ImportError as error:
        raise MissingDependencyError(
            "files in .arrow and .parquet need arro3-io: pip install 'fastdump[parquet]'",
            name="arro3.io",
        ) from error
    return arro3.io


def _encoded(table: ColumnTable[Any], encode: Callable[..., None], **options: Any) -> bytearray:
    from fastdump._core import __version__

    metadata = table.schema.metadata_str | {"fastdump.version": __version__}
    schema = table.schema.with_metadata(metadata)
    # Not into the file itself: arro3 panics where a write fails.
    encoded = io.BytesIO()
    encode(table.arrow.with_schema(schema), encoded, **options)
    return bytearray(encoded.getbuffer())


def _schema(
    open_reader: Callable[[IO[bytes]], RecordBatchReader], file: IO[bytes], kind: TableKind
) -> Schema:
    """Return the schema, and see that it can be that of a table of `kind`."""
    file.seek(0)
    with _value_errors():
        schema = open_reader(file).schema
    check_names(schema.names, kind)
    check_types(schema, kind)
    return schema


def _rows(open_reader: Callable[[IO[bytes]], RecordBatchReader], file: IO[bytes]) -> Table:
    file.seek(0)
    with _value_errors():
        return open_reader(file).read_all()


def _footer_begin(file: IO[bytes], magic: bytes) -> int:
    """Return where the footer begins; raise ValueError if the file is cut or of another format."""
    nbytes = file.seek(0, os.SEEK_END)
    file.seek(0)
    first = file.read(len(magic))
    file.seek(max(0, nbytes - len(magic) - 4))
    footer_nbytes = int.from_bytes(file.read(4), "little")
    if not first == file.read() == magic:
        raise ValueError(f"does not begin and end with {magic.decode()}: another format, or cut")
    begin = nbytes - len(magic) - 4 - footer_nbytes
    if begin < len(magic):
        raise ValueError(f"{nbytes} bytes are too few for a footer of {footer_nbytes}")
    return begin


@contextmanager
def _value_errors() -> Iterator[None]:
    """Turn the errors of arro3, which have no class of their own, into ValueError."""
    try:
        yield
    except (OSError, MemoryError, ValueError):
        raise
    except Exception as error:
        raise ValueError(str(error)) from error
    except BaseException as error:
        # A panic of Rust code is not an Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"damaged: {error}") from error
