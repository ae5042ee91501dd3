package program

import (
	"slices"
	"strings"
)

// environment is that of a program: nothing of ours, so that it is the same everywhere.
func environment(own []string, dir string) []string {
	all := []string{"PATH=" + defaultPath, "HOME=" + dir, "LANG=C.UTF-8"}
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		all = slices.DeleteFunc(all, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		all = append(all, v)
	}
	return all
}

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// pathOf is where a program with that environment looks for others.
func pathOf(env []string) string {
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			return path
		}
	}
	return defaultPath
}
