package role_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
	"aqmlab/trafficgen/traffic"
)

// twoProbes is one packet of each of two probes, at lab time zero.
func twoProbes(zero int64) role.Probing {
	const once = time.Hour
	return role.Probing{ProbeConfig: live.ProbeConfig{
		Probes: []traffic.Probe{
			{Name: "a", From: 0, To: 1, Every: once, Stop: once},
			{Name: "b", From: 0, To: 2, DSCP: 3, Every: once, Stop: once},
		},
		Dilation: 2, Patience: time.Minute,
	}, Zero: zero}
}

// TestProbing: hosts of several processes answer probes while they serve, one
// set after another, and what was measured counts from the time zero.
func TestProbing(t *testing.T) {
	ends := loopback(3)
	all := make([]*role.Hosts, len(ends))
	for i := range all {
		mine := slices.Clone(ends)
		for j := range mine {
			mine[j].Elsewhere = i != j
		}
		all[i] = serving(t, mine)
	}
	for range 2 {
		p := twoProbes(monotonic(t))
		for i := range p.Probes {
			p.Probes[i].Every, p.Probes[i].Stop = time.Millisecond, 0
		}
		if err := all[0].Probe(p, &agent.Nothing{}); err != nil {
			t.Fatal(err)
		}
		checkRecords(t, replay(t, all[0], live.Config{Flows: flows(20, 3), Dilation: 2}), flows(20, 3))
		var samples []results.ProbeSample
		if err := all[0].Probed(agent.Nothing{}, &samples); err != nil {
			t.Fatal(err)
		}
		sums := results.SummarizeProbes(samples)
		if len(sums) != 2 || sums[0].Sent == 0 || sums[1].Sent == 0 || sums[0].Lost+sums[1].Lost != 0 {
			t.Errorf("%+v, want all answered", sums)
		}
		for _, s := range samples {
			if s.At < 0 || s.RTT <= 0 {
				t.Errorf("sample %+v", s)
			}
		}
	}
}

// TestProbingOutOfOrder: calls that come too early or too late are errors that
// change nothing, and the process's end ends the wait for answers.
func TestProbingOutOfOrder(t *testing.T) {
	var (
		nothing agent.Nothing
		samples []results.ProbeSample
	)
	refused := func(what string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	h := role.NewHosts(context.Background())
	p := twoProbes(monotonic(t) + int64(time.Hour))
	refused("Probe before Serve", h.Probe(p, &nothing), "do not serve yet")
	refused("Probed before Probe", h.Probed(nothing, &samples), "not probing")
	if err := h.Serve(loopback(3), &nothing); err != nil {
		t.Fatal(err)
	}
	refused("Probe of nothing", h.Probe(role.Probing{}, &nothing), "dilation")
	if err := h.Probe(p, &nothing); err != nil {
		t.Fatal(err)
	}
	refused("Probe twice", h.Probe(p, &nothing), "are probing")
	// Close ends it, an hour early.
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	refused("Probed after Close", h.Probed(nothing, &samples), "not probing")
}

// What is empty is a list all the same: the wire has no other way to say it.
func TestNothingToTellIsNoNull(t *testing.T) {
	h := serving(t, loopback(1))
	var nothing agent.Nothing
	var accounts []live.Account
	if err := h.Accounts(nothing, &accounts); err != nil || accounts == nil || len(accounts) > 0 {
		t.Errorf("accounts %v, %v", accounts, err)
	}
	if err := h.Watch(role.Watching{Every: time.Hour, Dilation: 1, Zero: monotonic(t)}, &nothing); err != nil {
		t.Fatal(err)
	}
	if err := h.Watch(role.Watching{}, &nothing); err == nil || !strings.Contains(err.Error(), "being sampled") {
		t.Errorf("a second look at once: %v", err)
	}
	var samples []results.SenderSample
	if err := h.Watched(nothing, &samples); err != nil || samples == nil || len(samples) > 0 {
		t.Errorf("samples %v, %v", samples, err)
	}
	if err := h.Watched(nothing, &samples); err == nil || !strings.Contains(err.Error(), "not being sampled") {
		t.Errorf("the end of no look: %v", err)
	}
	closed := role.NewHosts(t.Context())
	for _, err := range []error{closed.Accounts(nothing, &accounts), closed.Watch(role.Watching{}, &nothing)} {
		if err == nil || !strings.Contains(err.Error(), "do not serve yet") {
			t.Errorf("hosts that do not serve: %v", err)
		}
	}
}
