package vm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// write makes a file and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// install puts a kernel below root, installed at that second of 1970.
func install(t *testing.T, root, release string, second int64) {
	t.Helper()
	image := filepath.Join(root, "boot/vmlinuz-"+release)
	write(t, image, "image")
	write(t, filepath.Join(root, "lib/modules", release, "modules.dep"), "")
	if err := os.Chtimes(image, time.Time{}, time.Unix(second, 0)); err != nil {
		t.Fatal(err)
	}
}

// TestFindKernel takes the kernel installed last, whatever its number, and
// passes over what is not whole.
func TestFindKernel(t *testing.T) {
	root := t.TempDir()
	install(t, root, "6.1.0-9-amd64", 30)
	install(t, root, "6.1.0-56-amd64", 20)
	install(t, root, "6.12.1-arm64", 50)
	write(t, filepath.Join(root, "lib/modules/6.12.0-1-amd64/modules.dep"), "") // no image
	write(t, filepath.Join(root, "boot/vmlinuz-6.13.0-1-amd64"), "")            // no modules
	k, err := findKernel(root)
	want := Kernel{"6.1.0-9-amd64", filepath.Join(root, "boot/vmlinuz-6.1.0-9-amd64"), filepath.Join(root, "lib/modules/6.1.0-9-amd64")}
	if err != nil || k != want {
		t.Errorf("%+v, %v; want %+v", k, err, want)
	}
}

// TestNoKernel: the error tells what to install, and what stood in the way.
func TestNoKernel(t *testing.T) {
	empty, half := t.TempDir(), t.TempDir()
	write(t, filepath.Join(half, "lib/modules/6.1.0-9-amd64/modules.dep"), "")
	for root, want := range map[string]string{empty: "none is installed", half: "vmlinuz-6.1.0-9-amd64: no such file"} {
		_, err := findKernel(root)
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "linux-image-amd64") {
			t.Errorf("%v: want one about %q and linux-image-amd64", err, want)
		}
	}
}

// TestNoQEMU: the error tells what to install.
func TestNoQEMU(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "qemu-system-x86") {
		t.Errorf("%v: want one that names qemu-system-x86", err)
	}
}

// kernel has modules in all the forms that distributions ship.
func kernel(t *testing.T) Kernel {
	t.Helper()
	k := Kernel{Release: "6.1", Modules: t.TempDir()}
	write(t, filepath.Join(k.Modules, "modules.builtin"), "kernel/net/sched/sch_fq-codel.ko\n")
	write(t, filepath.Join(k.Modules, "modules.dep"), `kernel/a.ko:
kernel/b-b.ko.xz: kernel/a.ko
kernel/net/c.ko.zst: kernel/b-b.ko.xz kernel/a.ko
kernel/d.ko.gz: kernel/a.ko
`)
	for _, name := range []string{"kernel/a.ko", "kernel/b-b.ko", "kernel/net/c.ko", "kernel/d.ko"} {
		write(t, filepath.Join(k.Modules, name), "module "+name)
	}
	return k
}

// TestModuleFiles: depmod lists of each module all that it needs, the first to
// load at the end.
func TestModuleFiles(t *testing.T) {
	tests := []struct{ names, want string }{
		{"", ""},
		{"a", "kernel/a.ko"},
		{"c", "kernel/a.ko kernel/b-b.ko.xz kernel/net/c.ko.zst"},
		{"b-b d", "kernel/a.ko kernel/b-b.ko.xz kernel/d.ko.gz"},
		{"b_b a b-b", "kernel/a.ko kernel/b-b.ko.xz"},
		{"sch_fq_codel", ""}, // built in
	}
	k := kernel(t)
	for _, tt := range tests {
		got, err := k.moduleFiles(strings.Fields(tt.names))
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %v, %v; want %s", tt.names, got, err, tt.want)
		}
	}
	if _, err := k.moduleFiles([]string{"a", "netem"}); err == nil || err.Error() != "kernel 6.1 has no module netem" {
		t.Errorf("netem: %v", err)
	}
}

// TestReadModule unpacks what a distribution packed.
func TestReadModule(t *testing.T) {
	k := kernel(t)
	for file, pack := range map[string][]string{"kernel/a.ko": nil, "kernel/b-b.ko.xz": {"xz"}, "kernel/net/c.ko.zst": {"zstd", "-q", "--rm"}, "kernel/d.ko.gz": {"gzip"}} {
		plain := strings.TrimSuffix(file, filepath.Ext(file))
		if pack == nil {
			plain = file
		} else if _, err := exec.LookPath(pack[0]); err != nil {
			t.Logf("%s: left out, because %v", file, err)
			continue
		} else if out, err := exec.Command(pack[0], append(pack[1:], filepath.Join(k.Modules, plain))...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", pack, err, out)
		}
		if text, err := k.readModule(file); err != nil || string(text) != "module "+plain {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	write(t, filepath.Join(k.Modules, "kernel/bad.ko.gz"), "no such format")
	if _, err := k.readModule("kernel/bad.ko.gz"); err == nil || !strings.Contains(err.Error(), "unpack kernel/bad.ko.gz with gzip") {
		t.Errorf("bad file: %v", err)
	}
}
