"""The last output where an input lies, against a search among all outputs, one after another."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from fastdump import testing
from fastdump._dump.dump import open as open_dump
from fastdump._watcher.headers import files_with_addresses
from fastdump._watcher.outputs_and_inputs import NONE, HeaderRows, Writes


def write_random(root: Path, seed: int) -> None:
    """Write operators on two devices whose few addresses and sizes meet often."""
    chosen = random.Random(seed)

    def specs() -> list[testing.TensorSpec]:
        return [
            testing.TensorSpec(
                np.zeros(chosen.choice((0, 1, 2, 4)), np.float32),
                address=chosen.choice((0, 0x100, 0x104, 0x108, 2**64 - 8, 2**64 - 4)),
            )
            for _ in range(chosen.randrange(4))
        ]

    for number in range(60):
        directory = root / "20240101000000" / str(chosen.randrange(2)) / "net" / "1" / "0"
        # Some have the same time.
        name = testing.dump_name(
            "Add", f"op{number}", task_id=number, stream_id=1, timestamp=10**15 + number // 2
        )
        testing.write_dump(directory / name, inputs=specs(), outputs=specs())


def headers_of(root: Path) -> HeaderRows:
    scan, _ = files_with_addresses(open_dump(root))
    scan.run()
    return HeaderRows.of(scan.headers())


@pytest.mark.parametrize("seed", range(5))
def test_the_last_output_and_what_is_in_place(tmp_path: Path, seed: int) -> None:
    write_random(tmp_path, seed)
    rows = headers_of(tmp_path)
    writes = Writes(rows)
    address = [int(a) for a in rows.headers.address]
    nbytes = [int(n) for n in rows.nbytes]
    place = [(int(rows.memory[file]), int(rows.order[file])) for file in rows.file.tolist()]

    def key(row: int) -> tuple[int, int, int]:
        return place[row][0], address[row], nbytes[row]

    placed = [row for row in range(len(address)) if address[row] and nbytes[row]]
    inputs = sorted((r for r in placed if rows.is_input[r]), key=lambda r: (place[r], r))
    assert writes.inputs.tolist() == inputs
    for read, last, in_place in zip(
        inputs, writes.last.tolist(), writes.is_in_place().tolist(), strict=True
    ):
        earlier = [
            row
            for row in placed
            if rows.is_output[row] and key(row) == key(read) and place[row] < place[read]
        ]
        assert last == max(earlier, key=lambda row: (place[row], row), default=NONE)
        own = [
            row
            for row in range(len(address))
            if rows.is_output[row] and address[row] and rows.file[row] == rows.file[read]
        ]
        assert in_place == any(
            address[read] < address[row] + nbytes[row]
            and address[row] < address[read] + nbytes[read]
            for row in own
        )


def test_addresses_are_those_of_the_headers(tmp_path: Path) -> None:
    spec = testing.TensorSpec(np.zeros(2, np.float32), address=2**64 - 256)
    name = testing.dump_name("Add", "op", task_id=1, stream_id=1, timestamp=10**15)
    testing.write_dump(tmp_path / name, inputs=[np.zeros(2, np.float32)], outputs=[spec])
    assert headers_of(tmp_path).headers.address.tolist() == [0, 2**64 - 256]
