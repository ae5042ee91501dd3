#!/usr/bin/env Rscript
# Draw the figures of a run of aqmlab from its Parquet files, and print its comparison.
#
#     figures.R results/runs/latest [figures [exported [baseline]]]
#
# Needs no package but one that reads Parquet: arrow, nanoparquet, duckdb (with DBI), or the
# command duckdb. Without these, export the run (aqmlab results export RUN --csv --out DIR)
# and name that folder as the third argument.
#
# It computes what `aqmlab compare` does, by the rules of docs/results.md: the same numbers
# come out, intervals included. README.md says what is drawn.

classes <- c("all", "small", "medium", "large")
statistics <- list(c("all", "mean"), c("all", "p99"), c("small", "mean"), c("small", "p99"), c("medium", "mean"), c("large", "mean"))
of.queries <- list(c("queries", "mean"), c("queries", "p99"))
resamples <- 2000
# Colours of Okabe and Ito.
colours <- c("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#777777")

# Reading -----------------------------------------------------------------------------

# A table of all points of a run, from Parquet, or from the folder of an export.
read <- function(run, exported, name) {
  if (!is.na(exported)) return(read.csv(file.path(exported, paste0(name, ".csv")), na.strings = ""))
  files <- sort(Sys.glob(file.path(run, "*", paste0(name, ".parquet"))))
  if (length(files) == 0) stop(run, " has no ", name, ".parquet in any point: is it a run of aqmlab?", call. = FALSE)
  bind <- function(f) do.call(rbind, lapply(files, function(file) as.data.frame(f(file))))
  if (requireNamespace("arrow", quietly = TRUE)) return(bind(arrow::read_parquet))
  if (requireNamespace("nanoparquet", quietly = TRUE)) return(bind(nanoparquet::read_parquet))
  quoted <- paste0("'", gsub("'", "''", files, fixed = TRUE), "'", collapse = ", ")
  query <- paste0("select * from read_parquet([", quoted, "])")
  if (requireNamespace("duckdb", quietly = TRUE)) {
    db <- DBI::dbConnect(duckdb::duckdb())
    on.exit(DBI::dbDisconnect(db, shutdown = TRUE))
    return(DBI::dbGetQuery(db, query))
  }
  if (Sys.which("duckdb") == "") {
    stop("nothing here reads Parquet: install.packages(\"arrow\"), or nanoparquet or duckdb,\n",
      "or run: aqmlab results export ", run, " --csv --out DIR, and give DIR as the third argument", call. = FALSE)
  }
  out <- tempfile(fileext = ".csv")
  on.exit(unlink(out))
  if (system2("duckdb", c("-csv", "-c", shQuote(query)), stdout = out) != 0) stop("duckdb cannot read ", name, call. = FALSE)
  read.csv(out, na.strings = "")
}

# A value of the manifest, of which only plain texts and lists of them are needed here.
manifest <- function(text, key) {
  found <- regmatches(text, regexec(paste0("\"", key, "\"\\s*:\\s*(\\[[^]]*\\]|\"[^\"]*\")"), text))[[1]][2]
  gsub("\"", "", regmatches(found, gregexpr("\"[^\"]*\"", found))[[1]], fixed = TRUE)
}

# All flows, in the order of their starts, with their class. Times are in ns.
flows.of <- function(run, exported) {
  f <- read(run, exported, "flows")
  for (column in c("start_ns", "sent_ns", "fct_ns", "bytes", "flow_id", "query", "load", "seed")) f[[column]] <- as.numeric(f[[column]])
  f$class <- ifelse(f$bytes <= 1e5, "small", ifelse(f$bytes <= 1e7, "medium", "large"))
  f$completed <- tolower(as.character(f$completed)) == "true"
  f$fct_ns[is.na(f$fct_ns)] <- 0
  f[order(f$start_ns, f$flow_id), ]
}

# The queries of a point: complete when all their flows are.
queries.of <- function(f) {
  f <- f[f$query > 0, ]
  query <- factor(f$query, unique(f$query))
  took <- tapply(f$sent_ns + f$fct_ns, query, max) - tapply(f$sent_ns, query, min)
  data.frame(class = rep("queries", length(took)), completed = as.vector(tapply(f$completed, query, all)), fct_ns = as.vector(took))
}

