package results

import (
	"encoding/json"
	"reflect"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
	"time"
)

func TestMachineFromProc(t *testing.T) {
	got := machine(fstest.MapFS{
		"sys/kernel/osrelease": {Data: []byte("6.18.1-arch\n")},
		"cpuinfo":              {Data: []byte("processor\t: 0\nmodel name\t: Fast CPU @ 3.0GHz\nprocessor\t: 1\nmodel name\t: other\n")},
		"meminfo":              {Data: []byte("MemTotal:        2048 kB\nMemFree:  7 kB\n")},
	})
	want := Machine{Kernel: "6.18.1-arch", CPU: "Fast CPU @ 3.0GHz", Cores: runtime.NumCPU(), Memory: 2 << 20, GoVersion: runtime.Version()}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMachineWithoutProc(t *testing.T) {
	if got, want := machine(fstest.MapFS{}), (Machine{Cores: runtime.NumCPU(), GoVersion: runtime.Version()}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if ThisMachine().Cores < 1 {
		t.Error("this machine has no cores")
	}
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		info              debug.BuildInfo
		version, revision string
	}{
		{debug.BuildInfo{}, "unknown", "unknown"},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.0.0"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}}, "v1.0.0", "abc"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "abc"}}}, "(devel)", "abc+changes"},
	} {
		if v, r := build(&c.info); v != c.version || r != c.revision {
			t.Errorf("got %s, %s; want %s, %s", v, r, c.version, c.revision)
		}
	}
	if v, r := ThisBuild(); v == "" || r == "" {
		t.Errorf("this build is %q, %q", v, r)
	}
}

func TestFidelityRoundTrip(t *testing.T) {
	f := Fidelity{
		Label: FidelityLow, LatenessP50: 1, LatenessP99: 12345, LatenessMax: Micros(3 * time.Hour),
		ShareOfRTT: 0.12, EdgeDrops: 3, Clamped: 4, CPUHeadroom: 0.5, Reasons: []string{"late"},
	}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back Fidelity
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(f, back) {
		t.Errorf("wrote %s, read %+v (%v)", b, back, err)
	}
	if err := json.Unmarshal([]byte(`{"edge_drops": "many"}`), &back); err == nil {
		t.Error("edge drops in words were read")
	}
}

func TestWorstFidelity(t *testing.T) {
	exact, ok, later, low := Fidelity{Label: FidelityExact}, Fidelity{Label: FidelityOK, LatenessP99: 1}, Fidelity{Label: FidelityOK, LatenessP99: 2}, Fidelity{Label: FidelityLow}
	for _, c := range []struct{ a, b, want Fidelity }{
		{exact, ok, ok}, {ok, later, later}, {later, low, low}, {ok, exact, ok},
	} {
		for _, got := range []Fidelity{WorstOf(c.a, c.b), WorstOf(c.b, c.a)} {
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("worst of %+v and %+v = %+v", c.a, c.b, got)
			}
		}
	}
}
