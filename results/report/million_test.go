//go:build unix

package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/results/compare"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// BenchmarkMillion is what becomes of a million flow records in a run: they are
// written point by point, summed up, compared and reported, then read again and
// compared for the terminal. It says how much processor time that took, which
// whatever else runs does not change much, and how much memory the process held
// at most, with what it had not given back yet.
func BenchmarkMillion(b *testing.B) {
	const flows, schemes = 50_000, 4
	s := resultstest.Synth{Flows: flows, Reach: 5, Sigma: 0.3}
	var busy time.Duration
	for b.Loop() {
		b.StopTimer()
		m := resultstest.StarManifest()
		m.Schemes, m.Loads, m.Seeds, m.Baseline = nil, []float64{0.9}, []uint64{1, 2, 3, 4, 5}, "scheme0"
		for i := range schemes {
			m.Schemes = append(m.Schemes, fmt.Sprint("scheme", i))
		}
		w, err := store.Create(b.TempDir(), m, []byte(resultstest.LabText), Describe)
		if err != nil {
			b.Fatal(err)
		}
		forgetPeak(b)
		for i, scheme := range m.Schemes {
			for _, seed := range m.Seeds {
				p := s.Point(scheme, seed, uint64(100+i), 1-0.1*float64(i))
				resultstest.Decorate(&p, int64(i+1))
				begun := processor(b)
				b.StartTimer()
				if err := w.Add(p); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				busy += processor(b) - begun
			}
		}
		begun := processor(b)
		b.StartTimer()
		readMillion(b, w)
		busy += processor(b) - begun
	}
	b.ReportMetric(busy.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(peak(b))/1e6, "peak-MB")
}

// readMillion finishes a run, which compares and reports it, and prints it.
func readMillion(b *testing.B, w *store.Writer) {
	b.Helper()
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		b.Fatal(err)
	}
	r, err := store.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	c, err := compare.Runs([]*store.Run{r}, "")
	if err != nil {
		b.Fatal(err)
	}
	if err := Text(io.Discard, c, TextOptions{}); err != nil {
		b.Fatal(err)
	}
}

// processor is the processor time that this process has used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// forgetPeak has the kernel count the most memory of this process anew.
func forgetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Skip("the kernel does not count memory anew: ", err)
	}
}

// peak is the most memory, in bytes, that this process has held.
func peak(b *testing.B) (bytes int64) {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); n == 1 {
			return bytes * 1024
		}
	}
	b.Fatal("the kernel does not say how much memory was held")
	return 0
}
