package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"aqmlab/switch/port"
)

// TestExportInterrupted: an export that is interrupted leaves no file of which a part is
// missing.
func TestExportInterrupted(t *testing.T) {
	run, out := stored(t), filepath.Join(t.TempDir(), "exported")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := newRoot(Streams{Out: io.Discard, Err: io.Discard}, port.Kinds{})
	root.SetArgs([]string{"results", "export", run, "--out", out})
	if err := root.ExecuteContext(ctx); err == nil {
		t.Error("it went on")
	}
	if files, err := os.ReadDir(out); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