# Numbers of 64 and 128 bits, as columns of 16 bits, the lowest first -------------------

carry <- function(x) {
  for (i in seq_len(ncol(x))) {
    if (i < ncol(x)) x[, i + 1] <- x[, i + 1] + floor(x[, i] / 65536)
    x[, i] <- x[, i] %% 65536
  }
  x
}

times <- function(a, b) { # the product, without what does not fit
  n <- ncol(a)
  out <- matrix(0, nrow(a), n)
  for (i in 1:n) for (j in 1:(n + 1 - i)) out[, i + j - 1] <- out[, i + j - 1] + a[, i] * b[, j]
  carry(out)
}

xor.shifted <- function(x, by) { # x ^ x >> 16 by
  n <- ncol(x)
  for (i in seq_len(n - by)) x[, i] <- bitwXor(as.integer(x[, i]), as.integer(x[, i + by]))
  x
}

bits <- function(hex) matrix(as.numeric(rev(strtoi(substring(hex, seq(1, nchar(hex), 4), seq(4, nchar(hex), 4)), 16))), 1)
repeated <- function(x, n) x[rep(1, n), , drop = FALSE]

# PCG-DXSM with 128 bits of state, which aqmlab draws its resamples by. It makes 4096 numbers
# at once: the i-th row goes on by 4096 steps each time. Answers the function that draws a
# number from 0 to n-1, n below 2^21.
draws <- function() {
  lanes <- 4096
  multiplier <- bits("2360ed051fc65da44385df649fccf645")
  increment <- bits("5851f42d4c957f2d14057b7ef767814f")
  cheap <- bits("da942042e4dd58b5")
  state <- matrix(0, lanes, 8)
  step <- function(s) carry(times(s, multiplier) + increment)
  state[1, ] <- step(bits("000061716d6c6162000000000000005f"))
  for (i in 2:lanes) state[i, ] <- step(state[i - 1, , drop = FALSE])
  # lanes steps at once: doubled from one
  ahead <- multiplier
  added <- increment
  for (i in seq_len(log2(lanes))) {
    added <- carry(times(ahead, added) + added)
    ahead <- times(ahead, ahead)
  }
  numbers <- NULL
  used <- lanes
  output <- function() {
    high <- times(xor.shifted(state[, 5:8], 2), repeated(cheap, lanes))
    low <- state[, 1:4]
    low[, 1] <- low[, 1] + (low[, 1] + 1) %% 2 # odd
    numbers <<- times(xor.shifted(high, 3), low)
    state <<- carry(times(state, repeated(ahead, lanes)) + repeated(added, lanes))
    used <<- 0
  }
  function(n) {
    if (used == lanes) output()
    used <<- used + 1
    x <- numbers[used, ]
    if (bitwAnd(n, n - 1) == 0) return((x[1] + 65536 * x[2]) %% n)
    over <- 0 # the 64 bits above those of the product; that one is drawn anew is as rare as n in 2^64
    for (limb in x) over <- floor((limb * n + over) / 65536)
    over
  }
}

# Statistics ---------------------------------------------------------------------------

nearest.rank <- function(n, p) min(max(ceiling(p * n - 1e-9), 1), n)
half.up <- function(x) floor(x + 0.5)
block.length <- function(n) max(1, half.up(2 * sqrt(n)))

# How often each pair is in a resample: seeds are drawn, then blocks of neighbours.
resample <- function(lengths, below) {
  begins <- cumsum(c(0, lengths))
  from <- to <- numeric(0)
  for (i in seq_along(lengths)) {
    trace <- below(length(lengths)) + 1
    begin <- begins[trace]
    n <- lengths[trace]
    left <- n
    while (left > 0) {
      size <- min(block.length(n), left)
      at <- below(n)
      from <- c(from, begin + at)
      to <- c(to, begin + min(at + size, n))
      if (at + size > n) { # goes on at the begin of the trace
        from <- c(from, begin)
        to <- c(to, begin + at + size - n)
      }
      left <- left - size
    }
  }
  all <- sum(lengths)
  cumsum(tabulate(from + 1, all + 1) - tabulate(to + 1, all + 1))[seq_len(all)]
}

