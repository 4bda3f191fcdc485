"""`fastdump demo`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fastdump._cli import demo as demo_command
from fastdump._cli import main
from fastdump.demo import write_demo


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("demo") / "the dump"
    assert main(["demo", str(directory)]) == 0
    return directory


def test_what_it_says_was_planted_is_what_stats_and_ls_find(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "the dump"
    assert main(["demo", str(directory)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert f"fastdump stats '{directory}'" in out
    planted = dict(line.strip().split(maxsplit=1) for line in out.splitlines()[1:4])

    # The demo has a file that is truncated.
    assert main(["stats", str(directory), "--json", "--rows", "1"]) == 3
    (worst,) = json.loads(capsys.readouterr().out)["rows"]
    assert worst["io"] == "output"
    assert worst["pos_inf"] > 0
    assert planted["overflow"].startswith(
        f"rank {worst['rank']}, step {worst['step']}: {worst['op_type']} {worst['op_name']}, "
    )

    assert main(["ls", str(directory), "--json"]) == 3
    listed = json.loads(capsys.readouterr().out)
    assert {row["path"] for row in listed["odd"]["truncated"]["examples"]} == {planted["truncated"]}
    assert out.startswith(f"{listed['files']:,} files, ")


def test_the_seed_decides_the_bytes(demo: Path, tmp_path: Path) -> None:
    assert main(["demo", str(tmp_path / "same"), "--seed", "0"]) == 0
    assert main(["demo", str(tmp_path / "other"), "--seed", "1"]) == 0
    assert files_of(tmp_path / "same") == files_of(demo)
    assert files_of(tmp_path / "other") != files_of(demo)


def test_files_asks_for_more_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", str(tmp_path), "--files", "950", "--size", "1MB"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    n_files = int(first.split()[0].replace(",", ""))
    assert abs(n_files - 950) < 240
    assert "4 steps" in first


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_what_is_not_whole_leaves_nothing(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """Neither in a new directory, nor beside what was there, which stays."""
    new, empty, old = tmp_path / "a" / "new", tmp_path / "empty", tmp_path / "old"
    empty.mkdir()
    shutil.copytree(demo, old)
    (old / ".fastdump-0123").mkdir()  # of one that was killed
    before = files_of(old)

    def written(*arguments: object, **more: object) -> None:
        write_demo(*arguments, **more)  # type: ignore[arg-type]
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(demo_command, "write_demo", written)
        for directory in (new, empty, old):
            assert main(["demo", str(directory), "--force"]) in (2, 130)
    assert not new.exists()
    assert list(empty.iterdir()) == []
    assert files_of(old) == before
    assert main(["demo", str(old), "--force", "--seed", "1"]) == 0
    assert {path.name for path in old.iterdir()} == {path.name for path in demo.iterdir()}
    assert files_of(old) != before


def test_a_directory_that_holds_something_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    for options in ([], ["--force"]):
        assert main(["demo", str(tmp_path), *options]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("fastdump: error: ")
    assert files_of(tmp_path) == {"precious.txt": b"mine"}


def test_force_replaces_an_earlier_demo_and_nothing_else(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = tmp_path / "demo"
    assert main(["demo", str(directory), "--seed", "5"]) == 0
    assert main(["demo", str(directory)]) == 2
    assert main(["demo", str(directory), "--force"]) == 0
    assert files_of(directory) == files_of(demo)

    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "worldsize2_global_rank0").symlink_to(outside)
    capsys.readouterr()
    assert main(["demo", str(linked), "--force"]) == 2
    assert "is not part of a demo dump" in capsys.readouterr().err
    assert files_of(outside) == {"file": b"mine"}


@pytest.mark.parametrize("size", ["huge", "-1", "0"])
def test_a_size_that_is_none_is_an_error(
    tmp_path: Path, size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", str(tmp_path / "d"), f"--size={size}"]) == 2
    assert capsys.readouterr().err.startswith("fastdump: error: size must be ")
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("model.layers.1.mlp.act_fn/Swash", "model.layers.1.mlp.act_fn/Swish"),
        ("ArgMax", "next_token/ArgMax"),
        ("AgrMax", "next_token/ArgMax"),
        ("\x1b[2J", None),
    ],
)
def test_an_operator_that_the_model_lacks_is_an_error_before_anything_is_written(
    demo: Path, tmp_path: Path, name: str, near: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", str(tmp_path / "new"), "--wrong", name]) == 2
    err = capsys.readouterr().err
    assert err.startswith("fastdump: error: no operator of the demo model is called ")
    assert "\x1b" not in err
    assert (f"near it are '{near}'" in err) if near is not None else ("near" not in err)
    assert not (tmp_path / "new").exists()
    earlier = shutil.copytree(demo, tmp_path / "earlier")
    assert main(["demo", str(earlier), "--force", "--wrong", name]) == 2
    assert files_of(earlier) == files_of(demo)


@pytest.mark.parametrize("kind", ["overflow", "watcher"])
def test_other_kinds(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--force"]):
        assert main(["demo", str(tmp_path / "d"), "--kind", kind, *options]) == 0
        assert f"fastdump {kind} " in capsys.readouterr().out
    assert main([kind, str(tmp_path / "d")]) == 1
    # A dump of all tensors comes in its place.
    assert main(["demo", str(tmp_path / "d"), "--force"]) == 0
    capsys.readouterr()
    assert main(["demo", str(tmp_path / "e"), "--kind", kind, "--size", "1GB"]) == 2
    assert "--size, --files and --wrong are for --kind model" in capsys.readouterr().err


def test_what_to_type_if_the_directory_is_not_empty(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", str(demo)]) == 2
    assert f"{demo} is not empty: --force replaces the demo dump in it" in capsys.readouterr().err
    (tmp_path / "thesis.txt").touch()
    assert main(["demo", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "thesis.txt is not part of a demo dump: name an empty directory" in err
    assert "--force" not in err
