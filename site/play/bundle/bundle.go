// Package bundle puts together the page that runs labs in a browser: its files, the
// simulator as WebAssembly, and what Go's own releases have to start it. The page is
// static, and asks no other server for anything.
package bundle

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed page
var page embed.FS

// program is the package of the simulator for pages.
const program = "aqmlab/site/play/wasm"

// Write writes the page into a folder, which is made. The simulator is built by the go
// command, within the module that the working directory is in. The same sources and Go
// release give the same bytes.
func Write(ctx context.Context, dir string) error {
	files, err := fs.Sub(page, "page")
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the page: %w", err)
	}
	if err := writeAll(dir, files); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	root, err := command(ctx, "env", "GOROOT")
	if err != nil {
		return err
	}
	start, err := os.ReadFile(filepath.Join(strings.TrimSpace(root), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("reading what starts WebAssembly: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wasm_exec.js"), start, 0o644); err != nil {
		return fmt.Errorf("writing what starts WebAssembly: %w", err)
	}
	return writeSimulator(ctx, filepath.Join(dir, "play.wasm.gz"))
}

// writeAll writes files into a folder that is there.
func writeAll(dir string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o644)
	})
}

// writeSimulator builds the simulator, compressed.
func writeSimulator(ctx context.Context, path string) error {
	tmp, err := os.MkdirTemp("", "aqmlab-wasm-")
	if err != nil {
		return fmt.Errorf("building the simulator: %w", err)
	}
	defer os.RemoveAll(tmp)
	built := filepath.Join(tmp, "play.wasm")
	if _, err := command(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", built, program); err != nil {
		return err
	}
	data, err := os.ReadFile(built)
	if err != nil {
		return fmt.Errorf("reading the simulator: %w", err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("compressing the simulator: %w", err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the simulator: %w", err)
	}
	return nil
}

// command runs the go command for a browser, and answers what it prints.
func command(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, &complaint)
	}
	return out.String(), nil
}
