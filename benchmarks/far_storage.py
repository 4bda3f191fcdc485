"""A process to which files below a directory are far away: each call for them takes a while."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastdump

CALLS: dict[str, Callable[..., object]] = {
    "stats": fastdump.stats,
    "open": fastdump.open,
    "triage": fastdump.triage,
    "compare": fastdump.compare,
    "convert": fastdump.convert,
}


def build_shim(directory: Path) -> Path:
    """Compile latency_shim.c; raise OSError or CalledProcessError where that fails."""
    shim = directory / "latency_shim.so"
    source = Path(__file__).with_name("latency_shim.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    return shim


def environment(shim: Path, under: Path, latency_us: int) -> dict[str, str]:
    """Return what a process has to be started with."""
    return {
        **os.environ,
        "LD_PRELOAD": str(shim),
        "LATENCY_UNDER": str(under),
        "LATENCY_US": str(latency_us),
    }


class FarProcess:
    """Calls functions of fastdump in a process of its own, which has imported them."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.far_storage"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> FarProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.communicate()

    def call(self, name: str, *arguments: Path, **options: Any) -> int:
        """Call one of CALLS; return the length of what it gave."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({"name": name, "arguments": [*map(str, arguments)], "options": options})
        print(line, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def _serve() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        given = CALLS[asked["name"]](*asked["arguments"], **asked["options"])
        print(len(given) if hasattr(given, "__len__") else 0, flush=True)  # type: ignore[arg-type]


if __name__ == "__main__":
    _serve()
