//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checked is what machines check --json says.
type checked struct {
	Machines []struct {
		Name, Problem string
		Docker        string `json:"docker_version"`
		Diagnosis     *diagnosis
	}
	Pairs []struct {
		From, To, Problem string
		RTT               float64 `json:"rtt_us"`
		Ahead             int64   `json:"clock_ahead_ns"`
		Bound             float64 `json:"clock_bound_us"`
		MTU               int
		HostMTU           int     `json:"host_mtu"`
		Forth             float64 `json:"forth_bps"`
		Back              float64 `json:"back_bps"`
	}
	Ready bool
}

// checkMachines checks a rack, and a machine on which nobody listens: that is told beside
// what was found of the others, whose network is what the test has made. Nothing is left.
func checkMachines(t *testing.T, r *rack) {
	with := r.path("with.yaml")
	list, err := os.ReadFile(r.byAllWays())
	if err != nil {
		t.Fatal(err)
	}
	absent := fmt.Sprintf("  - {name: m4, docker: \"tcp://%s:1\", address: 192.0.2.4}\n", r.prefix.Addr())
	if err := os.WriteFile(with, append(list, absent...), 0o600); err != nil {
		t.Fatal(err)
	}
	o := aqmlab(t, plainVar, 1, "machines", "check", "--machines", with, "--for", "100ms", "--json")
	var got checked
	if err := json.Unmarshal([]byte(o.out), &got); err != nil {
		t.Fatalf("%v\n%s", err, o.out)
	}
	if len(got.Machines) != 4 || len(got.Pairs) != 3 || got.Ready {
		t.Fatalf("%d machines, %d pairs, ready %t\n%s", len(got.Machines), len(got.Pairs), got.Ready, o.out)
	}
	for i, m := range got.Machines[:3] {
		if m.Name != r.machines[i].Name || m.Problem != "" || m.Docker == "" || m.Diagnosis == nil || !m.Diagnosis.Ready {
			t.Errorf("machine %+v of\n%s", m, o.out)
		}
	}
	if m := got.Machines[3]; m.Name != "m4" || m.Diagnosis != nil || !containsAll(m.Problem, "machine m4", "no Docker daemon answers", "start it") {
		t.Errorf("machine %+v, on which nobody listens", m)
	}
	const overhead = 50 // of VXLAN: see docs/rack.md
	for i, p := range got.Pairs {
		from, to := r.machines[[]int{0, 0, 1}[i]], r.machines[[]int{1, 2, 2}[i]]
		off := time.Duration(p.Ahead) - (from.ahead() - to.ahead())
		bound := time.Duration(p.Bound * float64(time.Microsecond))
		if p.From != from.Name || p.To != to.Name || p.Problem != "" || p.RTT <= 0 || p.Forth <= 0 || p.Back <= 0 || p.MTU != rackMTU || p.HostMTU != rackMTU-overhead || max(off, -off) > bound+time.Nanosecond {
			t.Errorf("pair %+v, whose clock is %v off", p, off)
		}
	}
	r.nothingLeft(r.machines...)
}

// interruptCheck interrupts a check that would take minutes.
func interruptCheck(t *testing.T, r *rack) {
	c := command(t, plainVar, "machines", "check", "--machines", r.inventory, "--for", "1m")
	start(t, c)
	waitUpTo(t, time.Minute, func() bool {
		return strings.Contains(r.machines[2].output(t, "ps", "--format", "{{.Names}}"), "aqm-check")
	})
	if got := signalled(t, c, syscall.SIGINT); got != 130 {
		t.Errorf("exit code %d, want 130", got)
	}
	r.nothingLeft(r.machines...)
}
