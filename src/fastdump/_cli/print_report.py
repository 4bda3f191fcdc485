"""Printing of reports, as text or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastdump._cli.console import print_fitted
from fastdump._cli.json_document import print_json
from fastdump._cli.pager import paged
from fastdump._report import Report


def print_report(
    report: Report, *, as_json: bool, more: Mapping[str, Any] | None = None, **options: Any
) -> None:
    """Print a report.

    Parameters
    ----------
    report
        The report.
    as_json
        Whether to print a JSON document.
    more
        Members that the document has beside those of the report.
    options
        Options of the report's `lines`.
    """
    if as_json:
        print_json({**report.to_dict(), **(more or {})})
    else:
        with paged():
            print_fitted(report.lines, **options)
