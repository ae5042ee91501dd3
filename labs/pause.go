package labs

import (
	"fmt"

	"aqmlab/switch/fabric"
	"aqmlab/units"
)

const (
	xOffPath = "switch.pause.xoff"
	xOnPath  = "switch.pause.xon"
)

// pauseKeys are those of flow control, which is off without them.
func pauseKeys(p *fabric.Pause) []key {
	return []key{
		{xOffPath, optional(&p.XOff, size)},
		{xOnPath, optional(&p.XOn, size)},
	}
}

// checkPause wants thresholds between which flow control can come to rest. By
// default links go on two full packets below where they stop.
func (r *reader) checkPause(l *Lab) {
	p, packet := &l.Switch.Pause, units.Size(l.Host.MTU)
	if p.XOff == 0 && p.XOn == 0 || !r.sound(xOffPath, xOnPath, "host.mtu") {
		return
	}
	if p.XOn == 0 {
		p.XOn = max(p.XOff-2*packet, 1)
	}
	switch {
	case p.XOn > p.XOff:
		r.fail(xOnPath, "%v is above switch.pause.xoff, %v", p.XOn, p.XOff)
	case p.XOff < packet:
		r.fail(xOffPath, "%v does not hold a packet: want at least host.mtu, %v", p.XOff, packet)
	case len(r.errs) > 0 || len(l.Schemes) == 0:
		// There is no fabric to look at.
	default:
		if spec, err := l.fabric(l.Schemes[0].Name, 0); err == nil {
			if err := headroom(spec, packet); err != nil {
				r.fail(xOffPath, "%w", err)
			}
		}
	}
}

// headroom is an error if a switch of the fabric may have to drop a packet in
// spite of its flow control.
func headroom(spec fabric.Spec, packet units.Size) error {
	need := map[string]units.Size{}
	for _, l := range spec.Links {
		need[l.A] += spec.Pause.Peak(l, packet)
		need[l.B] += spec.Pause.Peak(l, packet)
	}
	for _, s := range spec.Switches {
		if need[s] > spec.Port.Buffer {
			return fmt.Errorf("switch %s may come to hold %v before its links stop: a buffer of %v would drop some", s, need[s], spec.Port.Buffer)
		}
	}
	return nil
}
