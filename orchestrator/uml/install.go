package uml

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/bounded"
)

// InstallOptions say how a kernel that was packed is installed.
type InstallOptions struct {
	File  string       // that [Pack] has written
	Sum   string       // SHA-256 that it must have; empty: as SHA256SUMS beside it says, if that is there
	Cache string       // folder of the kernels; empty: the user's own
	Say   func(string) // is told of each step
	// Try tests the kernel before it takes the place of the one before, as in [BuildOptions].
	Try func(context.Context, Kernel) error
}

// Install puts a kernel of a file into the cache in place of the one of its version before.
// It refuses one with another sum than it should have, one that is for another version of
// aqmlab, and one that does not run here.
func Install(ctx context.Context, o InstallOptions) (Kernel, error) {
	k, err := install(ctx, o)
	if err != nil && !errors.Is(err, ErrUnavailable) {
		return Kernel{}, fmt.Errorf("installing the guest kernel of %s: %w", o.File, err)
	}
	return k, err
}

func install(ctx context.Context, o InstallOptions) (k Kernel, err error) {
	if err := runsHere(); err != nil {
		return Kernel{}, err
	}
	if err := o.checkSum(); err != nil {
		return Kernel{}, err
	}
	if o.Cache, err = cacheDir(o.Cache); err != nil {
		return Kernel{}, err
	}
	f, err := newFolder(ctx, o.Cache, "install")
	if err != nil {
		return Kernel{}, err
	}
	defer func() { err = errors.Join(err, f.remove(ctx)) }()
	if k, err = unpackKernel(o.File, f.path); err != nil {
		return Kernel{}, err
	}
	v, err := k.fits()
	if err != nil {
		return Kernel{}, err
	}
	if err := k.says(k.Release); err != nil {
		return Kernel{}, err
	}
	return v.storeTried(ctx, o.Cache, k, o.Try)
}

// sums is the file beside those of a release that has their sums, as sha256sum writes them.
const sums = "SHA256SUMS"

// checkSum wants the file to have the sum that was named, or stands beside it.
func (o InstallOptions) checkSum() error {
	want := strings.ToLower(o.Sum)
	list := filepath.Join(filepath.Dir(o.File), sums)
	if want == "" {
		text, err := bounded.ReadFile(list, 1<<20)
		if errors.Is(err, fs.ErrNotExist) {
			o.Say("there is no " + sums + " beside it, so only the sum inside it is checked")
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == filepath.Base(o.File) {
				want = fields[0]
			}
		}
		if want == "" {
			return fmt.Errorf("%s does not name it: want the files of one release beside each other, or --sha256", list)
		}
	}
	sum, err := sumOf(o.File)
	if err == nil && sum != want {
		err = fmt.Errorf("its SHA-256 is %s, want %s", sum, want)
	}
	return err
}

// Bounds of what a packed kernel may hold.
const (
	maxImage = 64 << 20 // bytes of the kernel
	maxOther = 4 << 20  // bytes of any other file
	maxFiles = 32
)

// unpackKernel puts the files of a packed kernel into a folder, and reads what they say of it.
func unpackKernel(file, into string) (k Kernel, err error) {
	f, err := os.Open(file)
	if err != nil {
		return k, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return k, fmt.Errorf("it is no packed kernel: %w", err)
	}
	archive := tar.NewReader(z)
	for range maxFiles {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return described(into)
		}
		if err != nil {
			return k, fmt.Errorf("it is no packed kernel: %w", err)
		}
		name := path.Base(h.Name)
		if h.Typeflag != tar.TypeReg || !slices.Contains(append(kept(), aboutName), name) {
			continue
		}
		most, mode := int64(maxOther), fs.FileMode(0o644)
		if name == imageName {
			most, mode = maxImage, 0o755
		}
		text, err := bounded.ReadAll(archive, most)
		if err == nil {
			err = os.WriteFile(filepath.Join(into, name), text, mode)
		}
		if err != nil {
			return k, fmt.Errorf("unpacking %s: %w", h.Name, err)
		}
	}
	return k, fmt.Errorf("it is no packed kernel: it has more than %d files", maxFiles)
}

// described is the kernel that was unpacked into a folder, as its description says.
func described(folder string) (k Kernel, err error) {
	text, err := os.ReadFile(filepath.Join(folder, aboutName))
	if err != nil {
		return k, fmt.Errorf("it is no packed kernel: it has no %s", aboutName)
	}
	if err := json.Unmarshal(text, &k); err != nil {
		return k, fmt.Errorf("its %s is damaged: %w", aboutName, err)
	}
	k.Path = filepath.Join(folder, imageName)
	sum, err := sumOf(k.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("it is no packed kernel: it has no %s", imageName)
	}
	if err == nil && sum != k.Sum {
		err = fmt.Errorf("it is damaged: the SHA-256 of %s is %s, want %s", imageName, sum, k.Sum)
	}
	return k, err
}

// fits is the kernel's version, if it is one that labs can have here.
func (k Kernel) fits() (version, error) {
	v, err := versionOf(k.Version)
	if err != nil {
		return version{}, err
	}
	if k.Recipe != v.recipe() {
		return version{}, fmt.Errorf("it is for another version of aqmlab (its recipe is %q, want %q): take that of the release that this program is of, or %s", k.Recipe, v.recipe(), v.command())
	}
	return v, nil
}

// says wants the kernel to run here, and to be of a release.
func (k Kernel) says(want string) error {
	release, err := k.release()
	if err != nil {
		return fmt.Errorf("it does not run on this machine: %w", err)
	}
	if release != want {
		return fmt.Errorf("the kernel is Linux %s, want %s", release, want)
	}
	return nil
}
