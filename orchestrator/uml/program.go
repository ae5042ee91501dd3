package uml

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/orchestrator/host"
)

// self is this program's file, even if another has taken its place since.
const self = "/proc/self/exe"

// Where a guest has the program, and the libraries of one that is not static.
const (
	programName = "aqmlab"
	libraryDir  = "lib"
)

// ownFiles are the files that this program consists of, by their path in a guest:
// its own, and if it is dynamic (as built with cgo) its loader and the libraries that
// it has loaded.
func ownFiles() (map[string]string, error) {
	files := map[string]string{programName: self}
	loader, err := host.Loader(self)
	if err != nil || loader == "" {
		return files, err
	}
	files[loader] = loader
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	program, err := os.Readlink(self)
	if err != nil {
		return nil, err
	}
	for _, path := range mappedCode(string(maps)) {
		if path == program {
			continue
		}
		name, err := soName(path)
		if err != nil {
			return nil, fmt.Errorf("%w can run this program: its library %s: %w (build it anew, or with CGO_ENABLED=0)", ErrUnavailable, path, err)
		}
		files[filepath.Join(libraryDir, name)] = path
	}
	return files, nil
}

// mappedCode lists the files whose code a process has in memory, from the text of
// its /proc/PID/maps: address, rights, offset, device, inode, path.
func mappedCode(maps string) []string {
	var files []string
	for line := range strings.Lines(maps) {
		fields := strings.Fields(line)
		if len(fields) >= 6 && strings.Contains(fields[1], "x") && strings.HasPrefix(fields[5], "/") {
			files = append(files, strings.Join(fields[5:], " "))
		}
	}
	return files
}

// soName is the name by which programs ask for a library.
func soName(library string) (string, error) {
	f, err := elf.Open(library)
	if err != nil {
		return "", err // also of one that was replaced: its path then ends with "(deleted)"
	}
	defer f.Close()
	names, err := f.DynString(elf.DT_SONAME)
	if err != nil {
		return "", err
	}
	return append(names, filepath.Base(library))[0], nil
}

// copyFiles copies files below a folder, so that guests can have them as links and
// they stay what they are if they are replaced meanwhile.
func copyFiles(dir string, files map[string]string) error {
	for inside, from := range files {
		if err := copyFile(filepath.Join(dir, inside), from); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
