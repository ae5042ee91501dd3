package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"aqmlab/orchestrator"
	"aqmlab/results"
)

// watcher shows how a run goes on.
type watcher interface {
	orchestrator.Watcher
	close()
}

// newWatcher shows bars on a terminal, and plain lines elsewhere.
func newWatcher(w io.Writer) watcher {
	if isTerminal(w) {
		return &bars{progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(32), mpb.WithAutoRefresh())}
	}
	return &lines{w: w, now: time.Now}
}

// left is the wall time that a run still takes: the starts of this point's
// trace that are to come, and those of the points that follow. What a trace's
// last flows take is short beside it.
func left(p orchestrator.Point, elapsed time.Duration) time.Duration {
	return (max(0, p.Lasts-elapsed) + p.After).Round(time.Second)
}

func title(p orchestrator.Point) string {
	return fmt.Sprintf("[%d/%d] %-16s load %-4v seed %d", p.Number, p.Of, p.Scheme, p.Load, p.Seed)
}

// bars is one progress bar a point.
type bars struct {
	progress *mpb.Progress
	bar      *mpb.Bar // of the latest point; nil before the first
}

func (b *bars) Note(text string) { fmt.Fprintln(b.progress, text) }

func (b *bars) Begin(p orchestrator.Point) {
	begun := time.Now()
	b.bar = b.progress.AddBar(int64(p.Flows),
		mpb.PrependDecorators(decor.Name(title(p)+" ")),
		mpb.AppendDecorators(
			decor.CountersNoUnit("%d/%d flows"),
			decor.OnComplete(decor.Any(func(decor.Statistics) string {
				return fmt.Sprintf(", %v left in all", left(p, time.Since(begun)))
			}), ", done"),
		))
}

func (b *bars) Progress(_ orchestrator.Point, s orchestrator.Progress) {
	b.bar.SetCurrent(s.Completed + s.Failed)
}

func (b *bars) End(_ orchestrator.Point, measured results.Point) {
	b.bar.SetTotal(-1, true) // whatever is missing is in the records
	noteFidelity(b, measured)
}

// noteFidelity says why a point is labelled low-fidelity, if it is.
func noteFidelity(w watcher, measured results.Point) {
	for _, why := range measured.Fidelity.Reasons {
		w.Note("        low fidelity: " + why)
	}
}

func (b *bars) close() {
	if b.bar != nil {
		b.bar.Abort(false)
	}
	b.progress.Wait()
}

// lines is a line now and then.
type lines struct {
	w     io.Writer
	now   func() time.Time
	begun time.Time
	said  time.Time
}

// lineEvery is the time between two lines about a point.
const lineEvery = 5 * time.Second

func (l *lines) Note(text string) { fmt.Fprintln(l.w, text) }

func (l *lines) Begin(p orchestrator.Point) {
	l.begun = l.now()
	l.said = l.begun
	fmt.Fprintf(l.w, "%s: %d flows, about %v left in all\n", title(p), p.Flows, left(p, 0))
}

func (l *lines) Progress(p orchestrator.Point, s orchestrator.Progress) {
	now := l.now()
	if now.Sub(l.said) < lineEvery {
		return
	}
	l.said = now
	fmt.Fprintf(l.w, "%s: %d/%d flows, %v left in all\n", title(p), s.Completed+s.Failed, p.Flows, left(p, now.Sub(l.begun)))
}

func (l *lines) End(p orchestrator.Point, measured results.Point) {
	completed := 0
	for _, f := range measured.Flows {
		if f.Completed() {
			completed++
		}
	}
	fmt.Fprintf(l.w, "%s: %d/%d flows done in %v\n", title(p), completed, p.Flows, l.now().Sub(l.begun).Round(100*time.Millisecond))
	noteFidelity(l, measured)
}

func (l *lines) close() {}
