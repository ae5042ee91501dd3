package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// ingredients fills a folder with what a release is made from: the program, for this machine
// alone, and texts that stand for those of the manual and of licenses.
func ingredients(t *testing.T) (dist string) {
	t.Helper()
	dist = t.TempDir()
	build := exec.Command("go", "build", "-C", "..", "-ldflags", "-s -w", "-o", filepath.Join(dist, "aqmlab-linux-"+runtime.GOARCH), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	for _, name := range []string{"LICENSES.txt", "NOTICES.txt", "manual/man/aqmlab.1", "manual/man/aqmlab-run.1", "manual/completions/aqmlab.bash", "manual/completions/_aqmlab", "manual/completions/aqmlab.fish"} {
		path := filepath.Join(dist, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(".SH "+name+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dist
}

// made is a release of this machine's program.
func made(t *testing.T) (dist string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages are for Linux")
	}
	dist = ingredients(t)
	if err := run("..", dist, io.Discard); err != nil {
		t.Fatal(err)
	}
	return dist
}

// only is the file of a folder that a pattern matches.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// TestRelease: one release, looked at from all sides.
func TestRelease(t *testing.T) {
	dist := made(t)
	t.Run("deb", func(t *testing.T) { installDeb(t, only(t, dist, "*.deb")) })
	t.Run("rpm", func(t *testing.T) { readRPM(t, only(t, dist, "*.rpm"), dist) })
	t.Run("layout", func(t *testing.T) { checkLayout(t, only(t, dist, "*.tar"), dist) })
	t.Run("docker", func(t *testing.T) { loadImage(t, only(t, dist, "*.tar")) })
	t.Run("same bytes", func(t *testing.T) { makeAgain(t, dist) })
}

// inPackage are some of the files that every package has.
func inPackage() []string {
	return []string{
		"/usr/bin/aqmlab", "/usr/share/man/man1/aqmlab.1.gz", "/usr/share/man/man1/aqmlab-run.1.gz", "/usr/share/bash-completion/completions/aqmlab",
		"/usr/share/fish/vendor_completions.d/aqmlab.fish", "/usr/share/doc/aqmlab/NOTICES.txt", "/usr/share/doc/aqmlab/CHANGELOG.md",
	}
}

// installDeb: dpkg installs the package into a folder, where nothing else is, and the
// program runs there a lab that ships with it. Removed, it leaves nothing.
func installDeb(t *testing.T, deb string) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: to install a package in a folder")
	}
	root := t.TempDir()
	admin := filepath.Join(root, "var/lib/dpkg")
	err := errors.Join(os.MkdirAll(filepath.Join(admin, "info"), 0o755), os.Mkdir(filepath.Join(admin, "updates"), 0o755), os.Mkdir(filepath.Join(root, "tmp"), 0o777),
		os.WriteFile(filepath.Join(admin, "status"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	command(t, "dpkg", "--root="+root, "--force-script-chrootless", "--log=/dev/null", "--install", deb)
	for _, name := range append(inPackage(), "/usr/share/doc/aqmlab/copyright", "/usr/share/zsh/vendor-completions/_aqmlab") {
		if info, err := os.Stat(root + name); err != nil || info.Size() == 0 || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	page := gunzip(t, root+"/usr/share/man/man1/aqmlab.1.gz")
	if !strings.Contains(page, ".SH") {
		t.Errorf("the man page is %.80q", page)
	}
	out := command(t, "chroot", root, "/usr/bin/aqmlab", "run", "quickstart", "--runtime", "sim", "--flows", "20", "--out", "/tmp")
	if !strings.Contains(out, "dctcp-red") {
		t.Errorf("the installed program printed\n%s", out)
	}
	command(t, "dpkg", "--root="+root, "--force-script-chrootless", "--log=/dev/null", "--purge", "aqmlab")
	if left, _ := filepath.Glob(root + "/usr/*/aqmlab*"); len(left) > 0 {
		t.Errorf("removed, it leaves %v", left)
	}
}

// readRPM: rpm knows the package, which holds the program.
func readRPM(t *testing.T, file, dist string) {
	if _, err := exec.LookPath("rpm2cpio"); err != nil {
		t.Skip("no rpm on this machine")
	}
	command(t, "rpm", "--checksig", "--nosignature", file)
	listed := strings.Split(command(t, "rpm", "-qlp", "--nosignature", file), "\n")
	for _, name := range append(inPackage(), "/usr/share/licenses/aqmlab/LICENSE", "/usr/share/zsh/site-functions/_aqmlab") {
		if !slices.Contains(listed, name) {
			t.Errorf("the package has no %s", name)
		}
	}
	about := command(t, "rpm", "-qp", "--nosignature", "--qf", "%{NAME} %{LICENSE} %{ARCH} [%{RECOMMENDS} ]", file)
	for _, want := range []string{"aqmlab Apache-2.0 ", "iproute"} {
		if !strings.Contains(about, want) {
			t.Errorf("the package says %q, want %q", about, want)
		}
	}
	root := t.TempDir()
	command(t, "sh", "-c", `cd "$0" && rpm2cpio "$1" | cpio --quiet --no-absolute-filenames -id`, root, file)
	a, err := os.ReadFile(only(t, dist, "aqmlab-linux-*"))
	b, unpacked := os.ReadFile(filepath.Join(root, "usr/bin/aqmlab"))
	if err != nil || unpacked != nil || !bytes.Equal(a, b) {
		t.Errorf("the program in the package is another: %v, %v", err, unpacked)
	}
}

// checkLayout: the image is a layout of OCI: all that it names is there, with its digest and
// size, and its only layer has the program.
func checkLayout(t *testing.T, file, dist string) {
	in := read(t, file, false)
	blob := func(d v1.Descriptor) []byte {
		text, ok := in[blobPath(d)]
		if !ok || digest.FromBytes(text) != d.Digest || int64(len(text)) != d.Size {
			t.Errorf("%s of %s: there %t, %d bytes, want %d", d.Digest, d.MediaType, ok, len(text), d.Size)
		}
		return text
	}
	var layout v1.ImageLayout
	var index v1.Index
	decode(t, in[v1.ImageLayoutFile], &layout)
	decode(t, in[v1.ImageIndexFile], &index)
	if layout.Version != "1.0.0" || len(index.Manifests) != 2 || index.Manifests[0].Digest != index.Manifests[1].Digest || index.Manifests[0].Platform.Architecture != runtime.GOARCH {
		t.Fatalf("layout %+v, index %+v", layout, index)
	}
	var manifest v1.Manifest
	var config v1.Image
	decode(t, blob(index.Manifests[0]), &manifest)
	decode(t, blob(manifest.Config), &config)
	packed := filepath.Join(t.TempDir(), "layer")
	if err := os.WriteFile(packed, blob(manifest.Layers[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	raw := gunzip(t, packed)
	if id := digest.FromString(raw); len(config.RootFS.DiffIDs) != 1 || id != config.RootFS.DiffIDs[0] {
		t.Errorf("the layer is %s, want %v", id, config.RootFS.DiffIDs)
	}
	program, err := os.ReadFile(only(t, dist, "aqmlab-linux-*"))
	if got := read(t, packed, true)[imageBinary]; err != nil || !bytes.Equal(got, program) {
		t.Errorf("the program in the image is another: %v", err)
	}
	for _, label := range []string{v1.AnnotationTitle, v1.AnnotationVersion, v1.AnnotationLicenses} {
		if config.Config.Labels[label] == "" {
			t.Errorf("the image has no label %s", label)
		}
	}
}

// loadImage: an engine loads the image, and a container of it runs a lab, as any user, into
// the folder that is mounted.
func loadImage(t *testing.T, file string) {
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		t.Skipf("no Docker daemon answers: %v\n%s", err, out)
	}
	name := "aqmlab-release-test:" + strconv.Itoa(os.Getpid())
	renamed := filepath.Join(t.TempDir(), "image.tar")
	rename(t, file, renamed, name)
	command(t, "docker", "load", "--input", renamed)
	t.Cleanup(func() { command(t, "docker", "image", "rm", name) })
	work := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(work), 0o755), os.Chmod(work, 0o777)); err != nil {
		t.Fatal(err)
	}
	out := command(t, "docker", "run", "--rm", "--network", "none", "--user", "65534:65534", "--volume", work+":/work", name, "run", "quickstart", "--runtime", "sim", "--flows", "20")
	if !strings.Contains(out, "dctcp-red") {
		t.Errorf("the container printed\n%s", out)
	}
	only(t, work, "results/runs/*-quickstart-*")
}

// rename writes the image with one name alone, so that one which is there keeps its own.
func rename(t *testing.T, from, to, name string) {
	t.Helper()
	in := read(t, from, false)
	var older []map[string]any
	decode(t, in["manifest.json"], &older)
	older[0]["RepoTags"] = []string{name}
	var err error
	if in["manifest.json"], err = json.Marshal(older); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{v1.ImageIndexFile, v1.ImageLayoutFile} {
		delete(in, other)
	}
	var b bytes.Buffer
	if err := errors.Join(archive(&b, begin, in), os.WriteFile(to, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// makeAgain: the same programs give the same files in another folder.
func makeAgain(t *testing.T, dist string) {
	other := filepath.Join(t.TempDir(), "a", "longer", "name")
	if err := os.CopyFS(other, os.DirFS(dist)); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.deb", "*.rpm", "*.tar"} {
		if err := os.Remove(only(t, other, pattern)); err != nil {
			t.Fatal(err)
		}
	}
	if err := run("..", other, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.deb", "*.rpm", "*.tar"} {
		a, err := os.ReadFile(only(t, dist, pattern))
		b, again := os.ReadFile(only(t, other, pattern))
		if err != nil || again != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: made twice it is not the same: %v, %v", pattern, err, again)
		}
	}
}

// TestNoRelease: what is missing is named.
func TestNoRelease(t *testing.T) {
	dist := t.TempDir()
	if err := run("..", dist, io.Discard); err == nil || !strings.Contains(err.Error(), "aqmlab-linux-") {
		t.Errorf("without programs: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dist, "aqmlab-linux-sparc"), text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run("..", dist, io.Discard); err == nil || !strings.Contains(err.Error(), "is no static program for sparc") {
		t.Errorf("with a program for another machine: %v", err)
	}
}

func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

func gunzip(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// read are the files of an archive.
func read(t *testing.T, file string, zipped bool) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if zipped {
		text = []byte(gunzip(t, file))
	}
	in := make(map[string][]byte)
	for r := tar.NewReader(bytes.NewReader(text)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return in
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if in[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}
