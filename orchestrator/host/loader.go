package host

import (
	"debug/elf"
	"fmt"
	"io"
	"strings"
)

// Loader is the path of the loader that a program asks for, or empty if it is
// static: then it needs nothing but the kernel, and runs in containers and guests
// that have no other files. It is an error if the file is no ELF program.
func Loader(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("looking what %s needs: %w", program, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			path, err := io.ReadAll(p.Open())
			return strings.TrimRight(string(path), "\x00"), err
		}
	}
	return "", nil
}
