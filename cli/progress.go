package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
)

// watcher shows how a run goes on.
type watcher interface {
	orchestrator.Watcher
	close()
}

// newWatcher shows bars on a terminal that moves its cursor, and plain lines elsewhere and
// where these are wanted.
func newWatcher(w io.Writer, plain bool) watcher {
	if s, ok := w.(screen); ok { // bars move on it, and show nothing that a file says
		w = s.File
	}
	if f, ok := w.(*os.File); ok && !plain && isTerminal(f) && os.Getenv("TERM") != "dumb" {
		return newBars(glyphsOf(os.Getenv), func() int { return roomOn(f) }, mpb.WithOutput(w), mpb.WithWidth(32), mpb.WithAutoRefresh())
	}
	return newLines(w, time.Now)
}

// note takes how many flows of a point have ended.
func note(r *orchestrator.Remainder, p orchestrator.Point, ended int64) {
	r.Whole = float64(p.Of) * float64(p.Flows)
	r.Done(p.Number, float64(ended))
}

// left is the wall time that a run still takes. On the wall clock there is nothing to
// estimate: it is the starts of this point's trace that are to come, and those of the
// points that follow. What a trace's last flows take is short beside it.
func left(r *orchestrator.Remainder, p orchestrator.Point, elapsed time.Duration) string {
	if p.Lasts > 0 {
		return inAll(max(0, p.Lasts-elapsed)+p.After, true)
	}
	return inAll(r.Left())
}

func inAll(left time.Duration, known bool) string {
	if !known {
		return "unknown time left"
	}
	return fmt.Sprintf("%v left", left.Round(time.Second))
}

// title names a point in front of a line.
func title(p orchestrator.Point) string {
	return fmt.Sprintf("[%d/%d] %-16s load %-4v seed %d", p.Number, p.Of, p.Scheme, p.Load, p.Seed)
}

// smallP99 is what the small flows of a point came to, to be joined to a line.
func smallP99(small results.FCT) string {
	if small.Count == 0 {
		return ""
	}
	p99 := time.Duration(small.P99 * float64(time.Microsecond))
	digits := 100 * time.Nanosecond // three, so that a line stays short
	for p99 >= 1000*digits {
		digits *= 10
	}
	return ", small p99 " + p99.Round(digits).String()
}

// noteFidelity says why a point is labelled low-fidelity, if it is.
func noteFidelity(w watcher, measured results.Point) {
	for _, why := range measured.Fidelity.Reasons {
		w.Note("        low fidelity: " + why)
	}
}

// lines is a line now and then.
type lines struct {
	w      io.Writer
	now    func() time.Time
	points map[int]*lastLine
	rest   *orchestrator.Remainder
}

// lastLine is when a point began, and when a line about it was last written.
type lastLine struct{ begun, said time.Time }

// lineEvery is the time between two lines about a point.
const lineEvery = 5 * time.Second

func newLines(w io.Writer, now func() time.Time) *lines {
	return &lines{w: w, now: now, points: map[int]*lastLine{}, rest: orchestrator.NewRemainder(now)}
}

func (l *lines) Note(text string) { fmt.Fprintln(l.w, text) }

func (l *lines) Begin(p orchestrator.Point) {
	l.points[p.Number] = &lastLine{l.now(), l.now()}
	if p.Flows == 0 {
		fmt.Fprintf(l.w, "%s: programs alone\n", title(p))
		return
	}
	fmt.Fprintf(l.w, "%s: %d flows, %s in all\n", title(p), p.Flows, left(l.rest, p, 0))
}

func (l *lines) Progress(p orchestrator.Point, s backend.Progress) {
	now, told := l.now(), l.points[p.Number]
	note(l.rest, p, s.Completed+s.Failed)
	if now.Sub(told.said) < lineEvery || p.Flows == 0 {
		return
	}
	told.said = now
	small := smallP99(s.Last.FCT[results.Small])
	fmt.Fprintf(l.w, "%s: %d/%d flows%s, %s in all\n", title(p), s.Completed+s.Failed, p.Flows, small, left(l.rest, p, now.Sub(told.begun)))
}

func (l *lines) End(p orchestrator.Point, measured results.Point) {
	note(l.rest, p, int64(p.Flows))
	l.Note(end(p, measured, l.now().Sub(l.points[p.Number].begun)))
	noteFidelity(l, measured)
}

// end is the line about a point that is done.
func end(p orchestrator.Point, measured results.Point, took time.Duration) string {
	took = took.Round(100 * time.Millisecond)
	if p.Flows == 0 {
		return fmt.Sprintf("%s: programs done in %v", title(p), took)
	}
	completed := 0
	for _, f := range measured.Flows {
		if f.Completed() {
			completed++
		}
	}
	return fmt.Sprintf("%s: %d/%d flows done in %v%s", title(p), completed, p.Flows, took, smallP99(results.Summarize(measured.Flows, results.Small)))
}

func (l *lines) close() {}

// printProgress prints how far points are that are stored one by one.
func printProgress(w io.Writer, p sweep.Progress) {
	failed := ""
	if p.Failed > 0 {
		failed = fmt.Sprintf(", %d failed", p.Failed)
	}
	left := "unknown time"
	if p.Left >= 0 {
		left = "about " + roughly(p.Left)
	}
	fmt.Fprintf(w, "[%d/%d%s] %s; %s left\n", p.Points, p.Of, failed, cmp.Or(p.Just, "going on"), left)
}
