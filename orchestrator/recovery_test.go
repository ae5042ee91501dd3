package orchestrator

import (
	"strings"
	"testing"

	"aqmlab/labs"
)

// Linux can find losses without RACK before 6.17; a lab that asks for it elsewhere
// is told so.
func TestRecovers(t *testing.T) {
	for _, tt := range []struct {
		recovery     string
		major, minor uint32
		want         string
	}{
		{labs.RecoverRACK, 6, 18, ""},
		{labs.RecoverSACK, 6, 1, ""},
		{labs.RecoverSACK, 6, 16, ""},
		{labs.RecoverSACK, 6, 17, "Linux 6.17 has rack alone"},
		{labs.RecoverSACK, 7, 0, "Linux 7.0 has rack alone"},
	} {
		got := recovers(&labs.Lab{Host: labs.Host{LossRecovery: tt.recovery}}, tt.major<<16|tt.minor<<8)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s on Linux %d.%d: %q, want %q", tt.recovery, tt.major, tt.minor, got, tt.want)
		}
	}
}
