package labs

import (
	"fmt"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// Collect says how closely a run is looked at.
type Collect struct {
	Queues    time.Duration // between two samples of a queue; zero: some thousands over the run
	Senders   time.Duration // between two samples of what each sender knows; zero: none
	Estimates bool          // keep what schemes estimate of how fast queues drain
}

// Capture says which packets are kept. A lab without a format keeps none.
type Capture struct {
	Format string     // [PCAPNG]
	Ports  []string   // such as "s1:h1", the port of s1 towards h1; none: all
	Snap   units.Size // of each frame
	Size   units.Size // of the file of a point, about
}

// PCAPNG is the format of captures, which Wireshark opens.
const PCAPNG = "pcapng"

const (
	collectQueuesPath    = "collect.queues"
	collectSendersPath   = "collect.senders"
	collectEstimatesPath = "collect.estimates"

	captureKey        = "capture"
	captureFormatPath = captureKey + ".format"
	capturePortsPath  = captureKey + ".ports"
	captureSnapPath   = captureKey + ".snap"
	captureSizePath   = captureKey + ".size"
)

func captureDefaults() Capture { return Capture{Snap: 128, Size: 64 * units.MB} }

// collectKeys are those of both, which are left out where nothing is asked for.
func collectKeys(c *Collect, p *Capture) []key {
	on := p.Format != ""
	every := spanOf(time.Microsecond, 1000*time.Second)
	return []key{
		{collectQueuesPath, optional(&c.Queues, every)},
		{collectSendersPath, optional(&c.Senders, every)},
		{collectEstimatesPath, optional(&c.Estimates, flag)},
		{captureFormatPath, optional(&p.Format, nameOf("format", PCAPNG))},
		{capturePortsPath, written(distinct(&p.Ports, list(&p.Ports, line)), len(p.Ports) > 0)},
		{captureSnapPath, written(sizeFrom(&p.Snap, 64, 9018), on)},
		{captureSizePath, written(sizeFrom(&p.Size, units.MB, 256*units.MB), on)},
	}
}

func sizeFrom(dst *units.Size, low, high units.Size) codec {
	return quantity[units.Size]{units.ParseSize, units.Size.String, "a size such as 128B or 64MB", low, high}.codec(dst)
}

// checkCapture wants a format, and ports that the layout has.
func (r *reader) checkCapture(l *Lab, layout Layout) {
	given := slices.ContainsFunc([]string{capturePortsPath, captureSnapPath, captureSizePath}, func(path string) bool { return r.get(path) != nil })
	if l.Capture.Format == "" && given && r.sound(captureFormatPath) {
		r.fail(captureFormatPath, "missing: want %s", PCAPNG)
	}
	if len(layout.Racks) == 0 || !r.sound(capturePortsPath) {
		return
	}
	known := layout.ports(l.Host.Port == HostSwitchPort)
	for i, p := range l.Capture.Ports {
		if !slices.Contains(known, p) {
			r.fail(fmt.Sprintf("%s[%d]", capturePortsPath, i), "%w", unknownPort(p, known))
		}
	}
}

// unknownPort lists few of what may be hundreds of ports.
func unknownPort(name string, known []string) error {
	const most = 8
	if len(known) <= most {
		return kind.Unknown("port", name, known)
	}
	return fmt.Errorf("no port %q: want a node and its neighbour, such as %s", name, known[0])
}

// ports are the names of all ports of switches, and of hosts if these have any.
func (l *Layout) ports(ofHosts bool) []string {
	var names []string
	both := func(a, b string, backwards bool) {
		names = append(names, a+":"+b)
		if backwards {
			names = append(names, b+":"+a)
		}
	}
	for i, rack := range l.Racks {
		both(l.Switches[rack], l.name(i), ofHosts)
	}
	for _, t := range l.Trunks {
		both(l.Switches[t.A], l.Switches[t.B], true)
	}
	return names
}