# The share of resamples beyond either end of the expanded percentile interval.
tail.share <- function(blocks) {
  z <- 1.959963985
  df <- max(blocks - 1, 1)
  t <- z + (z^3 + z) / (4 * df) + (5 * z^5 + 16 * z^3 + 3 * z) / (96 * df^2)
  pnorm(-t * sqrt((df + 1) / df))
}

# The rows of a scheme at a load. Traces are pairs of points, in the order of seeds.
rows.of <- function(traces, statistics, same) {
  lengths <- vapply(traces, function(t) nrow(t$base), 0)
  base <- do.call(rbind, lapply(traces, `[[`, "base"))
  other <- do.call(rbind, lapply(traces, `[[`, "other"))
  both <- base$completed & other$completed
  took <- list(base$fct_ns, other$fct_ns)
  places <- lapply(statistics, function(s) which(both & (s[1] == "all" | base$class == s[1])))
  ascending <- lapply(places, function(at) lapply(took, function(t) at[order(t[at])]))
  measure <- function(i, weights) { # in us, under both schemes
    at <- places[[i]]
    n <- sum(weights[at])
    if (n == 0) return(c(0, 0))
    if (statistics[[i]][2] == "mean") return(vapply(took, function(t) sum(weights[at] * t[at]) / n / 1e3, 0))
    rank <- nearest.rank(n, 0.99)
    mapply(function(t, by) t[by[which(cumsum(weights[by]) >= rank)[1]]] / 1e3, took, ascending[[i]])
  }
  there <- which(lengths(places) > 0)
  points <- lapply(seq_along(statistics), function(i) measure(i, rep(1, sum(lengths))))
  spread <- matrix(NA, if (same) 0 else resamples, length(statistics))
  if (!same) {
    below <- draws()
    for (r in seq_len(resamples)) {
      weights <- resample(lengths, below)
      for (i in there) {
        m <- measure(i, weights)
        if (m[1] > 0) spread[r, i] <- (m[2] / m[1] - 1) * 100
      }
    }
  }
  blocks <- sum(lengths / vapply(lengths, block.length, 0))
  do.call(rbind, lapply(there, function(i) {
    found <- sort(spread[, i])
    ci <- c(0, 0)
    if (length(found) > 0) {
      cut <- max(half.up(tail.share(blocks) * length(found)), 1)
      ci <- c(found[cut], found[length(found) + 1 - cut])
    }
    enough <- length(places[[i]]) >= 10
    verdict <- if (enough && ci[2] < 0) "better" else if (enough && ci[1] > 0) "worse" else "no difference"
    m <- points[[i]]
    data.frame(class = statistics[[i]][1], metric = statistics[[i]][2], value_us = m[2], normalized = m[2] / m[1], ci_low = ci[1], ci_high = ci[2], verdict = verdict)
  }))
}

# The rows of `aqmlab compare`: each scheme against the baseline on the same flows.
compare <- function(flows, schemes, baseline) {
  rows <- list()
  for (load in sort(unique(flows$load))) for (scheme in schemes) {
    at <- flows[flows$load == load, ]
    seeds <- sort(intersect(at$seed[at$scheme == baseline], at$seed[at$scheme == scheme]))
    point <- function(s, seed) at[at$scheme == s & at$seed == seed, ]
    traces <- lapply(seeds, function(seed) list(base = point(baseline, seed), other = point(scheme, seed)))
    queries <- lapply(traces, function(t) lapply(t, queries.of))
    queries <- Filter(function(t) nrow(t$base) > 0, queries)
    for (kind in list(list(traces, statistics), list(queries, of.queries))) {
      if (length(kind[[1]]) == 0) next
      rows <- c(rows, list(cbind(scheme = scheme, load = load, rows.of(kind[[1]], kind[[2]], scheme == baseline))))
    }
  }
  do.call(rbind, rows)
}

# What `aqmlab results show` says of the completion times of each point, in us.
times.of <- function(flows) {
  rows <- list()
  for (point in split(flows, list(flows$scheme, flows$load, flows$seed), drop = TRUE)) for (class in classes) {
    us <- sort(point$fct_ns[point$completed & (class == "all" | point$class == class)]) / 1e3
    at <- function(p) if (length(us) > 0) us[nearest.rank(length(us), p)] else NA
    rows <- c(rows, list(data.frame(
      scheme = point$scheme[1], load = point$load[1], seed = point$seed[1], class = class, count = length(us),
      mean = if (length(us) > 0) mean(us) else NA, p50 = at(0.5), p95 = at(0.95), p99 = at(0.99), p999 = at(0.999)
    )))
  }
  do.call(rbind, rows)
}

