// Package sweeptest has a small sweep for tests of what measures and shows sweeps.
package sweeptest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/sweep"
)

// small has four points in a fraction of a second.
const small = `name: small
topology: {kind: star, hosts: 3, rate: 1Gbps}
rtt: 100us
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 100us}]
workload: {sizes: websearch, flows: 20, load: [0.5]}
seeds: [1, 2]
`

// Expand is the sweep over axes of a small lab with modelled hosts: the schemes droptail
// and tcn at load 0.5 with two seeds.
func Expand(t testing.TB, axes ...string) *sweep.Sweep {
	t.Helper()
	file := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sweep.Spec{Lab: file, Runtime: orchestrator.Simulator()}
	for _, text := range axes {
		g, err := sweep.ParseGroup(text)
		if err != nil {
			t.Fatal(err)
		}
		s.Groups = append(s.Groups, g)
	}
	w, err := s.Expand()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Begin has a pool begin to measure a point, as another process may. It has the point
// until end is called, and then leaves it without a result.
func Begin(t testing.TB, s sweep.Store, w *sweep.Sweep, p sweep.Point) (end func()) {
	t.Helper()
	unit := w.Units([]sweep.Point{p})[0]
	begun, ended, through := make(chan struct{}), make(chan struct{}), make(chan struct{})
	unit.Lab = func() (*labs.Lab, error) {
		close(begun)
		<-ended
		return nil, errors.New("it was ended")
	}
	go func() {
		defer close(through)
		pool := sweep.Pool{Store: s, Runtime: w.Runtime}
		if err := pool.Run(context.Background(), []sweep.Unit{unit}, func(sweep.Event) {}); err != nil {
			t.Error(err)
		}
	}()
	<-begun
	return func() { close(ended); <-through }
}
