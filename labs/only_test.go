package labs_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"aqmlab/kind"
	"aqmlab/labs"
)

func TestOnly(t *testing.T) {
	tests := map[string]struct {
		names, want []string
		baseline    string
	}{
		"none":             {nil, []string{"droptail", "dctcp-red", "tcn"}, "droptail"},
		"the lab's order":  {[]string{"tcn", "droptail"}, []string{"droptail", "tcn"}, "droptail"},
		"without baseline": {[]string{"tcn", "dctcp-red"}, []string{"dctcp-red", "tcn"}, "dctcp-red"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := load(t, "quickstart")
			if err := l.Only(tt.names); err != nil {
				t.Fatal(err)
			}
			if got := names(l); !reflect.DeepEqual(got, tt.want) || l.Baseline != tt.baseline {
				t.Errorf("schemes %v against %s, want %v against %s", got, l.Baseline, tt.want, tt.baseline)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
		})
	}
}

func TestOnlyAnUnknownScheme(t *testing.T) {
	l := load(t, "quickstart")
	err := l.Only([]string{"droptail", "red"})
	want := `lab quickstart: unknown scheme "red": want one of droptail, dctcp-red, tcn`
	if !errors.Is(err, kind.ErrUnknown) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if len(l.Schemes) != 3 {
		t.Errorf("schemes %v: an error must not change the lab", names(l))
	}
}

// TestRestricted: the lab of one point is another one, and leaves the whole as it is.
func TestRestricted(t *testing.T) {
	whole := load(t, "quickstart")
	whole.Sweep.Over = []string{"rtt.min=1ms,2ms"}
	before := names(whole)
	one, err := whole.Restricted([]string{"tcn"}, 0.3, 7)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(names(one), []string{"tcn"}) || !reflect.DeepEqual(one.Workload.Load, []float64{0.3}) || !reflect.DeepEqual(one.Seeds, []uint64{7}) || !reflect.DeepEqual(one.Sweep, labs.Sweep{}) {
		t.Errorf("%+v", one)
	}
	if !reflect.DeepEqual(names(whole), before) || reflect.DeepEqual(whole.Sweep, labs.Sweep{}) {
		t.Errorf("the whole became %+v", whole)
	}
}

// TestCheckReal: what a switch may not know of the packets of real hosts.
func TestCheckReal(t *testing.T) {
	for rank, real := range map[string]bool{"srpt": false, "las": true} {
		l := load(t, write(t, "x.yaml", base+"switch: {scheduler: {kind: pifo, rank: "+rank+", by: flow}}\n"))
		if err := l.CheckReal(); (err == nil) != real || err != nil && !strings.Contains(err.Error(), "switch.scheduler: packets of real hosts do not tell") {
			t.Errorf("%s: %v", rank, err)
		}
	}
	for params, real := range map[string]bool{"": true, ", unscheduled: 15KB": false} {
		l := load(t, write(t, "x.yaml", base+"switch: {buffer: {sharing: abm, pool: 9MB"+params+"}}\n"))
		if err := l.CheckReal(); (err == nil) != real || err != nil && !strings.Contains(err.Error(), "switch.buffer: packets of real hosts do not tell") {
			t.Errorf("abm%s: %v", params, err)
		}
	}
	l := load(t, "quickstart")
	l.Switch.Scheduler = kind.Choice{Kind: "nonesuch"}
	if err := l.CheckReal(); !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("a scheduler that there is not: %v", err)
	}
}

func names(l *labs.Lab) []string {
	var names []string
	for _, s := range l.Schemes {
		names = append(names, s.Name)
	}
	return names
}
