package host

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Counters are the kernel's own counts of one network namespace since it was
// made, all in packets or events. The names in the comments are the kernel's,
// documented in its networking/snmp_counter.rst.
type Counters struct {
	SegmentsIn     int64 // Tcp InSegs
	SegmentsOut    int64 // Tcp OutSegs, without retransmissions
	Retransmits    int64 // Tcp RetransSegs
	ChecksumErrors int64 // Tcp InCsumErrors: an offload is on somewhere
	Timeouts       int64 // TcpExt TCPTimeouts: retransmission timer ran out
	DeliveredCE    int64 // TcpExt TCPDeliveredCE: sent segments acknowledged as marked
	CEPackets      int64 // IpExt InCEPkts: received with CE
	ECT0Packets    int64 // IpExt InECT0Pkts
	DroppedFrames  int64 // lost by the namespace's devices, in either direction (/proc/net/dev)
}

// field is a counter, with the group and name by which the kernel prints it.
type field struct {
	name  string
	count *int64
}

// fields lists all counters.
func (c *Counters) fields() []field {
	return []field{
		{"Tcp InSegs", &c.SegmentsIn},
		{"Tcp OutSegs", &c.SegmentsOut},
		{"Tcp RetransSegs", &c.Retransmits},
		{"Tcp InCsumErrors", &c.ChecksumErrors},
		{"TcpExt TCPTimeouts", &c.Timeouts},
		{"TcpExt TCPDeliveredCE", &c.DeliveredCE},
		{"IpExt InCEPkts", &c.CEPackets},
		{"IpExt InECT0Pkts", &c.ECT0Packets},
		{deviceDrops, &c.DroppedFrames},
	}
}

// Sub returns what was counted since before.
func (c Counters) Sub(before Counters) Counters {
	then := before.fields()
	for i, f := range c.fields() {
		*f.count -= *then[i].count
	}
	return c
}

// Add returns the sum of both.
func (c Counters) Add(other Counters) Counters {
	more := other.fields()
	for i, f := range c.fields() {
		*f.count += *more[i].count
	}
	return c
}

// ReadCounters reads the counters of the calling thread's network namespace.
func ReadCounters() (Counters, error) {
	// Not /proc/net: that is the namespace of the process's first thread.
	return readCounters("/proc/thread-self/net")
}

func readCounters(dir string) (c Counters, err error) {
	values := make(map[string]int64)
	for name, parse := range map[string]parser{"snmp": parse, "netstat": parse, "dev": parseDevices} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return c, fmt.Errorf("read TCP counters: %w", err)
		}
		if err := parse(bytes.NewReader(text), values); err != nil {
			return c, fmt.Errorf("read TCP counters: %s: %w", path, err)
		}
	}
	for _, f := range c.fields() {
		v, ok := values[f.name]
		if !ok {
			return Counters{}, fmt.Errorf("read TCP counters: this kernel does not count %s", f.name)
		}
		*f.count = v
	}
	return c, nil
}

// parser adds what a file of /proc/net says to the values.
type parser func(r io.Reader, values map[string]int64) error

// deviceDrops is what /proc/net/dev counts of drops, summed over devices.
const deviceDrops = "Dev drop"

// parseDevices adds up the frames that the devices dropped: columns 4 and 12 of
// the numbers behind a device's name.
func parseDevices(r io.Reader, values map[string]int64) error {
	const received, sent, columns = 3, 11, 16
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		device, numbers, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			continue // the two lines of headings
		}
		fields := strings.Fields(numbers)
		if len(fields) < columns {
			return fmt.Errorf("device %s has %d columns, want %d", strings.TrimSpace(device), len(fields), columns)
		}
		for _, column := range []int{received, sent} {
			n, err := strconv.ParseInt(fields[column], 10, 64)
			if err != nil {
				return fmt.Errorf("device %s: %w", strings.TrimSpace(device), err)
			}
			values[deviceDrops] += n
		}
	}
	return lines.Err()
}

// parse reads the format of /proc/net/snmp and netstat: pairs of lines, each
// beginning with the group, the first naming the second's values.
func parse(r io.Reader, values map[string]int64) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		names := strings.Fields(lines.Text())
		if len(names) == 0 {
			continue
		}
		if !lines.Scan() {
			return fmt.Errorf("no values after the names of %s", names[0])
		}
		row := strings.Fields(lines.Text())
		if len(row) != len(names) || row[0] != names[0] {
			return fmt.Errorf("values do not fit the names of %s", names[0])
		}
		group := strings.TrimSuffix(names[0], ":")
		for i, name := range names[1:] {
			v, err := strconv.ParseInt(row[i+1], 10, 64)
			if err != nil {
				return fmt.Errorf("%s %s: %w", group, name, err)
			}
			values[group+" "+name] = v
		}
	}
	return lines.Err()
}
