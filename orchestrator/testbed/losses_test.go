package testbed

import (
	"strings"
	"testing"

	"aqmlab/labs"
)

// Linux can find losses without RACK before 6.17, and halves DCTCP's window for one
// from 5.1 on; a lab that asks for it elsewhere is told so.
func TestOtherLosses(t *testing.T) {
	for _, tt := range []struct {
		recovery, onLoss string
		major, minor     uint32
		want             string
	}{
		{labs.RecoverRACK, "half", 6, 18, ""},
		{labs.RecoverSACK, "half", 6, 1, ""},
		{labs.RecoverSACK, "half", 6, 16, ""},
		{labs.RecoverSACKPRR, "half", 6, 17, "sack-prr needs one before 6.17"},
		{labs.RecoverSACK, "half", 6, 17, "host.loss_recovery: Linux 6.17 has rack alone"},
		{labs.RecoverSACK, "alpha", 7, 0, "host.loss_recovery: Linux 7.0 has rack alone"},
		{labs.RecoverRACK, "half", 5, 0, "host.transport.on_loss: Linux 5.0 has alpha"},
		{labs.RecoverRACK, "alpha", 5, 0, ""},
		{labs.RecoverRACK, "half", 5, 1, ""},
		{labs.RecoverRACK, "half", 0, 0, ""}, // not known
	} {
		h := labs.Host{Transport: "dctcp", TransportParams: map[string]any{"on_loss": tt.onLoss}, LossRecovery: tt.recovery}
		got := strings.Join(otherLosses(&labs.Lab{Host: h}, tt.major<<16|tt.minor<<8), "; ")
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s and %s on Linux %d.%d: %q, want %q", tt.recovery, tt.onLoss, tt.major, tt.minor, got, tt.want)
		}
	}
}
