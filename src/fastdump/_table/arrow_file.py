"""Tables as Arrow IPC and Parquet files, through the optional arro3-io.

arro3 panics on damaged files, sometimes in callbacks, which ends the process. So the checksum of a
file is verified before its rows are read.
"""

from __future__ import annotations

import functools
import inspect
import io
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import IO, Any

from arro3.core import RecordBatch, RecordBatchReader, Table

from fastdump._table.checksum import KEY, PLACEHOLDER, add_checksum, has_right_checksum
from fastdump._table.chunks import ROWS
from fastdump._table.column import TableKind
from fastdump._table.conform import check_schema
from fastdump._table.ipc_blocks import check_batches
from fastdump._table.joined_columns import GrowingBatch
from fastdump._table.table_limit import TableLimit
from fastdump.errors import MissingDependencyError

# Both formats begin with a magic, and end with a footer, its length in four bytes, and the magic.
_ARROW_MAGIC = b"ARROW1"
_PARQUET_MAGIC = b"PAR1"


def write_arrow(table: Table, file: IO[bytes]) -> None:
    """Write an Arrow IPC file, uncompressed so that it can be mapped."""
    _write(_with_metadata(table, **{KEY: PLACEHOLDER}), file, _arro3_io().write_ipc)


def write_parquet(table: Table, file: IO[bytes]) -> None:
    """Write a Parquet file, compressed."""
    options = {"compression": "zstd(3)", "key_value_metadata": {KEY: PLACEHOLDER}}
    _write(_with_metadata(table), file, _arro3_io().write_parquet, **options)


def read_arrow(file: IO[bytes], kind: TableKind, limit: TableLimit) -> Table:
    """Read an Arrow IPC file that `write_arrow` wrote; raise ValueError for any other file."""
    open_arrow = _arro3_io().read_ipc
    footer_begin = _footer_begin(file, _ARROW_MAGIC)
    if not has_right_checksum(file, footer_begin):
        raise ValueError(
            "no checksum of fastdump: read an Arrow file of another program with that program, as "
            "in fastdump.StatsTable(polars.read_ipc(path)), or write it as Parquet"
        )
    check_batches(file, footer_begin)
    return _read(open_arrow, file, kind, limit)


def read_parquet(file: IO[bytes], kind: TableKind, limit: TableLimit) -> Table:
    """Read a Parquet file; raise ValueError if it cannot be a table of this kind."""
    open_parquet = _arro3_io().read_parquet
    has_right_checksum(file, _footer_begin(file, _PARQUET_MAGIC))
    # Before arro3-io 0.9, which needs Python 3.11, batches have its own size, which is smaller.
    options = {"batch_size": ROWS} if "batch_size" in _parameters(open_parquet) else {}
    return _read(functools.partial(open_parquet, **options), file, kind, limit)


def _arro3_io() -> ModuleType:
    try:
        import arro3.io
    except ImportError as error:
        raise MissingDependencyError(
            "files in .arrow and .parquet need arro3-io: pip install 'fastdump[parquet]'",
            name="arro3.io",
        ) from error
    return arro3.io


def _parameters(function: Callable[..., object]) -> Collection[str]:
    return inspect.signature(function).parameters


def _with_metadata(table: Table, **more: str) -> Table:
    from fastdump._core import __version__

    schema = table.schema
    metadata = schema.metadata_str | {"fastdump.version": __version__} | more
    return table.with_schema(schema.with_metadata(metadata))


def _write(table: Table, file: IO[bytes], encode: Callable[..., None], **options: Any) -> None:
    # Encoded in memory first, because arro3 panics if a write fails.
    encoded = io.BytesIO()
    encode(table, encoded, **{"compression": None, **options})
    complete = bytearray(encoded.getbuffer())
    add_checksum(complete)
    file.write(complete)


def _read(
    open_reader: Callable[[IO[bytes]], RecordBatchReader],
    file: IO[bytes],
    kind: TableKind,
    limit: TableLimit,
) -> Table:
    """Read a table batch by batch, until it is complete or larger than it may be."""
    file.seek(0)
    with _value_errors():
        reader = open_reader(file)
    check_schema(reader.schema, kind)
    rows = GrowingBatch()
    for batch in iter(functools.partial(_next_batch, reader), None):
        limit.count_batch(batch)
        rows.append(batch)
    if not rows.n_batches:
        return Table.from_batches([], schema=reader.schema)
    batch = rows.finish()
    return Table.from_batches([batch], schema=batch.schema.with_metadata(reader.schema.metadata))


def _next_batch(reader: RecordBatchReader) -> RecordBatch | None:
    with _value_errors():
        try:
            return reader.read_next_batch()
        except StopIteration:
            return None


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
