package store

import (
	"os"
	"path/filepath"
	"strings"
)

// pointLatest makes root/latest name the run, in one step. It is a file with the name: users
// may make no symbolic links.
func pointLatest(root, name string) error {
	return WriteFile(filepath.Join(root, latestLink), []byte(name+"\n"))
}

// namedLatest is the name of the run that root/latest names.
func namedLatest(root string) (name string, err error) {
	text, err := os.ReadFile(filepath.Join(root, latestLink))
	return strings.TrimSpace(string(text)), err
}
