package uml

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/orchestrator/host"
)

// TestSeats: guests that run at once have a CPU each, as long as there are some
// left; those beyond may run on all, and a seat is free again after its guest.
func TestSeats(t *testing.T) {
	all, err := host.CPUs()
	if err != nil {
		t.Fatal(err)
	}
	// A guest tells where it may run, and waits for the others.
	start := filepath.Join(t.TempDir(), "go")
	s := scripted(t, "sed -n 's/Cpus_allowed_list:.//p' /proc/self/status > exchange/reply.new; printf 1 > exchange/progress\n"+
		"while ! test -e "+start+"; do sleep 0.01; done; mv exchange/reply.new exchange/reply")
	for range 2 {
		os.Remove(start)
		told := make(chan struct{}, len(all)+1)
		replies := make([]string, len(all)+1)
		var guests errgroup.Group
		for i := range replies {
			guests.Go(func() error {
				reply, err := s.Run(t.Context(), Guest{Watch: func([]byte) { told <- struct{}{} }})
				replies[i] = strings.TrimSpace(string(reply))
				return err
			})
		}
		for range replies {
			select {
			case <-told:
			case <-time.After(time.Minute):
				t.Fatal("guests do not start")
			}
		}
		if err := os.WriteFile(start, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := guests.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, cpu := range all {
			if n := len(slices.DeleteFunc(slices.Clone(replies), func(r string) bool { return r != strconv.Itoa(cpu) })); n != 1 && len(all) > 1 {
				t.Errorf("%d guests have CPU %d: %q", n, cpu, replies)
			}
		}
	}
}
