//go:build linux

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/testbed"
	"aqmlab/switch/port"
)

func TestLabList(t *testing.T) {
	book, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	text, _ := run(t, 0, "lab", "list")
	raw, _ := run(t, 0, "lab", "list", "--json")
	listed := decode[[]labs.Entry](t, raw)
	if len(listed) != len(book) {
		t.Fatalf("%d labs listed of %d", len(listed), len(book))
	}
	for i, e := range book {
		if listed[i].Name != e.Name || listed[i].Title != e.Title || !strings.Contains(raw, `"title"`) {
			t.Errorf("listed %+v, want %+v", listed[i], e)
		}
		if !strings.Contains(text, e.Name) || !strings.Contains(text, e.Title) {
			t.Errorf("%s is not in\n%s", e.Name, text)
		}
	}
}

// TestLabShowLoadsAgain: what lab show prints is a lab file of the same lab, overrides
// included. It tries the first lab of each folder of the book; package labs writes all.
func TestLabShowLoadsAgain(t *testing.T) {
	book, err := labs.Book()
	if err != nil {
		t.Fatal(err)
	}
	folders := make(map[string]bool)
	for _, e := range book {
		folder, _, sub := strings.Cut(e.Name, "/")
		if sub && folders[folder] {
			continue
		}
		folders[folder] = true
		t.Run(e.Name, func(t *testing.T) {
			flags := []string{"--flows", "77", "--seeds", "4..6", "--set", "host.rto_min=7ms"}
			shown, _ := run(t, 0, append([]string{"lab", "show", e.Name}, flags...)...)
			file := filepath.Join(t.TempDir(), "again.yaml")
			if err := os.WriteFile(file, []byte(shown), 0o644); err != nil {
				t.Fatal(err)
			}
			if again, _ := run(t, 0, "lab", "show", file); again != shown {
				t.Errorf("shown again as\n%s\nwas\n%s", again, shown)
			}
			want, err := labs.Load(e.Name, labs.Options{Set: []string{"workload.flows=77", "seeds=4..6", "host.rto_min=7ms"}})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := labs.Load(file, labs.Options{}); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("loaded %+v, %v; want %+v", got, err, want)
			}
			if out, _ := run(t, 0, "lab", "check", file); !strings.Contains(out, "is fine") || !strings.Contains(out, "77 flows a point") {
				t.Errorf("check says %q", out)
			}
		})
	}
}

func TestLabCheckFindsFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.yaml")
	text := "name: bad\ntopology: {kind: star, hosts: 3, rate: 1Gbps}\nschemes:\n  - {name: x, aqm: tnc}\nseed: 1\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs := run(t, exitUsage, "lab", "check", file)
	if out != "" || !strings.Contains(errs, "bad.yaml:4") || !strings.Contains(errs, "tnc") || !strings.Contains(errs, "bad.yaml:5") || !strings.Contains(errs, "seed") {
		t.Errorf("stdout %q, stderr %q: want both faults with their lines", out, errs)
	}
}

// TestLabFlags: flags change the lab; they prevail over --set, which is left
// as it was for the next lab.
func TestLabFlags(t *testing.T) {
	set := make([]string, 2, 16)
	set[0], set[1] = "workload.flows=5", "host.init_cwnd=3"
	f := labFlags{schemes: []string{"tcn"}, loads: "0.2,0.4", seeds: "7..9", flows: "11", dilation: "3", set: set}
	lab, err := f.load("smoke", port.Kinds{})
	if err != nil {
		t.Fatal(err)
	}
	if len(lab.Schemes) != 1 || lab.Schemes[0].Name != "tcn" || lab.Baseline != "tcn" {
		t.Errorf("schemes %+v, baseline %s", lab.Schemes, lab.Baseline)
	}
	if !slices.Equal(lab.Workload.Load, []float64{0.2, 0.4}) || !slices.Equal(lab.Seeds, []uint64{7, 8, 9}) {
		t.Errorf("loads %v, seeds %v", lab.Workload.Load, lab.Seeds)
	}
	if lab.Workload.Flows != 11 || lab.Dilation != 3 || lab.Host.InitCwnd != 3 {
		t.Errorf("%d flows, dilation %v, initial window %d", lab.Workload.Flows, lab.Dilation, lab.Host.InitCwnd)
	}
	if !slices.Equal(f.set, set[:2]) || slices.ContainsFunc(set[2:cap(set)], func(s string) bool { return s != "" }) {
		t.Errorf("the user's overrides became %q", set[:cap(set)])
	}

	plain, err := (&labFlags{}).load("smoke", port.Kinds{})
	if err != nil {
		t.Fatal(err)
	}
	if want, err := labs.Load("smoke", labs.Options{}); err != nil || !reflect.DeepEqual(plain, want) {
		t.Errorf("without flags: %+v, %v; want %+v", plain, err, want)
	}
	if auto, err := (&labFlags{dilation: "auto"}).load("smoke", port.Kinds{}); err != nil || auto.Dilation != 0 {
		t.Errorf("dilation auto is %v, %v", auto.Dilation, err)
	}
	for _, bad := range []labFlags{{flows: "0"}, {flows: "x"}, {loads: "high"}, {seeds: "-1"}, {dilation: "slow"}, {schemes: []string{"red"}}, {set: []string{"nothing=1"}}} {
		lab, err := bad.load("smoke", port.Kinds{})
		if lab != nil || !errors.As(err, new(usageError)) {
			t.Errorf("%+v: lab %v, error %v; want a usage error", bad, lab, err)
		}
	}
}

// TestToTakeDown picks one kept lab, or all of them.
func TestToTakeDown(t *testing.T) {
	o := testbed.Options{Root: t.TempDir()}
	if down, err := toTakeDown(true, nil, o); err != nil || len(down) != 0 {
		t.Errorf("all of none: %+v, %v", down, err)
	}
	if _, err := toTakeDown(false, nil, o); !errors.As(err, new(usageError)) || !errors.Is(err, testbed.ErrNoLab) {
		t.Errorf("the only one of none: %v", err)
	}
	ids := make([]string, 2)
	for i := range ids {
		j, err := journal.Create(t.Context(), o.Root, testbed.Info{Lab: "lab"})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Detach(); err != nil {
			t.Fatal(err)
		}
		ids[i] = j.ID()
	}
	if down, err := toTakeDown(true, nil, o); err != nil || len(down) != 2 {
		t.Errorf("all: %+v, %v", down, err)
	}
	if down, err := toTakeDown(false, ids[1:], o); err != nil || len(down) != 1 || down[0].ID != ids[1] {
		t.Errorf("by id: %+v, %v", down, err)
	}
	for _, names := range [][]string{nil, {"lab"}} {
		if _, err := toTakeDown(false, names, o); !errors.As(err, new(usageError)) || !errors.Is(err, testbed.ErrAmbiguous) {
			t.Errorf("%q: %v, want that it is ambiguous", names, err)
		}
	}
}
