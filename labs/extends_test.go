package labs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/units"
)

// folder writes files into a folder of their own.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const shared = `name: shared
title: what labs share
topology: {kind: star, hosts: 4, rate: 1Gbps}
rtt: 250us
switch:
  buffer: {per_port: 96KB}
  scheduler: {kind: dwrr, queues: 3, quantum: 3000B}
schemes:
  - {name: a, aqm: dctcp-red, threshold: 32KB}
  - {name: b, aqm: tcn, threshold: 256us}
workload: {sizes: {kind: fixed, size: 64KB}, load: 0.5}
background: [{name: mice, sizes: cache, load: 0.1}]
baseline: b
`

// A key that the lab leaves out is that of what it extends; a list is taken as a
// whole, and parameters only with their kind.
func TestExtends(t *testing.T) {
	for _, tt := range []struct {
		name, lab string
		check     func(l *labs.Lab) bool
	}{
		{"own name", "", func(l *labs.Lab) bool { return l.Name == "mine" && l.Title == "" }},
		{"all the rest", "", func(l *labs.Lab) bool {
			return l.Topology.Hosts == 4 && l.RTT.Min == 250*time.Microsecond && l.Switch.Buffer.PerPort == 96*units.KB &&
				len(l.Schemes) == 2 && l.Baseline == "b" && len(l.Background) == 1 && l.Workload.Load[0] == 0.5
		}},
		{"one key of a group", "switch: {buffer: {per_port: 1MB}}\n", func(l *labs.Lab) bool {
			return l.Switch.Buffer.PerPort == units.MB && l.Switch.Scheduler.Kind == "dwrr"
		}},
		{"one parameter of a kind", "switch: {scheduler: {weights: [1, 2, 3]}}\n", func(l *labs.Lab) bool {
			return l.Switch.Scheduler.Params["quantum"] == "3000B" && l.Switch.Scheduler.Params["weights"] != nil
		}},
		{"another kind", "switch: {scheduler: wfq}\nworkload: {sizes: websearch}\n", func(l *labs.Lab) bool {
			return l.Switch.Scheduler.Kind == "wfq" && len(l.Switch.Scheduler.Params) == 0 && l.Switch.Queues == 3 && len(l.Workload.Sizes.Params) == 0
		}},
		{"other schemes", "schemes: [{name: b, aqm: codel}]\n", func(l *labs.Lab) bool {
			return len(l.Schemes) == 1 && l.Schemes[0].AQM.Kind == "codel" && len(l.Schemes[0].AQM.Params) == 0
		}},
		{"other background", "background: [{name: elephants, sizes: datamining, load: 0.2}]\n", func(l *labs.Lab) bool {
			return len(l.Background) == 1 && l.Background[0].Name == "elephants"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"parts/shared.yaml": shared, "mine.yaml": "extends: parts/shared.yaml\n" + tt.lab})
			l, err := labs.Load(filepath.Join(dir, "mine.yaml"), labs.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(l) {
				t.Errorf("got %+v", l)
			}
		})
	}
}

// Files extend labs of the book, and what extends extends.
func TestExtendsTheBook(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.yaml": "extends: quickstart\nworkload: {flows: 7}\n",
		"b.yaml": "extends: a.yaml\nworkload: {load: 0.2}\n",
	})
	l, err := labs.Load(filepath.Join(dir, "b.yaml"), labs.Options{Set: []string{"schemes.tcn.threshold=100us"}})
	if err != nil {
		t.Fatal(err)
	}
	if l.Name != "b" || l.Workload.Flows != 7 || l.Workload.Load[0] != 0.2 || l.Schemes[2].AQM.Params["threshold"] != "100us" {
		t.Errorf("got %+v", l)
	}
}

// Names of data files start from the folder of the file that has them.
func TestExtendsKeepsFolders(t *testing.T) {
	dir := folder(t, map[string]string{
		"parts/sizes.csv":   "1000, 0\n2000, 1\n",
		"parts/shared.yaml": strings.Replace(shared, "{kind: fixed, size: 64KB}", "{kind: cdf, file: sizes.csv}", 1),
		"mine.yaml":         "extends: parts/shared.yaml\n",
	})
	l, err := labs.Load(filepath.Join(dir, "mine.yaml"), labs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(dir, "parts/sizes.csv"); l.Workload.Sizes.Params["file"] != want {
		t.Errorf("sizes %+v, want file %s", l.Workload.Sizes, want)
	}
}

func TestBadExtends(t *testing.T) {
	for _, tt := range []struct {
		name string
		lab  string
		part string
		want string
	}{
		{"unknown", "extends: nowhere.yaml\n", "", "mine.yaml:1: extends: no such lab \"nowhere.yaml\""},
		{"a list", "extends: [a, b]\n", "", "mine.yaml:1: extends: not a name"},
		{"empty", "extends:\n", "", "mine.yaml:1: extends: has no value"},
		{"itself", "extends: mine.yaml\n", "", "mine.yaml:1: extends: "},
		{"in a circle", "extends: part.yaml\n", "extends: mine.yaml\n", "part.yaml:1: extends: "},
		{"twice", "extends: part.yaml\nextends: part.yaml\n", shared, "mine.yaml:2: extends: "},
		{"below a key", "switch: {extends: part.yaml}\n", shared, "switch.extends"},
		{"unknown key of the part", "extends: part.yaml\n", "colour: red\n" + shared, "part.yaml:1: colour"},
		{"bad value of the part", "extends: part.yaml\n", shared + "dilation: fast\n", "part.yaml:14: dilation"},
		{"bad value of its own", "extends: part.yaml\nseeds: none\n", shared, "mine.yaml:2: seeds"},
		{"part that is no YAML", "extends: part.yaml\n", "a: [\n", "part.yaml:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"mine.yaml": tt.lab, "part.yaml": tt.part})
			_, err := labs.Load(filepath.Join(dir, "mine.yaml"), labs.Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// A lab that is handed in as text reads no file of the machine.
func TestParseExtendsTheBookAlone(t *testing.T) {
	if _, err := labs.Parse("x.yaml", []byte("extends: tcn/parts/testbed\nschemes: [{name: tcn, aqm: tcn}]\n")); err != nil {
		t.Error(err)
	}
	if _, err := labs.Parse("x.yaml", []byte("extends: /etc/hostname\n")); !errors.Is(err, labs.ErrNoLab) {
		t.Errorf("error %v, want %v", err, labs.ErrNoLab)
	}
}

// Parts are no labs.
func TestFromBook(t *testing.T) {
	t.Setenv("AQMLAB_WORKLOAD_FLOWS", "7")
	l, err := labs.FromBook("tcn/fig6", labs.Options{}.Kinds)
	if err != nil || l.Workload.Flows != 5000 {
		t.Errorf("flows %+v, %v", l, err)
	}
	for _, name := range []string{"tcn/parts/testbed", "tcn/none", "nothing"} {
		if _, err := labs.FromBook(name, labs.Options{}.Kinds); !errors.Is(err, labs.ErrNoLab) {
			t.Errorf("%s: error %v, want %v", name, err, labs.ErrNoLab)
		}
		if _, err := labs.Load(name, labs.Options{}); !errors.Is(err, labs.ErrNoLab) {
			t.Errorf("%s: error %v, want %v", name, err, labs.ErrNoLab)
		}
	}
}

// The lab of an experiment is found by the experiment's name, too, unless there is a file of
// that name.
func TestBookByExperiment(t *testing.T) {
	for ref, want := range map[string]string{"tcn-fig3": "tcn-fig3", "mqecn-sec5.1.1-sim": "mqecn-sec5-1-1-sim", "ecnsharp-fig11-4x": "ecnsharp-fig11-4x"} {
		loaded, err := labs.Load(ref, labs.Options{})
		if err != nil || loaded.Name != want {
			t.Errorf("%s: %v, %v", ref, loaded, err)
		}
		if l, err := labs.FromBook(ref, labs.Options{}.Kinds); err != nil || l.Name != want {
			t.Errorf("%s of the book: %v, %v", ref, l, err)
		}
	}
	t.Chdir(folder(t, map[string]string{"tcn-fig3": shared}))
	if l, err := labs.Load("tcn-fig3", labs.Options{}); err != nil || l.Name != "shared" {
		t.Errorf("beside a file of that name: %v, %v", l, err)
	}
	if _, err := labs.Load("tcn-parts-testbed", labs.Options{}); !errors.Is(err, labs.ErrNoLab) {
		t.Errorf("a part: error %v", err)
	}
}
