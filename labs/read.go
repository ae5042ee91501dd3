package labs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/switch/port"
)

// read reads a file and what is laid over it into a lab, and validates it.
func read(at schema.Source, over schema.Overrides, kinds port.Kinds) (*Lab, error) {
	return readOf(nil, at, over, kinds)
}

// readOf is read for a lab that was made of a file.
func readOf(file *topologies.File, at schema.Source, over schema.Overrides, kinds port.Kinds) (*Lab, error) {
	r, err := schemaOf(kinds).Open(at, findExtended, over)
	if err != nil {
		return nil, err
	}
	r.Imply(topologyPath+".kind", topologies.OnFile, filePath)
	l := &Lab{Kinds: kinds}
	r.Decode(l)
	l.Name = cmp.Or(l.Name, nameOf(at.File))
	for i := range l.Background {
		if b := &l.Background[i]; !r.Has(backgroundKey + "." + b.Name + ".load") {
			b.Load = nil
		}
	}
	for i := range l.Schemes {
		expandGate(r, &l.Schemes[i])
	}
	if err := anchorFiles(r, l); err != nil {
		return nil, err
	}
	check(r, l, file)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

// check looks at what no key can tell on its own, fills in the defaults that
// depend on other keys, and builds every kind that the lab names. Keys that
// have an error of their own are left out of it.
func check(r *schema.Reader, l *Lab, file *topologies.File) {
	layout := checkTopology(r, l, file)
	checkRTT(r, l, layout)
	checkHost(r, l)
	checkSwitch(r, l)
	schedulers := checkSchedulers(r, l)
	checkSharings(r, l, schedulers)
	checkSchemes(r, l, layout, schedulers)
	checkBaseline(r, l)
	checkTransports(r, l, layout)
	checkTraffic(r, l, schedulers)
	checkEvents(r, l, layout)
	checkPause(r, l)
	checkPrograms(r, l, layout)
	checkProbe(r, l, layout)
	checkCapture(r, l, layout)
	checkMachines(r, l, layout)
}

// withFile is the parameters of a kind that may read a file, and their path.
type withFile struct {
	path   string
	params map[string]any
}

// mayReadFiles lists the parameters of all kinds that may read a file.
func (l *Lab) mayReadFiles() []withFile {
	all := []withFile{
		{workloadKey + ".sizes", l.Workload.Sizes.Params},
		{workloadKey + ".arrival", l.Workload.Arrival.Params},
		{distributionPath, l.RTT.Distribution.Params},
		{topologyPath, l.Topology.Params},
	}
	for _, b := range l.Background {
		path := backgroundKey + "." + b.Name
		all = append(all, withFile{path + ".sizes", b.Sizes.Params}, withFile{path + ".arrival", b.Arrival.Params})
	}
	return all
}

// Files lists the files, by absolute path, that the lab is read with beside its
// own: topology, sizes, traces, RTTs. What ships with aqmlab is none.
func (l *Lab) Files() []string {
	var files []string
	for _, c := range l.mayReadFiles() {
		if file, ok := c.params["file"].(string); ok && filepath.IsAbs(file) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// anchorFiles makes the names of files absolute, so that they mean the same
// wherever the lab is stored, but for those of the book that are not in the folder
// of the lab's file.
func anchorFiles(r *schema.Reader, l *Lab) error {
	for _, c := range l.mayReadFiles() {
		name, ok := c.params["file"].(string)
		if !ok {
			continue
		}
		path := c.path + ".file"
		if path == filePath {
			if r.Overridden(path) && !r.Overridden(topologyPath+"."+topologies.DigestKey) {
				delete(c.params, topologies.DigestKey) // of the file that is overridden
			}
			folder := r.Folder(path)
			_, err := os.Stat(filepath.Join(folder, name))
			if slices.Contains(topologies.Book(), name) && (folder == "" || err != nil) {
				continue
			}
		}
		if name == "" || filepath.IsAbs(name) {
			continue
		}
		abs, err := filepath.Abs(filepath.Join(r.Folder(path), name))
		if err != nil {
			return fmt.Errorf("finding %s: %w", name, err)
		}
		c.params["file"] = abs
	}
	return nil
}
