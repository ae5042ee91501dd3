package docker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestExec: a command in a container has our streams, and we its exit status.
func TestExec(t *testing.T) {
	_, name := spawn(t, connect(t), Node{Host: "h1"})
	tests := []struct {
		name   string
		argv   []string
		in     string
		out    string
		err    string
		status int
	}{
		{"both streams", []string{"aqmlab", "agent", "say", "to out", "to err"}, "", "to out", "to err", 7},
		{"input", []string{"aqmlab", "agent", "copy"}, "some\ntext", "some\ntext", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			go func() {
				_, _ = io.WriteString(write, tt.in)
				write.Close()
			}()
			var out, complaints bytes.Buffer
			status, err := Exec(t.Context(), name, tt.argv, Streams{read, &out, &complaints})
			if err != nil || status != tt.status || out.String() != tt.out || complaints.String() != tt.err {
				t.Errorf("status %d, %v, out %q, err %q", status, err, out.String(), complaints.String())
			}
		})
	}
	if _, err := Exec(t.Context(), name, []string{"nonesuch"}, Streams{Out: io.Discard, Err: io.Discard}); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "host.image") {
		t.Errorf("error %v; want that there is no such command, and what to do", err)
	}
	if _, err := Exec(t.Context(), "aqm-none-such", []string{"true"}, Streams{Out: io.Discard, Err: io.Discard}); err == nil || !strings.Contains(err.Error(), "aqm-none-such") {
		t.Errorf("error %v; want one that names the container", err)
	}
}

// TestExecInterrupted: a command without a terminal gets our interrupt, and is
// waited for.
func TestExecInterrupted(t *testing.T) {
	_, name := spawn(t, connect(t), Node{Host: "h1"})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out := &signalling{f: interrupt}
	status, err := Exec(ctx, name, []string{"aqmlab", "agent", "wait"}, Streams{Out: out, Err: os.Stderr})
	if err != nil || status != 130 {
		t.Errorf("status %d, %v; want what an interrupt makes of it", status, err)
	}
}

// signalling calls f when something is written to it.
type signalling struct{ f func() }

func (s *signalling) Write(b []byte) (int, error) {
	s.f()
	return len(b), nil
}
