package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// run runs the command line in this process and fails the test unless it ends
// with the code. It returns what was printed.
func run(t *testing.T, code int, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	if got := (App{}).Main(args, Streams{Out: &o, Err: &e}); got != code {
		t.Fatalf("%v: exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", args, got, code, &o, &e)
	}
	return o.String(), e.String()
}

// decode reads printed JSON.
func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}
