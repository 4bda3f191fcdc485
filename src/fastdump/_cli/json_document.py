"""JSON on standard output, in ASCII, so that no name acts on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from fastdump._json import json_document
from fastdump._table.column_table import ColumnTable


def print_json(content: Mapping[str, Any]) -> None:
    """Print a document, beginning with the version that wrote it.

    Raises
    ------
    ValueError
        If `content` holds a NaN or an infinity; JSON has no number for these.
    """
    sys.stdout.write(json_document(content) + "\n")


def print_json_line(content: Mapping[str, Any]) -> None:
    """Print a document in one line, at once."""
    sys.stdout.write(json_document(content, indent=None) + "\n")
    sys.stdout.flush()


def print_table(table: ColumnTable[Any]) -> None:
    """Print the JSON document that a table's `write` makes."""
    sys.stdout.writelines(table.to_json_lines())
