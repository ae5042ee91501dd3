package play

import (
	"fmt"
	"slices"
	"strconv"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
)

// Book is what a page has to choose from.
type Book struct {
	Labs  []Entry      `json:"labs"`
	Kinds []kind.Entry `json:"kinds"` // all schemes, with their parameters
}

// Entry is a lab that a page offers, and what its fields begin with.
type Entry struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Look    string   `json:"look"`    // what is to be seen
	ByLoad  bool     `json:"by_load"` // its load and number of flows are for the user to set
	Load    string   `json:"load"`
	Flows   string   `json:"flows"`
	Seed    string   `json:"seed"`
	Facts   string   `json:"facts"` // network and hosts
	Schemes []Scheme `json:"schemes"`
	Sides   [2]Side  `json:"sides"` // schemes to begin with
}

// Scheme is one of the lab.
type Scheme struct {
	Name   string            `json:"name"`
	Kind   string            `json:"kind"`
	Params map[string]string `json:"params"` // that the lab sets
}

// offer is a lab that a page can run within seconds, and why one would.
type offer struct {
	lab, look   string
	load, flows string    // in place of the lab's; empty: the lab's
	sides       [2]string // schemes to begin with
}

// offers are the labs of a page, of which none has its network in a file.
func offers() []offer {
	return []offer{
		{"quickstart", "Short flows wait behind long ones. What does marking by waiting time save them?", "", "", [2]string{"droptail", "tcn"}},
		{"tcn/fig3", "Eight flows start at once. How far does the queue overshoot before the first marks count?", "", "", [2]string{"enqueue-red", "tcn"}},
		{"tcn/fig6", "Four services share a port. One threshold for each queue lets the queues fill that have less of it.", "0.7", "300", [2]string{"per-queue-standard", "tcn"}},
		{"jumbo-100g", "The same at 100 Gbps with frames of 9000 bytes, where thresholds are a few packets of time.", "0.7", "400", [2]string{"red-standard", "ecn-sharp"}},
		{"flap", "An uplink of a leaf-spine goes down and comes back. Watch what the queue does meanwhile.", "", "200", [2]string{"droptail", "dctcp-red"}},
		{"field/coexist", "Four flows of DCTCP beside four of CUBIC through one queue. Who gets the link?", "", "", [2]string{"dctcp-red", "fq-codel"}},
		{"l4s/coexist", "Prague beside CUBIC over 30 ms for a minute: coupled queues against one queue.", "", "", [2]string{"dualpi2", "codel"}},
	}
}

// TheBook is what a page has to choose from.
func TheBook() (Book, error) {
	b := Book{Kinds: port.Kinds{}.Schemes().Entries()}
	for _, o := range offers() {
		lab, err := labs.FromBook(o.lab, port.Kinds{})
		if err != nil {
			return Book{}, err
		}
		e, err := o.entry(lab)
		if err != nil {
			return Book{}, fmt.Errorf("offering lab %s: %w", o.lab, err)
		}
		b.Labs = append(b.Labs, e)
	}
	return b, nil
}

func (o offer) entry(lab *labs.Lab) (Entry, error) {
	w := lab.Workload
	arrival, err := trafficgen.Arrivals().New(w.Arrival.Kind, w.Arrival.Params, trafficgen.Env{})
	if err != nil {
		return Entry{}, err
	}
	e := Entry{
		Name: o.lab, Title: lab.Title, Look: o.look, ByLoad: arrival.ByLoad(),
		Load: o.load, Flows: o.flows, Seed: strconv.FormatUint(lab.Seeds[0], 10),
		Facts: fmt.Sprintf("%s, %d hosts at %v, %s", lab.Topology.Kind, lab.Topology.Hosts, lab.Topology.Rate, lab.Spoken()),
		Sides: [2]Side{{Scheme: o.sides[0]}, {Scheme: o.sides[1]}},
	}
	if e.Load == "" {
		e.Load = strconv.FormatFloat(w.Load[0], 'g', -1, 64)
	}
	if e.Flows == "" {
		e.Flows = strconv.Itoa(w.Flows)
	}
	for _, s := range lab.Schemes {
		e.Schemes = append(e.Schemes, Scheme{s.Name, s.AQM.Kind, textOf(s.AQM.Params)})
	}
	for _, name := range o.sides {
		if !slices.ContainsFunc(e.Schemes, func(s Scheme) bool { return s.Name == name }) {
			return e, kind.Unknown("scheme", name, nil)
		}
	}
	return e, nil
}

// textOf is parameters as a lab file has them.
func textOf(raw map[string]any) map[string]string {
	params := make(map[string]string, len(raw))
	for name, value := range raw {
		if text, ok := kind.AsText(value); ok {
			params[name] = text
		} else {
			params[name] = fmt.Sprint(value)
		}
	}
	return params
}
