"""Read the tensor dumps of Huawei Ascend/CANN and compute their statistics.

>>> import fastdump
>>> table = fastdump.stats("dump_dir")  # doctest: +SKIP
>>> table.worst(10)  # doctest: +SKIP
>>> dump = fastdump.open("dump_dir")  # doctest: +SKIP
>>> dump["layers.3/Add"]["output.0"][:8]  # doctest: +SKIP

Things: `open` gives the operators of a dump and their tensors as arrays, `stats` a table with a row
for each tensor, `read_stats` a table from files; `concat` joins tables. `stats_of` and
`to_logical` take arrays.

Questions: `triage` tells where bad values began, `compare` where two dumps diverge, `overflow` what
the device recorded about overflows, `watcher` which operator overwrote the memory of another;
`convert` writes tensors to files of other formats. Each returns a report: sentence, findings,
notes, to_dict(), to_html(). `report` makes a page of HTML about a dump, or about two;
`export_tensorboard` and `openmetrics_text` make numbers by layer and step for other programs.

Packages: `fastdump.config` reads, checks and writes the configuration of a dump, `fastdump.testing`
writes dump files, and `fastdump.demo` writes whole sample dumps.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from fastdump import errors as errors
from fastdump.errors import ClosedDumpError as ClosedDumpError
from fastdump.errors import DumpFormatError as DumpFormatError
from fastdump.errors import FastdumpError as FastdumpError
from fastdump.errors import FileChangedError as FileChangedError
from fastdump.errors import LayoutError as LayoutError
from fastdump.errors import MissingDependencyError as MissingDependencyError
from fastdump.errors import NoDumpError as NoDumpError
from fastdump.errors import NoTensorError as NoTensorError
from fastdump.errors import OperatorNotFoundError as OperatorNotFoundError
from fastdump.errors import TableTooLargeError as TableTooLargeError
from fastdump.errors import UnsupportedDTypeError as UnsupportedDTypeError

# `_MODULES` says where a name is found at run time. The imports below are for type checkers, to
# which `as` says that a name is public.
if TYPE_CHECKING:
    from fastdump import config as config
    from fastdump import demo as demo
    from fastdump import testing as testing
    from fastdump._arguments import Engine as Engine
    from fastdump._arguments import Level as Level
    from fastdump._array.layout import to_logical as to_logical
    from fastdump._array.stats_of import TensorStats as TensorStats
    from fastdump._array.stats_of import stats_of as stats_of
    from fastdump._compare import CompareProgress as CompareProgress
    from fastdump._compare import ComparisonRow as ComparisonRow
    from fastdump._compare import ComparisonTable as ComparisonTable
    from fastdump._compare import DivergentOperator as DivergentOperator
    from fastdump._compare import compare as compare
    from fastdump._compare import read_comparison as read_comparison
    from fastdump._convert import ConvertFailure as ConvertFailure
    from fastdump._convert import ConvertNote as ConvertNote
    from fastdump._convert import ConvertProgress as ConvertProgress
    from fastdump._convert import ConvertReport as ConvertReport
    from fastdump._convert import FileType as FileType
    from fastdump._convert import convert as convert
    from fastdump._core import Progress as Progress
    from fastdump._core import __version__ as __version__
    from fastdump._dump.dump import Dump as Dump
    from fastdump._dump.dump import open as open
    from fastdump._dump.operator import Operator as Operator
    from fastdump._dump_page import report as report
    from fastdump._export import export_tensorboard as export_tensorboard
    from fastdump._export import openmetrics_text as openmetrics_text
    from fastdump._follow import FollowEvent as FollowEvent
    from fastdump._follow import FollowProgress as FollowProgress
    from fastdump._follow import follow as follow
    from fastdump._overflow import OverflowFinding as OverflowFinding
    from fastdump._overflow import OverflowOperator as OverflowOperator
    from fastdump._overflow import OverflowRecord as OverflowRecord
    from fastdump._overflow import OverflowReport as OverflowReport
    from fastdump._overflow import OverflowUnit as OverflowUnit
    from fastdump._overflow import overflow as overflow
    from fastdump._report import Report as Report
    from fastdump._selection import Selection as Selection
    from fastdump._stats import stats as stats
    from fastdump._table.concat import concat as concat
    from fastdump._table.row import StatsRow as StatsRow
    from fastdump._table.stats_table import StatsTable as StatsTable
    from fastdump._table.table_files import read_stats as read_stats
    from fastdump._tensor.tensor import Tensor as Tensor
    from fastdump._triage import TriageReport as TriageReport
    from fastdump._triage import triage as triage
    from fastdump._watcher import WatcherProgress as WatcherProgress
    from fastdump._watcher import WatcherReport as WatcherReport
    from fastdump._watcher import watcher as watcher
    from fastdump._words.language import in_language as in_language

_CONTENTS = (
    *("open", "stats", "read_stats", "concat", "stats_of", "to_logical"),
    *("triage", "follow", "compare", "read_comparison", "overflow", "watcher", "convert"),
    *("report", "in_language", "export_tensorboard", "openmetrics_text"),
    *("Dump", "Operator", "Tensor", "StatsTable", "StatsRow", "Selection", "Report"),
    *("config", "testing", "demo", "errors", "__version__"),
)
"""What `dir` shows: functions, things and packages, without the records of reports."""

# These names are imported at first use, so that `import fastdump` alone costs nothing.
_MODULES = {
    "_arguments": "Engine Level",
    "_array.layout": "to_logical",
    "_array.stats_of": "TensorStats stats_of",
    "_compare": "CompareProgress ComparisonRow ComparisonTable DivergentOperator "
    "compare read_comparison",
    "_convert": "ConvertFailure ConvertNote ConvertProgress ConvertReport FileType convert",
    "_core": "Progress __version__",
    "_dump.dump": "Dump open",
    "_dump.operator": "Operator",
    "_dump_page": "report",
    "_export": "export_tensorboard openmetrics_text",
    "_follow": "FollowEvent FollowProgress follow",
    "_overflow": "OverflowFinding OverflowOperator OverflowRecord OverflowReport "
    "OverflowUnit overflow",
    "_report": "Report",
    "_selection": "Selection",
    "_stats": "stats",
    "_table.concat": "concat",
    "_table.row": "StatsRow",
    "_table.stats_table": "StatsTable",
    "_table.table_files": "read_stats",
    "_tensor.tensor": "Tensor",
    "_triage": "TriageReport triage",
    "_watcher": "WatcherProgress WatcherReport watcher",
    "_words.language": "in_language",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_PACKAGES = ("config", "demo", "testing")

__all__ = sorted([*errors.__all__, *_MODULE_OF, *_PACKAGES, "errors"])


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return importlib.import_module(f"fastdump.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'fastdump' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f"fastdump.{_MODULE_OF[name]}"), name)
    if isinstance(value, type):
        value.__module__ = "fastdump"  # where users find it, and where pickle looks for it
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_CONTENTS)
