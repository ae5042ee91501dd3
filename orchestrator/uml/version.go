package uml

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrVersion is wrapped by errors for a version that is none of [Versions].
var ErrVersion = errors.New("unknown guest kernel")

// version is a version of Linux that guest kernels can be built of.
type version struct {
	name string
	gone []string // options that it has no more
}

// table has the kernel first that labs have unless they name one: the figures of papers
// and of the documentation are its.
func table() []version {
	return []version{
		{name: "6.1"},
		{name: "6.12", gone: []string{"RANDOM_TRUST_BOOTLOADER", "RANDOM_TRUST_CPU"}},
	}
}

// Versions are those of Linux that guest kernels can be built of, the default first.
func Versions() []string {
	var names []string
	for _, v := range table() {
		names = append(names, v.name)
	}
	return names
}

// versionOf is the row of that name, and of the default without a name.
func versionOf(name string) (version, error) {
	name = cmp.Or(name, Versions()[0])
	i := slices.Index(Versions(), name)
	if i < 0 {
		return version{}, fmt.Errorf("%w %q: want one of %s", ErrVersion, name, strings.Join(Versions(), ", "))
	}
	return table()[i], nil
}

// isDefault tells whether labs have the version that name none.
func (v version) isDefault() bool { return v.name == Versions()[0] }

// folder is where the version's kernel lies in a cache: the default's in the cache itself.
func (v version) folder(cache string) string {
	if v.isDefault() {
		return cache
	}
	return filepath.Join(cache, v.name)
}

// command is the one that builds it.
func (v version) command() string {
	if v.isDefault() {
		return "aqmlab kernel build"
	}
	return "aqmlab kernel build --version " + v.name
}

// howToBuild is what errors for want of a kernel tell the user.
func (v version) howToBuild() string {
	return v.command() + " makes one, in a few minutes and without root; aqmlab kernel install takes one of a release"
}

// is refuses the tree of another version of Linux.
func (v version) is(tree string) error {
	text, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		return fmt.Errorf("looking for the version of Linux: %w", err)
	}
	field := func(name string) string {
		for line := range strings.Lines(string(text)) {
			if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == name {
				return strings.TrimSpace(value)
			}
		}
		return ""
	}
	found := field("VERSION") + "." + field("PATCHLEVEL")
	if found == v.name {
		return nil
	}
	if other, err := versionOf(found); err == nil {
		return fmt.Errorf("the source is Linux %s, not %s: %s builds it", found, v.name, other.command())
	}
	return fmt.Errorf("the source is Linux %s: want one of %s", found, strings.Join(Versions(), ", "))
}
