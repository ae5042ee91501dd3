package labs

import (
	"cmp"
	"errors"
	"time"

	"aqmlab/kind"
	"aqmlab/labs/basertt"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// checkTopology answers the layout, or an empty one when there can be none.
func checkTopology(r *schema.Reader, l *Lab, file *topologies.File) topologies.Layout {
	t := &l.Topology
	if t.Rate == 0 && t.Kind != topologies.OnFile && r.Sound("topology.rate") {
		r.Fail("topology.rate", "missing: want a rate such as 10Gbps or 100Mbps")
	}
	c, ch := r.Choice(topologyPath), kind.Choice{Kind: t.Kind, Params: t.Params}
	if !r.Sound(c.KindPath()) {
		return topologies.Layout{}
	}
	if t.Kind != topologies.Star && r.Uses(hostsPath, c.KindPath()) {
		r.Fail(hostsPath, "not used when topology.kind is %s: want %s", t.Kind, topologies.Star)
	}
	r.RefuseUnused(c, ch)
	layout := schema.Build(r, c, ch, func(params map[string]any) (topologies.Layout, error) {
		layout, err := topologies.Table().New(t.Kind, params, topologies.Env{Hosts: t.Hosts, Rate: t.Rate, Read: file})
		if wrong := (schema.Errors)(nil); errors.As(err, &wrong) {
			r.Blame(filePath, wrong) // the file's own lines
		}
		return layout, err
	})
	if layout.Digest != "" { // of a file
		t.laid, t.Params[topologies.DigestKey] = &layout, layout.Digest
		referenceRate(r, t)
	}
	t.Hosts = len(layout.Racks)
	return layout
}

// referenceRate is what loads are relative to, unless the lab sets it: the rate
// of the slowest link.
func referenceRate(r *schema.Reader, t *Topology) {
	if t.Rate > 0 || !r.Sound("topology.rate") {
		return
	}
	if t.Rate = t.laid.SlowestRate(); t.Rate == 0 {
		r.Fail("topology.rate", "missing: want a rate such as 10Gbps, for the links of topology.file that do not say theirs")
	}
}

// checkRTT wants the keys that the distribution uses, and no others.
func checkRTT(r *schema.Reader, l *Lab, layout topologies.Layout) {
	checkBase(r, l, layout)
	c := r.Choice(distributionPath)
	kindPath := c.KindPath()
	r.RefuseUnused(c, l.RTT.Distribution)
	shape := schema.BuildOf(r, distributionPath, l.RTT.Distribution, basertt.Table(), struct{}{})
	switch {
	case shape == nil:
	case l.RTT.Distribution.Kind == basertt.Fixed:
		checkFixed(r, l, kindPath)
	default:
		checkRange(r, l)
	}
}

// checkBase derives the base RTT of a lab that sets the links' delays instead.
func checkBase(r *schema.Reader, l *Lab, layout topologies.Layout) {
	if !r.Sound(linkDelayPath) {
		r.Blame(rttMinPath, nil) // what is wrong is told already
	}
	own := ownDelays(r, l, layout)
	if own == "" {
		l.RTT.Base = cmp.Or(l.RTT.Base, baseLinks)
		return
	}
	for _, path := range []string{rttMinPath, rttBasePath} {
		if r.Uses(path, own) {
			r.Fail(path, "%s is set, too, and says what the base RTT is: want one of the two", own)
		}
	}
	oneWay := time.Duration(layout.Hops) * l.Topology.LinkDelay
	if l.Topology.laid != nil {
		oneWay = layout.OneWay(l.Topology.LinkDelay)
	}
	l.RTT.Min = 2 * oneWay
	l.RTT.Base = ""
}

// checkFixed is for a lab in which all base RTTs are the same.
func checkFixed(r *schema.Reader, l *Lab, kindPath string) {
	rtt := &l.RTT
	if !r.Uses(rttMaxPath, kindPath) {
		rtt.Max = rtt.Min
	}
	if rtt.Max != rtt.Min && r.Sound(rttMinPath, rttMaxPath) {
		r.Fail(rttMaxPath, "%s differs from rtt.min, %s: a fixed distribution has one RTT",
			units.FormatTime(rtt.Max), units.FormatTime(rtt.Min))
	}
	for _, path := range []string{rttPerPath, rttAtPath, rttByPath} {
		if r.Uses(path, kindPath) {
			r.Fail(path, "not used when %s is %s", distributionPath, basertt.Fixed)
		}
	}
	rtt.Per, rtt.At, rtt.By = "", "", ""
}

// checkRange is for a lab in which base RTTs are drawn.
func checkRange(r *schema.Reader, l *Lab) {
	rtt := &l.RTT
	switch {
	case !r.Has(rttMaxPath):
		r.Fail(rttMaxPath, "missing: %s is %s: want a time such as 240us", distributionPath, rtt.Distribution.Kind)
	case rtt.Max < rtt.Min && r.Sound(rttMinPath, rttMaxPath):
		r.Fail(rttMaxPath, "%s is below rtt.min, %s", units.FormatTime(rtt.Max), units.FormatTime(rtt.Min))
	}
	rtt.Per, rtt.At, rtt.By = cmp.Or(rtt.Per, perFlow), cmp.Or(rtt.At, atSender), cmp.Or(rtt.By, ByAny)
}

// ownDelays is the key that says what the delays of links are, or nothing when
// the base RTT does. Either all links of a file say their delay, or none, or
// topology.link_delay is that of the others.
func ownDelays(r *schema.Reader, l *Lab, layout topologies.Layout) string {
	some, all := layout.OwnDelays()
	switch {
	case some == 0 && l.Topology.LinkDelay == 0:
		return ""
	case some == 0:
		return linkDelayPath
	case some == all && r.Has(linkDelayPath):
		r.Fail(linkDelayPath, "not used when all links of topology.file say their delay")
	case some < all && l.Topology.LinkDelay == 0 && r.Sound(linkDelayPath):
		r.Fail(linkDelayPath, "missing: %d of the %d links of topology.file say their delay: want a time such as 10us for the others", some, all)
	}
	return filePath
}

// checkRecovery refuses a transport that goes by the times of segments where losses are
// found without.
func checkRecovery(r *schema.Reader, l *Lab, t transport.Transport) {
	if t.Metered && l.Host.LossRecovery == RecoverSACK {
		r.Fail("host.loss_recovery", "%s does not go with %s, which needs the times of segments: want %s or %s", RecoverSACK, t.Name, RecoverRACK, RecoverSACKPRR)
	}
}

func checkHost(r *schema.Reader, l *Lab) {
	h := l.Host
	chosen := kind.Choice{Kind: h.Transport, Params: h.TransportParams}
	r.RefuseUnused(r.Choice(transportPath), chosen)
	checkRecovery(r, l, schema.BuildOf(r, transportPath, chosen, transport.Table(), struct{}{}))
	for path, rto := range map[string]time.Duration{"host.rto_min": h.RTOMin, "host.rto_initial": h.RTOInitial} {
		if rto > h.RTOMax && r.Sound(path, "host.rto_max") {
			r.Fail(path, "%s is above host.rto_max, %s", units.FormatTime(rto), units.FormatTime(h.RTOMax))
		}
	}
}
