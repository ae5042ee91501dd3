// Package parser reads the figures that programs of labs measured out of what they wrote.
package parser

import (
	"aqmlab/kind"
	"aqmlab/results"
)

// Output is what a program wrote.
type Output struct {
	Stdout, Stderr []byte
	// Figures is what it wrote where [Parser.Source] asks for it.
	Figures []byte
	// Cut tells that it wrote more than is kept, so that the rest is missing.
	Cut bool
}

// Source is a place for figures alone. It may be none.
type Source struct {
	Descriptor bool   // number 3
	File       string // in the program's folder
}

// Parser finds the figures that a program measured in what it wrote.
type Parser interface {
	// Source is where the program writes figures, apart from its output.
	Source() Source
	// Parse returns the figures, in the order of the text. Errors say where the text
	// is not what the parser is for.
	Parse(o Output) ([]results.ProgramSample, error)
}

// Table is the table of parsers.
func Table() kind.Table[struct{}, Parser] {
	return kind.Table[struct{}, Parser]{
		kind.Row("lines", "a JSON object a line, with metric and value, and maybe unit and better", lines{From: fromStdout}, newLines),
		kind.Row("iperf3", "what iperf3 --json says of a client: goodput, retransmits, RTT", struct{}{}, newIperf3),
		kind.Row("redis-benchmark", "percentiles of latencies and throughput of redis-benchmark, of each test", struct{}{}, newRedis),
		kind.Row("memcaslap", "latencies, misses and throughput of libmemcached's memcaslap --stat_freq", struct{}{}, newMemcaslap),
		kind.Row("ping", "RTTs of ping, one a reply, and how many were lost", struct{}{}, newPing),
	}
}
