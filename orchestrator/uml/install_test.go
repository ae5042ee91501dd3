package uml

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standIn stands in for a kernel that says its release.
const standIn = "#!/bin/sh\necho 6.1.2\n"

// packed is a kernel in a cache, and the files that it is packed into.
func packed(t *testing.T) (o PackOptions, files []string) {
	t.Helper()
	dir := t.TempDir()
	o = PackOptions{Cache: filepath.Join(dir, "cache"), Source: filepath.Join(dir, "linux-source-6.1.tar.xz"), Libc: filepath.Join(dir, "libc"), Out: filepath.Join(dir, "out")}
	for path, text := range map[string]string{
		filepath.Join(dir, imageName): standIn, filepath.Join(dir, configName): "CONFIG_64BIT=y\n", filepath.Join(dir, patchName): "--- a/x\n",
		filepath.Join(dir, licenseName): "GPL\n", o.Source: "source\n", filepath.Join(o.Libc, "debian/patches/series"): "none\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	k := Kernel{Path: filepath.Join(dir, imageName), Version: "6.1", Release: "6.1.2", Source: o.Source, Recipe: table()[0].recipe(), Compiler: "gcc 12", Library: "2.36-9"}
	var err, sumErr error
	k.Sum, err = sumOf(k.Path)
	k.SourceSum, sumErr = sumOf(o.Source)
	if err := errors.Join(err, sumErr); err != nil {
		t.Fatal(err)
	}
	if _, err := table()[0].store(o.Cache, k); err != nil {
		t.Fatal(err)
	}
	if files, err = Pack(o); err != nil {
		t.Fatal(err)
	}
	return o, files
}

// TestPackAndInstall: what was packed is installed elsewhere, if it passes the test, with
// all that belongs to it.
func TestPackAndInstall(t *testing.T) {
	from, files := packed(t)
	broken := errors.New("it does not boot")
	for _, wrong := range []error{broken, nil} {
		cache := t.TempDir()
		before := cached(t, cache, table()[0], table()[0].recipe())
		k, err := Install(t.Context(), InstallOptions{File: files[0], Cache: cache, Say: func(string) {}, Try: func(context.Context, Kernel) error { return wrong }})
		if !errors.Is(err, wrong) {
			t.Errorf("error %v, want %v", err, wrong)
		}
		there, err := table()[0].find(cache)
		if err != nil || wrong != nil && there != before || wrong == nil && (there != k || k.Release != "6.1.2" || !k.Built.IsZero()) {
			t.Errorf("after %v there is %+v, %v", wrong, there, err)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "install-*")); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
		if wrong != nil {
			continue
		}
		again := from
		again.Cache, again.Out = cache, t.TempDir()
		if anew, err := Pack(again); err != nil || !sameFile(t, anew[0], files[0]) || !sameFile(t, anew[1], files[1]) {
			t.Errorf("packed again it is %v, %v", anew, err)
		}
		for _, name := range kept() {
			a, err := os.ReadFile(filepath.Join(from.Cache, name))
			b, installed := os.ReadFile(filepath.Join(cache, name))
			if err != nil || installed != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %v, %v", name, err, installed)
			}
		}
	}
}

func sameFile(t *testing.T, one, two string) bool {
	t.Helper()
	a, err := os.ReadFile(one)
	b, other := os.ReadFile(two)
	return err == nil && other == nil && bytes.Equal(a, b)
}

// TestPackSource: the source of a kernel is the archive that it was built from, what was
// changed, the options, the C library, and how to build it from these. Packed twice it is
// the same bytes.
func TestPackSource(t *testing.T) {
	o, files := packed(t)
	in := unpacked(t, files[1], false)
	const top = "aqmlab-kernel-6.1.2/"
	want := []string{"COPYING", "README", "changes.patch", "config", "glibc/debian/patches/series", "kernel.json", "linux-source-6.1.tar.xz"}
	for _, name := range want {
		if _, ok := in[top+name]; !ok {
			t.Errorf("the source has no %s", name)
		}
	}
	if len(in) != len(want) {
		t.Errorf("the source has %q", slices.Sorted(maps.Keys(in)))
	}
	sum, _ := sumOf(o.Source)
	for _, part := range []string{sum, "General Public License, version 2", "Lesser General Public License", "patch -p1", "ARCH=um", "gcc 12", "2.36-9"} {
		if !strings.Contains(in[top+readmeName], part) {
			t.Errorf("the README lacks %q:\n%s", part, in[top+readmeName])
		}
	}
	before := make(map[string]string)
	for _, f := range files {
		before[f], _ = sumOf(f)
	}
	again, err := Pack(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range again {
		if sum, _ := sumOf(f); sum != before[f] {
			t.Errorf("%s is %s, and was %s", f, sum, before[f])
		}
	}
}

// unpacked are the files of an archive.
func unpacked(t *testing.T, file string, zipped bool) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(bytes.NewReader(text))
	if zipped {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		archive = tar.NewReader(z)
	}
	in := make(map[string]string)
	for {
		h, err := archive.Next()
		if err != nil {
			return in
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(archive); err != nil {
			t.Fatal(err)
		}
		in[h.Name] = b.String()
	}
}

// TestPackRefuses what would be published without its source.
func TestPackRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(PackOptions) PackOptions
		want  string
	}{
		"another source": {func(o PackOptions) PackOptions { o.Source = filepath.Join(o.Libc, "debian/patches/series"); return o }, "is not the source that it was built from"},
		"no source":      {func(o PackOptions) PackOptions { o.Source += "x"; return o }, "no such file"},
		"no C library":   {func(o PackOptions) PackOptions { o.Libc = ""; return o }, "apt-get install glibc-source=2.36-9"},
		"an empty one":   {func(o PackOptions) PackOptions { o.Libc = t.TempDir(); return o }, "nothing is in"},
		"no patch": {func(o PackOptions) PackOptions {
			os.Remove(filepath.Join(o.Cache, patchName))
			return o
		}, "build it anew"},
		"no kernel": {func(o PackOptions) PackOptions { o.Cache = t.TempDir(); return o }, "aqmlab kernel build makes one"},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := packed(t)
			o = c.spoil(o)
			o.Out = t.TempDir()
			_, err := Pack(o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(o.Out, "*source*")); len(left) > 0 {
				t.Errorf("it wrote %v", left)
			}
		})
	}
}

