package labs

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/units"
)

// checkEvents wants of each event a time, one link or host of the layout, and something
// of that to change.
func checkEvents(r *schema.Reader, l *Lab, layout topologies.Layout) {
	for i := range l.Events {
		e := &l.Events[i]
		c := eventCheck{r, e, fmt.Sprintf("%s.%d", eventsKey, i)}
		if !r.Has(c.path("at")) {
			r.Fail(c.path("at"), "missing: want a time such as 100ms")
		}
		switch {
		case e.Link != "" && e.Host != "":
			r.Fail(c.path("host"), "link is set, too: want one of the two")
		case e.Link == "" && e.Host == "" && r.Sound(c.path("link"), c.path("host")):
			r.Fail(c.at, "of nothing: want link or host")
		case e.Link != "":
			c.refuse("rtt", "link", "host")
			c.link(layout)
		case e.Host != "":
			for _, key := range []string{"from", "rate", "delay", "loss", "down"} {
				c.refuse(key, "host", "link")
			}
			c.host(l, layout)
		}
	}
}

// eventCheck is an event, and where it stands.
type eventCheck struct {
	r *schema.Reader
	*Event
	at string
}

func (c eventCheck) path(key string) string { return c.at + "." + key }

// refuse tells that a key does not go with another one.
func (c eventCheck) refuse(key, with, want string) {
	if c.r.Has(c.path(key)) {
		c.r.Fail(c.path(key), "not used with %s: want %s", with, want)
	}
}

// link checks an event of a link.
func (c eventCheck) link(layout topologies.Layout) {
	if known := layout.Ports(true); len(known) > 0 && !slices.Contains(known, c.Link) {
		c.r.Fail(c.path("link"), "no link %q: want a node and its neighbour, such as %s", c.Link, known[0])
	}
	a, b, _ := strings.Cut(c.Link, ":")
	if c.From != "" && c.From != a && c.From != b && c.r.Sound(c.path("link")) {
		c.r.Fail(c.path("from"), "%q is no end of %s: want %s or %s", c.From, c.Link, a, b)
	}
	if c.From != "" && c.Down != nil {
		c.r.Fail(c.path("from"), "not used with down: a link goes down in both directions")
	}
	keys := []string{"rate", "delay", "loss", "down"}
	if !slices.ContainsFunc(keys, func(key string) bool { return c.r.Has(c.path(key)) }) {
		c.r.Fail(c.at, "changes nothing: want %s", strings.Join(keys, ", "))
	}
}

// host checks an event of a host.
func (c eventCheck) host(l *Lab, layout topologies.Layout) {
	checkHostName(c.r, c.path("host"), c.Host, layout)
	rtt := c.path("rtt")
	switch {
	case !c.r.Has(rtt):
		c.r.Fail(rtt, "missing: want a time such as 300us")
	case c.RTT < l.RTT.Min && c.r.Sound(rtt, rttMinPath):
		c.r.Fail(rtt, "%s is below rtt.min, %s", units.FormatTime(c.RTT), units.FormatTime(l.RTT.Min))
	case l.RTT.By == ByNetem:
		c.r.Fail(rtt, "not used when %s is %s: want %s or %s", rttByPath, ByNetem, ByAny, ByDelayLine)
	}
}
