package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aqmlab/results"
)

// Writer keeps a run while it is made. Every point is on disk, whole, when Add
// returns; a new run appears under its own name with Finish or Abort. A Writer
// is not safe for concurrent use.
type Writer struct {
	root, name string
	dir        string // that the run grows in
	manifest   results.Manifest
	describer  Describer
	lock       *os.File // the folder itself, locked as long as this process lives
	unlisted   bool     // its name says what it holds, and it is never the latest
}

// Describer makes files for the readers of a run: their contents by the names
// that this package has for them. A nil one makes none.
type Describer func(*Run) (map[string][]byte, error)

// Create begins a run in the folder root, which it makes if need be. The run
// grows in root/.partial-<name>. labYAML is the resolved lab.
// d describes the run when it ends.
//
// The error says what the manifest lacks, or why the folder cannot be made.
func Create(root string, m results.Manifest, labYAML []byte, d Describer) (*Writer, error) {
	return begin(&Writer{root: root, manifest: m, describer: d}, labYAML, (*Writer).claim)
}

// CreateAs is [Create] with a name of the caller's for the folder, who keeps others
// from making a run of that name meanwhile. What a killed process left of such a run is
// removed first.
func CreateAs(root, name string, m results.Manifest, labYAML []byte, d Describer) (*Writer, error) {
	return begin(&Writer{root: root, name: name, manifest: m, describer: d, unlisted: true}, labYAML, (*Writer).replace)
}

// begin begins a run in the folder that take makes.
func begin(w *Writer, labYAML []byte, take func(*Writer) error) (*Writer, error) {
	if err := storable(w.manifest); err != nil {
		return nil, fmt.Errorf("creating a run: %w", err)
	}
	m := &w.manifest
	m.Start = m.Start.UTC()
	m.Schema, m.State, m.Reason, m.Points, m.Files = results.Schema, results.Running, "", []results.PointInfo{}, nil
	m.LabHash, m.Checksums = hashOf(labYAML), true
	err := take(w)
	if err != nil {
		return nil, fmt.Errorf("creating a run in %s: %w", w.root, err)
	}
	if err = w.write(labFile, labYAML); err == nil {
		err = w.writeManifest()
	}
	if err != nil {
		return nil, fmt.Errorf("creating a run in %s: %w", w.root, errors.Join(err, w.Discard()))
	}
	return w, nil
}

// replace makes the folder in place of one that a killed process left.
func (w *Writer) replace() error {
	w.dir = filepath.Join(w.root, unfinished+w.name)
	if err := os.RemoveAll(w.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	return w.lockFolder()
}

// claim makes the folder under the first name that is free: runs of one lab
// may begin in the same second. It first removes what killed processes left.
func (w *Writer) claim() error {
	if err := os.MkdirAll(w.root, 0o755); err != nil {
		return err
	}
	Tidy(w.root)
	for n := 1; ; n++ {
		w.name = folderName(w.manifest)
		if n > 1 {
			w.name += "-" + strconv.Itoa(n)
		}
		if _, err := os.Lstat(filepath.Join(w.root, w.name)); err == nil {
			continue
		}
		w.dir = filepath.Join(w.root, unfinished+w.name)
		err := os.Mkdir(w.dir, 0o755)
		if err == nil {
			err = w.lockFolder()
		}
		// Before it was locked, somebody may have taken it for one that was left.
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, errLost) {
			return err
		}
	}
}

// lockFolder marks the folder as owned. The kernel lets go of the lock when
// the process ends, however it ends, which is how List tells a run that is
// being made from one that was killed.
func (w *Writer) lockFolder() (err error) {
	if w.lock, err = lockDir(w.Dir()); err != nil {
		return fmt.Errorf("locking %s: %w", w.Dir(), err)
	}
	return nil
}

// Dir is the folder that the run grows in.
func (w *Writer) Dir() string { return w.dir }

// Add stores one point. A point is there as a whole or not at all. Adding a
// point twice is an error.
func (w *Writer) Add(p results.Point) error {
	if err := w.add(p); err != nil {
		return fmt.Errorf("storing %v: %w", p.Coord, err)
	}
	return nil
}

