package results

import (
	"slices"
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

// Duration is a figure of every program that ends by itself: how long it ran.
const Duration = "duration"

// Several measurements of a figure at a point are compared one by one, and have a p99.
const Several = 10

// ProgramFigure is one figure of a program at a point, with all that was measured of it.
type ProgramFigure struct {
	Program, Name, Unit string
	Better              string // [Lower] or [Higher]
	Values              []float64
}

// Same tells whether it is the same figure, measured again.
func (f ProgramFigure) Same(o ProgramFigure) bool {
	return f.Program == o.Program && f.Name == o.Name && f.Unit == o.Unit
}

// ProgramFiguresOf are the figures of a point's programs, in the order of the lab and of
// what they wrote. Programs that failed have none.
func ProgramFiguresOf(p Point) []ProgramFigure {
	var all []ProgramFigure
	for _, program := range p.Programs {
		if program.Error != "" {
			continue
		}
		if !program.Stopped {
			all = append(all, ProgramFigure{program.Name, Duration, "us", Lower, []float64{Microseconds(program.Took())}})
		}
		for _, s := range p.Figures {
			if s.Program != program.Name {
				continue
			}
			of := ProgramFigure{s.Program, s.Metric, s.Unit, s.Better, []float64{s.Value}}
			if i := slices.IndexFunc(all, of.Same); i >= 0 {
				all[i].Values = append(all[i].Values, s.Value)
			} else {
				all = append(all, of)
			}
		}
	}
	return all
}

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
