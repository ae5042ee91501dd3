package uml

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// debianSource is where Debian's packages linux-source-* put their archives.
const debianSource = "/usr/src"

// findSource is the archive of the installed package with the version's source.
func (v version) findSource(folder string) (string, error) {
	found, err := filepath.Glob(filepath.Join(folder, "linux-source-"+v.name+".tar.*"))
	if err != nil {
		return "", fmt.Errorf("looking for the kernel's source: %w", err)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%w can be built without its source: apt-get install linux-source-%s, or name a tree or archive of Linux %[2]s with --source", ErrUnavailable, v.name)
	}
	return found[0], nil
}

// unpack copies a source, a tree or an archive, into a folder of ours, and
// returns the tree's top.
func unpack(ctx context.Context, source, into string) (string, error) {
	st, err := os.Stat(source)
	if err != nil {
		return "", fmt.Errorf("the kernel's source: %w", err)
	}
	copying := exec.CommandContext(ctx, "tar", "-C", into, "-xf", source)
	if st.IsDir() {
		tree := filepath.Join(into, "linux")
		copying = exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", filepath.Clean(source), tree)
	}
	if out, err := runQuietly(copying); err != nil {
		return "", fmt.Errorf("unpacking %s: %w\n%s", source, cause(ctx, err), lastLines(out))
	}
	tops, err := filepath.Glob(filepath.Join(into, "*", "arch/um/Kconfig"))
	switch {
	case err != nil:
		return "", err
	case len(tops) != 1:
		return "", fmt.Errorf("%s is not the source of a Linux kernel: it has no arch/um", source)
	}
	return filepath.Dir(filepath.Dir(filepath.Dir(tops[0]))), nil
}

// cause is why a command was cut short, or its own error.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
