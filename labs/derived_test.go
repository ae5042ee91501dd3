package labs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/labs"
	"aqmlab/results"
)

func derived(t *testing.T, l *labs.Lab) string {
	t.Helper()
	all, err := l.Derived()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(results.DerivedLines(all), "\n")
}

const allDefaults = `topology: {rate: 10Gbps}
schemes: [{name: ecn-sharp, aqm: ecn-sharp}, {name: avg, aqm: ecn-sharp, pst_rule: average}, {name: tail, aqm: dctcp-red}, {name: avg-red, aqm: dctcp-red, rtt: mean}, {name: codel, aqm: codel}]
`

// Thresholds follow the RTTs that flows have, and not the shortest. Those of the
// long tail are of ECN# (IEEE TCC 2022), section 5.3: 220 us and on average 137 us;
// those of the table, with the 90th percentile of its testbed, are the settings of
// section 5.2: 200 us, 200 us, 85 us and 250 KB.
func TestDerivedFromDrawnRTTs(t *testing.T) {
	const p220, p200 = "the 90th percentile of base RTTs (220us)", "the 90th percentile of base RTTs (200us)"
	for rtt, want := range map[string]string{
		"{min: 80us, max: 240us, distribution: long-tail}": "ecn-sharp: ins_target 220us, pst_interval 220us from " + p220 + "; pst_target 93.5us from 0.425 x " + p220 + "\n" +
			"avg: ins_target 220us, pst_interval 220us from " + p220 + "; pst_target 137us from the mean of base RTTs (137us)\n" +
			"tail: threshold 275KB from 10Gbps x " + p220 + "\n" +
			"avg-red: threshold 171.25KB from 10Gbps x the mean of base RTTs (137us)\n" +
			"codel: interval 240us from the longest base RTT (240us); target 12us from interval / 20",
		"{min: 70us, max: 210us, distribution: {kind: cdf, file: rtts.csv}}": "ecn-sharp: ins_target 200us, pst_interval 200us from " + p200 + "; pst_target 85us from 0.425 x " + p200 + "\n" +
			"avg: ins_target 200us, pst_interval 200us from " + p200 + "; pst_target 94.5us from the mean of base RTTs (94.5us)\n" +
			"tail: threshold 250KB from 10Gbps x " + p200 + "\n" +
			"avg-red: threshold 118.125KB from 10Gbps x the mean of base RTTs (94.5us)\n" +
			"codel: interval 210us from the longest base RTT (210us); target 10.5us from interval / 20",
		"100us": "ecn-sharp: ins_target 100us, pst_interval 100us from the base RTT (100us); pst_target 42.5us from 0.425 x the base RTT (100us)\n" +
			"avg: ins_target 100us, pst_interval 100us, pst_target 100us from the base RTT (100us)\n" +
			"tail: threshold 125KB from 10Gbps x the base RTT (100us)\n" +
			"avg-red: threshold 125KB from 10Gbps x the base RTT (100us)\n" +
			"codel: interval 100us from the base RTT (100us); target 5us from interval / 20",
	} {
		path := write(t, "x.yaml", allDefaults+"rtt: "+rtt+"\n")
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "rtts.csv"), []byte("70us 0\n80us 0.8\n200us 0.9\n210us 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l := load(t, path)
		if got := derived(t, l); got != want {
			t.Errorf("rtt: %s\n%s\nwant\n%s", rtt, got, want)
		}
		if spec, err := l.Fabric("tail", 1); err != nil || spec.Port.RTTs.Min != l.RTT.Min || spec.Port.RTTs.Max != l.RTT.Max {
			t.Errorf("rtt: %s: ports for %+v, %v", rtt, spec.Port.RTTs, err)
		}
	}
}

// Nothing is derived where the lab says all.
func TestNothingDerived(t *testing.T) {
	if got := derived(t, load(t, "ecnsharp/fig9")); got != "" {
		t.Errorf("derived %s", got)
	}
}

// The field gives every scheme the thresholds that the comments of its file say: of
// the 90th percentile and the mean.
func TestFieldDerivesTheTail(t *testing.T) {
	all, err := load(t, "field/dwrr-websearch").Derived()
	i := slices.IndexFunc(all, func(d results.Derived) bool { return d.Scheme == "red-minimum" })
	if err != nil || i < 0 || all[i].Value != "275KB" {
		t.Errorf("derived %v, %v; want 275KB for red-minimum", all, err)
	}
}
