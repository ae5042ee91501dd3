"use strict";
// Loads the simulator, runs what the form asks for, and draws what forms.

const worker = new Worker("worker.js");
let running = false, latest = null, final = null, timed = true, lines = [], file = "", drawn = false;

async function load() {
  const packed = await fetch("play.wasm.gz");
  if (!packed.ok) throw new Error(`play.wasm.gz: ${packed.status} ${packed.statusText}`);
  const bytes = packed.body.pipeThrough(new DecompressionStream("gzip"));
  worker.postMessage({module: await WebAssembly.compileStreaming(new Response(bytes, {headers: {"Content-Type": "application/wasm"}}))});
}

function fail(text) {
  setRunning(false);
  $("wrong").textContent = text;
  $("wrong").hidden = false;
  $("state").textContent = "";
}

function setRunning(on) {
  running = on;
  $("run").textContent = on ? "Stop" : "Run";
}

function run() {
  remember();
  $("wrong").hidden = true;
  $("verdicts").hidden = true;
  $("warnings").replaceChildren();
  lines = letters.map(() => ({flows: new Map(), mean: [], from: 0}));
  latest = final = null;
  timed = entry().by_load; // otherwise flows end by the clock
  setRunning(true);
  $("state").textContent = "Starting";
  worker.postMessage({ask: asked()});
}

worker.onmessage = ({data}) => {
  if (data.error) return fail(data.error);
  if (data.book) {
    book = data.book;
    fillBook();
    const shared = recall();
    $("run").disabled = false;
    $("state").textContent = "Ready";
    if (shared) run();
  }
  if (!running) return;
  if (data.file) {
    file = data.file;
    $("file").textContent = file;
    $("save").disabled = false;
    $("figures").hidden = false;
  }
  if (data.frame) take(data.frame);
  if (data.result) finish(data.result);
};
worker.onerror = e => fail(e.message);

// take keeps a frame, and has it drawn before the next.
function take(frame) {
  latest = frame;
  frame.sides.forEach((side, i) => keepWindows(lines[i], side.windows));
  $("state").textContent = frame.sides.map(s => `${s.scheme}: ${timeText(s.now_us)} of lab time, ${s.completed} of ${s.flows} flows`).join("; ");
  if (!drawn) requestAnimationFrame(draw);
  drawn = true;
}

// keepWindows adds samples to the lines of their flows, and to the mean of each instant.
function keepWindows(side, w) {
  for (let i = 0; i < (w.us?.length ?? 0); i++) {
    let line = side.flows.get(w.flow[i]);
    if (!line) side.flows.set(w.flow[i], line = {us: [], kb: []});
    line.us.push(w.us[i]);
    line.kb.push(w.kb[i]);
    const last = side.mean.at(-1);
    if (last?.us === w.us[i]) {
      last.sum += w.kb[i];
      last.n++;
    } else side.mean.push({us: w.us[i], sum: w.kb[i], n: 1});
  }
}

function draw() {
  drawn = false;
  const frame = latest;
  if (!frame) return;
  const x = {limit: Math.max(frame.span_us, ...frame.sides.map(s => s.now_us), 1)};
  const queue = {limit: roof(frame.sides.flatMap(s => s.queue?.peak_kb ?? []))};
  const tops = lines.flatMap(side => [...side.flows.values()].flatMap(l => l.kb)).sort((p, q) => p - q);
  const window = {limit: roof([tops[Math.floor(.995 * tops.length)] ?? 0])}; // few go far above the rest
  frame.sides.forEach((side, i) => {
    document.querySelectorAll("figcaption." + letters[i]).forEach(e => { e.textContent = side.scheme; });
    $("port-" + letters[i]).textContent = side.queue ? "port " + side.queue.port : "";
    drawQueue(new Plot($("queue-" + letters[i]), x, queue), side, colour(letters[i]));
    drawWindows(new Plot($("window-" + letters[i]), x, window), lines[i], colour(letters[i]));
  });
  $("times").hidden = !timed || !frame.sides.some(s => s.fct_us.all.count > 0);
  if (!$("times").hidden) for (const of of ["small", "all"]) drawTimes($("fct-" + of), frame.sides.map(s => s.times_us[of] ?? []));
  table(frame, final);
}

const roof = all => 1.05 * all.reduce((p, q) => Math.max(p, q), 1);

function drawQueue(plot, side, ink) {
  const q = side.queue;
  if (!q) return;
  plot.shade(q.us, q.peak_kb, {colour: ink, alpha: .22});
  plot.line(q.us, q.mean_kb, {colour: ink});
}

