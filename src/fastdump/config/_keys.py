"""The keys of the "dump" object: which type each value has, and which values are allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias, get_args

Mode: TypeAlias = Literal["input", "output", "all"]
Level: TypeAlias = Literal["op", "kernel", "all"]
Data: TypeAlias = Literal["tensor", "stats"]
Switch: TypeAlias = Literal["on", "off"]
Scene: TypeAlias = Literal[
    "watcher",
    "lite_exception",
    "aic_err_brief_dump",
    "aic_err_norm_dump",
    "aic_err_detail_dump",
]
KernelData: TypeAlias = Literal["all", "printf", "tensor", "assert", "timestamp"]
Statistic: TypeAlias = Literal["Max", "Min", "Avg", "Nan", "Negative Inf", "Positive Inf", "L2norm"]

ROOT: Final = ("dump",)
"""The path of the "dump" object in an acl.json."""

BLACKLISTS: Final = ("optype_blacklist", "opname_blacklist")


@dataclass(frozen=True, eq=False)
class Text:
    """A string: one of `values`, or any string if there are none."""

    json_type: ClassVar = str
    expected: ClassVar = "a string"

    values: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Names:
    """Several strings: separated by commas in JSON, a tuple in Python."""

    json_type: ClassVar = str
    expected: ClassVar = "a string"

    of: Text


@dataclass(frozen=True, eq=False)
class Array:
    """An array: a list in JSON, a tuple in Python."""

    json_type: ClassVar = list

    of: Text | Object

    @property
    def expected(self) -> str:
        """What the value is expected to be, in words."""
        return f"an array of {'strings' if isinstance(self.of, Text) else 'objects'}"


@dataclass(frozen=True, eq=False)
class Object:
    """An object: a dictionary in JSON, a record in Python. Other keys than `keys` are ignored."""

    json_type: ClassVar = dict
    expected: ClassVar = "an object"

    keys: Mapping[str, Text | Names | Array]


Kind: TypeAlias = Text | Names | Array | Object

VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "dump_mode": get_args(Mode),
    "dump_data": get_args(Data),
    "dump_op_switch": get_args(Switch),
    "dump_level": get_args(Level),
    "dump_debug": get_args(Switch),
    "dump_scene": get_args(Scene),
    "dump_kernel_data": get_args(KernelData),
    "dump_stats": get_args(Statistic),
}
"""The allowed values, by key, in the order in which the vendor's code checks values."""

BLACKLIST_ITEM: Final = Object({"name": Text(), "pos": Array(Text())})

OPNAME_RANGE: Final = Object({"begin": Text(), "end": Text()})

LIST_ENTRY: Final = Object(
    {
        "model_name": Text(),
        "layer": Array(Text()),
        "watcher_nodes": Array(Text()),
        "optype_blacklist": Array(BLACKLIST_ITEM),
        "opname_blacklist": Array(BLACKLIST_ITEM),
        "opname_range": Array(OPNAME_RANGE),
    }
)

# In the order in which the vendor's code checks types.
DUMP: Final = Object(
    {
        "dump_path": Text(),
        "dump_mode": Text(VALUES["dump_mode"]),
        "dump_op_switch": Text(VALUES["dump_op_switch"]),
        "dump_level": Text(VALUES["dump_level"]),
        "dump_scene": Text(VALUES["dump_scene"]),
        "dump_data": Text(VALUES["dump_data"]),
        "dump_debug": Text(VALUES["dump_debug"]),
        "dump_kernel_data": Names(Text(VALUES["dump_kernel_data"])),
        "dump_step": Text(),
        "dump_stats": Array(Text(VALUES["dump_stats"])),
        "dump_list": Array(LIST_ENTRY),
    }
)
