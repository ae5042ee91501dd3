package uml

import (
	"errors"
	"os"
	"testing"
)

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
