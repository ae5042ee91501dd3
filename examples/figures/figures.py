#!/usr/bin/env python3
"""Draw the figures of a run of aqmlab from its Parquet files, and print its comparison.

    figures.py results/runs/latest --out figures

Needs numpy, pandas and matplotlib, and one of pyarrow, fastparquet, duckdb and the command
duckdb to read Parquet. Without these, export the run (aqmlab results export RUN --csv
--out DIR) and name that folder by --csv.

It computes what `aqmlab compare` does, by the rules of docs/results.md: the same numbers come
out, intervals included. README.md says what is drawn.
"""

import argparse
import glob
import io
import json
import math
import os
import shutil
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

CLASSES = ["all", "small", "medium", "large"]
STATISTICS = [("all", "mean"), ("all", "p99"), ("small", "mean"), ("small", "p99"), ("medium", "mean"), ("large", "mean")]
QUERIES = [("queries", "mean"), ("queries", "p99")]
RESAMPLES = 2000
# Colours of Okabe and Ito.
COLOURS = ["#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#777777"]
DASHES = ["-", "--", "-.", ":"]


# Reading


def read(run, exported, table):
    """A table of all points of a run, from Parquet, or from the folder of an export."""
    if exported:
        return pd.read_csv(os.path.join(exported, table + ".csv"), keep_default_na=False, na_values=[""])
    files = sorted(glob.glob(os.path.join(glob.escape(run), "*", table + ".parquet")))
    if not files:
        sys.exit(f"{run} has no {table}.parquet in any point: is it a run of aqmlab?")
    try:
        return pd.concat([pd.read_parquet(f) for f in files], ignore_index=True)
    except ImportError:
        pass  # neither pyarrow nor fastparquet
    names = ", ".join("'" + f.replace("'", "''") + "'" for f in files)
    query = f"select * from read_parquet([{names}])"
    try:
        import duckdb

        return duckdb.sql(query).df()
    except ImportError:
        pass
    if not shutil.which("duckdb"):
        sys.exit("nothing here reads Parquet: install pyarrow (pip install pyarrow), fastparquet or duckdb,\n"
                 f"or run: aqmlab results export {run} --csv --out DIR, and add --csv DIR")
    text = subprocess.run(["duckdb", "-csv", "-c", query], check=True, capture_output=True, text=True).stdout
    return pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])


def flows_of(run, exported):
    """All flows, in the order of their starts, with their class. Times are in ns."""
    flows = read(run, exported, "flows")
    flows["class"] = np.where(flows.bytes <= 100_000, "small", np.where(flows.bytes <= 10_000_000, "medium", "large"))
    flows["completed"] = flows.completed.astype(str).str.lower() == "true"
    flows["fct_ns"] = flows.fct_ns.fillna(0).astype("int64")
    return flows.sort_values(["scheme", "load", "seed", "start_ns", "flow_id"], kind="stable")


def queries_of(flows):
    """The queries of a point: complete when all their flows are."""
    flows = flows[flows["query"] > 0].assign(end=lambda f: f.sent_ns + f.fct_ns)
    q = flows.groupby("query", sort=False).agg(sent=("sent_ns", "min"), end=("end", "max"), completed=("completed", "all"))
    return pd.DataFrame({"class": "queries", "completed": q.completed, "fct_ns": q.end - q.sent})


# Statistics


def nearest_rank(n, p):
    """ceil(p n), in 1..n."""
    return min(max(math.ceil(p * n - 1e-9), 1), n)


def half_up(x):
    return math.floor(x + 0.5)


def block_length(n):
    """How many flows of a trace of n are drawn together."""
    return max(1, half_up(2 * math.sqrt(n)))


class Draws:
    """PCG-DXSM with 128 bits of state, which aqmlab draws its resamples by."""

    MULTIPLIER, INCREMENT = 0x2360ED051FC65DA44385DF649FCCF645, 0x5851F42D4C957F2D14057B7EF767814F
    CHEAP = 0xDA942042E4DD58B5

    def __init__(self):
        self.state = 0x61716D6C6162 << 64 | 95

    def next(self):
        self.state = (self.state * self.MULTIPLIER + self.INCREMENT) & (1 << 128) - 1
        high, low = self.state >> 64, self.state & (1 << 64) - 1
        high = (high ^ high >> 32) * self.CHEAP & (1 << 64) - 1
        return (high ^ high >> 48) * (low | 1) & (1 << 64) - 1

    def below(self, n):
        """A number from 0 to n-1."""
        if n & (n - 1) == 0:
            return self.next() & (n - 1)
        while True:
            x = self.next() * n
            if x & (1 << 64) - 1 >= (1 << 64) % n:
                return x >> 64


