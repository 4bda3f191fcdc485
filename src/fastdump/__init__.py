"""Read the tensor dumps of Huawei Ascend/CANN and compute their statistics.

>>> import fastdump
>>> table = fastdump.stats("dump_dir")  # doctest: +SKIP
>>> table.worst(10)  # doctest: +SKIP
>>> dump = fastdump.open("dump_dir")  # doctest: +SKIP
>>> dump["layers.3/Add"].outputs[0][:8]  # doctest: +SKIP

`stats` reads dumps, `read_stats` a table that was written, `stats_of` an array; `open` gives the
operators of a dump and their tensors as arrays, `convert` writes them into files of other formats,
`to_host` brings an array from a format of the device into the host's order. `triage` tells where
bad values began, `compare` where two dumps part, `overflow` what the device noted of overflows,
`watcher` who overwrote another operator's memory; `fastdump.config` is about the configuration that
makes a dump. The package `fastdump.testing` writes dump files, `fastdump.demo` whole sample dumps.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from fastdump.errors import (
    ClosedDumpError,
    DumpFormatError,
    FastdumpError,
    LayoutError,
    MissingDependencyError,
    NoDumpError,
    OperatorNotFoundError,
    UnsupportedDTypeError,
)

if TYPE_CHECKING:
    from fastdump._compare import (
        CompareProgress,
        ComparisonRow,
        ComparisonTable,
        DivergentOperator,
        compare,
        read_comparison,
    )
    from fastdump._convert import (
        ConvertFailure,
        ConvertNote,
        ConvertProgress,
        ConvertReport,
        convert,
    )
    from fastdump._core import Progress, __version__
    from fastdump._dump import Dump, open
    from fastdump._layout import to_host
    from fastdump._operator import Operator
    from fastdump._overflow import (
        OverflowFinding,
        OverflowOperator,
        OverflowRecord,
        OverflowReport,
        OverflowUnit,
        overflow,
    )
    from fastdump._schema import StatsRow
    from fastdump._stats import stats
    from fastdump._stats_of import TensorStats, stats_of
    from fastdump._table import StatsTable
    from fastdump._table_files import read_stats
    from fastdump._tensor import Tensor
    from fastdump._triage import TriageReport, triage
    from fastdump._watcher import WatcherReport, watcher

__all__ = [
    "ClosedDumpError",
    "CompareProgress",
    "ComparisonRow",
    "ComparisonTable",
    "ConvertFailure",
    "ConvertNote",
    "ConvertProgress",
    "ConvertReport",
    "DivergentOperator",
    "Dump",
    "DumpFormatError",
    "FastdumpError",
    "LayoutError",
    "MissingDependencyError",
    "NoDumpError",
    "Operator",
    "OperatorNotFoundError",
    "OverflowFinding",
    "OverflowOperator",
    "OverflowRecord",
    "OverflowReport",
    "OverflowUnit",
    "Progress",
    "StatsRow",
    "StatsTable",
    "Tensor",
    "TensorStats",
    "TriageReport",
    "UnsupportedDTypeError",
    "WatcherReport",
    "__version__",
    "compare",
    "convert",
    "open",
    "overflow",
    "read_comparison",
    "read_stats",
    "stats",
    "stats_of",
    "to_host",
    "triage",
    "watcher",
]

# Imported at first use, so that `import fastdump` alone costs nothing.
_MODULE_OF = {
    "CompareProgress": "fastdump._compare",
    "ComparisonRow": "fastdump._compare",
    "ComparisonTable": "fastdump._compare",
    "ConvertFailure": "fastdump._convert",
    "ConvertNote": "fastdump._convert",
    "ConvertProgress": "fastdump._convert",
    "ConvertReport": "fastdump._convert",
    "DivergentOperator": "fastdump._compare",
    "Dump": "fastdump._dump",
    "Operator": "fastdump._operator",
    "OverflowFinding": "fastdump._overflow",
    "OverflowOperator": "fastdump._overflow",
    "OverflowRecord": "fastdump._overflow",
    "OverflowReport": "fastdump._overflow",
    "OverflowUnit": "fastdump._overflow",
    "Progress": "fastdump._core",
    "StatsRow": "fastdump._schema",
    "StatsTable": "fastdump._table",
    "Tensor": "fastdump._tensor",
    "TensorStats": "fastdump._stats_of",
    "TriageReport": "fastdump._triage",
    "WatcherReport": "fastdump._watcher",
    "__version__": "fastdump._core",
    "compare": "fastdump._compare",
    "convert": "fastdump._convert",
    "open": "fastdump._dump",
    "overflow": "fastdump._overflow",
    "read_comparison": "fastdump._compare",
    "read_stats": "fastdump._table_files",
    "stats": "fastdump._stats",
    "stats_of": "fastdump._stats_of",
    "to_host": "fastdump._layout",
    "triage": "fastdump._triage",
    "watcher": "fastdump._watcher",
}

_PACKAGES = ("config", "demo", "testing")


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return importlib.import_module(f"fastdump.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fastdump' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