function drawWindows(plot, side, ink) {
  const flows = [...side.flows.values()];
  plot.c.save();
  plot.c.beginPath();
  plot.c.rect(plot.left, plot.top - 4, plot.right - plot.left, plot.bottom - plot.top + 4);
  plot.c.clip();
  const alpha = Math.max(.28, .6 / Math.sqrt(Math.max(1, flows.length / 8)));
  for (const l of flows) plot.line(l.us, l.kb, {colour: ink, alpha, width: 1});
  const each = Math.max(1, Math.floor(side.mean.length / 200)); // few places, so that the course can be seen
  const gap = 4 * Math.min(...side.mean.slice(1).map((m, i) => m.us - side.mean[i].us));
  for (const stretch of stretches(side.mean, gap)) {
    const us = [], kb = [];
    for (let i = 0; i < stretch.length; i += each) {
      const part = stretch.slice(i, i + each);
      us.push(part[Math.floor(part.length / 2)].us);
      kb.push(part.reduce((s, m) => s + m.sum, 0) / part.reduce((s, m) => s + m.n, 0));
    }
    plot.line(us, kb, {colour: ink, width: 2});
  }
  plot.c.restore();
}

// stretches are the parts of a course between times when no flow was under way.
function stretches(course, gap) {
  const all = [];
  course.forEach((m, i) => i && m.us - course[i - 1].us <= gap ? all.at(-1).push(m) : all.push([m]));
  return all;
}

function drawTimes(canvas, sides) {
  const all = sides.flat();
  const from = all.length ? Math.min(...all) * .8 : 1, limit = all.length ? Math.max(...all) * 1.2 : 10;
  const plot = new Plot(canvas, {from, limit, log: true}, {limit: 1, text: v => Math.round(100 * v) + " %"});
  sides.forEach((times, i) => plot.line(times, times.map((_, n) => (n + 1) / times.length), {colour: colour(letters[i]), width: 2}));
}

const columns = [["all", "mean", "all avg"], ["small", "mean", "small avg"], ["small", "p99", "small p99"], ["large", "mean", "large avg"]];

// table shows the figures so far, and how they compare once both schemes are over.
function table(frame, result) {
  const shown = timed ? columns.filter(([of]) => frame.sides.some(s => s.fct_us[of].count > 0)) : [];
  const head = ["scheme", ...shown.map(c => c[2]), "goodput", "marks", "drops", ...(result ? ["timeouts"] : [])];
  const rows = frame.sides.map((side, i) => {
    const run = result?.runs[i];
    const cells = shown.map(([of, metric]) => {
      const value = timeText(side.fct_us[of].count ? side.fct_us[of][metric] : null);
      const row = i && result?.comparison.rows.find(r => r.scheme === side.scheme && r.class === of && r.metric === metric);
      return row ? `${value}  ×${row.normalized.toFixed(2)} ${{better: "+", worse: "-"}[row.verdict] ?? "~"}` : value;
    });
    const counts = [run?.marks ?? side.marks, run?.drops ?? side.drops, ...(run ? [run.timeouts] : [])];
    return [side.scheme, ...cells, (run?.goodput_gbps ?? side.goodput_gbps).toFixed(3) + " Gbps", ...counts];
  });
  $("table").replaceChildren(
    element("thead", {}, element("tr", {}, ...head.map(h => element("th", {textContent: h})))),
    element("tbody", {}, ...rows.map((r, i) => element("tr", {}, ...r.map((v, n) => element("td", {textContent: v, className: n ? "" : letters[i]}))))));
}

// sharesText says who got how much of the bottleneck, where there are several.
function sharesText(run) {
  const shares = (run.coexistence?.values ?? []).filter(m => m.measure === "share" && m.of);
  return shares.length > 1 ? `${run.scheme}: of the goodput, ` + shares.map(m => `${m.of} had ${Math.round(100 * m.value)} %`).join(", ") : "";
}

function finish(result) {
  setRunning(false);
  final = result;
  draw();
  window.result = result; // for whoever looks with the browser's console
  $("verdicts").hidden = !timed;
  const notes = timed ? result.warnings ?? [] : result.runs.map(sharesText).filter(text => text);
  $("warnings").replaceChildren(...notes.map(text => element("li", {textContent: text})));
  $("again").hidden = false;
  $("state").textContent = "Done: " + latest.sides.map(s => `${s.scheme} in ${timeText(s.now_us)} of lab time`).join(", ");
}

$("ask").onsubmit = e => {
  e.preventDefault();
  if (!running) return run();
  worker.postMessage({stop: true});
  setRunning(false);
  $("state").textContent = "Stopped";
};
$("lab").onchange = () => { fillLab(); remember(); };
$("ask").addEventListener("input", e => { if (e.target !== $("lab")) remember(); });
$("share").onclick = async () => {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    $("state").textContent = "The link is copied";
  } catch { // where pages may not
    $("state").textContent = "The link stands in the address bar";
  }
};
$("save").onclick = () => {
  const link = element("a", {href: URL.createObjectURL(new Blob([file], {type: "application/yaml"})), download: "page.yaml"});
  link.click();
  URL.revokeObjectURL(link.href);
};
addEventListener("resize", draw);
addEventListener("hashchange", () => { if (book && recall()) run(); });
load().catch(e => fail("The simulator could not be loaded: " + e.message));
