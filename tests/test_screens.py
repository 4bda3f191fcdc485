"""The screens in docs/screens are what the commands show; ``make screens`` writes them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from screens import ALL_SCREENS, SCREENS, Screen, write_samples
from terminal import TMUX

_TIMING = re.compile(r"\b[\d.,]+ (?:us|ms|s|min)\b|[\d.,]+ [kMGT]?B/s")
# The last digits depend on the CPU that wrote the sample dump.
_DECIMAL = re.compile(r"\d[\d,]*\.\d+(?:e[+-]?\d+)?")


def comparable(screen: str) -> list[str]:
    """Return the lines without what differs from run to run, and without their layout."""
    lines = (_DECIMAL.sub("DECIMAL", _TIMING.sub("TIMING", line)) for line in screen.splitlines())
    return [" ".join(line.split()) for line in lines]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("screens")
    write_samples(directory)
    return directory


@pytest.mark.skipif(not TMUX or not shutil.which("less"), reason="tmux or less is not installed")
@pytest.mark.parametrize("screen", ALL_SCREENS, ids=lambda screen: screen.file.stem)
def test_a_screen_is_what_its_command_shows(screen: Screen, samples: Path) -> None:
    shown = screen.file.read_text("utf-8")
    assert comparable(screen.text(samples)) == comparable(shown)


@pytest.mark.parametrize("screen", ALL_SCREENS, ids=lambda screen: screen.file.stem)
def test_a_screen_fits_its_terminal(screen: Screen) -> None:
    lines = screen.file.read_text("utf-8").splitlines()
    assert len(lines) <= screen.height
    assert not any("Traceback" in line or line.startswith("fastdump: error") for line in lines)


def test_every_file_is_a_screen() -> None:
    assert set(SCREENS.iterdir()) == {screen.file for screen in ALL_SCREENS}
