"""Runs the fuzzers of build/fuzz in turn, and says what each has done: ``make fuzz``.

A corpus grows in build/fuzz/corpus from run to run. What a fuzzer finds is kept in
build/fuzz/findings, and ``build/fuzz/tests/fuzz/replay_TARGET FILE`` runs it again.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

_BUILD = Path("build/fuzz")
_PROGRAMS = _BUILD / "tests/fuzz"
_DICTIONARIES = Path(__file__).parent / "dictionaries"

# Whole scans, layouts and blocks of elements reach what they can with little; parsers of small
# inputs see more of them in the same time.
_MAX_NBYTES = 4096
# A header may be said to have 64 MiB, where the file is long enough.
_MALLOC_LIMIT_MB = 80
_RSS_LIMIT_MB = 1024
_TIMEOUT_S = 20


@dataclass(frozen=True)
class Outcome:
    target: str
    code: int
    executions: int
    features: int
    output: str


def targets() -> list[str]:
    return sorted(path.name.removeprefix("fuzz_") for path in _PROGRAMS.glob("fuzz_*"))


def fuzz(target: str, seconds: int) -> Outcome:
    corpus = _BUILD / "corpus" / target
    findings = _BUILD / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    seeds = _BUILD / "seeds" / target
    subprocess.run([_PROGRAMS / f"replay_{target}", "--write", seeds], check=True)
    corpus.mkdir(parents=True, exist_ok=True)
    dictionary = _DICTIONARIES / f"{target}.dict"
    command = [
        _PROGRAMS / f"fuzz_{target}",
        f"-max_total_time={seconds}",
        f"-max_len={_MAX_NBYTES}",
        f"-timeout={_TIMEOUT_S}",
        f"-rss_limit_mb={_RSS_LIMIT_MB}",
        f"-malloc_limit_mb={_MALLOC_LIMIT_MB}",
        f"-artifact_prefix={findings}/{target}-",
        "-print_final_stats=1",
        *([f"-dict={dictionary}"] if dictionary.exists() else []),
        corpus,
        seeds,
    ]
    options = {"ASAN_OPTIONS": "quarantine_size_mb=32:detect_leaks=1"}
    ended = subprocess.run(
        command,
        env=os.environ | options,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    output = ended.stdout.decode(errors="replace")
    return Outcome(
        target,
        ended.returncode,
        _last(r"stat::number_of_executed_units: (\d+)", output),
        _last(r" ft: (\d+)", output),
        output,
    )


def _last(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--minutes", type=float, default=2, help="of all targets together")
    parser.add_argument("--jobs", type=int, default=1, help="fuzzers at a time")
    parser.add_argument("target", nargs="*", help="all, unless some are named")
    options = parser.parse_args(arguments)
    chosen = options.target or targets()
    if unknown := set(chosen) - set(targets()):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {targets()}")
    seconds = max(1, int(options.minutes * 60 * options.jobs / len(chosen)))
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda target: fuzz(target, seconds), chosen):
            print(
                f"{outcome.target:16} {outcome.executions:>10} executions "
                f"{outcome.features:>7} features  {'ok' if outcome.code == 0 else 'FINDING'}",
                flush=True,
            )
            if outcome.code != 0:
                failed += 1
                print(outcome.output[-6000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
