package vm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// moduleFiles lists the files of these modules and of all that they depend on,
// in the order in which they load, relative to the kernel's folder. Modules that
// are built into the kernel need none.
func (k Kernel) moduleFiles(names []string) ([]string, error) {
	needs, err := k.dependencies()
	if err != nil {
		return nil, err
	}
	builtin, err := os.ReadFile(filepath.Join(k.Modules, "modules.builtin"))
	if err != nil {
		return nil, fmt.Errorf("list the kernel's modules: %w", err)
	}
	var order []string
	for _, name := range names {
		name = moduleName(name)
		files, ok := needs[name]
		if !ok && !slices.ContainsFunc(strings.Fields(string(builtin)), func(f string) bool { return moduleName(f) == name }) {
			return nil, fmt.Errorf("kernel %s has no module %s", k.Release, name)
		}
		for _, f := range slices.Backward(files) {
			if !slices.Contains(order, f) {
				order = append(order, f)
			}
		}
	}
	return order, nil
}

// dependencies reads depmod's list: of each module its file, and after it those
// of the modules that it needs, the ones to load first coming last.
func (k Kernel) dependencies() (map[string][]string, error) {
	text, err := os.ReadFile(filepath.Join(k.Modules, "modules.dep"))
	if err != nil {
		return nil, fmt.Errorf("list the kernel's modules: %w", err)
	}
	needs := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		file, others, ok := strings.Cut(line, ":")
		if ok {
			needs[moduleName(file)] = append([]string{file}, strings.Fields(others)...)
		}
	}
	return needs, nil
}

// moduleName is the name of the module in a file; the kernel takes dashes for
// underscores.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// readModule is the content of a module's file, unpacked.
func (k Kernel) readModule(file string) ([]byte, error) {
	unpack := map[string]string{".gz": "gzip", ".xz": "xz", ".zst": "zstd"}
	whole := filepath.Join(k.Modules, file)
	program, packed := unpack[path.Ext(file)]
	if !packed {
		return os.ReadFile(whole)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(program, "-dc", whole)
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("unpack %s with %s: %w: %s", file, program, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return text, nil
}
