package fabric

import (
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestChangeOfBusyPorts: packets that wait when ports become others arrive, in their
// order and as fast as the link is, also those that a limiter held back. What they are
// sent to afterwards marks as the new scheme says.
func TestChangeOfBusyPorts(t *testing.T) {
	limited := star(3, units.Gbps, us)
	limited.Port.Limiter = port.Limiter{RateFraction: 0.01, Bucket: 1538}
	for name, spec := range map[string]Spec{"free": star(3, units.Gbps, us), "limited": limited} {
		r := newRig(t, spec)
		for range 50 {
			r.send(0, 0, 2, 1500)
			r.send(0, 1, 2, 1500)
		}
		const at = 100 * us
		r.RunUntil(at)
		before := len(r.log)
		to := plainPort()
		to.Queues, to.Scheduler, to.Scheme = 4, kind.Choice{Kind: "dwrr"}, kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "1us"}}
		r.change(t, to)
		r.RunUntil(time.Second)
		last := r.log[len(r.log)-1].at
		if len(r.log) != 100 || r.pool.Taken() != 0 {
			t.Errorf("%s: %d of 100 arrived", name, len(r.log))
		}
		if took, most := last-at, time.Duration(100-before+2)*onLink(units.Gbps); took > most {
			t.Errorf("%s: %d packets took %v, want at most %v", name, 100-before, took, most)
		}
		if c := r.Counts()[2]; len(c.Queues) != 4 || c.Queues[0].Sent != 100 {
			t.Errorf("%s: counted %+v", name, c)
		}
	}
}

func (r *rig) change(t *testing.T, to port.Spec) {
	t.Helper()
	change, err := r.Change(to)
	if err != nil {
		t.Fatal(err)
	}
	change(r.Now())
}

// TestChangeKeepsWhatPortsAre: each port keeps its rate and its seed.
func TestChangeKeepsWhatPortsAre(t *testing.T) {
	spec := star(3, units.Gbps, us)
	spec.Links[2].Rate = 100 * units.Mbps
	r := newRig(t, spec)
	seeds := map[uint64]bool{}
	r.change(t, plainPort())
	for i, rate := range []units.Rate{units.Gbps, units.Gbps, 100 * units.Mbps} {
		made := r.makings[i].spec
		if seeds[made.Seed] = true; made.Rate != rate || !made.FacesHost {
			t.Errorf("port %d: %+v", i, made)
		}
	}
	if len(seeds) != 3 {
		t.Errorf("%d seeds", len(seeds))
	}
}

// TestChangeOfIngress: ACKs that wait go on when the gate that holds them goes, and when
// another one comes; what was held stays counted.
func TestChangeOfIngress(t *testing.T) {
	spec := ackStar()
	e := newExchange(t, spec)
	e.incast(40)
	var held int64
	for at := us; held == 0; at += us {
		e.RunUntil(at)
		c := e.towards("h3").Ingress.Count()
		held = c.Held - c.Released
	}
	plain := spec.Port
	plain.Ingress = kind.Choice{}
	e.change(t, plain)
	if c := e.towards("h3").Ingress.Count(); c.Held-c.Released != 0 {
		t.Errorf("%+v without a gate", c)
	}
	counted := e.towards("h3").Ingress.Count()
	e.RunUntil(e.Now() + 50*us)
	if c := e.towards("h3").Ingress.Count(); c != counted {
		t.Errorf("counted %+v without a gate, after %+v", c, counted)
	}
	e.change(t, spec.Port)
	e.RunUntil(time.Second)
	c := e.towards("h3").Ingress.Count()
	if len(e.acks) != 80 || e.pool.Taken() != 0 || c.Held <= counted.Held || c.Held != c.Released {
		t.Errorf("%d of 80 ACKs, counted %+v after %+v", len(e.acks), c, counted)
	}
}

// TestChangeRefuses: ports stay as they are when one of them cannot change.
func TestChangeRefuses(t *testing.T) {
	r := newRig(t, star(3, units.Gbps, us))
	to := plainPort()
	to.Ingress = kind.Choice{Kind: "abq", Params: map[string]any{"k": "2MB"}}
	if _, err := r.Change(to); err == nil || !strings.Contains(err.Error(), "port of s1 to h1") {
		t.Errorf("error %v", err)
	}
	to = plainPort()
	to.Queues = 2
	if _, err := r.Change(to); err == nil || !strings.Contains(err.Error(), "a fifo has one queue") {
		t.Errorf("error %v", err)
	}
}
