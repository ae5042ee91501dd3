package labs_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/switch/fabric"
)

const us = time.Microsecond

func hosts(t *testing.T, l *labs.Lab, seed uint64) []fabric.Host {
	t.Helper()
	spec, err := l.Fabric(l.Baseline, seed)
	if err != nil {
		t.Fatal(err)
	}
	return spec.Hosts
}

// moments are the mean and a percentile of the base RTTs that delays make.
func moments(base time.Duration, delays []time.Duration, share float64) (mean, percentile time.Duration) {
	sorted := slices.Sorted(slices.Values(delays))
	for _, d := range sorted {
		mean += base + d
	}
	return mean / time.Duration(len(sorted)), base + sorted[int(share*float64(len(sorted)))]
}

// The flows of a host have the published mean and 90th percentile. Those of the
// long tail are of ECN# (IEEE TCC 2022), section 5.3, to the microseconds that it
// prints.
func TestRTTsOfFlows(t *testing.T) {
	tests := map[string]struct {
		rtt       string
		low, high time.Duration
		mean, p90 time.Duration
	}{
		"ECN# simulations":     {"{min: 80us, max: 240us, distribution: long-tail}", 80 * us, 240 * us, 137 * us, 220 * us},
		"ECN# testbed, scaled": {"{min: 70us, max: 210us, distribution: long-tail}", 70 * us, 210 * us, 120 * us, 192500},
		"uniform":              {"{min: 100us, max: 200us, distribution: uniform}", 100 * us, 200 * us, 150 * us, 190 * us},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, h := range hosts(t, load(t, write(t, "x.yaml", base+"rtt: "+tt.rtt+"\n"), "workload.pattern=all-to-all"), 1) {
				mean, p90 := moments(tt.low, h.Delays, 0.9)
				if d := (mean - tt.mean).Abs(); d > us/2 {
					t.Errorf("%s: mean %v, want %v", h.Name, mean, tt.mean)
				}
				if d := (p90 - tt.p90).Abs(); d > us {
					t.Errorf("%s: 90th percentile %v, want %v", h.Name, p90, tt.p90)
				}
				least, most := tt.low+slices.Min(h.Delays), tt.low+slices.Max(h.Delays)
				if least < tt.low || least > tt.low+us || most > tt.high || most < tt.high-us {
					t.Errorf("%s: RTTs from %v to %v, want %v to %v", h.Name, least, most, tt.low, tt.high)
				}
			}
		})
	}
}

// Hosts of their own RTT draw it from the same distribution.
func TestRTTsOfHosts(t *testing.T) {
	const n = 20_000
	l := load(t, write(t, "x.yaml", base+"rtt: {min: 80us, max: 240us, distribution: long-tail, per: host}\n"), "topology.hosts=20000", "workload.pattern=all-to-all")
	var all []time.Duration
	for _, h := range hosts(t, l, 1) {
		if len(h.Delays) != 1 {
			t.Fatalf("%s has %d delays, want one", h.Name, len(h.Delays))
		}
		all = append(all, h.Delays[0])
	}
	mean, p90 := moments(80*us, all, 0.9)
	// No RTT is further from the mean than 103 us, so that the mean of so many is
	// off by less than four times 103/sqrt(n) but once in thousands of seeds.
	if limit := 4 * 103 / math.Sqrt(n); math.Abs(float64(mean-137*us)) > limit*float64(us) {
		t.Errorf("mean %v, want 137 us", mean)
	}
	if p90 < 215*us || p90 > 225*us {
		t.Errorf("90th percentile %v, want 220 us", p90)
	}
}

// Delays follow from the seed and from nothing else.
func TestRTTsAreDeterministic(t *testing.T) {
	for _, per := range []string{"host", "flow"} {
		t.Run(per, func(t *testing.T) {
			l := load(t, "smoke", "rtt.max=6ms", "rtt.distribution=uniform", "rtt.per="+per)
			first := hosts(t, l, 1)
			if again := hosts(t, l, 1); !reflect.DeepEqual(first, again) {
				t.Error("the same seed gives other delays")
			}
			tcn, err := l.Fabric("tcn", 1)
			if err != nil || !reflect.DeepEqual(first, tcn.Hosts) {
				t.Errorf("another scheme gets other delays, %v", err)
			}
			if reflect.DeepEqual(first[0].Delays, first[1].Delays) {
				t.Error("two hosts have the same delays")
			}
			if reflect.DeepEqual(first, hosts(t, l, 2)) {
				t.Error("another seed gives the same delays")
			}
			bigger := hosts(t, load(t, "smoke", "rtt.max=6ms", "rtt.distribution=uniform", "rtt.per="+per, "topology.hosts=5", "workload.flows=3"), 1)
			if !reflect.DeepEqual(first, bigger[:3]) {
				t.Error("more hosts or other traffic change the delays")
			}
		})
	}
}

// Without a range nothing is held back.
func TestNoDelays(t *testing.T) {
	for _, rtt := range []string{"80us", "{min: 80us, max: 80us}", "{min: 80us, max: 80us, distribution: long-tail}"} {
		for _, h := range hosts(t, load(t, write(t, "x.yaml", base+"rtt: "+rtt+"\n")), 1) {
			if h.Delays != nil {
				t.Errorf("%s: %s has the delays %v", rtt, h.Name, h.Delays)
			}
		}
	}
}

