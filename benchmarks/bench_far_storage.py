"""Files on storage that answers each call after a millisecond, beside many processes of cat."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.dump_files import write_small_files
from benchmarks.far_storage import FarProcess, build_shim, environment
from benchmarks.report import Report, Requirement, Row
from benchmarks.scale import FAR_ROUNDS, N_FAR_FILES
from benchmarks.side_by_side import side_by_side

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not (shutil.which("cc") and shutil.which("xargs")),
    reason="preloads a library, which cc builds, and compares with xargs",
)

_LATENCY_US = 1000
_N_CATS = 64
_FILES_A_CAT = 25


@dataclass(frozen=True)
class FarDumps:
    """Two equal dumps that are far away, and where to put what is made of them."""

    a: Path
    b: Path
    scratch: Path
    environment: dict[str, str]

    def cat(self, *roots: Path) -> None:
        """Read all files with 64 processes at a time."""
        find = subprocess.Popen(["find", *roots, "-type", "f", "-print0"], stdout=subprocess.PIPE)
        subprocess.run(
            ["xargs", "-0", "-n", str(_FILES_A_CAT), "-P", str(_N_CATS), "cat"],
            stdin=find.stdout,
            stdout=subprocess.DEVNULL,
            env=self.environment,
            check=True,
        )
        find.communicate()


@pytest.fixture(scope="module")
def far(directory: Path) -> Iterator[FarDumps]:
    root, scratch = directory / "far", directory / "near"
    try:
        for side in "ab":
            (root / side).mkdir(parents=True)
            write_small_files(root / side, N_FAR_FILES, 4 << 10, n_tensors=2)
        scratch.mkdir()
        shim = build_shim(scratch)
        yield FarDumps(root / "a", root / "b", scratch, environment(shim, root, _LATENCY_US))
    finally:
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.mark.parametrize(
    ("call", "least"), [("stats", 1.0), ("triage", 0.5), ("compare", 0.5), ("convert", 0.5)]
)
def test_far_storage(
    benchmark: BenchmarkFixture, report: Report, far: FarDumps, call: str, least: float
) -> None:
    roots = [far.a, far.b] if call == "compare" else [far.a]
    out = far.scratch / "converted"
    with FarProcess(far.environment) as process:

        def run() -> None:
            shutil.rmtree(out, ignore_errors=True)
            process.call(call, *roots, *([out] if call == "convert" else []))

        timings = side_by_side(
            benchmark, FAR_ROUNDS, ("fastdump", run), {"cat": lambda: far.cat(*roots)}
        )
    shutil.rmtree(out, ignore_errors=True)
    times = timings.quotient("cat", "fastdump")
    files_per_s = len(roots) * N_FAR_FILES / timings.median("fastdump")
    report.add(
        benchmark,
        Row(
            section="far storage",
            what=f"{call}, {len(roots) * N_FAR_FILES:,} files, {files_per_s:,.0f} files/s",
            size="4 KiB each",
            times_peer=times,
            required=[Requirement(f"{least} x peer", round(times, 2) >= least)],
        ),
    )
