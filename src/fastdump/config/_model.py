"""A configuration as typed, frozen records: the "dump" object of acl.json, key by key.

Building a record by hand checks its types and values (pydantic's ``ValidationError``, a
`ValueError`, says what is wrong); what keys ask of each other is what `check` finds.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    Strict,
    StrictStr,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.dataclasses import dataclass

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

VALUES: Final[dict[str, tuple[str, ...]]] = {
    "dump_mode": get_args(Mode),
    "dump_data": get_args(Data),
    "dump_op_switch": get_args(Switch),
    "dump_level": get_args(Level),
    "dump_debug": get_args(Switch),
    "dump_scene": get_args(Scene),
    "dump_kernel_data": get_args(KernelData),
    "dump_stats": get_args(Statistic),
}
"""The keys with fixed values, in the order in which the vendor's code looks at values."""

STATISTICS: Final = VALUES["dump_stats"]

MAX_ARRAY_ERRORS: Final = 100
"""So many errors in an array, and the rest of it is not looked at."""


def _bounded(array: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    # The errors of a hostile file would take a hundred times its size.
    if isinstance(array, (list, tuple)):
        n_errors = 0
        for end in range(MAX_ARRAY_ERRORS, len(array), MAX_ARRAY_ERRORS):
            try:
                handler(array[end - MAX_ARRAY_ERRORS : end])
            except ValidationError as error:
                n_errors += error.error_count()
                if n_errors >= MAX_ARRAY_ERRORS:
                    return handler(array[:end])
    return handler(array)


def _split(text: object) -> object:
    return tuple(text.split(",")) if isinstance(text, str) else text


_Bounded: Final = WrapValidator(_bounded)
_Strings: TypeAlias = Annotated[tuple[StrictStr, ...], _Bounded]
_Statistics: TypeAlias = Annotated[tuple[Statistic, ...], _Bounded]
# A tuple in Python, one string in JSON.
_KernelData: TypeAlias = Annotated[
    tuple[KernelData, ...],
    Strict(),
    _Bounded,
    BeforeValidator(_split),
    PlainSerializer(",".join),
]

_CONFIG: Final = ConfigDict(extra="forbid")

NULL: Final = object()
"""Stands for JSON's null while a record is made: no key may have it, unlike Python's None."""


class _Record:
    """What all records have in common: how they are made of JSON."""

    __slots__ = ()

    @model_validator(mode="before")
    @classmethod
    def _known_members(cls, value: Any) -> Any:
        """Leave out keys that are not known, as the vendor's code does."""
        if not isinstance(value, dict):
            return value
        return {
            name: NULL if value[name] is None else value[name]
            for name in cls.__dataclass_fields__  # type: ignore[attr-defined]
            if name in value
        }


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class BlacklistItem(_Record):
    """What not to dump of the operators of one name or type.

    Attributes
    ----------
    name
        An operator's type in an ``optype_blacklist``, its name in an ``opname_blacklist``.
    pos
        "input0", "output1": which of its tensors.
    """

    name: StrictStr | None = None
    pos: _Strings | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class OpnameRange(_Record):
    """Operators from `begin` to `end`, both included, in the order of execution."""

    begin: StrictStr | None = None
    end: StrictStr | None = None


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class ListEntry(_Record):
    """One entry of ``dump_list``. None stands for a key that is not there.

    Attributes
    ----------
    model_name
        The model's file name without suffix, or the outermost "name" of its JSON; None: all.
    layer
        Names of operators; None: all.
    watcher_nodes
        Operators whose outputs are watched.
    optype_blacklist, opname_blacklist
        What not to dump, by type and by name.
    opname_range
        Ranges of operators to dump.
    """

    model_name: StrictStr | None = None
    layer: _Strings | None = None
    watcher_nodes: _Strings | None = None
    optype_blacklist: Annotated[tuple[BlacklistItem, ...], _Bounded] | None = None
    opname_blacklist: Annotated[tuple[BlacklistItem, ...], _Bounded] | None = None
    opname_range: Annotated[tuple[OpnameRange, ...], _Bounded] | None = None

    @property
    def is_void(self) -> bool:
        """Whether the graph engine drops this: something is there, and empty."""
        return self.model_name == "" or self.layer == ()


@dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)
class DumpConfig(_Record):
    """The "dump" object of an acl.json. None stands for a key that is not there.

    The keys are as written; the properties say what is in force, defaults applied.

    Attributes
    ----------
    dump_path
        Where the files go: a local directory, or ``ip:path``.
    dump_mode
        "input", "output" or "all".
    dump_op_switch
        "on" dumps operators that are called one by one.
    dump_level
        "op" (operators of graphs), "kernel" (kernels of the single-operator API) or "all".
    dump_scene
        "watcher", or one of the exception scenes.
    dump_data
        "tensor" or "stats".
    dump_debug
        "on" dumps operators that overflow.
    dump_kernel_data
        What to keep of what kernels print: "all", "printf", "tensor", "assert", "timestamp".
    dump_step
        ``0|3-5|10``; empty or None: all steps.
    dump_stats
        Which statistics.
    dump_list
        Models and operators to dump.
    """

    # In the order in which the vendor's code looks at types.
    dump_path: StrictStr | None = None
    dump_mode: Mode | None = None
    dump_op_switch: Switch | None = None
    dump_level: Level | None = None
    dump_scene: Scene | None = None
    dump_data: Data | None = None
    dump_debug: Switch | None = None
    dump_kernel_data: _KernelData | None = None
    dump_step: StrictStr | None = None
    dump_stats: _Statistics | None = None
    dump_list: Annotated[tuple[ListEntry, ...], _Bounded] | None = None

    @property
    def mode(self) -> Mode:
        """Which tensors are dumped: "input", "output" or "all"."""
        return "all" if self.is_overflow else self.dump_mode or "output"

    @property
    def level(self) -> Level:
        """Which operators are dumped: "op", "kernel" or "all"."""
        return self.dump_level or "all"

    @property
    def data(self) -> Data:
        """What is dumped: "tensor" or "stats"."""
        return self.dump_data or "tensor"

    @property
    def stats(self) -> tuple[str, ...]:
        """Which statistics are dumped; none if tensors are."""
        if self.data != "stats":
            return ()
        return STATISTICS[:6] if self.dump_stats is None else self.dump_stats

    @property
    def is_exception(self) -> bool:
        """Whether this dumps operators that end with an error."""
        return self.dump_scene is not None and not self.is_watcher

    @property
    def is_watcher(self) -> bool:
        """Whether this watches outputs for being overwritten."""
        return self.dump_scene == "watcher"

    @property
    def is_overflow(self) -> bool:
        """Whether this dumps operators that overflow."""
        return self.dump_debug == "on"

    @property
    def is_single_operator(self) -> bool:
        """Whether this dumps operators that are called one by one."""
        return self.dump_op_switch == "on"

    @property
    def is_on(self) -> bool:
        """Whether anything is dumped, messages of kernels aside."""
        return bool(
            self.dump_list or self.is_single_operator or self.is_overflow or self.dump_scene
        )

    @property
    def entries_in_force(self) -> dict[str | None, ListEntry]:
        """The entries of ``dump_list`` that count, by model name; none if all is dumped.

        Of several entries for a model the last one counts, and one without a model name, which is
        under None, makes those with one useless.
        """
        last = {entry.model_name: entry for entry in self.dump_list or () if not entry.is_void}
        return {None: last[None]} if None in last else last

    def to_json(self) -> str:
        """Return the text of an acl.json with this configuration, ending in a newline."""
        return json_text(ADAPTER.dump_python(self, mode="json", exclude_none=True))


def json_text(dump: dict[str, Any]) -> str:
    """Return the text of an acl.json with a "dump" object."""
    text = json.dumps({"dump": dump}, indent=4, ensure_ascii=False) + "\n"
    # Names may come from a hostile dump: what a terminal would act on is written as JSON's escape.
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


ADAPTER: Final = TypeAdapter(DumpConfig)

RECORDS: Final[dict[str, type[_Record]]] = {
    "dump_list": ListEntry,
    "optype_blacklist": BlacklistItem,
    "opname_blacklist": BlacklistItem,
    "opname_range": OpnameRange,
}
"""The record of each element, by the key of the array."""