// A flow has one RTT, which is drawn once: the way of its ACKs adds nothing. The
// RTTs that many flows meet have the published mean.
func TestRTTsAreMet(t *testing.T) {
	l := load(t, write(t, "x.yaml", base+"rtt: {min: 80us, max: 240us, distribution: long-tail}\n"), hundredTbps)
	p := newPinger(t, l, 1)
	const flows = 10_000
	var sum time.Duration
	for i := range uint32(flows) {
		hash := i * 2654435761
		rtt := p.ping(t, 1, 0, hash)
		if i < 10 && !near(rtt, p.ping(t, 1, 0, hash)) {
			t.Errorf("flow %d has two RTTs", i)
		}
		if rtt < 80*us || rtt > 240*us {
			t.Errorf("flow %d has an RTT of %v", i, rtt)
		}
		sum += rtt
	}
	if mean := sum / flows; (mean - 137*us).Abs() > 2*us {
		t.Errorf("mean RTT %v, want 137 us", mean)
	}
}

// The lab's own table is stretched to its range.
func TestTableOfRTTs(t *testing.T) {
	path := write(t, "x.yaml", base+"rtt: {min: 100us, max: 300us, distribution: {kind: cdf, file: rtts.csv}}\n")
	table := filepath.Join(filepath.Dir(path), "rtts.csv")
	// Half of the RTTs stand at the start of the range, none up to its middle.
	if err := os.WriteFile(table, []byte("# measured\n10us,0\n10us,0.5\n15us,0.5\n 20us, 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := load(t, path)
	if got := l.RTT.Distribution.Params["file"]; got != table {
		t.Errorf("file %v, want %s", got, table)
	}
	delays := hosts(t, l, 1)[1].Delays
	atStart := 0
	for _, d := range delays {
		switch {
		case d == 0:
			atStart++
		case d < 100*us || d > 200*us:
			t.Errorf("delay %v, want zero or 100 to 200 us", d)
		}
	}
	if mean, _ := moments(100*us, delays, 0); atStart != len(delays)/2 || (mean-175*us).Abs() > us {
		t.Errorf("%d of %d delays are zero, mean RTT %v; want half, 175 us", atStart, len(delays), mean)
	}
}

func TestBadTablesOfRTTs(t *testing.T) {
	tests := map[string]struct{ table, want string }{
		"empty":             {"", ":1: the table has no points"},
		"one point":         {"1us,1\n", ":1: the first point has probability 1: begin with the smallest RTT and 0"},
		"no unit":           {"# x\n80,0\n", `:2: "80" is not a time: want one such as 250us, 10ms or 1.5s`},
		"negative":          {"-1us,0\n", ":1: -1us is negative"},
		"three columns":     {"1us 0\n2us 1 1\n", `:2: "2us 1 1" is not a point: want an RTT and a cumulative probability`},
		"not a probability": {"1us,0\n2us,1.5\n", `:2: "1.5" is not a cumulative probability from 0 to 1`},
		"NaN":               {"1us,nan\n", `:1: "nan" is not a cumulative probability from 0 to 1`},
		"falling RTT":       {"2us,0\n1us,1\n", ":2: RTT 1us is below that on the point before"},
		"falling":           {"1us,0\n2us,0.5\n3us,0.4\n", ":3: probability 0.4 is below 0.5 on the point before"},
		"starts above zero": {"1us,0.1\n2us,1\n", ":1: the first point has probability 0.1: begin with the smallest RTT and 0"},
		"ends below one":    {"1us,0\n2us,0.9\n", ":2: the table ends at probability 0.9: want 1"},
		"one RTT":           {"1us,0\n1us,1\n", ": one RTT is no range"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := write(t, "x.yaml", base+"rtt: {min: 1us, max: 2us, distribution: {kind: cdf, file: rtts.csv}}\n")
			table := filepath.Join(filepath.Dir(path), "rtts.csv")
			if err := os.WriteFile(table, []byte(tt.table), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := labs.Load(path, labs.Options{})
			if want := path + ":3: rtt.distribution.file: " + table + tt.want; err == nil || err.Error() != want {
				t.Errorf("got\n%v\nwant\n%s", err, want)
			}
		})
	}
}

func TestBadRTTs(t *testing.T) {
	tests := map[string]struct{ rtt, want string }{
		"no range":           {"{min: 1us, distribution: uniform}", "rtt.max: missing: rtt.distribution is uniform: want a time such as 240us"},
		"range upside down":  {"{min: 2us, max: 1us, distribution: long-tail}", "rtt.max: 1us is below rtt.min, 2us"},
		"owner of a fixed":   {"{min: 1us, per: flow}", "rtt.per: not used when rtt.distribution is fixed"},
		"place of a fixed":   {"{min: 1us, at: sender}", "rtt.at: not used when rtt.distribution is fixed"},
		"owner":              {"{min: 1us, max: 2us, distribution: uniform, per: packet}", `rtt.per: unknown owner "packet": want one of host, flow`},
		"place":              {"{min: 1us, max: 2us, distribution: uniform, at: receiver}", `rtt.at: unknown place "receiver": want one of sender`},
		"maker of a fixed":   {"{min: 1us, by: netem}", "rtt.by: not used when rtt.distribution is fixed"},
		"maker":              {"{min: 1us, max: 2us, distribution: uniform, by: tc}", `rtt.by: unknown maker "tc": want one of auto, netem, delay-line`},
		"place of the base":  {"{min: 1us, base: host}", `rtt.base: unknown place "host": want one of links, hosts (did you mean hosts?)`},
		"file of a long one": {"{min: 1us, max: 2us, distribution: {kind: long-tail, file: x}}", "rtt.distribution.file: not used when rtt.distribution.kind is long-tail: want cdf"},
		"no file":            {"{min: 1us, max: 2us, distribution: cdf}", "rtt.distribution.file: missing: want the name of a file"},
		"parameter":          {"{min: 1us, max: 2us, distribution: {kind: uniform, mean: 1us}}", "rtt.distribution.mean: unknown parameter: it takes none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := labs.Parse("x.yaml", []byte(base+"rtt: "+tt.rtt+"\n"))
			if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:3: "+tt.want) {
				t.Errorf("got\n%v\nwant\nx.yaml:3: %s", err, tt.want)
			}
		})
	}
}

