"""A real terminal: tmux, which runs one command and shows what is on its screen."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
from pathlib import Path

from sanitizer import SANITIZER

TMUX = shutil.which("tmux")

_NUMBERS = itertools.count()
_MOST_LOOKS = 5000
_SAME_LOOKS = 25
"""A screen that is the same so often has come to rest."""
_WAITING = "sleep"
"""The program that keeps the terminal open when the command is done."""
_PROMPT = ":"
"""The last line of less when it waits for a key."""


class Terminal:
    """A terminal of some size in which a shell runs a command."""

    def __init__(
        self, command: str, *, width: int = 80, height: int = 24, cwd: Path, path: str = ""
    ) -> None:
        # One of its own: a server that ends may still have that of the terminal before.
        self._socket = str(cwd / f"tmux{next(_NUMBERS)}")
        shell = f"printf '$ %s\\n' \"$SHOWN\"; {command}; exec sleep 600"
        # What the server of this socket runs inherits the environment, and no more than this.
        self._environment = {
            "HOME": os.environ.get("HOME", "/"),
            "LANG": "C.UTF-8",
            "PATH": path or os.environ["PATH"],
            "SHOWN": command,
            **SANITIZER,
        }
        size = ["-x", str(width), "-y", str(height)]
        self("new-session", "-d", *size, "-c", str(cwd), "sh", "-c", shell)

    def __call__(self, *arguments: str) -> str:
        """Run a command of tmux and return what it prints."""
        assert TMUX is not None
        command = [TMUX, "-S", self._socket, "-f", os.devnull, *arguments]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env=self._environment,
        )
        return done.stdout

    def screen(self) -> str:
        """Return what is on the screen."""
        return self("capture-pane", "-p")

    def until(self, text: str) -> str:
        """Return the screen as soon as it shows a text."""
        for _ in range(_MOST_LOOKS):
            screen = self.screen()
            if text in screen:
                return screen
        raise AssertionError(f"no {text!r} on the screen:\n{self.screen()}")

    def at_rest(self, text: str = "") -> str:
        """Return the screen when the command is done, waits in its pager, or shows a text."""
        last, n_same = "", 0
        for _ in range(_MOST_LOOKS):
            screen = self.screen()
            is_there = text in screen if text else self._is_waiting(screen)
            n_same = n_same + 1 if screen == last and is_there else 0
            if n_same == _SAME_LOOKS:
                return screen
            last = screen
        raise AssertionError(f"the command goes on:\n{last}")

    def _is_waiting(self, screen: str) -> bool:
        """Tell whether the command has ended, or its pager waits for a key."""
        running = self("display-message", "-p", "#{pane_current_command}").strip()
        return running == _WAITING or screen.rstrip("\n").rpartition("\n")[2] == _PROMPT

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self("kill-server")
