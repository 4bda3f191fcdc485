"""The same dump asked for in another way: through torchair, whose options reach the graph engine.

An acl.json can say more than these options. Where they cannot say what it says, torchair takes the
file itself, as ``dump_config_path``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fastdump.config._dump_path import split_remote
from fastdump.config._dump_step import saturated
from fastdump.config._findings import ConfigError, shown
from fastdump.config._model import DumpConfig, ListEntry

_LAYER = re.compile(r"[0-9a-zA-Z_/\\.\"]+")
_INT32_MAX = 2**31 - 1


def torchair_options(config: DumpConfig) -> dict[str, str | bool]:
    """Return a configuration as attributes of torchair's ``CompilerConfig().dump_config``.

    They take effect in mode max-autotune and dump operators of graphs, below a directory
    ``worldsize{N}_global_rank{R}`` that torchair adds to the path.

    Parameters
    ----------
    config
        A dump of models.

    Returns
    -------
    dict
        By name of the attribute. ``dump_mode`` is always there: torchair's default is another.

    Raises
    ------
    ConfigError
        If these options cannot say what `config` says.
    """
    if reasons := list(_inexpressible(config)):
        raise ConfigError(f"torchair's options cannot say this: {'; '.join(reasons)}")
    options: dict[str, str | bool] = {
        "enable_dump": True,
        "dump_path": config.dump_path or "",
        "dump_mode": config.mode,
        "dump_data": config.data,
    }
    if config.dump_step:
        options["dump_step"] = "|".join(map(_step_item, config.dump_step.split("|")))
    if layer := _entry(config).layer:
        options["dump_layer"] = " ".join(layer)
    return options


def torchair_code(options: dict[str, Any]) -> str:
    """Return lines of Python that set attributes of torchair's ``dump_config``."""
    lines = ["import torchair", "", "config = torchair.CompilerConfig()"]
    lines += [f"config.dump_config.{name} = {value!r}" for name, value in options.items()]
    lines.append("npu_backend = torchair.get_npu_backend(compiler_config=config)")
    return "\n".join(lines) + "\n"


def _entry(config: DumpConfig) -> ListEntry:
    return config.entries_in_force.get(None, ListEntry())


def _step_item(item: str) -> str:
    # This reader refuses a range of one step.
    first, _, last = item.partition("-")
    low, high = saturated(first), saturated(last or first)
    return str(low) if low == high else f"{low}-{high}"


def _inexpressible(config: DumpConfig) -> Iterator[str]:
    if not config.is_on:
        yield "nothing is dumped"
    for is_so, what in (
        (config.is_exception, "exceptions"),
        (config.is_watcher, "a watcher"),
        (config.is_overflow, "overflows"),
        (config.is_single_operator, "operators that are run one by one"),
    ):
        if is_so:
            yield what
    if config.is_exception or config.is_overflow:
        return
    if config.level == "kernel":
        yield "dump_level kernel"
    if config.dump_stats is not None:
        yield "dump_stats"
    if config.dump_kernel_data is not None:
        yield "dump_kernel_data"
    if split_remote(config.dump_path or ""):
        yield "a dump_path on another host"
    for item in (config.dump_step or "").split("|"):
        if item and saturated(item.rpartition("-")[2]) > _INT32_MAX:
            yield f"step {shown(item)}, beyond 32 bits"
    for model, entry in config.entries_in_force.items():
        if model is not None:
            yield f"only model {shown(model)}"
        for name in ("optype_blacklist", "opname_blacklist", "opname_range"):
            if getattr(entry, name):
                yield name
        for name in entry.layer or ():
            if not _LAYER.fullmatch(name):
                yield f"the operator name {shown(name)}"