// TestInstallRefuses: a kernel that is not the one that was published, or that labs cannot
// use, is refused, and nothing of it is installed.
func TestInstallRefuses(t *testing.T) {
	_, files := packed(t)
	good := unpacked(t, files[0], true)
	const about, image = "aqmlab-kernel-6.1.2/kernel.json", "aqmlab-kernel-6.1.2/linux"
	// changed is the description with another value of a key.
	changed := func(key string, value any) map[string]string {
		var k map[string]any
		if err := json.Unmarshal([]byte(good[about]), &k); err != nil {
			t.Fatal(err)
		}
		k[key] = value
		text, _ := json.Marshal(k)
		return map[string]string{about: string(text)}
	}
	crowd := make(map[string]string)
	for i := range 40 {
		crowd[fmt.Sprint("more/", i)] = ""
	}
	for name, c := range map[string]struct {
		with  map[string]string // files that are other ones; "-" is none
		sum   string
		sums  string // text of SHA256SUMS, if not empty
		raw   string // the whole file
		wants string
	}{
		"another sum":     {sum: strings.Repeat("0", 64), wants: "want 0000"},
		"not listed":      {sums: "abc  other\n", wants: "does not name it"},
		"listed wrong":    {sums: strings.Repeat("1", 64) + "  k.tar.gz\n", wants: "want 1111"},
		"no archive":      {raw: "hello", wants: "it is no packed kernel"},
		"no description":  {with: map[string]string{about: "-"}, wants: "no kernel.json"},
		"no JSON":         {with: map[string]string{about: "{"}, wants: "is damaged"},
		"no kernel":       {with: map[string]string{image: "-"}, wants: "has no linux"},
		"changed":         {with: map[string]string{image: standIn + "\n"}, wants: "it is damaged"},
		"too many files":  {with: crowd, wants: "more than 32 files"},
		"unknown version": {with: changed("version", "6.13"), wants: "want one of 6.1, 6.12"},
		"another recipe":  {with: changed("recipe", "12345678"), wants: "another version of aqmlab"},
		"another release": {with: changed("release", "6.1.3"), wants: "is Linux 6.1.2, want 6.1.3"},
		"too large":       {with: map[string]string{"x/config": strings.Repeat("x", maxOther+1)}, wants: "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, cache := t.TempDir(), t.TempDir()
			file := filepath.Join(dir, "k.tar.gz")
			in := maps.Clone(good)
			maps.Copy(in, c.with)
			text := []byte(c.raw)
			if c.raw == "" {
				text = archived(t, in)
			}
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if c.sums != "" {
				if err := os.WriteFile(filepath.Join(dir, sums), []byte(c.sums), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Install(t.Context(), InstallOptions{File: file, Sum: c.sum, Cache: cache, Say: func(string) {}})
			if err == nil || !strings.Contains(err.Error(), c.wants) || !strings.Contains(err.Error(), file) {
				t.Errorf("%v, want %q", err, c.wants)
			}
			if left, _ := os.ReadDir(cache); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
}

// archived is a packed kernel of these files.
func archived(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] == "-" {
			continue
		}
		if err := put(w, name, []byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPatch: what the edits change in a tree is noted as a patch.
func TestPatch(t *testing.T) {
	tree := filepath.Join(t.TempDir(), "linux")
	v := table()[0]
	for _, e := range v.edits() {
		path := filepath.Join(tree, e.File)
		before, _ := os.ReadFile(path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(before, e.Old+"\n"...), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.applyEditsNoted(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	patch, err := os.ReadFile(filepath.Join(tree, patchName))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range v.changed() {
		if !strings.Contains(string(patch), "\n+++ b/"+name+"\n") {
			t.Errorf("the patch lacks %s", name)
		}
	}
	if !strings.Contains(string(patch), "\n+#define TIMER_MULTIPLIER 1\n") || strings.Contains(string(patch), tree) {
		t.Errorf("the patch is\n%s", patch)
	}
}
