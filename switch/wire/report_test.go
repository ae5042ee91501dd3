package wire

import (
	"testing"
	"time"

	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/times"
)

// TestReportShares: Busy is the share of wall time from the begin of work to its end, but no
// more than the thread ran. Waited is the share that the thread waited for its CPU. What was
// lost before the start is no drop. The run lasts so long that its own times count nothing.
func TestReportShares(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		busy, ran        time.Duration // ran: long ago, so that it counts as having run for so long
		busyShare, share float64
	}{
		{day / 2, -day, 0.5, 0.25},
		{day / 2, -day / 4, 0.25, 0.25},
	} {
		ran, waited := threadTimes()
		d := &driver{clock: clock{dilation: 2}, network: &fabric.Network{}, pool: &packet.Pool{}}
		d.loop.RunUntil(day / 2)
		d.tally = tally{lateness: times.New(10), start: 7, busy: tt.busy, ran: ran + tt.ran, waited: waited - day/4, ignored: 3, unsent: 9, lostBefore: 4}
		r, err := d.report()
		if err != nil {
			t.Fatal(err)
		}
		near := func(got, want float64) bool { return got > want-0.01 && got < want+0.01 }
		if !near(r.Busy, tt.busyShare) || !near(r.Waited, tt.share) || r.EdgeDrops != 5 || r.Ignored != 3 || r.Start != 7 || r.RealTime {
			t.Errorf("%+v", r)
		}
	}
}
