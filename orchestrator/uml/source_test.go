package uml

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// touch makes empty files, and the folders above them.
func touch(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFindSource: a version is built of its own source, whatever else is installed.
func TestFindSource(t *testing.T) {
	dir := t.TempDir()
	v := version{name: "6.1"}
	for _, other := range []string{"", "linux-source-6.0.tar.xz", "linux-source-6.12.tar.xz", "linux-source-6.1"} {
		if other != "" {
			touch(t, filepath.Join(dir, other))
		}
		if got, err := v.findSource(dir); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "apt-get install linux-source-6.1,") {
			t.Errorf("beside %q: %s, %v; want what to install", other, got, err)
		}
	}
	want := filepath.Join(dir, "linux-source-6.1.tar.zst")
	touch(t, want)
	if got, err := v.findSource(dir); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// TestSourceOfOtherVersion: a source says which Linux it is. That of another known version
// is answered with the command that builds it.
func TestSourceOfOtherVersion(t *testing.T) {
	for makefile, want := range map[string]string{
		"# SPDX\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\n": "",
		"VERSION = 6\nPATCHLEVEL = 12\n":                        "aqmlab kernel build --version 6.12",
		"VERSION = 5\nPATCHLEVEL = 10\n":                        "Linux 5.10: want one of 6.1, 6.12",
		"-":                                                     "Makefile: no such file",
	} {
		tree := t.TempDir()
		if makefile != "-" {
			if err := os.WriteFile(filepath.Join(tree, "Makefile"), []byte(makefile), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := table()[0].is(tree)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", makefile, err, want)
		}
	}
}

// TestUnpack: trees and archives give a copy; what is no kernel is refused.
func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	tree, other := filepath.Join(dir, "linux-1.2"), filepath.Join(dir, "other")
	touch(t, filepath.Join(tree, "arch/um/Kconfig"), filepath.Join(other, "README"))
	archive := filepath.Join(dir, "linux-1.2.tar")
	if out, err := exec.Command("tar", "-C", dir, "-cf", archive, "linux-1.2").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	for source, want := range map[string]string{
		tree: "", archive: "",
		other:                                  "no arch/um",
		filepath.Join(other, "README"):         "unpacking",
		filepath.Join(dir, "nothing-is-there"): "no such file",
	} {
		into := t.TempDir()
		got, err := unpack(context.Background(), source, into)
		switch {
		case want != "":
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", source, err, want)
			}
		case err != nil:
			t.Errorf("%s: %v", source, err)
		default:
			if _, err := os.Stat(filepath.Join(got, "arch/um/Kconfig")); err != nil || !strings.HasPrefix(got, into) {
				t.Errorf("%s: unpacked to %s, %v", source, got, err)
			}
		}
	}
}

// TestUnpackInterrupted names why it was cut short, not how.
func TestUnpackInterrupted(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := unpack(ctx, t.TempDir(), t.TempDir()); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}