# The length of the baseline's bottleneck under each scheme, in 300 bins of the time.
queue.of <- function(series, schemes, baseline) {
  for (column in c("at_ns", "queue_bytes", "peak_bytes", "sent_bytes", "load", "seed")) series[[column]] <- as.numeric(series[[column]])
  rows <- list()
  for (load in sort(unique(series$load))) {
    part <- series[series$load == load, ]
    part <- part[part$seed == min(part$seed[part$scheme == baseline]), ]
    own <- part[part$scheme == baseline, ]
    sent <- aggregate(sent_bytes ~ switch + port, own, sum)
    ports <- merge(sent, aggregate(peak_bytes ~ switch + port, own, max))
    busiest <- ports[order(-ports$sent_bytes, -ports$peak_bytes, ports$switch, ports$port), ][1, ]
    end <- max(part$at_ns)
    part <- part[part$switch == busiest$switch & part$port == busiest$port, ]
    for (scheme in schemes) {
      mine <- part[part$scheme == scheme, ]
      if (nrow(mine) == 0) next
      held <- tapply(mine$queue_bytes, mine$at_ns, sum)
      peak <- pmax(tapply(mine$peak_bytes, mine$at_ns, max), held)
      bin <- pmin(floor(sort(unique(mine$at_ns)) * 300 / max(end, 1)), 299)
      rows <- c(rows, list(data.frame(
        scheme = scheme, load = load, at_us = end / 1e3 * (2 * sort(unique(bin)) + 1) / 600,
        mean_kb = as.vector(tapply(held, bin, mean)) / 1e3, peak_kb = as.vector(tapply(peak, bin, max)) / 1e3
      )))
    }
  }
  do.call(rbind, rows)
}

# Drawing --------------------------------------------------------------------------------

colour <- function(i) colours[(i - 1) %% length(colours) + 1]

drawn <- function(out, words, draw) {
  pdf(file.path(out, paste0(gsub("/", "-", paste(words, collapse = "-")), ".pdf")), width = 3.3, height = 2.4, pointsize = 7)
  on.exit(dev.off())
  par(mar = c(4, 4, 1, 1))
  draw()
}

name.of <- function(load) paste0("load", format(load))

# Each statistic against the load, or a dot a scheme where there is one load.
draw.comparison <- function(rows, schemes, out) {
  loads <- sort(unique(rows$load))
  for (part in split(rows, list(rows$class, rows$metric), drop = TRUE)) {
    class <- part$class[1]
    metric <- part$metric[1]
    measure <- if (class == "queries") "QCT" else "FCT"
    low <- 1 + part$ci_low / 100
    high <- 1 + part$ci_high / 100
    range <- range(1, low, high, part$normalized)
    several <- length(loads) > 1
    i <- match(part$scheme, schemes)
    drawn(out, c(tolower(measure), class, metric, if (several) "load" else name.of(loads)), function() {
      if (several) {
        at <- part$load + (i - mean(seq_along(schemes))) * diff(range(loads)) / 100 # side by side
        plot(at, part$normalized, ylim = range, col = colour(i), pch = i, xlab = "offered load", ylab = paste0("normalised ", measure, ", ", class, " ", metric))
        segments(at, low, at, high, col = colour(i))
        for (k in unique(i)) lines(at[i == k], part$normalized[i == k], col = colour(k), lty = k)
        abline(h = 1, col = "grey")
        legend("topleft", schemes, col = colour(seq_along(schemes)), lty = seq_along(schemes), bty = "n")
      } else {
        plot(part$normalized, i, xlim = range, ylim = c(0.5, length(schemes) + 0.5), col = colour(i), pch = 19, yaxt = "n", xlab = paste0(measure, " / ", measure, " of ", schemes[1], ", ", class, " ", metric), ylab = "")
        segments(low, i, high, i, col = colour(i))
        axis(2, seq_along(schemes), schemes, las = 1)
        abline(v = 1, col = "grey")
      }
    })
  }
}

