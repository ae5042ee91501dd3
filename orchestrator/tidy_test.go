package orchestrator

import (
	"errors"
	"os"
	"sync"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// TestTidyBesideWriters: runs of one lab begin and end while others remove what was left.
// None loses its folder, also not in the moment before it has locked it.
func TestTidyBesideWriters(t *testing.T) {
	root := t.TempDir()
	var writers, tidying sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		tidying.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					store.Tidy(root)
				}
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for range 15 {
				w, err := store.Create(root, resultstest.StarManifest(), []byte(resultstest.LabText), nil)
				if err == nil {
					err = errors.Join(w.Publish(results.Live{}), w.Discard())
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	tidying.Wait()
	store.Tidy(root)
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
