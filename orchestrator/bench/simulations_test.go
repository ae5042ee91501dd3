package bench

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/labs"
	"aqmlab/orchestrator/simulated"
)

// BenchmarkSimulation runs the scenarios of [MeasureSimulations], to be profiled and, by
// CPU time, to be compared on a machine that does other things too.
func BenchmarkSimulation(b *testing.B) {
	for _, s := range simScenarios() {
		b.Run(s.name, func(b *testing.B) { benchmarkSimulation(b, s.lab) })
	}
}

func benchmarkSimulation(b *testing.B, text string) {
	lab, err := labs.Parse("bench", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	c, err := simulated.Config(lab, lab.Baseline, lab.Workload.Load[0], lab.Seeds[0])
	if err != nil {
		b.Fatal(err)
	}
	c.Sample = 0
	var speed SimSpeed
	var ran time.Duration
	runs, begun := int64(0), userTime(b)
	for b.Loop() {
		took, err := speed.time(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		ran += took
		runs++
	}
	b.ReportMetric(float64(userTime(b)-begun)/float64(runs*speed.Hops), "user-ns/hop")
	b.ReportMetric(ran.Seconds()*1e6/float64(runs*speed.Packets), "s/Mpkt")
}

// userTime is what the process has used of a CPU for itself, in nanoseconds:
// the garbage collector and the building of networks included.
func userTime(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano()
}
