"""Digests of tensors, which a scan of headers may tell, against their bytes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from conversions import INT, X, write

import fastdump
from fastdump._dump.dump import chosen
from fastdump._scan import Headers, TableScan

LARGE = np.zeros(1 << 14, np.uint8)


def headers_of(root: Path) -> Headers:
    scan, _ = chosen(fastdump.open(root)).header_scan({"operator"})
    scan.run()
    return scan.headers()


def test_rows_are_known_to_be_equal_if_their_bytes_are(tmp_path: Path) -> None:
    zeros = [np.zeros(n, np.uint8) for n in (27, 28, 29)]
    flipped = X.copy()
    flipped.view(np.uint8)[-1, -1] ^= 1
    write(tmp_path, "a", inputs=[X, INT, *zeros], outputs=[flipped], buffers=[bytes(X)])
    write(tmp_path, "b", inputs=[X.reshape(-1), zeros[1]], outputs=[-X, np.float32(0)])
    headers = headers_of(tmp_path)
    dump = fastdump.open(tmp_path)
    contents = [np.asarray(t).tobytes() for op in dump for t in chosen(dump).tensors(op)]
    assert len(contents) == len(headers.table)
    pairs = list(itertools.product(range(len(contents)), repeat=2))
    one, other = np.array(pairs).T
    expected = [contents[a] == contents[b] for a, b in pairs]
    assert headers.are_known_to_be_equal(one, other).tolist() == expected
    assert len(contents) < sum(expected) < len(pairs)


def test_what_was_not_read_whole_is_not_known(tmp_path: Path) -> None:
    """Nothing is known of tensors in large files and of those that are not whole."""
    write(tmp_path, "large", inputs=[X, LARGE])
    cut = write(tmp_path, "cut", inputs=[X, INT])
    cut.write_bytes(cut.read_bytes()[:-1])
    write(tmp_path, "whole", inputs=[X])
    headers = headers_of(tmp_path)
    rows = np.arange(len(headers.table))
    known = headers.are_known_to_be_equal(rows, rows)
    names = [(row.op_name, row.index) for row in headers.table]
    assert {name for name, is_known in zip(names, known, strict=True) if is_known} == {
        ("cut", 0),
        ("whole", 0),
    }
    assert len(names) == 5


def test_scans_that_were_not_asked_know_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a", inputs=[X])
    scan = chosen(fastdump.open(tmp_path)).scan(level="header")
    scan.run()
    headers = scan.headers()
    assert headers.digest is None
    assert not headers.are_known_to_be_equal(np.zeros(1, int), np.zeros(1, int)).any()


def test_digests_are_of_headers_only(tmp_path: Path) -> None:
    write(tmp_path, "a", inputs=[X])
    files = chosen(fastdump.open(tmp_path)).files
    everything = (files.index, np.arange(1, dtype=np.uint32))
    with pytest.raises(ValueError, match="level header only"):
        TableScan(files.paths, fastdump.Selection(), files=everything, level="basic", digests=True)
