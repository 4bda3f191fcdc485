"""The report as one JSON document; docs/watcher.md describes it."""

from __future__ import annotations

import dataclasses
from typing import Any

from fastdump._watcher.report import WatcherComparison, WatcherReport


def report_document(report: WatcherReport) -> dict[str, Any]:
    """Return the report ready for `json.dumps`."""
    return {
        "summary": report.summary,
        "check": report.check,
        "notes": list(report.notes),
        "n_findings": len(report.findings),
        "counts": dict(sorted(report.counts.items())),
        "comparisons": [_comparison(comparison) for comparison in report.comparisons],
        "skipped": dict(report.skipped),
    }


def _comparison(comparison: WatcherComparison) -> dict[str, Any]:
    return dataclasses.asdict(comparison)
