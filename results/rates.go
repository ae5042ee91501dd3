package results

import "time"

// PortRate is the rate of the link that a port of a switch sends by, from a lab time on.
type PortRate struct {
	Switch string `json:"switch,omitempty"`
	Port   string `json:"port,omitempty"` // name of the node at the port's far end; both are empty for all ports that are not listed
	At     Micros `json:"at_us,omitempty"`
	Rate   int64  `json:"rate_bps"` // bit/s; of links side by side the sum
}

// RatesOf are those of a port, in the order of time, from zero on; none where nobody says.
func RatesOf(all []PortRate, p PortName) []PortRate {
	of := func(name PortName) (found []PortRate) {
		for _, r := range all {
			if (PortName{r.Switch, r.Port}) == name {
				found = append(found, r)
			}
		}
		return found
	}
	if own := of(p); len(own) > 0 {
		return own
	}
	return of(PortName{})
}

// Capacity is how many bits fit between two lab times at a port's rates.
func Capacity(rates []PortRate, from, to time.Duration) float64 {
	bits := 0.0
	for i, r := range rates {
		begin, end := max(time.Duration(r.At), from), to
		if i == 0 {
			begin = from
		}
		if i+1 < len(rates) {
			end = min(end, time.Duration(rates[i+1].At))
		}
		if end > begin {
			bits += float64(r.Rate) * (end - begin).Seconds()
		}
	}
	return bits
}

// frameOverhead is what a packet takes on the wire of Ethernet beside its network-layer
// bytes: preamble, header, checksum and the gap to the next frame.
const frameOverhead = 38

// OnWire is what packets of so many network-layer bytes take on the wire together. Short
// ones are padded to 46 bytes, which it does not know of: a TCP segment has more.
func OnWire(bytes, packets int64) int64 { return bytes + frameOverhead*packets }
