"""Directories in which dump files lie, as the vendor's frameworks make them."""

from __future__ import annotations

import os
from pathlib import Path

from fastdump.testing._names import replaced


def model_dump_dir(
    root: str | os.PathLike[str], *, time: str, device: int, model: str, model_id: int, step: int
) -> Path:
    """Return the directory of one step of a model.

    ``{root}/{time}/{device}/{model}/{model_id}/{step}``.

    Parameters
    ----------
    root : path
        The configured dump path, or a `rank_dir` in it.
    time : str
        When the dump began, ``YYYYMMDDHHMMSS``.
    device, model_id, step : int
        As they appear in the path; the step is what the vendor calls the data index.
    model : str
        Blanks, dots, slashes and backslashes become underscores.
    """
    return Path(root, time, str(device), replaced(model), str(model_id), str(step))


def single_op_dump_dir(root: str | os.PathLike[str], *, time: str, device: int) -> Path:
    """Return the directory of a single-operator dump, ``{root}/{time}/{device}``."""
    return Path(root, time, str(device))


def rank_dir(root: str | os.PathLike[str], *, world_size: int, rank: int) -> Path:
    """Return the directory in which torchair's graph mode keeps the dump of one rank."""
    return Path(root, f"worldsize{world_size}_global_rank{rank}")


def exception_dump_dir(root: str | os.PathLike[str], *, device: int) -> Path:
    """Return the directory of exception dumps, ``{root}/extra-info/data-dump/{device}``."""
    return Path(root, "extra-info", "data-dump", str(device))


def mindspore_dump_dir(
    root: str | os.PathLike[str], *, rank: int, net: str, graph_id: int, iteration: int
) -> Path:
    """Return MindSpore's own directory, ``{root}/rank_{rank}/{net}/{graph_id}/{iteration}``."""
    return Path(root, f"rank_{rank}", net, str(graph_id), str(iteration))


def mindspore_acl_dump_dir(
    root: str | os.PathLike[str],
    *,
    step: int,
    time: str,
    device: int,
    model: str,
    model_id: int,
    iteration: int,
) -> Path:
    """Return the directory of a dump that MindSpore leaves to ACL (jit level O2).

    ``{root}/{step}/{time}/{device}/{model}/{model_id}/{iteration}``: a `model_dump_dir` below the
    number of a step.
    """
    return model_dump_dir(
        Path(root, str(step)),
        time=time,
        device=device,
        model=model,
        model_id=model_id,
        step=iteration,
    )
