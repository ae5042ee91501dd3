package labs

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/transport"
)

// Speech is a transport that some flows speak in place of the hosts' own: those that fit
// all that it names, and no entry before.
type Speech struct {
	Name       string      `lab:"name" form:"name" doc:"unique in the lab"`
	Transport  kind.Choice `lab:"transport" kinds:"transports" doc:"required; what aqmlab transport list lists"`
	Services   []int       `lab:"services" write:"set" distinct:"yes" range:"0..63" doc:"services, from 0, whose flows speak it; any when absent"`
	Hosts      []string    `lab:"hosts" write:"set" distinct:"yes" doc:"hosts that speak it where they send a flow's data; any when absent"`
	Background []string    `lab:"background" write:"set" distinct:"yes" doc:"names of the background whose flows speak it, or workload; any when absent"`
	ECN        string      `lab:"ecn" what:"codepoint" oneof:"ect0,ect1,none" write:"set" doc:"ECN codepoint of its packets that are ECN-capable, and of all with payload; the transport's own when absent"`
	DSCP       int         `lab:"dscp" default:"-1" write:"changed" range:"-1..63" doc:"DSCP of its packets; -1: that of the service"`
}

// theWorkload stands in [Speech.Background] for the flows that are of no background.
const theWorkload = workloadKey

// maxTransports bounds the transports beside that of the hosts. On real hosts each has
// addresses of its own.
const maxTransports = 32

// Build is the transport with the lab's parameters.
func (s Speech) Build() (transport.Transport, error) {
	return transport.Table().New(s.Transport.Kind, s.Transport.Params, struct{}{})
}

// Codepoint is what the packets of the transport get in place of what it gives them. t is
// what [Speech.Build] made.
func (s Speech) Codepoint(t transport.Transport) packet.Codepoint {
	c := packet.Codepoint{Set: s.ECN != "", All: !t.ECN}
	switch s.ECN {
	case "ect0":
		c.ECN = packet.ECT0
	case "ect1":
		c.ECN = packet.ECT1
	}
	return c
}

// Datagram is the payload of a datagram that fills the MTU, in bytes.
func (h Host) Datagram() int { return h.MTU - packet.UDPHeaders }

// Record is what results have of it. Who provides it is not known yet.
func (s Speech) Record() results.Spoken {
	r := results.Spoken{
		Name: s.Name, Transport: results.Transport{Name: s.Transport.Kind},
		Services: slices.Clone(s.Services), Hosts: slices.Clone(s.Hosts), Background: slices.Clone(s.Background), ECN: s.ECN,
	}
	if s.DSCP >= 0 {
		r.DSCP = &s.DSCP
	}
	return r
}

// Speaks lists what the hosts speak, by [traffic.Flow.Transport]: first the transport of
// all flows that no entry of the lab's transports fits.
func (l *Lab) Speaks() []Speech {
	own := Speech{Transport: kind.Choice{Kind: l.Host.Transport, Params: l.Host.TransportParams}, DSCP: -1}
	return append([]Speech{own}, l.Transports...)
}

// Spoken names what the hosts speak, each once.
func (l *Lab) Spoken() string {
	var names []string
	for _, s := range l.Speaks() {
		if !slices.Contains(names, s.Transport.Kind) {
			names = append(names, s.Transport.Kind)
		}
	}
	return strings.Join(names, " and ")
}

// speakers are the rules by which flows get their transport.
func (l *Lab) speakers() []trafficgen.Speaker {
	var all []trafficgen.Speaker
	for _, s := range l.Transports {
		one := trafficgen.Speaker{Services: slices.Clone(s.Services)}
		if layout, err := l.Topology.layout(); err == nil { // a lab that was loaded has none
			for _, name := range s.Hosts {
				one.Servers = append(one.Servers, slices.Index(layout.Names, name))
			}
		}
		for _, name := range s.Background {
			one.Workloads = append(one.Workloads, slices.Index(l.workloads(), name))
		}
		all = append(all, one)
	}
	return all
}

// workloads are the names of the workload and of the background, by
// [traffic.Flow.Workload].
func (l *Lab) workloads() []string {
	names := []string{theWorkload}
	for _, b := range l.Background {
		names = append(names, b.Name)
	}
	return names
}

// ownDSCPs are those of transports that have one.
func (l *Lab) ownDSCPs() map[int]uint8 {
	var own map[int]uint8
	for i, s := range l.Transports {
		if s.DSCP < 0 {
			continue
		}
		if own == nil {
			own = make(map[int]uint8)
		}
		own[i+1] = uint8(s.DSCP)
	}
	return own
}

// speechPath is where a transport of that name stands.
func speechPath(name string) string { return fmt.Sprintf("%s.%s", transportsKey, name) }

// pathOf is where one of [Lab.Speaks] stands.
func (l *Lab) pathOf(i int) string {
	if i == 0 {
		return transportPath
	}
	return speechPath(l.Transports[i-1].Name) + ".transport"
}
