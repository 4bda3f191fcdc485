"""How many reads may be under way: what a caller says reaches whatever reads files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fastdump
from fastdump import _core, demo
from fastdump._cli import main

DEPTH = 7


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    roots = [tmp_path_factory.mktemp(name) for name in "ab"]
    for root in roots:
        demo.write_overflow_demo(root)
    return roots


@pytest.fixture
def depths(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """Return a list of the depths of all passes over files, to be filled."""
    found: list[int | None] = []
    for name in ("Scan", "Comparison"):
        monkeypatch.setattr(_core, name, recording(getattr(_core, name), found))
    return found


def recording(make: Callable[..., Any], depths: list[int | None]) -> Callable[..., Any]:
    def made(*arguments: Any, **options: Any) -> Any:
        depths.append(options["io_depth"])
        return make(*arguments, **options)

    return made


CALLS: dict[str, Callable[..., object]] = {
    "stats": lambda a, _, **depth: fastdump.stats(a, **depth),
    "Dump.stats": lambda a, _, **depth: fastdump.open(a).stats(**depth),
    "triage": lambda a, _, **depth: fastdump.triage(a, **depth),
    "compare": lambda a, b, **depth: fastdump.compare(a, b, **depth),
    "overflow": lambda a, _, **depth: fastdump.overflow(a, **depth),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_depth_reaches_all_reading(
    call: str, dumps: list[Path], depths: list[int | None]
) -> None:
    CALLS[call](*dumps, io_depth=DEPTH)
    assert set(depths) == {DEPTH}


@pytest.mark.parametrize("call", CALLS)
def test_a_depth_is_a_positive_integer(call: str, dumps: list[Path]) -> None:
    with pytest.raises(ValueError, match="io_depth is 0, expected a number of reads"):
        CALLS[call](*dumps, io_depth=0)
    with pytest.raises(TypeError):
        CALLS[call](*dumps, io_depth=1.5)


@pytest.mark.parametrize("command", ["stats", "triage", "compare", "overflow", "ls"])
def test_commands_take_a_depth(
    command: str, dumps: list[Path], depths: list[int | None], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = dumps if command == "compare" else dumps[:1]
    main([command, *map(str, paths), "--io-depth", str(DEPTH)])
    capsys.readouterr()
    assert set(depths) == {DEPTH}


def test_the_look_for_what_is_new_takes_a_depth(dumps: list[Path]) -> None:
    table = fastdump.stats(dumps[0])
    again = fastdump.stats(dumps[0], since=table, io_depth=DEPTH, threads=2)
    assert len(again) == len(table)
    with pytest.raises(ValueError, match="io_depth is 0"):
        fastdump.stats(dumps[0], since=table, io_depth=0)
