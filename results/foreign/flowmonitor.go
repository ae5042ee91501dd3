package foreign

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FlowMonitor numbers flows by their first packets, counts the packets of each with
// everything from the header of IP on, and does not look into TCP. A connection is two
// flows, one a direction.

// leastHeaders is the least that a packet of TCP over IPv4 has beside its payload, in bytes.
const leastHeaders = 40

// connection is one direction of one: addresses and ports of both ends.
type connection struct{ protocol, from, fromPort, to, toPort string }

func (c connection) reverse() connection {
	return connection{c.protocol, c.to, c.toPort, c.from, c.fromPort}
}

// monitored is what FlowMonitor says of one direction.
type monitored struct {
	id                 uint64
	first, last        time.Duration // packet sent, packet received
	exact              time.Duration
	sent, got, packets int64 // bytes sent; bytes and packets received
}

// readFlowMonitor returns the directions that data took.
func readFlowMonitor(in io.Reader) ([]Seen, error) {
	stats, ends := make(map[uint64]monitored), make(map[uint64]connection)
	section := ""
	for d := xml.NewDecoder(in); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := start.Name.Local
		if name != "Flow" {
			if name == "FlowStats" || strings.HasSuffix(name, "FlowClassifier") || name == "FlowProbes" {
				section = name
			}
			continue
		}
		if err := addFlow(section, attributes(start), stats, ends); err != nil {
			return nil, err
		}
	}
	if len(stats) == 0 {
		return nil, errors.New("it has no element Flow in FlowStats")
	}
	return ofData(stats, ends)
}

// addFlow adds an element Flow of the statistics or of a classifier.
func addFlow(section string, has attrs, stats map[uint64]monitored, ends map[uint64]connection) error {
	id, err := has.count("flowId")
	if err != nil {
		return err
	}
	switch {
	case section == "FlowStats":
		stats[uint64(id)], err = monitoredOf(uint64(id), has)
	case strings.HasSuffix(section, "FlowClassifier"):
		ends[uint64(id)] = connection{has["protocol"], has["sourceAddress"], has["sourcePort"], has["destinationAddress"], has["destinationPort"]}
	}
	return err
}

func monitoredOf(id uint64, has attrs) (m monitored, err error) {
	m.id = id
	var firstOff, lastOff time.Duration
	if m.first, firstOff, err = has.time("timeFirstTxPacket"); err != nil {
		return m, fmt.Errorf("flow %d: %w", id, err)
	}
	if m.last, lastOff, err = has.time("timeLastRxPacket"); err != nil {
		return m, fmt.Errorf("flow %d: %w", id, err)
	}
	m.exact = max(firstOff, lastOff)
	for name, into := range map[string]*int64{"txBytes": &m.sent, "rxBytes": &m.got, "rxPackets": &m.packets} {
		if *into, err = has.count(name); err != nil {
			return m, fmt.Errorf("flow %d: %w", id, err)
		}
	}
	return m, nil
}

// ofData keeps of each connection the direction with more bytes, in the order of first
// packets of connections.
func ofData(stats map[uint64]monitored, ends map[uint64]connection) (seen []Seen, err error) {
	all := make([]monitored, 0, len(stats))
	known := make(map[connection]uint64)
	for id, m := range stats {
		c, ok := ends[id]
		if !ok {
			return nil, fmt.Errorf("flow %d is in no classifier: its ends are not known", id)
		}
		if other, twice := known[c]; twice {
			return nil, fmt.Errorf("flows %d and %d have the same ends", min(id, other), max(id, other))
		}
		known[c] = id
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b monitored) int { return cmp.Compare(a.id, b.id) })
	done := make(map[uint64]bool)
	for _, m := range all {
		c := ends[m.id]
		back, both := known[c.reverse()]
		if done[m.id] {
			continue
		}
		data, first := m, m.first
		if both {
			done[back] = true
			first = min(first, stats[back].first)
			if stats[back].sent > m.sent {
				data, c = stats[back], c.reverse()
			}
		}
		seen = append(seen, Seen{
			ID: Unnumbered, Start: first, End: data.last, Exact: max(data.exact, m.exact),
			Bytes: data.got - leastHeaders*data.packets, From: c.from, To: c.to,
		})
	}
	return seen, nil
}

// attrs are those of an element.
type attrs map[string]string

func attributes(e xml.StartElement) attrs {
	a := make(attrs, len(e.Attr))
	for _, at := range e.Attr {
		a[at.Name.Local] = at.Value
	}
	return a
}

func (a attrs) count(name string) (int64, error) {
	n, err := strconv.ParseInt(a[name], 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/(2*leastHeaders) {
		return 0, fmt.Errorf("%s is %q: want a whole number", name, a[name])
	}
	return n, nil
}

// time reads a time as ns-3 prints it, such as +7.79683e+07ns, and how far it may be off.
func (a attrs) time(name string) (at, off time.Duration, err error) {
	bad := fmt.Errorf("%s is %q: want a time in ns, such as +7.79683e+07ns", name, a[name])
	text, ok := strings.CutSuffix(a[name], "ns")
	if !ok {
		return 0, 0, bad
	}
	ns, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(ns) < math.MaxInt64/4) {
		return 0, 0, bad
	}
	return time.Duration(math.Round(ns)), rounding(text, ns), nil
}

// rounding is half of the last digit that a text shows of a number, in its unit.
func rounding(text string, value float64) time.Duration {
	mantissa, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "+-")), "e")
	digits := len(strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0"))
	if value == 0 || digits == 0 {
		return 0
	}
	// The text of a shorter number may have lost zeros at its end: six digits are shown.
	digits = max(digits, 6)
	last := math.Pow(10, math.Floor(math.Log10(math.Abs(value)))+1-float64(digits))
	return time.Duration(math.Floor(last / 2))
}