def resample(lengths, draws):
    """How often each pair is in a resample: seeds are drawn, then blocks of neighbours."""
    begins = np.concatenate([[0], np.cumsum(lengths)])
    steps = np.zeros(begins[-1] + 1, dtype="int64")
    for _ in lengths:
        trace = draws.below(len(lengths))
        begin, n = begins[trace], lengths[trace]
        left = n
        while left > 0:
            size = min(block_length(n), left)
            at = draws.below(n)
            steps[begin + at] += 1
            steps[begin + min(at + size, n)] -= 1
            if at + size > n:  # goes on at the begin of the trace
                steps[begin] += 1
                steps[begin + at + size - n] -= 1
            left -= size
    return np.cumsum(steps[:-1])


def tail_share(blocks):
    """The share of resamples beyond either end of the expanded percentile interval."""
    z, df = 1.959963985, max(blocks - 1, 1)
    t = z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df * df)
    return math.erfc(t * math.sqrt((df + 1) / df) / math.sqrt(2)) / 2


class Pairs:
    """What flows, or queries, took under the baseline and under another scheme, by traces."""

    def __init__(self, traces):
        self.lengths = [len(base) for base, _ in traces]
        base, other = (pd.concat(side, ignore_index=True) for side in zip(*traces))
        self.cls = base["class"].to_numpy()
        self.both = (base.completed & other.completed).to_numpy()
        self.took = base.fct_ns.to_numpy(), other.fct_ns.to_numpy()
        self.places = {}

    def of(self, cls):
        """Where the pairs of a class are, and these by what they took under either scheme."""
        if cls not in self.places:
            at = np.flatnonzero(self.both & ((cls == "all") | (self.cls == cls)))
            self.places[cls] = at, [at[np.argsort(t[at], kind="stable")] for t in self.took]
        return self.places[cls]

    def measure(self, cls, metric, weights):
        """A statistic in us under both schemes; zeros without any pair."""
        at, ascending = self.of(cls)
        n = int(weights[at].sum())
        if n == 0:
            return 0.0, 0.0
        if metric == "mean":
            return tuple(int((weights[at] * t[at]).sum()) / n / 1e3 for t in self.took)
        rank = nearest_rank(n, 0.99)
        return tuple(t[order[np.searchsorted(np.cumsum(weights[order]), rank)]] / 1e3 for t, order in zip(self.took, ascending))

    def rows(self, statistics, same):
        """A row for each statistic of a class that has pairs."""
        ones = np.ones(sum(self.lengths), dtype="int64")
        points = {s: self.measure(*s, ones) for s in statistics if len(self.of(s[0])[0])}
        spread = {s: [] for s in points}
        draws = Draws()
        for _ in range(0 if same else RESAMPLES):
            weights = resample(self.lengths, draws)
            for s in points:
                base, other = self.measure(*s, weights)
                if base > 0:
                    spread[s].append((other / base - 1) * 100)
        blocks = sum(n / block_length(n) for n in self.lengths)
        for (cls, metric), (base, other) in points.items():
            low = high = 0.0
            if found := sorted(spread[cls, metric]):
                cut = max(half_up(tail_share(blocks) * len(found)), 1)
                low, high = found[cut - 1], found[-cut]
            enough = len(self.of(cls)[0]) >= 10
            verdict = "better" if enough and high < 0 else "worse" if enough and low > 0 else "no difference"
            yield {"class": cls, "metric": metric, "value_us": other, "normalized": other / base, "ci_low": low, "ci_high": high, "verdict": verdict}


