package role_test

import (
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
)

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
