package machines

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/docker/cli/cli/connhelper/commandconn"
)

// TestToldByWrite: what ssh said before it ended is with the error of a write, too. The
// HTTP client writes first, and whether ssh has ended by then is chance.
func TestToldByWrite(t *testing.T) {
	dial := telling(func(ctx context.Context, _, _ string) (net.Conn, error) {
		return commandconn.New(ctx, "sh", "-c", "echo Connection refused >&2; exit 255")
	})
	conn, err := dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for err == nil { // a pipe takes some bytes before its reader has ended
		_, err = conn.Write(make([]byte, 4096))
	}
	if !strings.Contains(err.Error(), "Connection refused") {
		t.Errorf("%v, want what the command said", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
