package results

import (
	"strings"
	"time"
)

// Program is the record of one program of the lab.
type Program struct {
	Name  string
	Host  string
	Start time.Duration // before zero for one that listens
	End   time.Duration
	// Exit is the exit status; [Unknown] if a signal ended it, or if it never began.
	Exit    int32
	Signal  string // that ended it; empty: none did
	Stopped bool   // by the lab, as the lab says: its exit status means nothing
	Error   string // what was not as the lab expects; empty when all was

	// Of the program's TCP connections, or [Unknown] where nobody counted.
	Sent        int64 // payload bytes that were acknowledged
	Received    int64 // payload bytes
	Retransmits int64 // packets
}

// Took is how long the program ran.
func (p Program) Took() time.Duration { return p.End - p.Start }

// ProgramSample is one figure that a program measured itself.
type ProgramSample struct {
	Program string  `parquet:"program,dict,zstd"`
	Metric  string  `parquet:"metric,dict,zstd"` // its name, such as get.p99
	Unit    string  `parquet:"unit,dict,zstd"`
	Better  string  `parquet:"better,dict,zstd"` // [Lower] or [Higher]
	Value   float64 `parquet:"value,zstd"`
}

// What is better of a figure.
const (
	Lower  = "lower"
	Higher = "higher"
)

// ProgramFile is what a program wrote on one of its streams.
type ProgramFile struct {
	Name string // of the file in the folder of the point
	Text []byte
}

// OutputFile is the name of the file with what a program wrote on a stream, out or err.
func OutputFile(program, stream string) string { return "program-" + program + "." + stream }

// IsOutputFile tells whether a file has such a name.
func IsOutputFile(name string) bool {
	program, ok := strings.CutPrefix(name, "program-")
	return ok && !strings.ContainsAny(program, "/\\") && (strings.HasSuffix(program, ".out") || strings.HasSuffix(program, ".err"))
}
