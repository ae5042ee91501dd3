package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
)

// Hasher makes the keys of points: what they are stored under. Points of one key are
// measured in the same way, and have the same result where time is virtual.
type Hasher struct {
	runtime string
	program string
	machine string            // what of this machine the result depends on
	spread  bool              // it depends on the lab's machines, too
	files   map[string]string // digests of what labs read, by path

	find  func(kernel string) (string, error) // what more that is, by the kernel of guests; nil: nothing
	found map[string]string                   // what was found, by the kernel
}

// Lacking is the error for what the machine lacks for a lab.
type Lacking struct{ Err error }

func (l *Lacking) Error() string { return l.Err.Error() }

func (l *Lacking) Unwrap() error { return l.Err }

// NewHasher is for a runtime on this machine.
func NewHasher(r orchestrator.Runtime) (h Hasher, err error) {
	row := r.Row()
	h = Hasher{runtime: row.Name, spread: row.Containers, files: make(map[string]string), find: row.Find, found: make(map[string]string)}
	if row.OwnKernel {
		m := results.ThisMachine()
		h.machine = fmt.Sprintf("%s, %s, %d cores", m.Kernel, m.CPU, m.Cores)
	}
	h.program, err = program()
	return h, err
}

// Anyway makes keys where the machine lacks what the runtime needs, too: those of no
// stored point.
func (h Hasher) Anyway() Hasher {
	if find := h.find; find != nil {
		h.find = func(kernel string) (string, error) {
			found, err := find(kernel)
			if err != nil {
				found = ""
			}
			return found, nil
		}
	}
	return h
}

// on is what of the machine the results of a lab depend on.
func (h Hasher) on(lab *labs.Lab) (string, error) {
	if h.find == nil {
		return h.machine, nil
	}
	kernel := lab.Host.Kernel
	found, ok := h.found[kernel]
	if !ok {
		var err error
		if found, err = h.find(kernel); err != nil {
			return "", &Lacking{fmt.Errorf("runtime %s: %w", h.runtime, err)}
		}
		h.found[kernel] = found
	}
	return found, nil
}

// program is the version and revision of this program, or, where these do not tell it
// from others, a digest of its file.
func program() (string, error) {
	version, revision := results.ThisBuild()
	if revision != "unknown" && !strings.HasSuffix(revision, "+changes") {
		return version + " " + revision, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program's file: %w", err)
	}
	return Digest(self)
}

// Digest is the hash of a file.
func Digest(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Key is the key of a point of a lab: 32 hexadecimal digits. What is there for readers
// does not count. The error is a [Lacking] where the machine cannot run the lab.
func (h Hasher) Key(lab *labs.Lab, at results.Coord) (string, error) {
	of, err := h.scheme(lab, at.Scheme)
	return of(at), err
}

// scheme makes the keys of a scheme of a lab, which have all but load and seed in common.
func (h Hasher) scheme(lab *labs.Lab, name string) (key func(results.Coord) string, err error) {
	none := func(results.Coord) string { return "" }
	if !h.spread {
		lab = lab.OnOneMachine()
	}
	lines, err := lab.PointText(name)
	if err != nil {
		return none, err
	}
	machine, err := h.on(lab)
	if err != nil {
		return none, err
	}
	parts := []string{h.runtime, h.program, machine, lines}
	for _, file := range lab.Files() {
		if h.files[file] == "" {
			if h.files[file], err = Digest(file); err != nil {
				return none, err
			}
		}
		parts = append(parts, h.files[file])
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return none, fmt.Errorf("hashing a point: %w", err)
	}
	common := sha256.Sum256(text)
	return func(at results.Coord) string {
		sum := sha256.Sum256(fmt.Appendf(common[:], "%v %d", at.Load, at.Seed))
		return hex.EncodeToString(sum[:16])
	}, nil
}

// Check says why a unit would be another measurement here than where it was planned; nil
// if it is the same.
func (h Hasher) Check(u Unit) error {
	lab, err := u.Lab()
	if err != nil {
		return err
	}
	own, err := h.Key(lab, u.Coord)
	if err == nil && own != u.Key {
		err = fmt.Errorf("it would be another measurement on this machine (key %s in place of %s): the program, the guest kernel or a file that the lab reads differs from that of the machine that planned the sweep", own, u.Key)
	}
	return err
}
