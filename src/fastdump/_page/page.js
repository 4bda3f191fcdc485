"use strict";
// Without this script the page shows all its rows and commands; with it rows sort and filter,
// commands have a button that copies them, and figures take the colours of the page.

// "1,312", "25x", "-3.4e+38" and "12.5%" by value, everything else as text, after all numbers.
function sortKey(text) {
  const number = Number(text.replace(/,/g, "").replace(/[x%]$/, "").replace(/^([-+]?)inf$/i, "$1Infinity"));
  return text.trim() === "" ? [2, 0, ""] : Number.isNaN(number) ? [1, 0, text] : [0, number, text];
}

function compareKeys(a, b) {
  if (a[0] !== b[0]) return a[0] - b[0];
  return a[0] === 0 ? a[1] - b[1] || 0 : a[2].localeCompare(b[2], undefined, { numeric: true });
}

function sortBy(table, heading) {
  const i = heading.cellIndex;
  const descending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = table.tBodies[0];
  const keyed = Array.from(body.rows, (row) => [sortKey(row.cells[i].textContent), row]);
  // Blanks stay last in either direction.
  keyed.sort(([a], [b]) => (a[0] === 2 || b[0] === 2 || !descending ? compareKeys(a, b) : compareKeys(b, a)));
  body.append(...keyed.map(([, row]) => row));
}

// "rank:1 layer:0-3 softmax": words that a row has somewhere, or a number in one column.
function parseConditions(query, titles) {
  return query.toLowerCase().split(/\s+/).filter(Boolean).map((word) => {
    const found = /^([^:]+):(\d+)(?:-(\d+))?$/.exec(word);
    const i = found ? titles.indexOf(found[1]) : -1;
    if (i < 0) return (row) => row.textContent.toLowerCase().includes(word);
    const [low, high] = [Number(found[2]), Number(found[3] ?? found[2])];
    return (row) => {
      const text = row.cells[i].textContent;
      return text !== "" && Number(text) >= low && Number(text) <= high;
    };
  });
}

const filters = [];

function prepare(block) {
  const table = block.querySelector("table");
  const count = block.querySelector(".count");
  const rows = Array.from(table.tBodies[0].rows);
  const headings = Array.from(table.tHead.rows[0].cells);
  const titles = headings.map((heading) => heading.textContent);
  for (const heading of headings) {
    if (heading.textContent === TEXTS.command) continue;
    const button = document.createElement("button");
    button.textContent = heading.textContent;
    button.addEventListener("click", () => sortBy(table, heading));
    heading.replaceChildren(button);
  }
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = TEXTS.filter;
  input.setAttribute("aria-label", TEXTS.filterOf.replace("{table}", () => block.querySelector("h3").textContent));
  const all = count.textContent;
  const filter = () => {
    const conditions = parseConditions(input.value, titles);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !conditions.every((holds) => holds(row));
      shown += !row.hidden;
    }
    const some = TEXTS.some.replace("{n}", shown).replace("{rows}", all);
    count.textContent = shown === rows.length ? all : some;
  };
  input.addEventListener("input", filter);
  table.parentNode.before(input);
  filters.push({ input, titles, filter, block });
}

function addCopyButton(command) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = TEXTS.copy;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = TEXTS.copied;
    } catch {
      getSelection().selectAllChildren(command);  // a page from disk may not have the clipboard
      button.textContent = TEXTS.selected;
    }
  });
  command.after(button);
}

document.querySelectorAll(".rows").forEach(prepare);
document.querySelectorAll("code.command").forEach(addCopyButton);

// Figures. Bokeh draws them once the page is there; each is a document of its own.

const dark = matchMedia("(prefers-color-scheme: dark)");

function paint(model) {
  const style = getComputedStyle(document.documentElement);
  const [text, line] = [style.getPropertyValue("--text").trim(), style.getPropertyValue("--line").trim()];
  const colours = {
    axis_label_text_color: text, major_label_text_color: text, axis_line_color: text,
    major_tick_line_color: text, minor_tick_line_color: null, grid_line_color: line,
    label_text_color: text, title_text_color: text, text_color: text, outline_line_color: line,
  };
  const values = {};
  for (const [name, colour] of Object.entries(colours)) if (name in model.properties) values[name] = colour;
  if (/Span$/.test(model.type)) values.line_color = text;
  if (Object.keys(values).length) model.setv(values);
}

// A click on a cell shows its rows in the table that knows most of what the figure's axes are.
function choose(source) {
  const [i] = source.selected.indices;
  if (i === undefined) return;
  const [rowTitle, columnTitle] = source.tags;
  const wanted = [[rowTitle, source.data.row[i]], [columnTitle, source.data.column[i]]];
  const usable = wanted.filter(([, name]) => /^\d+(-\d+)?$/.test(name));
  const known = ({ titles }) => usable.filter(([title]) => titles.includes(title)).length;
  const [target] = [...filters].sort((a, b) => known(b) - known(a));
  if (!target || !known(target)) return;
  target.input.value = usable.filter(([title]) => target.titles.includes(title)).map(([title, name]) => `${title}:${name}`).join(" ");
  target.filter();
  target.block.closest("details").open = true;
  target.block.scrollIntoView({ block: "start" });
  target.input.focus({ preventScroll: true });
}

function attach() {
  for (const shown of Bokeh.documents) {
    shown._all_models.forEach(paint);
    for (const plot of shown.roots()) {
      for (const renderer of plot.renderers) {
        const source = renderer.data_source;
        if (source?.name === "cells") source.selected.change.connect(() => choose(source));
      }
    }
  }
  dark.addEventListener("change", () => {
    for (const shown of Bokeh.documents) shown._all_models.forEach(paint);
  });
  document.documentElement.dataset.figures = "drawn";
}

if (typeof Bokeh !== "undefined") {
  const wait = () => {
    const ready = Bokeh.documents.length > 0 && Object.keys(Bokeh.index.roots ?? Bokeh.index).length > 0;
    ready ? attach() : requestAnimationFrame(wait);
  };
  wait();
}
