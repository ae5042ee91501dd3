package vm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cavaliergopher/cpio"

	"aqmlab/e2e/vm/guest"
)

// archive is an initramfs in the making: files and the folders above them.
type archive struct {
	w    *cpio.Writer
	made map[string]bool // folders
}

// pack writes the initramfs of a guest: the init, its orders, the program, the
// modules and the further files.
func (k Kernel) pack(into string, g Guest) (err error) {
	f, err := os.Create(into)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	a := archive{cpio.NewWriter(f), map[string]bool{}}
	orders := guest.Orders{
		Command: append([]string{programPath(g)}, g.Args...),
		Env:     g.Env,
	}
	if orders.Modules, err = k.packModules(a, g.Modules); err != nil {
		return err
	}
	text, err := json.Marshal(orders)
	if err != nil {
		return fmt.Errorf("write the orders: %w", err)
	}
	if err := a.add(guest.OrdersPath, text, 0o644); err != nil {
		return err
	}
	if err := a.packFiles(g); err != nil {
		return err
	}
	return a.w.Close()
}

// programPath is where the guest has its program; a Go test binary shows the
// name in its output.
func programPath(g Guest) string { return "/bin/" + path.Base(g.Program) }

// packModules adds the modules and returns their paths in loading order.
func (k Kernel) packModules(a archive, names []string) ([]string, error) {
	files, err := k.moduleFiles(names)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range files {
		text, err := k.readModule(f)
		if err != nil {
			return nil, err
		}
		p := "/lib/modules/" + moduleName(f) + ".ko"
		if err := a.add(p, text, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// packFiles adds what the host gives: the programs are executable, the other
// files are what they are on the host.
func (a archive) packFiles(g Guest) error {
	from := maps.Clone(g.Files)
	if from == nil {
		from = map[string]string{}
	}
	from["/init"], from[programPath(g)] = g.Init, g.Program
	for _, to := range slices.Sorted(maps.Keys(from)) {
		text, err := os.ReadFile(from[to])
		if err != nil {
			return err
		}
		st, err := os.Stat(from[to])
		if err != nil {
			return err
		}
		if err := a.add(to, text, st.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// add writes one file, and before it the folders that it stands in.
func (a archive) add(to string, text []byte, perm os.FileMode) error {
	name := strings.TrimPrefix(path.Clean(to), "/")
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	return a.entry(name, cpio.TypeReg|cpio.FileMode(perm), text)
}

func (a archive) folder(name string) error {
	if name == "." || a.made[name] {
		return nil
	}
	if err := a.folder(path.Dir(name)); err != nil {
		return err
	}
	a.made[name] = true
	return a.entry(name, cpio.TypeDir|0o755, nil)
}

func (a archive) entry(name string, mode cpio.FileMode, text []byte) error {
	h := &cpio.Header{Name: name, Mode: mode, Links: 1, Size: int64(len(text))}
	if err := a.w.WriteHeader(h); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	if _, err := a.w.Write(text); err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	return nil
}
