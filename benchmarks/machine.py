"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

import fastdump
from benchmarks.scale import ALL_THREADS, GIB
from fastdump import _core


def describe_machine(directory: Path) -> dict[str, str]:
    """Return what matters of the machine, and of the file system of `directory`, in words."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    tier = next((name for name, _, active in _core.simd_tiers() if active), "none")
    load, _, _ = os.getloadavg()
    return {
        "CPU": f"{_cpu_model()} ({platform.machine()}), {os.cpu_count()} CPUs, "
        f"{ALL_THREADS} used by fastdump",
        "memory": f"{memory / GIB:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "files": f"{_file_system(directory)}, in the page cache",
        "fastdump": f"{fastdump.__version__}, SIMD tier {tier}",
        "Python": f"{platform.python_version()}, numpy {np.__version__}, "
        f"ml_dtypes {ml_dtypes.__version__}",
        "load": f"{load:.1f} before the first measurement",
    }


def _cpu_model() -> str:
    if sys.platform == "darwin":
        return _output("sysctl", "-n", "machdep.cpu.brand_string").strip()
    # /proc/cpuinfo has no model name on aarch64.
    for line in _output("lscpu").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "Model name":
            return value.strip()
    return platform.processor() or "unknown CPU"


def _file_system(directory: Path) -> str:
    lines = _output("df", "--output=fstype", str(directory)).splitlines()
    return lines[-1].strip() if lines else "unknown file system"


def _output(*command: str) -> str:
    """Return what a program prints; nothing if it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        return ""
