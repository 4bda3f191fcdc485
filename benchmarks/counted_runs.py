"""Counts the instructions of each run of tests/native/counted_runs.cpp: by valgrind, by qemu."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

# No settings of fastdump's; and a function of a library must not cost more on its first call.
_ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("FASTDUMP_")},
    "LD_BIND_NOW": "1",
}
_QEMU = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
# A quarter of a block: qemu's log of whole ones is too long.
_QEMU_DIVISOR = "4"
# One number is converted (as it is not by FCVTL, or with operands that are vectors); one lane of a
# vector is written or read.
_SCALAR = re.compile(
    rb"\s(?:(?:fcvt|[su]cvtf)\w*\s+[hsdwx]\d|(?:ins|[su]mov)\s|mov\s.*v\d+\.[bhsd]\[)"
)


@dataclass(frozen=True)
class CountedRun:
    """What ran, on how many elements, pairs, tensors or files, and what it took.

    `nbytes` is 0 if nobody counts those. `others` is what else was counted: "system calls" by
    valgrind; by qemu "scalar", which are instructions that convert one number to or from a floating
    type, or move one lane of a vector.
    """

    name: str
    n: int
    nbytes: int
    instructions: int
    others: Mapping[str, int] = field(default_factory=dict)


def count_with_callgrind(program: Path) -> tuple[str, list[CountedRun]]:
    """Return the compiler of the program, "GCC 12.2.0", and all runs of it.

    Valgrind knows no AVX-512: that tier does not run in it.
    """
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "profile"
        command = [
            *("valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={profile}"),
            *("--zero-before=begin_count", "--dump-before=end_count"),
            "--collect-systime=yes",
            *(str(program), "1", "files"),
        ]
        done = subprocess.run(command, env=_ENVIRONMENT, stdout=subprocess.PIPE, check=True)
        compiler, *lines = done.stdout.decode().splitlines()
        # Dump i is of run i, from 1.
        counts = [_counts_in_profile(Path(f"{profile}.{i + 1}")) for i in range(len(lines))]
    return compiler, [_run(line, *count) for line, count in zip(lines, counts, strict=True)]


def count_with_qemu(program: Path) -> tuple[str, list[CountedRun]]:
    """Return the compiler of the program, which is for aarch64, and its runs of kernels."""
    command = [*_QEMU, "-d", "in_asm,exec,nochain", str(program), _QEMU_DIVISOR]
    with tempfile.TemporaryFile() as output:
        qemu = subprocess.Popen(command, env=_ENVIRONMENT, stdout=output, stderr=subprocess.PIPE)
        with qemu:
            assert qemu.stderr is not None
            counts = list(_counts_in_log(qemu.stderr))
        if qemu.returncode != 0:
            raise subprocess.CalledProcessError(qemu.returncode, command)
        output.seek(0)
        compiler, *lines = output.read().decode().splitlines()
    return compiler, [_run(line, *count) for line, count in zip(lines, counts, strict=True)]


def _run(line: str, instructions: int, others: Mapping[str, int]) -> CountedRun:
    name, n, nbytes = line.split("\t")
    return CountedRun(name, int(n), int(nbytes), instructions, others)


def _counts_in_profile(profile: Path) -> tuple[int, dict[str, int]]:
    text = profile.read_text()
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    totals = re.search(r"^totals: (.*)$", text, re.MULTILINE)
    if events is None or totals is None:
        raise ValueError(f"{profile} is no profile of callgrind")
    # Zeros at the end are left out.
    numbers = zip_longest(events[1].split(), map(int, totals[1].split()), fillvalue=0)
    counts = dict(numbers)
    return counts["Ir"], {"system calls": counts["sysCount"]}


def _counts_in_log(log: Iterator[bytes]) -> Iterator[tuple[int, dict[str, int]]]:
    """Yield all instructions of each run, and the scalar ones.

    qemu translates code in pieces that end where a branch may be taken. It logs the instructions
    of a piece when it translates one, and its address each time that it enters one.
    """
    pieces: dict[int, tuple[int, int]] = {}
    piece: list[bytes] = []
    entered: Counter[bytes] | None = None  # None: outside of runs
    for line in log:
        if line.startswith(b"0x"):  # ADDRESS:  CODE  MNEMONIC OPERANDS
            piece.append(line)
        elif line.startswith(b"Trace "):  # ... [BASE/ADDRESS/FLAGS/FLAGS] SYMBOL
            if piece:
                scalar = sum(_SCALAR.search(code) is not None for code in piece)
                pieces[int(piece[0].split(b":", 1)[0], 16)] = (len(piece), scalar)
                piece = []
            if line.endswith(b" begin_count\n"):
                entered = Counter()
            elif line.endswith(b" end_count\n"):
                assert entered is not None
                instructions = scalar = 0
                for address, n in entered.items():
                    in_piece = pieces[int(address, 16)]
                    instructions += n * in_piece[0]
                    scalar += n * in_piece[1]
                yield instructions, {"scalar": scalar}
                entered = None
            elif entered is not None:
                entered[line.split(b"/", 2)[1]] += 1
