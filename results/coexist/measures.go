package coexist

import (
	"strings"

	"aqmlab/results"
)

// Measure is what a value is.
type Measure struct {
	Name   string
	Unit   string // us, bit/s; empty for a share or an index
	Better string // [results.Lower], [results.Higher]; empty: neither is better by itself
	Doc    string
}

// Names of measures.
const (
	Share       = "share"
	PerFlow     = "goodput.flow"
	Jain        = "jain"
	JainParties = "jain.parties"
	JainFlows   = "jain.flows"
	Utilisation = "utilisation"
	DelayMean   = "delay.mean"
	DelayP50    = "delay.p50"
	DelayP95    = "delay.p95"
	DelayP99    = "delay.p99"
	DelayP999   = "delay.p999"
	Marks       = "marks"
	Losses      = "losses"
	Convergence = "convergence"
	Converged   = "converged"
)

// Measures is the table of all measures, in the order in which they are shown.
func Measures() []Measure {
	return []Measure{
		{Share, "", "", "of a party: its part of the goodput of all, 0 to 1"},
		{PerFlow, "bit/s", "", "of a party: its goodput over the mean number of its flows under way"},
		{Jain, "", results.Higher, "Jain's index of the parties' goodput a flow, the mean of windows, 1 over the number of parties to 1"},
		{JainParties, "", results.Higher, "the same of the parties' goodput, however many flows each has"},
		{JainFlows, "", results.Higher, "the same of the mean goodput of flows, those of all parties that were under way for half of the time or more"},
		{Utilisation, "", results.Higher, "of the bottleneck's link: time for which frames were sent over all time, 0 to 1"},
		{DelayMean, "us", results.Lower, "mean time that packets waited in the bottleneck's queues"},
		{DelayP50, "us", results.Lower, "median of these times"},
		{DelayP95, "us", results.Lower, "their 95th percentile"},
		{DelayP99, "us", results.Lower, "their 99th percentile"},
		{DelayP999, "us", results.Lower, "their 99.9th percentile"},
		{Marks, "", "", "packets that the bottleneck marked over those that it sent, 0 to 1"},
		{Losses, "", results.Lower, "packets that the bottleneck dropped over those that came to it, 0 to 1"},
		{Convergence, "us", results.Lower, "mean time from a change of who is under way until all parties are near their fair share and stay there, of changes after which they came there"},
		{Converged, "", results.Higher, "changes of who is under way after which shares became fair, over all that can be judged, 0 to 1"},
	}
}

// MeasureOf is the measure of that name.
func MeasureOf(name string) (m Measure, ok bool) {
	for _, m := range Measures() {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}

// Metric is the value as a metric of a point: coexistence.jain, and of a party or class
// coexistence.share.NAME, with hyphens for spaces and commas.
func (v Value) Metric() results.Metric {
	m, _ := MeasureOf(v.Measure)
	metric := results.Metric{Name: results.CoexistenceMetric + v.Measure, Unit: m.Unit, Doc: m.Doc, Lower: m.Better == results.Lower}
	if v.Of != "" {
		metric.Name += "." + strings.Join(strings.FieldsFunc(v.Of, func(r rune) bool { return r == ' ' || r == ',' }), "-")
		metric.Doc = v.Of + ": " + m.Doc
	}
	return metric
}
