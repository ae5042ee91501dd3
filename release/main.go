// Command release makes what is installed without a compiler from the programs that are
// built: packages for Debian and for systems with RPM, and images for container engines. The
// same programs give the same bytes, whenever and wherever it runs.
//
//	go run . -root .. -dist ../dist
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the repository")
	dist := flag.String("dist", "../dist", "folder with the programs aqmlab-linux-ARCH, LICENSES.txt, NOTICES.txt and the manual, into which packages and images go")
	flag.Parse()
	if err := run(*root, *dist, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run makes packages and images of all programs for Linux, and prints their names.
func run(root, dist string, out io.Writer) error {
	const begin = "aqmlab-linux-" // and then the kind of machine, as Go calls it
	programs, err := filepath.Glob(filepath.Join(dist, begin+"*"))
	if err == nil && len(programs) == 0 {
		err = fmt.Errorf("there is no %sARCH in %s", begin, dist)
	}
	if err != nil {
		return err
	}
	for _, path := range programs {
		arch := strings.TrimPrefix(filepath.Base(path), begin)
		p, err := readProgram(path, arch)
		if err != nil {
			return err
		}
		files, err := readPapers(root, dist)
		if err != nil {
			return fmt.Errorf("reading what goes with the program: %w", err)
		}
		for _, format := range []string{"deb", "rpm"} {
			name, err := writePackage(p, files, format, dist)
			if err != nil {
				return fmt.Errorf("making the %s for %s: %w", format, arch, err)
			}
			fmt.Fprintln(out, name)
		}
		name := "aqmlab-image-" + arch + ".tar"
		if err := writeImage(p, files, filepath.Join(dist, name)); err != nil {
			return fmt.Errorf("making the image for %s: %w", arch, err)
		}
		fmt.Fprintln(out, name)
	}
	return nil
}
