package agent_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/journal"
)

// here is a place inside of this process.
type here struct{ service *inner }

func (h here) Launch(_ context.Context, c agent.Command) (agent.Body, error) {
	return agent.Within(c, func(ctx context.Context) agent.Service {
		h.service.twice = twice{ctx}
		return h.service
	})
}

// inner is a service that may fail to close.
type inner struct {
	twice
	closed int
	err    error
}

// Close is called at the agent's end.
func (i *inner) Close() error {
	i.closed++
	return i.err
}

// TestWithin: an agent inside of its owner's process is called and ends as others do. It is
// not recorded: whoever removes what a dead owner has left would kill the wrong process.
func TestWithin(t *testing.T) {
	for name, failure := range map[string]error{"all well": nil, "fails to close": errors.New("still busy")} {
		t.Run(name, func(t *testing.T) {
			service := &inner{err: failure}
			p, err := agent.Spawn(t.Context(), agent.Options{
				Role: "inner", Place: here{service}, Quiet: true,
				Record: func(e ...journal.Entry) error { t.Errorf("recorded %v", e); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if p.PID() != os.Getpid() {
				t.Errorf("it is process %d, want %d", p.PID(), os.Getpid())
			}
			var n int
			if err := p.Call(t.Context(), "Double", 21, &n); err != nil || n != 42 {
				t.Errorf("twice 21 is %d, %v", n, err)
			}
			err = p.Stop(t.Context())
			if failure == nil && err != nil || failure != nil && (err == nil || !strings.Contains(err.Error(), failure.Error())) {
				t.Errorf("stop: %v, want %v", err, failure)
			}
			if service.closed != 1 {
				t.Errorf("closed %d times", service.closed)
			}
		})
	}
}

// TestWithinTakesNoFiles: there is nobody to inherit them.
func TestWithinTakesNoFiles(t *testing.T) {
	_, err := agent.Spawn(t.Context(), agent.Options{Role: "inner", Place: here{&inner{}}, Files: []*os.File{os.Stdin}})
	if err == nil || !strings.Contains(err.Error(), "inherits no files") {
		t.Errorf("got %v", err)
	}
}
