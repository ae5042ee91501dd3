package host

import (
	"debug/elf"
	"fmt"
	"slices"
)

// Static tells whether a program needs nothing but the kernel, so that it runs in
// containers and guests that have no other files. It is an error if the file is no
// ELF program.
func Static(program string) (bool, error) {
	f, err := elf.Open(program)
	if err != nil {
		return false, fmt.Errorf("looking whether %s is static: %w", program, err)
	}
	defer f.Close()
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), nil
}
