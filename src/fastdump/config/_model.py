"""A configuration as typed, frozen records: the "dump" object of acl.json, key by key.

A record checks the types and values of its keys when it is made. `check` does the rest: what keys
demand of each other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar, Final, get_args

from fastdump.config._keys import (
    BLACKLIST_ITEM,
    DUMP,
    LIST_ENTRY,
    OPNAME_RANGE,
    Data,
    KernelData,
    Keys,
    Kind,
    Level,
    Mode,
    Names,
    Scene,
    Statistic,
    Switch,
)
from fastdump.config._wording import quoted

STATISTICS: Final[tuple[str, ...]] = get_args(Statistic)


class _Record:
    """Base class of all records, which checks the values of their keys."""

    __slots__ = ()

    _keys: ClassVar[Keys]

    def __post_init__(self) -> None:
        for name, kind in self._keys.items():
            value = getattr(self, name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, name, value)
            problem = None if value is None else _problem(value, kind)
            if problem is not None:
                raise ValueError(f"{name}{problem}")


def _problem(value: Any, kind: Kind) -> str | None:
    """Return why a record cannot hold a value, as text that follows its name; None if it can."""
    if isinstance(kind, Names):
        kind = [tuple(kind)]
    expected: type[Any] = str if isinstance(kind, tuple) else tuple
    if isinstance(kind, dict):
        expected = record_of(kind)
    if not isinstance(value, expected):
        return f" must be of type {expected.__name__}, not {type(value).__name__}"
    if isinstance(kind, list):
        for i, element in enumerate(value):
            problem = _problem(element, kind[0])
            if problem is not None:
                return f"[{i}]{problem}"
    elif kind and isinstance(kind, tuple) and value not in kind:
        return f" must be one of {', '.join(kind)}, not {quoted(value)}"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlacklistItem(_Record):
    """Tensors that are not dumped of the operators of one name or type.

    Attributes
    ----------
    name
        An operator type in an ``optype_blacklist``, an operator name in an ``opname_blacklist``.
    pos
        The tensors: "input0", "output1".

    Raises
    ------
    ValueError
        If a value has the wrong type.
    """

    _keys: ClassVar[Keys] = BLACKLIST_ITEM

    name: str | None = None
    pos: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpnameRange(_Record):
    """The operators from `begin` to `end`, both included, in the order of execution.

    Attributes
    ----------
    begin, end
        Names of operators.

    Raises
    ------
    ValueError
        If a value has the wrong type.
    """

    _keys: ClassVar[Keys] = OPNAME_RANGE

    begin: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry(_Record):
    """One entry of ``dump_list``. A key that is not set is None.

    Attributes
    ----------
    model_name
        The model's file name without suffix, or the outermost "name" in its JSON; None for all
        models.
    layer
        Names of operators; None for all operators.
    watcher_nodes
        Operators whose outputs are watched.
    optype_blacklist, opname_blacklist
        Tensors that are not dumped, by operator type and by operator name.
    opname_range
        Ranges of operators to dump.

    Raises
    ------
    ValueError
        If a value has the wrong type.
    """

    _keys: ClassVar[Keys] = LIST_ENTRY

    model_name: str | None = None
    layer: tuple[str, ...] | None = None
    watcher_nodes: tuple[str, ...] | None = None
    optype_blacklist: tuple[BlacklistItem, ...] | None = None
    opname_blacklist: tuple[BlacklistItem, ...] | None = None
    opname_range: tuple[OpnameRange, ...] | None = None

    @property
    def is_void(self) -> bool:
        """Whether the graph engine drops this entry: its model name or its layer is empty."""
        return self.model_name == "" or self.layer == ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpConfig(_Record):
    """The "dump" object of an acl.json. A key that is not set is None.

    The attributes hold what is written; the properties apply the defaults.

    Attributes
    ----------
    dump_path
        Where the files go: a local directory, or ``ip:path``.
    dump_mode
        "input", "output" or "all".
    dump_op_switch
        "on" dumps operators that are run one by one.
    dump_level
        "op" (operators of graphs), "kernel" (kernels of the single-operator API) or "all".
    dump_scene
        "watcher", or one of the exception scenes.
    dump_data
        "tensor" or "stats".
    dump_debug
        "on" dumps operators that overflow.
    dump_kernel_data
        The messages of kernels to keep: "all", "printf", "tensor", "assert", "timestamp".
    dump_step
        Steps to dump, such as ``0|3-5|10``; all steps if it is empty or None.
    dump_stats
        Names of statistics to dump.
    dump_list
        Models and operators to dump.

    Raises
    ------
    ValueError
        If a value has the wrong type, or is not one of those allowed.
    """

    _keys: ClassVar[Keys] = DUMP

    dump_path: str | None = None
    dump_mode: Mode | None = None
    dump_op_switch: Switch | None = None
    dump_level: Level | None = None
    dump_scene: Scene | None = None
    dump_data: Data | None = None
    dump_debug: Switch | None = None
    dump_kernel_data: tuple[KernelData, ...] | None = None
    dump_step: str | None = None
    dump_stats: tuple[Statistic, ...] | None = None
    dump_list: tuple[ListEntry, ...] | None = None

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
        """Whether operators that fail are dumped."""
        return self.dump_scene is not None and not self.is_watcher

    @property
    def is_watcher(self) -> bool:
        """Whether outputs are watched for being overwritten."""
        return self.dump_scene == "watcher"

    @property
    def is_overflow(self) -> bool:
        """Whether operators that overflow are dumped."""
        return self.dump_debug == "on"

    @property
    def is_single_operator(self) -> bool:
        """Whether operators that are run one by one are dumped."""
        return self.dump_op_switch == "on"

    @property
    def is_on(self) -> bool:
        """Whether anything is dumped; messages of kernels do not count."""
        return bool(
            self.dump_list or self.is_single_operator or self.is_overflow or self.dump_scene
        )

    def takes(self, io: str) -> bool:
        """Return whether tensors of a kind are dumped.

        Parameters
        ----------
        io
            The kind: "input", "output", or another one of the column ``io`` of a table.

        Returns
        -------
        bool
            With `mode` "all", tensors of every kind are.
        """
        return self.mode in (io, "all")

    @property
    def entries_in_force(self) -> dict[str | None, ListEntry]:
        """The entries of ``dump_list`` that count, by model name; none if everything is dumped.

        The last entry for a model counts. If an entry has no model name, the last of these counts
        for all models, and is under None.
        """
        last = {entry.model_name: entry for entry in self.dump_list or () if not entry.is_void}
        return {None: last[None]} if None in last else last

    def to_json(self) -> str:
        """Return the text of an acl.json with this configuration.

        Returns
        -------
        str
            JSON that ends in a newline.
        """
        return json_text(self)


def record_of(keys: Keys) -> type[_Record]:
    """Return the record that holds an object with such keys."""
    records: tuple[type[_Record], ...] = (BlacklistItem, OpnameRange, ListEntry, DumpConfig)
    return next(record for record in records if record._keys is keys)


def json_text(dump: object) -> str:
    """Return the text of an acl.json with a "dump" object, a record or a dictionary."""
    text = json.dumps({"dump": dump}, indent=4, ensure_ascii=False, default=_in_json) + "\n"
    # Names may come from a hostile dump, so characters that a terminal acts on become JSON escapes.
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _in_json(record: object) -> dict[str, Any]:
    """Return what `json.dumps` writes for a record: the keys that are set."""
    if not isinstance(record, _Record):
        raise TypeError(f"{type(record).__name__} cannot be written as JSON")
    members = {name: getattr(record, name) for name in record._keys}
    return {
        name: ",".join(value) if isinstance(record._keys[name], Names) else value
        for name, value in members.items()
        if value is not None
    }
