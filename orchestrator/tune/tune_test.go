package tune

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/sweep"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// coin marks one packet in ten or so. Its salt says which ones, and so changes every
// result without being better or worse.
type coin struct {
	Salt int `lab:"salt" tune:"1..1000" range:"0..1000000" doc:"which packets are marked"`
}

type coinScheme struct {
	coin
	random *rand.Rand
}

var _ aqm.Scheme = (*coinScheme)(nil)

func newCoin(p coin, _ aqm.Env) (aqm.Scheme, error) {
	return &coinScheme{p, rand.New(rand.NewPCG(uint64(p.Salt), 0))}, nil
}

// Arrive tosses the coin.
func (c *coinScheme) Arrive(time.Duration, *packet.Packet, aqm.View) aqm.Verdict {
	if c.random.IntN(10) == 0 {
		return aqm.Mark
	}
	return aqm.Pass
}

// Depart marks nothing.
func (c *coinScheme) Depart(time.Duration, *packet.Packet, aqm.View) aqm.Verdict { return aqm.Pass }

// TestUselessParameter: tuning a parameter that only makes noise reports no gain.
func TestUselessParameter(t *testing.T) {
	kinds, err := port.NewKinds([]aqm.Kind{kind.Row("coin", "mark one packet in ten", coin{}, newCoin)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "coin.yaml")
	if err := os.WriteFile(file, []byte("extends: quickstart\nname: coin\nschemes: [{name: coin, aqm: coin}]\nbaseline: coin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	objective, err := ParseObjective("small.p99")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{
		Lab: file, Set: []string{"workload.flows=60"}, Scheme: "coin", Objective: objective, Budget: 40, Kinds: kinds,
		Runtime: orchestrator.Simulator(), Store: sweep.Store{Dir: t.TempDir(), Kinds: kinds}, Note: func(string) {}, Watch: func(sweep.Progress) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	varies := slices.ContainsFunc(r.Trials, func(a Trial) bool { return a.Setting != nil && a.Objective != 1 })
	if !varies || r.Improves {
		t.Errorf("a gain of a useless parameter: %+v", r)
	}
}

// TestTune: the threshold of TCN at a tenth of what it should be is found to be bad.
func TestTune(t *testing.T) {
	objective, err := ParseObjective("medium.avg")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Lab: "quickstart", Set: []string{"workload.flows=60", "schemes.tcn.threshold=5us"}, Scheme: "tcn", Objective: objective, Budget: 30,
		Runtime: orchestrator.Simulator(), Store: sweep.Store{Dir: t.TempDir()}, Note: func(string) {}, Watch: func(sweep.Progress) {},
	}
	r, err := Run(t.Context(), o)
	if err != nil || !r.Improves || r.Spent > 30 {
		t.Fatalf("%+v, %v", r, err)
	}
	measured := 0
	o.Watch = func(sweep.Progress) { measured++ }
	again, err := Run(t.Context(), o)
	if err != nil || measured != 0 || again.File != r.File || again.Ratio != r.Ratio {
		t.Errorf("again: %d measured, %+v, %v", measured, again, err)
	}
}

// TestEachSetting: whichever way a lab writes a scheme, it holds together with every
// setting that is tried.
func TestEachSetting(t *testing.T) {
	for _, name := range []string{"quickstart", "field/dwrr-websearch", "field/sp-dwrr-websearch"} {
		lab, err := labs.Load(name, labs.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range lab.Schemes {
			space, err := Space(lab, s.Name, nil)
			if errors.Is(err, ErrAsked) {
				continue // it has nothing to tune
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := labs.Load(name, labs.Options{Set: candidate(space, 1)}); err != nil {
				t.Errorf("%s: %s: %v", name, s.Name, err)
			}
		}
	}
}

// TestSpace: ranges of the table are in base RTTs and bandwidth-delay products of the lab.
func TestSpace(t *testing.T) {
	lab, err := labs.Load("quickstart", labs.Options{Set: []string{"rtt.min=100us", "topology.rate=1Gbps"}})
	if err != nil {
		t.Fatal(err)
	}
	tcn, err := Space(lab, "tcn", nil)
	if err != nil || len(tcn) != 1 || tcn[0] != (Param{"schemes.tcn.threshold", 10_000, 400_000, "ns", true}) {
		t.Errorf("%+v, %v", tcn, err)
	}
	red, err := Space(lab, "dctcp-red", nil)
	if err != nil || len(red) != 1 || red[0].Unit != "B" || red[0].Low != 1250 || red[0].High != 50_000 { // 12,500 bytes are under way
		t.Errorf("%+v, %v", red, err)
	}
	given, err := Space(lab, "tcn", []string{"threshold=50us..1ms"})
	if err != nil || given[0] != (Param{"schemes.tcn.threshold", 50_000, 1_000_000, "ns", true}) {
		t.Errorf("%+v, %v", given, err)
	}
	if got := given[0].at(0.5); got != "224000ns" { // the geometric mean
		t.Errorf("the middle is %s", got)
	}
	for _, bad := range []string{"threshold", "threshold=1us", "threshold=1us..1KB", "threshold=2us..1us", "threshold=a..b"} {
		if p, err := Space(lab, "tcn", []string{bad}); !errors.Is(err, ErrAsked) {
			t.Errorf("%s: %+v, %v", bad, p, err)
		}
	}
	if _, err := Space(lab, "droptail", nil); !errors.Is(err, ErrAsked) {
		t.Errorf("droptail: %v", err)
	}
	if _, err := Space(lab, "none", nil); !errors.Is(err, kind.ErrUnknown) || !strings.Contains(err.Error(), "tcn") {
		t.Errorf("none: %v", err)
	}
}
