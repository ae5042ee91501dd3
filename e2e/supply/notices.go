package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// text is a file that goes with copies of a module.
type text struct {
	Name string
	Body []byte
}

// textsIn are the licenses and notices of a folder.
func textsIn(dir string) (found []text, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		name := strings.ToLower(f.Name())
		if f.IsDir() || !strings.Contains(name, "licen") && !strings.HasPrefix(name, "copying") && !strings.HasPrefix(name, "notice") && !strings.HasPrefix(name, "patents") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		found = append(found, text{f.Name(), body})
	}
	return found, nil
}

// writeNotices writes what the licenses of Go's library and of the modules ask to be passed
// on with the program.
func writeNotices(path string, modules []module) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("looking for the license of Go: %w", err)
	}
	library, err := textsIn(strings.TrimSpace(string(root)))
	if err != nil {
		return fmt.Errorf("reading the license of Go: %w", err)
	}
	var b bytes.Buffer
	for _, m := range append([]module{{Path: "Go", Version: strings.TrimPrefix(runtime.Version(), "go"), Texts: library}}, modules...) {
		for _, t := range m.Texts {
			fmt.Fprintf(&b, "==== %s %s, %s\n\n%s\n\n", m.Path, m.Version, t.Name, bytes.TrimSpace(t.Body))
		}
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the notices: %w", err)
	}
	return nil
}