func (w *Writer) add(p results.Point) error {
	if !fileName(p.Scheme) {
		return fmt.Errorf("scheme name %q cannot stand in a file name", p.Scheme)
	}
	name := p.Folder()
	final, temp := filepath.Join(w.Dir(), name), filepath.Join(w.Dir(), unfinished+name)
	if _, err := os.Lstat(final); err == nil {
		return errors.New("the run has this point already")
	}
	if err := os.Mkdir(temp, 0o755); err != nil {
		return err
	}
	err := writePoint(temp, p)
	if err == nil {
		err = w.settle(temp, final)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	w.manifest.Points = append(w.manifest.Points, results.InfoOf(p))
	return nil
}

// settle gives the folder of a point its name, when all of it is durable. An unlisted
// run has one point, and is made durable as a whole.
func (w *Writer) settle(temp, final string) error {
	if w.unlisted {
		return os.Rename(temp, final)
	}
	if err := flush(temp); err != nil {
		return err
	}
	return rename(temp, final)
}

// write writes a file of the run.
func (w *Writer) write(name string, b []byte) error {
	path := filepath.Join(w.dir, name)
	if w.unlisted {
		return writeNew(path, contents(b))
	}
	return WriteFile(path, b)
}

// Publish shows readers of the run's folder how far the run is. Unlike the
// Writer's other methods it may be called while another one is at work, other
// than Finish and Abort. A crash may lose what it wrote, so it costs no flush.
func (w *Writer) Publish(l results.Live) error {
	b, err := json.Marshal(l)
	path := filepath.Join(w.dir, liveFile)
	if err == nil {
		err = os.WriteFile(path+".new", b, 0o644)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	return nil
}

// Finish has the run described, and gives the folder its
// name, which is returned. end is the wall-clock time.
//
// After an error the points are still in [Writer.Dir]; Abort may be tried.
func (w *Writer) Finish(end time.Time) (dir string, err error) {
	w.manifest.End, w.manifest.State = end.UTC(), results.Complete
	if err := w.describe(); err != nil {
		return "", w.keepsPoints(fmt.Errorf("finishing run %s: %w", w.name, err))
	}
	dir, err = w.publish()
	return dir, w.keepsPoints(err)
}

// keepsPoints adds to an error what is there nevertheless, and how to go on.
func (w *Writer) keepsPoints(err error) error {
	if err == nil || w.unlisted {
		return err
	}
	dir := w.dir
	if _, statErr := os.Stat(dir); statErr != nil {
		dir = filepath.Join(w.root, w.name)
	}
	var whole []string
	for _, p := range w.manifest.Points {
		whole = append(whole, p.Folder())
	}
	return fmt.Errorf("%w; %d points are whole: %s; aqmlab run --resume %s completes the run", err, len(whole), strings.Join(whole, ", "), dir)
}

// Abort ends the run early. When at least one point is whole the run is kept
// and marked partial for that reason, and its folder is returned; else it is
// removed and dir is empty. A run whose report cannot be written, say because
// the disk is full, is kept without one, and the error tells why.
func (w *Writer) Abort(end time.Time, reason string) (dir string, err error) {
	if len(w.manifest.Points) == 0 {
		return "", w.Discard()
	}
	w.manifest.End, w.manifest.State, w.manifest.Reason = end.UTC(), results.Partial, reason
	described := w.describe()
	dir, err = w.publish()
	return dir, w.keepsPoints(errors.Join(described, err))
}

// describe writes the manifest, the files of the describer, and into the manifest what
// they must be.
func (w *Writer) describe() error {
	w.manifest.Files = nil
	if err := w.writeManifest(); err != nil {
		return err
	}
	run, err := Open(w.Dir())
	if err != nil {
		return err
	}
	run.Dir = filepath.Join(w.root, w.name) // as it will be called
	if w.describer == nil {
		return nil
	}
	files, err := w.describer(run)
	sums := make(map[string]string)
	for name, text := range files {
		sums[name] = hashOf(text)
		err = errors.Join(err, w.write(name, text))
	}
	if err != nil || len(files) == 0 {
		return err
	}
	w.manifest.Files = sums
	return w.writeManifest()
}

func (w *Writer) writeManifest() error {
	text, err := asJSON(w.manifest)
	if err != nil {
		return err
	}
	return w.write(manifestFile, Seal(text))
}

// publish gives the folder its name.
func (w *Writer) publish() (dir string, err error) {
	defer w.lock.Close()
	if err := os.Remove(filepath.Join(w.dir, liveFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("publishing run %s: removing the published progress: %w", w.name, err)
	}
	dir = filepath.Join(w.root, w.name)
	if w.unlisted {
		if err := flush(w.dir); err != nil {
			return "", fmt.Errorf("publishing run %s: %w", w.name, err)
		}
	}
	if w.dir != dir { // a run that ended early and was gone on with has its name
		if err := rename(w.dir, dir); err != nil {
			return "", fmt.Errorf("publishing run %s: %w", w.name, err)
		}
	}
	if w.unlisted {
		return dir, nil
	}
	if err := pointLatest(w.root, w.name); err != nil {
		return dir, fmt.Errorf("pointing %s at run %s: %w", latestLink, w.name, err)
	}
	return dir, nil
}

// Discard removes the run.
func (w *Writer) Discard() error {
	defer w.lock.Close()
	if err := os.RemoveAll(w.Dir()); err != nil {
		return fmt.Errorf("removing run %s: %w", w.name, err)
	}
	return nil
}

// fileName is what a lab or scheme name must look like to stand in a path.
func fileName(s string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+#-]*$`).MatchString(s)
}

// storable tells what keeps a manifest from being stored.
func storable(m results.Manifest) error {
	switch {
	case !fileName(m.Lab):
		return fmt.Errorf("lab name %q cannot stand in a file name: want letters, digits, and any of . _ + # -", m.Lab)
	case m.Start.IsZero():
		return errors.New("the manifest has no start time")
	case m.Baseline != "" && !slices.Contains(m.Schemes, m.Baseline):
		return fmt.Errorf("baseline %q is not one of the schemes %s", m.Baseline, strings.Join(m.Schemes, ", "))
	}
	for _, s := range m.Schemes {
		if !fileName(s) {
			return fmt.Errorf("scheme name %q cannot stand in a file name: want letters, digits, and any of . _ + # -", s)
		}
	}
	return nil
}

// folderName is the run's name: UTC time, lab, and the start of the lab's hash.
func folderName(m results.Manifest) string {
	return fmt.Sprintf("%s-%s-%.8s", m.Start.UTC().Format("20060102T150405Z"), m.Lab, m.LabHash)
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
