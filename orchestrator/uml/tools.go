package uml

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// tool is a program that building a kernel takes.
type tool struct{ program, pack string } // and the package of Debian and Ubuntu that has it

var tools = [...]tool{
	{"make", "make"}, {"gcc", "gcc"}, {"ld", "binutils"}, {"flex", "flex"}, {"bison", "bison"}, {"bc", "bc"},
	{"perl", "perl"}, {"tar", "tar"}, {"xz", "xz-utils"}, {"nice", "coreutils"}, {"strip", "binutils"},
}

// cHeader is a file that only the C library's development package brings.
const cHeader = "sys/ptrace.h"

// checkTools names all that is missing, and how to get it.
func checkTools(look func(program string) error, header func(name string) error) error {
	var lack, packs []string
	need := func(name, pack string) {
		lack = append(lack, name)
		if !slices.Contains(packs, pack) {
			packs = append(packs, pack)
		}
	}
	for _, t := range tools {
		if look(t.program) != nil {
			need(t.program, t.pack)
		}
	}
	if len(lack) == 0 && header(cHeader) != nil { // it is gcc that looks for it
		need(cHeader, "libc6-dev")
	}
	if len(lack) == 0 {
		return nil
	}
	return fmt.Errorf("%w can be built without %s: apt-get install %s", ErrUnavailable, strings.Join(lack, ", "), strings.Join(packs, " "))
}

func lookPath(program string) error {
	_, err := exec.LookPath(program)
	return err
}

// compiles tells whether the compiler finds a header.
func compiles(header string) error {
	c := exec.Command("gcc", "-fsyntax-only", "-x", "c", "-")
	c.Stdin = strings.NewReader("#include <" + header + ">\n")
	return c.Run()
}
