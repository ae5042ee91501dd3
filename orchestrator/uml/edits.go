package uml

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// editsTexts holds the edits, and says what they are for.
//
//go:embed edits.yaml inside.yaml doors.yaml
var editsTexts embed.FS

// edit is one change to the kernel's source: all places of a text in a file.
type edit struct {
	File     string
	Why      string
	texts    `yaml:",inline"`
	In       map[string]texts // by version of Linux: those with other texts than the rest
	Optional bool             // it is of no use where its text is not found
}

// texts are one that is to be found, and the one in its place. Without them a version needs
// no such change.
type texts struct{ Old, Now string }

// allEdits is the table of changes.
func allEdits() (all []edit) {
	for _, name := range []string{"edits.yaml", "inside.yaml", "doors.yaml"} { // each builds on those before
		text, err := editsTexts.ReadFile(name)
		var some []edit
		if err == nil {
			err = yaml.Unmarshal(text, &some)
		}
		if err != nil {
			panic(fmt.Sprintf("the embedded %s: %v", name, err))
		}
		all = append(all, some...)
	}
	return all
}

// edits are the changes that a lab's guest needs.
func (v version) edits() (needed []edit) {
	for _, e := range allEdits() {
		if other, ok := e.In[v.name]; ok {
			e.texts = other
		}
		if e.texts != (texts{}) {
			needed = append(needed, e)
		}
	}
	return needed
}

// applyEdits makes the changes in a kernel tree.
func (v version) applyEdits(tree string) error {
	for _, e := range v.edits() {
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
	return fmt.Errorf("%s has no %q; this kernel is not known to work, that of Debian's package is", e.File, e.Old)
}
