//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// numbered is the point of that number, of so many.
func numbered(number, of int) orchestrator.Point {
	return orchestrator.Point{Coord: results.Coord{Scheme: fmt.Sprint("scheme", number), Load: 0.5, Seed: 1}, Number: number, Of: of, Flows: 100}
}

// congested is a look at a point whose queue grows to 80 KB, and is marked by half at its
// end.
func congested(port string) backend.Progress {
	q := &results.LiveQueue{Port: port}
	for i := range 80 {
		q.Us, q.Mean, q.Peak = append(q.Us, float64(i)), append(q.Mean, float64(i+1)), append(q.Peak, 100)
		q.Marks, q.Packets = append(q.Marks, int64(i/70*5)), append(q.Packets, 10)
	}
	return backend.Progress{Completed: 50, Last: results.Seen{Queue: q}}
}

// locale has the environment name a locale only.
func locale(t *testing.T, name string) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_CTYPE", "")
	t.Setenv("LANG", name)
}

// TestSparklines: below the bar of the point that has run longest, and nowhere else, as
// long as something goes on.
func TestSparklines(t *testing.T) {
	for _, c := range []struct {
		name, locale, drawn string
		width               int
		plain, dumb         bool
	}{
		{"blocks", "C.UTF-8", "▁▂▃▄▅▆▇█", 120, false, false},
		{"ASCII", "C", "_.-:=+*#", 120, false, false},
		{"no locale", "", "_.-:=+*#", 120, false, false},
		{"narrow", "C.UTF-8", "", 49, false, false},
		{"plain", "C.UTF-8", "", 120, true, false},
		{"dumb", "C.UTF-8", "", 120, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			locale(t, c.locale)
			if c.dumb {
				t.Setenv("TERM", "dumb")
			}
			v := newTerminal(t, c.width, 24)
			w := newWatcher(v.tty, c.plain)
			first, second := numbered(1, 2), numbered(2, 2)
			w.Begin(first)
			w.Begin(second)
			w.Progress(first, congested("s1 to h1"))
			w.Progress(second, congested("s1 to h2"))
			if c.drawn != "" {
				v.until("up to 79.5 KB, s1 to h1") // the mean of the last 2 of 80, in 40 columns or more
				for _, want := range []string{"queue ", "marks ", "up to 50.0 % of packets"} {
					if !strings.Contains(v.text(), want) {
						t.Errorf("%q is not in\n%s", want, v.text())
					}
				}
				for _, glyph := range c.drawn {
					if !strings.ContainsRune(v.text(), glyph) {
						t.Errorf("%q is not in\n%s", glyph, v.text())
					}
				}
				if strings.Contains(v.text(), "h2") {
					t.Errorf("the second point has its own:\n%s", v.text())
				}
				w.End(first, results.Point{})
				w.Progress(second, congested("s1 to h2"))
				v.until("s1 to h2")
			}
			w.close()
			shown := v.end()
			if strings.Contains(shown, "marks") || strings.Contains(shown, "queue") {
				t.Errorf("left on the screen:\n%s", shown)
			}
			if (c.plain || c.dumb) != !strings.Contains(v.raw.String(), "\x1b") {
				t.Errorf("written: %q", v.raw.String())
			}
			if v.x != 0 {
				t.Errorf("the cursor is in column %d of\n%s", v.x, shown)
			}
		})
	}
}

// TestSparklinesResized: they are as wide as the terminal has become.
func TestSparklinesResized(t *testing.T) {
	locale(t, "C.UTF-8")
	v := newTerminal(t, 120, 24)
	w := newWatcher(v.tty, false)
	w.Begin(numbered(1, 1))
	w.Progress(numbered(1, 1), congested("s1 to h1"))
	v.until("up to 50.0")
	v.resize(60, 24)
	v.until("up to 78.5 KB") // the mean of the last 4 of 80, in 20 columns
	for line := range strings.Lines(v.text()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); strings.Contains(line, "up to") && n > 59 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	w.close()
	if shown := v.end(); strings.Contains(shown, "marks") {
		t.Errorf("left on the screen:\n%s", shown)
	}
}

// TestManyPoints: each point has its line once, when the terminal has fewer lines than
// there are points, and fewer than go on at once.
func TestManyPoints(t *testing.T) {
	const points = 16
	for _, jobs := range []int{1, 12} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			locale(t, "C.UTF-8")
			v := newTerminal(t, 120, 8)
			w := newWatcher(v.tty, false)
			for i := range points + jobs {
				if i < points {
					w.Begin(numbered(i+1, points))
					w.Progress(numbered(i+1, points), congested("s1 to h1"))
				}
				if i < jobs {
					continue
				}
				first := numbered(i-jobs+1, points)
				w.Progress(first, congested("s1 to h1"))
				w.End(first, results.Point{})
				if jobs == 1 { // else more end than there are frames
					v.until(fmt.Sprintf("[%d/%d]", first.Number, points))
				}
			}
			w.close()
			shown := v.end()
			for i := range points {
				if n := strings.Count(shown, fmt.Sprintf("[%d/%d]", i+1, points)); n != 1 {
					t.Errorf("point %d is shown %d times in\n%s", i+1, n, shown)
				}
			}
		})
	}
}

// TestInterruptedOnTerminal: Ctrl-C leaves bars and the reason, and the cursor in front of
// an empty line.
func TestInterruptedOnTerminal(t *testing.T) {
	locale(t, "C.UTF-8")
	v := newTerminal(t, 100, 24)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "run", "quickstart", "--runtime", "sim", "--flows", "30000", "--jobs", "2", "--out", t.TempDir())
	c.Stdin, c.Stdout, c.Stderr = v.tty, v.tty, v.tty
	keepOutput(t, v.tty)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	v.until("up to ")
	if _, err := v.side.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	hung := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer hung.Stop()
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	shown := v.end()
	if strings.Contains(shown, "marks") || strings.Count(shown, "[1/") != 1 || strings.Count(shown, "[2/") != 1 || !strings.Contains(shown, "interrupted") || v.x != 0 {
		t.Errorf("left, with the cursor in column %d:\n%s", v.x, shown)
	}
}

// keepOutput has a terminal not throw away what it has yet to show when Ctrl-C comes, as
// is usual. A test is so fast that it would hit a frame.
func keepOutput(t *testing.T, tty *os.File) {
	t.Helper()
	settings, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	settings.Lflag |= unix.NOFLSH
	if err := unix.IoctlSetTermios(int(tty.Fd()), unix.TCSETS, settings); err != nil {
		t.Fatal(err)
	}
}
