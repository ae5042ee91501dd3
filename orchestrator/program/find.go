package program

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/orchestrator/host"
)

// Find is where a command lies on this machine that is to be run in the file system below
// a root, where execvp(3) looks for it with that environment. The error says what is
// missing: the program, or what it is interpreted by.
func Find(root, command string, env []string) (at string, err error) {
	if at, err = lookPath(root, command, pathOf(env)); err != nil {
		return "", err
	}
	interpreter, err := interpreterOf(at)
	if err != nil || interpreter == "" {
		return at, err
	}
	if _, err := executable(root, interpreter); err != nil {
		return "", fmt.Errorf("%s is run by %s: %w", at, interpreter, err)
	}
	return at, nil
}

// lookPath is where a command lies on this machine.
func lookPath(root, command, path string) (at string, err error) {
	if strings.Contains(command, "/") {
		return executable(root, command)
	}
	for _, dir := range filepath.SplitList(path) {
		at, err := executable(root, filepath.Join(dir, command))
		if !errors.Is(err, fs.ErrNotExist) {
			return at, err
		}
	}
	return "", fmt.Errorf("there is no %s in %s of %s: want it installed there, or another path", command, path, root)
}

// interpreterOf is what runs a program: the #! of a script, the dynamic linker of what is
// not static. Other kinds, which a kernel may be told of by binfmt_misc(5), have none.
func interpreterOf(at string) (string, error) {
	f, err := os.Open(at)
	if errors.Is(err, fs.ErrPermission) { // one may run what one cannot read
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	begin := make([]byte, 256) // as much as the kernel reads
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("reading %s: %w", at, err)
	}
	if script, ok := bytes.CutPrefix(begin[:n], []byte("#!")); ok {
		line, _, _ := bytes.Cut(script, []byte("\n"))
		if words := strings.Fields(string(line)); len(words) > 0 {
			return words[0], nil
		}
		return "", fmt.Errorf("%s is a script whose first line names no interpreter", at)
	}
	loader, err := host.Loader(at)
	if err != nil {
		return "", nil // it is no ELF file
	}
	return loader, nil
}

// executable looks at a file in place of which a link may lie, that the root is no part of.
func executable(root, file string) (at string, err error) {
	const most = 40 // links, as in path_resolution(7)
	for range most {
		at = filepath.Join(root, file)
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0 && (info.IsDir() || info.Mode()&0o111 == 0):
			return "", fmt.Errorf("%s is not a program", at)
		case info.Mode()&fs.ModeSymlink == 0:
			return at, nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return "", fmt.Errorf("%s: too many links", file)
}
