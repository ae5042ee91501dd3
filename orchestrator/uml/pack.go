package uml

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// readmeName is the file of a packed kernel that says what it is.
const readmeName = "README"

// PackOptions say what [Pack] writes.
type PackOptions struct {
	Version string // one of [Versions]; empty: the first
	Source  string // archive that the kernel was built from; empty: where it was then, or Debian puts it
	Libc    string // folder with the source of the C library in it; empty: the package glibc-source
	Cache   string // folder of the kernels; empty: the user's own
	Out     string // folder of the files
}

// Pack writes a kernel as a file that [Install] takes, and beside it one with the whole
// source that it was built from, which its license asks for: whoever publishes the one has
// to publish the other at the same place. The same kernel and source give the same bytes.
func Pack(o PackOptions) (files []string, err error) {
	v, err := versionOf(o.Version)
	if err != nil {
		return nil, err
	}
	if o.Cache, err = cacheDir(o.Cache); err != nil {
		return nil, err
	}
	k, err := v.find(o.Cache)
	if err != nil {
		return nil, err
	}
	p := packing{kernel: k, dir: v.folder(o.Cache), source: cmp.Or(o.Source, k.Source), libc: o.Libc}
	if p.source == filepath.Base(p.source) { // of a kernel that was built elsewhere
		p.source = filepath.Join(debianSource, p.source)
	}
	err = p.check()
	if err == nil && p.libc == "" {
		p.libc, err = k.libcSource()
	}
	if err != nil {
		return nil, fmt.Errorf("packing Linux %s: %w", k.Release, err)
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, fmt.Errorf("packing Linux %s: %w", k.Release, err)
	}
	name := filepath.Join(o.Out, "aqmlab-kernel-"+k.Release)
	files = []string{name + "-amd64.tar.gz", name + "-source.tar"}
	err = errors.Join(written(files[0], p.writeKernel), written(files[1], p.writeSource))
	if err != nil {
		return nil, fmt.Errorf("packing Linux %s: %w", k.Release, err)
	}
	return files, nil
}

// written has a file written, which is there whole or not at all.
func written(path string, write func(io.Writer) error) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), path)
}

// packing is a kernel that is packed.
type packing struct {
	kernel Kernel
	dir    string // that it lies in
	source string // archive that it was built from
	libc   string // folder with the source of the C library
}

// check wants all that belongs to the kernel, and the source that it was built from.
func (p packing) check() error {
	for _, name := range kept() {
		if _, err := os.Stat(filepath.Join(p.dir, name)); err != nil {
			return fmt.Errorf("it was built without noting all that belongs to it (%w): build it anew", err)
		}
	}
	if p.kernel.SourceSum == "" {
		return fmt.Errorf("it was built from the folder %s: build it from an archive", p.kernel.Source)
	}
	sum, err := sumOf(p.source)
	if err != nil {
		return fmt.Errorf("the source that it was built from: %w", err)
	}
	if sum != p.kernel.SourceSum {
		return fmt.Errorf("%s is not the source that it was built from: its SHA-256 is %s, want %s (build it anew)", p.source, sum, p.kernel.SourceSum)
	}
	return nil
}

// debianLibc is where Debian's package glibc-source puts its files.
const debianLibc = "/usr/src/glibc"

// libcSource is the folder of the installed source of the C library that is linked with
// the kernel.
func (k Kernel) libcSource() (string, error) {
	const name = "glibc-source"
	there := packageVersion(name)
	if k.Library == "" || there != k.Library {
		return "", fmt.Errorf("the kernel has the GNU C library in it (%s), whose license asks for its source, too: apt-get install %[2]s=%[1]s, or name a folder of it with --libc", cmp.Or(k.Library, "VERSION"), name)
	}
	return debianLibc, nil
}

// about is what describes the kernel on any machine.
func (p packing) about() ([]byte, error) {
	k := p.kernel
	k.Path, k.Source, k.Built = "", filepath.Base(p.source), time.Time{}
	text, err := json.MarshalIndent(k, "", "  ")
	return append(text, '\n'), err
}

func (p packing) readme() []byte {
	k, source, library := p.kernel, filepath.Base(p.source), ""
	if k.Library != "" {
		library = " (Debian's " + k.Library + ")"
	}
	return fmt.Appendf(nil, `The guest kernel of aqmlab's runtime uml: Linux %[1]s as an ordinary process
(User-Mode Linux), for amd64. The aqmlab of the same release installs it:

    aqmlab kernel install aqmlab-kernel-%[1]s-amd64.tar.gz

Linux is free software under the GNU General Public License, version 2 (COPYING).
It comes without any warranty. Its whole source is published beside it, in
aqmlab-kernel-%[1]s-source.tar: the archive %[2]s, what was changed
(changes.patch) and the options (config). The SHA-256 of the archive is
%[3]s

To build the kernel from that:

    tar xf %[2]s && cd linux-*/
    patch -p1 <../changes.patch
    cp ../config .config
    make ARCH=um olddefconfig
    make ARCH=um KBUILD_BUILD_TIMESTAMP=%[5]s KBUILD_BUILD_USER=%[6]s KBUILD_BUILD_HOST=%[6]s linux
    strip linux

It was compiled by %[4]s.

The kernel is linked with the GNU C library%[7]s, which is free software under the
GNU Lesser General Public License, version 2.1 (COPYING). Its source is in the folder
glibc of aqmlab-kernel-%[1]s-source.tar. To use another version of it, install that
and build the kernel as above.
`, k.Release, source, k.SourceSum, k.Compiler, buildDate, builder, library)
}

func (p packing) writeKernel(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(p.write(z, p.besides(kept()...)), z.Close())
}

func (p packing) writeSource(w io.Writer) error {
	files := p.besides(configName, patchName, licenseName)
	files[filepath.Base(p.source)] = p.source
	before := len(files)
	err := filepath.WalkDir(p.libc, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(p.libc, path)
		files["glibc/"+filepath.ToSlash(name)] = path
		return err
	})
	if err == nil && len(files) == before {
		err = fmt.Errorf("nothing is in %s", p.libc)
	}
	if err != nil {
		return fmt.Errorf("the source of the C library: %w", err)
	}
	return p.write(w, files)
}

// besides are files of the cache, by their names in an archive.
func (p packing) besides(names ...string) map[string]string {
	files := make(map[string]string)
	for _, name := range names {
		files[name] = filepath.Join(p.dir, name)
	}
	return files
}

// write writes an archive of files, with what describes the kernel.
func (p packing) write(w io.Writer, files map[string]string) error {
	about, err := p.about()
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	top := "aqmlab-kernel-" + p.kernel.Release + "/"
	if err := errors.Join(put(t, top+aboutName, about), put(t, top+readmeName, p.readme())); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := putFile(t, top+name, files[name]); err != nil {
			return fmt.Errorf("%s: %w", files[name], err)
		}
	}
	return t.Close()
}

// header is that of a file: nothing of it tells when and by whom it was packed.
func header(name string, size int64) *tar.Header {
	h := &tar.Header{Name: name, Size: size, Mode: 0o644, ModTime: begin, Format: tar.FormatUSTAR}
	if path.Base(name) == imageName {
		h.Mode = 0o755
	}
	return h
}

func put(t *tar.Writer, name string, text []byte) error {
	if err := t.WriteHeader(header(name, int64(len(text)))); err != nil {
		return err
	}
	_, err := t.Write(text)
	return err
}

func putFile(t *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(header(name, info.Size())); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