def compare(flows, schemes, baseline):
    """The rows of `aqmlab compare`: each scheme against the baseline on the same flows."""
    points = {at: part for at, part in flows.groupby(["scheme", "load", "seed"], sort=True)}
    rows = []
    for load in sorted(flows.load.unique()):
        for scheme in schemes:
            seeds = [seed for s, at, seed in points if s == scheme and at == load and (baseline, load, seed) in points]
            traces = [(points[baseline, load, seed], points[scheme, load, seed]) for seed in seeds]
            queries = [(queries_of(a), queries_of(b)) for a, b in traces]
            queries = [pair for pair in queries if len(pair[0])]
            for kind, statistics in (traces, STATISTICS), (queries, QUERIES):
                if kind:
                    rows += [{"scheme": scheme, "load": load} | r for r in Pairs(kind).rows(statistics, scheme == baseline)]
    return pd.DataFrame(rows)


def times_of(flows):
    """What `aqmlab results show` says of the completion times of each point, in us."""
    rows = []
    for (scheme, load, seed), point in flows.groupby(["scheme", "load", "seed"], sort=True):
        for cls in CLASSES:
            us = np.sort(point.fct_ns[point.completed & ((cls == "all") | (point["class"] == cls))].to_numpy()) / 1e3
            row = {"scheme": scheme, "load": load, "seed": seed, "class": cls, "count": len(us)}
            if len(us):
                ranks = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
                row |= {"mean": us.mean()} | {name: us[nearest_rank(len(us), p) - 1] for name, p in ranks.items()}
            rows.append(row)
    return pd.DataFrame(rows)


def queue_of(series, schemes, baseline):
    """The length of the baseline's bottleneck under each scheme, in 300 bins of the time."""
    rows = []
    for load, part in series.groupby("load"):
        seed = part[part.scheme == baseline].seed.min()
        part = part[part.seed == seed]
        ports = part[part.scheme == baseline].groupby(["switch", "port"]).agg(sent=("sent_bytes", "sum"), peak=("peak_bytes", "max")).reset_index()
        busiest = ports.sort_values(["sent", "peak", "switch", "port"], ascending=[False, False, True, True]).iloc[0]
        end = part.at_ns.max()
        part = part[(part.switch == busiest.switch) & (part.port == busiest.port)]
        for scheme in schemes:
            at = part[part.scheme == scheme].groupby("at_ns").agg(length=("queue_bytes", "sum"), peak=("peak_bytes", "max")).reset_index()
            at["peak"] = at[["peak", "length"]].max(axis=1)
            at["bin"] = np.minimum(at.at_ns * 300 // max(end, 1), 299)
            for bin, samples in at.groupby("bin"):
                middle = end / 1e3 * (2 * bin + 1) / 600
                rows.append({"scheme": scheme, "load": load, "at_us": middle, "mean_kb": samples.length.mean() / 1e3, "peak_kb": samples.peak.max() / 1e3})
    return pd.DataFrame(rows)


# Drawing


def style(i):
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)]}


def save(axes, path, legend=True):
    if legend:
        axes.legend(frameon=False)
    axes.figure.tight_layout()
    axes.figure.savefig(path)
    plt.close(axes.figure)


def new():
    return plt.subplots(figsize=(3.3, 2.4))[1]


def draw_comparison(rows, schemes, path):
    """Each statistic against the load, or a dot a scheme where there is one load."""
    loads = sorted(rows.load.unique())
    for (cls, metric), part in rows.groupby(["class", "metric"]):
        measure, axes = "QCT" if cls == "queries" else "FCT", new()
        for i, scheme in enumerate(schemes):
            r = part[part.scheme == scheme].sort_values("load")
            low, high = r.normalized - (1 + r.ci_low / 100), 1 + r.ci_high / 100 - r.normalized
            if len(loads) > 1:
                axes.errorbar(r.load, r.normalized, yerr=[low.clip(0), high.clip(0)], label=scheme, capsize=2, **style(i))
            else:
                axes.errorbar(r.normalized, [scheme] * len(r), xerr=[low.clip(0), high.clip(0)], fmt="o", capsize=2, color=COLOURS[i % len(COLOURS)])
        if len(loads) > 1:
            axes.set(xlabel="offered load", ylabel=f"normalised {measure}, {cls} {metric}")
            axes.axhline(1, color="grey", linewidth=0.5)
        else:
            axes.set(xlabel=f"{measure} / {measure} of {schemes[0]}, {cls} {metric}")
            axes.axvline(1, color="grey", linewidth=0.5)
        save(axes, path(measure.lower(), cls, metric, "load" if len(loads) > 1 else f"load{loads[0]:g}"), len(loads) > 1)


