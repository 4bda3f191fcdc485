"""`fastdump info`."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import metadata
from typing import Any

import numpy as np
import pytest

import fastdump
from fastdump import _core


def info(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own: the instruction set is chosen once."""
    return subprocess.run(
        [sys.executable, "-m", "fastdump", "info", *options],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        check=False,
    )


def document_of(process: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert process.returncode == 0, process.stderr
    document: dict[str, Any] = json.loads(process.stdout)
    return document


def test_versions_are_those_that_are_loaded() -> None:
    document = document_of(info("--json"))
    assert document["fastdump"] == fastdump.__version__
    assert document["python"] == ".".join(map(str, sys.version_info[:3]))
    assert document["packages"]["numpy"] == np.__version__
    assert document["packages"]["arro3-core"] == metadata.version("arro3-core")


def test_a_forced_tier_is_the_active_one() -> None:
    usable = [name for name, usable, _ in _core.simd_tiers() if usable]
    for name in usable:
        simd = document_of(info("--json", FASTDUMP_SIMD=name))["simd"]
        assert simd["forced"] == name
        assert [tier["name"] for tier in simd["tiers"] if tier["active"]] == [name]
        assert [tier["name"] for tier in simd["tiers"] if tier["usable"]] == usable


@pytest.mark.skipif(
    platform.machine() not in ("aarch64", "arm64"), reason="x86-64 has tiers to choose from"
)
def test_arm_has_one_tier() -> None:
    assert _core.simd_tiers() == [("neon", True, True)]


def test_forced_threads_are_the_default() -> None:
    assert document_of(info("--json", FASTDUMP_THREADS="3"))["threads"] == {
        "default": 3,
        "forced": "3",
    }
    threads = document_of(info("--json", FASTDUMP_THREADS=""))["threads"]
    assert threads == {"default": _usable_cpus(), "forced": None}


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def test_it_is_printed_for_people() -> None:
    tier = [name for name, usable, _ in _core.simd_tiers() if usable][-1]
    process = info(FASTDUMP_THREADS="3", FASTDUMP_SIMD=tier)
    lines = process.stdout.splitlines()
    assert lines[0].split() == ["fastdump", fastdump.__version__]
    assert f"{tier} (active)" in lines[1]
    assert f"FASTDUMP_SIMD={tier}" in lines[1]
    assert lines[2].split() == ["threads", "3", "(FASTDUMP_THREADS=3)"]


def test_a_setting_that_cannot_be_is_an_error() -> None:
    for environment in ({"FASTDUMP_SIMD": "mmx"}, {"FASTDUMP_THREADS": "many"}):
        process = info(**environment)
        assert process.returncode == 2
        assert process.stdout == ""
        (line,) = process.stderr.splitlines()
        assert line.startswith("fastdump: error: ")
        ((name, value),) = environment.items()
        assert name in line
        assert value in line
