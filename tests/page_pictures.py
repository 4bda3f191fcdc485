"""Pictures of pages in docs/, drawn from the demo dump by Chromium.

    python tests/page_pictures.py docs/pictures

Pages have the time when they were made on them, so pictures are drawn anew only when asked for.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import fastdump
from fastdump.demo import write_demo

WIDTH = 1280
HEIGHTS = {"report": 1120, "comparison": 1180}


def main(folder: Path) -> None:
    """Draw the first screens of two pages."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("make pictures needs Chromium: apt install chromium")
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        os.chdir(directory)
        write_demo(Path("dump"))
        write_demo(Path("other"), wrong="model.layers.1.mlp.act_fn/Swish")
        pages = {
            "report": fastdump.report("dump"),
            "comparison": fastdump.report("other", "dump"),
        }
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
        for name, html in pages.items():
            file = Path(f"{name}.html").absolute()
            file.write_text(html)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHTS[name]})
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-figures=drawn]", state="attached")
            page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