// An override of the distribution drops what the file says for the other one.
func TestRTTOverrides(t *testing.T) {
	path := write(t, "x.yaml", base+"rtt: {min: 80us, max: 240us, distribution: long-tail, per: host}\n")
	l := load(t, path, "rtt.distribution=fixed")
	if l.RTT.Max != 80*us || l.RTT.Per != "" || l.RTT.At != "" || l.RTT.By != "" {
		t.Errorf("%+v, want 80 us for all", l.RTT)
	}
	if again := reload(t, l); !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l.RTT, again.RTT)
	}
	l = load(t, write(t, "y.yaml", base), "topology.link_delay=20us", "rtt.max=100us", "rtt.distribution=uniform")
	if again := reload(t, l); l.RTT.Min != 80*us || l.RTT.Per != "flow" || !reflect.DeepEqual(l, again) {
		t.Errorf("wrote\n%+v\nand read\n%+v", l.RTT, again.RTT)
	}
}

// TestAskersHoldNothing: a base RTT is held back where data is sent (ECN#, IEEE TCC
// 2022, sections 2.3 and 5.2: netem at the senders). What only asks sends none.
func TestAskersHoldNothing(t *testing.T) {
	const incast = "background: [{name: in, arrival: {kind: incast, fan_out: 2, total: 10KB, queries: 1}, pattern: all-to-all}]\n"
	for name, tt := range map[string]struct {
		more string
		set  []string
		only []string // that hold nothing back
	}{
		"many-to-one":       {"", nil, []string{"h1"}},
		"another one":       {"", []string{"workload.host=3"}, []string{"h3"}},
		"one-to-many":       {"", []string{"workload.pattern=one-to-many"}, []string{"h2", "h3", "h4"}},
		"all-to-all":        {"", []string{"workload.pattern=all-to-all"}, nil},
		"per host":          {"", []string{"rtt.per=host"}, []string{"h1"}},
		"serves besides":    {incast, nil, nil},
		"in the background": {strings.Replace(incast, "all-to-all", "many-to-one", 1), nil, []string{"h1"}},
	} {
		l := load(t, write(t, "x.yaml", base+"rtt: {min: 70us, max: 210us, distribution: long-tail}\n"+tt.more), append(tt.set, "topology.hosts=4")...)
		var only []string
		for _, h := range hosts(t, l, 1) {
			if slices.Equal(h.Delays, []time.Duration{0}) {
				only = append(only, h.Name)
			} else if slices.Max(h.Delays) == 0 {
				t.Errorf("%s: %s has the delays %v", name, h.Name, h.Delays)
			}
		}
		if !slices.Equal(only, tt.only) {
			t.Errorf("%s: %v hold nothing back, want %v", name, only, tt.only)
		}
	}
}

// TestPerFlow: flows of a host differ in their base RTTs where these are drawn for each
// flow, and differ at all.
func TestPerFlow(t *testing.T) {
	for rtt, want := range map[string]bool{
		"100us": false,
		"{min: 100us, max: 300us, distribution: uniform, per: host}": false,
		"{min: 100us, max: 300us, distribution: uniform, per: flow}": true,
	} {
		text := "topology: {hosts: 3, rate: 1Gbps}\nrtt: " + rtt + "\nschemes: [{name: droptail, aqm: droptail}]\nworkload: {pattern: all-to-all}\n"
		l, err := labs.Parse("x.yaml", []byte(text))
		if err != nil || l.RTT.PerFlow() != want {
			t.Errorf("%s: %v, want %v", rtt, err, want)
		}
	}
	if (labs.RTT{Min: 100 * us, Max: 100 * us, Per: "flow"}).PerFlow() {
		t.Error("flows of one RTT differ")
	}
}
