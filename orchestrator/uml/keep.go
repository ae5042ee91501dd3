package uml

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// What a kernel was made with and may be used for. It lies beside the kernel in the cache,
// so that whoever publishes the kernel can publish that, too.
const (
	configName  = "config"        // all options, as make wrote them
	patchName   = "changes.patch" // of the source
	licenseName = "COPYING"       // of Linux, and the licenses of what the kernel consists of
)

// kept are the files of a kernel but for the one that describes it.
func kept() []string { return []string{imageName, configName, patchName, licenseName} }

// licenses are the files of a kernel's source that say how it may be used. The last is
// that of the C library in it.
func licenses() []string {
	return []string{"COPYING", "LICENSES/preferred/GPL-2.0", "LICENSES/preferred/LGPL-2.1"}
}

// changed lists the files of a tree that the edits are about.
func (v version) changed() (files []string) {
	for _, e := range v.edits() {
		if !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	return files
}

// applyEditsNoted makes the changes in a tree, and puts them into it as a patch.
func (v version) applyEditsNoted(ctx context.Context, tree string) error {
	before := tree + ".before"
	for _, name := range v.changed() {
		if err := copyFile(filepath.Join(before, name), filepath.Join(tree, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("keeping what is to be changed: %w", err)
		}
	}
	if err := v.applyEdits(tree); err != nil {
		return err
	}
	var patch bytes.Buffer
	for _, name := range v.changed() {
		if _, err := os.Stat(filepath.Join(before, name)); err != nil {
			continue // an edit that is of no use here
		}
		c := exec.CommandContext(ctx, "diff", "-u", "--label", "a/"+name, "--label", "b/"+name, filepath.Join(before, name), filepath.Join(tree, name))
		out, err := runQuietly(c)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil // they differ
		}
		if err != nil {
			return fmt.Errorf("noting the changes of %s: %w\n%s", name, cause(ctx, err), lastLines(out))
		}
		patch.Write(out)
	}
	return os.WriteFile(filepath.Join(tree, patchName), patch.Bytes(), 0o644)
}

// keep readies the files of a compiled tree that lie beside its kernel.
func keep(tree string) error {
	var license bytes.Buffer
	for _, name := range licenses() {
		text, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			return fmt.Errorf("reading the kernel's license: %w", err)
		}
		fmt.Fprintf(&license, "%s:\n\n%s\n", name, text)
	}
	return errors.Join(os.WriteFile(filepath.Join(tree, licenseName), license.Bytes(), 0o644), os.Rename(filepath.Join(tree, ".config"), filepath.Join(tree, configName)))
}

// sumOf is the SHA-256 of a file, in hexadecimal digits.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
