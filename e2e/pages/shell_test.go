package pages

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// shell runs the blocks of a page, in an empty folder that has its files.
type shell struct {
	dir     string
	path    string // begins with a folder that has aqmlab
	overlay string // for the go command: what a reader has pasted
	ran     map[string]string
}

// built is a folder with the command.
var built = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "pages")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "aqmlab"), ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("building aqmlab: %w\n%s", err, out)
	}
	return dir, nil
})

// TestMain removes what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// newShell has the files in its folder.
func newShell(t *testing.T, files map[string]string) *shell {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash on this machine")
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{dir: t.TempDir(), path: bin + string(os.PathListSeparator) + os.Getenv("PATH"), ran: map[string]string{}}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// inRoot has the go command work in the repository, where a reader is. What it builds
// comes into the folder of the page all the same.
const inRoot = `set -euo pipefail
go() {
	case "$1 $2" in
	"run .") shift 2; aqmlab "$@" ;;
	"build -o") command go build -C "$ROOT" $OVERLAY -o "$PWD/$3" "${@:4}" ;;
	*) command go "$1" -C "$ROOT" $OVERLAY -v "${@:2}" ;;
	esac
}
`

// run answers what a script prints on standard output. The same script is run once.
func (s *shell) run(t *testing.T, script string) string {
	t.Helper()
	if out, ok := s.ran[script]; ok {
		return out
	}
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	c := exec.Command("bash", "-c", inRoot+script)
	c.Dir, c.Stderr = s.dir, &complaint
	c.Env = append(os.Environ(), "PATH="+s.path, "ROOT="+here, "OVERLAY="+s.overlay)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s%s", err, script, out, &complaint)
	}
	s.ran[script] = string(out)
	return s.ran[script]
}

// cut is the part of an output that the words of a mark ask for.
func cut(output, from, to string, first int) (string, error) {
	var kept []string
	within := from == ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \n")
		switch {
		case !within && strings.HasPrefix(line, from):
			within = true
		case !within:
			continue
		case to != "" && strings.HasPrefix(line, to), to == "" && from != "" && line == "":
			return shorten(kept, first), nil
		}
		kept = append(kept, line)
	}
	switch {
	case !within:
		return "", fmt.Errorf("no line of the output begins with %q:\n%s", from, output)
	case to != "":
		return "", fmt.Errorf("no line after it begins with %q:\n%s", to, output)
	}
	return shorten(kept, first), nil
}

// shorten leaves so many lines, if any number is said.
func shorten(lines []string, first int) string {
	if first > 0 && len(lines) > first {
		lines = append(lines[:first:first], "...")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
