package cli

import (
	"io"
	"os"
	"regexp"
	"strconv"

	"golang.org/x/term"
)

// screen is a terminal. It shows control characters as text, but for the ends of lines and
// the colours that aqmlab itself writes: what a file says does not command the terminal.
type screen struct{ *os.File }

// shownOn is a stream as it is written to: a terminal through a screen.
func shownOn(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return screen{f}
	}
	return w
}

// Write writes text, each character of it in one piece.
func (s screen) Write(b []byte) (int, error) {
	if _, err := s.File.Write(plain(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// plain quotes control characters.
func plain(b []byte) []byte {
	own := regexp.MustCompile(`\x1b\[[0-9;]*m|[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}]`)
	return own.ReplaceAllFunc(b, func(found []byte) []byte {
		if len(found) > 2 { // a colour
			return found
		}
		quoted := strconv.QuoteToASCII(string(found))
		return []byte(quoted[1 : len(quoted)-1])
	})
}
