"""JSON for programs on stdout, in ASCII: nothing that a name holds acts on a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from fastdump import __version__
from fastdump._column_table import ColumnTable
from fastdump._table_json import json_text


def print_json(document: dict[str, Any]) -> None:
    """Print a document, beginning with the version that wrote it.

    Raises
    ------
    ValueError
        `document` holds a NaN or infinity, for which JSON has no number.
    """
    text = json.dumps({"fastdump": __version__, **document}, indent=2, allow_nan=False)
    sys.stdout.write(text + "\n")


def print_table(table: ColumnTable[Any]) -> None:
    """Print the document that its `write` makes of a table."""
    sys.stdout.writelines(json_text(table, ensure_ascii=True))
