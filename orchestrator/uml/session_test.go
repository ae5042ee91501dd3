package uml

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCheckStatic refuses what needs a dynamic linker, and what is no program.
func TestCheckStatic(t *testing.T) {
	if err := checkStatic("/bin/sh"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a dynamic program: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	touch(t, text)
	if err := checkStatic(text); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("an empty file: %v", err)
	}
}

// TestOpen: a session has a copy of this program, unless that is not static, and
// leaves nothing.
func TestOpen(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open(Kernel{})
	if errors.Is(err, ErrUnavailable) {
		t.Log("this test is a dynamic program")
	} else if err != nil {
		t.Fatal(err)
	} else {
		copied, err := os.Stat(s.program)
		self, serr := os.Stat("/proc/self/exe")
		if err != nil || serr != nil || copied.Size() != self.Size() || copied.Mode()&0o111 == 0 {
			t.Errorf("the copy: %v, %v, %v", copied, err, serr)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
