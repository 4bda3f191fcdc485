"""The rooms of the C++ sources include what the map in CONTRIBUTING.md allows, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src" / "cpp"
_LINE = re.compile(r"    (core(?:/\w+)?) +\S.*?: ?([a-z ]*)")


def read_map(text: str) -> dict[str, set[str]]:
    """Return the rooms, "core" or "core/scan", with those that they may include."""
    rooms = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            others = {name if name == "kernels" else f"core/{name}" for name in match[2].split()}
            rooms[match[1]] = {match[1], "core", *others}
    return rooms


MAP = read_map((ROOT / "CONTRIBUTING.md").read_text())


def includes(text: str) -> list[str]:
    """Return what a source includes of the project, as it is written."""
    return re.findall(r'^ *# *include *"([^"]+)"', text, re.MULTILINE)


def foreign(sources: dict[str, str], rooms: dict[str, set[str]]) -> list[str]:
    """Return a line for each #include that the map does not allow. Sources are by path."""
    found = []
    for path, text in sources.items():
        room = str(Path(path).parent)
        allowed = rooms[room] if room != "kernels" else {"kernels"}
        found += [
            f"{path} includes {name}"
            for name in includes(text)
            if str(Path(name).parent) not in allowed
        ]
    return found


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    folders = ("core", "kernels")
    paths = [path for folder in folders for path in sorted((SOURCES / folder).rglob("*.[chi]*"))]
    return {str(path.relative_to(SOURCES)): path.read_text() for path in paths}


def test_the_map_has_every_room(sources: dict[str, str]) -> None:
    rooms = {str(Path(path).parent) for path in sources} - {"kernels"}
    assert rooms == set(MAP)


def test_rooms_include_what_the_map_allows(sources: dict[str, str]) -> None:
    assert len(sources) > 100
    assert foreign(sources, MAP) == []


def test_the_map_allows_nothing_that_is_not_used(sources: dict[str, str]) -> None:
    used = {
        (str(Path(path).parent), str(Path(name).parent))
        for path, text in sources.items()
        for name in includes(text)
    }
    allowed = {(room, other) for room, others in MAP.items() for other in others - {room, "core"}}
    assert allowed - used == set()


def test_the_map_has_no_circle() -> None:
    left = {room: others - {room} for room, others in MAP.items()}
    while left:
        free = [room for room, others in left.items() if not others & left.keys()]
        assert free, f"a circle among {sorted(left)}"
        for room in free:
            del left[room]


def test_a_foreign_include_is_found() -> None:
    rooms = read_map("    core   words :\n    core/io  files :\n    core/scan  a scan : io")
    sources = {
        "core/scan/a.cpp": '#include "core/io/file.hpp"\n#include "core/errors.hpp"\n',
        "core/io/b.cpp": '#include "core/scan/a.hpp"\n',
        "core/c.hpp": '  # include "kernels/element.hpp"\n',
        "kernels/d.inl": '#include "core/errors.hpp"\n',
    }
    assert foreign(sources, rooms) == [
        "core/io/b.cpp includes core/scan/a.hpp",
        "core/c.hpp includes kernels/element.hpp",
        "kernels/d.inl includes core/errors.hpp",
    ]
