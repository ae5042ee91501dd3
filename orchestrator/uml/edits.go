package uml

import (
	_ "embed" // of the edits
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editsText holds the edits, and says what they are for.
//
//go:embed edits.yaml
var editsText []byte

// edit is one change to the kernel's source: all places of a text in a file.
type edit struct {
	File     string
	Why      string
	Old, Now string
	Optional bool // it is of no use where its text is not found
}

// edits are the changes that a lab's guest needs.
func edits() []edit {
	var all []edit
	if err := yaml.Unmarshal(editsText, &all); err != nil {
		panic(fmt.Sprintf("the embedded edits.yaml: %v", err))
	}
	return all
}

// applyEdits makes the changes in a kernel tree.
func applyEdits(tree string) error {
	for _, e := range edits() {
		if err := e.apply(tree); err != nil {
			return fmt.Errorf("changing the kernel's source (%s): %w", e.Why, err)
		}
	}
	return nil
}

func (e edit) apply(tree string) error {
	path := filepath.Join(tree, e.File)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && e.Optional {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case strings.Contains(string(text), e.Old):
		return os.WriteFile(path, []byte(strings.ReplaceAll(string(text), e.Old, e.Now)), 0o644)
	case strings.Contains(string(text), e.Now) || e.Optional:
		return nil
	}
	return fmt.Errorf("%s has no %q; this kernel is not known to work, Linux 6.1 is", e.File, e.Old)
}
