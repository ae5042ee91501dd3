//go:build linux

package wire

import "time"

// clock maps between the wall clock and lab time, which runs dilation times
// slower.
type clock struct {
	start    time.Time // lab time zero
	dilation float64
}

// reading is one look at the wall clock.
type reading struct {
	lab    time.Duration
	offset int64 // real-time clock minus time since start, for the kernel's stamps
}

// read looks at the monotonic and the real-time clock at once. The offset is
// taken anew each time because the real-time clock may be stepped or slewed.
func (c *clock) read() reading {
	t := time.Now()
	since := t.Sub(c.start)
	return reading{c.lab(since), t.UnixNano() - int64(since)}
}

// now is the lab time.
func (c *clock) now() time.Duration {
	return c.lab(time.Since(c.start))
}

// readVirtual reads a virtual clock. Nobody sets such a clock, so the offset is still
// that of the start, and one system call is enough. In a guest it is a slow one.
func (c *clock) readVirtual() reading {
	return reading{c.now(), c.start.UnixNano()}
}

// stamped is the lab time of a kernel timestamp.
func (c *clock) stamped(r reading, stamp int64) time.Duration {
	return c.lab(time.Duration(stamp - r.offset))
}

func (c *clock) lab(wall time.Duration) time.Duration {
	return time.Duration(float64(wall) / c.dilation)
}

func (c *clock) wall(lab time.Duration) time.Duration {
	return time.Duration(float64(lab) * c.dilation)
}
