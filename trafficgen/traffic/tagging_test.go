package traffic

import (
	"math"
	"strings"
	"testing"

	"aqmlab/units"
)

// The bytes at and around each threshold: those below it have its priority.
func TestTaggingBoundaries(t *testing.T) {
	one := Tagging{Thresholds: []units.Size{100 * units.KB}}
	two := Tagging{Thresholds: []units.Size{20 * units.KB, 100 * units.KB}}
	for _, c := range []struct {
		tagging Tagging
		service int
		offset  int64
		dscp    uint8
		until   int64
	}{
		{Tagging{}, 0, 0, 0, math.MaxInt64},
		{Tagging{}, 63, MaxBytes - 1, 63, math.MaxInt64},
		{one, 0, 0, 0, 100_000},
		{one, 3, 0, 0, 100_000},
		{one, 3, 99_999, 0, 100_000},
		{one, 3, 100_000, 4, math.MaxInt64},
		{one, 0, 100_000, 1, math.MaxInt64},
		{two, 2, 19_999, 0, 20_000},
		{two, 2, 20_000, 1, 100_000},
		{two, 2, 99_999, 1, 100_000},
		{two, 2, 100_000, 4, math.MaxInt64},
		{two, 2, MaxBytes, 4, math.MaxInt64},
	} {
		if got := c.tagging.DSCP(c.service, c.offset); got != c.dscp {
			t.Errorf("%v: byte %d of service %d has DSCP %d, want %d", c.tagging, c.offset, c.service, got, c.dscp)
		}
		if got := c.tagging.Until(c.offset); got != c.until {
			t.Errorf("%v: the DSCP of byte %d holds until %d, want %d", c.tagging, c.offset, got, c.until)
		}
	}
}

// Queues are priorities and services; the last service has the highest DSCP.
func TestTaggingQueues(t *testing.T) {
	two := Tagging{Thresholds: []units.Size{20, 100}}
	if n := two.Queues(7); n != 9 || two.DSCP(6, 100) != 8 {
		t.Errorf("%d queues and highest DSCP %d, want 9 and 8", n, two.DSCP(6, 100))
	}
	if n := (Tagging{}).Queues(7); n != 7 {
		t.Errorf("%d queues without thresholds, want 7", n)
	}
}

func TestTaggingCheck(t *testing.T) {
	for _, c := range []struct {
		thresholds []units.Size
		services   int
		want       string // empty: fits
	}{
		{nil, 64, ""},
		{[]units.Size{1, 2, 3, 4, 5, 6, 7, 8}, 56, ""},
		{nil, 65, "0 thresholds and 65 services need 65 DSCPs: there are 64"},
		{[]units.Size{1, 2, 3, 4, 5, 6, 7, 8}, 57, "8 thresholds and 57 services need 65 DSCPs"},
		{[]units.Size{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, "9 thresholds are too many: want at most 8"},
		{[]units.Size{0}, 1, "threshold 0B is not above 0B"},
		{[]units.Size{5000, 5000}, 1, "threshold 5KB is not above 5KB"},
		{[]units.Size{5000, 20}, 1, "threshold 20B is not above 5KB"},
	} {
		err := Tagging{Thresholds: c.thresholds}.Check(c.services)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%v with %d services: error %v, want %q", c.thresholds, c.services, err, c.want)
		}
	}
}
