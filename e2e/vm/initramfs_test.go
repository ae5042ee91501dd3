package vm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cavaliergopher/cpio"
)

// unpack reads an initramfs: of each entry its mode and its content.
func unpack(t *testing.T, path string) (names []string, entries map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	entries = map[string]string{}
	r := cpio.NewReader(f)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, entries
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		entries[h.Name] = fmt.Sprintf("%o %s", h.Mode, text)
	}
}

// TestPack: the archive holds all that the guest needs, with the folders before
// what stands in them, since the kernel makes none by itself.
func TestPack(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, mode := range map[string]os.FileMode{"init": 0o755, "prog": 0o700, "data": 0o640} {
		write(t, path(name), name)
		if err := os.Chmod(path(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	k := kernel(t)
	err := k.pack(path("out"), Guest{
		Init: path("init"), Program: path("prog"), Args: []string{"-x", "1"}, Env: []string{"A=b"},
		Modules: []string{"a"},
		Files:   map[string]string{"/etc/deep/data": path("data")},
	})
	if err != nil {
		t.Fatal(err)
	}
	names, got := unpack(t, path("out"))
	want := map[string]string{
		"orders.json":      `100644 {"Command":["/bin/prog","-x","1"],"Env":["A=b"],"Modules":["/lib/modules/a.ko"]}`,
		"init":             "100755 init",
		"bin":              "40755 ",
		"bin/prog":         "100700 prog",
		"etc":              "40755 ",
		"etc/deep":         "40755 ",
		"etc/deep/data":    "100640 data",
		"lib":              "40755 ",
		"lib/modules":      "40755 ",
		"lib/modules/a.ko": "100644 module kernel/a.ko",
	}
	seen := map[string]bool{".": true}
	for _, name := range names {
		if got[name] != want[name] {
			t.Errorf("%s: %q, want %q", name, got[name], want[name])
		}
		if !seen[filepath.Dir(name)] || seen[name] {
			t.Errorf("%s comes twice or before its folder: %v", name, names)
		}
		seen[name] = true
	}
	if len(names) != len(want) {
		t.Errorf("%d entries, want %d: %v", len(names), len(want), names)
	}
}

// TestPackMissing: a file that is not there is named.
func TestPackMissing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "there"), "")
	there, gone := filepath.Join(dir, "there"), filepath.Join(dir, "gone")
	for name, g := range map[string]Guest{
		"init":    {Init: gone, Program: there},
		"program": {Init: there, Program: gone},
		"file":    {Init: there, Program: there, Files: map[string]string{"/f": gone}},
	} {
		if err := kernel(t).pack(filepath.Join(dir, "out"), g); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), gone) {
			t.Errorf("%s: %v, want one about %s", name, err, gone)
		}
	}
}

// TestReport: what the guest left behind is its report, or says why there is
// none.
func TestReport(t *testing.T) {
	tests := []struct {
		name, report, want string
		status             int
	}{
		{"ended", `{"Status":3,"Error":""}` + "\n", "", 3},
		{"failed", `{"Status":0,"Error":"no module"}`, "in the guest: no module", 0},
		{"panicked", "", "without a report", 0},
		{"cut off", `{"Sta`, "without a report", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := files{report: filepath.Join(t.TempDir(), "report")}
			write(t, f.report, tt.report)
			r, err := f.read()
			if tt.want == "" && (err != nil || r.Status != tt.status) {
				t.Errorf("%+v, %v; want status %d", r, err, tt.status)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestConsoleTail: an error quotes the end of a long console, and nothing of an
// empty one.
func TestConsoleTail(t *testing.T) {
	f := files{console: filepath.Join(t.TempDir(), "console")}
	if got := f.consoleTail(); got != "" {
		t.Errorf("without a console: %q", got)
	}
	write(t, f.console, strings.Repeat("early\n", 1000)+"Kernel panic\n")
	got := f.consoleTail()
	if !strings.HasSuffix(got, "\nKernel panic") || len(got) > tailSize+100 {
		t.Errorf("%d bytes, the end is %q", len(got), got[len(got)-20:])
	}
}
