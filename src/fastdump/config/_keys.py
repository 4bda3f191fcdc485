"""The keys of the "dump" object: which type each value has, and which values are allowed.

The tables look like the JSON that they describe. A tuple stands for a string: one of its items, or
any string if it is empty. A list stands for an array whose elements are of the kind that the list
holds. A dictionary stands for an object with such keys, none of which is required.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

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


class Names(tuple[str, ...]):
    """Several of these strings: one string in JSON, with commas, and a tuple in Python."""


Kind: TypeAlias = "tuple[str, ...] | list[Kind] | dict[str, Kind]"
Keys: TypeAlias = dict[str, Kind]

_ANY: Final = ()

BLACKLIST_ITEM: Final[Keys] = {"name": _ANY, "pos": [_ANY]}
OPNAME_RANGE: Final[Keys] = {"begin": _ANY, "end": _ANY}
LIST_ENTRY: Final[Keys] = {
    "model_name": _ANY,
    "layer": [_ANY],
    "watcher_nodes": [_ANY],
    "optype_blacklist": [BLACKLIST_ITEM],
    "opname_blacklist": [BLACKLIST_ITEM],
    "opname_range": [OPNAME_RANGE],
}

DUMP: Final[Keys] = {
    "dump_path": _ANY,
    "dump_mode": get_args(Mode),
    "dump_op_switch": get_args(Switch),
    "dump_level": get_args(Level),
    "dump_scene": get_args(Scene),
    "dump_data": get_args(Data),
    "dump_debug": get_args(Switch),
    "dump_kernel_data": Names(get_args(KernelData)),
    "dump_step": _ANY,
    "dump_stats": [get_args(Statistic)],
    "dump_list": [LIST_ENTRY],
}
"""The keys of the "dump" object, in the order in which the vendor's code checks types."""

VALUE_ORDER: Final = (
    *("dump_mode", "dump_data", "dump_op_switch", "dump_level"),
    *("dump_debug", "dump_scene", "dump_kernel_data", "dump_stats"),
)
"""The keys with fixed values, in the order in which the vendor's code checks values."""

ROOT: Final = ("dump",)
"""The path of the "dump" object in an acl.json."""

BLACKLISTS: Final = ("optype_blacklist", "opname_blacklist")
