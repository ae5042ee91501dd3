package results

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// What is not known of a sender is null on disk, and read back as unknown.
func TestSendersAreStored(t *testing.T) {
	p := lossy()
	p.Senders = []SenderSample{
		{At: time.Millisecond, Flow: 3, Cwnd: 14480, SRTT: 250 * time.Microsecond, Alpha: 1},
		{At: 2 * time.Millisecond, Flow: 3, Cwnd: 7240, SSThresh: 7240, SRTT: 300 * time.Microsecond, Alpha: 0},
		{At: 3 * time.Millisecond, Flow: 4, Cwnd: 1448, Alpha: Unknown},
		{At: 4 * time.Millisecond, Flow: 5, Rate: 1e10, Alpha: 0.5},
	}
	p.Capture = Capture{Chunks: [][]byte{{1, 2}, {3}}, Packets: 7, LeftOut: 1}
	m := manifest()
	m.Schemes, m.Baseline = []string{"red"}, "red"
	run := stored(t, m, []Point{p})
	wantFiles(t, run.Points()[0].dir, "capture.pcapng", "flows.parquet", "point.json", "senders.parquet", "series.parquet")
	got, err := run.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Senders, p.Senders) {
		t.Errorf("read\n%+v\nwant\n%+v", got.Senders, p.Senders)
	}
	rows := senderRows(p)
	if rows[2].SSThresh != nil || rows[2].SRTT != nil || rows[2].Alpha != nil || rows[3].Cwnd != nil || rows[1].Alpha == nil || rows[0].Rate != nil {
		t.Errorf("rows %+v", rows)
	}
	if err := Remove(run.Dir); err != nil {
		t.Errorf("a run with all that a point may hold is not removed: %v", err)
	}
	none := lossy()
	none.Seed = 2
	m.Seeds = []uint64{2}
	run = stored(t, m, []Point{none})
	if got, err := run.Points()[0].ReadSenders(); err != nil || !slices.Equal(got, nil) {
		t.Errorf("a point without senders has %v, %v", got, err)
	}
	wantFiles(t, run.Points()[0].dir, "flows.parquet", "point.json", "series.parquet")
}
