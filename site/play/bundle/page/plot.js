"use strict";
// Plots on a canvas: axes with round steps, and lines on them.

const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

// steps are round numbers from 0 to a limit, about that many.
function steps(limit, about) {
  const raw = limit / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(m => m * power >= raw);
  const all = [];
  for (let i = 0; i * step <= limit * 1.0001; i++) all.push(i * step);
  return all;
}

// timeText is microseconds in the unit that reads best.
function timeText(us) {
  if (us === null || us === undefined || !isFinite(us)) return "-";
  const [value, unit] = us >= 1e6 ? [us / 1e6, "s"] : us >= 1e3 ? [us / 1e3, "ms"] : [us, "µs"];
  return Number(value.toPrecision(3)) + " " + unit;
}

// Plot clears a canvas and draws axes. x and y are {limit}, or {from, limit, log: true}.
class Plot {
  constructor(canvas, x, y) {
    const scale = devicePixelRatio || 1, box = canvas.getBoundingClientRect();
    canvas.width = box.width * scale;
    canvas.height = box.height * scale;
    const c = this.c = canvas.getContext("2d");
    c.scale(scale, scale);
    Object.assign(this, {axisX: x, axisY: y, left: 46, top: 10, right: box.width - 12, bottom: box.height - 24});
    c.font = "11px system-ui, sans-serif";
    c.lineJoin = "round";
    this.axes();
  }
  x(v) {
    const a = this.axisX;
    const share = a.log ? Math.log(Math.max(v, a.from) / a.from) / Math.log(a.limit / a.from) : v / a.limit;
    return this.left + share * (this.right - this.left);
  }
  y(v) { return this.bottom - v / this.axisY.limit * (this.bottom - this.top); }
  ticks() {
    const a = this.axisX, all = [];
    if (!a.log) return steps(a.limit, 5);
    for (let p = 10 ** Math.ceil(Math.log10(a.from)); p <= a.limit; p *= 10) all.push(p);
    return all;
  }
  axes() {
    const c = this.c;
    c.strokeStyle = colour("grid");
    c.fillStyle = colour("faint");
    c.lineWidth = 1;
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const v of steps(this.axisY.limit, 4)) {
      this.rule(this.left, this.y(v), this.right, this.y(v));
      c.fillText(this.axisY.text ? this.axisY.text(v) : v, this.left - 6, this.y(v));
    }
    c.textAlign = "center";
    c.textBaseline = "top";
    for (const v of this.ticks()) {
      this.rule(this.x(v), this.bottom, this.x(v), this.bottom + 4);
      c.fillText(timeText(v), Math.min(this.x(v), this.right - 14), this.bottom + 7);
    }
  }
  rule(x1, y1, x2, y2) {
    this.c.beginPath();
    this.c.moveTo(x1, y1);
    this.c.lineTo(x2, y2);
    this.c.stroke();
  }
  line(xs, ys, style) {
    const c = this.c;
    c.beginPath();
    xs.forEach((v, i) => i ? c.lineTo(this.x(v), this.y(ys[i])) : c.moveTo(this.x(v), this.y(ys[i])));
    c.strokeStyle = style.colour;
    c.globalAlpha = style.alpha ?? 1;
    c.lineWidth = style.width ?? 1.5;
    c.setLineDash(style.dash ?? []);
    c.stroke();
    c.globalAlpha = 1;
    c.setLineDash([]);
  }
  // shade fills between zero and a line.
  shade(xs, ys, style) {
    if (!xs.length) return;
    const c = this.c;
    c.beginPath();
    c.moveTo(this.x(xs[0]), this.y(0));
    xs.forEach((v, i) => c.lineTo(this.x(v), this.y(ys[i])));
    c.lineTo(this.x(xs.at(-1)), this.y(0));
    c.fillStyle = style.colour;
    c.globalAlpha = style.alpha;
    c.fill();
    c.globalAlpha = 1;
  }
}
