package results

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Measured is what metrics say of a point. Its JSON is one object: a number for each
// metric of the table, and for each other an object with its unit, too.
type Measured struct {
	Values   map[string]float64 // by the metrics' names; what the point does not have is not there
	Programs []Metric           // those that are of no table, by name: figures of the lab's programs, and how parties share the network
}

// Measure is what all metrics say of a point.
func Measure(p Point) Measured {
	once := &summed{Point: p, fct: make(map[Class]FCT)}
	all := Measured{Values: make(map[string]float64)}
	for _, m := range Metrics() {
		if v, ok := m.of(once); ok {
			all.Values[m.Name] = v
		}
	}
	for _, f := range ProgramFiguresOf(p) {
		all.addProgram(f)
	}
	return all
}

// ProgramMetric is the begin of the names of metrics that are figures of programs:
// programs.NAME.FIGURE is the mean of what the program NAME measured, and
// programs.NAME.FIGURE.p99 its 99th percentile, where it is of [Several] values.
const ProgramMetric = "programs."

// CoexistenceMetric is the begin of the names of metrics that say how parties share the
// network, such as coexistence.jain.
const CoexistenceMetric = "coexistence."

// Varies tells whether a metric of that name is of no table: which of them there are shows
// when a point is measured.
func Varies(name string) bool {
	return strings.HasPrefix(name, ProgramMetric) || strings.HasPrefix(name, CoexistenceMetric)
}

// Share adds a metric of how parties share the network.
func (m *Measured) Share(metric Metric, value float64) { m.add(metric, value) }

func (m *Measured) addProgram(f ProgramFigure) {
	name := ProgramMetric + f.Program + "." + f.Name
	m.add(programMetric(name, f.Unit, f.Better), EstimateOf(f.Values).Mean)
	if len(f.Values) >= Several {
		m.add(programMetric(name+".p99", f.Unit, f.Better), Percentile(slices.Sorted(slices.Values(f.Values)), 0.99))
	}
}

func (m *Measured) add(metric Metric, value float64) {
	if _, twice := m.Values[metric.Name]; !twice { // in two units
		m.Values[metric.Name], m.Programs = value, append(m.Programs, metric)
	}
}

func programMetric(name, unit, better string) Metric {
	program, figure, _ := strings.Cut(strings.TrimPrefix(name, ProgramMetric), ".")
	return Metric{Name: name, Unit: unit, Doc: figure + " of the program " + program, Lower: better != Higher}
}

// ownValue is a value that is of no table, as it is stored.
type ownValue struct {
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Better string  `json:"better"`
	Doc    string  `json:"doc,omitempty"` // where the name does not say it
}

var (
	_ json.Marshaler   = Measured{}
	_ json.Unmarshaler = (*Measured)(nil)
)

// MarshalJSON writes the names in alphabetical order.
func (m Measured) MarshalJSON() ([]byte, error) {
	all := make(map[string]any, len(m.Values))
	for name, v := range m.Values {
		all[name] = v
	}
	for _, p := range m.Programs {
		better := Higher
		if p.Lower {
			better = Lower
		}
		own := ownValue{Value: m.Values[p.Name], Unit: p.Unit, Better: better}
		if !strings.HasPrefix(p.Name, ProgramMetric) {
			own.Doc = p.Doc
		}
		all[p.Name] = own
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (m *Measured) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*m = Measured{Values: make(map[string]float64, len(all))}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !Varies(name) {
			var v *float64
			if err := json.Unmarshal(all[name], &v); err != nil || v == nil {
				return fmt.Errorf("%s is no number", name)
			}
			m.Values[name] = *v
			continue
		}
		var v ownValue
		if err := json.Unmarshal(all[name], &v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		metric := programMetric(name, v.Unit, v.Better)
		if v.Doc != "" {
			metric.Doc = v.Doc
		}
		m.add(metric, v.Value)
	}
	return nil
}
