package live

import (
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/results"
)

// Every flow has one account, on shared connections and on its own, and no call
// returns it twice. Nothing is lost on loopback.
func TestEveryFlowHasAnAccount(t *testing.T) {
	for name, cfg := range map[string]Config{
		"persistent": {Connections: 2},
		"fresh":      {Fresh: true, Handshake: true},
	} {
		n := newLoopback()
		s := serve(t, n, 0, 1, 2, 3)
		cfg.Flows = trace(t, 4, 200, "all-to-all")
		cfg.Dilation, cfg.Stall = 1, time.Minute
		records, err := open(t, n, cfg).Run(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		accounts := s.Accounts()
		slices.SortFunc(accounts, func(a, b Account) int { return int(a.Flow - b.Flow) })
		if len(accounts) != len(records) {
			t.Fatalf("%s: %d accounts of %d flows", name, len(accounts), len(records))
		}
		for i, a := range accounts {
			r := records[i]
			if a.Flow != r.ID || a.Retransmits != 0 || r.Retransmits != 0 {
				t.Errorf("%s: flow %d: server %+v, client %d packets", name, r.ID, a, r.Retransmits)
			}
			if a.Timeouts > 0 || r.Timeouts > 0 || (a.Timeouts == results.Unknown) != (r.Timeouts == results.Unknown) {
				t.Errorf("%s: flow %d: server %+v, client %d timeouts", name, r.ID, a, r.Timeouts)
			}
		}
		if again := s.Accounts(); len(again) != 0 {
			t.Errorf("%s: %d accounts came twice", name, len(again))
		}
	}
}

// The kernel's count of timeouts begins where struct tcp_info has it since Linux
// 6.7 (include/uapi/linux/tcp.h), and a closed socket has none.
func TestAgainOfASocket(t *testing.T) {
	var info unix.TCPInfo
	if at := unsafe.Offsetof(info.Total_rto); at != 240 {
		t.Errorf("tcpi_total_rto is at byte %d, want 240", at)
	}
	n := newLoopback()
	serve(t, n, 1)
	c := open(t, n, Config{Flows: one(flow(0, 1, 1000)), Dilation: 1, Connections: 1})
	conn := c.pool.list[ends{0, 1}][0]
	if a := conn.again(); a.packets != 0 || a.timeouts > 0 {
		t.Errorf("a new connection has sent again %+v", a)
	}
	c.Close()
	if a := conn.again(); a != unknown() {
		t.Errorf("a closed connection has sent again %+v, want %+v", a, unknown())
	}
	if got := (again{7, results.Unknown}).since(again{2, results.Unknown}); got != (again{5, results.Unknown}) {
		t.Errorf("since: %+v", got)
	}
}
