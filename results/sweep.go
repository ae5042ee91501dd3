package results

import "time"

// SweepStatus is how far a sweep is, and its measurements as a grid.
type SweepStatus struct {
	Name    string    `json:"name"`
	Lab     string    `json:"lab"`
	Runtime string    `json:"runtime"`
	Created time.Time `json:"created"`
	Broken  string    `json:"broken,omitempty"` // why it cannot be read; then nothing else is known

	Points    int     `json:"points"` // different measurements
	Stored    int     `json:"stored"`
	Failed    int     `json:"failed"`
	Measuring int     `json:"measuring"`
	Left      float64 `json:"left_s,omitempty"` // about, seconds; 0: nobody measures it, or nothing tells

	Columns  []string       `json:"columns"`  // what the seeds of a column have in common, such as "load 0.9"
	Seeds    []uint64       `json:"seeds"`    // of each column
	Rows     []SweepRow     `json:"rows"`     // none: there are too many cells to show
	Failures []SweepFailure `json:"failures"` // the first of them
}

// SweepRow is a scheme with settings, at all columns.
type SweepRow struct {
	Label string `json:"label"`
	Cells string `json:"cells"` // one [CellState] a column
}

// SweepFailure is why a measurement failed when it was last tried.
type SweepFailure struct {
	Row    int    `json:"row"`
	Column int    `json:"column"`
	Label  string `json:"label"`
	Reason string `json:"reason"`
}

// CellState is the state of one measurement.
type CellState byte

// States of measurements.
const (
	CellNone      CellState = ' ' // the sweep has none at this row and column
	CellWaiting   CellState = 'w'
	CellMeasuring CellState = 'm'
	CellStored    CellState = 's'
	CellFailed    CellState = 'f' // when it was last tried
)
