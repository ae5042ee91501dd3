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

func TestFindSource(t *testing.T) {
	dir := t.TempDir()
	pattern := filepath.Join(dir, "linux-source-*.tar.*")
	_, err := findSource(pattern)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "apt-get install linux-source-") {
		t.Errorf("without any: %v, want what to install", err)
	}
	for _, c := range []struct{ add, want string }{
		{"linux-source-6.0.tar.xz", "linux-source-6.0.tar.xz"},
		{"linux-source-6.2.tar.xz", "linux-source-6.2.tar.xz"},   // the newest
		{"linux-source-6.1.tar.zst", "linux-source-6.1.tar.zst"}, // the preferred
		{"linux-source-6.12.tar.xz", "linux-source-6.1.tar.zst"},
	} {
		touch(t, filepath.Join(dir, c.add))
		got, err := findSource(pattern)
		if err != nil || filepath.Base(got) != c.want {
			t.Errorf("with %s: %s, %v; want %s", c.add, got, err, c.want)
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
