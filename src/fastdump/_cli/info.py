"""``fastdump info``: facts about this installation, for reports of problems."""

from __future__ import annotations

import os
import platform
from importlib import metadata

import click
from rich.text import Text

from fastdump import __version__, _core
from fastdump._cli import exit_codes
from fastdump._cli.console import stdout_console
from fastdump._cli.json_document import print_json
from fastdump._cli.options import json_option
from fastdump._cli.usage import refusing
from fastdump._words.printable import printable
from fastdump._words.styles import SUBTLE

_DEPENDENCIES = ("numpy", "ml_dtypes", "arro3-core", "arro3-io", "click", "rich")


@click.command("info")
@json_option
def command(as_json: bool) -> int:
    """Show versions, the instruction sets that this build and this CPU have, and threads.

    FASTDUMP_SIMD forces an instruction set by name, FASTDUMP_THREADS the number of threads.

    \b
    Examples:
      fastdump info
      FASTDUMP_SIMD=avx2 fastdump info --json
    """  # noqa: D301 (\b is for click: do not wrap)
    with refusing():
        tiers = _core.simd_tiers()
        threads = _core.default_threads()
    # An empty variable counts as not set.
    forced_tier = os.environ.get("FASTDUMP_SIMD") or None
    forced_threads = os.environ.get("FASTDUMP_THREADS") or None
    versions = {name: _version(name) for name in _DEPENDENCIES}
    if as_json:
        print_json(
            {
                "simd": {
                    "forced": forced_tier,
                    "tiers": [
                        {"name": name, "usable": usable, "active": active}
                        for name, usable, active in tiers
                    ],
                },
                "threads": {"default": threads, "forced": forced_threads},
                "python": platform.python_version(),
                "platform": platform.platform(),
                "packages": versions,
            }
        )
        return exit_codes.SUCCESS
    simd = ", ".join(_tier_text(*tier) for tier in tiers)
    facts = {
        "fastdump": __version__,
        "simd": f"{simd} (FASTDUMP_SIMD={forced_tier})" if forced_tier else simd,
        "threads": f"{threads} "
        + (f"(FASTDUMP_THREADS={forced_threads})" if forced_threads else "(usable CPUs)"),
        "python": f"{platform.python_version()} on {platform.platform()}",
        **{name: version or "not installed" for name, version in versions.items()},
    }
    console = stdout_console()
    for name, fact in facts.items():
        console.print(Text.assemble((f"{name:<11}", SUBTLE), printable(fact)))
    return exit_codes.SUCCESS


def _tier_text(name: str, usable: bool, active: bool) -> str:
    if active:
        return f"{name} (active)"
    return name if usable else f"{name} (not on this CPU)"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
