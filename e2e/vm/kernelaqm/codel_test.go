package kernelaqm_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
	"aqmlab/e2e/vm/vmtest"
)

// phases overload the link, leave it idle, let a queue stand, come back soon
// after and long after, so that all of CoDel's state is used.
func phases() []kernelaqm.Phase {
	s, ms := time.Second, time.Millisecond
	return []kernelaqm.Phase{
		{Load: 1.05, For: s}, {Load: 0.5, For: 200 * ms}, {Load: 1.1, For: 800 * ms},
		{Load: 0.2, For: 300 * ms}, {Load: 1.3, For: 500 * ms}, {Load: 0.01, For: 2500 * ms},
		{Load: 0.98, For: 2 * s}, {Load: 1.5, For: 200 * ms}, {Load: 0.8, For: s},
	}
}

// TestKernelCoDel: with arithmetic linux each packet has the fate that it has in
// the kernel. With exact roots the marks are about as many: the kernel's come up
// to 0.3 intervals earlier, which is the sum of what its roots are too small by.
func TestKernelCoDel(t *testing.T) {
	vmtest.NeedsGuest(t)
	ms := time.Millisecond
	tests := []struct {
		name             string
		target, interval time.Duration
		mark             bool
		least            int // packets to be marked or dropped
	}{
		{"mark", 5 * ms, 100 * ms, true, 100},
		{"drop", 5 * ms, 100 * ms, false, 100},
		{"mark, short interval", ms, 20 * ms, true, 300},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			packets := kernelaqm.Poisson(rand.New(rand.NewPCG(uint64(i), 1)), rate, true, phases()...)
			events := record(t, kernelaqm.CoDel(tt.target, tt.interval, tt.mark), packets)
			kernel := kernelFates(events)
			params := map[string]any{
				"target": tt.target.String(), "interval": tt.interval.String(), "mtu": "1514B",
				"action": map[bool]string{true: "mark", false: "drop"}[tt.mark], "arithmetic": "linux",
			}
			agree(t, kernel, replay(t, scheme{kind: "codel", params: params}, events, nil), tt.least)
			if !tt.mark {
				return
			}
			params["arithmetic"] = "exact"
			exact := replay(t, scheme{kind: "codel", params: params}, events, nil)
			got, want := count(exact, marked), count(kernel, marked)
			t.Logf("exact arithmetic: %d marked", got)
			if math.Abs(float64(got-want)) > 0.05*float64(want) {
				t.Errorf("with exact arithmetic %d are marked, by the kernel %d: want them within 5 %%", got, want)
			}
		})
	}
}
