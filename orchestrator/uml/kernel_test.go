package uml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// cached stores a kernel of a version with that recipe in a cache.
func cached(t *testing.T, cache string, v version, recipe string) Kernel {
	t.Helper()
	image := filepath.Join(t.TempDir(), imageName)
	touch(t, image)
	k, err := v.store(cache, Kernel{Path: image, Version: v.name, Release: v.name + ".2", Source: "here", Recipe: recipe, Built: time.Unix(1, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestStoreAndFind: what was stored is found, beside those of other versions, and the next
// of its version replaces it.
func TestStoreAndFind(t *testing.T) {
	cache := t.TempDir()
	for range 2 {
		for _, v := range table() {
			k := cached(t, cache, v, v.recipe())
			if got, err := v.find(cache); err != nil || got != k {
				t.Errorf("found %+v, %v; want %+v", got, err, k)
			}
		}
	}
	paths := make(map[string]bool)
	for _, v := range table() {
		k, err := v.find(cache)
		if err != nil || k.Version != v.name || paths[k.Path] || !strings.HasPrefix(k.Path, cache+"/") {
			t.Errorf("%+v, %v", k, err)
		}
		paths[k.Path] = true
	}
}

// TestFindOfBefore: a kernel is found that was stored when there was no other version.
func TestFindOfBefore(t *testing.T) {
	cache := t.TempDir()
	touch(t, filepath.Join(cache, "linux"))
	about := fmt.Sprintf(`{"path": "/elsewhere/linux", "release": "6.1.192", "source": "x", "recipe": %q, "built": "2026-11-23T05:31:11Z"}`, table()[0].recipe())
	if err := os.WriteFile(filepath.Join(cache, "kernel.json"), []byte(about), 0o644); err != nil {
		t.Fatal(err)
	}
	k, err := table()[0].find(cache)
	if err != nil || k.Version != "6.1" || k.Release != "6.1.192" || k.Path != filepath.Join(cache, "linux") {
		t.Errorf("%+v, %v", k, err)
	}
	if k, err := table()[1].find(cache); !errors.Is(err, ErrUnavailable) {
		t.Errorf("another version: %+v, %v", k, err)
	}
}

// TestFindNothing: every reason why there is no kernel says of which version, and how to
// make one.
func TestFindNothing(t *testing.T) {
	for i, command := range []string{"aqmlab kernel build makes one", "aqmlab kernel build --version 6.12 makes one"} {
		v := table()[i]
		outdated, damaged, gone := t.TempDir(), t.TempDir(), t.TempDir()
		cached(t, outdated, v, "another")
		cached(t, damaged, v, v.recipe())
		cached(t, gone, v, v.recipe())
		err := errors.Join(os.WriteFile(filepath.Join(v.folder(damaged), aboutName), []byte("{"), 0o644), os.Remove(filepath.Join(v.folder(gone), imageName)))
		if err != nil {
			t.Fatal(err)
		}
		for dir, want := range map[string]string{
			t.TempDir(): " in ",
			outdated:    "another version of aqmlab",
			damaged:     "damaged",
			gone:        "no such file",
		} {
			_, err := v.find(dir)
			if !errors.Is(err, ErrUnavailable) {
				t.Fatalf("%v, want that there is none", err)
			}
			for _, part := range []string{"no guest kernel of Linux " + v.name, want, command} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v lacks %q", err, part)
				}
			}
		}
	}
}

// TestUnknownVersion is answered with the known ones.
func TestUnknownVersion(t *testing.T) {
	_, found := Find("6.13")
	_, built := Build(t.Context(), BuildOptions{Version: "6.13"})
	for _, err := range []error{found, built} {
		if err == nil || !strings.Contains(err.Error(), `unknown guest kernel "6.13": want one of 6.1, 6.12`) {
			t.Errorf("%v", err)
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
	if _, err := Find(""); !errors.Is(err, ErrUnavailable) {
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
	v := table()[1]
	before := cached(t, cache, v, v.recipe())
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
		k, err := o.install(t.Context(), tree, v)
		if !errors.Is(err, wrong) || tried.Release == "" {
			t.Errorf("error %v, tried %+v; want %v", err, tried, wrong)
		}
		there, err := v.find(cache)
		if err != nil {
			t.Fatal(err)
		}
		if wrong != nil && there != before || wrong == nil && there != k {
			t.Errorf("after %v there is %+v", wrong, there)
		}
	}
}
