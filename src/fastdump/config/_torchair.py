"""A configuration as options of torchair, which hands them to the graph engine.

The options cannot express everything that an acl.json can. Where they cannot, torchair takes the
file itself, as ``dump_config_path``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fastdump._words.quantities import ranges_text
from fastdump.config._dump_path import split_remote
from fastdump.config._dump_step import step_spans
from fastdump.config._findings import ConfigError
from fastdump.config._keys import BLACKLISTS
from fastdump.config._model import DumpConfig, ListEntry
from fastdump.config._wording import listed, quoted

_LAYER = re.compile(r"[0-9a-zA-Z_/\\.\"]+")
_INT32_MAX = 2**31 - 1


def torchair_options(config: DumpConfig) -> dict[str, str | bool]:
    """Return a configuration as attributes of torchair's ``CompilerConfig().dump_config``.

    The attributes take effect in mode max-autotune. They dump operators of graphs, in a directory
    ``worldsize{N}_global_rank{R}`` that torchair adds to the path.

    Parameters
    ----------
    config
        A configuration that dumps models.

    Returns
    -------
    dict
        Values by name of the attribute. ``dump_mode`` is always among them, because torchair's
        default is different.

    Raises
    ------
    ConfigError
        If torchair's options cannot express the configuration.
    """
    if reasons := list(_inexpressible(config)):
        raise ConfigError(f"torchair's options cannot express this: {'; '.join(reasons)}")
    options: dict[str, str | bool] = {
        "enable_dump": True,
        "dump_path": config.dump_path or "",
        "dump_mode": config.mode,
        "dump_data": config.data,
    }
    if config.dump_step:
        # A range of one step is written as a number: torchair's reader refuses it as a range.
        options["dump_step"] = ranges_text(step_spans(config.dump_step), "|")
    if layer := config.entries_in_force.get(None, ListEntry()).layer:
        options["dump_layer"] = " ".join(layer)
    return options


def torchair_code(options: dict[str, Any]) -> str:
    """Return Python that sets attributes of torchair's ``dump_config``.

    Parameters
    ----------
    options
        Values by name of the attribute, as from `torchair_options`.

    Returns
    -------
    str
        Lines of Python, ending in a newline.
    """
    lines = ["import torchair", "", "config = torchair.CompilerConfig()"]
    lines += [f"config.dump_config.{name} = {value!r}" for name, value in options.items()]
    lines.append("npu_backend = torchair.get_npu_backend(compiler_config=config)")
    return "\n".join(lines) + "\n"


def _inexpressible(config: DumpConfig) -> Iterator[str]:
    if not config.is_on:
        yield "nothing is dumped"
    kinds = {
        "exceptions": config.is_exception,
        "a watcher": config.is_watcher,
        "overflows": config.is_overflow,
        "operators that are run one by one": config.is_single_operator,
    }
    yield from (kind for kind, is_dumped in kinds.items() if is_dumped)
    if config.is_exception or config.is_overflow:
        return
    if config.level == "kernel":
        yield "dump_level kernel"
    for name in ("dump_stats", "dump_kernel_data"):
        if getattr(config, name) is not None:
            yield name
    if split_remote(config.dump_path or ""):
        yield "a dump_path on another host"
    for first, last in step_spans(config.dump_step):
        if last > _INT32_MAX:
            yield f"step {ranges_text([(first, last)])}, beyond 32 bits"
    for model, entry in config.entries_in_force.items():
        if model is not None:
            yield f"only model {quoted(model)}"
        for name in (*BLACKLISTS, "opname_range"):
            if getattr(entry, name):
                yield name
        strange = [quoted(name) for name in entry.layer or () if not _LAYER.fullmatch(name)]
        if strange:
            yield f"the operator name{'' if len(strange) == 1 else 's'} {listed(strange)}"
