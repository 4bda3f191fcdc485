"""`build` writes an acl.json: it turns keyword arguments into a text that passes the check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fastdump.config._check import check_text
from fastdump.config._dump_step import step_text
from fastdump.config._findings import ConfigError
from fastdump.config._model import ListEntry, json_text


def build(
    *,
    dump_path: str | None = None,
    dump_list: Sequence[ListEntry] | None = None,
    dump_mode: str | None = None,
    dump_level: str | None = None,
    dump_op_switch: str | None = None,
    dump_step: str | Iterable[int] | None = None,
    dump_data: str | None = None,
    dump_stats: Sequence[str] | None = None,
    dump_debug: str | None = None,
    dump_scene: str | None = None,
    dump_kernel_data: Sequence[str] | None = None,
) -> str:
    """Return the text of an acl.json that the vendor's code accepts.

    Parameters
    ----------
    dump_path, dump_mode, dump_level, dump_op_switch, dump_data, dump_debug, dump_scene
        The keys of the "dump" object. A key that is None is not written.
    dump_list
        The entries; ``[ListEntry()]`` selects all operators of all models.
    dump_step
        The steps as acl.json has them, ``0|3-5|10``, or as numbers.
    dump_stats, dump_kernel_data
        The names of statistics, and of messages of kernels.

    Returns
    -------
    str
        JSON that ends in a newline.

    Raises
    ------
    ConfigError
        If the vendor's code would refuse the text. Whether dump_path exists is not checked.

    Examples
    --------
    >>> from fastdump import config
    >>> print(config.build(dump_path="/data/dump", dump_debug="on"), end="")
    {
        "dump": {
            "dump_path": "/data/dump",
            "dump_debug": "on"
        }
    }
    """
    keys = {
        "dump_path": dump_path,
        "dump_list": None if dump_list is None else list(dump_list),
        "dump_mode": dump_mode,
        "dump_level": dump_level,
        "dump_op_switch": dump_op_switch,
        "dump_step": step_text(dump_step),
        "dump_data": dump_data,
        "dump_stats": None if dump_stats is None else list(dump_stats),
        "dump_debug": dump_debug,
        "dump_scene": dump_scene,
        "dump_kernel_data": None if dump_kernel_data is None else ",".join(dump_kernel_data),
    }
    text = json_text({name: value for name, value in keys.items() if value is not None})
    report = check_text(text)
    if report.errors:
        problems = "; ".join(
            f"{error.place.path or 'the text'}: {error.message}" for error in report.errors
        )
        raise ConfigError(problems, report.errors)
    return text
