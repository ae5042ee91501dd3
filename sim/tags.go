package sim

import (
	"math"

	"aqmlab/sim/tcp"
	"aqmlab/trafficgen/traffic"
)

// tags hold the DSCPs of every service's bytes, so that no flow makes its own.
type tags struct {
	tagging  traffic.Tagging
	services []tcp.Tag // of bytes from the beginning of a flow on
	fixed    []uint8   // fixed[d:d+1] are the DSCPs of a tag that is d throughout
}

func newTags(t traffic.Tagging, services int) *tags {
	g := &tags{tagging: t}
	var thresholds []int64
	for _, b := range t.Thresholds {
		thresholds = append(thresholds, int64(b))
	}
	for service := range services {
		tag := tcp.Tag{Thresholds: thresholds}
		for at := int64(0); ; at = t.Until(at) {
			if at == math.MaxInt64 {
				break
			}
			tag.DSCPs = append(tag.DSCPs, t.DSCP(service, at))
		}
		g.services = append(g.services, tag)
	}
	for d := range traffic.MaxDSCP + 1 {
		g.fixed = append(g.fixed, uint8(d))
	}
	return g
}

// from is the tag of the bytes that a flow sends from an offset on. The tag of
// offset zero changes at the thresholds. Later writes are one segment long, so one
// DSCP is enough for them.
func (g *tags) from(service int, offset int64) tcp.Tag {
	if offset == 0 {
		return g.services[service]
	}
	d := g.tagging.DSCP(service, offset)
	return tcp.Tag{DSCPs: g.fixed[d : d+1]}
}
