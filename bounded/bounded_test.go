package bounded

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
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

func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"12345\n12345\n": "", "123456\n": "a line has more than 5 bytes", "1\n2\n3\n4\n5\n6\n7\n": "more than 12 bytes",
	} {
		b, err := io.ReadAll(iotest.OneByteReader(Lines(strings.NewReader(text), 12, 5)))
		if want == "" && (err != nil || string(b) != text) || want != "" && (!errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %q, %v", text, b, err)
		}
	}
}