draw.distributions <- function(flows, schemes, out) {
  flows <- flows[flows$completed, ]
  for (load in unique(flows$load)) for (class in classes) {
    part <- flows[flows$load == load & (class == "all" | flows$class == class), ]
    if (nrow(part) == 0) next
    drawn(out, c("fct-cdf", class, name.of(load)), function() {
      plot(range(part$fct_ns) / 1e6, c(0, 1), type = "n", log = "x", xlab = "FCT (ms)", ylab = paste("share of", class, "flows"))
      for (i in seq_along(schemes)) {
        ms <- sort(part$fct_ns[part$scheme == schemes[i]]) / 1e6
        if (length(ms) > 0) lines(ms, seq_along(ms) / length(ms), type = "s", col = colour(i), lty = i)
      }
      legend("bottomright", schemes, col = colour(seq_along(schemes)), lty = seq_along(schemes), bty = "n")
    })
  }
}

draw.queues <- function(courses, schemes, out) {
  for (load in unique(courses$load)) for (i in seq_along(schemes)) {
    all <- courses[courses$load == load, ]
    part <- all[all$scheme == schemes[i], ]
    if (nrow(part) == 0) next
    drawn(out, c("queue", schemes[i], name.of(load)), function() {
      plot(range(0, all$at_us / 1e3), range(0, all$peak_kb), type = "n", xlab = "time (ms)", ylab = "queue length (KB)")
      polygon(c(part$at_us, rev(part$at_us)) / 1e3, c(part$peak_kb, rep(0, nrow(part))), col = adjustcolor(colour(i), 0.25), border = NA)
      lines(part$at_us / 1e3, part$mean_kb, col = colour(i))
    })
  }
}

show <- function(rows, baseline) {
  for (i in seq_len(nrow(rows))) {
    r <- rows[i, ]
    cat(sprintf("load %g  %-16s %7s %-4s %12.1f us", r$load, r$scheme, r$class, r$metric, r$value_us))
    if (r$scheme != baseline) cat(sprintf("  x%.2f (%.2f to %.2f) %s", r$normalized, 1 + r$ci_low / 100, 1 + r$ci_high / 100, r$verdict))
    cat("\n")
  }
}

main <- function(given) {
  if (length(given) < 1) stop("usage: figures.R RUN [OUT [EXPORTED [BASELINE]]]", call. = FALSE)
  run <- given[1]
  out <- if (length(given) > 1) given[2] else "figures"
  exported <- if (length(given) > 2 && given[3] != "") given[3] else NA
  text <- paste(readLines(file.path(run, "manifest.json"), warn = FALSE), collapse = "\n")
  baseline <- if (length(given) > 3) given[4] else manifest(text, "baseline")
  schemes <- manifest(text, "schemes")
  if (!baseline %in% schemes) stop("no scheme ", baseline, ": want one of ", paste(schemes, collapse = ", "), call. = FALSE)
  schemes <- unique(c(baseline, schemes))
  dir.create(out, showWarnings = FALSE, recursive = TRUE)
  flows <- flows.of(run, exported)
  rows <- compare(flows, schemes, baseline)
  courses <- queue.of(read(run, exported, "series"), schemes, baseline)
  times <- times.of(flows)
  store <- function(table, name, formats) {
    for (column in names(formats)) table[[column]] <- ifelse(is.na(table[[column]]), "", sprintf(formats[column], table[[column]]))
    write.csv(table, file.path(out, name), row.names = FALSE, quote = FALSE)
  }
  store(rows, "comparison.csv", c(value_us = "%.3f", normalized = "%.6f", ci_low = "%.4f", ci_high = "%.4f"))
  store(times, "times.csv", c(mean = "%.3f", p50 = "%.3f", p95 = "%.3f", p99 = "%.3f", p999 = "%.3f"))
  store(courses, "queue.csv", c(at_us = "%.4f", mean_kb = "%.4f", peak_kb = "%.4f"))
  show(rows, baseline)
  draw.comparison(rows, schemes, out)
  draw.distributions(flows, schemes, out)
  draw.queues(courses, schemes, out)
}

main(commandArgs(trailingOnly = TRUE))
