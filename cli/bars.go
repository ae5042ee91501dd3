package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// bars is one progress bar for each point that goes on, as far as the terminal has room,
// and a line for each that is done. Below the bar of the point that has run longest are
// sparklines of what its bottleneck holds and marks.
type bars struct {
	progress *mpb.Progress
	bars     map[int]*mpb.Bar // of points, by their number
	begun    map[int]time.Time
	glyphs   glyphs
	room     func() int // bars that the terminal has room for

	mu    sync.Mutex // guards the rest, which is read while bars are drawn
	rest  *orchestrator.Remainder
	small map[int]string    // what the small flows of points have come to so far
	going []int             // the points that are going on, in the order in which they began
	queue results.LiveQueue // of the first of them
	drawn int               // bars that the next frame has
}

func newBars(g glyphs, room func() int, o ...mpb.ContainerOption) *bars {
	return &bars{
		progress: mpb.New(o...), bars: map[int]*mpb.Bar{}, begun: map[int]time.Time{},
		glyphs: g, room: room, rest: orchestrator.NewRemainder(time.Now), small: map[int]string{},
	}
}

// roomOn is how many bars a terminal has room for: all that is drawn at once, with the two
// lines of sparklines, must be less than its lines, since it can only go up to the first.
func roomOn(terminal *os.File) int {
	const others = 4
	_, lines, err := term.GetSize(int(terminal.Fd()))
	if err != nil {
		return 1
	}
	return max(1, lines-others)
}

// home moves the cursor to the start of its line. A bar is drawn where the cursor went up
// to, which is not there after what a terminal shows of Ctrl-C.
const home = "\r"

func (b *bars) Note(text string) { fmt.Fprintln(b.progress, home+text) }

func (b *bars) Begin(p orchestrator.Point) {
	b.begun[p.Number] = time.Now()
	b.mu.Lock()
	b.going = append(b.going, p.Number)
	b.mu.Unlock()
	b.draw(p)
}

// draw adds the bar of a point, unless it is there, or there is no room yet.
func (b *bars) draw(p orchestrator.Point) {
	if b.bars[p.Number] != nil {
		return
	}
	b.mu.Lock()
	full := b.drawn >= b.room()
	if !full {
		b.drawn++
	}
	b.mu.Unlock()
	if full {
		return
	}
	bar := b.progress.AddBar(0, // the last flow is not the end of a point
		mpb.BarPriority(p.Number),
		mpb.PrependDecorators(decor.Name(home+title(p)+" ")),
		mpb.AppendDecorators(decor.CountersNoUnit("%d/%d"), decor.Any(b.beside(p))),
		mpb.BarExtender(mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error { return b.below(w, p, s.AvailableWidth) }), false),
	)
	bar.SetTotal(int64(p.Flows), false)
	b.bars[p.Number] = bar
}

// beside is what stands beside the bar of a point, in each frame.
func (b *bars) beside(p orchestrator.Point) func(decor.Statistics) string {
	const last = 2 // frames that have a bar when it has ended
	begun, frames := b.begun[p.Number], 0
	return func(s decor.Statistics) string {
		b.mu.Lock()
		defer b.mu.Unlock()
		if s.Aborted {
			if frames++; frames == last {
				b.drawn--
			}
		}
		return b.small[p.Number] + ", " + left(b.rest, p, time.Since(begun))
	}
}

// below draws what stands below the bar of a point, on a terminal of so many columns.
func (b *bars) below(w io.Writer, p orchestrator.Point, width int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.first(p) {
		return nil
	}
	for _, line := range b.glyphs.course(&b.queue, width) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (b *bars) Progress(p orchestrator.Point, s backend.Progress) {
	b.mu.Lock()
	note(b.rest, p, s.Completed+s.Failed)
	b.small[p.Number] = b.shown(smallP99(s.Last.FCT[results.Small]))
	if b.first(p) && s.Last.Queue != nil {
		b.queue = *s.Last.Queue
	}
	b.mu.Unlock()
	b.draw(p)
	if bar := b.bars[p.Number]; bar != nil {
		bar.SetCurrent(s.Completed + s.Failed)
	}
}

func (b *bars) End(p orchestrator.Point, measured results.Point) {
	b.mu.Lock()
	note(b.rest, p, int64(p.Flows))
	if b.first(p) {
		b.queue = results.LiveQueue{}
	}
	b.going = slices.DeleteFunc(b.going, func(number int) bool { return number == p.Number })
	b.mu.Unlock()
	if bar := b.bars[p.Number]; bar != nil {
		bar.Abort(true)
	}
	b.Note(b.shown(end(p, measured, time.Since(b.begun[p.Number]))))
	noteFidelity(b, measured)
}

// first tells whether a point is the one that has run longest.
func (b *bars) first(p orchestrator.Point) bool { return len(b.going) > 0 && b.going[0] == p.Number }

// shown is text as the terminal can show it.
func (b *bars) shown(text string) string {
	if b.glyphs.ascii() {
		return strings.ReplaceAll(text, "\u00b5", "u")
	}
	return text
}

func (b *bars) close() {
	b.mu.Lock()
	b.going = nil // what stood below a bar goes
	b.mu.Unlock()
	for _, bar := range b.bars {
		bar.Abort(false)
	}
	b.progress.Wait()
}
