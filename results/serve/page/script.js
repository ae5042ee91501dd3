"use strict";

// How often the runs that are being made are looked at, and how often the list
// of all, in ms.
const liveEvery = 1000, listEvery = 15000;

const chosen = new Set(); // names of runs
let runs = [];
let growing = ""; // names of the runs that were being made at the last look

// time prints microseconds.
function time(us) {
  if (us < 1e4) return `${us.toFixed(1)} µs`;
  if (us < 1e7) return `${(us / 1e3).toFixed(1)} ms`;
  return `${(us / 1e6).toFixed(1)} s`;
}

const list = values => (values ?? []).join(", ");
const start = run => (run.start ?? "").slice(0, 19).replace("T", " ");
const words = run => [start(run), run.name, run.lab, list(run.schemes), run.runtime, run.fidelity, run.state].join(" ").toLowerCase();

// matches tells whether a run has every word of the filter.
function matches(run) {
  const text = words(run);
  return find("filter").value.toLowerCase().split(/\s+/).every(word => text.includes(word));
}

function row(run) {
  const box = make("input", {type: "checkbox", name: "run", value: run.name, "aria-label": `choose ${run.name}`});
  box.checked = chosen.has(run.name);
  box.disabled = run.points === 0 || run.state === "broken";
  box.addEventListener("change", () => {
    if (box.checked) chosen.add(run.name); else chosen.delete(run.name);
    choice();
  });
  const name = start(run) || run.name;
  const link = box.disabled ? name : make("a", {href: `report?run=${encodeURIComponent(run.name)}`}, name);
  const state = make("td", {class: ["complete", "running"].includes(run.state) ? "words" : "words bad"}, run.state);
  if (run.reason) state.append(make("small", {}, ` ${run.reason}`));
  return make("tr", {},
    make("td", {}, box), make("td", {}, link), make("td", {}, run.lab), make("td", {class: "words"}, list(run.schemes)),
    make("td", {class: "words"}, list(run.loads)), make("td", {class: "words"}, list(run.seeds)), make("td", {class: "number"}, run.points),
    make("td", {}, run.runtime), make("td", {class: run.fidelity === "low-fidelity" ? "bad" : ""}, run.fidelity), state);
}

// show fills the list. What is chosen stays, and is compared, also while the
// filter hides it.
function show() {
  const shown = runs.filter(run => matches(run) || chosen.has(run.name));
  document.querySelector("#runs tbody").replaceChildren(...shown.map(row));
  choice();
}

function choice() {
  const picked = runs.filter(run => chosen.has(run.name));
  const baseline = find("baseline"), before = baseline.value;
  const schemes = [...new Set(picked.flatMap(run => run.schemes ?? []))];
  baseline.replaceChildren(make("option", {value: ""}, "the first run's"), ...schemes.map(s => make("option", {value: s}, s)));
  if (schemes.includes(before)) baseline.value = before;
  find("compare").disabled = picked.length === 0;
  find("count").textContent = `${runs.length} ${runs.length === 1 ? "run" : "runs"}, ${picked.length} chosen`;
}

// line is the course of an SVG path.
const line = (xs, ys) => xs.map((x, i) => `${i ? "L" : "M"}${x.toFixed(1)} ${ys[i].toFixed(1)}`).join("");

