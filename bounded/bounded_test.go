package bounded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, whole := range map[int64]bool{4: false, 5: true, 6: true} {
		b, err := ReadFile(path, most)
		if whole && (err != nil || string(b) != "12345") {
			t.Errorf("%d bytes: %q, %v", most, b, err)
		}
		if !whole && (!errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%d bytes: error %v does not say which file is too large", most, err)
		}
	}
	if _, err := ReadFile("/dev/zero", 1<<16); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file without an end: %v", err)
	}
	if _, err := ReadFile(path+"2", 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
