package guests

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/orchestrator/uml/guest"
)

// runs tells why a guest that has the file system below a root cannot run a file of it.
// Guests read with the rights of who runs them, have folders of their own, and are of one
// architecture.
func runs(root, at string) error {
	for _, own := range guest.OwnFolders() {
		if strings.HasPrefix(at, filepath.Join(root, own)+"/") {
			return fmt.Errorf("%s lies below %s, of which a guest has its own: want it elsewhere", at, own)
		}
	}
	f, err := os.Open(at)
	if err != nil {
		return fmt.Errorf("a guest reads it with this user's rights: %w", err)
	}
	defer f.Close()
	program, err := elf.NewFile(f)
	if err != nil {
		return nil // a script, whose interpreter runs it
	}
	if program.Class != elf.ELFCLASS64 || program.Machine != elf.EM_X86_64 {
		return fmt.Errorf("%s is a program of %v and %v: guests run those of ELFCLASS64 and EM_X86_64", at, program.Class, program.Machine)
	}
	return nil
}
