"use strict";

// How often sweeps are looked at, in ms.
const sweepsEvery = 2000;

// How many failures are listed below a grid; the others have their cells.
const failuresShown = 10;

const stateWords = {w: "waiting", m: "being measured", s: "stored", f: "failed"};

const shownSweeps = new Map(); // what is shown of each sweep, by its name

// about prints seconds as people say them.
function about(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `about ${Math.round(seconds / 3600)} h`;
  return `about ${Math.round(seconds / 86400)} days`;
}

// percent is rounded down: 100 % is all.
const percent = (part, of) => Math.floor(100 * part / Math.max(1, of));

// counts says how far a sweep is.
function counts(s) {
  const waiting = s.points - s.stored - s.failed - s.measuring;
  const parts = [`${s.stored} of ${s.points} stored (${percent(s.stored, s.points)} %)`];
  if (s.failed) parts.push(`${s.failed} failed`);
  if (s.measuring) parts.push(`${s.measuring} being measured`);
  if (waiting) parts.push(`${waiting} waiting`);
  if (s.left_s) parts.push(`${about(s.left_s)} left`);
  else if (waiting && !s.measuring) parts.push("nobody measures it now");
  return parts.join(", ");
}

// heads is the line of what columns have in common, one head for its seeds.
function heads(s) {
  const row = make("tr", {}, make("th"));
  for (let i = 0; i < s.columns.length;) {
    let end = i;
    while (end < s.columns.length && s.columns[end] === s.columns[i]) end++;
    row.append(make("th", {colspan: end - i, scope: "colgroup"}, s.columns[i] || "seeds"));
    i = end;
  }
  return row;
}

// grid builds the cells of a sweep, which fill later.
function grid(s) {
  const body = make("tbody");
  for (const row of s.rows) {
    const line = make("tr", {}, make("th", {scope: "row"}, row.label));
    s.columns.forEach((label, i) => line.append(make("td", label === s.columns[i - 1] ? {} : {class: "first"})));
    body.append(line);
  }
  return make("table", {class: "cells"}, make("thead", {}, heads(s)), body);
}

// fill colours the cells that changed.
function fill(shown, s) {
  const rows = shown.table.tBodies[0].rows;
  s.rows.forEach((row, i) => {
    const before = shown.states[i] ?? "";
    if (before === row.cells) return;
    for (let j = 0; j < row.cells.length; j++) {
      if (row.cells[j] === before[j] || row.cells[j] === " ") continue;
      const cell = rows[i].cells[j + 1];
      cell.className = `${cell.classList.contains("first") ? "first " : ""}cell ${row.cells[j]}`;
    }
    shown.states[i] = row.cells;
  });
}

// tell gives the cell below the pointer its words: thousands of them would be slow to
// write each time.
function tell(shown, event) {
  const cell = event.target.closest("td.cell");
  if (!cell) return;
  const i = cell.parentElement.sectionRowIndex, j = cell.cellIndex - 1, s = shown.status;
  const state = s.rows[i].cells[j];
  const why = state === "f" && (s.failures ?? []).find(f => f.row === i && f.column === j);
  const place = [s.rows[i].label, s.columns[j], `seed ${s.seeds[j]}`].filter(Boolean).join(", ");
  cell.title = `${place}: ${stateWords[state]}${why ? `: ${why.reason}` : ""}`;
}

// build makes the parts of a sweep that stay while it goes on.
function build(s) {
  const shown = {counts: make("span"), bar: make("progress", {"aria-label": "points"}), failures: make("ul"), link: make("a"), table: null, states: [], shape: ""};
  shown.link.textContent = "what it shows so far";
  shown.link.href = `response?sweep=${encodeURIComponent(s.name)}`;
  shown.grid = make("div", {class: "wide"});
  shown.grid.addEventListener("mouseover", event => tell(shown, event));
  shown.details = make("details", {}, make("summary", {}, "measurements"), shown.grid, shown.failures);
  shown.details.open = !s.broken && (shownSweeps.size === 0 || s.stored + s.failed < s.points);
  shown.details.addEventListener("toggle", () => draw(shown));
  shown.about = make("p", {});
  shown.section = make("section", {class: "sweep", "data-sweep": s.name}, make("h2", {}, s.name),
    shown.about, make("p", {}, shown.bar, " ", shown.counts, " ", shown.link), shown.details);
  return shown;
}

// draw shows the grid where it is unfolded: a folded one costs nothing.
function draw(shown) {
  const s = shown.status;
  if (!shown.details.open || s.broken) return;
  if (!s.rows?.length) {
    shown.grid.replaceChildren(make("p", {}, "There are too many measurements to draw."));
    return;
  }
  const shape = JSON.stringify([s.columns, s.seeds, s.rows.map(row => row.label)]);
  if (shape !== shown.shape) {
    [shown.shape, shown.states, shown.table] = [shape, [], grid(s)];
    shown.grid.replaceChildren(shown.table);
  }
  fill(shown, s);
}

// update shows a sweep as it is now.
function update(shown, s) {
  shown.status = s;
  shown.about.textContent = s.broken ? `It cannot be read: ${s.broken}` : `Lab ${s.lab}, runtime ${s.runtime}, begun ${s.created.slice(0, 19).replace("T", " ")} (UTC)`;
  shown.about.classList.toggle("bad", Boolean(s.broken));
  shown.details.hidden = shown.bar.hidden = Boolean(s.broken);
  shown.link.hidden = !s.stored;
  shown.counts.textContent = s.broken ? "" : counts(s);
  shown.bar.max = Math.max(1, s.points);
  shown.bar.value = s.stored;
  const failures = s.failures ?? [];
  shown.failures.replaceChildren(...failures.slice(0, failuresShown).map(f => make("li", {}, make("span", {class: "bad"}, "failed: "), `${f.label}: ${f.reason}`)));
  if (s.failed > failuresShown) shown.failures.append(make("li", {}, `and ${s.failed - failuresShown} more`));
  draw(shown);
}

async function lookAtSweeps() {
  const all = await get("api/sweeps");
  for (const s of all) {
    if (!shownSweeps.has(s.name)) shownSweeps.set(s.name, build(s));
    update(shownSweeps.get(s.name), s);
  }
  for (const name of shownSweeps.keys()) if (!all.some(s => s.name === name)) shownSweeps.delete(name);
  const sections = all.map(s => shownSweeps.get(s.name).section), there = [...find("sweeps").children];
  if (sections.length !== there.length || sections.some((e, i) => e !== there[i])) find("sweeps").replaceChildren(...sections);
  find("none").hidden = all.length > 0;
}

repeat(lookAtSweeps, sweepsEvery);
