"""The screens of docs/screens: what every command shows on terminals of two sizes.

``make screens`` runs the commands in tmux and writes the files anew; a test compares them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from terminal import Terminal

from fastdump.demo import write_demo, write_overflow_demo, write_watcher_demo

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ROOT / "docs" / "screens"
SIZES = ((80, 24), (200, 50))
ACL_JSON = '{"dump": {"dump_path": "/data", "dump_mode": "outputs", "dump_step": "5-3"}}\n'

GOOD_JSON = (
    '{"dump": {"dump_path": "/data", "dump_mode": "output", "dump_step": "0|3-5", '
    '"dump_data": "stats", "dump_list": [{"layer": ["conv1", "pool1"]}]}}\n'
)
WRITTEN = ("sample", "npy", "all.parquet", "layer3.json")
"""What the commands write."""

COMMANDS = {
    "help": "fastdump",
    "demo": "fastdump demo sample",
    "ls": "fastdump ls dump",
    "stats": "fastdump stats dump",
    "show": "fastdump show dump '*layers.2*qk' --rank 1 --step 1",
    "triage": "fastdump triage dump",
    "triage-v": "fastdump triage dump -v",
    "compare": "fastdump compare other dump",
    "compare-v": "fastdump compare other dump -v",
    "overflow": "fastdump overflow overflow",
    "watcher": "fastdump watcher watcher",
    "convert": "fastdump convert dump npy",
    "merge": "fastdump merge all.parquet rank0.parquet rank1.parquet",
    "config-check": "fastdump config check acl.json",
    "config-explain": "fastdump config explain good.json",
    "config-new": "fastdump config new model /data/dump --like dump --layer 3 --step 1-5 --stats "
    "-o layer3.json",
    "follow": "fastdump follow dump --until-idle 0",
    "browse": "fastdump browse dump",
}
"""The command of each screen, in a directory with the sample dumps; `info` tells of the machine."""

SHOWS = {"browse": "119 bad\n"}
"""What commands show that do not end by themselves."""


@dataclass(frozen=True)
class Screen:
    """One command on a terminal of one size."""

    name: str
    width: int
    height: int

    @property
    def file(self) -> Path:
        """The file that shows it."""
        return SCREENS / f"{self.name}-{self.width}x{self.height}.txt"

    def text(self, directory: Path) -> str:
        """Run the command where samples are, and return the screen without blanks at its edge."""
        for name in WRITTEN:
            subprocess.run(["rm", "-rf", str(directory / name)], check=True)
        programs = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        with Terminal(
            COMMANDS[self.name],
            width=self.width,
            height=self.height,
            cwd=directory,
            path=programs,
        ) as terminal:
            screen = terminal.at_rest(SHOWS.get(self.name, ""))
        return "\n".join(line.rstrip() for line in screen.rstrip("\n").splitlines()) + "\n"


ALL_SCREENS = [Screen(name, width, height) for name in COMMANDS for width, height in SIZES]


def write_samples(directory: Path) -> None:
    """Write what the commands read."""
    import fastdump

    write_demo(directory / "dump")
    write_demo(directory / "other", wrong="model.layers.1.mlp.act_fn/Swish")
    write_overflow_demo(directory / "overflow")
    write_watcher_demo(directory / "watcher")
    for rank in (0, 1):
        fastdump.stats(directory / "dump", rank=rank).write(directory / f"rank{rank}.parquet")
    (directory / "acl.json").write_text(ACL_JSON)
    (directory / "good.json").write_text(GOOD_JSON)


def main() -> None:
    """Write all screens."""
    SCREENS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        write_samples(Path(name))
        for screen in ALL_SCREENS:
            screen.file.write_text(screen.text(Path(name)), "utf-8")
            print(screen.file.relative_to(ROOT))


if __name__ == "__main__":
    main()
