package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLoader: the shell needs a dynamic linker (glibc's, on Debian), a Go program
// without cgo does not, and text is no program.
func TestLoader(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "main")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for path, want := range map[string]bool{"/bin/sh": false, program: true} {
		got, err := Loader(path)
		if err != nil || (got == "") != want {
			t.Errorf("%s: %q, %v, want that it is static: %t", path, got, err, want)
		}
		if _, err := os.Stat(got); got != "" && err != nil {
			t.Error(err)
		}
	}
	if _, err := Loader(source); err == nil {
		t.Error("text is a program")
	}
}
