package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find tells why a command is not to be found in the file system below a root, as
// execvp(3) looks for it with that environment.
func Find(root, command string, env []string) error {
	path := pathOf(env)
	if strings.Contains(command, "/") {
		return executable(root, command)
	}
	for _, dir := range filepath.SplitList(path) {
		err := executable(root, filepath.Join(dir, command))
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("there is no %s in %s of %s: want it installed there, or another path", command, path, root)
}

// executable looks at a file in place of which a link may lie, that the root is no part of.
func executable(root, file string) error {
	const most = 40 // links, as in path_resolution(7)
	for range most {
		at := filepath.Join(root, file)
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink == 0 && (info.IsDir() || info.Mode()&0o111 == 0):
			return fmt.Errorf("%s is not a program", at)
		case info.Mode()&fs.ModeSymlink == 0:
			return nil
		}
		to, err := os.Readlink(at)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		file = to
	}
	return fmt.Errorf("%s: too many links", file)
}