// course draws the queue of a point that is going on.
function course(point) {
  const q = point.queue, top = Math.max(1, ...q.peak_kb), end = q.us.at(-1);
  const [left, right, high, low] = [58, 700, 10, 130];
  const xs = q.us.map(us => left + (right - left) * us / end);
  const at = kb => low - (low - high) * kb / top;
  const shares = (q.marks ?? []).map((marks, i) => Math.min(1, marks / Math.max(1, q.packets[i]))), most = Math.max(0.01, ...shares);
  const [above, below] = [150, 200];
  const drawing = make("svg", {viewBox: "0 0 720 220", role: "img", "aria-label": `Queue length and marks over time under ${point.scheme}`},
    make("rect", {class: "frame", x: left, y: high, width: right - left, height: low - high}),
    make("path", {class: "peak", d: `M${xs[0]} ${low}${line(xs, q.peak_kb.map(at)).replace("M", "L")}L${xs.at(-1)} ${low}Z`}),
    make("path", {class: "mean", d: line(xs, q.mean_kb.map(at))}),
    make("text", {x: left - 5, y: high + 8, "text-anchor": "end"}, `${top.toFixed(0)} KB`),
    make("text", {x: left - 5, y: low, "text-anchor": "end"}, "0"),
    make("rect", {class: "frame", x: left, y: above, width: right - left, height: below - above}),
    make("path", {class: "marks", d: line(xs, shares.map(share => below - (below - above) * share / most))}),
    make("text", {x: left - 5, y: above + 8, "text-anchor": "end"}, `${(100 * most).toFixed(0)} %`),
    make("text", {x: left - 5, y: below, "text-anchor": "end"}, "0"),
    make("text", {x: left, y: below + 15}, "0"),
    make("text", {x: right, y: below + 15, "text-anchor": "end"}, `${time(end)} of lab time`));
  return make("figure", {},
    make("figcaption", {}, `Queue length, ${q.port}, ${point.scheme} at load ${point.load}, seed ${point.seed}. Line: mean, shade: peak. Below: share of the packets that left which were marked.`), drawing);
}

// fct is a cell with one statistic of a class.
const fct = (point, of, metric) => make("td", {class: "number"}, point.fct_us?.[of] ? time(point.fct_us[of][metric]) : "-");

function progress(point) {
  const ended = point.completed + point.failed;
  return make("tr", {class: point.done ? "" : "now"},
    make("td", {}, point.scheme), make("td", {class: "number"}, point.load), make("td", {class: "number"}, point.seed),
    make("td", {}, make("progress", {max: point.flows, value: ended, "aria-label": "flows"})),
    make("td", {class: "number flows"}, `${ended} of ${point.flows}${point.failed ? `, ${point.failed} failed` : ""}`),
    fct(point, "all", "mean"), fct(point, "small", "mean"), fct(point, "small", "p99"), fct(point, "large", "mean"));
}

// grows shows a run that is being made: the points that are going on first, then
// those that are done, the last first.
function grows(run) {
  const part = make("section", {class: "growing"}, make("h2", {}, `${run.lab || run.name}, going on`));
  if (!run.live) {
    part.append(make("p", {}, "Its first point has not begun yet."));
    return part;
  }
  const points = run.live.points.toReversed().sort((a, b) => a.done - b.done);
  const done = points.filter(p => p.done).length;
  const heads = ["scheme", "load", "seed", "flows", "", "all, avg", "small, avg", "small, p99", "large, avg"];
  part.append(
    make("p", {}, `${done} of ${run.live.of} points done `, make("progress", {max: run.live.of, value: done, "aria-label": "points"}), make("small", {}, " FCTs are of the flows that completed so far.")),
    make("div", {class: "wide"}, make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((h, i) => make("th", i === 3 || i < 1 ? {} : {class: "number"}, h)))),
      make("tbody", {}, ...points.slice(0, 30).map(progress)))),
    ...points.filter(p => !p.done && p.queue).map(course));
  return part;
}

async function refresh() {
  runs = await get("api/runs");
  for (const name of chosen) if (!runs.some(run => run.name === name)) chosen.delete(name);
  show();
}

async function look() {
  const now = await get("api/live");
  find("live").replaceChildren(...now.map(grows));
  const names = now.map(run => run.name).join("/");
  if (names !== growing) {
    growing = names;
    await refresh(); // one began or ended
  }
}

find("filter").addEventListener("input", show);
repeat(refresh, listEvery);
repeat(look, liveEvery);