def draw_distributions(flows, schemes, path):
    for load, part in flows[flows.completed].groupby("load"):
        for cls in CLASSES:
            axes, drawn = new(), False
            for i, scheme in enumerate(schemes):
                ms = np.sort(part.fct_ns[(part.scheme == scheme) & ((cls == "all") | (part["class"] == cls))].to_numpy()) / 1e6
                if len(ms):
                    axes.step(ms, np.arange(1, len(ms) + 1) / len(ms), where="post", label=scheme, **style(i))
                    drawn = True
            axes.set(xscale="log", xlabel="FCT (ms)", ylabel=f"share of {cls} flows")
            if drawn:
                save(axes, path("fct-cdf", cls, f"load{load:g}"))
            plt.close(axes.figure)


def draw_queues(courses, schemes, path):
    for load, part in courses.groupby("load"):
        for i, scheme in enumerate(schemes):
            at = part[part.scheme == scheme]
            if at.empty:
                continue
            axes = new()
            axes.fill_between(at.at_us / 1e3, at.peak_kb, color=COLOURS[i % len(COLOURS)], alpha=0.25, linewidth=0, label="peak")
            axes.plot(at.at_us / 1e3, at.mean_kb, color=COLOURS[i % len(COLOURS)], linewidth=0.8, label=scheme + ", mean")
            axes.set(xlabel="time (ms)", ylabel="queue length (KB)", xlim=(0, part.at_us.max() / 1e3), ylim=(0, part.peak_kb.max() * 1.05))
            save(axes, path("queue", scheme, f"load{load:g}"))


def store(table, path, digits):
    """A table as CSV, with so many digits after the point in these columns."""
    text = {c: table[c].map(lambda x, n=n: "" if pd.isna(x) else f"{x:.{n}f}") for c, n in digits.items()}
    table.assign(**text).to_csv(path, index=False)


def show(rows, baseline):
    """The comparison as text."""
    for r in rows.itertuples():
        what = f"load {r.load:g}  {r.scheme:<16} {r[3]:>7} {r.metric:<4} {r.value_us:12.1f} us"
        if r.scheme != baseline:
            what += f"  x{r.normalized:.2f} ({1 + r.ci_low / 100:.2f} to {1 + r.ci_high / 100:.2f}) {r.verdict}"
        print(what)


def main():
    parser = argparse.ArgumentParser(description="Draw the figures of a run of aqmlab from its Parquet files, and print its comparison.")
    parser.add_argument("run", help="folder of a run, such as results/runs/latest")
    parser.add_argument("--out", default="figures", help="folder for figures and tables (%(default)s)")
    parser.add_argument("--csv", help="folder that aqmlab results export wrote, in place of Parquet")
    parser.add_argument("--baseline", help="scheme to compare with (default: the run's)")
    parser.add_argument("--format", default="pdf", help="of the figures: pdf, svg, png (%(default)s)")
    asked = parser.parse_args()
    with open(os.path.join(asked.run, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    baseline, schemes = asked.baseline or manifest["baseline"], manifest["schemes"]
    if baseline not in schemes:
        sys.exit(f"no scheme {baseline!r}: want one of {', '.join(schemes)}")
    schemes = [baseline] + [s for s in schemes if s != baseline]
    os.makedirs(asked.out, exist_ok=True)
    plt.rcParams.update({"font.size": 7})

    def path(*words):
        return os.path.join(asked.out, "-".join(words).replace("/", "-") + "." + asked.format)

    flows = flows_of(asked.run, asked.csv)
    rows, courses = compare(flows, schemes, baseline), queue_of(read(asked.run, asked.csv, "series"), schemes, baseline)
    store(rows, os.path.join(asked.out, "comparison.csv"), {"value_us": 3, "normalized": 6, "ci_low": 4, "ci_high": 4})
    store(times_of(flows), os.path.join(asked.out, "times.csv"), {c: 3 for c in ("mean", "p50", "p95", "p99", "p999")})
    store(courses, os.path.join(asked.out, "queue.csv"), {c: 4 for c in ("at_us", "mean_kb", "peak_kb")})
    show(rows, baseline)
    draw_comparison(rows, schemes, path)
    draw_distributions(flows, schemes, path)
    draw_queues(courses, schemes, path)


if __name__ == "__main__":
    main()
