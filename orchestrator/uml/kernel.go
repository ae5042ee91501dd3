// Package uml builds a guest kernel and runs a program under it: User-Mode
// Linux (ARCH=um), the Linux kernel as an ordinary process, in its time-travel
// mode. The guest's clock stands still while anything in it can run, and jumps
// to the next timer when nothing can. So the kernel's own TCP runs with exact
// timing, however slow the machine, without root.
//
// The program is process 1 of its guest. There it is the only file but for the
// libraries that one built with cgo needs. Package [aqmlab/orchestrator/uml/guest] is its half of the work.
//
// What can make two runs differ is taken out: the guest has one processor, its
// kernel gets its randomness from a seed alone, nothing from outside interrupts
// it, and its calendar begins at a fixed date.
package uml

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Kernel is a guest kernel in the cache, which has one of each version at most.
type Kernel struct {
	Path      string    `json:"path,omitempty"` // of the program
	Version   string    `json:"version"`        // one of [Versions]
	Release   string    `json:"release"`        // such as 6.1.192
	Source    string    `json:"source"`         // that it was built from
	SourceSum string    `json:"source_sha256,omitempty"`
	Recipe    string    `json:"recipe"`             // changes with our configuration and edits
	Compiler  string    `json:"compiler,omitempty"` // as it calls itself
	Library   string    `json:"libc,omitempty"`     // version of Debian's package that it is linked with
	Sum       string    `json:"sha256,omitempty"`   // of the program
	Built     time.Time `json:"built,omitzero"`     // here; zero: elsewhere
}

// The files of a kernel in the cache.
const (
	imageName = "linux"
	aboutName = "kernel.json"
)

// cacheDir is the folder of the user's guest kernels, by default below
// $XDG_CACHE_HOME or ~/.cache.
func cacheDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("looking for the user's cache folder: %w", err)
	}
	return filepath.Join(user, "aqmlab", "kernel"), nil
}

// Find is the user's guest kernel of one of the [Versions]; without a version, of the
// first. Errors wrap [ErrUnavailable] if there is none, or one that another version of
// aqmlab has built.
func Find(version string) (Kernel, error) {
	v, err := versionOf(version)
	if err != nil {
		return Kernel{}, err
	}
	dir, err := cacheDir("")
	if err != nil {
		return Kernel{}, fmt.Errorf("%w: %w (set XDG_CACHE_HOME)", ErrUnavailable, err)
	}
	return v.find(dir)
}

// All are the user's guest kernels, in the order of [Versions].
func All() (all []Kernel) {
	for _, name := range Versions() {
		if k, err := Find(name); err == nil {
			all = append(all, k)
		}
	}
	return all
}

func (v version) find(cache string) (Kernel, error) {
	fail := func(format string, a ...any) (Kernel, error) {
		return Kernel{}, fmt.Errorf("%w of Linux %s"+format+": %s", slices.Concat([]any{ErrUnavailable, v.name}, a, []any{v.howToBuild()})...)
	}
	dir := v.folder(cache)
	text, err := os.ReadFile(filepath.Join(dir, aboutName))
	if errors.Is(err, fs.ErrNotExist) {
		return fail(" in %s", dir)
	}
	if err != nil {
		return fail(": %w", err)
	}
	k := Kernel{}
	if err := json.Unmarshal(text, &k); err != nil {
		return fail(": %s is damaged", filepath.Join(dir, aboutName))
	}
	k.Path, k.Version = filepath.Join(dir, imageName), v.name // wherever the cache has moved to
	if _, err := os.Stat(k.Path); err != nil {
		return fail(": %w", err)
	}
	if k.Recipe != v.recipe() {
		return fail(": that in %s is of another version of aqmlab", dir)
	}
	return k, nil
}

// release is what the kernel says of itself.
func (k Kernel) release() (string, error) {
	out, err := exec.Command(k.Path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoRelease, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// errNoRelease is for a kernel that does not say which one it is.
var errNoRelease = errors.New("the kernel does not say its release")

// storeTried puts a kernel into the cache, if it passes the test.
func (v version) storeTried(ctx context.Context, cache string, k Kernel, try func(context.Context, Kernel) error) (Kernel, error) {
	if try != nil {
		if err := try(ctx, k); err != nil {
			return Kernel{}, fmt.Errorf("testing Linux %s: %w", k.Release, err)
		}
	}
	return v.store(cache, k)
}

// store moves a kernel into the cache, with what lies beside it. What describes it is
// renamed into place last, so that a kernel is there whole or not at all.
func (v version) store(cache string, k Kernel) (Kernel, error) {
	dir, from := v.folder(cache), filepath.Dir(k.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Kernel{}, err
	}
	about := filepath.Join(dir, aboutName)
	for _, path := range append([]string{about}, beside(dir)...) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Kernel{}, err
		}
	}
	for _, name := range kept() {
		err := os.Rename(filepath.Join(from, name), filepath.Join(dir, name))
		if err != nil && (name == imageName || !errors.Is(err, fs.ErrNotExist)) {
			return Kernel{}, err
		}
	}
	k.Path = filepath.Join(dir, imageName)
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return Kernel{}, err
	}
	if err := os.WriteFile(about+".new", append(text, '\n'), 0o644); err != nil {
		return Kernel{}, err
	}
	return k, os.Rename(about+".new", about)
}

// beside are the files that lie beside a kernel.
func beside(dir string) (paths []string) {
	for _, name := range kept() {
		if name != imageName {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// ErrUnavailable is wrapped by errors for want of a guest kernel, or of what
// is needed to build one. They say what to do.
var ErrUnavailable = errors.New("no guest kernel")
