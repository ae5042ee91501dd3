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
	base, token, ok := strings.Cut(url, "?")
	if !ok {
		t.Fatalf("served at %s, without a token", url)
	}
	for query, want := range map[string]string{"?" + token: `"state":"complete"`, "": "with its token"} {
		r, err := http.Get(base + "api/runs" + query)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), want) {
			t.Errorf("runs %s, %v; want %s", body, err, want)
		}
		r.Body.Close()
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
