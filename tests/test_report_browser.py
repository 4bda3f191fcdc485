"""Pages of reports in a real browser: drawn, quiet, within their width, usable without a mouse."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_dumps import Demos

import fastdump
from fastdump import testing
from fastdump.demo import write_demo

pytest.importorskip("bokeh", reason="figures of pages are drawn by Bokeh")
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="pip install playwright axe-playwright-python: it asks a browser"
)
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)

PATIENCE_MS = 300_000
ACCESSIBLE = ("few model", "few compared", "overflow", "watcher", "hostile")
PAGES = ("model", "wrong", "compared", "overflow", "watcher", "hostile", "chinese")
SCROLLS = """async () => {
  for (const block of document.querySelectorAll('.scroll')) {
    block.scrollIntoView();  // it is laid out when it is looked at
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    block.scrollLeft = 1e6;
    const end = block.scrollLeft + block.clientWidth;
    if (end < block.querySelector('table').offsetWidth) return false;
  }
  return true;
}"""
WIDTHS = (800, 1280, 1920)
FITS = """async () => {
  // Figures follow the width within some frames.
  for (let i = 0; i < 100 && document.documentElement.scrollWidth > innerWidth; ++i) {
    await new Promise(requestAnimationFrame);
  }
  return document.documentElement.scrollWidth <= innerWidth;
}"""


@pytest.fixture(scope="module")
def pages(demos: Demos, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("pages")
    write_demo(root / "wrong", wrong="model.layers.1.mlp.act_fn/Swish")
    html = {
        "model": fastdump.report(demos.model),
        "wrong": fastdump.report(root / "wrong"),
        "compared": fastdump.report(root / "wrong", demos.model),
        "overflow": fastdump.overflow(demos.overflow).to_html(),
        "watcher": fastdump.watcher(demos.watcher).to_html(),
        "hostile": fastdump.report(write_hostile(root / "hostile")),
    }
    with fastdump.in_language("zh"):
        html["chinese"] = fastdump.report(demos.model)
    # A page with few rows: what is asked of every element takes its time.
    few = {"op_name": "*layers.2*", "step": 1}
    html["few model"] = fastdump.report(demos.model, **few)
    html["few compared"] = fastdump.report(root / "wrong", demos.model, **few)
    for name, text in html.items():
        (root / f"{name}.html").write_text(text)
    return {name: root / f"{name}.html" for name in html}


def write_hostile(root: Path) -> Path:
    place = testing.model_dump_dir(
        root, time="20260114093042", device=0, model="m", model_id=1, step=0
    )
    names = (
        "net/</script><script>document.title = 'taken'</script>",
        "net/<img src=http://localhost/x onerror=\"document.title = 'taken'\">",
        "@{x} ${y} <b>bold</b> " + "long" * 60,
    )
    for i, op_name in enumerate(names):
        path = place / testing.dump_name("Add", f"n{i}", task_id=i, stream_id=1, timestamp=i + 1)
        bad = np.array([[np.nan, 65504, i]], np.float16)
        testing.write_dump(path, op_name=op_name, inputs=[bad], outputs=[bad])
    return root


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        # How long something takes says nothing on a machine that others use.
        sync_api.expect.set_options(timeout=PATIENCE_MS)
        yield playwright.chromium.launch(
            executable_path=CHROMIUM, args=arguments, timeout=PATIENCE_MS
        )


class Opened:
    """A page in the browser, and what it said and asked for."""

    def __init__(self, browser: Any, path: Path, *, width: int = 1280, scheme: str = "light"):
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page.set_default_timeout(PATIENCE_MS)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        if self.page.locator("figure").count():
            self.page.wait_for_selector("html[data-figures=drawn]", state="attached")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.said.append(message.text)

    def rows(self, block: Any) -> list[list[str]]:
        """Return the texts of the rows of a table that are shown."""
        rows: list[list[str]] = block.evaluate(
            "block => [...block.querySelector('tbody').rows].filter(row => !row.hidden)"
            ".map(row => [...row.cells].map(cell => cell.textContent))"
        )
        return rows

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()


def check_quiet_and_within_its_width(browser: Any, page: Path, scheme: str) -> None:
    with Opened(browser, page, scheme=scheme) as opened:
        for width in WIDTHS:
            opened.page.set_viewport_size({"width": width, "height": 900})
            assert opened.page.evaluate(FITS), width
            assert opened.page.evaluate(SCROLLS), width
        assert opened.said == []
        assert opened.asked == [page.as_uri()]
        assert opened.page.title().startswith("fastdump ")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_quiet_and_within_their_width(
    browser: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    check_quiet_and_within_its_width(browser, pages[name], scheme)


@pytest.mark.parametrize(
    ("fault", "clean"),
    [
        ("float16-overflow", None),
        ("float16-nan-weight", None),
        ("bfloat16-activation", "bfloat16"),
        ("bfloat16-eps", "bfloat16"),
        ("bfloat16-weight", "bfloat16"),
    ],
)
def test_a_page_of_a_planted_fault_shows_its_operator(
    browser: Any, reference_models: Path, tmp_path: Path, fault: str, clean: str | None
) -> None:
    run = reference_models / f"llama-{fault}"
    other = None if clean is None else reference_models / f"llama-{clean}"
    page = tmp_path / "page.html"
    page.write_text(fastdump.report(run, other))
    check_quiet_and_within_its_width(browser, page, "light")
    report = fastdump.triage(run) if other is None else fastdump.compare(run, other)
    with Opened(browser, page) as opened:
        shown = opened.page.locator(".verdict .headline").inner_text()
        assert shown == report.answer().headline
        assert opened.page.locator("figure").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ACCESSIBLE)
def test_pages_are_accessible(browser: Any, pages: dict[str, Path], name: str, scheme: str) -> None:
    with Opened(browser, pages[name], scheme=scheme) as opened:
        violations = axe.Axe().run(opened.page).response["violations"]
        found = [(one["id"], [node["html"][:80] for node in one["nodes"]]) for one in violations]
        assert found == []


def test_figures_are_drawn_in_the_colours_of_the_page(browser: Any, pages: dict[str, Path]) -> None:
    colours = []
    for scheme in ("light", "dark"):
        with Opened(browser, pages["model"], scheme=scheme) as opened:
            n = opened.page.locator("figure").count()
            assert opened.page.evaluate("Bokeh.documents.flatMap(d => d.roots()).length") == n
            colours.append(
                opened.page.evaluate(
                    "[Bokeh.documents[0].roots()[0].below[0].major_label_text_color,"
                    " getComputedStyle(document.body).color]"
                )
            )
            # A change of the scheme is followed.
            other = "dark" if scheme == "light" else "light"
            opened.page.emulate_media(color_scheme=other)
            two_frames = (
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            opened.page.evaluate(two_frames)
            colours.append(
                opened.page.evaluate(
                    "[Bokeh.documents[0].roots()[0].below[0].major_label_text_color,"
                    " getComputedStyle(document.body).color]"
                )
            )
    assert colours[0] == colours[3]
    assert colours[1] == colours[2]
    assert colours[0] != colours[1]


def test_tables_sort(browser: Any, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["model"]) as opened:
        block = opened.page.locator(".rows").last
        titles = block.locator("th").all_text_contents()
        button = block.locator("th button", has_text="nan").first
        i = titles.index("nan")
        for order, reverse in (("ascending", False), ("descending", True)):
            button.click()
            assert block.locator("th").nth(i).get_attribute("aria-sort") == order
            shown = [int(row[i].replace(",", "")) for row in opened.rows(block) if row[i]]
            assert shown == sorted(shown, reverse=reverse)
        # Text after numbers, and nothing last, in both directions.
        block.locator("th button", has_text="layer").first.click()
        layers = [row[titles.index("layer")] for row in opened.rows(block)]
        known = [int(layer) for layer in layers if layer]
        assert layers == [*map(str, sorted(known)), *[""] * (len(layers) - len(known))]


@pytest.mark.parametrize(
    ("name", "said"),
    [("model", "{n} of {all} rows"), ("chinese", "{all} \u884c\u4e2d\u7684 {n} \u884c")],
)
def test_tables_filter(browser: Any, pages: dict[str, Path], name: str, said: str) -> None:
    with Opened(browser, pages[name]) as opened:
        block = opened.page.locator(".rows").last
        titles = block.locator("th").all_text_contents()
        rank, layer, op_name = (titles.index(title) for title in ("rank", "layer", "op_name"))
        everything = opened.rows(block)
        expected = [
            row
            for row in everything
            if row[rank] == "1" and row[layer] in ("2", "3") and "mlp" in row[op_name]
        ]
        block.locator("input").fill("rank:1 layer:2-3 MLP")
        assert opened.rows(block) == expected
        assert 0 < len(expected) < len(everything)
        count = block.locator(".count").inner_text()
        assert count == said.format(n=len(expected), all=len(everything))
        block.locator("input").fill("")
        assert opened.rows(block) == everything


@pytest.mark.parametrize(
    ("name", "title", "layer", "state"),
    [
        ("model", "Health by rank and layer", "layer", "NaN or +Inf: "),
        (
            "chinese",
            "\u6309 rank \u4e0e\u5c42\u7684\u5065\u5eb7\u72b6\u51b5",
            "\u5c42",
            "NaN \u6216 +Inf\uff1a",
        ),
    ],
)
def test_hovering_names_the_operator_and_a_click_leads_to_its_rows(
    browser: Any, pages: dict[str, Path], name: str, title: str, layer: str, state: str
) -> None:
    with Opened(browser, pages[name]) as opened:
        figure = opened.page.locator(f"figure[aria-label='{title}']")
        figure.scroll_into_view_if_needed()
        place = opened.page.evaluate(
            """(layer) => {
              for (const { model, el, frame } of Bokeh.index.roots) {
                const [left, below] = [model.left[0].axis_label, model.below[0].axis_label];
                if (left !== 'rank' || below !== layer) continue;
                const box = el.getBoundingClientRect();
                return [box.x + frame.x_scale.compute(2), box.y + frame.y_scale.compute(1)];
              }
            }""",
            layer,
        )
        opened.page.mouse.move(*place)
        tip = opened.page.get_by_text(state)
        sync_api.expect(tip).to_contain_text("BatchMatMul_qk:output.0")
        opened.page.mouse.click(*place)
        block = opened.page.locator(".rows").last
        sync_api.expect(block.locator("input")).to_have_value("rank:1 layer:2")
        titles = block.locator("th").all_text_contents()
        shown = opened.rows(block)
        assert {(row[titles.index("rank")], row[titles.index("layer")]) for row in shown} == {
            ("1", "2")
        }
        assert opened.said == []


def test_everything_is_within_reach_of_the_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["model"]) as opened:
        reached = set()
        for _ in range(150):
            opened.page.keyboard.press("Tab")
            reached.add(
                opened.page.evaluate("document.activeElement.closest('[class]')?.className")
            )
            reached.add(opened.page.evaluate("document.activeElement.tagName"))
        assert {"A", "SUMMARY", "BUTTON", "INPUT"} <= reached
        assert {"copy", "scroll"} <= reached
        # A section folds.
        summary = opened.page.locator("section summary").first
        summary.focus()
        opened.page.keyboard.press("Enter")
        assert not opened.page.locator(".verdict").first.is_visible()


def test_names_from_a_dump_do_nothing(browser: Any, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["hostile"]) as opened:
        assert opened.page.title() == "fastdump report"
        assert opened.page.locator("b, img").count() == 0
        assert "<b>bold</b>" in opened.page.locator("main").inner_text()
