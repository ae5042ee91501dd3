// Package reproduce runs the labs of published experiments and scores what the
// papers claim against what was measured.
//
// A plan holds the points (scheme, load, seed) that the claims of some
// experiments need, at one of four scales. Each is stored as a run of its own
// as soon as it is measured, and found again by what it was measured with: the
// lab as it was run, resolved, and where its hosts were. What the claims are
// judged by is taken from the runs into one record an experiment, which is small
// and stays when the runs are removed. The score card is made of records alone, so
// it can be printed at any time, and grows over machines and days.
//
// Four rooms stand below: papers has the claims, metric computes their figures,
// record keeps these, and card judges and shows them.
package reproduce

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/switch/port"
)

// ErrUnknown is wrapped by the error for what is neither a paper nor an
// experiment.
var ErrUnknown = errors.New("no such paper or experiment")

// All stands for every experiment of every paper.
const All = "all"

// Scale is how much of an experiment is run.
type Scale string

// The scales.
const (
	Quick    Scale = "quick"    // the loads that claims name, and the highest; as many flows as a short time allows, one seed
	Standard Scale = "standard" // the loads that claims name, and thirds of the highest; 10,000 flows; two seeds
	Headline Scale = "headline" // headline claims alone, at the loads that they name or the highest; the published flows; two seeds, one on a kernel
	Full     Scale = "full"     // the published loads and flows; three seeds
)

// Options say what a plan is made of.
type Options struct {
	Scale   Scale
	Runtime orchestrator.Runtime // one that [Runtimes] lists
	Kernel  string               // version of Linux of guests; empty: that of all labs
	Out     string               // folder of the card: its records, and below "runs" the runs
	Loads   []float64            // of the scale's loads those alone; none: all of them
	Flows   int                  // a point, in place of the scale's, but at most the published; zero: the scale's
	Seeds   int                  // a point, 1 and those after it, in place of the scale's; zero: the scale's
	Since   time.Time            // what was measured before is measured anew; zero: nothing is
	Command string               // for the records: how this was asked for
	Jobs    int                  // points that run at once in virtual time; zero: one a CPU
	Kinds   port.Kinds
	Log     io.Writer // gets what helper processes complain about; may be nil
}

// Runtimes lists where the labs can be run: a point's place is part of what it
// is found by, so it is never picked for the user.
func Runtimes() []string {
	return slices.DeleteFunc(orchestrator.RuntimeNames(), func(name string) bool { return name == string(orchestrator.Auto) })
}

// modelled tells whether the hosts are modelled; others have the TCP of a kernel.
func (o Options) modelled() bool { return o.Runtime.Facts().Modelled }

// virtual tells whether time is virtual, so that points can be run beside each
// other.
func (o Options) virtual() bool { return o.Runtime.Facts().Virtual }

// runs is the folder that the points are stored in.
func (o Options) runs() string { return filepath.Join(o.Out, "runs") }

// records is the folder of the records. Those of the quick scale are no results:
// they are neither shown with those of the others nor spare the others a point. Those of
// another kernel than the labs' have a card of their own.
func (o Options) records() string {
	dir := o.Out
	if o.Kernel != "" && o.Kernel != labs.DefaultKernel {
		dir = filepath.Join(dir, "linux-"+o.Kernel)
	}
	if o.Scale == Quick {
		dir = filepath.Join(dir, "quick")
	}
	return dir
}
