//go:build linux

package cli

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

// terminal is the other side of a pty, with all that it shows.
type terminal struct {
	t             *testing.T
	side          *os.File
	tty           *os.File
	width, height int
	lines         [][]rune // also those that have left the screen at its top
	x, y          int      // the cursor
	raw           strings.Builder
	rest          []byte // of a sequence or a character that has come in part
}

func newTerminal(t *testing.T, width, height int) *terminal {
	t.Helper()
	side, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		side.Close()
		tty.Close()
	})
	v := &terminal{t: t, side: side, tty: tty, lines: [][]rune{nil}}
	v.resize(width, height)
	return v
}

func (v *terminal) resize(width, height int) {
	v.t.Helper()
	v.width, v.height = width, height
	if err := pty.Setsize(v.side, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil {
		v.t.Fatal(err)
	}
}

// until reads what is written to the terminal until it shows a text.
func (v *terminal) until(text string) {
	v.t.Helper()
	v.read(func() bool { return strings.Contains(v.text(), text) })
}

// end reads the rest, when all who write to it are done, and returns what it shows.
func (v *terminal) end() string {
	v.t.Helper()
	const last = "\x00"
	if _, err := v.tty.WriteString(last); err != nil {
		v.t.Fatal(err)
	}
	v.read(func() bool { return strings.HasSuffix(v.raw.String(), last) })
	return v.text()
}

func (v *terminal) read(enough func() bool) {
	v.t.Helper()
	buffer := make([]byte, 4096)
	for !enough() {
		n, err := v.side.Read(buffer)
		if err != nil {
			v.t.Fatalf("%v after %q", err, v.raw.String())
		}
		v.raw.Write(buffer[:n])
		v.rest = append(v.rest, buffer[:n]...)
		for v.step() {
		}
	}
}

// text is all lines without the spaces at their ends.
func (v *terminal) text() string {
	var all []string
	for _, line := range v.lines {
		all = append(all, strings.TrimRight(string(line), " "))
	}
	return strings.TrimRight(strings.Join(all, "\n"), "\n")
}

// step does what the next character or sequence asks for (ECMA-48), if it is whole.
func (v *terminal) step() bool {
	switch {
	case len(v.rest) == 0 || !utf8.FullRune(v.rest):
		return false
	case v.rest[0] == '\x1b':
		return v.sequence()
	}
	r, size := utf8.DecodeRune(v.rest)
	v.rest = v.rest[size:]
	switch r {
	case '\r':
		v.x = 0
	case '\n':
		v.down()
	case 0: // the end of a test
	default:
		if r < ' ' {
			v.t.Fatalf("control character %q", r)
		}
		if v.x == v.width {
			v.x = 0
			v.down()
		}
		for len(v.lines[v.y]) <= v.x {
			v.lines[v.y] = append(v.lines[v.y], ' ')
		}
		v.lines[v.y][v.x] = r
		v.x++
	}
	return true
}

func (v *terminal) down() {
	if v.y++; v.y == len(v.lines) {
		v.lines = append(v.lines, nil)
	}
}

// sequence moves the cursor up (CUU), within the screen, or erases what is below (ED).
func (v *terminal) sequence() bool {
	end := strings.IndexFunc(string(v.rest), func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
	if end < 0 {
		return false
	}
	text := string(v.rest[:end+1])
	v.rest = v.rest[end+1:]
	number, numeric := strings.CutPrefix(text[:end], "\x1b[")
	n, err := strconv.Atoi(number)
	switch {
	case numeric && text[end] == 'A' && err == nil:
		v.y = max(v.y-n, len(v.lines)-v.height, 0)
	case text == "\x1b[J":
		v.lines = v.lines[:v.y+1]
		v.lines[v.y] = v.lines[v.y][:min(v.x, len(v.lines[v.y]))]
	default:
		v.t.Fatalf("unknown sequence %q", text)
	}
	return true
}
