package cli

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/switch/port"
)

// TestServe: the command says where it serves, and its interruption is its
// normal end.
func TestServe(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	said, errs := io.Pipe()
	root := newRoot(Streams{Out: io.Discard, Err: errs}, port.Kinds{})
	dir := filepath.Dir(stored(t))
	root.SetArgs([]string{"serve", dir, "--port", "0"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()

	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, dir) {
		t.Fatalf("said %q, %v", line, err)
	}
	_, url, _ := strings.Cut(line, " at ")
	url, _, _ = strings.Cut(url, " ")
	r, err := http.Get(url + "api/runs")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), `"state":"complete"`) {
		t.Errorf("runs %s, %v", body, err)
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
