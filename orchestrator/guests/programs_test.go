package guests

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRuns: what a guest cannot run is said, and why.
func TestRuns(t *testing.T) {
	root := t.TempDir()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	// The machine of an ELF file stands at offset 18 (System V ABI, chapter 4).
	foreign := append([]byte(nil), program[:4096]...)
	binary.LittleEndian.PutUint16(foreign[18:], 183) // EM_AARCH64
	binary.LittleEndian.PutUint64(foreign[40:], 0)   // no sections, which are not in what is left
	binary.LittleEndian.PutUint16(foreign[60:], 0)
	binary.LittleEndian.PutUint16(foreign[62:], 0)
	for file, text := range map[string][]byte{"bin/app": program, "bin/arm": foreign, "bin/script": []byte("#!/bin/app\n"), "tmp/app": program} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"bin/app": "", "bin/script": "", "bin/arm": "ELFCLASS64 and EM_AARCH64: guests run", "tmp/app": "below /tmp", "bin/gone": "this user's rights",
	} {
		err := runs(root, filepath.Join(root, file))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}
