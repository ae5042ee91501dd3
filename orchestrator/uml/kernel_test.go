package uml

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put stores a kernel with that recipe in a cache.
func put(t *testing.T, cache, recipe string) Kernel {
	t.Helper()
	image := filepath.Join(t.TempDir(), "built")
	touch(t, image)
	k, err := store(cache, image, Kernel{Release: "6.1.2", Source: "here", Recipe: recipe, Built: time.Unix(1, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestStoreAndFind: what was stored is found, and the next replaces it.
func TestStoreAndFind(t *testing.T) {
	cache := t.TempDir()
	for range 2 {
		k := put(t, cache, recipe())
		if got, err := find(cache); err != nil || got != k {
			t.Errorf("found %+v, %v; want %+v", got, err, k)
		}
	}
	if k, _ := find(cache); k.Path != filepath.Join(cache, "linux") {
		t.Errorf("it lies at %s", k.Path)
	}
}

// TestFindNothing: every reason why there is no kernel says how to make one.
func TestFindNothing(t *testing.T) {
	outdated, damaged, gone := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, outdated, "another")
	put(t, damaged, recipe())
	put(t, gone, recipe())
	err := errors.Join(os.WriteFile(filepath.Join(damaged, aboutName), []byte("{"), 0o644), os.Remove(filepath.Join(gone, imageName)))
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		t.TempDir(): "aqmlab kernel build",
		outdated:    "another version of aqmlab",
		damaged:     "damaged",
		gone:        "no such file",
	} {
		if _, err := find(dir); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), howToBuild) {
			t.Errorf("%v, want %q and how to build one", err, want)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/of/user")
	if dir, err := cacheDir(""); err != nil || dir != "/of/user/aqmlab/kernel" {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if _, err := Find(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("without a home: %v", err)
	}
	if dir, err := cacheDir("/given"); err != nil || dir != "/given" {
		t.Errorf("%s, %v", dir, err)
	}
}

// TestInstall: a kernel that does not pass the test leaves the one before in its
// place; one that does takes it.
func TestInstall(t *testing.T) {
	cache := t.TempDir()
	before := put(t, cache, recipe())
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Skip("needs a program that stands in for a kernel: ", err)
	}
	broken := errors.New("it does not boot")
	for _, wrong := range []error{broken, nil} {
		tree := t.TempDir()
		if err := os.WriteFile(filepath.Join(tree, imageName), program, 0o755); err != nil {
			t.Fatal(err)
		}
		var tried Kernel
		o := BuildOptions{Cache: cache, Try: func(_ context.Context, k Kernel) error {
			tried = k
			_, err := os.Stat(k.Path)
			return errors.Join(err, wrong)
		}}
		k, err := o.install(t.Context(), tree)
		if !errors.Is(err, wrong) || tried.Release == "" {
			t.Errorf("error %v, tried %+v; want %v", err, tried, wrong)
		}
		there, err := find(cache)
		if err != nil {
			t.Fatal(err)
		}
		if wrong != nil && there != before || wrong == nil && there != k {
			t.Errorf("after %v there is %+v", wrong, there)
		}
	}
}
