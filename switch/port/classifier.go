package port

import (
	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// ClassifierEnv is what a classifier is built for: one port.
type ClassifierEnv struct{ Queues int }

// byDSCP is the kind where none is named.
const byDSCP = "dscp"

// Classifiers lists the ways to tell by a packet's DSCP which queue it belongs to.
func Classifiers() kind.Table[ClassifierEnv, *packet.Classes] {
	return kind.Table[ClassifierEnv, *packet.Classes]{
		kind.Row(byDSCP, "the DSCP is the number of the queue; one that no queue has means queue 0", struct{}{}, newByDSCP),
		kind.Row("map", "a list has the queue of each DSCP", Map{}, newMap),
	}
}

// newByDSCP is that of TCN, section 5. A nil table stands for it, which is the fastest.
func newByDSCP(struct{}, ClassifierEnv) (*packet.Classes, error) { return nil, nil }

// Map gives several DSCPs one queue, as switches do with their tables of traffic classes.
type Map struct {
	Queues []int `lab:"queues" range:"0..63" doc:"queue of DSCP 0, of DSCP 1 and so on, from 0; further DSCPs have the last one"`
}

func newMap(p Map, env ClassifierEnv) (*packet.Classes, error) {
	made := new(packet.Classes)
	if len(p.Queues) == 0 {
		return nil, kind.Invalid("queues", "missing: want the queue of each DSCP, such as [0, 0, 1]")
	}
	if len(p.Queues) > len(made) {
		return nil, kind.Invalid("queues", "%d DSCPs are too many: there are %d", len(p.Queues), len(made))
	}
	for dscp := range made {
		q := p.Queues[min(dscp, len(p.Queues)-1)]
		if q >= env.Queues {
			return nil, kind.Invalid("queues", "queue %d of DSCP %d is outside 0 to %d", q, dscp, env.Queues-1)
		}
		made[dscp] = uint8(q)
	}
	return made, nil
}
